"""One outcome: the budget goes to tables with the target; only pairs with it are decided."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.core.statement import MeasuredTables
from dpcausal.discovery.result import PairState
from dpcausal.discovery.search import AboutTarget


@pytest.mark.thin(2)
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_neighbours_of_the_target_are_found_and_nothing_else(neighbours: str, delta: float) -> None:
    network = dc.networks.load("sachs")
    data = network.sample(20_000, seed=1)
    with dc.testing.seeded(1):
        found = dc.discover(
            data, epsilon=8.0, delta=delta, target="PKA", neighbours=neighbours, method="measured"
        )
    true = {pair for pair in network.dag.skeleton if "PKA" in pair}
    assert found.graph.skeleton == true
    assert found.about is not None
    assert len(found.about) == len(network.dag.nodes) - 1
    assert found.absent <= found.about
    others = [pair for pair in combinations(network.dag.nodes, 2) if "PKA" not in pair]
    assert {found.state(*pair) for pair in others} == {PairState.OPEN}
    assert any(isinstance(note, AboutTarget) for note in found.notes)
    assert found.privacy.epsilon == 8.0


def test_pairs_with_the_target_have_less_noise() -> None:
    data = dc.networks.load("sachs").sample(500, seed=1)
    with dc.testing.seeded(1):
        one = dc.discover(data, epsilon=1.0, delta=1e-6, target="PKA")
        whole = dc.discover(data, epsilon=1.0, delta=1e-6, confidence=0)

    def noise(found: dc.DiscoveryResult, label: str) -> float:
        (event,) = [event for event in found.privacy.events if event["label"] == label]
        return float(event["sigma"])

    assert noise(one, "pairs with the target") < 0.6 * noise(whole, "pairs of columns")
    assert one.method == "measured"


def test_what_is_known_holds_for_a_target_too() -> None:
    network = dc.networks.load("asia")
    data = network.sample(20_000, seed=2)
    with dc.testing.seeded(2):
        found = dc.discover(
            data,
            epsilon=5.0,
            delta=1e-6,
            target="dysp",
            required=[("smoke", "bronc")],
            forbidden=[{"bronc", "dysp"}],
            tiers=[["smoke"], ["bronc", "either"], ["dysp"]],
        )
    assert ("smoke", "bronc") in found.graph.directed
    assert frozenset(("bronc", "dysp")) not in found.graph.skeleton | found.open
    assert ("either", "dysp") in found.graph.directed


def test_a_target_that_is_no_column_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    data = dc.networks.load("asia").sample(1000, seed=2)
    ledger = dc.Ledger.open(f"sqlite:///{tmp_path}/budget.db", create=True)
    ledger.create("cohort", epsilon=2.0, delta=1e-5)
    before = len(ledger.log("cohort"))
    for wrong in ("dyps", 3):
        with pytest.raises(InputError, match="target: "):
            dc.discover(data, epsilon=1.0, delta=1e-6, target=wrong, ledger=ledger, dataset="cohort")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at most 10,000 repeats"):
        dc.discover(
            data, epsilon=1.0, delta=1e-6, target="dysp", confidence=10**5, ledger=ledger, dataset="cohort"
        )
    assert len(ledger.log("cohort")) == before


def test_links_of_the_target_have_a_confidence() -> None:
    data = dc.networks.load("asia").sample(20_000, seed=2)
    with dc.testing.seeded(3):
        found = dc.discover(data, epsilon=3.0, delta=1e-6, target="bronc")
    assert found.confidence is not None
    assert found.confidence.keys() == found.graph.skeleton
    assert found.confidence[frozenset(("smoke", "bronc"))] == 1.0  # strong: no other sample hides it
    assert found.repeats is not None
    assert found.repeats >= 20


def test_the_noise_that_is_told_is_that_of_pairs_with_the_target() -> None:
    schema = dc.Schema({f"c{i}": dc.Categorical([0, 1]) for i in range(12)})
    rng = np.random.default_rng(3)
    codes = {name: rng.integers(0, 2, 1500).astype(np.uint8) for name in schema}
    found = dc.discover(
        dc.Dataset(schema, 1500, codes), epsilon=0.3, delta=1e-6, target="c0", anyway=True, confidence=0
    )
    (own,) = [
        fact.sd
        for fact in found.privacy.released
        if isinstance(fact, MeasuredTables) and fact.what == "pairs with the target"
    ]
    once = f"together, a count of another column with c0 has noise of standard deviation {own:.0f} rows"
    assert found.release is not None
    for one in (found, found.release.discover()):
        assert once in one.summary(full=True)
    assert "in a table of two columns" not in found.summary(full=True)
