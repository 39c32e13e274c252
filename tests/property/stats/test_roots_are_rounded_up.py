"""A sensitivity that is the root of an exact number must not lie below it, not even by the last bit."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcausal.core.neighbours import Neighbours
from dpcausal.planning.measurement_plan import components_mechanism, joint_mechanism
from dpcausal.privacy.mechanisms.additive import Gaussian
from dpcausal.stats.co_occurrence import entry_sensitivity
from dpcausal.stats.components import component_sensitivity
from dpcausal.stats.double_residual import KEEP, sums_sensitivity
from dpcausal.stats.split_cells import SPREAD, split_sensitivity
from dpcausal.stats.spread import counts_sensitivity

RELATIONS = [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE]


@pytest.mark.parametrize("relation", RELATIONS, ids=str)
def test_no_root_lies_below_what_it_is_the_root_of(relation: Neighbours) -> None:
    moved = 1 if relation is Neighbours.ADD_REMOVE else 2
    found = {
        "table": (split_sensitivity(relation, spread=False, norm=2), Fraction(moved)),
        "table with a spread": (split_sensitivity(relation, spread=True, norm=2), moved + Fraction(SPREAD) ** 2),
        "sums": (sums_sensitivity(relation, norm=2), moved**2 + 2 * Fraction(KEEP) ** 2),
        "counts of a spread": (counts_sensitivity(relation, norm=2), Fraction(moved)),
    }  # fmt: skip
    for cap in range(1, 300):
        found[f"entries up to {cap}"] = entry_sensitivity(cap, 2, relation), Fraction(moved * cap)
    whole = joint_mechanism(8, 0.5, relation, gaussian=True, whole=True)
    assert isinstance(whole, Gaussian)
    found["joint table"] = whole.sensitivity, Fraction(moved)
    for sizes in ([2, 2], [2, 3], [3, 5, 2]):
        sets = [tuple(range(len(sizes)))]
        parts = components_mechanism(sets, sizes, 0.5, relation, gaussian=True)
        assert isinstance(parts, Gaussian)
        found[f"components of {sizes}"] = parts.sensitivity, Fraction(component_sensitivity(sizes, relation))
    below = {name: root for name, (root, squared) in found.items() if Fraction(root) ** 2 < squared}
    assert not below
