"""Components add up to tables; their sensitivities are those of the worst pair of rows, tried one by one."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from dpcausal.core.neighbours import Neighbours
from dpcausal.stats.components import (
    component_absolute,
    component_sensitivity,
    interaction,
    sets_sensitivity,
    table_of,
)

SIZES = [(2,), (3,), (2, 2), (2, 3), (3, 4), (2, 2, 2), (2, 3, 4), (5, 2)]


def indicator(row: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:  # type: ignore[type-arg]
    table = np.zeros(sizes)
    table[row] = 1.0
    return table


def moved(sizes: tuple[int, ...], relation: Neighbours) -> list[np.ndarray]:  # type: ignore[type-arg]
    """What every possible change of one row does to the component."""
    parts = [interaction(indicator(row, sizes)) for row in product(*map(range, sizes))]
    if relation is Neighbours.ADD_REMOVE:
        return parts
    return [a - b for a, b in combinations(parts, 2)]


@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
@pytest.mark.parametrize("sizes", SIZES)
def test_one_component_is_tight(sizes: tuple[int, ...], relation: Neighbours) -> None:
    worst = max(float((change**2).sum()) for change in moved(sizes, relation))
    bound = component_sensitivity(sizes, relation)
    assert worst <= bound * (1 + 1e-12)
    assert worst >= bound * (1 - 1e-9)
    assert worst > 0.7 * bound  # a constant 30% too small is caught
    absolute = max(float(np.abs(change).sum()) for change in moved(sizes, relation))
    assert absolute == pytest.approx(component_absolute(sizes, relation), rel=1e-9)


@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (2, 3, 2), (3, 3, 3), (2, 3, 4)])
def test_all_pairs_are_tight(sizes: tuple[int, ...], relation: Neighbours) -> None:
    """Exhaustive over all pairs of rows: the bound is reached and never passed."""
    pairs = list(combinations(range(len(sizes)), 2))

    def image(row: tuple[int, ...]) -> np.ndarray:  # type: ignore[type-arg]
        parts = [interaction(indicator((row[i], row[j]), (sizes[i], sizes[j]))).ravel() for i, j in pairs]
        return np.concatenate(parts)

    images = [image(row) for row in product(*map(range, sizes))]
    changes = images if relation is Neighbours.ADD_REMOVE else [a - b for a, b in combinations(images, 2)]
    worst = max(float((change**2).sum()) for change in changes)
    bound = sets_sensitivity(pairs, sizes, relation)
    assert bound * (1 - 1e-9) <= worst <= bound * (1 + 1e-12)
    absolute = max(float(np.abs(change).sum()) for change in changes)
    assert absolute == pytest.approx(sets_sensitivity(pairs, sizes, relation, norm=1), rel=1e-9)


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("norm", [1, 2])
def test_a_pair_that_is_listed_again_counts_again(relation: Neighbours, norm: int) -> None:
    """All pairs, each of them three times: three times what they move together."""
    pairs = list(combinations(range(4), 2))
    once = sets_sensitivity(pairs, [2, 3, 3, 4], relation, norm=norm)
    assert sets_sensitivity(3 * pairs, [2, 3, 3, 4], relation, norm=norm) >= 3 * once * (1 - 1e-9)
    assert sets_sensitivity([*pairs, (0, 1)], [2, 3, 3, 4], relation, norm=norm) > once


def test_pairs_that_are_too_many_to_try_fall_back_on_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [2, 3, 4, 5]
    pairs = list(combinations(range(4), 2))
    tight = sets_sensitivity(pairs, sizes, Neighbours.REPLACE_ONE)
    monkeypatch.setattr("dpcausal.stats.components.MAX_ENUMERATED", 1)
    assert sets_sensitivity(pairs, sizes, Neighbours.REPLACE_ONE) > tight


def test_alarm() -> None:
    """The number in the module's docstring."""
    sizes = [2] * 13 + [3] * 17 + [4] * 7
    pairs = list(combinations(range(37), 2))
    assert sets_sensitivity(pairs, sizes, Neighbours.REPLACE_ONE) == pytest.approx(529.5, abs=1.0)


@pytest.mark.parametrize("sizes", [(2, 3, 4), (3, 3), (5,)])
def test_components_add_up_to_the_table(sizes: tuple[int, ...]) -> None:
    table = np.random.default_rng(1).integers(0, 50, sizes).astype(float)
    axes = range(len(sizes))
    parts = {}
    for number in range(len(sizes) + 1):
        for columns in combinations(axes, number):
            margin = table.sum(axis=tuple(axis for axis in axes if axis not in columns))
            parts[columns] = interaction(margin)
    assert np.allclose(table_of(parts, tuple(axes), sizes), table)
    # components of different sets are orthogonal: every margin of one along one of its axes is zero
    for columns, part in parts.items():
        for axis in range(len(columns)):
            assert np.allclose(part.sum(axis=axis), 0.0)
