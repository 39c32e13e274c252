"""What every answer carries, and where sizes, rates and sessions end: each by its value."""

from __future__ import annotations

import gc

import pytest
from fastapi.testclient import TestClient

from dpcausal.core.errors import InputError
from dpcausal.desk import pages, server, store
from dpcausal.desk.api import MOST_DUMMY
from dpcausal.desk.questions import LARGEST
from dpcausal.desk.server import LARGEST_BODY, create_app
from dpcausal.desk.store import NotAllowed, NotFound

from .conftest import TEST, ask, at, person

NONE, SELF = {"'none'"}, {"'self'"}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def browser_of(desk, name: str = "", **options) -> TestClient:
    """A browser that is signed in."""
    browser = TestClient(create_app(desk), base_url="http://desk", follow_redirects=False, **options)
    if name:
        browser.cookies.set(pages.COOKIE, desk.issue(name, "session"))
    return browser


def caller_of(desk, name: str) -> TestClient:
    """A script with a token."""
    return TestClient(
        create_app(desk),
        headers={"Authorization": f"Bearer {desk.issue(name, 'token')}"},
        follow_redirects=False,
    )


def policy(answer) -> dict[str, set[str]]:
    """The directives of a Content-Security-Policy."""
    parts = [one.split() for one in answer.headers["Content-Security-Policy"].split(";")]
    return {name: set(values) for name, *values in parts}


@pytest.mark.parametrize("path", ["/", "/sign-in", "/nothing", "/api/me", "/static/desk.css"])
def test_an_answer_tells_a_browser_what_it_may_load(make_desk, path):
    answer = browser_of(make_desk(), "anna").get(path)
    told = policy(answer)
    assert told.pop("img-src") == {"'self'", "data:"}
    assert {name for name, values in told.items() if values == NONE} == {
        "default-src", "frame-ancestors", "base-uri",
    }  # fmt: skip
    assert {name for name, values in told.items() if values == SELF} == {
        "style-src", "script-src", "connect-src", "form-action",
    }  # fmt: skip
    assert len(told) == 7
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


def test_a_release_can_do_nothing_at_the_desk(make_desk):
    """A report runs in a sandbox without the desk's origin; other files are saved, not shown."""
    desk = make_desk()
    asked = ask(desk, epsilon=0.1)
    job = desk.claim()
    desk.begin_drawing(job.id, job.lease)
    at(desk, asked.asked).finish(job.id, job.lease, {"report.html": b"<p>report"})
    desk.run(lambda connection: desk._change(connection, asked.id, visible=0.0))
    browser = browser_of(desk, "anna")
    told = policy(browser.get(f"/requests/{asked.id}/report"))
    assert told["sandbox"] == {"allow-scripts"}
    assert told["default-src"] == told["frame-ancestors"] == NONE
    for name, values in told.items():
        assert name == "sandbox" or not values & {"'self'", "*", "http:", "https:"}
    saved = browser.get(f"/requests/{asked.id}/files/report.html")
    assert saved.headers["Content-Type"] == "application/octet-stream"
    assert saved.headers["Content-Disposition"].startswith("attachment;")
    sent = caller_of(desk, "anna").get(f"/api/requests/{asked.id}/files/report.html")
    assert sent.headers["Content-Type"] == "application/octet-stream"


@pytest.mark.parametrize("address", ["https://desk.example.org", "http://127.0.0.1:8000"])
def test_a_session_is_a_cookie_for_this_site_over_https(make_desk, address):
    desk = make_desk(address=address)
    for sent in ({"token": desk.issue("anna", "token")}, {"link": desk.issue("anna", "link")}):
        told = browser_of(desk).post("/sign-in", data=sent).headers["set-cookie"].lower().split("; ")
        flags = {"httponly", "samesite=strict", "path=/", "max-age=43200"}
        assert flags <= set(told)
        assert ("secure" in told) == address.startswith("https")


def test_a_session_ends(make_desk):
    """By signing out, after its hours, and when access is taken away."""
    desk = make_desk()
    browser = browser_of(desk, "anna")
    secret = desk.who(browser.cookies[pages.COOKIE], "session").form
    kept = browser.cookies[pages.COOKIE]
    assert browser.post("/sign-out", data={"form": secret}).status_code == 303
    browser.cookies.set(pages.COOKIE, kept)
    assert browser.get("/").headers["location"] == "/sign-in"
    other = browser_of(desk, "anna")
    assert other.get("/").status_code == 200
    desk.remove_person("anna")
    desk.add_person("anna", "analyst")  # who comes back does not find old sessions open
    assert other.get("/").headers["location"] == "/sign-in"


def test_no_foreign_sign_in(make_desk):
    """Another site can't sign somebody in as somebody else, who would then ask in that name."""
    desk = make_desk()
    sent, foreign = {"token": desk.issue("anna", "token")}, {"Origin": "http://elsewhere"}
    answer = browser_of(desk).post("/sign-in", data=sent, headers=foreign)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert browser_of(desk).post("/sign-in", data=sent, headers={"Origin": "http://desk"}).status_code == 303


def test_nobody_takes_away_the_own_access(make_desk):
    desk = make_desk()
    carol = browser_of(desk, "carol")
    secret = desk.who(carol.cookies[pages.COOKIE], "session").form
    assert carol.post("/people/carol/remove", data={"form": secret}).status_code == 409
    assert caller_of(desk, "carol").delete("/api/persons/carol").status_code == 409
    assert desk.person("carol") is not None


def test_rates_are_limited_at_every_door(make_desk):
    """Of a person at the interface and on pages, and of an address that tries tokens."""
    desk = make_desk(requests_per_minute=5)
    at_pages = browser_of(desk, "anna")
    assert [at_pages.get("/token").status_code for _ in range(6)] == [200] * 5 + [429]
    at_interface = caller_of(desk, "anna")
    answers = [at_interface.get("/api/me") for _ in range(6)]
    assert [one.status_code for one in answers] == [200] * 5 + [429]
    assert answers[-1].headers["Retry-After"] == "60"
    guessing = browser_of(desk)
    codes = [guessing.post("/sign-in", data={"token": "wrong"}).status_code for _ in range(6)]
    assert codes == [403] * 5 + [429]


@pytest.mark.parametrize(("path", "refused"), [("/api/me", 401), ("/", 303)])
def test_who_is_not_signed_in_is_counted_by_address(make_desk, path, refused):
    stranger = browser_of(make_desk(requests_per_minute=5))
    stranger.headers["Authorization"] = "Bearer wrong"
    assert [stranger.get(path).status_code for _ in range(6)] == [refused] * 5 + [429]


def test_a_form_is_as_small_as_a_body(make_desk):
    desk = make_desk()
    anna = browser_of(desk, "anna")
    assert anna.post("/sign-in", data={"token": "x" * LARGEST_BODY}).status_code == 413
    assert anna.post("/sign-in", data={"token": "x" * (LARGEST_BODY - 1000)}).status_code == 403
    unsaid = anna.post("/sign-in", content=b"token=x", headers={"Content-Length": "many"})
    assert unsaid.status_code == 413
    assert "<h1>Not possible</h1>" in unsaid.text  # a page for a person


@pytest.mark.parametrize(
    ("change", "most"),
    [
        ({"purpose": "p"}, 1000),
        ({"project": "p"}, 200),
        ({"key": "k"}, 64),
    ],
)
def test_texts_have_a_longest_length(make_desk, change, most):
    desk = make_desk(approvals=1)
    anna = caller_of(desk, "anna")
    ((name, letter),) = change.items()
    body = {"command": "ci_test", "arguments": TEST, "purpose": "p"}
    path = "/api/datasets/cohort/requests"
    assert anna.post(path, json={**body, name: letter * (most + 1)}).status_code == 422
    assert anna.post(path, json={**body, name: letter * most}).status_code == 201


def test_texts_are_limited_by_the_desk_itself(make_desk):
    """Also where a form brings them, or another route will."""
    desk = make_desk(approvals=1)
    for texts in ({"purpose": "p" * 1001}, {"purpose": "p", "project": "p" * 201}):
        with pytest.raises(InputError):
            desk.ask(person("anna"), "cohort", "ci_test", TEST, **texts)
    with pytest.raises(InputError):
        desk.decide(person("carol"), ask(desk).id, "refuse", "r" * 1001)


def test_arguments_and_dummy_rows_are_limited(make_desk):
    desk = make_desk()
    anna = caller_of(desk, "anna")
    assert anna.get(f"/api/datasets/cohort/dummy?rows={MOST_DUMMY + 1}").status_code == 422
    assert anna.get(f"/api/datasets/cohort/dummy?rows={MOST_DUMMY}").status_code == 200
    with pytest.raises(InputError, match="at most"):
        desk.rehearse(person("anna"), "cohort", "ci_test", {**TEST, "given": ["x"] * LARGEST})


def test_a_method_as_its_paper_prints_it_is_not_run(make_desk):
    """Some are not private, and one takes a minute of the server for its forecast."""
    with pytest.raises(InputError, match="as their papers print"):
        make_desk().rehearse(
            person("anna"), "cohort", "ci_test", {**TEST, "method": "gcm", "variant": "paper"}
        )


def test_an_analyst_waits_for_some_before_more(make_desk, monkeypatch):
    monkeypatch.setattr(store, "MOST_WAITING", 2)
    desk = make_desk(approvals=1)
    first, _ = ask(desk), ask(desk)
    with pytest.raises(NotAllowed, match="2 of your requests"):
        ask(desk)
    ask(desk, "ben")  # others do not wait for that
    desk.withdraw(person("anna"), first.id)
    ask(desk)


def test_a_data_set_of_others_is_not_there(make_desk):
    """Not in lists, not by its name, not to forecast or ask; its dummy rows neither."""
    desk = make_desk(analysts=["anna"])
    ben, script = browser_of(desk, "ben"), caller_of(desk, "ben")
    secret = desk.who(ben.cookies[pages.COOKIE], "session").form
    assert "cohort" not in ben.get("/").text
    assert "cohort" in browser_of(desk, "anna").get("/").text
    assert script.get("/api/datasets").json() == []
    for path in ("/data/cohort", "/data/cohort/dummy.csv"):
        assert ben.get(path).status_code == 404
    form = {
        "form": secret,
        "command": "ci_test",
        "x": "Smoker",
        "y": "Cancer",
        "epsilon": "0.1",
        "purpose": "p",
    }
    for action in ("forecast", "ask"):
        assert ben.post("/data/cohort/ask", data={**form, "action": action}).status_code == 404
    for path in ("/api/datasets/cohort", "/api/datasets/cohort/dummy"):
        assert script.get(path).status_code == 404
    question = {"command": "ci_test", "arguments": TEST}
    assert script.post("/api/datasets/cohort/forecast", json=question).status_code == 404
    sent = {**question, "purpose": "p"}
    assert script.post("/api/datasets/cohort/requests", json=sent).status_code == 404


def test_only_who_may_decides_asks_and_withdraws(make_desk):
    """The desk itself asks for the role, too: whoever writes another route can't forget it."""
    desk = make_desk(approvals=1)
    asked = ask(desk)
    for name in ("anna", "ben", "dora"):
        with pytest.raises(NotAllowed):
            desk.decide(person(name), asked.id, "approve", "r")
    for name in ("carol", "dora"):
        with pytest.raises(NotAllowed):
            ask(desk, name)
        with pytest.raises(NotAllowed):
            desk.withdraw(person(name), asked.id)
    with pytest.raises(NotFound):
        desk.withdraw(person("ben"), asked.id)
    assert desk.request(asked.id).state == "waiting"


def test_nothing_is_left_for_the_first_page_to_do():
    """A server compiles its pages, and never looks through again what it has loaded, before it is asked."""
    try:
        server.prepare()
        kept = {name for _, name in pages.templates.cache}
        assert kept == set(pages.templates.list_templates())
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
