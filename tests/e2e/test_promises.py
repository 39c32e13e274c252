"""What the commands say about their promise: exact answers, weak budgets, drafts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.cli.app import run

SCHEMA = """
[columns.a]
type = "categorical"
levels = ["no", "yes"]
[columns.b]
type = "categorical"
levels = ["no", "yes"]
[columns.c]
type = "numeric"
lower = 0
upper = 10
bins = [5]
"""
BINS = "bins of numeric conditioning columns"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCHEMA)
    rows = "yes,no,1\nno,yes,7\nyes,yes,3\nno,no,9\n"
    (tmp_path / "t.csv").write_text("a,b,c\n" + rows * 50)
    return tmp_path


def asked(*more: str) -> list[str]:
    return ["test", "t.csv", "--schema", "s.toml", "--x", "a", "--y", "b", *more]


@pytest.mark.usefixtures("here")
def test_an_exact_answer_is_called_exact(capsys: pytest.CaptureFixture[str]) -> None:
    for method in ("kendall", "chi2", "measured"):
        assert run(asked("--no-privacy", "--method", method)) == 0
        brief = capsys.readouterr().out
        assert "\nNOT PRIVATE: " in brief
        assert "computed from the raw rows, no noise added" in brief
        assert run(asked("--no-privacy", "--method", method, "--full")) == 0
        said = capsys.readouterr().out
        assert "\nNOT PRIVATE: " in said
        assert "Released: a and b: the exact statistic." in said
        assert "with Laplace noise" not in said
    assert run(asked("--epsilon", "1", "--method", "kendall", "--full")) == 0
    assert "with Laplace noise" in capsys.readouterr().out


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("given", "strata", "told"), [([], 8, False), (["c"], "auto", False), (["c"], 8, True)]
)
def test_bins_are_assumed_public_only_where_there_are_any(
    given: list[str], strata: int | str, told: bool
) -> None:
    """Strata of equal counts are measured, those of equal width are declared."""
    data = dc.read("t.csv", dc.Schema.from_toml("s.toml"))
    found = dc.ci_test(data, "a", "b", given, epsilon=1.0, method="kendall", strata=strata)
    assert (BINS in found.summary(full=True)) == told


@pytest.mark.parametrize("command", ["test", "discover", "plan"])
@pytest.mark.parametrize(
    ("budget", "told"),
    [
        (("1", "1e-6"), []),
        (("100", "1e-6"), ["at 100 one row"]),
        (("1", "0.005"), ["delta 0.005 is not below one over the number of rows (200)"]),
    ],
)
def test_a_weak_budget_is_said_to_be(
    command: str, budget: tuple[str, str], told: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--epsilon", budget[0], "--delta", budget[1]]
    words = {
        "test": asked("--method", "g", "--json"),
        "discover": ["discover", "t.csv", "--schema", "s.toml", "--method", "svt-pc", "--out", "out"],
        "plan": ["plan", "--schema", "s.toml", "--rows", "200"],
    }
    assert run([*words[command], *more]) == 0
    said = capsys.readouterr()
    lines = [
        line
        for line in (said.out if command == "discover" else said.err).splitlines()
        if "Weak promise" in line
    ]
    assert len(lines) == len(told)
    assert all(part in line for part, line in zip(told, lines, strict=True))
    if command == "discover":  # it may spend all it asked for; a test may need no delta, and then states none
        limits = json.loads((here / "out" / "privacy.json").read_text())["limits"]
        stated = [limit for limit in limits if "Weak promise" in limit]
        assert lines == stated
        assert "Weak promise" not in said.err  # once is enough


@pytest.mark.usefixtures("here")
def test_a_ledger_of_a_hundred(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "create", "--ledger", "sqlite:///b.db", "--dataset", "d", "--epsilon", "100"]) == 0
    assert "at 100 one row" in capsys.readouterr().err


def test_a_plan_of_a_draft_warns(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "--schema", "s.toml", "--rows", "200", "--epsilon", "1"]
    assert run(words) == 0
    assert capsys.readouterr().err == ""
    (here / "s.toml").write_text("draft = true\n" + SCHEMA)
    assert run(words) == 0
    assert capsys.readouterr().err.startswith("dpcausal: the schema is an unchecked draft")


@pytest.mark.parametrize("rows", [3, 200])
@pytest.mark.parametrize("command", ["test", "discover", "effect"])
def test_a_protected_number_of_rows_decides_no_warning(
    command: str, rows: int, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A delta above one over the rows is a weak promise, which only a public number of rows may tell."""
    lines = (here / "t.csv").read_text().splitlines()
    (here / "t.csv").write_text("\n".join(lines[: 1 + rows]) + "\n")
    words = {
        "test": asked("--method", "g"),
        "discover": ["discover", "t.csv", "--schema", "s.toml", "--method", "svt-pc", "--out", "out"],
        "effect": ["effect", "t.csv", "--schema", "s.toml", "--treatment", "a", "--outcome", "b", "--anyway"],
    }
    epsilon = "0.05" if command == "effect" else "1"  # so little that delta is used
    more = ["--epsilon", epsilon, "--delta", "0.01", "--neighbours", "add-remove", "--json"]
    assert run([*words[command], *more]) == 0
    assert "dpcausal: " not in capsys.readouterr().err
