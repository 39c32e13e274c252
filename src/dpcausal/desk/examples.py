"""What the HTTP interface answers, by example, for its OpenAPI description: one desk with the data set ``cohort``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

ID = "3f0c9a51b7e84d2aa6c1e05d9b7f4e12"
ARGUMENTS = {"x": "smoke", "y": "cancer", "epsilon": 0.1}
QUESTION = {"command": "ci_test", "arguments": ARGUMENTS}
ASKED = {**QUESTION, "purpose": "does smoking go with cancer?", "project": "lungs"}
TIME = "2026-11-19T14:11:09.699+00:00"
ACCOUNT = {
    "dataset": "cohort",
    "neighbours": "replace-one",
    "epsilon": 4.0,
    "delta": 1e-6,
    "spent_epsilon": 0.1,
    "spent_delta": 0.0,
    "left_epsilon": 3.9,
    "left_delta": 1e-6,
    "releases": 1,
    "created": TIME,
    "cap_epsilon": 1.0,
    "cap_delta": None,
}
ME = {"name": "anna", "role": "analyst"}
DATASET = {
    "name": "cohort",
    "about": "Everybody treated in 2020 to 2024",
    "schema": '[columns.smoke]\ntype = "categorical"\nlevels = ["no", "yes"]\n',
    "rows": 51920,
    "unit": "row",
    "neighbours": "replace-one",
    "commands": ["discover", "ci_test", "effect"],
    "methods": [],
    "cap": {"epsilon": 1.0, "delta": None},
    "approvals": 1,
    "approved_by_rule_up_to": 0.1,
    "until": "2027-12-31",
    "left": {"epsilon": 2.0, "delta": 5e-7},
}
FORECAST = {
    "epsilon": 0.1,
    "delta": 0.0,
    "neighbours": "replace-one",
    "forecast": "Forecast for smoke and cancer: ...",
}
LISTED = {
    "id": ID,
    "dataset": "cohort",
    "person": "anna",
    **ASKED,
    "arguments": {**ARGUMENTS, "neighbours": "replace-one"},
    "epsilon": 0.1,
    "delta": 0.0,
    "forecast": FORECAST["forecast"],
    "state": "waiting",
    "worker": True,
    "asked": 1795097470.658797,
    "charged": False,
    "reasons": [],
}
REQUEST = {**LISTED, "files": []}
WITHDRAWN = {**REQUEST, "state": "withdrawn"}
DECIDED = {
    **{name: value for name, value in REQUEST.items() if name != "reasons"},
    "state": "working",
    "charged": True,
    "entry": 2,
    "decisions": [
        {"person": "carol", "verdict": "approve", "reason": "fits the protocol", "time": 1795097530.1}
    ],
}
LEDGER = {
    "ok": True,
    "head": "48bc2a43051967d737843977979c4d56b705cbb8a120ed8d59ce4a3b0216f1a4",
    "faults": [],
    "accounts": [ACCOUNT],
    "entries": [
        {
            "seq": 1,
            "kind": "create",
            "dataset": "cohort",
            "release": "create:cohort",
            "time": TIME,
            "epsilon": "4.0",
            "delta": "0.000001",
            "spent_epsilon": "0",
            "spent_delta": "0",
            "note": {
                "cap": {"epsilon": "1.0"},
                "neighbours": "replace-one",
                "rule": "sum of epsilon and of delta",
            },
            "previous": "fef2d576ee26a6b6693f77c8c0a0f1838e2391fed69ea1b71008cc1cf5d00476",
            "hash": "48bc2a43051967d737843977979c4d56b705cbb8a120ed8d59ce4a3b0216f1a4",
        }
    ],
}
PERSON = {"name": "anna", "role": "analyst", "active": True}
NEW_PERSON = {"name": "cleo", "role": "analyst", "token": "b3yJ..., shown this once"}
ROWS = "smoke,cancer\r\nno,yes\r\n"
FILE = '{"x": "smoke", "y": "cancer", "independent": false}'

FAULTS: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        400: ("There was an error parsing the body", "refused"),
        401: (
            "this token is not known here, or a newer one replaced it: make one on the desk's page Token",
            "refused",
        ),
        403: ("this is for custodian", "refused"),
        404: ("there is no such request", "NotFound"),
        409: ("this request is not waiting for a decision any more", "Conflict"),
        413: ("this is too large, or of no stated size", "refused"),
        422: ("command: Input should be 'discover', 'ci_test', 'effect' or 'gwas'", "InputError"),
        429: ("too many requests: wait a minute", "refused"),
        503: ("the ledger can't be read: ...", "LedgerError"),
    }
)
ALWAYS = 401, 413, 429, 503


class Fault(BaseModel):
    """One line that says what is wrong, and its kind: ``budget`` where no budget allows it."""

    error: str
    kind: str


def answers(
    example: Any, *faults: int, status: int = 200, media: str = "application/json"
) -> dict[int | str, Any]:
    """Return what OpenAPI says of the answers of a route: one by example, and errors by their codes."""
    good = {} if example is None else {"content": {media: {"example": example}}}
    told: dict[int | str, Any] = {status: good}
    for code in sorted({*ALWAYS, *faults}):
        line, kind = FAULTS[code]
        one = {"application/json": {"example": {"error": line, "kind": kind}}}
        told[code] = {"model": Fault, "description": line, "content": one}
    return told
