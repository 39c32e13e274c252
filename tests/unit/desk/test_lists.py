"""Lists of requests are read page by page: nothing is left out, whatever there is of it."""

from __future__ import annotations

import re
from dataclasses import asdict
from itertools import chain

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, inspect, text

from dpcausal.desk import tables
from dpcausal.desk.client import RemoteDesk
from dpcausal.desk.server import create_app
from dpcausal.desk.store import PAGE, Desk

from .conftest import ask, person, settings

MANY = 2 * PAGE + 10


def queued(desk: Desk, name: str, count: int) -> list[str]:
    """Put copies of a request that waits into the database, some of the same moment; return all, newest first."""
    first = ask(desk, name)
    moments = {first.id: first.asked}
    rows = []
    for k in range(1, count):
        one = asdict(first) | {"id": f"{k:032x}", "key": f"copy-of-{name}-{k}", "asked": first.asked - k // 3}
        rows.append(one)
        moments[one["id"]] = one["asked"]
    desk.run(lambda connection: connection.execute(insert(tables.requests), rows))
    return sorted(moments, key=lambda one: (moments[one], one), reverse=True)


@pytest.fixture
def desk(make_desk):
    return make_desk(epsilon=100.0, approvals=1, requests_per_minute=10_000)


def read_by_links(browser: TestClient, rel: str, path: str, part: str) -> tuple[list[list[str]], str]:
    """Follow links as a browser without scripts does; return the requests of each page, and the last path."""
    seen = []
    while path:
        last, shown = path, browser.get(path).text.partition(part)[2].partition("<h1>")[0]
        seen.append(re.findall("/requests/([0-9a-f]{32})", shown))
        link = re.search(rf'rel="{rel}" href="([^"]+)"', shown)
        path = link[1].replace("&amp;", "&") if link else ""
    return seen, last


@pytest.mark.parametrize(
    ("name", "part"), [("anna", "<h1>My requests</h1>"), ("carol", "<h1>Waiting for a decision</h1>")]
)
def test_a_list_is_read_by_its_links(desk, name, part):
    every = queued(desk, "anna", MANY)
    with TestClient(create_app(desk)) as browser:
        browser.cookies.set("desk", desk.issue(name, "session"))
        older, last = read_by_links(browser, "next", "/", part)
        newer, _ = read_by_links(browser, "prev", last, part)
    assert [len(one) for one in older] == [PAGE, PAGE, 10]
    assert list(chain(*older)) == every
    assert newer == older[::-1]


def test_what_was_decided_is_a_list_of_its_own(desk):
    """Many that wait do not push what was decided from the page, and turning one list leaves the other where it is."""
    queued(desk, "anna", MANY)
    early = ask(desk, "ben", now=1.0)
    desk.decide(person("carol"), early.id, "refuse", "not in the protocol")
    with TestClient(create_app(desk)) as browser:
        browser.cookies.set("desk", desk.issue("dora", "session"))
        assert f"/requests/{early.id}" in browser.get("/").text.partition("<h1>Decided")[2]
        second = browser.get("/?waiting=2").text
        assert 'href="/?waiting=3&amp;asked=1"' in second
        assert f"/requests/{early.id}" in second.partition("<h1>Decided")[2]
        assert "Nothing on this page" in browser.get("/?waiting=9").text
        assert browser.get("/?waiting=0").status_code == browser.get("/?asked=x").status_code == 422


def test_a_client_reads_all_pages_and_each_is_bounded(desk):
    every = queued(desk, "anna", MANY)
    ask(desk, "ben")
    app, token = create_app(desk), desk.issue("anna", "token")
    with TestClient(app) as browser:
        bearer = {"Authorization": f"Bearer {token}"}
        assert len(browser.get("/api/requests", headers=bearer).json()) == PAGE
        assert browser.get("/api/requests?page=4", headers=bearer).json() == []
        assert browser.get("/api/requests?page=0", headers=bearer).status_code == 422
        remote = RemoteDesk("http://testserver", token, transport=browser._transport)
        assert [one.id for one in remote.requests()] == every


def test_an_older_database_gets_the_index_which_lists_use(make_desk, tmp_path, ledger_url):
    """After an upgrade no list is sorted whole."""
    desk = make_desk(ledger_url, approvals=1)
    older = "DROP INDEX dpcausal_requests_by_time", "UPDATE dpcausal_desk_revision SET version_num = '0002'"
    desk.run(lambda connection: [connection.execute(text(one)) for one in older])
    desk = Desk.open(settings(tmp_path, ledger_url, approvals=1), create=True)

    def indexes(connection):
        return {one["name"] for one in inspect(connection).get_indexes("dpcausal_requests")}

    assert "dpcausal_requests_by_time" in desk.run(indexes, write=False)
    if ledger_url.startswith("sqlite"):  # PostgreSQL decides by the size of the table
        order = "WHERE state != 'waiting' ORDER BY asked DESC, id DESC"
        plan = f"EXPLAIN QUERY PLAN SELECT * FROM dpcausal_requests {order}"
        steps = desk.run(lambda connection: connection.execute(text(plan)).all(), write=False)
        assert "dpcausal_requests_by_time" in str(steps)
        assert "TEMP B-TREE" not in str(steps)
