"""The same rows under a second budget: another ledger in the folder, or another data set charged for the same file."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest

import dpcausal as dc
from dpcausal.cli.app import run
from dpcausal.core.errors import BudgetError
from dpcausal.core.spelling import for_command_line
from dpcausal.present.ledger import other_budget_words, others_words
from dpcausal.privacy import budget
from dpcausal.privacy.ledger import Ledger
from dpcausal.privacy.ledger.beside import OtherBudget, SecondBudget, ledgers_beside, other_budgets

pytestmark = pytest.mark.usefixtures("few_repeats")

SCHEMA = "".join(f'[columns.{name}]\ntype = "categorical"\nlevels = ["x", "y"]\n\n' for name in "ab")

CHARGED = OtherBudget("old.db", "cohort", "p.csv")  # the file was charged to another ledger


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("a,b\n" + "x,x\ny,y\n" * 1000)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


def fresh_process() -> None:
    """Forget what this process looked for: every command is a process of its own."""
    budget._LOOKED.clear()


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    assert run(list(words)) == 0
    said = capsys.readouterr()
    return said.out, said.err


def create(capsys: pytest.CaptureFixture[str], ledger: str, dataset: str, *more: str) -> str:
    address = f"sqlite:///{ledger}"
    words = ("ledger", "create", "--ledger", address, "--dataset", dataset, "--epsilon", "10", *more)
    return call(capsys, *words)[0]


def ask(capsys: pytest.CaptureFixture[str], ledger: str, dataset: str, data: str = "p.csv") -> str:
    question = ("test", data, "--schema", "schema.toml", "--x", "a", "--y", "b", "--epsilon", "1")
    return call(capsys, *question, "--ledger", f"sqlite:///{ledger}", "--dataset", dataset)[1]


def test_a_second_ledger_is_told_of_the_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "add up" not in create(capsys, "old.db", "cohort")
    assert others_words("Cohort", [], [("old.db", ["cohort"])]) in create(capsys, "new.db", "Cohort")
    assert "old.db" in json.loads(create(capsys, "third.db", "x", "--json"))["remark"]


def test_a_file_that_was_charged_elsewhere_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create(capsys, "old.db", "cohort")
    create(capsys, "new.db", "other people")
    assert ask(capsys, "old.db", "cohort") == ""
    again = ask(capsys, "old.db", "cohort")  # the same budget again is no second one
    assert "asked this before" in again
    assert "was charged to" not in again
    said = ask(capsys, "new.db", "other people")
    assert said.count("\n") == 1
    assert other_budget_words("other people", CHARGED) in said
    assert Ledger.open("sqlite:///new.db").log()[-1].to_dict()["note"]["file"] == "p.csv"


def test_two_names_for_one_file_in_one_ledger(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create(capsys, "old.db", "cohort")
    create(capsys, "old.db", "survey")
    ask(capsys, "old.db", "cohort")
    said = ask(capsys, "old.db", "survey")
    assert other_budget_words("survey", OtherBudget("", "cohort", "p.csv")) in said
    (folder / "q.csv").write_bytes((folder / "p.csv").read_bytes())  # rows are not compared
    create(capsys, "old.db", "third")
    assert ask(capsys, "old.db", "third", "q.csv") == ""


def test_a_name_that_looks_alike_in_a_ledger_beside_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "budgets").mkdir()
    create(capsys, "budgets/mine.db", "cohort 2")
    create(capsys, "old.db", "Cohort2")
    said = ask(capsys, "budgets/mine.db", "cohort 2")
    assert other_budget_words("cohort 2", OtherBudget("old.db", "Cohort2")) in said


def test_what_is_no_ledger_is_passed_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "text.db").write_text("no database")
    (folder / "short.db").write_bytes(b"SQLite format 3\0")
    (folder / "folder.db").mkdir()
    create(capsys, "old.db", "cohort")
    assert [names for _, names in ledgers_beside("sqlite:///old.db") if names] == []
    create(capsys, "new.db", "cohort")
    assert other_budgets("sqlite:///new.db", "cohort", "p.csv") == [OtherBudget("old.db", "cohort")]
    assert ask(capsys, "new.db", "cohort").count("\n") == 1
    assert other_budgets("postgresql://me@host/db", "cohort", "p.csv") == []
    assert other_budgets("nonsense", "cohort") == []


def test_the_warning_comes_before_the_charge(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    create(capsys, "old.db", "cohort")
    create(capsys, "new.db", "other people")
    ask(capsys, "old.db", "cohort")

    def stop(*_: object, **__: object) -> None:
        raise BudgetError("stopped")

    monkeypatch.setattr(Ledger, "charge", stop)
    question = ("test", "p.csv", "--schema", "schema.toml", "--x", "a", "--y", "b", "--epsilon", "1")
    assert run([*question, "--ledger", "sqlite:///new.db", "--dataset", "other people"]) == 3
    first, second = capsys.readouterr().err.splitlines()
    assert other_budget_words("other people", CHARGED) in first
    assert second == "dpcausal: stopped"


def test_a_charge_that_is_refused_is_told_of_that_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create(capsys, "old.db", "cohort")
    create(capsys, "new.db", "other people")
    ask(capsys, "old.db", "cohort")
    question = ("test", "p.csv", "--schema", "schema.toml", "--x", "a", "--y", "b", "--epsilon", "11")
    assert run([*question, "--ledger", "sqlite:///new.db", "--dataset", "other people"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "left 10" in line


def test_python_warns_as_well_and_before_the_charge(folder: Path) -> None:
    schema = dc.Schema.from_toml("schema.toml")
    data = dc.read("p.csv", schema)
    old, new = (Ledger.open(f"sqlite:///{name}.db", create=True) for name in ("old", "new"))
    old.create("cohort", 10.0)
    new.create("people", 10.0)  # another name: nothing to say yet
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dc.ci_test(data, "a", "b", epsilon=1.0, ledger=old, dataset="cohort")
        with pytest.raises(SecondBudget, match=re.escape(other_budget_words("people", CHARGED))):
            dc.ci_test(data, "a", "b", epsilon=1.0, ledger="sqlite:///new.db", dataset="people")
    assert new.show("people")[0].releases == 0  # it came before the charge
    assert old.log()[-1].to_dict()["note"]["file"] == "p.csv"
    for ask in (
        lambda: dc.effect(data, "a", "b", adjust=[], epsilon=1.0, ledger=new, dataset="people 2"),
        lambda: dc.discover(data, epsilon=1.0, ledger=new, dataset="people 3", anyway=True),
    ):
        new.create("people 2" if not new.show()[1:] else "people 3", 10.0)
        with pytest.warns(SecondBudget, match="add up"):
            ask()


def test_python_warns_of_a_second_ledger_for_a_name(folder: Path) -> None:
    Ledger.open("sqlite:///old.db", create=True).create("cohort", 10.0)
    with pytest.warns(SecondBudget, match=r"old\.db .*'cohort'"):
        Ledger.open("sqlite:///new.db", create=True).create("Cohort", 10.0)


def test_rows_that_come_from_no_file_are_named_by_their_data_set_only(folder: Path) -> None:
    data = dc.read({"a": ["x", "y"] * 500, "b": ["x", "y"] * 500}, dc.Schema.from_toml("schema.toml"))
    assert data.file is None
    ledger = Ledger.open("sqlite:///old.db", create=True)
    ledger.create("cohort", 10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dc.ci_test(data, "a", "b", epsilon=1.0, ledger=ledger, dataset="cohort")
    assert "file" not in ledger.log()[-1].to_dict()["note"]


QUESTION = ("--schema", "schema.toml", "--x", "a", "--y", "b", "--epsilon", "1")


def test_a_run_without_a_ledger_is_told_of_the_one_that_the_file_was_charged_to(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("test", "p.csv", *QUESTION)
    assert call(capsys, *words)[1] == ""  # there is no ledger yet
    create(capsys, "old.db", "cohort")
    ask(capsys, "old.db", "cohort")
    fresh_process()
    out, err = call(capsys, *words)
    with for_command_line():
        line = other_budget_words(None, CHARGED)
    assert err == f"dpcausal: {line}\n"
    assert "p.csv" not in out
    fresh_process()
    discovered = (
        "discover",
        "p.csv",
        "--schema",
        "schema.toml",
        "--epsilon",
        "1",
        "--out",
        "out",
        "--anyway",
    )
    assert line in call(capsys, *discovered)[1].splitlines()[0]
    fresh_process()
    for free in ("--forecast", "--no-privacy"):
        asked = words if free == "--forecast" else words[:-2]
        assert line not in call(capsys, *asked, free)[1]
    (folder / "q.csv").write_bytes((folder / "p.csv").read_bytes())
    assert call(capsys, "test", "q.csv", *QUESTION)[1] == ""  # names are compared, not rows


def test_python_without_a_ledger_warns_once_where_the_file_is(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "p.csv").rename(folder / "data" / "p.csv")
    data = dc.read("data/p.csv", dc.Schema.from_toml("schema.toml"))
    ledger = Ledger.open("sqlite:///data/old.db", create=True)
    ledger.create("cohort", 10.0)
    dc.ci_test(data, "a", "b", epsilon=1.0, ledger=ledger, dataset="cohort")
    with pytest.warns(SecondBudget, match=r"of the ledger old\.db before, .* \(ledger=, dataset=\)"):
        dc.ci_test(data, "a", "b", epsilon=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dc.ci_test(data, "a", "b", epsilon=1.0)  # said once a process
