"""The interface under fuzzing from its own OpenAPI description: no answer is a fault of the server, or undescribed."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from dpcausal.desk.server import create_app

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
ROLES = {"custodian": "carol", "analyst": "anna", "auditor": "dora"}


def fuzz(desk, role: str, examples: int) -> int:
    """Send made-up requests to every route in a role; return how many were sent."""
    app = create_app(desk)
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    headers = {"Authorization": f"Bearer {desk.issue(ROLES[role], 'token')}"}
    sent = []
    for operation in schema.get_all_operations():

        @settings(
            max_examples=examples, deadline=None, database=None, derandomize=True,
            phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.ok().as_strategy())
        def run(case) -> None:
            answer = case.call(headers=headers, timeout=300)  # not of a machine that is busy
            case.validate_response(answer, checks=CHECKS)
            sent.append(answer.status_code)

        run()
    assert not any(code >= 500 for code in sent)
    return len(sent)


@pytest.mark.parametrize("examples", [3, pytest.param(60, marks=pytest.mark.slow)])
def test_no_answer_is_a_fault_of_the_server(make_desk, examples):
    desk = make_desk(requests_per_minute=10_000_000, epsilon=1000.0, approvals=1)
    for role in ROLES:
        assert fuzz(desk, role, examples) >= 15 * examples / 2
