"""Relations between columns: one that others determine, some that are missing in the same rows.

**Not private.** It looks at rows without noise, for drafts and checks on the data holder's own machine only.

Where one column is a function of others, a search for a graph can't tell them apart: given the others it is
independent of everything, so links that are there come out as absent. PC assumes faithfulness, which such columns
break. The checks are cheap and find what people usually have in a file:

- numbers: one is a linear function of one or two others (a difference, another unit), or a product of powers of them
  (a ratio, a body mass index);
- levels: they follow from cut points on a number, or on the sum or the difference of two;
- levels: they follow from the levels of one or two other columns.

A relation may fail in a few rows, since numbers are rounded: ``Tolerance``. Cost for n rows and k columns: O(k^3) and
O(n k) where nothing is found; pairs of columns are looked at in the first ``screened_rows`` rows, and in all only
where these agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpcausal.data.coding import CategoricalCoder, numeric_coder
from dpcausal.data.columns import Column, Numeric, canonical_value
from dpcausal.data.file_format import NumberMarks, decode_bytes
from dpcausal.data.findings import Determined, Finding, MissingTogether, MissingWith, Relation
from dpcausal.data.profile import chunks_with_progress, shortened, text_cells
from dpcausal.data.sources import Chunk, Source

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Combinations = dict[tuple[str, ...], tuple[Floats, Relation]]  # of numbers, by name


@dataclass(frozen=True)
class Tolerance:
    """Thresholds for columns that others determine, and limits on the search for them."""

    unexplained: float = 1e-4  # of the variance of a number, where the step between its values says no more
    rounding: float = 1.5  # how many times the variance of rounding to this step may be left
    unexplained_by_two: float = (
        2e-3  # of a product of two that explain little alone: an index of other days' values
    )
    odd_rows: float = 0.02  # that a function does not hold for: slips of the pen
    misplaced: float = 0.02  # rows with another level, as a part of those that a guess by chance would miss
    screened_misplaced: float = 0.1  # the same in the first rows
    screened_unexplained: float = 0.02
    screened_rows: int = 300
    min_rows: int = 50  # rows in which all columns of a relation have a value
    min_varied_rows: int = 20  # rows that a guess by chance would miss
    min_rows_per_cell: int = 10  # rows for each combination of levels that occurs
    max_numbers: int = 25  # numeric columns of which sums and differences are cut
    max_level_columns: int = 40  # columns of levels of which pairs are looked at
    max_levels: int = 300  # declared levels of a column that is looked at
    max_cut_levels: int = 60  # levels that cut points may have made
    max_found: int = 100  # columns that are named as determined by others


TOLERANCE = Tolerance()


@dataclass(frozen=True)
class PairLimits:
    """Limits on the rows that are remembered, and thresholds for columns that are missing together."""

    max_rows: int = 20_000
    max_cells: int = 4_000_000  # of all columns together
    max_values: int = 12  # distinct values of a column that may say where another is missing
    min_rows: int = 20  # rows with a value, and cells that are missing or not
    min_shared_columns: int = 3  # columns with the same value in the same rows from which it may be a code
    min_share_together: float = 0.8  # of rows that lack one of two columns, those that lack both
    min_share_lacking: float = 0.01  # of all rows, those that lack both
    min_share_there: float = 0.98  # of the rows with that value, those that lack the other column
    min_share_explained: float = 0.8  # of all cells that are missing, those in these rows


PAIRS = PairLimits()


def determined_columns(numbers: Mapping[str, Floats], levels: Mapping[str, Codes]) -> list[Determined]:
    """Return columns that others determine, each once, simple relations first. Not private.

    ``numbers`` are NaN where missing, ``levels`` are codes from 0 on; all columns have the same rows.

    >>> dose = np.arange(100.0) % 7
    >>> weight = (np.arange(100.0) * 37) % 41
    >>> determined_columns({"dose": dose, "weight": weight, "left": weight - dose}, {})
    [Determined(column='left', by=('dose', 'weight'), relation=<Relation.LINEAR: 'linear'>)]
    """
    found: list[Determined] = []
    known: set[str] = set()
    if min((len(cells) for cells in (*numbers.values(), *levels.values())), default=0) < TOLERANCE.min_rows:
        return found
    for one in _relations(numbers, levels):
        if one.column not in known:
            known.add(one.column)
            found.append(one)
        if len(found) == TOLERANCE.max_found:
            break
    return found


def _relations(numbers: Mapping[str, Floats], levels: Mapping[str, Codes]) -> Iterator[Determined]:
    """Yield the relations that are found; a column may occur more than once."""
    yield from _functions(numbers, Relation.LINEAR)
    positive = {name: values for name, values in numbers.items() if np.nanmin(values, initial=np.inf) > 0}
    yield from _functions(positive, Relation.PRODUCT)
    cut = dict.fromkeys(levels, False)
    for one in _cuts(numbers, levels):
        cut[one.column] = True
        yield one
    yield from _same_levels({name: codes for name, codes in levels.items() if not cut[name]})


# ---- numbers


def _functions(numbers: Mapping[str, Floats], relation: Relation) -> Iterator[Determined]:
    """Yield numeric columns that are linear functions, or products of powers, of one or two earlier ones."""
    names = list(numbers)
    if len(names) < 2:
        return
    rounded = np.array([_rounding(numbers[name], relation) for name in names])
    values = np.stack([numbers[name] for name in names], axis=1)
    values = np.log(values) if relation is Relation.PRODUCT else values
    correlation = _correlations(values)
    explained = correlation**2
    enough = 1.0 - TOLERANCE.screened_unexplained

    def most(a: int, b: int, c: int) -> float:
        needed = max(explained[a, c], explained[b, c]) <= enough
        loose = needed and relation is Relation.PRODUCT
        return TOLERANCE.unexplained_by_two if loose else TOLERANCE.unexplained

    for c in range(1, len(names)):
        alone = [a for a in range(c) if explained[a, c] > enough and _fits(values, [a], c, rounded)]
        if alone:
            yield Determined(names[c], (names[alone[0]],), relation)
            continue
        to_c = correlation[:c, c]
        among = correlation[:c, :c]
        with np.errstate(divide="ignore", invalid="ignore"):
            both = (to_c[:, None] ** 2 + to_c**2 - 2 * np.outer(to_c, to_c) * among) / (1 - among**2)
        both[~(among**2 < 1 - TOLERANCE.unexplained)] = 0.0  # one of the two says nothing beside the other
        pairs = np.argwhere(np.triu(both, 1) > enough)
        fits = ((a, b) for a, b in pairs[:50] if _fits(values, [a, b], c, rounded, most(a, b, c)))
        if (pair := next(fits, None)) is not None:
            yield Determined(names[c], (names[pair[0]], names[pair[1]]), relation)


def _correlations(values: Floats) -> Floats:
    """Return correlations from the rows in which both columns have a value; 0 where there are none."""
    there = np.isfinite(values)
    rows = np.maximum(there.sum(axis=0), 1)
    centred = np.where(there, values, 0.0)
    centred = np.where(there, values - centred.sum(axis=0) / rows, 0.0)
    shared = there.astype(np.float64)
    products = centred.T @ centred
    squares = centred.T**2 @ shared  # [a, b]: sum of squares of a in the rows in which b has a value
    with np.errstate(divide="ignore", invalid="ignore"):
        found = products / np.sqrt(squares * squares.T)
    return np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0)


def _rounding(values: Floats, relation: Relation) -> float:
    """Return the variance that rounding to the smallest step between values adds, of theirs (of their logarithms)."""
    there = values[np.isfinite(values)]
    steps = np.diff(np.unique(there))
    if not len(steps):
        return 0.0
    error = float(steps.min()) ** 2 / 12
    if relation is Relation.PRODUCT:
        return float(error * np.mean(there**-2.0) / np.var(np.log(there)))
    return error / float(np.var(there))


def _fits(
    values: Floats,
    by: Sequence[int],
    column: int,
    rounded: Floats,
    most: float = TOLERANCE.unexplained,
) -> bool:
    """Return whether a column is, but for a few rows, a linear function of others where all have values.

    ``most``: of its variance, what may be left unexplained, if rounding leaves no more; ``rounded``: of the variance of
    each column, that of rounding.
    """
    chosen = values[:, [*by, column]]
    chosen = chosen[np.isfinite(chosen).all(axis=1)]
    spread = np.ptp(chosen, axis=0) if len(chosen) else np.zeros(1)
    if len(chosen) < TOLERANCE.min_rows or not (spread > 0).all():
        return False
    scaled = (chosen - chosen.mean(axis=0)) / chosen.std(axis=0)
    slopes, _, rank, _ = np.linalg.lstsq(scaled[:, :-1], scaled[:, -1], rcond=None)
    far = np.abs(scaled[:, -1] - scaled[:, :-1] @ slopes)
    kept = scaled[far <= np.quantile(far, 1 - TOLERANCE.odd_rows)]
    slopes, left, *_ = np.linalg.lstsq(kept[:, :-1], kept[:, -1], rcond=None)
    by_rounding = TOLERANCE.rounding * (rounded[column] + float(slopes**2 @ rounded[list(by)]))
    most = max(most, min(by_rounding, TOLERANCE.screened_unexplained))
    return bool(rank == len(by) and len(left) and left[0] <= most * len(kept))


# ---- levels that were cut from numbers


def _cuts(numbers: Mapping[str, Floats], levels: Mapping[str, Codes]) -> Iterator[Determined]:
    """Yield categorical columns whose levels are intervals of a number, or of a sum or difference of two."""
    if not numbers:
        return
    single: Combinations = {(name,): (values, Relation.CUTS) for name, values in numbers.items()}
    combined: Combinations = {}
    if len(numbers) <= TOLERANCE.max_numbers:
        for a, b in combinations(numbers, 2):
            combined[a, b] = numbers[a] + numbers[b], Relation.CUTS_OF_SUM
            combined[b, a] = numbers[a] - numbers[b], Relation.CUTS_OF_DIFFERENCE
    for column, codes in levels.items():
        for tried in (single, combined):
            if (one := _first_cut(column, codes, tried)) is not None:
                yield one
                break


def _first_cut(column: str, codes: Codes, tried: Combinations) -> Determined | None:
    """Return the first number (or combination) of which a column's levels are intervals; None if none is."""
    if not tried:
        return None
    keys = list(tried)
    first = slice(0, TOLERANCE.screened_rows)
    screen = np.stack([values[first] for values, _ in tried.values()], axis=1)
    part = _misplaced(codes[first], screen)
    for k in np.argsort(part):
        if part[k] > TOLERANCE.screened_misplaced:
            return None
        values, relation = tried[keys[k]]
        if _misplaced(codes, values[:, None])[0] <= TOLERANCE.misplaced:
            by = keys[k] if relation != Relation.CUTS_OF_DIFFERENCE else keys[k][::-1]
            return Determined(column, by, relation)
    return None


def _misplaced(codes: Codes, values: Floats) -> Floats:
    """Return the rows that the best cut points of each number misplace, relative to guessing at random.

    Each column counts in the rows in which it has a value itself, whatever others lack: in a wide file hardly any row
    has them all. Levels are put in the order of their means. Were they intervals, sorting the rows by value would sort
    the levels.
    """
    present, codes = np.unique(codes, return_inverse=True)
    there = np.isfinite(values)
    rows = there.sum(axis=0)
    is_level = (codes[:, None] == np.arange(len(present))).astype(np.float64)
    counts = is_level.T @ there
    kinds = (counts > 0).sum(axis=0)
    by_chance = 1.0 - ((counts / np.maximum(rows, 1)) ** 2).sum(axis=0)
    usable = (kinds >= 2) & (kinds <= TOLERANCE.max_cut_levels) & (rows >= TOLERANCE.min_rows)
    usable &= by_chance * rows >= TOLERANCE.min_varied_rows
    found = np.ones(values.shape[1])
    if not usable.any():
        return found
    values, there, counts = values[:, usable], there[:, usable], counts[:, usable]
    sums = is_level.T @ np.where(there, values, 0.0)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)  # levels that are not there come last
    rank = np.argsort(np.argsort(means, axis=0), axis=0)[codes]
    rank[~there] = len(present)  # and rows without a value after all others
    ends = np.where(there, values, np.inf)
    order = np.argsort(ends, axis=0, kind="stable")
    wrong = (np.take_along_axis(rank, order, axis=0) != np.sort(rank, axis=0)).sum(axis=0) / rows[usable]
    ordered = np.take_along_axis(ends, order, axis=0)
    different = 1 + ((ordered[1:] != ordered[:-1]) & np.isfinite(ordered[1:])).sum(axis=0)
    found[usable] = np.where(different > kinds[usable], wrong / by_chance[usable], 1.0)
    return found


# ---- levels that follow from levels


def _same_levels(levels: Mapping[str, Codes]) -> Iterator[Determined]:
    """Yield categorical columns whose level follows from one or two others; of two equivalent ones the later."""
    names = list(levels)
    if len(names) < 2:
        return
    first = np.stack([levels[name][: TOLERANCE.screened_rows] for name in names], axis=1)
    follows: set[str] = set()
    for a, cells in enumerate(first.T):
        for b in np.flatnonzero(_impure(cells, first) <= TOLERANCE.screened_misplaced):
            if a == b or not _follow(levels[names[a]], levels[names[b]]):
                continue
            if b < a and _follow(levels[names[b]], levels[names[a]]):
                continue  # the same levels under other names: the later column is reported
            follows.add(names[b])
            yield Determined(names[b], (names[a],), Relation.LEVELS)
    if len(names) > TOLERANCE.max_level_columns:
        return
    left = [b for b, name in enumerate(names) if name not in follows]
    for a, c in combinations(left, 2):
        cells = first[:, a] * (first[:, c].max() + 1) + first[:, c]
        for b in np.flatnonzero(_impure(cells, first[:, left]) <= TOLERANCE.screened_misplaced):
            column = left[b]
            if column > c or (column not in (a, c) and column > a):
                whole = levels[names[a]] * (levels[names[c]].max() + 1) + levels[names[c]]
                if _follow(whole, levels[names[column]]):
                    yield Determined(names[column], (names[a], names[c]), Relation.LEVELS)


def _impure(cells: Codes, levels: Codes) -> Floats:
    """Return for every column of ``levels`` the share of rows whose cell holds more than one level."""
    order = np.argsort(cells, kind="stable")
    ordered = levels[order]
    starts = np.flatnonzero(np.diff(cells[order], prepend=cells[order][0] - 1))
    mixed = np.minimum.reduceat(ordered, starts) != np.maximum.reduceat(ordered, starts)
    sizes = np.diff(starts, append=len(cells))
    return np.asarray((mixed * sizes[:, None]).sum(axis=0) / len(cells))


def _follow(cells: Codes, levels: Codes) -> bool:
    """Return whether the cell of nearly every row predicts its level, better than chance."""
    occupied, cells = np.unique(cells, return_inverse=True)
    present, levels = np.unique(levels, return_inverse=True)
    rows = len(cells)
    table = np.bincount(cells * len(present) + levels, minlength=len(occupied) * len(present))
    table = table.reshape(len(occupied), len(present))
    by_chance = 1.0 - float(((table.sum(axis=0) / rows) ** 2).sum())
    if rows < TOLERANCE.min_rows or by_chance * rows < TOLERANCE.min_varied_rows:
        return False
    if len(occupied) * TOLERANCE.min_rows_per_cell > rows:
        return False
    wrong = 1.0 - table.max(axis=1).sum() / rows
    return bool(wrong <= TOLERANCE.misplaced * by_chance)


# ---- the first rows of a source, with the columns side by side


class FirstRows:
    """The cells of the first rows as text, of all columns: at most ``PairLimits.max_rows`` of them."""

    def __init__(self) -> None:
        self._cells: dict[str, list[pa.Array]] = {}
        self.rows = 0
        self._all = 0

    @property
    def seen(self) -> int | None:
        """The number of remembered rows; None where these are all."""
        return self.rows if self.rows < self._all else None

    def add(self, chunk: Chunk) -> None:
        """Remember the rows of the next chunk, up to the limit."""
        self._all += len(next(iter(chunk.values()))) if chunk else 0
        room = min(PAIRS.max_rows, PAIRS.max_cells // max(len(chunk), 1)) - self.rows
        if not chunk or room <= 0:
            return
        for name, array in chunk.items():
            self._cells.setdefault(name, []).append(text_cells(array.slice(0, room)).cast(pa.binary()))
        self.rows += min(room, len(next(iter(chunk.values()))))

    def cells(self, name: str) -> pa.Array:
        """Return the cells of a column as trimmed text in bytes, null where missing."""
        return pa.chunked_array(self._cells[name], pa.binary()).combine_chunks()

    def values(self, name: str, least: int) -> tuple[Codes, list[bytes]]:
        """Return each row's index among the column's distinct values, and these; none where too few or many."""
        coded = self.cells(name).dictionary_encode()
        size = len(coded.dictionary)
        if not least <= size <= PAIRS.max_values:
            return np.zeros(0, np.int64), []
        return np.asarray(coded.indices.fill_null(size)), coded.dictionary.to_pylist()

    def relations(self, columns: Mapping[str, Column], marks: NumberMarks = NumberMarks()) -> list[Finding]:
        """Return which columns determine others or are missing with others in these rows. Not private."""
        numbers, levels = _coded(self, columns, marks)
        found = {name: np.isnan(values) for name, values in numbers.items()}
        for name, codes in levels.items():
            column = columns[name]
            found[name] = np.isin(codes, (*column.missing_codes, column.size + 1))
            found[name] |= np.asarray(self.cells(name).is_null())
        masks = {name: found[name] for name in columns if name in found}
        return [
            *determined_columns(numbers, levels),
            *_missing_together(self, masks),
            *_missing_with(self, masks, numbers),
        ]

    def shared_values(self) -> list[tuple[object, tuple[str, ...], int]]:
        """Return values that several columns have in exactly equal rows: (value, columns, rows).

        Each of these columns has two other values at least, so that the value may be a code for missing ones: whoever
        was not asked one question was not asked the others. Numbers are the same however they are written.
        """
        found: dict[tuple[object, bytes], list[str]] = {}
        for name in self._cells:
            codes, values = self.values(name, least=3)
            counts = np.bincount(codes, minlength=len(values))
            for k, text in enumerate(values):
                if PAIRS.min_rows <= counts[k] <= len(codes) - PAIRS.min_rows:
                    key = canonical_value(decode_bytes(text)), np.packbits(codes == k).tobytes()
                    found.setdefault(key, []).append(name)
        return [
            (value, tuple(names), int(np.unpackbits(np.frombuffer(rows, np.uint8)).sum()))
            for (value, rows), names in found.items()
            if len(names) >= PAIRS.min_shared_columns
        ]


class Observer(Protocol):
    """Observes the cells of one column, chunk by chunk."""

    def add(self, array: pa.Array, /) -> None:
        """Observe the cells of one more array."""
        ...


def observe_rows(source: Source, *observers: Mapping[str, Observer], progress: bool) -> FirstRows:
    """Pass every chunk of a column to its observers; return the first rows of all observed columns."""
    first = FirstRows()
    names = list(dict.fromkeys(name for group in observers for name in group))
    for chunk in chunks_with_progress(source, names, progress) if names else ():
        first.add(chunk)
        for group in observers:
            for name, observer in group.items():
                observer.add(chunk[name])
    return first


def _coded(
    rows: FirstRows, columns: Mapping[str, Column], marks: NumberMarks
) -> tuple[dict[str, Floats], dict[str, Codes]]:
    """Return the numbers and the codes of the first rows of columns as they are declared."""
    numbers: dict[str, Floats] = {}
    levels: dict[str, Codes] = {}
    for name, column in columns.items():
        cells = rows.cells(name)
        if isinstance(column, Numeric):
            values = numeric_coder(column, marks).parse(cells)
            numbers[name] = np.where(np.isfinite(values) & ~np.isin(values, column.missing), values, np.nan)
        elif column.size <= TOLERANCE.max_levels:
            levels[name] = CategoricalCoder(column, separate_other=True).codes(cells).astype(np.int64)
    return numbers, levels


def _missing_together(rows: FirstRows, masks: Mapping[str, Mask]) -> list[MissingTogether]:
    """Return groups of columns that are missing in nearly the same rows."""
    least = max(PAIRS.min_rows, PAIRS.min_share_lacking * rows.rows)
    names = [name for name, mask in masks.items() if mask.sum() >= least]
    if len(names) < 2:
        return []
    lacking = np.stack([masks[name] for name in names]).astype(np.float32)
    both = lacking @ lacking.T
    either = both.diagonal()[:, None] + both.diagonal() - both
    close = (both >= least) & (both >= PAIRS.min_share_together * either)
    found, left = [], list(range(len(names)))
    while left:
        group = [k for k in left if close[left[0], k]]
        left = [k for k in left if k not in group]
        if len(group) > 1:
            shared = int(np.all([masks[names[k]] for k in group], axis=0).sum())
            found.append(MissingTogether(tuple(names[k] for k in group), shared, rows.seen))
    return found


def _missing_with(
    rows: FirstRows, masks: Mapping[str, Mask], numbers: Mapping[str, Floats]
) -> list[MissingWith]:
    """Return, for columns, the value of another column with which each is nearly always missing.

    At least ``min_share_there`` of the rows with that value lack the column, and these are at least
    ``min_share_explained`` of all that lack it.
    """
    names = [
        name for name, mask in masks.items() if PAIRS.min_rows <= mask.sum() <= len(mask) - PAIRS.min_rows
    ]
    if not names:
        return []
    found: dict[str, MissingWith] = {}
    lacking = np.stack([masks[name] for name in names]).astype(np.float32)
    total, best = lacking.sum(axis=1), np.zeros(len(names))
    for other in masks:
        codes, values = rows.values(other, least=2)
        if not values:
            continue
        is_value = (codes[:, None] == np.arange(len(values))).astype(np.float32)
        there = lacking @ is_value  # missing cells of every column, by the value of the other one
        sure = there >= np.maximum(PAIRS.min_share_there * is_value.sum(axis=0), PAIRS.min_rows)
        value = np.argmax(np.where(sure, there, -1), axis=1)
        for k, name in enumerate(names):
            share = float(there[k, value[k]] / total[k])
            better = share >= PAIRS.min_share_explained and share > best[k]
            if name != other and sure[k, value[k]] and better:
                text, cells = shortened(values[int(value[k])]), int(there[k, value[k]])
                found[name] = MissingWith(name, other, text, cells, name in numbers, rows.seen)
                best[k] = share
    return list(found.values())
