"""The HTTP interface in JSON, for ``dc.remote``, R and scripts: a bearer token and nothing else.

Every route names the roles that may use it. What an analyst gets depends on the analyst's own requests alone; what is
another's is not there (404).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field

from dpcausal.core.spelling import for_desk
from dpcausal.desk import examples
from dpcausal.desk.config import ROLES, DatasetSettings
from dpcausal.desk.examples import answers
from dpcausal.desk.questions import Request as Asked
from dpcausal.desk.store import MOST_PAGES, Desk, NotFound, Person

router = APIRouter(prefix="/api")
bearer = HTTPBearer(auto_error=False, description="A token that the custodian gave you.")
MOST_DUMMY = 10_000
NO_TOKEN = "a token of this desk is needed"
WRONG_TOKEN = "this token is not known here, or a newer one replaced it: make one on the desk's page Token"

Id = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Line = Annotated[str, Field(min_length=1, max_length=1000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Page = Annotated[int, Query(ge=1, le=MOST_PAGES)]


def strict(**example: Any) -> ConfigDict:
    """Return the settings of a body: no other entries, and an example for the documentation."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class QuestionBody(BaseModel):
    """A function of the library and its arguments, without the data."""

    model_config = strict(command="ci_test", arguments={"x": "smoke", "y": "cancer", "epsilon": 0.1})
    command: Literal["discover", "ci_test", "effect", "gwas"]
    arguments: dict[str, Any]


class AskBody(QuestionBody):
    """A question with what it is for."""

    model_config = strict(
        command="discover",
        arguments={"epsilon": 0.5, "delta": 1e-6},
        purpose="which exposures come before the disease",
    )
    purpose: Line
    project: Name | None = None
    key: Annotated[str, Field(pattern="^[A-Za-z0-9_-]{8,64}$")] | None = None


class DecisionBody(BaseModel):
    """A custodian's decision."""

    model_config = strict(verdict="approve", reason="fits the protocol")
    verdict: Literal["approve", "refuse"]
    reason: Line


class PersonBody(BaseModel):
    """A person and a role."""

    model_config = strict(name="cleo", role="analyst")
    name: Name
    role: Literal["custodian", "analyst", "auditor"]


def desk_of(request: Request) -> Desk:
    """Return the desk that the server serves."""
    found: Desk = request.app.state.desk
    return found


def admitted(request: Request, found: Person | None, roles: Sequence[str], refusal: HTTPException) -> Person:
    """Return who sends a request, and count it; raise ``refusal`` for a stranger, and 403 for another role."""
    limits = request.app.state.limits
    if found is None:
        limits.count_stranger(request)
        raise refusal
    limits.count(found.name)
    if found.role not in roles:
        raise HTTPException(403, f"this is for {' or '.join(roles)}")
    return found


def released_file(desk: Desk, asked: str, person: Person, name: str, what: str = "such file") -> bytes:
    """Return a file of the release of the request ``asked``; raise ``NotFound`` where ``person`` can see none."""
    files = desk.files(desk.request(asked, person))
    if name not in files:
        raise NotFound(f"there is no {what}, or not yet")
    return files[name]


def signed(*roles: str) -> Callable[..., Person]:
    """Return a dependency: the person of the token, who must have one of these roles."""

    def person(
        request: Request, sent: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
    ) -> Person:
        found: Person | None = None if sent is None else request.app.state.identity.person(sent.credentials)
        line = NO_TOKEN if sent is None else WRONG_TOKEN
        return admitted(request, found, roles, HTTPException(401, line, {"WWW-Authenticate": "Bearer"}))

    return person


Anyone = Annotated[Person, Depends(signed(*ROLES))]
Analyst = Annotated[Person, Depends(signed("analyst"))]
Custodian = Annotated[Person, Depends(signed("custodian"))]
Overseer = Annotated[Person, Depends(signed("custodian", "auditor"))]
TheDesk = Annotated[Desk, Depends(desk_of)]


def dataset_view(desk: Desk, settings: DatasetSettings, person: Person) -> dict[str, Any]:
    """Return what a person may know of a data set: public numbers, and an analyst's own share."""
    shown = {
        "name": settings.name,
        "about": settings.about,
        **desk.subjects[settings.name].facts(),
        "neighbours": settings.neighbours,
        "commands": list(settings.allowed),
        "methods": list(settings.methods),
        "cap": {"epsilon": settings.cap_epsilon, "delta": settings.cap_delta},
        "approvals": settings.approvals,
        "approved_by_rule_up_to": settings.approve_up_to,
        "until": None if settings.until is None else settings.until.isoformat(),
    }
    if person.role == "analyst":
        return shown | {"left": asdict(desk.left(person.name, settings.name))}
    return shown | {"account": asdict(desk.ledger.show(settings.name)[0])}


def request_view(desk: Desk, found: Asked, person: Person, *, listed: bool = False) -> dict[str, Any]:
    """Return what a person may know of a request that is the person's to see; in a list, without its files."""
    plain = {
        "id": found.id,
        "dataset": found.dataset,
        "person": found.person,
        "project": found.project,
        "purpose": found.purpose,
        "command": found.command,
        "arguments": dict(found.question.arguments),
        "epsilon": found.epsilon,
        "delta": found.delta,
        "forecast": found.forecast,
        "state": found.shown_state(desk.clock()),
        "worker": desk.has_worker(),
        "asked": found.asked,
        "charged": found.charged is not None,
        **({} if listed else {"files": sorted(desk.files(found))}),
    }
    decisions = desk.decisions(found.id)
    if person.role == "analyst":
        return plain | {"reasons": [one["reason"] for one in decisions]}
    return plain | {
        "entry": found.entry,
        "decisions": [
            {name: one[name] for name in ("person", "verdict", "reason", "time")} for one in decisions
        ],
    }


@router.get("/me", responses=answers(examples.ME))
def me(person: Anyone) -> dict[str, str]:
    """Return who you are here."""
    return {"name": person.name, "role": person.role}


@router.get("/datasets", responses=answers([examples.DATASET]))
def datasets(person: Anyone, desk: TheDesk) -> list[dict[str, Any]]:
    """Return the data sets that you may know of."""
    mine = (
        one for one in desk.config.datasets.values() if person.role != "analyst" or one.open_to(person.name)
    )
    return [dataset_view(desk, one, person) for one in mine]


@router.get("/datasets/{name}", responses=answers(examples.DATASET, 404, 422))
def dataset(name: str, person: Anyone, desk: TheDesk) -> dict[str, Any]:
    """Return schema, public numbers, and what is left to you."""
    return dataset_view(desk, desk.settings(name, person), person)


@router.get(
    "/datasets/{name}/dummy",
    response_class=Response,
    responses=answers(examples.ROWS, 404, 422, media="text/csv"),
)
def dummy_rows(
    name: str,
    person: Anyone,
    desk: TheDesk,
    rows: Annotated[int, Query(ge=1, le=MOST_DUMMY)] = 100,
    seed: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> Response:
    """Return dummy rows as CSV, made from the schema alone, to try a script on; free."""
    desk.settings(name, person)
    values = desk.subjects[name].dummy_values(rows, seed)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(values)
    writer.writerows(zip(*values.values(), strict=True))
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8")


@router.post("/datasets/{name}/forecast", responses=answers(examples.FORECAST, 400, 404, 422))
def forecast(name: str, body: QuestionBody, person: Anyone, desk: TheDesk) -> dict[str, Any]:
    """Return what a question would cost and show, from the schema and public numbers; free, no row is read."""
    with for_desk():
        _, cost = desk.rehearse(person, name, body.command, body.arguments)
    return {known: cost[known] for known in ("epsilon", "delta", "neighbours", "forecast")}


@router.post(
    "/datasets/{name}/requests",
    status_code=201,
    responses=answers(examples.REQUEST, 400, 403, 404, 409, 422, status=201),
)
def ask(name: str, body: AskBody, person: Analyst, desk: TheDesk) -> dict[str, Any]:
    """Ask a question. It is charged when it is approved, before any noise is drawn."""
    with for_desk():
        found = desk.ask(
            person,
            name,
            body.command,
            body.arguments,
            purpose=body.purpose,
            project=body.project,
            key=body.key,
        )
    return request_view(desk, found, person)


@router.get("/requests", responses=answers([examples.LISTED], 422))
def requests(person: Anyone, desk: TheDesk, response: Response, page: Page = 1) -> list[dict[str, Any]]:
    """Return a page of your requests, the newest first; of everybody's for custodian and auditor.

    The header ``Link`` names the next page, of older ones, where there is one.
    """
    found = desk.requests_for(person, page)
    if found.has_older:
        response.headers["Link"] = f'</api/requests?page={page + 1}>; rel="next"'
    return [request_view(desk, one, person, listed=True) for one in found.rows]


@router.get("/requests/{id}", responses=answers(examples.REQUEST, 404, 422))
def one_request(id: Id, person: Anyone, desk: TheDesk) -> dict[str, Any]:  # noqa: A002
    """Return one request."""
    return request_view(desk, desk.request(id, person), person)


@router.get(
    "/requests/{id}/files/{file:path}",
    response_class=Response,
    responses=answers(examples.FILE, 404, 422, media="application/octet-stream"),
)
def one_file(id: Id, file: str, person: Anyone, desk: TheDesk) -> Response:  # noqa: A002
    """Return one file of a release."""
    return Response(released_file(desk, id, person, file), media_type="application/octet-stream")


@router.post("/requests/{id}/withdraw", responses=answers(examples.WITHDRAWN, 403, 404, 409, 422))
def withdraw(id: Id, person: Analyst, desk: TheDesk) -> dict[str, Any]:  # noqa: A002
    """Take back a request of yours that waits for approval."""
    return request_view(desk, desk.withdraw(person, id), person)


@router.post("/requests/{id}/decision", responses=answers(examples.DECIDED, 400, 403, 404, 409, 422))
def decide(id: Id, body: DecisionBody, person: Custodian, desk: TheDesk) -> dict[str, Any]:  # noqa: A002
    """Approve or refuse a request, with a reason."""
    return request_view(desk, desk.decide(person, id, body.verdict, body.reason), person)


@router.get("/ledger", responses=answers(examples.LEDGER, 403))
def ledger(person: Overseer, desk: TheDesk) -> dict[str, Any]:
    """Return all accounts and entries, and whether the chain is intact."""
    checked = desk.ledger.verify()
    return {
        "ok": checked.ok,
        "head": checked.head,
        "faults": list(checked.faults),
        "accounts": [asdict(account) for account in desk.ledger.show()],
        "entries": [entry.to_dict() for entry in desk.ledger.log()],
    }


@router.get("/persons", responses=answers([examples.PERSON], 403))
def persons(person: Overseer, desk: TheDesk) -> list[dict[str, Any]]:
    """Return who may use this desk."""
    return [{"name": name, "role": role, "active": active} for name, role, active in desk.people()]


@router.post(
    "/persons",
    status_code=201,
    responses=answers(examples.NEW_PERSON, 400, 403, 409, 422, status=201),
)
def add_person(body: PersonBody, person: Custodian, desk: TheDesk) -> dict[str, str]:
    """Add an analyst or auditor, or give one another role; return a token, which is shown this once."""
    desk.refuse_custodian(person, body.name, body.role)
    desk.add_person(body.name, body.role)
    return {"name": body.name, "role": body.role, "token": desk.issue(body.name, "token")}


@router.delete("/persons/{name}", status_code=204, responses=answers(None, 403, 404, 409, 422, status=204))
def remove_person(name: Name, person: Custodian, desk: TheDesk) -> None:
    """Take away a person's access."""
    if name not in {known for known, _, _ in desk.people()}:
        raise NotFound("there is no such person")
    if name == person.name:
        raise HTTPException(409, "another custodian must take away yours")
    desk.remove_person(name)
