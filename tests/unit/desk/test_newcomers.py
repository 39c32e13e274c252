"""What newcomers stumbled on at the pages, the interface and the commands of a desk."""

from __future__ import annotations

import json
import re
import socket
from html import unescape

import httpx
import pytest
from fastapi.testclient import TestClient

import dpcausal as dc
from dpcausal.cli import serve
from dpcausal.desk import worker
from dpcausal.desk.client import DeskError, RemoteDesk
from dpcausal.desk.pages import COOKIE
from dpcausal.desk.questions import Question
from dpcausal.desk.server import create_app
from dpcausal.desk.worker import release_files, work

from .conftest import ask, settings


@pytest.fixture
def browse(make_desk):
    """Return a desk and a browser in which somebody is signed in, with the secret of the session."""

    def make(name: str, **rules: object):
        desk = make_desk(**rules)
        browser = TestClient(create_app(desk), follow_redirects=False)
        session = desk.issue(name, "session")
        browser.cookies.set(COOKIE, session)
        return desk, browser, desk.who(session, "session").form

    return make


THREE = """
[columns.smoker]
type = "categorical"
levels = ["no", "yes", "missing"]
[columns.bmi]
type = "numeric"
lower = 15
upper = 50
bins = [25, 30]
"""


def three_levels(tmp_path) -> dict[str, object]:
    """Write a schema with a treatment of three levels and a number; return the rules of its data set."""
    (tmp_path / "three.toml").write_text(THREE)
    return {"schema": "three.toml", "rows": 500}


def test_the_effect_of_a_treatment_with_missing_values_can_be_asked_on_the_page(browse, tmp_path):
    desk, browser, secret = browse("anna", approvals=1, **three_levels(tmp_path))
    sent = {"form": secret, "command": "effect", "treatment": "smoker", "outcome": "bmi", "epsilon": "0.5"}
    sent |= {"purpose": "to see", "anyway": "yes", "action": "ask"}
    refused = unescape(browser.post("/data/cohort/ask", data=sent).text)
    assert 'such as no, yes in the field "Compare"' in refused
    assert 'name="compare"' in refused
    asked = browser.post("/data/cohort/ask", data={**sent, "compare": "no, yes"})
    assert asked.status_code == 303
    assert desk.request(asked.headers["location"][-32:]).question.arguments["compare"] == ["no", "yes"]
    assert "15 to 50; bins: below 25, 25 to 30, 30 or more" in unescape(browser.get("/data/cohort").text)


def test_hidden_causes_can_be_asked_for_on_the_page(browse):
    desk, browser, secret = browse("anna", approvals=1)
    sent = {"form": secret, "command": "discover", "epsilon": "0.5", "purpose": "to see", "anyway": "yes"}
    asked = browser.post("/data/cohort/ask", data={**sent, "latent": "yes", "action": "ask"})
    assert asked.status_code == 303
    assert desk.request(asked.headers["location"][-32:]).question.arguments["latent"] is True


def test_a_custodian_is_told_that_a_reason_is_needed_and_who_reads_it(browse):
    desk, browser, _ = browse("carol", approvals=1)
    page = browser.get(f"/requests/{ask(desk).id}").text
    assert ">Reason (required, the analyst sees it)</label>" in page


def test_a_result_shows_the_picture_of_its_graph(browse):
    desk, browser, secret = browse("anna")
    sent = {"form": secret, "command": "discover", "epsilon": "0.9", "delta": "1e-6", "purpose": "to see"}
    where = browser.post("/data/cohort/ask", data={**sent, "anyway": "yes", "action": "ask"}).headers[
        "location"
    ]
    assert browser.get(f"{where}/picture").status_code == 404
    work(desk, until_empty=True)
    desk.run(lambda connection: desk._change(connection, where[-32:], visible=0.0))
    assert f'<img src="{where}/picture" alt="' in browser.get(where).text
    picture = browser.get(f"{where}/picture")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert "<svg" in picture.text
    assert "sandbox" in picture.headers["content-security-policy"]


def test_the_report_repeats_all_that_was_declared(monkeypatch):
    """The call in the report of a desk is the one that was asked, order of time and edges included."""
    answer = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    asked = {"epsilon": 1.5, "neighbours": "replace-one", "tiers": [["Smoker"], ["Cancer"]]}
    asked |= {"forbidden": [["Cancer", "Smoker"], {"edge": ["Xray", "Dyspnoea"]}]}

    class Asked:
        dataset, command, question = "cohort", "discover", Question("discover", asked)

    monkeypatch.setattr(worker, "to_wire", lambda answer: "{}")
    monkeypatch.setattr(worker, "record", lambda files, request: {})
    page = unescape(release_files(answer, Asked())["report.html"].decode())
    call = re.search(r'<pre id="reproduce">(.*?)</pre>', page, re.DOTALL)[1]
    assert "desk['cohort'].discover(epsilon=1.5, neighbours='replace-one'" in call
    assert "tiers=[['Smoker'], ['Cancer']]" in call
    assert "forbidden=[('Cancer', 'Smoker'), frozenset({'Dyspnoea', 'Xray'})]" in call
    compile(call, "report", "exec")


def test_a_used_link_says_who_gives_a_new_one(make_desk):
    with TestClient(create_app(make_desk())) as browser:
        answer = browser.post("/sign-in", data={"link": "x" * 43})
    assert answer.status_code == 403
    assert "ask the custodian for a new one" in answer.text


def test_a_wrong_token_is_told_from_none(make_desk):
    with TestClient(create_app(make_desk())) as client:
        none = client.get("/api/me")
        wrong = client.get("/api/me", headers={"Authorization": f"Bearer {'x' * 43}"})
    assert (none.status_code, wrong.status_code) == (401, 401)
    assert none.json()["error"] == "a token of this desk is needed"
    assert wrong.json()["error"].startswith("this token is not known here")


def test_one_entry_is_one_entry(browse):
    _, browser, _ = browse("dora")
    assert "<p>1 entry. " in browser.get("/ledger").text
    assert "Intact: 1 entry, chain" in browser.get("/ledger?check=true").text
    assert browser.get("/ledger/verify").text.startswith("1 entry, intact")


def test_a_desk_that_is_not_there_is_told_in_words():
    def nobody(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(DeskError, match="can't be reached: nothing answers at this address"):
        RemoteDesk("http://127.0.0.1:9", "t", httpx.MockTransport(nobody))


# ---- the command


@pytest.fixture
def a_port_in_use():
    """A port at which something listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def config_file(tmp_path, **data: object):
    """Write the settings of a desk to a file and return its path."""
    settings(tmp_path)  # writes the schema and the rows
    given = {"source": "patients.csv", "schema": "schema.toml", "rows": 2000, "epsilon": 1.0, **data}
    lines = ['ledger = "sqlite:///desk.db"', "[[persons]]", 'name = "carol"', 'role = "custodian"']
    lines += ["[datasets.cohort]", *(f"{name} = {json.dumps(value)}" for name, value in given.items())]
    (tmp_path / "desk.toml").write_text("\n".join(lines))
    return tmp_path / "desk.toml"


def test_a_link_is_printed_while_the_desk_runs(make_desk, tmp_path, a_port_in_use, capsys):
    desk = make_desk()
    serve.run_serve(config_file(tmp_path, delta=1e-5), port=a_port_in_use, link="carol")
    said = capsys.readouterr()
    name, _, address = said.out.strip().partition(": ")
    assert (name, address.rpartition("/")[0]) == ("carol", f"http://127.0.0.1:{a_port_in_use}/enter")
    link = address.rpartition("/")[2]
    assert desk.use_link(link).name == "carol"
    assert desk.use_link(link) is None
    assert "starting" in said.err
    with pytest.raises(dc.InputError, match="Address already in use"):
        serve.run_serve(tmp_path / "desk.toml", port=a_port_in_use)


def test_the_start_says_what_is_still_to_be_done(tmp_path):
    there = serve._what_is_left_to_do(settings(tmp_path))
    assert there == [
        "questions are answered by dpcausal work --config desk.toml: start it, too",
        "a new link, in place of one that was lost: dpcausal serve --config desk.toml --link NAME",
    ]
    first, *last = serve._what_is_left_to_do(settings(tmp_path, source="patient.csv"))
    assert first.startswith("[datasets.cohort]: patient.csv: no such file on this machine")
    assert last == there


def test_a_page_says_how_long_a_tick_is(browse):
    desk, browser, _ = browse("anna", tick=90.0)
    assert "A tick comes every 90 seconds" in browser.get(f"/requests/{ask(desk).id}").text
