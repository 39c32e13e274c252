"""``dpcausal test --out DIR``: the answer and its statement in files, earlier ones kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.core.errors import InputError

LEVELS = 'type = "categorical"\nlevels = ["no", "yes"]\n'


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(f"[columns.a]\n{LEVELS}[columns.b]\n{LEVELS}")
    Path("t.csv").write_text("a,b\n" + "no,yes\nyes,no\n" * 20)
    return ["test", "t.csv", "--schema", "s.toml", "--x", "a", "--y", "b", "--out", "out/one"]


def test_the_files_are_what_json_prints(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--epsilon", "1", "--json"]) == 0
    said = capsys.readouterr()
    out = Path("out/one")
    assert sorted(file.name for file in out.iterdir()) == ["answer.json", "privacy.json"]
    answer = json.loads((out / "answer.json").read_text())
    assert answer == json.loads(said.out)
    assert json.loads((out / "privacy.json").read_text()) == answer["privacy"]
    assert said.err == ""
    assert (answer["independent"], answer["shown"]) == (
        (False, "dependence") if answer["rejected"] else (None, "nothing")
    )


def test_an_answer_that_shows_nothing_is_not_called_independent(words: list[str]) -> None:
    Path("t.csv").write_text("a,b\n" + "no,no\nno,yes\nyes,no\nyes,yes\n" * 500)
    with dc.testing.seeded(1):
        answer = dc.ci_test(dc.read("t.csv", dc.Schema.from_toml("s.toml")), "a", "b", epsilon=0.5)
    assert answer.independent is True
    assert answer.to_dict()["independent"] is None
    assert repr(answer).startswith("CITestResult(shown='nothing', rejected=False, pvalue=")


def test_an_earlier_answer_is_kept(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--epsilon", "1"]) == 0
    assert capsys.readouterr().out.endswith("Written to out/one\n")
    first = Path("out/one/answer.json").read_text()
    assert run([*words, "--epsilon", "2"]) == 0
    assert capsys.readouterr().out.endswith(" kept in out/one/earlier-1\n")
    assert Path("out/one/earlier-1/answer.json").read_text() == first
    assert json.loads(Path("out/one/privacy.json").read_text())["epsilon"] == 2.0


def test_a_refused_test_leaves_no_directory(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "create", "--ledger", "sqlite:///b.db", "--dataset", "d", "--epsilon", "0.5"]) == 0
    assert run([*words, "--epsilon", "1", "--ledger", "sqlite:///b.db", "--dataset", "d"]) == 3
    assert capsys.readouterr().err.count("a new budget") == 1
    assert not Path("out").exists()


def test_what_could_not_be_written_is_printed(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dpcausal.cli.release_dir.write_texts", full_disk)
    assert run([*words, "--epsilon", "1", "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["x"] == "a"
    assert "no room" in said.err


def full_disk(*_: object) -> None:
    raise InputError("no room")


def test_what_is_left_is_told_after_a_release(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    charged = ["--ledger", "sqlite:///b.db", "--dataset", "d"]
    assert run(["ledger", "create", *charged, "--epsilon", "1.5", "--delta", "1e-5"]) == 0
    assert run([*words, "--epsilon", "1", *charged, "--anyway"]) == 0
    assert "; left epsilon 0.5, delta 1e-05.\n" in capsys.readouterr().out
    assert run([*words, "--epsilon", "0.25", *charged, "--json", "--anyway"]) == 0
    assert json.loads(capsys.readouterr().out)["privacy"]["ledger"]["left"] == {
        "epsilon": 0.25,
        "delta": 1e-5,
    }
    assert run(["ledger", "show", *charged[:2]]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert told.startswith(
        "d: epsilon 0.25 of 1.5 left, delta 1e-05 of 1e-05 left. All 2 releases together: "
    )
    assert (
        "epsilon 1.25, delta 0 (replace-one): changing one row makes no result of them all more than" in told
    )
    assert "3.49 times as likely" in told  # e^1.25
    assert run(["ledger", "show", *charged[:2], "--json"]) == 0
    (account,) = json.loads(capsys.readouterr().out)["datasets"]
    assert account["promise"].startswith("All 2 releases together")


@pytest.mark.parametrize(("delta", "warned"), [("0.1", True), ("2e-4", True), ("1e-4", False), ("0", False)])
def test_a_large_total_delta_is_warned_of(
    words: list[str], delta: str, warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    del words
    assert (
        run(
            [
                "ledger",
                "create",
                "--ledger",
                "sqlite:///b.db",
                "--dataset",
                "d",
                "--epsilon",
                "1",
                "--delta",
                delta,
            ]
        )
        == 0
    )
    assert (f"Weak promise: delta {float(delta):g} " in capsys.readouterr().err) is warned
