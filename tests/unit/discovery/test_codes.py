"""The method for rare yes/no columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.facts import content_id
from dpcausal.data.codes import CodeTable
from dpcausal.discovery.codes.measure import SETTINGS
from dpcausal.discovery.release import CONTENT
from dpcausal.discovery.search import CodesMeasured, MethodByCall

ROWS = 20_000


def table(ones: np.ndarray, **more: np.ndarray) -> CodeTable:
    """Rows of zeros and ones as codes, and columns of persons by their codes."""
    names = [f"c{j:02}" for j in range(ones.shape[1])]
    levels: dict[str, Any] = {
        name: dc.Categorical([str(i) for i in range(int(one.max()) + 1)]) for name, one in more.items()
    }
    schema = dc.Schema({**levels, **dict.fromkeys(names, dc.Categorical(["no", "yes"]))})
    columns = {**more, **{name: np.ascontiguousarray(ones[:, j]) for j, name in enumerate(names)}}
    return CodeTable(schema, len(ones), columns, {}, None, tuple(names))


def pairs_linked(rng: np.random.Generator, columns: int = 20, rows: int = ROWS) -> np.ndarray:
    """Codes of 5%, of which 2k and 2k + 1 are linked for the first three k, with a correlation of .5."""
    ones = rng.random((rows, columns)) < 0.05
    for k in range(3):
        ones[:, 2 * k + 1] = np.where(rng.random(rows) < 0.5, ones[:, 2 * k], ones[:, 2 * k + 1])
    return ones.astype(np.uint8)


def discovered(data: CodeTable, seed: int = 0, **asked: Any) -> dc.DiscoveryResult:
    with dc.testing.seeded(seed):
        return dc.discover(data, **{"epsilon": 1.0, "delta": 1e-6, "confidence": 0, **asked})


def pair(a: int, b: int) -> frozenset[str]:
    return frozenset((f"c{a:02}", f"c{b:02}"))


def test_links_are_found_with_their_strength() -> None:
    result = discovered(table(pairs_linked(np.random.default_rng(1))), confidence=20)
    assert result.method == "codes"
    assert result.reason == MethodByCall("read-codes")
    linked = {pair(0, 1), pair(2, 3), pair(4, 5)}
    assert linked <= result.graph.skeleton
    for one in linked:
        strength = result.strength[one]
        assert strength.low < 0.5 < strength.high
        assert strength.sign == 1
        assert (result.confidence or {})[one] > 0.9
    assert result.strength.keys() == result.graph.skeleton
    note = next(note for note in result.notes if isinstance(note, CodesMeasured))
    assert 1 <= note.ones <= 20
    assert 0.5 < note.retained <= 1.0


@pytest.mark.parametrize(
    ("delta", "neighbours"), [(0.0, "replace-one"), (1e-6, "add-remove"), (0.0, "add-remove")]
)
def test_budget_is_kept_by_every_noise(delta: float, neighbours: str) -> None:
    data = table(pairs_linked(np.random.default_rng(2)))
    result = discovered(data, epsilon=4.0, delta=delta, neighbours=neighbours)
    assert result.privacy.epsilon <= 4.0
    assert pair(0, 1) in result.graph.skeleton
    assert len(result.privacy.events) == 5


def test_shares_add_up_to_one() -> None:
    shares = [value for name, value in vars(SETTINGS).items() if name.startswith("share_")]
    assert sum(shares) == pytest.approx(1.0, abs=1e-12)


def test_a_chain_is_explained_by_its_middle() -> None:
    rng = np.random.default_rng(4)
    a = rng.random(60_000) < 0.1
    b = np.where(rng.random(60_000) < 0.7, a, rng.random(60_000) < 0.1)
    c = np.where(rng.random(60_000) < 0.7, b, rng.random(60_000) < 0.1)
    ones = (rng.random((60_000, 12)) < 0.05).astype(np.uint8)
    ones[:, 0], ones[:, 1], ones[:, 2] = a, b, c
    result = discovered(table(ones), epsilon=3.0)
    assert {pair(0, 1), pair(1, 2)} <= result.graph.skeleton
    assert pair(0, 2) not in result.graph.skeleton
    assert result.separating.get(pair(0, 2), ("c01",)) == ("c01",)


@pytest.mark.slow
@pytest.mark.parametrize("frailty", [0.0, 0.8])
def test_a_cap_makes_no_negative_links(frailty: float) -> None:
    """Independent codes, and codes of persons who differ in how many they have: what the cap takes is reckoned with.

    1,225 pairs a run, 4 runs: a negative edge would come by chance with probability below .001 a pair at this
    threshold, so that more than 15 of 4,900 have a probability below .0001 (Poisson with mean 4.9).
    """
    negative = edges = 0
    for seed in range(4):
        rng = np.random.default_rng([9, seed])
        by = np.exp(frailty * rng.standard_normal(100_000) - frailty**2 / 2)
        ones = rng.random((100_000, 50)) < np.minimum(rng.uniform(0.02, 0.1, 50) * by[:, None], 0.9)
        result = discovered(table(ones.astype(np.uint8)), seed=seed)
        negative += sum(link.sign < 0 for link in result.strength.values())
        edges += len(result.graph.skeleton)
    assert negative <= 15
    if frailty:
        assert edges > 100  # a frailty is dependence


def test_a_frailty_is_dependence_and_none_of_it_negative() -> None:
    rng = np.random.default_rng(12)
    by = np.exp(0.9 * rng.standard_normal(60_000) - 0.4)
    ones = rng.random((60_000, 25)) < np.minimum(rng.uniform(0.03, 0.1, 25) * by[:, None], 0.9)
    result = discovered(table(ones.astype(np.uint8)), epsilon=2.0)
    signs = [link.sign for link in result.strength.values()]
    assert len(signs) > 60  # of 300 pairs, all of which depend
    assert signs.count(-1) == 0


def test_what_was_released_is_searched_again_from_its_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    data = table(pairs_linked(rng), age=rng.integers(0, 3, ROWS).astype(np.uint8))
    first = discovered(data, confidence=5)
    assert first.release is not None
    file = first.release.save(tmp_path / "release.json")
    read = dc.load_release(file)
    again = read.discover()
    for name in ("graph", "open", "strength", "detectable", "direction", "confidence", "rows"):
        assert getattr(again, name) == getattr(first, name), name
    assert again.privacy.epsilon == first.privacy.epsilon
    assert again.release is not None
    assert again.release.id == read.id == first.release.id
    other = read.discover(forbidden=[("c00", "c01"), ("c01", "c00")], confidence=0)
    assert pair(0, 1) not in other.graph.skeleton
    assert pair(2, 3) in other.graph.skeleton
    required = read.discover(required=[("c10", "c11")], confidence=0)
    assert ("c10", "c11") in required.graph.directed


@pytest.mark.parametrize(
    "damage",
    [
        lambda values: values["sizes"].append(2),
        lambda values: values["again"].append([1, 0]),
        lambda values: values["singles"]["counts"].pop(),
        lambda values: values["pairs"]["variance"].pop(),
        lambda values: values.update(sd=0.0),
        lambda values: values.update(again=[]),
    ],
)
def test_a_damaged_release_is_refused_in_a_line(tmp_path: Path, damage: Callable[[Any], None]) -> None:
    release = discovered(table(pairs_linked(np.random.default_rng(1), columns=8))).release
    assert release is not None
    content = json.loads(release.to_json())
    damage(content["values"])
    content["id"] = content_id({name: content[name] for name in CONTENT})
    (tmp_path / "release.json").write_text(json.dumps(content))
    with pytest.raises(dc.InputError, match="is damaged"):
        dc.load_release(tmp_path)


def test_hidden_causes_are_not_looked_for_in_pairs_alone() -> None:
    release = discovered(table(pairs_linked(np.random.default_rng(1), columns=8))).release
    assert release is not None
    with pytest.raises(dc.InputError, match="hidden causes"):
        release.discover(latent=True)


def test_columns_of_persons_are_measured_with_the_codes() -> None:
    rng = np.random.default_rng(6)
    age = rng.integers(0, 3, ROWS).astype(np.uint8)
    ones = (rng.random((ROWS, 15)) < 0.04).astype(np.uint8)
    ones[:, 0] = rng.random(ROWS) < np.array([0.01, 0.04, 0.25])[age]
    result = discovered(table(ones, age=age, sex=rng.integers(0, 2, ROWS).astype(np.uint8)), epsilon=2.0)
    assert frozenset(("age", "c00")) in result.graph.skeleton
    assert frozenset(("sex", "c00")) not in result.graph.skeleton
    assert result.strength[frozenset(("age", "c00"))].sign == 0


def test_other_data_may_ask_for_it_and_counts_are_refused() -> None:
    data = pairs_linked(np.random.default_rng(7), columns=6)
    schema = dc.Schema({f"x{j}": dc.Categorical(["0", "1"]) for j in range(6)})
    rows = dc.read({f"x{j}": data[:, j].astype(str) for j in range(6)}, schema)
    with dc.testing.seeded(1):
        assert dc.discover(rows, epsilon=2.0, delta=1e-6, method="codes", confidence=0).method == "codes"
    assert discovered(table(data), target="c00").method == "measured"
    one = dc.read(
        {"a": ["x", "x"], "b": ["0", "1"]}, dc.Schema(a=dc.Categorical(["x"]), b=dc.Categorical(["0", "1"]))
    )
    with pytest.raises(dc.InputError):
        dc.discover(one, epsilon=1.0, method="codes")
