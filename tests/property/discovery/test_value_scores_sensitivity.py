"""No neighbour moves the score of a question about numbers by more than 1, on the path that is shipped."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.memory import counts_of
from dpcausal.discovery.scores import ValueScorer
from dpcausal.discovery.search import Query
from dpcausal.stats.evidence import value_score_sensitivity
from dpcausal.stats.value_ranks import ANY_LEVELS

SCHEMA = dc.Schema(x=dc.Numeric(-1, 1), y=dc.Numeric(-1, 1), z=dc.Categorical(["p", "q"]))
Row = tuple[float, float, str]


def evidence(rows: list[Row], relation: Neighbours, given: tuple[str, ...]) -> np.ndarray:
    data = dc.read({name: [row[i] for row in rows] for i, name in enumerate("xyz")}, SCHEMA)
    scorer = ValueScorer(counts_of(data), 0.05, relation, rows=data)
    dependence, information = scorer.evidence([Query("x", "y", given)])
    return np.array([dependence[0], information[0]])


def largest(rows: list[Row], relation: Neighbours, given: tuple[str, ...]) -> np.ndarray:
    added = [(x, y, z) for x, y, z in product((-1.0, 0.003, 1.0), (-1.0, 0.003, 1.0), "pq")]
    after = np.array([evidence([*rows, row], relation, given) for row in added])
    if relation is Neighbours.ADD_REMOVE:
        return np.abs(after - evidence(rows, relation, given)).max(axis=0)
    return np.ptp(after, axis=0)


def starts(n: int) -> list[list[Row]]:
    line = np.linspace(-0.9, 0.9, n)
    rng = np.random.default_rng(n)
    half = ["p" if i % 2 else "q" for i in range(n)]
    up_down = [float(v if z == "p" else -v) for v, z in zip(line, half, strict=True)]
    shapes = [(line, line), (line, -line), (line * 0, line), (line, rng.permutation(line)), (line, up_down)]
    found = [[(float(a), float(b), z) for a, b, z in zip(x, y, half, strict=True)] for x, y in shapes]
    # a large block in order and a small one in reverse: a row moved between them can cost both
    return [
        *found,
        [(float(v), float(-v if i % 4 == 0 else v), "pq"[i % 4 == 0]) for i, v in enumerate(line)],
    ]


@pytest.mark.thin(2)
@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
@pytest.mark.parametrize("given", [(), ("z",)])
def test_scores_move_by_at_most_one_and_a_smaller_bound_is_caught(
    relation: Neighbours, given: tuple[str, ...]
) -> None:
    found = np.array([largest(rows, relation, given) for n in (2, 5, 120) for rows in starts(n)])
    assert found.max() <= 1 + 1e-9
    assert found.max() > 0.75


def test_bounds_by_hand() -> None:
    assert value_score_sensitivity("add-remove", ANY_LEVELS, ANY_LEVELS, 8) == pytest.approx(29 / 18)
    assert value_score_sensitivity("replace-one", ANY_LEVELS, ANY_LEVELS, 8) == pytest.approx(29 / 9)
    assert value_score_sensitivity("replace-one", 2, 2, 8) == 2.0
