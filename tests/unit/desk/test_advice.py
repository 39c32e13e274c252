"""What a desk advises can be followed in both ways to ask: options are spelled for Python and for the command line."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

import dpcausal as dc
from dpcausal.core.spelling import asks, spelled
from dpcausal.desk import worker
from dpcausal.desk.pages import COOKIE
from dpcausal.desk.server import create_app

from .conftest import ask, person

QUESTIONS = {
    "ci_test": {"x": "Smoker", "y": "Cancer"},
    "effect": {"treatment": "Smoker", "outcome": "Cancer"},
    "discover": {},
}
IN_PYTHON = re.compile(r"(?:anyway|epsilon|delta|adjust|share)=")


def spelled_once(text: str) -> list[str]:
    """What is spelled as in Python and not, just before it, as on the command line."""
    text = " ".join(text.split())
    return [text[max(0, one.start() - 40) : one.end()] for one in IN_PYTHON.finditer(text)
            if "(in Python " not in text[max(0, one.start() - 24) : one.start()]]  # fmt: skip


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_question_that_can_show_nothing_is_refused_for_both(make_desk, command):
    with pytest.raises(dc.UnderpoweredError) as refused:
        make_desk().rehearse(person("anna"), "cohort", command, {**QUESTIONS[command], "epsilon": 0.001})
    line = str(refused.value)
    assert "--anyway (in Python anyway=True)" in line
    assert re.search(r"--epsilon (\S+) \(in Python epsilon=\1\)", line)
    assert spelled_once(line) == []


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_forecast_is_for_both(make_desk, command):
    question = {**QUESTIONS[command], "epsilon": 0.001, "anyway": True}
    _, cost = make_desk().rehearse(person("anna"), "cohort", command, question)
    assert spelled_once(cost["forecast"]) == []


def test_what_a_result_advises_is_for_both(monkeypatch):
    answer = SimpleNamespace(
        summary=lambda: spelled("--anyway", "anyway=True") if asks() else "", to_json=lambda: "{}",
        privacy=SimpleNamespace(to_json=lambda: "{}"),
    )  # fmt: skip
    monkeypatch.setattr(worker, "to_wire", lambda answer: "{}")
    monkeypatch.setattr(worker, "record", lambda files, request: {})
    files = worker.release_files(answer, SimpleNamespace(dataset="cohort"))
    assert files["summary.txt"] == b"--anyway (in Python anyway=True)"


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
        assert "--anyway (in Python anyway=True) runs it all the same" in unescape(refused.text)
        assert 'name="anyway" value="yes">' in refused.text
        shown = browser.post("/data/cohort/ask", data={**form, "anyway": "yes", "action": "forecast"})
        assert 'name="anyway" value="yes" checked>' in shown.text
        assert browser.post("/data/cohort/ask", data={**form, "anyway": "yes"}).status_code == 303
    assert desk.ledger.show("cohort")[0].releases == 1


def test_a_refusal_for_want_of_budget_has_no_option(make_desk):
    desk = make_desk(approvals=1)
    assert spelled_once(ask(desk).forecast) == []
