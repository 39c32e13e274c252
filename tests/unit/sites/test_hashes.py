"""Whatever a protocol or a contribution says is under its hash; what several promises come to by group privacy."""

from __future__ import annotations

import json
import math
import shutil
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


def test_a_fact_that_is_changed_in_all_files_of_a_contribution_is_seen(
    contribute: Given, tmp_path: Path
) -> None:
    """Statements are in two files, and say the same; whoever changes both has not the hash of the third."""
    contribute()[0].save(tmp_path / "east")
    statement = json.loads((tmp_path / "east" / "privacy.json").read_text())
    changes = {
        "cheaper": lambda text: text.replace('"epsilon": 2.0', '"epsilon": 0.1'),
        "private": lambda text: text.replace('"private": false', '"private": true'),
        "unit": lambda text: text.replace('"unit": ', '"unit ": ', 1),
    }
    assert statement["private"] is False
    for name, change in changes.items():
        folder = Path(shutil.copytree(tmp_path / "east", tmp_path / name))
        for file in ("privacy.json", "release.json"):
            (folder / file).write_text(change((folder / file).read_text()))
        with pytest.raises(dc.InputError):
            load_contribution(folder)


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
