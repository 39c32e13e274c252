"""What was released is searched again at no cost: the same answer, or another with other knowledge."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.statement import SearchedAgain
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.measured.tables import Components, JointTable
from dpcausal.discovery.moments import Moments
from dpcausal.discovery.release import larger_rounds
from dpcausal.privacy.budget import Budget

DELTA = 1e-6


@cache
def tables(rows: int, levels: int, columns: int = 6) -> dc.Dataset:
    """A chain of columns with so many levels each, in which every third value is drawn anew."""
    rng = np.random.default_rng(1)
    found = [rng.integers(0, levels, rows)]
    for _ in range(columns - 1):
        found.append(np.where(rng.random(rows) < 1 / 3, rng.integers(0, levels, rows), found[-1]))
    schema = dc.Schema({name: dc.Categorical(range(levels)) for name in "abcdefgh"[:columns]})
    return dc.read(dict(zip(schema, found, strict=True)), schema)


@cache
def wide(rows: int, levels: int = 3) -> dc.Dataset:
    """24 columns, each of which follows the one before: a tree of pairs is measured."""
    rng = np.random.default_rng(2)
    found = [rng.integers(0, levels, rows)]
    for _ in range(23):
        found.append(np.where(rng.random(rows) < 1 / 3, rng.integers(0, levels, rows), found[-1]))
    schema = dc.Schema({f"c{j:02}": dc.Categorical(range(levels)) for j in range(24)})
    return dc.read(dict(zip(schema, found, strict=True)), schema)


@cache
def numbers(rows: int) -> dc.Dataset:
    rng = np.random.default_rng(1)
    x, y, z = rng.normal(size=(3, rows))
    schema = dc.Schema({name: dc.Numeric(-5, 5) for name in "xyz"})
    return dc.read({"x": x, "y": x + y, "z": x + y + z}, schema)


# what is released -> data, options, and tiers that nobody knew the first time
CASES: dict[str, tuple[Callable[[], dc.Dataset], dict[str, Any], list[list[str]]]] = {
    "joint": (lambda: tables(2_000, 2), {"epsilon": 2.0}, [["f"], ["e", "a"]]),
    "components": (lambda: tables(3_000, 9), {"epsilon": 2.0}, [["f"], ["e", "a"]]),
    "rows protected": (
        lambda: tables(3_000, 9),
        {"epsilon": 2.0, "neighbours": "add-remove"},
        [["f"], ["e", "a"]],
    ),
    "target": (lambda: tables(3_000, 9), {"epsilon": 2.0, "target": "c"}, [["d"], ["c"]]),
    "moments": (lambda: numbers(2_000), {"epsilon": 2.0}, [["z"], ["y"]]),
}


def shown(result: dc.DiscoveryResult) -> dict[str, Any]:
    """All that a result says but for its statement, which names the release."""
    return {name: value for name, value in result.to_dict().items() if name != "privacy"}


@cache
def first_of(case: str) -> dc.DiscoveryResult:
    """The discovery of a case as it stands."""
    return asked(case)


def asked(case: str, **more: Any) -> dc.DiscoveryResult:
    """The same with more options, and the same noise."""
    data, options, _ = CASES[case]
    with dc.testing.seeded(7):
        return dc.discover(data(), delta=DELTA, confidence=0, anyway=True, **options, **more)


@pytest.mark.parametrize("case", CASES)
def test_a_release_read_from_its_file_gives_the_same_result(case: str, tmp_path: Path) -> None:
    first = first_of(case)
    assert first.release is not None
    first.release.save(tmp_path / "release.json")
    with mock.patch.object(Budget, "charge", side_effect=AssertionError("charged")):
        again = dc.load_release(tmp_path).discover()
    assert shown(again) == shown(first)
    assert again.detectable == first.detectable
    assert (again.privacy.events, again.privacy.epsilon) == (first.privacy.events, first.privacy.epsilon)


@pytest.mark.parametrize("case", CASES)
def test_found_again_is_the_same_figure_each_time(case: str, tmp_path: Path) -> None:
    """Else a hint could be made a finding by asking again: what is drawn follows from what was released."""
    data, options, _ = CASES[case]
    first = dc.discover(data(), delta=DELTA, confidence=20, anyway=True, **options)  # noise of the system
    assert first.release is not None
    first.release.save(tmp_path / "release.json")
    assert first.confidence
    for _ in range(2):
        assert dc.load_release(tmp_path).discover(confidence=20).confidence == first.confidence


@pytest.mark.parametrize("case", CASES)
def test_other_knowledge_gives_what_a_first_run_with_it_gives(case: str) -> None:
    """The seed makes the noise of both runs the same, and what is measured first does not depend on knowledge."""
    tiers = CASES[case][2]
    first, told = first_of(case), asked(case, tiers=tiers, level=0.01, max_order=1)
    assert first.release is not None
    assert told.release is not None
    later = first.release.discover(tiers=tiers, level=0.01, max_order=1)
    assert shown(later) == shown(told)
    assert later.graph != first.graph
    assert later.release is not None
    dropped = later.release.discover(tiers=[], level=first.level, max_order=9)  # 9 lifts the limit
    assert shown(dropped) == shown(first)


def test_hidden_causes_can_be_allowed_later() -> None:
    first = first_of("joint")
    assert first.release is not None
    assert shown(first.release.discover(latent=True)) == shown(asked("joint", latent=True))
    target = first_of("target").release
    assert target is not None
    with pytest.raises(dc.InputError, match="target"):
        target.discover(latent=True)


def test_larger_tables_come_in_the_rounds_in_which_they_were_measured() -> None:
    """Noisy copies of one hidden column: nothing separates them, so that larger and larger sets are asked about."""
    rng = np.random.default_rng(2)
    hidden = rng.integers(0, 2, 30_000)
    schema = dc.Schema({name: dc.Categorical(range(2)) for name in "abcdefg"})
    copies = {name: np.where(rng.random(hidden.size) < 0.3, 1 - hidden, hidden) for name in schema}
    no_joint = mock.patch("dpcausal.planning.measurement_plan.MAX_JOINT_CELLS", 0)  # small tables are quick
    with dc.testing.seeded(3), no_joint:
        first = dc.discover(dc.read(copies, schema), epsilon=8.0, delta=DELTA, confidence=0)
    release = first.release
    assert release is not None
    assert isinstance(release.values, Measurements)
    assert release.values.plan.larger
    assert len(larger_rounds(release.values.tables)) >= 2
    assert shown(release.discover()) == shown(first)
    without = release.discover(max_order=1)
    assert max(without.asked) == 1


def test_all_declared_knowledge_is_kept() -> None:
    known = {
        "required": [("a", "b"), {"e", "f"}],
        "forbidden": [("c", "d"), {"a", "f"}],
        "tiers": [["a"], ["c", "d"]],
    }
    first = asked("joint", **known)
    assert first.release is not None
    assert first.release.discover().known == first.known
    free = first.release.discover(required=[], forbidden=[], tiers=[])
    assert shown(free) == shown(first_of("joint"))


def noise(one: Measurements | Moments, two: Measurements | Moments) -> float:
    """Mean square of what differs between two releases, in units of what their noise makes them differ."""
    if isinstance(one, Moments) and isinstance(two, Moments):
        upper = np.triu_indices(len(one.matrix), 1)
        return float(np.mean((one.matrix - two.matrix)[upper] ** 2) / (2 * one.noise**2))
    assert isinstance(one, Measurements)
    assert isinstance(two, Measurements)
    if isinstance(one.tables, JointTable) and isinstance(two.tables, JointTable):
        return float(np.mean((one.tables.joint - two.tables.joint) ** 2) / (2 * one.tables.cell_variance))
    assert isinstance(one.tables, Components)
    assert isinstance(two.tables, Components)
    both = [name for name in one.tables.values if len(name) == 1]
    squares = [
        np.sum((one.tables.values[name] - two.tables.values[name]) ** 2)
        / (one.tables.variances[name] + two.tables.variances[name])
        / (one.tables.values[name].size - 1)  # the dimension of a component of one column
        for name in both
    ]
    return float(np.mean(squares))


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (lambda: tables(2_000, 2), {}),
        (lambda: tables(60_000, 9), {}),
        (lambda: tables(60_000, 9), {"target": "c"}),
        (lambda: numbers(300), {"method": "moments", "reach": 2.0, "harmonics": 1}),
    ],
    ids=["joint", "components", "target", "moments"],
)
def test_the_file_has_noise_of_the_size_that_it_states(
    data: Callable[[], dc.Dataset], options: dict[str, Any], tmp_path: Path
) -> None:
    """Two seeds; exact values would not differ. At least 28 squares: 0.3 to 2.5 holds in all but 1 of 10,000 cases."""
    found = []
    for seed in (1, 2):
        with dc.testing.seeded(seed):
            result = dc.discover(data(), epsilon=1.0, delta=DELTA, confidence=0, anyway=True, **options)
        assert result.release is not None
        result.release.save(tmp_path / "release.json")
        first = (tmp_path / "release.json").read_text().splitlines()[1:3]
        assert first[0] == '"private": false,'
        assert "seeded" in first[1]
        found.append(dc.load_release(tmp_path).values)
    assert 0.3 < noise(*found) < 2.5


def test_the_statement_names_the_release_once() -> None:
    first = first_of("joint")
    assert first.release is not None
    again = first.release.discover()
    assert again.release is not None
    twice = again.release.discover()
    for result in (again, twice):
        facts = [fact for fact in result.privacy.released if isinstance(fact, SearchedAgain)]
        assert [fact.release for fact in facts] == [first.release.id]
        assert f"Computed from release.json (id {first.release.id})" in str(result)
    assert not any(isinstance(fact, SearchedAgain) for fact in first.privacy.released)


def test_methods_that_release_decisions_have_none() -> None:
    data = tables(2_000, 2, 3)
    assert dc.discover(data, epsilon=None, method="pc").release is None
    assert dc.discover(data, epsilon=1.0, method="svt-pc").release is None


def test_a_free_effect_is_that_of_the_first_result() -> None:
    first = asked("joint", required=[("a", "b")])
    assert first.release is not None
    before, later = (one.effect("a", "b") for one in (first, first.release.discover()))
    assert (later.estimate, later.interval) == (before.estimate, before.interval)


def damaged(text: str) -> dict[str, tuple[str, str]]:
    """Files that are no release, and what is said of each."""
    data = json.loads(text)
    other = data | {"values": data["values"] | {"cells": [0] * len(data["values"]["cells"])}}
    return {
        "empty": ("", "not JSON"),
        "cut": (text[: len(text) // 2], "not JSON"),
        "list": ("[1]", "no release"),
        "graph": ('{"nodes": []}', "no release"),
        "newer": (json.dumps(data | {"format": 99}), "newer version"),
        "changed": (json.dumps(other), "id"),
        "no search": (
            json.dumps({name: value for name, value in data.items() if name != "search"}),
            "search",
        ),
        "statement": (json.dumps(data | {"privacy": {}}), "damaged"),
        "deep": ("[" * 100_000, "not JSON"),
    }


def test_a_damaged_file_is_one_clear_line(tmp_path: Path) -> None:
    release = first_of("joint").release
    assert release is not None
    file = tmp_path / "release.json"
    for text, what in damaged(release.to_json()).values():
        file.write_text(text)
        with pytest.raises(dc.InputError, match=what) as error:
            dc.load_release(tmp_path)
        assert "\n" not in str(error.value)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(dc.InputError, match="UTF-8"):
        dc.load_release(file)
    with pytest.raises(dc.InputError, match=r"no release\.json"):
        dc.load_release(tmp_path.parent)
    with pytest.raises(dc.InputError, match="can't read"):
        dc.load_release(tmp_path / "none.json")


@pytest.mark.parametrize(
    "wrong",
    [{"tiers": [["nobody"]]}, {"level": 2.0}, {"max_order": -1}, {"latent": "yes"}, {"confidence": -1}],
    ids=str,
)
def test_arguments_are_checked(wrong: dict[str, Any]) -> None:
    release = first_of("joint").release
    assert release is not None
    with pytest.raises(dc.InputError):
        release.discover(**wrong)


@pytest.mark.parametrize(("case", "pair"), [("joint", ("a", "b")), ("moments", ("x", "y"))])
def test_an_effect_from_a_release_is_the_free_one_of_its_result(
    case: str, pair: tuple[str, str], tmp_path: Path
) -> None:
    first = first_of(case)
    assert first.release is not None
    first.release.save(tmp_path / "release.json")
    with mock.patch.object(Budget, "charge", side_effect=AssertionError("charged")):
        found = dc.load_release(tmp_path).effect(*pair, adjust=[])
    wanted = first.effect(*pair, adjust=[])
    assert (found.estimate, found.interval, found.notes) == (wanted.estimate, wanted.interval, wanted.notes)
    assert found.privacy.epsilon == first.privacy.epsilon


def test_a_release_about_one_column_answers_no_effect() -> None:
    release = first_of("target").release
    assert release is not None
    with pytest.raises(dc.InputError, match=r"about c alone.*dc\.effect\(data"):
        release.effect("b", "c")


def test_a_release_writes_the_report_of_its_search(tmp_path: Path) -> None:
    result = dc.discover(dc.networks.load("cancer").sample(2_000, seed=1), epsilon=2.0, delta=1e-6)
    assert result.release is not None
    path = result.release.report(tmp_path / "report.html")
    assert result.release.id in (tmp_path / "report.html").read_text()
    assert path == str(tmp_path / "report.html")
