"""Every route by every role: who may, who may not, and what of others is visible (nothing)."""

from __future__ import annotations

import json
import re

import httpx
import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from dpcausal.desk import api, pages
from dpcausal.desk.server import HEADERS, LARGEST_BODY, create_app

from .conftest import TEST, ask, at, person

WHO = ("nobody", "custodian", "auditor", "owner", "other")  # owner: the analyst who asked; other: another one
NAMES = {"custodian": "carol", "auditor": "dora", "owner": "anna", "other": "ben"}
ALL, CUSTODIAN, OVERSEERS = (
    {"custodian", "auditor", "owner", "other"},
    {"custodian"},
    {"custodian", "auditor"},
)
MINE = {"custodian", "auditor", "owner"}
ANALYSTS = {"owner", "other"}
QUESTION = {"command": "ci_test", "arguments": TEST}
FORM = {"command": "ci_test", "x": "Smoker", "y": "Cancer", "epsilon": "0.3", "purpose": "p"}

# method and path -> who may, and what is sent; {id}: a request of the owner that waits, {done}: one that is done
MATRIX = {
    "GET /api/me": (ALL, None),
    "GET /api/datasets": (ALL, None),
    "GET /api/datasets/{name}": (ALL, None),
    "GET /api/datasets/{name}/dummy": (ALL, None),
    "POST /api/datasets/{name}/forecast": (ALL, QUESTION),
    "POST /api/datasets/{name}/requests": (ANALYSTS, {**QUESTION, "purpose": "p"}),
    "GET /api/requests": (ALL, None),
    "GET /api/requests/{id}": (MINE, None),
    "GET /api/requests/{id}/files/{file:path}": (MINE, None),
    "POST /api/requests/{id}/withdraw": ({"owner"}, {}),
    "POST /api/requests/{id}/decision": (CUSTODIAN, {"verdict": "refuse", "reason": "r"}),
    "GET /api/ledger": (OVERSEERS, None),
    "GET /api/persons": (OVERSEERS, None),
    "POST /api/persons": (CUSTODIAN, {"name": "eve", "role": "analyst"}),
    "DELETE /api/persons/{name}": (CUSTODIAN, None),
    "GET /sign-in": ({"nobody", *ALL}, None),
    "GET /enter/{link}": ({"nobody", *ALL}, None),
    "POST /sign-in": (set(), {"token": "wrong"}),
    "POST /sign-out": (ALL, {}),
    "GET /": (ALL, None),
    "GET /data/{name}": (ALL, None),
    "POST /data/{name}/ask": (ANALYSTS, FORM),
    "GET /requests/{id}": (MINE, None),
    "GET /requests/{id}/report": (MINE, None),
    "GET /requests/{id}/picture": (MINE, None),
    "GET /requests/{id}/files/{file:path}": (MINE, None),
    "GET /data/{name}/dummy.csv": (ALL, None),
    "POST /requests/{id}/decide": (CUSTODIAN, {"verdict": "refuse", "reason": "r"}),
    "POST /requests/{id}/withdraw": ({"owner"}, {}),
    "GET /ledger": (OVERSEERS, None),
    "GET /ledger/verify": (OVERSEERS, None),
    "GET /people": (OVERSEERS, None),
    "POST /people": (CUSTODIAN, {"name": "eve", "role": "analyst"}),
    "POST /people/{name}/remove": (CUSTODIAN, {}),
    "POST /people/{name}/link": (CUSTODIAN, {}),
    "GET /token": (ALL, None),
    "POST /token": (ALL, {}),
}


class Party:
    """A desk with one request that waits and one that is done, and a client for each role."""

    def __init__(self, desk) -> None:
        self.desk, self.app = desk, create_app(desk)
        self.waiting = ask(desk, epsilon=0.3)
        done = ask(desk, epsilon=0.05)
        job = desk.claim()
        desk.begin_drawing(job.id, job.lease)
        files = {"report.html": b"<p>secret of anna", "summary.txt": b"secret of anna", "result.json": b"{}"}
        files |= {"graph.svg": b"<svg>secret of anna</svg>"}
        at(desk, done.asked).finish(job.id, job.lease, files)
        desk.run(lambda connection: desk._change(connection, done.id, visible=done.asked))
        self.done = desk.request(done.id)

    def send(self, who: str, route: str, body=None, *, api_cookie: bool = False):
        """Send a request as somebody; forms carry the secret of the session."""
        verb, path = route.split(" ", 1)
        made = path.endswith(("{file:path}", "/report", "/picture"))
        path = path.replace("{id}", (self.done if made else self.waiting).id)
        path = path.replace("{file:path}", "result.json").replace("{link}", "x")
        path = path.replace("{name}", "ben" if "person" in path or "people" in path else "cohort")
        with TestClient(self.app, base_url="http://desk", follow_redirects=False) as client:
            if who == "nobody":
                return self._sent(client, verb, path, body, "")
            name = NAMES[who]
            if path.startswith("/api/"):
                client.headers["Authorization"] = f"Bearer {self.desk.issue(name, 'token')}"
                return self._sent(client, verb, path, body, "")
            session = self.desk.issue(name, "session")
            client.cookies.set(pages.COOKIE, session)
            return self._sent(client, verb, path, body, self.desk.who(session, "session").form)

    def _sent(self, client, verb, path, body, secret) -> httpx.Response:
        if path.startswith("/api/"):
            return client.request(verb, path, json=body) if body is not None else client.request(verb, path)
        if verb == "GET":
            return client.get(path)
        return client.post(path, data={**(body or {}), "form": secret})


@pytest.fixture
def party(make_desk):
    return Party(make_desk(epsilon=10.0, approve_up_to=0.1, approvals=1, requests_per_minute=10_000))


def test_the_matrix_has_every_route(party):
    routes = set()
    for router in (api.router, pages.router):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            routes |= {f"{verb} {route.path}" for verb in route.methods}
    assert routes == set(MATRIX)


@pytest.mark.parametrize("route", MATRIX)
def test_who_may(party, route):
    """Those who may get an answer, the others 401, 403 or 404; a page sends those who are not signed in to sign in."""
    may, body = MATRIX[route]
    for who in sorted(WHO, key=lambda who: who in may):  # those who may come last: they change something
        answer = party.send(who, route, body)
        allowed = answer.status_code < 400 and answer.headers.get("location") != "/sign-in"
        if route == "POST /sign-out" and who in may:
            allowed = answer.status_code == 303
        assert allowed == (who in may), (who, answer.status_code, answer.text[:200])
        if not allowed:
            assert answer.status_code in (303, 401, 403, 404)
            assert "secret of anna" not in answer.text
        for name in HEADERS:
            assert name in answer.headers


def test_nothing_of_others_is_visible(party):
    """All that another analyst can read is the same, word for word, whether the owner has asked or not."""
    reads = [route for route, (may, body) in MATRIX.items() if route.startswith("GET") and "other" in may]
    hidden = re.compile(r'name="form" value="[^"]+"')

    def seen():
        texts = {}
        for route in reads:
            texts[route] = hidden.sub("", party.send("other", route).text)
        return texts

    before = seen()
    for _ in range(3):
        ask(party.desk, epsilon=0.1)
    party.desk.decide(person("carol"), party.waiting.id, "approve", "fits")
    assert seen() == before
    assert not any("anna" in text for text in before.values())


def test_a_form_needs_its_secret_and_its_own_site(party):
    session = party.desk.issue("carol", "session")
    secret = party.desk.who(session, "session").form
    path, body = f"/requests/{party.waiting.id}/decide", {"verdict": "approve", "reason": "r"}
    other = party.desk.who(party.desk.issue("carl", "session"), "session").form
    with TestClient(party.app, base_url="http://desk", follow_redirects=False) as client:
        client.cookies.set(pages.COOKIE, session)
        for wrong in ({}, {"form": ""}, {"form": other}):
            assert client.post(path, data={**body, **wrong}).status_code == 403
        foreign = {"Origin": "http://elsewhere"}
        assert client.post(path, data={**body, "form": secret}, headers=foreign).status_code == 403
        upload = {"form": (None, secret), "reason": (None, "r"), "verdict": (None, "approve")}
        assert client.post(path, files=upload).status_code == 415
        assert party.desk.request(party.waiting.id).state == "waiting"
        assert client.post(path, data={**body, "form": secret}).status_code == 303
    assert party.desk.request(party.waiting.id).state == "queued"


def test_a_cookie_does_nothing_at_the_interface_and_a_token_nothing_at_pages(party):
    with TestClient(party.app, follow_redirects=False) as client:
        client.cookies.set(pages.COOKIE, party.desk.issue("carol", "session"))
        assert client.get("/api/me").status_code == 401
    with TestClient(party.app, follow_redirects=False) as client:
        client.headers["Authorization"] = f"Bearer {party.desk.issue('carol', 'token')}"
        assert client.get("/ledger").headers["location"] == "/sign-in"
        client.headers["Authorization"] = f"Bearer {party.desk.issue('carol', 'session')}"
        assert client.get("/api/me").status_code == 401


def test_the_cookie_is_for_this_site_alone(party):
    with TestClient(party.app, base_url="http://desk", follow_redirects=False) as client:
        answer = client.post("/sign-in", data={"token": party.desk.issue("anna", "token")})
    set_cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in set_cookie
    assert "samesite=strict" in set_cookie


def test_sizes_and_rates_are_limited(make_desk):
    desk = make_desk(requests_per_minute=5)
    app = create_app(desk)
    with TestClient(app) as client:
        client.headers["Authorization"] = f"Bearer {desk.issue('anna', 'token')}"
        large = {"command": "ci_test", "arguments": {"x": "a" * LARGEST_BODY}, "purpose": "p"}
        assert client.post("/api/datasets/cohort/requests", json=large).status_code == 413
        chunks = client.post("/api/datasets/cohort/requests", content=iter([b"{", b"}"]))
        assert chunks.status_code == 413
        codes = [client.get("/api/me").status_code for _ in range(6)]
    assert codes == [200] * 5 + [429]


def test_names_and_purposes_are_escaped(party):
    """A purpose that is HTML is text on every page that shows it."""
    evil = "<script>alert(1)</script>"
    party.desk.ask(person("anna"), "cohort", "ci_test", TEST, purpose=evil, project=evil)
    party.desk.add_person(evil, "analyst")
    newest = party.desk.requests_for(person("anna")).rows[0].id
    for who, path in (
        ("custodian", "/"),
        ("custodian", f"/requests/{newest}"),
        ("owner", "/"),
        ("custodian", "/people"),
    ):
        text = party.send(who, f"GET {path}").text
        assert evil not in text
        assert "&lt;script&gt;" in text


def test_no_custodian_gets_a_second_voice(party):
    """Neither as a new custodian nor in the place of another: else one person could approve for two."""
    people = party.desk.people()
    tries = [
        ("POST /api/persons", {"name": "eve", "role": "custodian"}),
        ("POST /api/persons", {"name": "anna", "role": "custodian"}),
        ("POST /api/persons", {"name": "carl", "role": "analyst"}),
        ("POST /people", {"name": "eve", "role": "custodian"}),
        ("POST /people/carl/link", {}),
    ]
    for route, body in tries:
        answer = party.send("custodian", route, body)
        assert answer.status_code == 403, route
        assert "/enter/" not in answer.text
        assert "token" not in answer.text
    assert party.desk.people() == people
    page = party.send("custodian", "GET /people").text
    assert "New link for carol" in page
    assert "New link for carl" not in page


def test_errors_of_the_interface_are_one_line_of_json(party):
    for path in ("/api/nothing", "/api/datasets/other", f"/api/requests/{'0' * 32}", "/api/requests/x"):
        answer = party.send("owner", f"GET {path}")
        assert answer.status_code in (404, 422)
        assert set(json.loads(answer.text)) == {"error", "kind"}


def test_browsers_send_the_origin_of_forms():
    """With no-referrer, the Fetch standard has them send ``Origin: null``, and nobody could sign in."""
    assert HEADERS["Referrer-Policy"] == "same-origin"


def test_an_open_page_is_loaded_again_when_the_state_is_another(party):
    route = "GET /requests/{id}?seen="
    same, other = (party.send("owner", route + seen) for seen in ("waiting", "working"))
    assert (same.status_code, same.headers.get("hx-refresh")) == (204, None)
    assert (other.status_code, other.headers.get("hx-refresh")) == (204, "true")
    assert party.send("other", route + "waiting").status_code == 404


def test_the_chain_is_verified_on_demand(party):
    assert "Intact" not in party.send("auditor", "GET /ledger").text
    assert "Intact" in party.send("auditor", "GET /ledger?check=true").text
