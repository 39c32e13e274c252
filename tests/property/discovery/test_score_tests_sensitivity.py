"""No neighbour moves a score by Spearman or on parts by more than 1, on the path that is shipped."""

from __future__ import annotations

from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pytest

import dpcausal as dc
from dpcausal import testing
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.memory import counts_of
from dpcausal.discovery import scores
from dpcausal.discovery.scores import PartScorer, Scorer, SpearmanScorer
from dpcausal.discovery.search import Query
from dpcausal.stats.evidence import unsurprising

BOTH = [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE]
LEVELS = dc.Schema(
    x=dc.Categorical([0, 1, 2], ordered=True),
    y=dc.Categorical([0, 1, 2], ordered=True),
    z=dc.Categorical([0, 1]),
)
NUMBERS = dc.Schema(x=dc.Numeric(-1, 1), y=dc.Numeric(-1, 1), z=dc.Categorical([0, 1]))
Row = tuple[float, float, int]


def evidence(
    rows: list[Row], schema: dc.Schema, relation: Neighbours, given: tuple[str, ...], **more: Any
) -> np.ndarray:
    data = dc.read({name: [row[i] for row in rows] for i, name in enumerate("xyz")}, schema)
    held = data if data.values else None
    scorer: Scorer = SpearmanScorer(counts_of(data), 0.05, relation, rows=held)
    if more:
        scorer = PartScorer(counts_of(data), 0.05, relation, rows=data, **more)
    dependence, information = scorer.evidence([Query("x", "y", given)])
    return np.array([dependence[0], information[0]])


def largest(
    rows: list[Row], schema: dc.Schema, relation: Neighbours, given: tuple[str, ...], **more: Any
) -> np.ndarray:
    """The largest moves of dependence and information when a row is added, or replaced by another."""
    ends = (-1.0, 0.003, 1.0) if schema is NUMBERS else (0, 1, 2)
    after = np.array(
        [evidence([*rows, row], schema, relation, given, **more) for row in product(ends, ends, (0, 1))]
    )
    if relation is Neighbours.ADD_REMOVE:
        return np.abs(after - evidence(rows, schema, relation, given, **more)).max(axis=0)
    return np.ptp(after, axis=0)


def lines(n: int, schema: dc.Schema) -> list[list[Row]]:
    """Rows on a falling line, and a small block of them beside a large one on a rising line."""
    if schema is NUMBERS:
        line = np.linspace(-0.9, 0.9, n)
        down, up = [(float(v), float(-v)) for v in line], [(float(v), float(v)) for v in line]
    else:  # (2, 2) lies beyond the falling line, and (2, 0) beyond the rising one
        down, up = [(0.0, 1.0), (1.0, 0.0)] * (n // 2), [(0.0, 1.0), (1.0, 2.0)] * (n // 2)
    return [
        [(x, y, 0) for x, y in down],
        [(*a, 1) for a in up] + [(*a, 0) for a in down[: n // 2 - n // 2 % 2]],
    ]


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("given", [(), ("z",)])
@pytest.mark.parametrize("schema", [LEVELS, NUMBERS], ids=["levels", "numbers"])
def test_spearman_moves_by_at_most_one_and_a_smaller_bound_is_caught(
    schema: dc.Schema, relation: Neighbours, given: tuple[str, ...]
) -> None:
    found = np.array([largest(rows, schema, relation, given) for n in (4, 200) for rows in lines(n, schema)])
    assert found.max() <= 1 + 1e-9
    wrong = scores.spearman_score_sensitivity
    share = (
        0.7 if given or relation is Neighbours.ADD_REMOVE else 0.65
    )  # one block: no rows of levels come nearer
    with mock.patch.object(scores, "spearman_score_sensitivity", lambda *sizes: share * wrong(*sizes)):
        planted = [largest(rows, schema, relation, given).max() for rows in lines(200, schema)]
    assert max(planted) > 1


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("test", ["chi2", "g"])
def test_parts_move_by_at_most_one_whatever_the_deal(relation: Neighbours, test: str) -> None:
    """The same bits for two neighbours are the proof's coupling; in some deal one row moves a count by all of 1."""
    moved = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, same, z = rng.integers(0, 2, 80), rng.random(80) < 0.65, rng.integers(0, 2, 80)
        rows = [(2 * int(a), 2 * int(a == b), int(c)) for a, b, c in zip(x, same, z, strict=True)]
        given = ("z",) if seed % 2 else ()

        def run(now: list[Row], given: tuple[str, ...] = given, seed: int = seed) -> np.ndarray:
            with testing.seeded(seed):
                return evidence(now, LEVELS, relation, given, test=test, resolved=3.0)

        row = (2 - rows[-1][0], rows[-1][1], rows[-1][2])
        after = [*rows[:-1], row] if relation is Neighbours.REPLACE_ONE else [*rows, row]
        moved.append(np.abs(run(after) - run(rows)).max())
    assert max(moved) == pytest.approx(1.0)


def test_the_number_of_parts_follows_from_public_numbers() -> None:
    data = dc.networks.load("survey").sample(4000, seed=1)
    found = [PartScorer(counts_of(data), 0.05, relation, resolved=10.0).parts for relation in BOTH]
    assert found[0] == 32  # a power of two, where the number of rows is protected
    assert 15 < found[1] <= 32
    few = PartScorer(counts_of(dc.networks.load("survey").sample(100, seed=1)), 0.05, BOTH[1], resolved=10.0)
    assert few.parts == 5  # 20 rows each
    assert few.parts - unsurprising(few.parts, few._threshold) < 10.0
