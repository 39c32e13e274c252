"""The description of the interface: every route has an example of its answer and of its errors, and they are true."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from dpcausal.desk import examples
from dpcausal.desk.server import LARGEST_BODY, create_app

from .conftest import TEST, ask, person
from .test_limits import caller_of

JSON = "application/json"
QUESTION = {"command": "ci_test", "arguments": TEST}


@pytest.fixture
def desk(make_desk):
    return make_desk(approvals=1, epsilon=4.0, cap_epsilon=1.0)


def operations(desk) -> dict[str, Any]:
    """Every operation of the description, by its method and path."""
    paths = create_app(desk).openapi()["paths"]
    return {f"{verb} {path}": one for path, verbs in paths.items() for verb, one in verbs.items()}


def shape(value: Any) -> Any:
    """The keys of a value and the kinds of what they hold; numbers are one kind, and an empty list is like any."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def test_every_route_has_examples_of_its_answer_and_of_its_errors(desk):
    described = operations(desk)
    assert len(described) == 15
    for route, one in described.items():
        good, *errors = sorted(one["responses"])
        content = one["responses"][good].get("content", {})
        assert all("example" in told for told in content.values())
        assert bool(content) == (good != "204"), route
        assert {"401", "413", "429", "503"} <= set(errors)
        for code in errors:
            told = one["responses"][code]["content"][JSON]
            assert told["schema"] == {"$ref": "#/components/schemas/Fault"}
            assert set(told["example"]) == {"error", "kind"}
        if "{" in route:
            assert "404" in errors


def test_answers_are_as_their_examples(desk):
    anna, carol = caller_of(desk, "anna"), caller_of(desk, "carol")
    sent = {**QUESTION, "purpose": "p", "project": "lungs"}
    asked = anna.post("/api/datasets/cohort/requests", json=sent).json()
    other = anna.post("/api/datasets/cohort/requests", json=sent).json()["id"]
    at = "/api/requests/"
    decision = {"verdict": "approve", "reason": "fits"}
    dataset = anna.get("/api/datasets/cohort").json() | {
        "until": "2027-12-31"
    }  # the one of the example has a last day
    for example, answer in (
        (examples.ME, anna.get("/api/me").json()),
        (examples.DATASET, dataset),
        (examples.FORECAST, anna.post("/api/datasets/cohort/forecast", json=QUESTION).json()),
        (examples.LISTED, anna.get("/api/requests").json()[0]),
        (examples.WITHDRAWN, anna.post(f"{at}{other}/withdraw").json()),
        (examples.DECIDED, carol.post(f"{at}{asked['id']}/decision", json=decision).json()),
        (examples.LEDGER, carol.get("/api/ledger").json()),
        (examples.PERSON, carol.get("/api/persons").json()[0]),
        (examples.NEW_PERSON, carol.post("/api/persons", json={"name": "cleo", "role": "analyst"}).json()),
        (examples.REQUEST, asked),
    ):
        for told in (example, answer):
            if "arguments" in told:
                told["arguments"] = {}  # those of the question
        assert shape(answer) == shape(example)
    rows = anna.get("/api/datasets/cohort/dummy?rows=1").text
    assert rows.count("\r\n") == examples.ROWS.count("\r\n") == len(list(csv.reader(io.StringIO(rows)))) == 2


def test_errors_are_as_their_examples(desk, make_desk):
    anna, carol = caller_of(desk, "anna"), caller_of(desk, "carol")
    stranger = caller_of(desk, "dora")
    stranger.headers["Authorization"] = "Bearer wrong"
    withdrawn = ask(desk).id
    desk.withdraw(person("anna"), withdrawn)
    decision = {"verdict": "approve", "reason": "r"}
    fast = caller_of(make_desk(epsilon=4.0, cap_epsilon=1.0, requests_per_minute=1), "ben")
    fast.get("/api/me")
    for code, answer in {
        401: stranger.get("/api/me"),
        403: anna.post("/api/persons", json={"name": "eve", "role": "analyst"}),
        404: anna.get(f"/api/requests/{'0' * 32}"),
        409: carol.post(f"/api/requests/{withdrawn}/decision", json=decision),
        413: anna.post("/api/datasets/cohort/forecast", content=b"x" * (LARGEST_BODY + 1)),
        422: anna.post("/api/datasets/cohort/forecast", json={**QUESTION, "command": "steal"}),
        429: fast.get("/api/me"),
    }.items():
        line, kind = examples.FAULTS[code]
        assert (answer.status_code, answer.json()) == (code, {"error": line, "kind": kind})
