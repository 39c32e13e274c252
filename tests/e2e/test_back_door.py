"""``dpcausal effect --adjust`` where the graph draws a common cause that is left out: said before a charge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.effects.adjustment import LeavesBackDoorOpen
from dpcausal.effects.result import BackDoor

LEVELS = {"age": ["young", "old"], "sex": ["f", "m"], "smokeyrs": ["few", "many"], "death": ["no", "yes"]}
TIERS = ["--tiers", "age,sex;smokeyrs;death"]
DRAWN = "the graph draws age -> smokeyrs and age -> death, so other causes"
ASKED = ["effect", "t.csv", "--schema", "s.toml", "--treatment", "smokeyrs", "--outcome", "death"]
FREE = ["effect", "--release", "first", *ASKED[4:]]


def rows(n: int = 4_000) -> dict[str, list[str]]:
    """Age makes both more likely, smoking adds 0.2 to the risk, and sex has nothing to do with it."""
    rng = np.random.default_rng(1)
    age, sex = rng.random(n) < 0.5, rng.random(n) < 0.5
    smoke = rng.random(n) < np.where(age, 0.85, 0.15)
    death = rng.random(n) < 0.1 + 0.5 * age + 0.2 * smoke
    return {
        name: [levels[int(one)] for one in bits]
        for (name, levels), bits in zip(LEVELS.items(), (age, sex, smoke, death), strict=True)
    }


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    columns = rows()
    lines = [",".join(row) for row in zip(*columns.values(), strict=True)]
    Path("t.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    schema = [f'[columns.{name}]\ntype = "categorical"\nlevels = {levels}' for name, levels in LEVELS.items()]
    Path("s.toml").write_text("\n".join(schema) + "\n")
    fork = [["age", "smokeyrs"], ["age", "death"], ["smokeyrs", "death"]]
    Path("graph.json").write_text(json.dumps({"nodes": list(LEVELS), "directed": fork}))


def graph_json(**more: object) -> list[str]:
    found = json.loads(Path("graph.json").read_text())
    Path("other.json").write_text(json.dumps({**found, **more}))
    return ["--graph", "other.json"]


@pytest.mark.parametrize("adjust", ["none", "sex"])
def test_a_common_cause_of_the_graph_that_is_left_out_is_refused_unpaid_and_anyway_warned_of(
    adjust: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = "sqlite:///budget.db"
    assert run(["ledger", "create", "--ledger", ledger, "--dataset", "rows", "--epsilon", "5"]) == 0
    paid = ["--epsilon", "1", "--ledger", ledger, "--dataset", "rows", "--graph", "graph.json"]
    capsys.readouterr()
    assert run([*ASKED, "--adjust", adjust, *paid]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert DRAWN in told.err
    assert all(part in told.err for part in ("hold age fixed", "--anyway"))
    assert len(dc.Ledger.open(ledger).log("rows")) == 1  # the account alone
    assert run([*ASKED, "--adjust", adjust, *paid, "--anyway", "--out", "out"]) == 0
    assert len(dc.Ledger.open(ledger).log("rows")) == 2
    told = capsys.readouterr()
    assert told.out.splitlines()[1].startswith(f"WARNING: {DRAWN}")
    notes = {note["kind"]: note for note in json.loads(Path("out/answer.json").read_text())["facts"]["notes"]}
    assert notes["back-door"]["hold"] == ["age"]
    assert "graph-checks" in notes
    assert DRAWN not in told.err  # said once
    right = ["--adjust", "age" if adjust == "none" else "age,sex"]
    assert run([*ASKED, *right, *paid]) == 0
    told = capsys.readouterr()
    assert "WARNING" not in told.out + told.err


def test_weak_hints_contradictions_and_plain_edges_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    pair = ["age", "smokeyrs"]
    arrows = [["age", "death"], ["smokeyrs", "death"]]
    asked = [*ASKED, "--adjust", "none", "--no-privacy"]
    weak: list[tuple[dict[str, Any], str]] = [
        ({"confidence": [{"pair": pair, "found_again": 0.3}]}, "age -> smokeyrs"),
        ({"conflicts": [pair]}, "smokeyrs - age"),
        ({"on_hints": [pair]}, "smokeyrs - age"),
        ({"directed": arrows, "undirected": [pair]}, "smokeyrs - age"),
    ]
    for more, drawn in weak:
        assert run([*asked, *graph_json(**more), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        (note,) = (one for one in told["facts"]["notes"] if one["kind"] == "back-door")
        assert [" ".join(edge) for edge in note["paths"][0]] == [drawn, "age -> death"]
        assert (note["sure"], note["hold"]) == (False, ["age"])
    sure = {"pair": pair, "found_again": 0.9}
    required: dict[str, Any] = {
        "confidence": [{**sure, "found_again": 0.3}],
        "declared": {"required": ["age -> smokeyrs"]},
    }
    for more in [{"confidence": [sure]}, required]:
        assert run([*asked, *graph_json(**more)]) == 2
        assert DRAWN in capsys.readouterr().err
    assert run([*asked, *graph_json(confidence=[1])]) == 2
    assert '"confidence"' in capsys.readouterr().err


def test_what_was_released_answers_alike(capsys: pytest.CaptureFixture[str]) -> None:
    found = ["discover", "t.csv", "--schema", "s.toml", "--epsilon", "20", "--confidence", "0", *TIERS]
    assert run([*found, "--out", "first"]) == 0
    capsys.readouterr()
    assert run([*FREE, "--adjust", "none"]) == 2
    assert DRAWN in capsys.readouterr().err
    assert run([*FREE, "--adjust", "sex", "--anyway"]) == 0
    assert f"WARNING: {DRAWN}" in capsys.readouterr().out
    assert run([*FREE, "--adjust", "age"]) == 0
    assert "WARNING" not in capsys.readouterr().out
    kept = dc.load_release("first")
    for ask in (kept.effect, kept.discover(confidence=0).effect):
        with pytest.raises(dc.InputError, match=DRAWN):
            ask("smokeyrs", "death", adjust=[])
        with pytest.warns(LeavesBackDoorOpen, match=DRAWN):
            answer = ask("smokeyrs", "death", adjust=[], anyway=True)
        notes = [note for note in answer.notes if isinstance(note, BackDoor)]
        assert [(note.sure, note.hold) for note in notes] == [(True, ("age",))]
