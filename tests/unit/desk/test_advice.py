"""What a desk advises can be followed where it is read: by the fields of a page, in Python, and by commands."""

from __future__ import annotations

import ast
import inspect
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

import dpcausal as dc
from dpcausal.core.spelling import asks, for_desk, spelled
from dpcausal.desk import worker
from dpcausal.desk.forms import FORMS
from dpcausal.desk.pages import COOKIE
from dpcausal.desk.questions import FUNCTIONS
from dpcausal.desk.server import create_app

from .conftest import ask, person

QUESTIONS = {
    "ci_test": {"x": "Smoker", "y": "Cancer"},
    "effect": {"treatment": "Smoker", "outcome": "Cancer"},
    "discover": {},
}
SOURCE = Path(dc.__file__).parent
CLAUSE = re.compile(r"[.;] |^\s|\s$| needs | are ")
IN_PYTHON = re.compile(r"(?:anyway|epsilon|delta|adjust|share)=")


def spelled_once(text: str) -> list[str]:
    """What is spelled as in Python and not, just before it, as on the command line."""
    text = " ".join(text.split())
    return [text[max(0, one.start() - 40) : one.end()] for one in IN_PYTHON.finditer(text)
            if "(in Python " not in text[max(0, one.start() - 24) : one.start()]]  # fmt: skip


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_question_that_can_show_nothing_is_refused_for_both(make_desk, command):
    with pytest.raises(dc.UnderpoweredError) as refused, for_desk():
        make_desk().rehearse(person("anna"), "cohort", command, {**QUESTIONS[command], "epsilon": 0.001})
    line = str(refused.value)
    assert "--anyway (in Python anyway=True)" in line
    assert re.search(r"--epsilon (\S+) \(in Python epsilon=\1\)", line)
    assert spelled_once(line) == []


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_forecast_is_for_both(make_desk, command):
    question = {**QUESTIONS[command], "epsilon": 0.001, "anyway": True}
    with for_desk():
        _, cost = make_desk().rehearse(person("anna"), "cohort", command, question)
    assert spelled_once(cost["forecast"]) == []


def of_commands(text: str) -> list[str]:
    """Options as on the command line, with some words before them."""
    return re.findall(r".{0,40}--[a-z]+", " ".join(text.split()))


@pytest.mark.parametrize("command", QUESTIONS)
@pytest.mark.parametrize("epsilon", [0.001, 0.05, 1.0])
def test_a_stored_forecast_is_for_a_page(make_desk, command, epsilon):
    """Pages show it; a page has no options, and names of its fields stand in quotes."""
    desk = make_desk(approvals=1)
    given = {**QUESTIONS[command], "epsilon": epsilon, "anyway": True}
    with for_desk():
        found = desk.ask(person("anna"), "cohort", command, given, purpose="to see")
    assert of_commands(found.forecast) == []
    assert "in Python (" not in found.forecast
    labels = {one.label for one in FORMS[command].fields}
    assert set(re.findall(r'(?:field|box) "([^"]+)"', found.forecast)) <= labels


def literal(node: ast.expr) -> str:
    """Return the text of a literal, with X for what is put in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(literal, node.values))
    return str(node.value) if isinstance(node, ast.Constant) else "X"


def test_only_spellings_of_options_are_spelled():
    """What ``spelled`` gets is put between brackets at a desk: a clause there would garble the sentence around it."""
    wrong = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "spelled":
                wrong += [(path.name, text) for text in map(literal, node.args) if CLAUSE.search(text)]
    assert wrong == []


def test_each_field_of_a_form_is_an_argument(make_desk):
    """What a form sends is what its function takes."""
    for command, form in FORMS.items():
        taken = inspect.signature(FUNCTIONS[command]).parameters
        free = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())
        assert [one.name for one in form.fields if one.name not in taken and not free] == []


def test_what_a_result_advises_is_for_both(monkeypatch):
    answer = SimpleNamespace(
        summary=lambda: spelled("--anyway", "anyway=True") if asks() else "", to_json=lambda: "{}",
        privacy=SimpleNamespace(to_json=lambda: "{}"),
    )  # fmt: skip
    monkeypatch.setattr(worker, "to_wire", lambda answer: "{}")
    monkeypatch.setattr(worker, "record", lambda files, request: {})
    files = worker.release_files(answer, SimpleNamespace(dataset="cohort", command="ci_test"))
    assert files["summary.txt"] == b'the box "Ask even where hardly anything can be shown"'


def test_a_page_takes_what_it_advises(make_desk):
    """A person with a browser alone can ask all the same."""
    desk = make_desk()
    with TestClient(create_app(desk), follow_redirects=False) as browser:
        session = desk.issue("anna", "session")
        browser.cookies.set(COOKIE, session)
        form = {"form": desk.who(session, "session").form, "command": "ci_test", **QUESTIONS["ci_test"]}
        form |= {"epsilon": "0.001", "purpose": "to see", "action": "ask"}
        refused = browser.post("/data/cohort/ask", data=form)
        assert refused.status_code == 422
        told = unescape(refused.text)
        assert 'the box "Ask even where hardly anything can be shown" runs it all the same' in told
        assert re.search(r'epsilon|\d in the field "Epsilon"', told)
        assert of_commands(told.partition("<form method")[0]) == []
        assert 'name="anyway" value="yes">' in refused.text
        shown = browser.post("/data/cohort/ask", data={**form, "anyway": "yes", "action": "forecast"})
        assert 'name="anyway" value="yes" checked>' in shown.text
        assert browser.post("/data/cohort/ask", data={**form, "anyway": "yes"}).status_code == 303
    assert desk.ledger.show("cohort")[0].releases == 1


def test_a_refusal_for_want_of_budget_has_no_option(make_desk):
    desk = make_desk(approvals=1)
    assert spelled_once(ask(desk).forecast) == []
