"""People of a desk: roles that do not change by chance, one custodian at least, workers that are gone, and units."""

from __future__ import annotations

import pandas as pd
import pytest
from fastapi.testclient import TestClient

import dpcausal as dc
from dpcausal.core.errors import BudgetError, InputError
from dpcausal.desk import pages
from dpcausal.desk.server import create_app
from dpcausal.desk.store import BEAT, Conflict, Desk
from dpcausal.desk.worker import work

from .conftest import ROWS, ask, at, person, settings


class Browser:
    """A session of one person."""

    def __init__(self, desk: Desk, name: str) -> None:
        self.client = TestClient(create_app(desk), base_url="http://desk")
        session = desk.issue(name, "session")
        self.client.cookies.set(pages.COOKIE, session)
        self.form = desk.who(session, "session").form

    def post(self, path: str, **sent: str):
        return self.client.post(path, data={**sent, "form": self.form})


def roles(desk: Desk) -> dict[str, str]:
    return {name: role for name, role, _ in desk.people()}


def test_a_new_link_leaves_a_role_as_it_is(make_desk):
    desk = make_desk()
    before, carol = roles(desk), Browser(desk, "carol")
    for name in ("dora", "carol"):
        answer = carol.post(f"/people/{name}/link")
        assert answer.status_code == 200
        assert "/enter/" in answer.text
    assert carol.post("/people", name="dora", role="analyst").status_code == 409
    assert roles(desk) == before
    assert carol.post("/people/nobody/link").status_code == 404


def test_a_desk_keeps_a_custodian(make_desk, tmp_path):
    desk = make_desk()
    desk.add_person("carl", "analyst")
    for act in (lambda: desk.add_person("carol", "auditor"), lambda: desk.remove_person("carol")):
        with pytest.raises(Conflict, match="only custodian"):
            act()
    assert roles(desk)["carol"] == "custodian"
    alone = settings(
        tmp_path, "sqlite:///other.db", persons=[{"name": "anna", "role": "analyst"}], folder="o"
    )
    with pytest.raises(InputError, match="nobody is custodian"):
        Desk.open(alone, create=True)


def test_the_settings_make_an_analyst_custodian_and_give_back_no_access(make_desk, tmp_path):
    desk = make_desk()
    desk.add_person("carl", "analyst")
    make_desk()
    assert roles(desk)["carl"] == "custodian"
    desk.remove_person("carl")
    make_desk()
    assert ("carl", "custodian", False) in desk.people()


def test_names_that_could_be_taken_for_each_other_are_refused(make_desk):
    with pytest.raises(InputError, match="taken for 'anna'"):
        make_desk().add_person("Anna", "analyst")


def test_a_page_says_that_no_worker_is_there(make_desk):
    desk = make_desk()
    asked = ask(desk)
    anna, line = Browser(desk, "anna"), "No worker is running"
    assert line in anna.client.get(f"/requests/{asked.id}").text
    desk.beat("one")
    assert line not in anna.client.get(f"/requests/{asked.id}").text
    assert at(desk, asked.asked).has_worker()
    assert not at(desk, asked.asked + 10 * BEAT).has_worker()


def test_a_worker_gives_signs_of_life(make_desk):
    desk = make_desk()
    assert not desk.has_worker()
    work(desk, until_empty=True)
    assert desk.has_worker()


def test_a_custodian_sees_the_share_and_which_entry_a_result_names(make_desk):
    desk = make_desk(approvals=1, approve_up_to=0.3, share_epsilon=0.5)
    ask(desk, "ben", epsilon=0.1)
    asked = ask(desk, epsilon=0.1)
    waiting = ask(desk, epsilon=0.35)
    carol = Browser(desk, "carol").client
    assert "Left of the share of anna</dt><dd>epsilon 0.4" in carol.get(f"/requests/{waiting.id}").text
    page = carol.get(f"/requests/{asked.id}").text
    assert f"<dd>{asked.entry}; the result calls it entry 1, counting those of anna alone" in page
    assert "Approved by rule" in page
    with pytest.raises(BudgetError, match="the share of anna"):
        ask(desk, epsilon=0.45)


@pytest.mark.parametrize("limit", ["cap_epsilon", "share_epsilon", "project_epsilon", "share_delta"])
def test_no_limit_is_above_the_total(tmp_path, limit):
    with pytest.raises(InputError, match=f"{limit} 2 is above the total"):
        settings(tmp_path, **{limit: 2.0})


@pytest.mark.parametrize("declared", ["schema", "desk"])
def test_a_desk_protects_persons_where_the_schema_or_the_desk_says_so(tmp_path, declared):
    settings(tmp_path)
    rows = pd.read_csv(tmp_path / "patients.csv").assign(pid=[i // 2 for i in range(ROWS)])
    rows.to_csv(tmp_path / "patients.csv", index=False)
    unit = {}
    if declared == "schema":
        schema = dc.Schema.from_toml(tmp_path / "schema.toml").with_unit("pid")
        (tmp_path / "schema.toml").write_text(schema.to_toml())
    else:
        unit = {"unit": "pid"}
    desk = Desk.open(settings(tmp_path, rows=ROWS // 2, **unit), create=True)
    asked = ask(desk)
    work(desk, until_empty=True)
    found = desk.request(asked.id)
    assert "person" in at(desk, found.visible).files(found)["summary.txt"].decode()
    assert "for one person" in Browser(desk, "anna").client.get("/data/cohort").text
    other = settings(tmp_path, rows=ROWS, **unit)
    with pytest.raises(InputError, match=f"declared with {ROWS} persons"):
        Desk(other, desk.ledger).subjects["cohort"].open(other.datasets["cohort"])
    assert desk.rehearse(person("anna"), "cohort", "ci_test", {"x": "Smoker", "y": "Cancer", "epsilon": 0.1})


def test_dummy_rows_have_the_id_that_the_schema_names():
    schema = dc.Schema(smoke=dc.Categorical(["no", "yes"])).with_unit("pid", order_by="visit")
    assert dc.dummy(schema, 50).n == 50


def test_an_analyst_reads_what_the_code_book_says(make_desk, tmp_path):
    settings(tmp_path)
    text = (tmp_path / "schema.toml").read_text()
    (tmp_path / "schema.toml").write_text(
        text.replace("[columns.Smoker]", '[columns.Smoker]\nlabel = "smoked in the last <year>"')
    )
    page = Browser(make_desk(), "anna").client.get("/data/cohort").text
    assert "<td>Smoker: smoked in the last &lt;year&gt;</td>" in page
    assert "<td>Cancer</td>" in page
