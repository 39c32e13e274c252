"""What changed between two graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.present.changes import CHANGES_SHOWN, changes_line, edges_of


def test_many_changes_are_counted() -> None:
    many = {("a", f"b{i}"): "-" for i in range(CHANGES_SHOWN + 2)}
    assert changes_line({}, many, "first").endswith(f"a - b{CHANGES_SHOWN - 1} and 2 more.")
    assert (
        changes_line({("a", "b"): "->"}, {("b", "a"): "->"}, "x")
        == "Changed from x: turned a -> b (now b -> a)."
    )


@pytest.mark.parametrize("text", ["", "no such file", "a,b\n1\n", "a,b,state,marks\n,,,\n"])
def test_another_file_has_no_edges(text: str) -> None:
    assert edges_of(text) == {}


def test_again_says_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = dc.networks.load("cancer").sample(50_000, seed=1)
    with dc.testing.seeded(1):
        result = dc.discover(data, epsilon=5.0, delta=1e-6, confidence=0)
    (a, b) = next(iter(result.graph.skeleton))
    from dpcausal.present.files import file_texts

    Path("first").mkdir()
    for name, text in file_texts(result).items():
        Path("first", name).write_text(text, encoding="utf-8")
    assert run(["again", "first", "--forbidden", f"{a}--{b}", "--out", "second"]) == 0
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("Changed from first: ")]
    assert "disappeared" in line
    assert a in line
    assert b in line
    Path("first", "pairs.csv").unlink()
    assert run(["again", "first", "--out", "third"]) == 0
    assert "Changed from" not in capsys.readouterr().out
    Path("first", "pairs.csv").write_text(
        "not what it was\n", encoding="utf-8"
    )  # nothing is said to have appeared
    assert run(["again", "first", "--out", "fourth"]) == 0
    assert "Changed from" not in capsys.readouterr().out
