"""``unit-circle``: a chi-squared decision for two groups and a yes/no outcome, at small sensitivity.

For 2 x 2 tables without conditioning. One column holds public labels (who is a case): the sizes of both groups are
public and one row's *outcome* is what is protected.

- ``statistic="circle"`` (default): ||V|| with its tight sensitivity (``stats/unit_circle.py``).
- ``statistic="distance"``: how many outcomes must change to flip the test, sensitivity 1 (beside it). Only a decision
  is released: significant at level/2, and noise beyond its own level/2 quantile; valid by the union bound.
- ``statistic="chi2"``: output perturbation of chi-squared, the baseline. Only a decision, by the same rule.

``variant="paper"`` is the paper's Algorithm 1 as far as its appendix shows it: the noise of appendix G, and in place of
a p-value the ceil((m + 1)(1 - level))-th smallest of m values simulated at the public ``positives`` (the text says
largest, which would reject nearly always), from tables drawn over all four cells as in Algorithm 3. It is private.

**Guarantee**: epsilon-DP with labels fixed, which is weaker than what the other tests promise; the statement says so.
**Null law**: exact given the margins. ``positives`` is what is public about the number of rows with the second outcome:
a number, a range, or nothing, in which case the p-value is the worst over all of them.
**Edge cases**: a group without rows is an error, since the sizes of groups are public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from dpcausal.citests.base import Charger, Outcome, Question, TableTest, TestInfo, TestSettings
from dpcausal.core.entropy import Generator, public_generator
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import CircleDecision, LabelsKnown, Noisy, OutcomeOnly, Public, Released, Unit
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.base import Grid, release
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.chi2 import chi2_sensitivity, pearson
from dpcausal.stats.published import circle_bound
from dpcausal.stats.unit_circle import fixed_labels_distance, unit_circle, unit_circle_sensitivity, worst_tail

SIMULATED = 999  # values of the null law as printed


def simulated_cuts(
    n1: int,
    n0: int,
    positives: NDArray[np.int64],
    tau: float,
    scale: float,
    level: float,
    rng: Generator,
    *,
    rho: float = 0.0,
    values: int = SIMULATED,
    largest: bool = False,
) -> NDArray[np.float64]:
    """Return the paper's simulated threshold of every test.

    It is the ceil((m + 1)(1 - level))-th smallest of m noisy ||V||.

    The m = ``values`` tables without effect are drawn over the four cells, as line 7 of Algorithm 3 says, so that the
    sizes of groups and the sensitivity differ by table. ``positives`` holds how many rows of each study (rows) and test
    (columns) have the second outcome, which is taken to be public. ``scale`` is of the Laplace noise, in units of each
    table's sensitivity. With ``rho`` another one, of that scale in the same units, is taken off each value.
    ``largest``: the text to the letter.
    """
    n = n1 + n0
    ones, share = n1 / n, positives / n
    place = math.ceil((values + 1) * (1 - level)) - 1
    place = values - 1 - place if largest else place
    found = np.empty(share.shape)
    for column in range(share.shape[1]):
        p = share[:, column]
        cells = np.stack([ones * p, ones * (1 - p), (1 - ones) * p, (1 - ones) * (1 - p)], -1)
        c11, c1, c10, c0 = np.moveaxis(rng.multinomial(n, cells[:, None], (len(p), values)), -1, 0)
        groups = np.maximum(c11 + c1, 1), np.maximum(c10 + c0, 1)
        moved = circle_bound(*groups, tau)
        noisy = unit_circle(c11, c10, *groups, tau) + rng.laplace(0.0, scale * moved)
        if rho:
            noisy -= rng.laplace(0.0, rho * moved)
        found[:, column] = np.partition(noisy, place, axis=1)[:, place]
    return found


@dataclass(frozen=True)
class UnitCircle(TableTest):
    """The test and what is public for it."""

    labels: Annotated[str | None, "the column of public labels; default the first one asked about"] = None
    positives: Annotated[
        int | tuple[int, int] | None,
        "public number of rows with the second outcome, or a range (low, high); default unknown",
    ] = None
    statistic: Annotated[
        Literal["circle", "distance", "chi2"], "circle (a p-value), distance or chi2 (a decision only)"
    ] = "circle"
    variant: Annotated[
        Literal["ours", "paper"],
        "ours, or paper: Algorithm 1 as printed, a decision; positives must be a number",
    ] = "ours"

    info = TestInfo(
        "unit-circle",
        "two groups and a yes/no outcome; who is in which group is public",
        fixed_labels=True,
        first_column_option="labels",
        numeric_given=None,
    )

    @property
    def releases(self) -> Released:
        """What the test releases: the statistic, or a decision."""
        if self.statistic == "circle" and self.variant == "ours":
            return Noisy("unit-circle")
        return CircleDecision(self.statistic)

    @property
    def protects(self) -> Unit:
        """The unit of privacy: the outcome of a row, its label being public."""
        return OutcomeOnly(self.labels)

    @property
    def assumes(self) -> tuple[Public, ...]:
        """Public facts beyond the schema: which row is in which group, under every relation."""
        return (LabelsKnown(self.labels),)

    def check(self, question: Question) -> None:
        """Refuse all but two columns of two levels each with nothing given, the labels among them."""
        super().check(question)
        if (question.r, question.c, question.k) != (2, 2, 1) or question.given:
            raise InputError(f"unit-circle takes two columns of two levels and nothing given, not {question}")
        if self.variant == "paper" and (self.statistic != "circle" or not isinstance(self.positives, int)):
            raise InputError(
                "variant='paper' needs statistic='circle' and positives= the public number of rows"
            )
        if self.labels not in (None, question.x, question.y):
            raise InputError(f"labels must be {question.x} or {question.y}, not {self.labels}")

    def _groups(self, question: Question, blocks: Blocks) -> tuple[int, int, int, int]:
        """Return (c11, c10, N1, N0): rows with the outcome in the second and first group, and the groups' sizes."""
        table = blocks[0] if self.labels in (None, question.x) else blocks[0].T
        return int(table[1, 1]), int(table[0, 1]), int(table[1].sum()), int(table[0].sum())

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """Compare chi-squared without continuity correction with its law."""
        found = pearson(blocks)
        return Outcome.at(level, found.pvalue, found.statistic, found.dof)

    def private(self, question: Question, blocks: Blocks, settings: TestSettings, budget: Charger) -> Outcome:
        """Release the statistic with noise for one changed outcome, labels fixed."""
        if settings.neighbours is not Neighbours.FIXED_LABELS:
            raise InputError(
                "unit-circle protects a row with its label fixed: neighbours must be fixed-labels"
            )
        c11, c10, n1, n0 = self._groups(question, blocks)
        if min(n1, n0) == 0:  # group sizes are public here
            raise InputError(f"unit-circle needs rows in both groups of {self.labels or question.x}")
        label = f"{self.name} ({self.statistic}): {question}"
        if self.statistic == "circle":
            tau = float(chdtri(1, settings.level))
            if self.variant == "paper":
                low, _ = self._range(n0 + n1)
                mechanism = self._noise(float(circle_bound(n1, n0, tau)), settings)
                rng, scale = public_generator(), 1 / settings.epsilon
                cut = float(simulated_cuts(n1, n0, np.array([[low]]), tau, scale, settings.level, rng)[0, 0])
                noisy = float(release(mechanism, budget, label, float(unit_circle(c11, c10, n1, n0, tau))))
                return Outcome(independent=not noisy > cut)
            mechanism = self._noise(unit_circle_sensitivity(n1, n0, tau), settings)
            noisy = float(release(mechanism, budget, label, float(unit_circle(c11, c10, n1, n0, tau))))
            pvalue = worst_tail(noisy, n1, n0, self._range(n0 + n1), tau, mechanism.scale)
            return Outcome.at(settings.level, pvalue, noisy)
        tau = float(chdtri(1, settings.level / 2))
        if self.statistic == "distance":
            mechanism = self._noise(1.0, settings, Grid(0.5, exact=True))
            value, cut = fixed_labels_distance(c11, c10, n1, n0, tau), -0.5
        else:
            mechanism = self._noise(chi2_sensitivity(n0, n1), settings)
            value, cut = pearson(blocks).statistic, tau
        noisy = float(release(mechanism, budget, label, value))
        quantile = mechanism.scale * math.log(1 / settings.level)  # P(noise > quantile) <= level/2
        return Outcome(independent=not noisy > cut + quantile)

    def _noise(self, sensitivity: float, settings: TestSettings, grid: Grid | None = None) -> Laplace:
        """Return the Laplace mechanism for this sensitivity."""
        return Laplace(
            sensitivity=sensitivity, epsilon=settings.epsilon, neighbours=settings.neighbours, grid=grid
        )

    def _range(self, n: int) -> tuple[int, int]:
        """Return the least and the greatest number of rows with the outcome that are possible, from public n."""
        low, high = (self.positives,) * 2 if isinstance(self.positives, int) else self.positives or (0, n)
        if not 0 <= low <= high <= n:
            raise InputError(f"positives must lie within 0 and the number of rows, not {self.positives}")
        return low, high
