"""Many columns and much noise: a tree of pairs is chosen by a mechanism and measured alone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.measured.tables import Components
from dpcausal.discovery.search import ChosenPairs
from dpcausal.planning.forecast import Aim, curve_at
from dpcausal.planning.measurement_plan import PublicNumbers, plan_measurement
from dpcausal.planning.settings import SETTINGS
from dpcausal.privacy.events import event_from_dict

COLUMNS = 24
FEW = SETTINGS.tree_columns


def chain(rows: int, seed: int, columns: int = COLUMNS, *, follow: float = 0.75) -> dc.Dataset:
    """Columns of three levels of which each follows the one before."""
    rng = np.random.default_rng(seed)
    names = [f"v{j:02}" for j in range(columns)]
    codes = {names[0]: rng.integers(0, 3, rows)}
    for before, name in pairwise(names):
        codes[name] = np.where(rng.random(rows) < follow, codes[before], rng.integers(0, 3, rows))
    schema = dc.Schema({name: dc.Categorical(["a", "b", "c"]) for name in names})
    return dc.Dataset(schema, rows, {name: code.astype(np.uint8) for name, code in codes.items()})


def searched(data: dc.Dataset, seed: int = 1, **more: Any) -> dc.DiscoveryResult:
    given: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "neighbours": "add-remove", **more}
    with dc.testing.seeded(seed):
        return dc.discover(data, method="measured", anyway=True, **given)


@pytest.fixture(scope="module")
def found() -> dc.DiscoveryResult:
    return searched(chain(1_500, 0))


def measured_pairs(result: dc.DiscoveryResult) -> list[tuple[int, ...]]:
    assert result.release is not None
    tables = result.release.values.tables
    assert isinstance(tables, Components)
    return [one for one in tables.values if len(one) == 2]


def test_the_pairs_that_are_measured_join_all_columns(found: dc.DiscoveryResult) -> None:
    pairs = measured_pairs(found)
    assert nx.is_tree(nx.Graph(pairs))
    assert len(pairs) == COLUMNS - 1
    note = next(note for note in found.notes if isinstance(note, ChosenPairs))
    assert (note.number, note.of) == (COLUMNS - 1, COLUMNS * (COLUMNS - 1) // 2)


def test_a_chain_is_found_and_nothing_else(found: dc.DiscoveryResult) -> None:
    """Of 23 links 20 at least, and at most one pair that is none: with 30 other seeds all 23 were found alone."""
    names = list(found.graph.nodes)
    links = {frozenset(pair) for pair in pairwise(names)}
    edges = {frozenset(pair) for pair in found.graph.skeleton}
    assert len(edges & links) >= 20
    assert len(edges - links) <= 1


def test_pairs_that_were_not_chosen_are_open_and_say_so(found: dc.DiscoveryResult) -> None:
    names = list(found.graph.nodes)
    chosen = {frozenset(names[j] for j in pair) for pair in measured_pairs(found)}
    others = {frozenset((a, b)) for a in names for b in names if a < b} - chosen
    assert others <= {frozenset(pair) for pair in found.open}
    assert not any(frozenset(pair) in found.evidence for pair in others)
    assert "not among the pairs that were measured" in str(found.to_dict()) + found.summary(full=True)


def test_the_choice_is_charged_and_the_total_kept(found: dc.DiscoveryResult) -> None:
    events = {event["label"]: event for event in found.privacy.events}
    assert events["which pairs are measured"]["mechanism"] == "spanning-tree"
    total = dc.Budget(1.0, 1e-6, neighbours=Neighbours.ADD_REMOVE).total.rho
    spent = sum(event_from_dict(event).rho for event in found.privacy.events)
    assert 0.999 * total < spent <= total


def test_the_release_says_the_same_again(found: dc.DiscoveryResult, tmp_path: Path) -> None:
    assert found.release is not None
    again = dc.load_release(found.release.save(tmp_path / "release.json")).discover()
    assert again.graph == found.graph
    assert again.open == found.open
    assert again.confidence == found.confidence
    assert any(isinstance(note, ChosenPairs) for note in again.notes)


def test_effects_of_pairs_that_were_not_measured_are_refused(found: dc.DiscoveryResult) -> None:
    with pytest.raises(dc.InputError, match="do not hold v00, v20 together"):
        found.effect("v00", "v20", adjust=[], compare=("a", "b"), event="a", anyway=True)


def test_independent_columns_give_no_edges_but_by_chance() -> None:
    """10 runs with 24 independent columns. 40 others had .5 edges a run: 20 in 10 are below 1e-6 (Poisson)."""
    edges = [
        len(searched(chain(1_500, 70 + s, follow=0.0), s, confidence=0).graph.skeleton) for s in range(10)
    ]
    assert sum(edges) < 20


def test_a_required_edge_stays_whether_it_was_chosen_or_not() -> None:
    result = searched(chain(800, 5), required=[("v00", "v23")], confidence=0)
    assert frozenset(("v00", "v23")) in {frozenset(pair) for pair in result.graph.skeleton}


@pytest.mark.parametrize(
    ("sizes", "ordered", "rows", "delta", "target", "tree"),
    [
        ([3] * 24, False, 1_500, 1e-6, None, True),
        ([3] * 24, False, 1_500, 0.0, None, False),  # no delta
        ([3] * (FEW - 1), False, 500, 1e-6, None, False),  # few columns
        ([3] * FEW, False, 500, 1e-6, None, True),
        ([2] * 24, False, 1_500, 1e-6, None, False),  # few levels
        ([4] * 24, True, 1_500, 1e-6, None, False),  # trends
        ([3] * 24, False, 30_000, 1e-6, None, False),  # little noise
        ([3] * 24, False, 1_500, 1e-6, 3, False),  # one column is asked about
    ],
)
def test_when_a_tree_is_measured(
    sizes: list[int], ordered: bool, rows: int, delta: float, target: int | None, tree: bool
) -> None:
    relation = Neighbours.ADD_REMOVE
    public = PublicNumbers.of_sizes(sizes, rows, 1.0, delta, relation, target, ordered=ordered)
    assert plan_measurement(public).tree is tree


@pytest.mark.slow
@pytest.mark.parametrize(("neighbours", "w"), [("add-remove", 0.28), ("replace-one", 0.45)])
def test_the_plan_says_how_often_a_link_is_found(neighbours: str, w: float) -> None:
    """One link among 24 columns, 1,000 rows: in 40 runs as often as planned, to within .27, 3.4 standard errors."""
    plan = plan_measurement(PublicNumbers.of_sizes((3,) * COLUMNS, 1_000, 1.0, 1e-6, Neighbours(neighbours)))
    assert plan.tree
    planned = curve_at(plan, (0, 1), Aim(1_000, 0.05, 0.8, w, None))(w)
    assert 0.3 < planned < 0.9
    found = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 8])
        together = np.full((3, 3), 1 / 9) + w / 18**0.5 * (np.eye(3) - 1 / 3)
        both = rng.choice(9, 1_000, p=together.ravel())
        plain = chain(1_000, 500 + seed, follow=0.0)
        codes = {**plain.codes, "v00": (both // 3).astype(np.uint8), "v01": (both % 3).astype(np.uint8)}
        result = searched(dc.Dataset(plain.schema, 1_000, codes), seed, neighbours=neighbours, confidence=0)
        found += frozenset(("v00", "v01")) in {frozenset(pair) for pair in result.graph.skeleton}
    assert abs(found / 40 - planned) < 0.27


def test_hidden_causes_are_looked_for_too() -> None:
    result = searched(chain(1_500, 6), latent=True, confidence=0)
    assert len(result.graph.skeleton) >= 15
