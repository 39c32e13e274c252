"""Private choice of lambda and bandwidth for gcm's kernel ridge variants, from a public list, for a share of epsilon.

    score_j = -(F_x + F_y)/2 - (m/n) b_j

F is the ridge objective at its minimum on m rows (``stats/ridge_choice.py``), half the sum a bound on the bias that
candidate j leaves in sum R (up to what all candidates share), and b_j, public, the noise scale it needs there. A small
lambda fits well and needs much noise: the score weighs one against the other in the same unit. One candidate is drawn
by permute-and-flip and charged before; the test then runs on what is left of epsilon.

**Guarantee** (``stats/ridge_choice.proof.md``): share * epsilon, pure, replace-one; sensitivity (1 + B)^2 at the
smallest lambda. A very small lambda in the list blunts the choice for all.
**Cost** one fit through Fourier features for each candidate, on at most ``MOST`` rows (drawn without looking at them);
for kernels without features one exact fit on at most ``EXACT`` rows.
**Edge cases**: one candidate is taken without a charge. No rows: all scores are public.

References: McKenna & Sheldon 2020 (permute-and-flip). Liu & Talwar 2019 (random stopping) pays twice or thrice for the
noise of every candidate's own release; a score of bounded sensitivity needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import nextafter

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.gcm_columns import Columns
from dpcausal.citests.gcm_ridge import WIDTH, Ridge, targets_of
from dpcausal.citests.method import Charger, Terms
from dpcausal.core.errors import InputError
from dpcausal.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from dpcausal.privacy.mechanisms.release import release
from dpcausal.privacy.noise import permutation
from dpcausal.regression.features import FourierFeatures
from dpcausal.regression.kernel import Kernel, Kind
from dpcausal.regression.ridge import penalty_of
from dpcausal.regression.rounding import inner_error
from dpcausal.stats.ridge_choice import fit_objective, objective_sensitivity

SHARE = 0.25  # of epsilon, for the choice
WIDTHS = (0.3, 1.0, 3.0, 10.0)  # times the default bandwidth
MOST = 50_000  # rows that a score looks at
EXACT = 4000  # the same for kernels without features


@dataclass(frozen=True)
class Choice:
    """A public list: every lambda with every bandwidth (none given: ``WIDTHS`` times the default)."""

    lambdas: tuple[float, ...]
    bandwidths: tuple[float, ...] = ()
    kind: Kind = "gaussian"
    share: float = SHARE

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise InputError(f"share must lie strictly between 0 and 1, not {self.share!r}")
        for strength in self.lambdas:
            penalty_of(strength, 1)
        for width in self.bandwidths:
            Kernel(width)

    def candidates(self, d: int) -> list[Ridge]:
        """The regressions to choose from, for d conditioning columns."""
        widths = self.bandwidths or tuple(WIDTH * max(d, 1) ** 0.5 * times for times in WIDTHS)
        return [Ridge(strength, width, self.kind) for strength, width in product(self.lambdas, widths)]

    def choose(
        self, columns: Columns, terms: Terms, budget: Charger, label: str, *, each: bool
    ) -> tuple[Ridge, Terms]:
        """The chosen regression, and the terms with what is left of epsilon. ``each`` as in ``Ridge.noise_scale``."""
        candidates = self.candidates(columns.z.shape[1])
        if len(candidates) == 1:
            return candidates[0], terms
        cost = self.share * terms.epsilon
        left = replace(terms, epsilon=nextafter(terms.epsilon - cost, 0.0))
        seen, exact = looked_at(columns, candidates)
        rows = min(len(columns.x), seen)
        shape = replace(columns, x=columns.x[:rows], y=columns.y[:rows], z=columns.z[:rows])
        mechanism = PermuteAndFlip(
            sensitivity=max(
                objective_sensitivity(c.lambda_, terms.neighbours)
                + 2 * inner_error(rows, c.error(shape, exact))
                for c in candidates
            ),
            epsilon=cost,
            neighbours=terms.neighbours,
        )
        noise = [c.noise_scale(columns, left, each=each) for c in candidates]
        chosen = release(mechanism, budget, label, scores(columns, candidates, noise))
        return candidates[chosen], left


def looked_at(columns: Columns, candidates: Sequence[Ridge]) -> tuple[int, bool]:
    """(how many rows a score looks at, at most; whether the kernel is exact there). Public."""
    featured = FourierFeatures.stands_for(candidates[0].kernel(columns), columns.z.shape[1])
    return (MOST, False) if featured else (EXACT, True)


def scores(columns: Columns, candidates: Sequence[Ridge], noise: Sequence[float]) -> NDArray[np.float64]:
    """The score of every candidate. Not private: for a mechanism only."""
    n = len(columns.x)
    most, exact = looked_at(columns, candidates)
    rows = slice(None) if n <= most else np.sort(permutation(n)[:most])
    seen = replace(columns, x=columns.x[rows], y=columns.y[rows], z=columns.z[rows])
    targets = targets_of(seen)
    found: NDArray[np.float64] = np.array(
        [-fit_objective(targets, c.left(seen, exact=exact)) for c in candidates]
    )
    found -= len(targets) / max(n, 1) * np.asarray(noise)
    return found
