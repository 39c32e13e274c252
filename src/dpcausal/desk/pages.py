"""The pages: an analyst asks and reads, a custodian decides, an auditor looks. Plain forms, which need no script.

A session is a cookie that no script can read and no other site can send; every form carries a secret of the session,
too. A report is shown in a sandbox of its own. Texts of people are escaped by the templates.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dpcausal.core.errors import DpcausalError
from dpcausal.core.spelling import for_form
from dpcausal.desk.api import Id, Name, Page, admitted, desk_of, dummy_rows, released_file
from dpcausal.desk.config import ROLES
from dpcausal.desk.forms import FORMS, QuestionForm
from dpcausal.desk.questions import DONE, FAILED, REFUSED, WAITING, WITHDRAWN, WORKING
from dpcausal.desk.store import SESSION_SECONDS, Desk, NotFound, Person, RequestPage
from dpcausal.present.ledger import asker_words, entry_words
from dpcausal.privacy.ledger import Entry

router = APIRouter(include_in_schema=False)
COOKIE = "desk"
INVITED = tuple(role for role in ROLES if role != "custodian")  # whom the page of people may add
MOST_ENTRIES = 100  # on a page
UNKNOWN = "this link or token is not known, or was used before: ask the custodian for a new one"
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; font-src data:; frame-ancestors 'none'"
)
STATES = {
    WAITING: "Waits for approval. Nothing was charged.",
    WORKING: "Approved and charged. The result appears at the first tick after the job has ended.",
    DONE: "Done. The result is below.",
    FAILED: "The job failed. It stays charged: noise may have been drawn, and no noise is drawn twice for one charge.",
    REFUSED: "Refused. Nothing was charged.",
    WITHDRAWN: "Withdrawn. Nothing was charged.",
}

templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined
)


def shown_time(seconds: float | None) -> str:
    """Return a time for people, in UTC."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def shown_number(value: float | None) -> str:
    """Return an amount for people."""
    return "as much as the total" if value is None else f"{value:.6g}"


def counted(number: int, one: str, more: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "entry", "entries"), counted(0, "entry", "entries")
    ('1 entry', '0 entries')
    """
    return f"{number} {one if number == 1 else more}"


def blocks(text: str) -> list[tuple[bool, str]]:
    """Return a text in parts: tables, which may not wrap, and what is read from line to line.

    >>> blocks("Found:\\n  a -> b   98%\\n  b -> c   70%\\nThat is all.")
    [(False, 'Found:'), (True, '  a -> b   98%\\n  b -> c   70%'), (False, 'That is all.')]
    """
    lines = text.strip("\n").split("\n")
    return [
        (is_table, "\n".join(part))
        for is_table, part in groupby(lines, lambda line: "  " in line or "\u2500" in line)
    ]


templates.filters |= {"time": shown_time, "number": shown_number, "blocks": blocks}
templates.globals |= {
    "counted": counted,
    "STATES": STATES,
    "WAITING": WAITING,
    "WORKING": WORKING,
    "DONE": DONE,
}


def compile_templates() -> None:
    """Compile all templates, which are kept."""
    for name in templates.list_templates():
        templates.get_template(name)


def page(name: str, person: Person | None, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page made from a template."""
    text = templates.get_template(f"{name}.html").render(me=person, **values)
    return HTMLResponse(text, status)


def fault(request: Request, status: int, line: str, kind: str) -> Response:
    """Return an error: as JSON to a client of the interface, as a page to a person."""
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": line, "kind": kind}, status)
    if status == 401:
        return RedirectResponse("/sign-in", 303)
    return page("fault", None, status, line=line)


async def sent_secret(request: Request) -> str:
    """Return the secret that a form carries; empty for other requests."""
    if request.method != "POST":
        return ""
    refuse_foreign(request)
    sent = (await request.form()).get("form", "")
    return sent if isinstance(sent, str) else ""


def signed_in(*roles: str) -> Callable[..., Person]:
    """Return a dependency: the person of the session, who must have one of these roles; for forms with its secret."""

    def person(request: Request, secret: Annotated[str, Depends(sent_secret)]) -> Person:
        desk, cookie = desk_of(request), request.cookies.get(COOKIE, "")
        found = desk.who(cookie, "session") if cookie else None
        found = admitted(request, found, roles, HTTPException(401, "sign in first"))
        if request.method == "POST" and not hmac.compare_digest(secret.encode(), found.form.encode()):
            raise HTTPException(403, "this form is out of date: open the page again")
        return found

    return person


def refuse_foreign(request: Request) -> None:
    """Raise 403 for a form that another site sent, and 415 for one that is no plain form."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(403, "this form comes from another site")
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise HTTPException(415, "plain forms only")


Anyone = Annotated[Person, Depends(signed_in(*ROLES))]
Analyst = Annotated[Person, Depends(signed_in("analyst"))]
Custodian = Annotated[Person, Depends(signed_in("custodian"))]
Overseer = Annotated[Person, Depends(signed_in("custodian", "auditor"))]
TheDesk = Annotated[Desk, Depends(desk_of)]
Text = Annotated[str, Form()]


# ---- signing in


def start_session(desk: Desk, person: Person) -> Response:
    """Return a redirection home with the cookie of a new session."""
    answer = RedirectResponse("/", 303)
    session = desk.issue(person.name, "session")
    answer.set_cookie(
        COOKIE, session, max_age=int(SESSION_SECONDS), httponly=True, samesite="strict",
        secure=desk.config.is_secure,
    )  # fmt: skip
    return answer


@router.get("/sign-in")
def sign_in_page() -> Response:
    """Show the form for a token."""
    return page("sign_in", None, link="")


@router.get("/enter/{link}")
def enter_page(link: str) -> Response:
    """Show a button: the link is used up by pressing it, not by whatever looks at addresses in mails."""
    return page("sign_in", None, link=link)


@router.post("/sign-in")
def sign_in(request: Request, desk: TheDesk, token: Text = "", link: Text = "") -> Response:
    """Start a session by a token or a one-time link."""
    refuse_foreign(request)
    request.app.state.limits.count_stranger(request)
    found = desk.use_link(link) if link else request.app.state.identity.person(token.strip())
    if found is None:
        return page("fault", None, 403, line=UNKNOWN)
    return start_session(desk, found)


@router.post("/sign-out")
def sign_out(request: Request, person: Anyone, desk: TheDesk) -> Response:
    """End the session."""
    desk.sign_out(request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(COOKIE)
    return answer


# ---- looking


def shown_page(desk: Desk, found: RequestPage) -> dict[str, Any]:
    """Return a page of requests as the lists show it."""
    rows = [{"one": one, "state": one.shown_state(desk.clock())} for one in found.rows]
    return {"rows": rows, "number": found.number, "has_older": found.has_older}


@router.get("/")
def home(person: Anyone, desk: TheDesk, asked: Page = 1, waiting: Page = 1) -> Response:
    """Show an analyst's data sets and requests, or all that wait for the custodian."""
    if person.role == "analyst":
        mine = [one for one in desk.config.datasets.values() if one.open_to(person.name)]
        sets = [(one, desk.left(person.name, one.name)) for one in mine]
        return page("analyst", person, sets=sets, asked=shown_page(desk, desk.requests_for(person, asked)))
    return page(
        "overview",
        person,
        accounts=desk.ledger.show(),
        asked=shown_page(desk, desk.requests_for(person, asked, waiting=False)),
        waiting=shown_page(desk, desk.requests_for(person, waiting, waiting=True)),
    )


@router.get("/data/{name}")
def data_page(name: str, person: Anyone, desk: TheDesk) -> Response:
    """Show a data set: columns, public numbers, what is left, and the forms to ask."""
    return show_data(desk, name, person)


def show_data(desk: Desk, name: str, person: Person, status: int = 200, **more: Any) -> Response:
    """Return the page of a data set, with a forecast or an error where a form was sent."""
    settings, subject = desk.settings(name, person), desk.subjects[name]
    left = desk.left(person.name, name) if person.role == "analyst" else None
    values = {"asked": None, "open": settings.allowed[0], "cost": None, "fault": "", **more}
    return page(
        "data",
        person,
        status,
        settings=settings,
        forms=FORMS,
        columns=subject.columns(),
        labels=subject.labels,
        left=left,
        unit=subject.unit,
        **values,
    )


async def sent_form(request: Request) -> dict[str, list[str]]:
    """Return what a form sends, by field."""
    sent = await request.form()
    return {name: [one for one in sent.getlist(name) if isinstance(one, str)] for name in sent}


@router.post("/data/{name}/ask")
def ask(
    name: str, person: Analyst, desk: TheDesk, sent: Annotated[dict[str, list[str]], Depends(sent_form)]
) -> Response:
    """Forecast a question, or ask it."""
    command, action, purpose, project, key = (
        next(iter(sent.get(one, ())), "") for one in ("command", "action", "purpose", "project", "key")
    )
    form = FORMS.get(command, QuestionForm("", ()))
    try:
        with for_form(form.in_words()):
            arguments = form.arguments(sent)
            if action == "ask":
                found = desk.ask(
                    person,
                    name,
                    command,
                    arguments,
                    purpose=purpose,
                    project=project or None,
                    key=key or None,
                )
                return RedirectResponse(f"/requests/{found.id}", 303)
            _, cost = desk.rehearse(person, name, command, arguments)
    except NotFound:
        raise
    except DpcausalError as error:
        return show_data(desk, name, person, 422, asked=sent, open=command, fault=str(error))
    return show_data(desk, name, person, asked=sent, open=command, cost=cost)


@router.get("/requests/{id}")
def request_page(id: Id, person: Anyone, desk: TheDesk, seen: str = "") -> Response:  # noqa: A002
    """Show a request: what was asked, what it costs, what was decided, and the result.

    An open page asks every few seconds with the state that it has ``seen``, and is loaded again when there is another.
    """
    if not seen:
        return show_request(desk, id, person)
    other = desk.request(id, person).shown_state(desk.clock()) != seen
    return Response(status_code=204, headers={"HX-Refresh": "true"} if other else {})


def show_request(desk: Desk, id: str, person: Person, status: int = 200, fault: str = "") -> Response:  # noqa: A002
    """Return the page of a request."""
    found = desk.request(id, person)
    files, state = desk.files(found), found.shown_state(desk.clock())
    account = left = None
    if person.role != "analyst":
        account, left = desk.ledger.show(found.dataset)[0], desk.left(found.person, found.dataset)
    return page(
        "request",
        person,
        status,
        one=found,
        state=state,
        words=str(found.question),
        files=sorted(files),
        summary=files.get("summary.txt", b"").decode(),
        decisions=desk.decisions(id),
        account=account,
        left=left,
        own=desk.own_number(found) if found.entry else None,
        no_worker=state == WORKING and not desk.has_worker(),
        tick=desk.config.tick,
        fault=fault,
    )


@router.get("/requests/{id}/report")
def report(id: Id, person: Anyone, desk: TheDesk) -> Response:  # noqa: A002
    """Show the report of a release, in a sandbox."""
    shown = released_file(desk, id, person, "report.html", "report")
    return HTMLResponse(shown, headers={"Content-Security-Policy": REPORT_POLICY})


@router.get("/requests/{id}/picture")
def picture(id: Id, person: Anyone, desk: TheDesk) -> Response:  # noqa: A002
    """Show the picture of a graph, as an image of its page."""
    shown = released_file(desk, id, person, "graph.svg", "picture")
    return Response(shown, media_type="image/svg+xml", headers={"Content-Security-Policy": REPORT_POLICY})


@router.get("/requests/{id}/files/{file:path}")
def one_file(id: Id, file: str, person: Anyone, desk: TheDesk) -> Response:  # noqa: A002
    """Send one file of a release to be saved."""
    last = file.rpartition("/")[2]
    return Response(
        released_file(desk, id, person, file), media_type="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{last}"'},
    )  # fmt: skip


@router.get("/data/{name}/dummy.csv")
def dummy_file(name: str, person: Anyone, desk: TheDesk) -> Response:
    """Send dummy rows to be saved."""
    answer = dummy_rows(name, person, desk, 1000, 0)
    answer.headers["Content-Disposition"] = 'attachment; filename="dummy.csv"'
    return answer


# ---- deciding


@router.post("/requests/{id}/decide")
def decide(id: Id, person: Custodian, desk: TheDesk, verdict: Text = "", reason: Text = "") -> Response:  # noqa: A002
    """Approve or refuse."""
    try:
        desk.decide(person, id, verdict, reason)
    except NotFound:
        raise
    except DpcausalError as error:
        return show_request(desk, id, person, 409, str(error))
    return RedirectResponse(f"/requests/{id}", 303)


@router.post("/requests/{id}/withdraw")
def withdraw(id: Id, person: Analyst, desk: TheDesk) -> Response:  # noqa: A002
    """Take back a request."""
    desk.withdraw(person, id)
    return RedirectResponse(f"/requests/{id}", 303)


# ---- the chain and the people


def spending(log: list[Entry], dataset: str) -> list[tuple[float, float]]:
    """Return the picture of a budget over time: points from 0 to 1 (time, share of epsilon that was spent)."""
    mine = [entry for entry in log if entry.dataset == dataset]
    times = [datetime.fromisoformat(entry.time).timestamp() for entry in mine]
    total, begin, end = float(mine[0].epsilon), times[0], max(time.time(), times[-1] + 1)
    points, spent = [(0.0, 0.0)], 0.0
    for entry, moment in zip(mine[1:], times[1:], strict=True):
        at = (moment - begin) / (end - begin)
        points += [(at, spent)]
        spent = min(1.0, float(entry.spent_epsilon) / total)
        points += [(at, spent)]
    return [*points, (1.0, spent)]


@router.get("/ledger")
def ledger_page(person: Overseer, desk: TheDesk, check: bool = False) -> Response:
    """Show the newest entries and the budgets over time; with ``check`` verify the whole chain."""
    log = desk.ledger.log()
    checked = desk.ledger.verify() if check else None
    lines = [(entry, entry_words(entry), asker_words(entry.asker)) for entry in log[-MOST_ENTRIES:]]
    pictures = [
        (one, " ".join(f"{600 * x:.1f},{100 - 100 * y:.1f}" for x, y in spending(log, one.dataset)))
        for one in desk.ledger.show()
    ]
    return page(
        "ledger",
        person,
        checked=checked,
        head=log[-1].hash,
        lines=lines[::-1],
        pictures=pictures,
        count=len(log),
    )


@router.get("/ledger/verify", response_class=PlainTextResponse)
def verify(person: Overseer, desk: TheDesk) -> Response:
    """Send the head of the chain as a line to note elsewhere."""
    checked = desk.ledger.verify()
    word = "intact" if checked.ok else f"ALTERED: {'; '.join(checked.faults)}"
    return PlainTextResponse(f"{counted(checked.entries, 'entry', 'entries')}, {word}, head {checked.head}\n")


@router.get("/people")
def people_page(person: Overseer, desk: TheDesk) -> Response:
    """Show who may use the desk."""
    return show_people(desk, person)


def show_people(desk: Desk, person: Person, status: int = 200, **more: str) -> Response:
    """Return the page of people, with a link for one of them (``of``) or an error where there is one."""
    return page(
        "people",
        person,
        status,
        people=desk.people(),
        roles=INVITED,
        **{"link": "", "of": "", "fault": "", **more},
    )


@router.post("/people")
def add_person(person: Custodian, desk: TheDesk, name: Text = "", role: Text = "") -> Response:
    """Add a person, or give back access that was taken away; the link is shown this once."""
    known, name = {one: active for one, _, active in desk.people()}, name.strip()
    if known.get(name):
        line = f"{name} is there already: the table has a button for a new link"
        return show_people(desk, person, 409, fault=line)
    desk.refuse_custodian(person, name, role)
    desk.add_person(name, role)
    return shown_link(desk, person, name)


@router.post("/people/{name}/link")
def new_link(name: Name, person: Custodian, desk: TheDesk) -> Response:
    """Make a new link for a person, whose role stays as it is; it is shown this once."""
    desk.refuse_custodian(person, name)
    return shown_link(desk, person, name)


def shown_link(desk: Desk, person: Person, of: str) -> Response:
    """Return the page of people with a new link for one of them."""
    return show_people(desk, person, of=of, link=f"{desk.config.address}/enter/{desk.issue(of, 'link')}")


@router.post("/people/{name}/remove")
def remove_person(name: Name, person: Custodian, desk: TheDesk) -> Response:
    """Take away a person's access."""
    if name == person.name:
        raise HTTPException(409, "another custodian must take away yours")
    desk.remove_person(name)
    return RedirectResponse("/people", 303)


@router.get("/token")
def token_page(person: Anyone) -> Response:
    """Show the button that makes a token for scripts."""
    return page("token", person, token="")


@router.post("/token")
def new_token(person: Anyone, desk: TheDesk) -> Response:
    """Make a token for scripts, shown this once; it replaces the one before."""
    return page("token", person, token=desk.issue(person.name, "token"))
