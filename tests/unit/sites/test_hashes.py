"""Whatever a protocol or a contribution says is under its hash; what several promises come to by group privacy."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpcausal as dc
from dpcausal.sites.contribute import load_contribution
from dpcausal.sites.pool import pooled_release
from dpcausal.sites.protocol import CONTENT, load_protocol

Given = Callable[..., list[dc.Contribution]]
SCHEMA = dc.Schema({name: dc.Categorical(["no", "yes"]) for name in "abcd"})


def second_round() -> dict[str, Any]:
    first = dc.protocol(SCHEMA, [1000, 1000], 1.0, 1e-6, rounds=2)
    return first.for_promising([("a", "b"), ("b", "c")], ["north", "south"]).to_dict()


OTHER: dict[str, Any] = {
    "schema": dc.Schema({name: dc.Categorical(["no", "yes"]) for name in "abce"}).to_toml(),
    "level": 0.1,
    "rows": [1000, 900],
    "epsilon": 2.0,
    "delta": 1e-5,
    "neighbours": "add-remove",
    "persons": "several-sites",
    "rounds": 1,
    "round": 1,
    "pairs": [["a", "b"]],
    "first": "0" * 12,
    "sites": ["north"],
    "groups": [["a", [0, 1]]],
}


@pytest.mark.parametrize("name", CONTENT)
def test_no_part_of_a_protocol_can_be_changed(name: str, tmp_path: Path) -> None:
    file, data = tmp_path / "protocol.json", second_round()
    file.write_text(json.dumps(data))
    assert load_protocol(file).id == data["id"]
    file.write_text(json.dumps({**data, name: OTHER[name]}))
    with pytest.raises(dc.InputError):
        load_protocol(file)


CHANGED: dict[str, dict[str, Any]] = {
    "cheaper": {"epsilon": 0.1},
    "smaller delta": {"delta": 1e-9},
    "less asked": {"asked": {"epsilon": 0.1, "delta": 1e-6}},
    "fewer charges": {"events": []},
    "other software": {"software": "by hand"},
    "private": {"private": True},
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_a_fact_that_is_changed_in_all_files_of_a_contribution_is_seen(
    contribute: Given, tmp_path: Path, change: dict[str, Any]
) -> None:
    """Statements are in two files, and say the same; whoever changes both has not the hash of the third."""
    contribute()[0].save(tmp_path)
    statement = json.loads((tmp_path / "privacy.json").read_text())
    release = json.loads((tmp_path / "release.json").read_text())
    assert load_contribution(tmp_path).privacy.to_dict() == release["privacy"] == statement
    assert all(statement[name] != value for name, value in change.items())
    (tmp_path / "privacy.json").write_text(json.dumps({**statement, **change}))
    (tmp_path / "release.json").write_text(json.dumps({**release, "privacy": {**statement, **change}}))
    with pytest.raises(dc.InputError, match="was changed" if "private" not in change else "statement"):
        load_contribution(tmp_path)


@pytest.mark.parametrize(
    "name", ["private", "format", "id", "site", "protocol", "software", "release", "privacy"]
)
def test_no_part_of_what_a_contribution_says_of_itself_can_be_changed(
    contribute: Given, tmp_path: Path, name: str
) -> None:
    file = Path(contribute()[0].save(tmp_path)) / "contribution.json"
    data = json.loads(file.read_text())
    assert data["private"] is False  # its noise was seeded
    other = {"private": True, "format": 0, "protocol": {**data["protocol"], "about": "x"}}
    file.write_text(json.dumps({**data, name: other.get(name, "0123456789ab")}))
    with pytest.raises(dc.InputError):
        load_contribution(tmp_path)
    file.write_text(json.dumps({key: value for key, value in data.items() if key != name}))
    with pytest.raises(dc.InputError):
        load_contribution(tmp_path)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-7), (1.5, 1e-6)])
def test_a_row_replaced_is_one_removed_and_one_added(epsilon: float, delta: float) -> None:
    """Group privacy of two: (2 epsilon, (1 + e^epsilon) delta), the larger delta of both steps."""
    data = dc.networks.load("cancer").sample(500, seed=1)
    protocol = dc.protocol(data.schema, [500, 500], 0.01, 1e-9)
    given = [
        dc.contribute(data, protocol, "east"),
        dc.contribute(data, protocol, "north", epsilon=epsilon, delta=delta, neighbours="add-remove"),
    ]
    alone = given[1].privacy
    assert alone.epsilon is not None
    assert alone.delta is not None
    assert alone.delta > 0
    release = pooled_release(given)
    assert release.privacy.epsilon == pytest.approx(2 * alone.epsilon)
    assert release.privacy.delta == pytest.approx((1 + math.exp(alone.epsilon)) * alone.delta)
    assert release.rows is None  # that of one site is protected
