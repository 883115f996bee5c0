"""The OpenAPI document has a checked-in copy, by which a change is seen that breaks programs of people."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from runs.management.commands import document_api
from runs.web.api.documentation import document
from tests.unit.web.api.breaking_changes import breaking_changes

COPY = Path(__file__).parents[4] / "docs/api/openapi.json"


def test_the_copy_is_renewed_and_no_change_breaks_programs() -> None:
    copy = COPY.read_text("utf-8")
    assert breaking_changes(json.loads(copy), document()) == [], "This needs another version of the API: docs/api."
    assert copy == document_api.text(), "Renew it: manage.py document_api --write docs/api/openapi.json"


def _without_operation(changed: Any) -> None:
    del changed["paths"]["/api/v1/runs/{run_id}"]["delete"]


def _without_field(changed: Any) -> None:
    del changed["components"]["schemas"]["GateLine"]["properties"]["question"]


def _without_value(changed: Any) -> None:
    changed["components"]["schemas"]["Verb"]["enum"].remove("approve")


def _without_status(changed: Any) -> None:
    del changed["paths"]["/api/v1/runs"]["get"]["responses"]["429"]


def _of_another_type(changed: Any) -> None:
    changed["components"]["schemas"]["RunPage"]["properties"]["next"] = {"type": "integer"}


def _demanding_a_parameter(changed: Any) -> None:
    parameters = changed["paths"]["/api/v1/runs"]["get"]["parameters"]
    next(one for one in parameters if one["name"] == "q")["required"] = True


def _demanding_a_field(changed: Any) -> None:
    changed["components"]["schemas"]["StopReason"]["required"] = ["reason"]


def _demanding_another_scope(changed: Any) -> None:
    changed["paths"]["/api/v1/gates"]["get"]["security"] = [{"AccessTokenAuth": ["admin"]}]


def _without_a_webhook(changed: Any) -> None:
    del changed["webhooks"]["notice.run_ended"]


def _without_field_of_webhooks(changed: Any) -> None:
    del changed["components"]["schemas"]["WebhookData"]["properties"]["decision"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_without_a_webhook, "webhook notice.run_ended no longer has: anything."),
        (
            _without_field_of_webhooks,
            "webhook notice.decision_needed no longer has: application/json, field data, field decision.",
        ),
        (_without_operation, "DELETE /api/v1/runs/{run_id} no longer has: anything."),
        (
            _without_field,
            "GET /api/v1/gates no longer has: answer 200, application/json, field gates, field question.",
        ),
        (
            _without_value,
            "POST /api/v1/gates/{gate_id}/decision no longer has: body, application/json, field verb, value 'approve'.",
        ),
        (_without_status, "GET /api/v1/runs no longer has: answer 429."),
        (
            _of_another_type,
            "GET /api/v1/runs no longer has: answer 200, application/json, field next, type string.",
        ),
        (_demanding_a_parameter, "GET /api/v1/runs now demands: parameter q (query)."),
        (
            _demanding_a_field,
            "POST /api/v1/runs/{run_id}/stop now demands: body, application/json, field reason.",
        ),
        (_demanding_another_scope, "GET /api/v1/gates now demands: scope admin."),
    ],
)
def test_a_change_that_breaks_programs_is_named(change: Callable[[Any], None], said: str) -> None:
    changed = deepcopy(document())
    change(changed)
    assert said in breaking_changes(document(), changed)


def test_additions_break_nothing() -> None:
    fewer = deepcopy(document())
    for change in (_without_operation, _without_field, _without_value, _without_status):
        change(fewer)
    assert breaking_changes(fewer, document()) == []
