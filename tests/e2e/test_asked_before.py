"""What the ledger knows before a charge, by its entries alone: the same question, or another number of rows."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import dpcausal as dc
from dpcausal.adapters import PrivateOracle
from dpcausal.cli.app import run
from dpcausal.core.spelling import for_command_line
from dpcausal.present.ledger import asked_before_words, other_rows_words
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import PureEvent
from dpcausal.privacy.ledger import Ledger
from dpcausal.privacy.ledger.chain import CHARGE, Entry
from dpcausal.privacy.ledger.earlier import (
    MOST_ENTRIES,
    AskedBefore,
    EarlierQuestion,
    EarlierRelease,
    EarlierRows,
    OtherRows,
    asked_before,
    other_rows,
)

pytestmark = pytest.mark.usefixtures("few_repeats")

SCHEMA = """[columns.a]
type = "categorical"
levels = ["x", "y"]

[columns.b]
type = "categorical"
levels = ["x", "y"]

[columns.c]
type = "categorical"
levels = ["u", "v", "w"]
"""
LEDGER = ("--ledger", "sqlite:///budget.db", "--dataset", "cohort")
TEST = ("test", "p.csv", "--schema", "schema.toml", "--x", "a", "--y", "b")
EFFECT = ("effect", "p.csv", "--schema", "schema.toml", "--treatment", "a", "--outcome")
GRAPH = ("discover", "p.csv", "--schema", "schema.toml", "--out", "out", "--epsilon", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("a,b,c\n" + "x,x,u\ny,y,v\nx,y,w\ny,y,u\n" * 1000)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    Ledger.open("sqlite:///budget.db", create=True).create("cohort", 20.0, 1e-5)
    return tmp_path


def ask(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[str]:
    capsys.readouterr()
    assert run([*words, *LEDGER]) == code
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("dpcausal: ")]


def test_a_test_asked_again_is_said_and_charged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, *TEST, "--epsilon", "0.5") == []
    swapped = ("test", "p.csv", "--schema", "schema.toml", "--x", "b", "--y", "a")
    (line,) = ask(capsys, *swapped, "--epsilon", "0.5")
    assert line == f"dpcausal: {asked_before_words(EarlierQuestion((2,), (0.5,), graph=False, again=False))}"
    (line,) = ask(capsys, *TEST, "--epsilon", "0.2")
    both = EarlierQuestion((2, 3), (0.5, 0.5), graph=False, again=False)
    assert line == f"dpcausal: {asked_before_words(both)}"
    assert Ledger.open("sqlite:///budget.db").show("cohort")[0].releases == 3
    assert ask(capsys, *TEST, "--given", "c", "--epsilon", "0.5") == []  # another question
    assert ask(capsys, *TEST, "--method", "g", "--epsilon", "0.5") == []  # another way to ask


def test_an_effect_is_the_same_with_the_same_levels_and_event_only(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(capsys, *EFFECT, "c", "--event", "u", "--adjust", "none", "--epsilon", "0.5") == []
    assert ask(capsys, *EFFECT, "c", "--event", "v", "--adjust", "none", "--epsilon", "0.5") == []
    assert ask(capsys, *EFFECT, "c", "--event", "u", "--adjust", "b", "--epsilon", "0.5") == []
    turned = ("--compare", "y,x", "--estimand", "risk ratio")
    (line,) = ask(capsys, *EFFECT, "c", "--event", "u", "--adjust", "none", "--epsilon", "0.4", *turned)
    assert asked_before_words(EarlierQuestion((2,), (0.5,), graph=False, again=False)) in line


def test_a_graph_is_the_same_with_the_same_columns_and_target(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(capsys, *GRAPH, "--columns", "a,b") == []
    assert ask(capsys, *GRAPH) == []
    assert ask(capsys, *GRAPH, "--target", "b") == []
    (line,) = ask(capsys, *GRAPH, "--columns", "b,a")
    with for_command_line():
        assert asked_before_words(EarlierQuestion((2,), (1.0,), graph=True, again=True)) in line
    assert "(dpcausal again DIR)" in line
    assert ask(capsys, *GRAPH, "--method", "curate", "--delta", "1e-6") == []  # another way to ask


def test_a_graph_with_hidden_causes_is_another_question_that_the_release_answers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(capsys, *GRAPH) == []
    (line,) = ask(capsys, *GRAPH, "--latent")
    assert "asked this before" not in line
    assert "(dpcausal again DIR --latent)" in line
    assert run(["again", "out/earlier-1", "--latent"]) == 0  # as it says, free
    (line,) = ask(capsys, *GRAPH, "--latent")
    assert line.startswith("dpcausal: Entry 3 ")
    assert "asked this before" in line
    assert Ledger.open("sqlite:///budget.db").show("cohort")[0].releases == 3


def test_what_an_earlier_release_answers_depends_on_what_was_asked() -> None:
    def entry(number: int, **note: Any) -> Entry:
        told = {"command": "discover", "method": "measured", "columns": ["a", "b"], **note}
        same = {"kind": CHARGE, "dataset": "cohort", "release": "r", "time": "", "previous": ""}
        cost = {"epsilon": "0.5", "delta": "0", "spent_epsilon": "0.5", "spent_delta": "0"}
        return Entry(seq=number, note=json.dumps(told), **same, **cost)

    entries = [
        entry(2),  # of a version that did not note it
        entry(3, latent=False),
        entry(4, latent=True),
        entry(5, method="curate"),
        entry(6, target="a", latent=False),
        entry(7, columns=["a", "b", "c"], latent=False),
        entry(8, effects=[["a", "b"]], latent=False),
    ]
    asked = {"command": "discover", "method": "measured", "columns": ["b", "a"]}
    assert asked_before(entries, {**asked, "latent": False}) == EarlierQuestion(
        (2, 3), (0.5, 0.5), True, True
    )
    assert asked_before(entries, {**asked, "latent": True}) == EarlierQuestion((4,), (0.5,), True, True)
    assert asked_before(entries[:2], {**asked, "latent": True}) == EarlierRelease((2, 3), (0.5, 0.5), True)
    assert asked_before(entries[2:3], {**asked, "latent": False}) == EarlierRelease((4,), (0.5,), False)
    assert asked_before(entries, {**asked, "method": "moments", "latent": True}) is None
    assert asked_before(entries, {**asked, "method": "curate"}) == EarlierQuestion((5,), (0.5,), True, False)
    assert asked_before(entries[3:], {**asked, "latent": True}) is None


def test_nothing_is_said_without_a_charge_or_of_another_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(capsys, *TEST, "--epsilon", "0.5")
    assert ask(capsys, *TEST, "--epsilon", "0.5", "--forecast") == []
    (line,) = ask(capsys, *TEST, "--epsilon", "50", code=3)  # refused: of that alone
    assert "asked this before" not in line
    (folder / "q.csv").write_bytes((folder / "p.csv").read_bytes())
    assert ask(capsys, "test", "q.csv", *TEST[2:], "--epsilon", "0.5") == []


def test_json_has_standard_output_to_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(capsys, *TEST, "--epsilon", "0.5")
    assert run([*TEST, "--epsilon", "0.5", "--json", *LEDGER]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["privacy"]["ledger"]["entry"] == 3
    assert "asked this before" in said.err


def test_python_warns_before_the_charge_whatever_the_rows_are(folder: Path) -> None:
    schema = dc.Schema.from_toml("schema.toml")
    data = dc.read({"a": ["x", "y"] * 500, "b": ["x", "y"] * 500, "c": ["u", "v"] * 500}, schema)
    other = dc.read({"a": ["x", "x"] * 500, "b": ["y", "x"] * 500, "c": ["u", "w"] * 500}, schema)
    asked = {"epsilon": 0.5, "ledger": "sqlite:///budget.db", "dataset": "cohort"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", AskedBefore)
        dc.ci_test(data, "a", "b", **asked)
        said = []
        for rows in (data, other):
            with pytest.raises(AskedBefore) as caught:
                dc.ci_test(rows, "a", "b", **asked)
            said.append(str(caught.value))
    assert said[0] == said[1]
    assert Ledger.open("sqlite:///budget.db").show("cohort")[0].releases == 1


def test_a_charge_that_is_tried_again_is_no_second_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = {"command": "test", "question": "a and b"}
    budget = Budget(1.0, ledger="sqlite:///budget.db", dataset="cohort", note=note)
    event = PureEvent(label="x", neighbours="replace-one", mechanism="laplace", cost=0.5)
    charge = Ledger.charge

    def lost(*words: object, **more: object) -> None:
        charge(*words, **more)  # type: ignore[arg-type]
        raise OSError("the connection was lost after the commit")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "charge", lost)
        with pytest.raises(OSError, match="lost"):
            budget.charge(event)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        budget.charge(event)
    assert Ledger.open("sqlite:///budget.db").show("cohort")[0].releases == 1


def test_notes_that_say_no_question_are_passed_over(folder: Path) -> None:
    ledger = Ledger.open("sqlite:///budget.db")
    odd = [{"columns": 3, "command": "discover"}, {"columns": [["a"]]}, {"what": "?"}, {"compare": 1}]
    for number, note in enumerate(odd):
        ledger.charge("cohort", f"r{number}", 0.01, note=note)
    entries = ledger.newest("cohort", MOST_ENTRIES)
    assert len(entries) == 5
    assert len(ledger.newest("cohort", 2)) == 2
    assert all(asked_before(entries, note) is None for note in odd)
    assert asked_before(entries, {"command": "test", "question": "a and b"}) is None


def test_other_rows_under_the_name_of_a_data_set_are_named_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(capsys, *TEST, "--epsilon", "0.5")
    ask(capsys, *EFFECT, "b", "--adjust", "none", "--epsilon", "0.5")
    assert ask(capsys, *GRAPH) == []  # the same number of rows
    (folder / "some.csv").write_text("a,b,c\n" + "x,x,u\ny,y,v\n" * 1000)
    cut = ("test", "some.csv", *TEST[2:], "--epsilon", "0.5")
    (line,) = ask(capsys, *cut)
    assert line == f"dpcausal: {other_rows_words('cohort', EarlierRows((2, 3, 4), (4000,), 2000))}"
    (line,) = ask(capsys, *cut)  # known by now
    assert "asked this before" in line
    (folder / "more.csv").write_text("a,b,c\n" + "x,x,u\ny,y,v\n" * 3000)
    (line,) = ask(capsys, "test", "more.csv", *TEST[2:], "--epsilon", "0.5")
    assert other_rows_words("cohort", EarlierRows((2, 3, 4, 5, 6), (2000, 4000), 6000)) in line
    (line,) = ask(capsys, "test", "more.csv", *TEST[2:], "--epsilon", "50", code=3)
    assert "rows, this has" not in line


def test_a_protected_number_of_rows_is_not_noted(folder: Path) -> None:
    ledger = Ledger.open("sqlite:///budget.db")
    ledger.create("protected", 20.0, 1e-5, neighbours="add-remove")
    schema = dc.Schema.from_toml("schema.toml")
    asked = {"epsilon": 0.5, "neighbours": "add-remove", "ledger": ledger, "dataset": "protected"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", OtherRows)
        for n in (500, 800):
            data = dc.read({"a": ["x", "y"] * n, "b": ["x", "y"] * n, "c": ["u", "v"] * n}, schema)
            dc.ci_test(data, "a", "b", **asked)
            dc.effect(data, "a", "b", adjust=[], **asked)
            dc.discover(data, **asked)
        Budget(1.0, neighbours="add-remove", ledger=ledger, dataset="protected", rows=7).charge(
            PureEvent(label="x", neighbours="add-remove", mechanism="laplace", cost=0.5)
        )
    assert not any("rows" in entry.to_dict()["note"] for entry in ledger.log("protected"))


def test_rows_are_noted_by_every_way_to_ask_and_by_an_oracle(folder: Path) -> None:
    ledger = Ledger.open("sqlite:///budget.db")
    schema = dc.Schema.from_toml("schema.toml")
    data = dc.read({"a": ["x", "y"] * 500, "b": ["x", "y"] * 500, "c": ["u", "v"] * 500}, schema)
    count: dict[str, Any] = {"ledger": ledger, "dataset": "cohort"}
    dc.ci_test(data, "a", "b", epsilon=0.5, **count)
    dc.effect(data, "a", "b", adjust=[], epsilon=0.5, **count)
    dc.discover(data, epsilon=0.5, **count)
    oracle = PrivateOracle(data, epsilon=1.0, questions=2, method="kendall", **count)
    oracle.ask("a", "b")
    assert [entry.to_dict()["note"]["rows"] for entry in ledger.log("cohort")[1:]] == [1000] * 4
    entries = ledger.newest("cohort", MOST_ENTRIES)
    assert other_rows(entries, {"rows": 1000}) is None
    assert other_rows(entries, {}) is None
    found = other_rows(entries, {"rows": 7})
    assert found is not None
    assert found.counts == (1000,)
