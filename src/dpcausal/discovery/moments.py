"""Moments: release one matrix of second moments of features, with noise; the whole search is then free.

For numbers, as ``measured`` for tables. Every column becomes a few features: a numeric one 2 t, cos and sin of pi k
t, k = 2, 4, ... (``harmonics`` pairs of them, with an ``amplitude``), a categorical one an indicator for every level
but the first. t is a quarter of the column's normal score: first the spread of every numeric column between its bounds
is measured (``citests/quantiles.py``), so that neither skewed values nor wide bounds matter. Where noise would hide the
spread (``planning/power.py``, from public numbers) t is the value scaled to [-1, 1] by its bounds.

One matrix M of their second moments is released, and every question of PC is a test on M that knows the noise
(``stats/moments.py``). With ``harmonics=0`` it tests partial correlations, right for linear models; more see functions
of one column each, added up. With columns given, only products in which x or y enters as itself are used: if
x = f(z) + error its regression is right, whatever that of cos(x) is. By default as many (0 to 3) as the noise leaves
room for.

**Confidence** (``evidence.py``): each repeat draws another matrix as if this one, shrunk for its noise, held the
moments of normal features: sampling and noise anew.

**Guarantee** (epsilon, delta)-DP (``moments.proof.md``): events that are fixed in advance. ``spread_share`` of the
budget measures spreads, ``REACH_SHARE`` chooses the length rows are shrunk to (exponential mechanism on a public grid;
option ``reach`` gives it instead), the rest pays for M (Gaussian noise with a delta, else Laplace).
**Cost** O(n p^2), then O(q^3) a question: a million rows of 10 columns in seconds.

Use bounds that fit where rows or budget are few: without a spread, a column whose values fill a tenth of its declared
range is measured with ten times the noise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpcausal.citests.quantiles import exact_spread, gaussian_spread, pure_spread
from dpcausal.core.entropy import released_generator
from dpcausal.core.errors import InputError
from dpcausal.core.progress import silent as silent_stage
from dpcausal.core.proofs import proved
from dpcausal.core.statement import Exact, Noisy, SettingKnown, SpreadCounts
from dpcausal.counts.feature_sums import (
    BLOCK_BITS,
    BLOCKS,
    PLACES,
    UNIT_BITS,
    AskedRows,
    BatchRows,
    Cells,
    FeatureRows,
    Shortening,
    shortening,
)
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.discovery.directions import allowed_arrows, directions_of_edges, marks_by_pairs
from dpcausal.discovery.evidence import CONFIDENCE, checked_repeats, found_again, largest_pvalues, repeats_for
from dpcausal.discovery.fci import LATENT, USUAL, hidden_note, search_for
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.search import (
    STABLE,
    Answer,
    Answers,
    ClassicalMoments,
    Method,
    MomentsMeasured,
    Note,
    OpenReason,
    Query,
    SearchOutcome,
    Task,
    drive,
    unanswered,
)
from dpcausal.planning.power import spread_is_seen, spread_share
from dpcausal.planning.settings import SETTINGS, acceptance_threshold
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import FINENESS, Grid, release
from dpcausal.privacy.mechanisms.selection import Exponential
from dpcausal.stats.contrasts import Contrasts, without_levels
from dpcausal.stats.limits import checked_rows, row_limit
from dpcausal.stats.moments import (
    RELATIVE_RIDGE,
    MomentTest,
    moment_sensitivity,
    packed,
    partial_test,
    replicated_moments,
    unpacked,
)
from dpcausal.stats.spread import Spread

Floats = NDArray[np.float64]
Spreads = Mapping[str, Spread]  # by numeric column; a column without one is taken by its bounds
NO_SPREADS: Spreads = MappingProxyType({})

LINEAR_FACTOR = 2.0  # factor of t: a column with a standard deviation of an eighth of its range has 1/2 here
SCORE_VARIANCE = 0.25  # of such a column


def width(schema: Schema, name: str, harmonics: int) -> int:
    """Return the number of features of a column: public."""
    column = schema[name]
    return 1 + 2 * harmonics if isinstance(column, Numeric) else max(column.size - 1, 0)


def longest(schema: Schema, harmonics: int) -> float:
    """Return the largest squared length of a row's feature vector: public."""
    of_number = LINEAR_FACTOR**2 + harmonics * amplitude(harmonics) ** 2
    return float(sum(of_number if isinstance(c, Numeric) else 1.0 for c in schema.values()))


def amplitude(harmonics: int) -> float:
    """Return the factor of each cosine and sine feature, chosen so that noise matters least.

    Noise grows with the squared length of a row, v + h a^2 of a number whose score has variance v, and what a product
    of a score and a wave shows grows with a. The ratio is least where h a^2 = v.

    >>> amplitude(1), amplitude(3) ** 2 * 3 == SCORE_VARIANCE
    (0.5, True)
    """
    return math.sqrt(SCORE_VARIANCE / max(harmonics, 1))


@proved("moments.proof.md")
def feature_cells(schema: Schema, harmonics: int, spreads: Spreads = NO_SPREADS) -> dict[str, Cells]:
    """Return the feature cells of every column, from the schema and released ``spreads``; no row enters."""
    return {
        name: numeric_cells(harmonics, spreads.get(name))
        if isinstance(column, Numeric)
        else Cells(np.eye(column.size, dtype=np.int64)[:, 1:] << UNIT_BITS)
        for name, column in schema.items()
    }


@proved("moments.proof.md")
def numeric_cells(harmonics: int, spread: Spread | None) -> Cells:
    """Return the cells of a numeric column with features 2 t, cos and sin of t, t the normal score."""

    def scores(places: Floats) -> Floats:
        if spread is None:
            return np.asarray(2 * places / PLACES - 1)
        below = np.clip(np.interp(places, spread.knots, spread.shares), MIN_TAIL, 1 - MIN_TAIL)
        return np.asarray(np.clip(ndtri(below) / NORMAL_REACH, -1.0, 1.0))

    block = 1 << BLOCK_BITS
    starts = np.arange(BLOCKS + 1, dtype=np.float64) * block
    parts = np.clip(np.ceil(np.diff(scores(starts)) * CELLS / 2), 1, block).astype(np.int64)
    first = np.cumsum(parts) - parts
    cut = np.repeat(parts, parts)
    begins = np.repeat(starts[:-1], parts) + (np.arange(len(cut)) - np.repeat(first, parts)) * block / cut
    t = np.mean([scores(begins + (i + 0.5) / 4 * block / cut) for i in range(4)], axis=0)  # within the cell
    found, a = [LINEAR_FACTOR * t], amplitude(harmonics)
    for k in range(1, harmonics + 1):
        found += [a * np.cos(2 * k * math.pi * t), a * np.sin(2 * k * math.pi * t)]
    # cut off towards zero: no row is longer than ``longest``
    return Cells(np.trunc(np.column_stack(found) * (1 << UNIT_BITS)).astype(np.int64), first, parts)


REACH_SHARE = 0.05  # of the budget, to choose the reach
SPREAD_EVEN = 0.02  # share of the rows that a spread takes to lie evenly between the bounds
NORMAL_REACH = 4.0  # normal scores are cut here, and 1/8 of that range is their standard deviation
MIN_TAIL = 1e-4  # shares of rows nearer to 0 or 1 than this have the same score
MIN_SHRUNK, MAX_SHRUNK = 0.005, 0.1  # share of rows that may be shrunk: more where the choice is noisier
WAVE_VARIANCE = 0.4  # of a cosine of such a column
MAX_NOISE_TO_ADD = 0.015  # harmonics are added while noise is below this share of a score times a wave ...
MAX_NOISE_TO_USE = 0.1  # ... and none is used where it is above this one
MAX_HARMONICS = 3
REACH_GRID = 32
CELLS = 512  # of a numeric column, about: t is known to 1/256
ROOT_HALF = math.sqrt(0.5)
MISFIT = 0.05  # in a correlation: rows are shrunk, and scores are of measured ranks; set on linear models
QUESTIONS = 600  # questions a column, after which a search ends
WORK = 4_000  # questions that repeats may ask in all, about


@dataclass(frozen=True, eq=False)
class Moments:
    """A matrix of moments of features, released with noise, that answers questions.

    Attributes
    ----------
    schema : Schema
        The declared columns.
    harmonics : int
        Pairs of cosine and sine that stand for a numeric column.
    matrix : array
        The second moments; the constant is the first feature.
    rows : float
        Public, or released.
    noise : float
        Standard deviation of the noise in an entry off the diagonal; 0 where there is no privacy.
    spreads : tuple of str
        Numbers whose spread was measured first: they are there by their normal scores.
    """

    schema: Schema
    harmonics: int
    matrix: Floats = field(repr=False)
    rows: float
    noise: float
    spreads: tuple[str, ...] = ()

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The numbers of the features of each column."""
        found, start = {}, 1
        for name in self.schema:
            stop = start + width(self.schema, name, self.harmonics)
            found[name] = list(range(start, stop))
            start = stop
        return found

    @cached_property
    def _main(self) -> dict[str, NDArray[np.bool_]]:
        """For each column, a mask of features whose regression on others is trusted: of a number its score alone."""
        return {
            name: np.arange(len(places)) < (1 if isinstance(self.schema[name], Numeric) else len(places))
            for name, places in self.places.items()
        }

    @property
    def main(self) -> list[list[int]]:
        """The numbers of those features of each column whose regression on others is trusted."""
        return [
            [place for place, main in zip(places, self._main[name], strict=True) if main]
            for name, places in self.places.items()
        ]

    def replicate(self, draw: Callable[[tuple[int, int]], Floats]) -> Moments:
        """Return moments that another sample with new noise might give; ``draw`` makes standard normal numbers."""
        return replace(self, matrix=replicated_moments(self.matrix, self.rows, self.noise, draw))

    def test(self, question: Query) -> MomentTest:
        """Return the test of one question; a column with one level is independent of all."""
        x, y = self.places[question.x], self.places[question.y]
        if not (x and y):
            return MomentTest(0.0, 1.0, 0, True, math.inf)
        z = [0, *(place for name in question.given for place in self.places[name])]
        kept = None
        if question.given:
            kept = self._main[question.x][:, None] | self._main[question.y][None, :]
        return partial_test(self.matrix, x, y, z, self.rows, self.noise, kept)

    def to_dict(self) -> dict[str, Any]:
        """Return the moments as plain data for JSON; the schema is written beside them."""
        return {
            "form": "moments",
            "harmonics": self.harmonics,
            "spreads": list(self.spreads),
            "rows": self.rows,
            "noise": self.noise,
            "size": len(self.matrix),
            "matrix": self.matrix[np.triu_indices(len(self.matrix))].tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], schema: Schema) -> Moments:
        """Return the moments that ``to_dict`` wrote."""
        size = int(data["size"])
        matrix = np.zeros((size, size))
        rows, columns = np.triu_indices(size)
        matrix[rows, columns] = matrix[columns, rows] = np.asarray(data["matrix"], np.float64)
        spreads = tuple(data["spreads"])
        return cls(schema, int(data["harmonics"]), matrix, float(data["rows"]), float(data["noise"]), spreads)


def contrasts_of(moments: Moments) -> Contrasts:
    """Return the correlations of the columns with their noise: a number by its score alone, a level by its indicator.

    Entries on the diagonal of M have twice the variance of noise, which is how often evidence counts them.
    """
    places = moments.main
    order = [place for listed in places for place in listed]
    n, (constant, *means) = moments.rows, moments.matrix[0, [0, *order]]
    shift = np.asarray(means) / constant
    inner = moments.matrix[np.ix_(order, order)] - constant * np.outer(shift, shift)
    noise = moments.noise**2 * (1.0 + shift[:, None] ** 2 + shift[None, :] ** 2)
    turn = np.zeros((len(order), len(order)))
    start = 0
    for listed in places:  # the features of a column become uncorrelated, of variance 1
        here = slice(start, start + len(listed))
        values, vectors = np.linalg.eigh(inner[here, here])
        least = max(2.0 * moments.noise, RELATIVE_RIDGE * n)
        turn[here, here] = (vectors / np.sqrt(np.maximum(values, least))).T
        start += len(listed)
    covariance, variance = turn @ inner @ turn.T, turn**2 @ noise @ (turn**2).T
    found = Contrasts([without_levels(len(listed)) for listed in places], n, covariance, variance)
    for place in found.places:
        found.covariance[np.ix_(place, place)] = np.eye(
            len(place)
        )  # their noise stays: it is that of variances
    return found


def directions_of(task: Task, moments: Moments, found: SearchOutcome) -> dict[tuple[str, str], float]:
    """Return the probability of each direction of every edge, by a posterior over whole graphs."""
    return directions_of_edges(
        task.columns,
        contrasts_of(moments),
        found.skeleton.edges - found.skeleton.open(task.known),
        allowed_arrows(task),
        cost=acceptance_threshold(len(task.columns), task.level),
        misfit=MISFIT,
    )


def marks_of(task: Task, moments: Moments, found: SearchOutcome) -> dict[tuple[str, str], float]:
    """Return the probability of an arrowhead at either end of every edge, if hidden causes are allowed."""
    skeleton = found.skeleton
    return marks_by_pairs(
        task,
        contrasts_of(moments),
        skeleton.edges - skeleton.open(task.known),
        skeleton.separating,
        cost=acceptance_threshold(len(task.columns), task.level),
        absent=SETTINGS.absent,
        misfit=MISFIT,
    )


@proved("moments.proof.md")
def sums(rows: FeatureRows, columns: Mapping[str, Cells], short: Shortening) -> Floats:
    """Return the matrix M of feature products over all rows. Not private: for a mechanism, or for ``pc``."""
    found = rows.feature_sums(columns, short)
    constant = short.reach / 2
    matrix = np.zeros((len(found.first) + 1,) * 2)
    matrix[0, 0] = found.rows * constant**2
    matrix[0, 1:] = matrix[1:, 0] = found.first * (constant * short.step)
    matrix[1:, 1:] = found.second * short.step**2
    return matrix


def _reach_grid(schema: Schema, harmonics: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return the candidate limits on a row's length: squared, and in squared integer steps. Public."""
    grid = longest(schema, harmonics) * np.geomspace(1 / 256, 1.0, REACH_GRID)
    return grid, (grid * 4.0**UNIT_BITS).astype(np.int64)


@proved("moments.proof.md")
def _reach(
    task: Task, rows: FeatureRows, columns: Mapping[str, Cells], harmonics: int, epsilon: float
) -> float:
    """Choose privately a limit on the length of feature vectors that most rows do not exceed; return it."""
    grid, limits = _reach_grid(rows.schema, harmonics)
    counts = rows.length_counts(columns, limits)
    wanted = 30 / (epsilon * task.n) if task.n else 0.02
    beyond = min(max(wanted, MIN_SHRUNK), MAX_SHRUNK)
    scores = -np.abs(beyond * counts - (1 - beyond) * (rows.n - counts))
    choice = Exponential(sensitivity=1.0, epsilon=epsilon, neighbours=task.neighbours)
    return math.sqrt(float(grid[release(choice, task.private_budget(), "reach", scores)]))


def explained(rows: AskedRows, harmonics: int) -> str:
    """Return the SQL that ``measure`` would send, without sending it."""
    columns = feature_cells(rows.schema, _checked(harmonics))
    _, limits = _reach_grid(rows.schema, harmonics)
    short = shortening(math.sqrt(longest(rows.schema, harmonics)))
    return rows.explain_features(columns, limits, short)


def numbers_of(data: Dataset | Counts) -> frozenset[str] | None:
    """Return the columns whose numbers are there, in memory or where the rows are; None where there are counts only."""
    if isinstance(data, Dataset):
        return frozenset(data.values)
    if not isinstance(data, FeatureRows):
        return None
    return frozenset(name for name, column in data.schema.items() if isinstance(column, Numeric))


def _rows(task: Task) -> FeatureRows:
    """Return the rows with numbers in every numeric column, in memory or on an engine; refuse counts alone."""
    rows: FeatureRows | None = task.counts if isinstance(task.counts, FeatureRows) else None
    if task.rows is not None and all(
        name in task.rows.values for name, column in task.rows.schema.items() if isinstance(column, Numeric)
    ):
        rows = BatchRows.of(task.rows)
    if rows is None:
        raise InputError(
            "moments needs the rows themselves, not counts: take method measured, or bring the columns with dc.read"
        )
    checked_rows(rows.n)
    return rows


def _checked(harmonics: int) -> int:
    """Return the number of harmonics; refuse one that is not between 0 and 8."""
    if isinstance(harmonics, bool) or not 0 <= harmonics <= 8:
        raise InputError(f"harmonics must lie between 0 and 8, not {harmonics!r}")
    return harmonics


def _plan(task: Task, rho: float, epsilon: float, harmonics: int | None, n: int | None) -> int:
    """Return the number of harmonics to use: as given, or as many as noise allows, from public numbers."""
    if harmonics is not None:
        return _checked(harmonics)
    best = 1
    for more in range(1, MAX_HARMONICS + 1):
        share = _noise_share(task, rho, epsilon, more, n) if n is not None else 0.05
        if more == 1 and share > MAX_NOISE_TO_USE:
            return 0
        if more > 1 and share <= MAX_NOISE_TO_ADD:
            best = more
    return best


def _noise_share(task: Task, rho: float, epsilon: float, harmonics: int, n: int) -> float:
    """Return the noise expected on a moment, as a share of the standard deviations of a score and a wave."""
    schema = task.counts.schema
    size = 1 + sum(width(schema, name, harmonics) for name in schema)
    of_number = SCORE_VARIANCE + harmonics * amplitude(harmonics) ** 2
    length = sum(of_number if isinstance(column, Numeric) else 1.0 for column in schema.values())
    moved = moment_sensitivity(task.neighbours, math.sqrt(length) / 2, math.sqrt(length))
    noise = ROOT_HALF * moved / math.sqrt(2 * rho) if rho > 0 else ROOT_HALF * moved * size / epsilon
    return noise / (math.sqrt(SCORE_VARIANCE * WAVE_VARIANCE) * amplitude(harmonics) * max(n, 1))


@proved("moments.proof.md")
def _spreads(task: Task, rows: FeatureRows, rho: float, epsilon: float) -> Spreads:
    """Charge and return the measured quantiles of every numeric column; none where noise would hide them."""
    names = [name for name, column in rows.schema.items() if isinstance(column, Numeric)]
    if not spread_is_seen(len(names), task.n, rho, epsilon, task.neighbours):
        return {}
    release_one = gaussian_spread if rho > 0 else pure_spread
    each = spread_share(rho) * (rho if rho > 0 else epsilon) / len(names) * (1 - 1e-12)
    return {
        name: release_one(
            rows, name, task.n, each, task.neighbours, task.private_budget(), f"spread of {name}", SPREAD_EVEN
        )
        for name in names
    }


@proved("moments.proof.md")
def measure(task: Task, harmonics: int | None = None, reach: float | None = None) -> Moments:
    """Charge the budget and release the moments M of the features."""
    rows, budget = _rows(task), task.private_budget()
    rho, epsilon = budget.total.rho, budget.total.epsilon
    used = _plan(task, rho, epsilon, harmonics, task.n)
    spreads = _spreads(task, rows, rho, epsilon)
    left = 1.0 - (spread_share(rho) if spreads else 0.0) - (REACH_SHARE if reach is None else 0.0)
    columns = feature_cells(rows.schema, used, spreads)
    if reach is None:
        spent = math.sqrt(8 * REACH_SHARE * rho) if rho > 0 else REACH_SHARE * epsilon
        reach = _reach(task, rows, columns, used, min(spent, epsilon) * (1 - 1e-12))
    short = shortening(reach)
    constant = short.reach / 2
    size = 1 + sum(width(rows.schema, name, used) for name in rows.schema)
    moved = moment_sensitivity(task.neighbours, constant, short.reach)
    entries = size * (size + 1) // 2
    grid = Grid(2.0 ** (math.floor(math.log2(moved)) - FINENESS))
    mechanism: Gaussian | Laplace
    if rho > 0:
        mechanism = Gaussian(
            sensitivity=moved,
            rho=left * rho * (1 - 1e-12),
            neighbours=task.neighbours,
            size=entries,
            grid=grid,
        )
        deviation = mechanism.sigma
    else:
        mechanism = Laplace(
            sensitivity=moved * math.sqrt(entries),
            epsilon=left * epsilon * (1 - 1e-12),
            neighbours=task.neighbours,
            size=entries,
            grid=grid,
        )
        deviation = math.sqrt(2.0) * mechanism.scale
    noisy = release(mechanism, budget, "moments of features", packed(sums(rows, columns, short)))
    matrix = unpacked(np.asarray(noisy), size)
    n = float(task.n) if task.n is not None else max(float(matrix[0, 0]) / constant**2, 1.0)
    matrix[0, 0] = n * constant**2
    return Moments(rows.schema, used, matrix, n, deviation * ROOT_HALF, tuple(spreads))


def search(
    task: Task, moments: Moments, stable: bool = True, latent: bool = False
) -> tuple[SearchOutcome, int]:
    """Search moments by PC (FCI if ``latent``); return the outcome and the number of unanswered questions.

    With nothing held fixed "independent" needs a test that would have shown a medium dependence; else the pair is open,
    and nothing more is asked about it. The search ends after ``QUESTIONS`` questions a column.
    """
    silent = asked = 0
    pvalues: list[tuple[Pair, tuple[str, ...], float | None]] = []

    def said(question: Query, test: MomentTest) -> Answer:
        if test.pvalue <= task.level:
            return False
        alone = not question.given and moments.noise > 0.0
        return True if (test.shows(task.level) if alone else test.informative) else None

    def answer(batch: list[Query]) -> Answers:
        nonlocal silent, asked
        asked += len(batch)
        if asked > QUESTIONS * len(task.columns) and batch[0].given:
            return None
        found = [moments.test(question) for question in batch]
        answers = [said(question, test) for question, test in zip(batch, found, strict=True)]
        silent += answers.count(None)
        pvalues.extend(
            (
                frozenset((question.x, question.y)),
                tuple(question.given),
                test.pvalue if one is not None else None,
            )
            for question, test, one in zip(batch, found, answers, strict=True)
        )
        return answers

    asking = search_for(task, stable=stable, latent=latent, forward=True)
    # every answer follows from the moments that were released, so a bar may follow the answers
    skeleton = drive(asking, answer, task.stage if stable else silent_stage)
    return SearchOutcome(skeleton, (), evidence=largest_pvalues(pvalues, skeleton.separating)), silent


def classical(
    task: Task, harmonics: int = MAX_HARMONICS, stable: bool = True, latent: bool = False
) -> SearchOutcome:
    """Search moments without noise, for ``method="pc", test="moments"``: not private."""
    rows = _rows(task)
    numbers = [name for name, column in rows.schema.items() if isinstance(column, Numeric)]
    columns = feature_cells(rows.schema, harmonics, {name: exact_spread(rows, name) for name in numbers})
    matrix = sums(rows, columns, shortening(math.sqrt(longest(rows.schema, harmonics))))
    found, _ = search(task, Moments(rows.schema, harmonics, matrix, float(rows.n), 0.0), stable, latent)
    notes = [ClassicalMoments(harmonics, task.level)]
    return SearchOutcome(
        found.skeleton,
        evidence=found.evidence,
        released=(Exact("graph-from-rows"),),
        notes=(*notes, *([hidden_note(USUAL)] if latent else [])),
        latent=latent,
    )


def again_of(
    task: Task, moments: Moments, edges: frozenset[Pair], asked: int, stable: bool, latent: bool
) -> Mapping[Pair, float]:
    """Return the share of repeats, with another sample and new noise, that finds each edge again."""
    draw, quiet = released_generator(moments.matrix).standard_normal, replace(task, stage=silent_stage)

    def once() -> frozenset[Pair]:
        found, _ = search(quiet, moments.replicate(draw), stable, latent)
        return found.skeleton.edges - found.skeleton.open(task.known)  # what is open was not found again

    return found_again(task.stage, edges, asked, once)


def run(
    task: Task,
    *,
    confidence: Annotated[int | None, CONFIDENCE] = None,
    harmonics: Annotated[
        int | None,
        "pairs of cosine and sine for each numeric column, 0 to 8; none is as many as noise allows",
    ] = None,
    reach: Annotated[
        float | None, "length that rows of features are shrunk to; none chooses privately"
    ] = None,
    stable: Annotated[bool, STABLE] = True,
    latent: Annotated[bool, LATENT] = False,
) -> SearchOutcome:
    """Run the method ``moments``; ``reach`` is the public length to which rows of features are shrunk."""
    if reach is not None and not 1e-6 <= reach <= 1e6:  # beyond, its powers leave the range of floats
        raise InputError(f"reach must be a number within 1e-06 and 1e+06, not {reach!r}")
    asked = checked_repeats(confidence)
    return search_moments(task, measure(task, harmonics, reach), asked, stable, latent)


def search_moments(
    task: Task, moments: Moments, asked: int | None, stable: bool, latent: bool
) -> SearchOutcome:
    """Search released moments for a graph and orient it; ``asked``: repeats for confidence."""
    spread = moments.spreads
    found, silent = search(task, moments, stable, latent)
    repeats = repeats_for(asked, WORK, sum(found.skeleton.asked.values()))
    again = again_of(task, moments, found.skeleton.edges, repeats, stable, latent) if repeats else None
    notes: list[Note] = [
        MomentsMeasured(features=len(moments.matrix), waves=moments.harmonics, sd=moments.noise)
    ]
    if latent:
        notes.append(hidden_note(USUAL))
    if silent:
        notes.append(unanswered(Counter({OpenReason.NOISE_AND_ROWS: silent})))
    return SearchOutcome(
        found.skeleton,
        evidence=found.evidence,
        released=(SpreadCounts(columns=spread, then=Noisy("moments")) if spread else Noisy("moments"),),
        public=(SettingKnown("features"), *row_limit(task.neighbours)),
        notes=tuple(notes),
        adaptive=bool(spread),
        latent=latent,
        values=moments,
        confidence=again,
        repeats=repeats or None,
        direction=None if latent else directions_of(task, moments, found),
        marks=marks_of(task, moments, found) if latent else None,
    )


METHOD = Method(
    "moments",
    "for numbers: sums of products, measured once with noise, answer every question",
    run,
    settles=True,
)
