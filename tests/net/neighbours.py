"""Neighbouring data sets to try the wiring on: extreme ones made by hand, random ones, and a hill climb.

A ``Star`` is a base of rows and candidates for one row more. Two data sets "base and a candidate" are replace-one
neighbours, whatever the two candidates are; the base alone and one of them are add-remove neighbours. So a few runs
give many pairs: ``explored`` runs all of them on the answers of the first and compares every pair.

Rows are columns by name, arrays of codes or numbers. Everything here follows from a seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any

import numpy as np
from capture import Tape, compared, record

Columns = dict[str, Any]
Row = dict[str, Any]
Found = dict[str, float]


@dataclass(frozen=True)
class Star:
    """A base and the rows that may be added to it."""

    base: Columns
    candidates: tuple[Row, ...]


def with_row(base: Columns, row: Row) -> Columns:
    """The base and one row more, at the end."""
    return {
        name: np.concatenate([column, [row[name]]])
        if isinstance(column, np.ndarray)
        else [*column, row[name]]
        for name, column in base.items()
    }


def of_rows(rows: Sequence[Row], names: Sequence[str]) -> Columns:
    """Columns of a list of rows."""
    return {name: np.array([row[name] for row in rows]) for name in names}


def data_sets(star: Star, relation: str) -> list[Columns]:
    """The data sets of a star; under add-remove the base comes first."""
    more = [with_row(star.base, row) for row in star.candidates]
    return [star.base, *more] if relation == "add-remove" else more


def explored(
    call: Callable[[Any], Any],
    build: Callable[[Columns], Any],
    star: Star,
    relation: str,
    *,
    charged: str = "",
    seed: int = 0,
    by_label: bool = False,
) -> Found:
    """The largest share (of the charge, or of the sensitivity) of every mechanism over all pairs of a star.

    Raises where a pair breaks a rule.

    ``charged`` is the relation that charges must name, where it is not ``relation``.
    """
    tapes: list[Tape] = []
    for columns in data_sets(star, relation):
        tapes.append(record(call, build(columns), seed=seed, replay=tapes[0] if tapes else None))
    pairs = [(tapes[0], other) for other in tapes[1:]]
    if relation != "add-remove":
        pairs = list(combinations(tapes, 2))
    best: Found = {}
    for one, two in pairs:
        for loss in compared(one, two, charged or relation):
            key = f"{loss.mechanism} {loss.label}" if by_label else loss.mechanism
            best[key] = max(best.get(key, 0.0), loss.ratio, loss.moved)
    return best


def search(
    call: Callable[[Any], Any],
    build: Callable[[Columns], Any],
    stars: Iterable[Star],
    relation: str,
    *,
    enough: float,
    most: int,
    climb: int = 0,
    charged: str = "",
    by_label: bool = False,
) -> Found:
    """The best over ``most`` stars, and ``climb`` steps up from the best of them until ``enough``.

    ``enough`` is asked of every mechanism. All stars are tried, with coins of their own: what a bug needs to be seen is
    not what comes near the charge.
    """
    best: Found = {}
    top: tuple[float, Star | None, int] = (-1.0, None, 0)

    def tried(star: Star, seed: int) -> float:
        found = explored(call, build, star, relation, charged=charged, seed=seed, by_label=by_label)
        for name, ratio in found.items():
            best[name] = max(best.get(name, 0.0), ratio)
        return min(found.values(), default=0.0)

    def done() -> bool:
        return bool(best) and min(best.values()) >= enough

    for seed, star in enumerate(islice(stars, most)):
        worth = tried(star, seed)
        if worth > top[0]:
            top = (worth, star, seed)
    rng = np.random.default_rng(most)
    for _ in range(climb):
        worth, star, seed = top
        if star is None or done():
            break
        other = nudged(star, rng)
        now = tried(other, seed)
        if now >= worth:
            top = (now, other, seed)
    return best


def nudged(star: Star, rng: np.random.Generator) -> Star:
    """A few rows of the base become copies of other rows or of candidates, or one cell of theirs does."""
    base = {name: np.array(column) for name, column in star.base.items()}
    n = len(next(iter(base.values())))
    if n == 0:
        return star
    rows = rng.choice(n, size=min(n, int(rng.choice([1, 3, 20]))), replace=False)
    pool = star.candidates[int(rng.integers(len(star.candidates)))]
    other = int(rng.integers(n))
    names = list(base) if rng.random() < 0.5 else [str(rng.choice(list(base)))]
    for name in names:
        base[name][rows] = pool[name] if rng.random() < 0.5 else base[name][other]
    return Star(base, star.candidates)


# --- rows of levels ------------------------------------------------------------------------------------------------


def _ends(size: int) -> list[int]:
    return sorted({0, size - 1})


def _by_stratum(rows: Iterable[Row], given: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by their levels of ``given``."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in given), []).append(row)
    return found


MOST_CELLS = 20_000  # of larger tables so many are drawn


def level_stars(
    sizes: Mapping[str, int], seed: int, rows: Sequence[int] = (40, 200), most: int = 10
) -> Iterator[Star]:
    """Piles at the ends of the levels: stratum by stratum nearly all rows alike, few others; then spread-out rows.

    The last column but two and those before it count as strata. Candidates are ``most`` cells at the ends.
    """
    rng = np.random.default_rng(seed)
    names = list(sizes)
    corners = [
        dict(zip(names, cell, strict=True)) for cell in product(*(_ends(size) for size in sizes.values()))
    ]
    if math.prod(sizes.values()) <= MOST_CELLS:
        cells = [dict(zip(names, cell, strict=True)) for cell in product(*map(range, sizes.values()))]
    else:
        drawn = rng.integers(0, list(sizes.values()), (MOST_CELLS, len(sizes)))
        cells = [dict(zip(names, cell.tolist(), strict=True)) for cell in drawn] + corners
    corners_of, cells_of = _by_stratum(corners, names[2:]), _by_stratum(cells, names[2:])
    strata = sorted(corners_of)
    while True:
        n = int(rng.choice(rows))
        chosen = rng.permutation(len(corners))[:most]
        candidates = tuple(corners[i] for i in chosen)
        kind = int(rng.integers(7))
        base: list[Row] = []
        if kind == 0:  # anything
            base = [cells[i] for i in rng.integers(len(cells), size=n)]
        elif kind == 6:  # two piles that disagree with each other and both agree with a row at the end
            for i, stratum in enumerate(strata):
                x, y = (min(1, size - 2) for size in list(sizes.values())[:2])
                top = list(sizes.values())[1] - 1
                for cell in ((0, y), (x, 0)) if i % 2 == 0 else ((0, top - y), (x, top)):
                    base += [dict(zip(names, (*cell, *stratum), strict=True))] * (n // len(strata) // 2)
        elif kind == 1:  # few rows
            base = [corners[i] for i in rng.integers(len(corners), size=rng.integers(1, 5))]
        else:
            for stratum in strata:
                inside, whole = corners_of[stratum], cells_of[stratum]
                pile = rng.permutation(len(inside))
                base += [inside[pile[0]]] * (n // len(strata))
                if kind >= 4:  # a second pile
                    base += [inside[pile[1]]] * (n // len(strata) // int(rng.choice([1, 2, 8])))
                if kind in (3, 5):
                    base += [whole[i] for i in rng.integers(len(whole), size=rng.integers(1, 4))]
        yield Star(of_rows(base, names), candidates)


def pile_stars(names: Sequence[str], piles: Iterable[int], rows: Sequence[int] = (400,)) -> Iterator[Star]:
    """Rows of 0 in all columns, and a pile of rows of 1: one more row of 1 moves the evidence on every pair at once.

    With m rows of 1 among n, K = m - m^2/n and the largest K is the same, so a row of 1 moves both by 1 - 2m/n, about.
    Somewhere among the piles the score of a search turns, for all pairs together.
    """
    candidates = tuple(dict(zip(names, cell, strict=True)) for cell in product((0, 1), repeat=len(names)))
    for n, pile in product(rows, piles):
        base = {name: np.r_[np.ones(pile, int), np.zeros(n - pile, int)] for name in names}
        yield Star(base, candidates)


# --- rows of numbers -----------------------------------------------------------------------------------------------


def number_stars(
    names: Sequence[str], seed: int, rows: Sequence[int] = (23, 119), most: int = 8
) -> Iterator[Star]:
    """Numbers within -1 and 1: lines up and down, one stratum against another, piles with a row far away.

    The first two names are x and y; the others are conditioned on. Candidates lie at the ends and in the middle.
    """
    rng = np.random.default_rng(seed)
    given = list(names[2:])
    ends = [
        dict(zip(names, cell, strict=True))
        for cell in product((-1.0, 1.0), (-1.0, 1.0), *([(-0.95, 0.95)] * len(given)))
    ]
    for kind in _cycle(9):
        n = int(rng.choice(rows))
        line = np.linspace(-0.9, 0.9, n)
        side = np.where(np.arange(n) % 2, 0.95, -0.95)
        x, y, z = line, line, side
        if kind == 1:
            y = -line
        elif kind == 2:  # up in one stratum, down in the other
            y = np.where(side > 0, line, -line)
        elif kind == 3:  # a pile
            x, y = np.full(n, -1.0), np.full(n, -1.0)
        elif kind == 4:  # piles at opposite ends in two strata
            x, y = np.full(n, -1.0), -np.sign(side)
        elif kind == 5:
            x, y = rng.permutation(line), rng.permutation(line)
        elif kind == 6:  # ties
            x, y, z = np.sign(line), np.sign(rng.permutation(line)), np.full(n, 0.95)
        elif kind == 7:
            x, y, z = (rng.uniform(-1, 1, n) for _ in range(3))
        elif kind == 8:  # two strata near the middle, so that a row is far from both
            x, y, z = np.sign(side), np.sign(side), side / 10
        base = {names[0]: x, names[1]: y, **dict.fromkeys(given, z)}
        pick = rng.permutation(len(ends))[:most]
        middle = tuple({**ends[0], names[0]: a, names[1]: b} for a, b in ((0.01, 1.0), (0.0, 0.0)))
        yield Star(base, tuple(ends[i] for i in pick) + middle)


def far_stars(
    names: Sequence[str], seed: int, rows: Sequence[int] = (60,), tied: float = 0.0
) -> Iterator[Star]:
    """Many small numbers and one row that is far away in x and y, one way or the other; ``tied``: how y follows x."""
    rng = np.random.default_rng(seed)
    while True:
        n = int(rng.choice(rows))
        base = {name: rng.normal(0, 1e-3, n) for name in names[:2]}
        base[names[1]] = base[names[1]] + tied * base[names[0]]
        base |= {name: rng.uniform(-1, 1, n) for name in names[2:]}
        z = {name: float(rng.uniform(-0.9, 0.9)) for name in names[2:]}
        signs = ((1.0, 1.0), (1.0, -1.0), (0.0, 0.0))
        yield Star(base, tuple({names[0]: a, names[1]: b, **z} for a, b in signs))


def _cycle(count: int) -> Iterator[int]:
    while True:
        yield from range(count)


# --- people and genotypes ------------------------------------------------------------------------------------------


def genotype_stars(seed: int, snps: int, people: Sequence[int], step: int) -> Iterator[Star]:
    """Genotypes of cases and controls; a person of one group changes ``step`` alleles at every SNP, up or down."""
    rng = np.random.default_rng(seed)
    for turn in _cycle(4):
        n = int(rng.choice(people))
        case = np.arange(n) % 2 == 0
        rate = rng.choice([0.0, 0.02, 0.5, 0.98, 1.0], size=(2, snps))
        if turn == 1:
            rate[:] = 0.5
        genotypes = rng.binomial(2, rate[case.astype(int)])
        if turn == 3:  # one group all of one kind
            genotypes[case] = 2 * rng.integers(0, 2, snps)
        group = bool(turn % 2)
        low = rng.integers(0, 3 - step, snps)
        ways = [
            np.zeros(snps, int),
            np.full(snps, step),
            step * (np.arange(snps) % 2),
            step * (np.arange(snps) % 2 == 0),
        ]
        rows = tuple({"genotypes": low + way, "case": group} for way in ways)
        yield Star({"genotypes": genotypes, "case": case}, rows)
