"""Rules for the whole desk: what leaves besides releases, limits in both units, states, and the chain that was seen."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import warnings
from dataclasses import replace

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from dpcausal.core.errors import BudgetError, InputError, LedgerError
from dpcausal.desk import pages, store, worker
from dpcausal.desk import questions as states
from dpcausal.desk.questions import FUNCTIONS, parse_question
from dpcausal.desk.server import create_app
from dpcausal.desk.store import Conflict, Desk
from dpcausal.desk.subjects import Study
from dpcausal.privacy.ledger import Ledger

from .conftest import TEST, ask, at, person, settings

EFFECT = {"treatment": "Smoker", "outcome": "Cancer", "epsilon": 0.3, "anyway": True}


def logged(desk, path) -> list[str]:
    """Run all jobs; the lines of the log, which jobs write in processes of their own."""

    def log(line: str) -> None:
        with path.open("a") as file:
            file.write(f"{line}\n")

    worker.work(desk, until_empty=True, log=log)
    return path.read_text().splitlines() if path.exists() else []


def test_a_protected_number_of_rows_is_not_seen(make_desk, tmp_path):
    """Under add-remove: with as many rows as declared, with fewer, and with more."""
    every = pd.read_csv(settings(tmp_path).datasets["cohort"].source)

    def told(rows: int) -> list[object]:
        every.sample(rows, replace=True, random_state=rows).to_csv(tmp_path / "patients.csv", index=False)
        desk = make_desk(f"sqlite:///{rows}.db", folder=f"seen-{rows}", neighbours="add-remove")
        for command, arguments in (("ci_test", TEST), ("effect", EFFECT)):
            at(desk, 1000.0).ask(person("anna"), "cohort", command, arguments, purpose="p")
        lines = logged(desk, tmp_path / f"{rows}.log")
        ended = sorted(desk.requests_for(person("anna")).rows, key=lambda one: one.command)
        return [lines, *((one.state, one.epsilon, sorted(at(desk, one.visible).files(one))) for one in ended)]

    seen = told(2000)
    assert [state for state, *_ in seen[1:]] == [states.DONE, states.DONE]
    assert told(700) == told(3000) == seen


@pytest.mark.parametrize(
    "error",
    [ValueError("secret 17"), InputError("rows: 1999 secret"), KeyError("secret"), MemoryError("secret")],
    ids=lambda error: type(error).__name__,
)
def test_of_an_error_the_log_has_the_kind_alone(make_desk, tmp_path, monkeypatch, error):
    def fails(desk, request):
        raise error

    monkeypatch.setattr(worker, "run_job", fails)
    desk = make_desk()
    asked = ask(desk)
    lines = logged(desk, tmp_path / "log")
    assert lines == [f"request {asked.id}: {type(error).__name__}"] * store.MOST_ATTEMPTS
    assert "secret" not in repr(desk.request(asked.id))


def test_a_warning_of_a_job_is_not_printed(make_desk, tmp_path, monkeypatch, capfd):
    """The worker's streams are a log, too."""

    def warns(answer, request):
        warnings.showwarning = lambda message, *_: os.write(2, str(message).encode())  # as outside of pytest
        warnings.warn("secret 17", stacklevel=2)
        return {"summary.txt": b"s"}

    monkeypatch.setattr(worker, "release_files", warns)
    desk = make_desk()
    asked = ask(desk)
    assert logged(desk, tmp_path / "log") == []
    assert desk.request(asked.id).state == store.DONE
    assert "secret" not in "".join(capfd.readouterr())


def test_all_that_an_analyst_reads_is_the_same_whatever_others_asked(make_desk, monkeypatch):
    """Every page and every answer about the analyst's own requests; names made by chance are masked."""
    monkeypatch.setattr("time.time", lambda: 1.5e9)
    hidden = re.compile(r"[0-9a-f]{12,}|[\w-]{16,}|\d{4}-\d\d-\d\d[T ][0-9:.+]*")

    def told(others: int) -> dict[str, str]:
        desk = make_desk(f"sqlite:///{others}.db", folder=f"seen-{others}", share_epsilon=0.4)
        for _ in range(others):
            ask(desk, "ben", epsilon=0.1)
        asked = ask(desk)
        while (job := desk.claim()) is not None:
            desk.begin_drawing(job.id, job.lease)
            desk.finish(job.id, job.lease, {"summary.txt": b"s", "report.html": b"r"})
        desk.run(lambda connection: desk._change(connection, asked.id, visible=0.0))
        one, found = f"requests/{asked.id}", {}
        with TestClient(create_app(desk), base_url="http://desk", follow_redirects=False) as client:
            client.headers["Authorization"] = f"Bearer {desk.issue('anna', 'token')}"
            for path in ("me", "datasets", "datasets/cohort", "requests", one, f"{one}/files/summary.txt"):
                found[path.replace(asked.id, "")] = client.get(f"/api/{path}").text
        with TestClient(create_app(desk), base_url="http://desk", follow_redirects=False) as client:
            client.cookies.set(pages.COOKIE, desk.issue("anna", "session"))
            for path in ("", "data/cohort", one):
                found[f"page {path.replace(asked.id, '')}"] = client.get(f"/{path}").text
        assert all(found.values())
        return {path: hidden.sub("", text) for path, text in found.items()}

    assert told(0) == told(3)


@pytest.mark.parametrize("unit", ["epsilon", "delta"])
@pytest.mark.parametrize("rule", ["cap", "share", "project"])
def test_every_limit_holds_in_both_units(make_desk, monkeypatch, unit, rule):
    limit = {"epsilon": 0.4, "delta": 4e-6}[unit]
    approvals = int(rule == "cap")  # none: the ledger has the cap, too, and would refuse in place of the desk
    desk = make_desk(**{f"{rule}_{unit}": limit, "approvals": approvals})
    question, cost = desk.rehearse(person("anna"), "cohort", "ci_test", TEST)

    def costing(amount: float) -> None:
        priced = {**cost, "epsilon": 0.1, "delta": 0.0, unit: amount}
        monkeypatch.setattr(desk, "_cost", lambda *_: (question, priced))
        ask(desk, project="p")

    with pytest.raises(BudgetError):
        costing(1.01 * limit)
    assert desk.requests_for(person("anna")).rows == []
    costing(0.6 * limit)
    if rule != "cap":
        with pytest.raises(BudgetError):
            costing(0.6 * limit)
    costing(0.4 * limit)


def test_until_its_tick_a_request_is_at_work_and_no_more_is_said(make_desk):
    desk = make_desk()
    asked = ask(desk, now=1000.0)
    seen = [desk.request(asked.id).shown_state(1000.1)]
    job = at(desk, 1000.2).claim()
    seen.append(desk.request(asked.id).shown_state(1000.3))
    desk.begin_drawing(job.id, job.lease)
    seen.append(desk.request(asked.id).shown_state(1000.4))
    at(desk, 1000.5).finish(job.id, job.lease, {})
    seen.append(desk.request(asked.id).shown_state(1059.9))
    assert seen == [states.WORKING] * 4


def test_an_end_shows_nowhere_before_its_tick(make_desk, monkeypatch):
    """Not in what an analyst reads, in the sequence of lists, nor in whether there is room for one more request."""
    monkeypatch.setattr("time.time", lambda: 1.5e9)
    monkeypatch.setattr(store, "MOST_WAITING", 3)
    desk = make_desk()
    asked = [ask(desk, epsilon=0.1, now=1.5e9 - k) for k in range(3)]
    api, page = (
        TestClient(create_app(desk), base_url="http://desk", follow_redirects=False) for _ in range(2)
    )
    api.headers["Authorization"] = f"Bearer {desk.issue('anna', 'token')}"
    page.cookies.set(pages.COOKIE, desk.issue("anna", "session"))
    body = {"command": "ci_test", "arguments": {**TEST, "epsilon": 0.1}, "purpose": "one more"}

    def seen() -> list[str]:
        found = [api.get("/api/requests").text, page.get("/").text, page.get("/data/cohort").text]
        for one in asked:
            found += [api.get(f"/api/requests/{one.id}").text, page.get(f"/requests/{one.id}").text]
            found += [str(page.get(f"/requests/{one.id}?seen=working").headers)]
        return [*found, api.post("/api/datasets/cohort/requests", json=body).text]

    before = seen()
    assert "3 of your requests" in before[-1]
    for files in ({"summary.txt": b"s", "report.html": b"r"}, None):
        job = desk.claim()
        desk.begin_drawing(job.id, job.lease)
        at(desk, 1.5e9 + 0.5).finish(job.id, job.lease, files)
        assert seen() == before
    desk.clock = lambda: 1.5e9 + 60.0
    assert "3 of your requests" not in seen()[-1]


def test_no_release_is_stored_for_which_nothing_was_drawn(make_desk):
    desk = make_desk()
    ask(desk)
    job = desk.claim()
    with pytest.raises(Conflict):
        desk.finish(job.id, job.lease, {"summary.txt": b"made up"})


def test_whatever_opens_a_file_or_a_ledger_is_not_an_analyst_s_to_name(make_desk):
    """By the types of the library's own arguments, so that a new one is refused, too."""
    desk = make_desk()
    table = desk.config.datasets["cohort"]
    study = replace(table, snps=10, cases=5, controls=5)
    for command, function in FUNCTIONS.items():
        settings_of, subject = (
            (study, Study(10, 5, 5, "het", "study"))
            if command in Study.commands
            else (table, desk.subjects["cohort"])
        )
        opening = {
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if re.search("PathLike|Ledger|Dataset|Counts|Plan|Graph", str(parameter.annotation))
        }
        assert {"data", "counts"} & opening
        for name in opening | {"ledger", "dataset"}:
            with pytest.raises(InputError, match=f"takes no '{name}'") as error:
                parse_question(command, {"epsilon": 0.1, name: "/etc/passwd"}, settings_of, subject)
            assert f'"{name}"' not in str(error.value)  # as what was meant


def test_the_chain_that_was_seen_is_not_forgotten_while_a_desk_runs(make_desk, tmp_path):
    """A database that is exchanged for an older copy does not become the one that was seen."""
    desk = make_desk()
    ask(desk, epsilon=0.1)
    copy, head = tmp_path / "copy.db", tmp_path / "desk" / "head.json"
    shutil.copy(tmp_path / "desk.db", copy)
    ask(desk, epsilon=0.1)
    seen = json.loads(head.read_text())
    shutil.copy(copy, tmp_path / "desk.db")
    config = settings(tmp_path)
    Desk(config, Ledger.open(config.ledger)).remember_head()
    assert json.loads(head.read_text()) == seen
    with pytest.raises(LedgerError):
        Desk.open(config)
