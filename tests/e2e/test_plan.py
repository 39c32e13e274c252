"""``dpcausal plan`` from the command line: a table, a JSON object, files, and one line for bad input."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dpcausal.cli.app import run
from dpcausal.privacy.ledger import Ledger

SCHEMA = """
[columns.smoke]
type = "categorical"
levels = ["no", "yes"]
[columns.age]
type = "numeric"
lower = 0
upper = 110
[columns.lung]
type = "categorical"
levels = ["no", "yes"]
"""


@pytest.fixture
def schema(tmp_path: Path) -> str:
    path = tmp_path / "schema.toml"
    path.write_text(SCHEMA)
    return str(path)


def test_table_and_files(schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan"
    asked = ["plan", "--schema", schema, "--rows", "100000", "--epsilon", "1", "--delta", "1e-6"]
    assert run([*asked, "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Yes: epsilon 1 finds w = ")
    assert "3 columns, 100,000 rows, epsilon 1, delta 1e-06, replace-one" in text
    assert (out / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert len(json.loads((out / "plan.json").read_text())["orders"]) == 2


def test_json_and_nothing_else(schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["plan", "--schema", schema, "--rows", "5000", "--epsilon", "0.1", "--json", "--max-order", "0"]
    assert run([*asked, "--effect", "0.2", "--share", "0.1", "--neighbours", "add-remove"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["columns"] == 3
    assert run([*asked, "--columns", "lung,smoke"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == 2
    assert (told["effect"], told["share"], told["neighbours"]) == (0.2, 0.1, "add-remove")
    assert [row["order"] for row in told["orders"]] == [0]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--rows", "0"], "rows must be"),
        (["--rows", "many"], "--rows"),
        (["--epsilon", "-1"], "epsilon"),
        (["--delta", "2"], "delta"),
        (["--neighbours", "none"], "neighbours"),
        (["--effect", "3"], "effect"),
        (["--share", "0"], "share"),
        (["--pair", "smoke"], "--pair takes two columns with a comma"),
        (["--pair", "smoke,lungs"], "did you mean"),
        (["--columns", "smoke,lungs"], "did you mean"),
        (["--columns", "smoke"], "at least two columns"),
        (["--schema", "nowhere.toml"], "nowhere.toml"),
        (["--out", "/dev/null/plan"], "can't write"),
    ],
)
def test_bad_input(wrong: list[str], said: str, schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    usual = {"--schema": schema, "--rows": "1000", "--epsilon": "1"} | dict([wrong])
    assert run(["plan", *(word for pair in usual.items() for word in pair)]) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert len(caught.err.splitlines()) == 1
    assert said in caught.err


def test_a_pair_and_the_full_table(schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["plan", "--schema", schema, "--rows", "5000", "--epsilon", "1", "--pair", "age, lung"]
    assert run(asked) == 0
    brief = capsys.readouterr().out
    assert "age x lung" in brief
    assert "without noise" not in brief
    assert run([*asked, "--full"]) == 0
    full = capsys.readouterr().out
    assert "columns compared: as asked" in full
    assert "w without noise: smallest w" in full
    assert len(full.splitlines()) > len(brief.splitlines())
    assert run([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pair"] == ["age", "lung"]


def test_discover_measures_what_was_planned(
    schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    drawn = random.Random(1)
    lines = [f"{drawn.choice(['no', 'yes'])},{drawn.randrange(110)},no" for _ in range(2_000)]
    Path("t.csv").write_text("\n".join(["smoke,age,lung", *lines]) + "\n")
    ledger = Ledger.open("sqlite:///l.db", create=True)
    ledger.create("cohort", 5.0, 1e-5)
    planned = ["plan", "--schema", schema, "--rows", "2000", "--epsilon", "1", "--delta", "1e-6"]
    assert run([*planned, "--target", "lung", "--level", "0.01", "--out", "plan"]) == 0
    asked = ["discover", "t.csv", "--schema", schema, "--plan", "plan/plan.json", "--out", "out"]
    charged = ["--ledger", "sqlite:///l.db", "--dataset", "cohort"]
    capsys.readouterr()
    for wrong in (["--epsilon", "2"], ["--target", "age"], ["--method", "pc"], ["--effect", "smoke,lung"]):
        assert run([*asked, *charged, *wrong]) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert (ledger.show()[0].releases, Path("out").exists()) == (0, False)
    assert run([*asked, *charged, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["method"], found["level"]) == ("measured", 0.01)
    account = ledger.show()[0]
    assert (account.releases, account.spent_epsilon) == (1, 1.0)
    page = Path("out/report.html").read_text()
    assert "--plan plan/plan.json" in page
    assert "--epsilon" not in page[page.index('<pre id="command">') :].partition("</pre>")[0]
