"""The OpenAPI document has a checked-in copy, by which a change is seen that breaks programs of people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from runs.management.commands import document_api
from runs.web.api.documentation import document
from runs.web.mcp.tools import TOOLS
from tests.unit.web.api.breaking_changes import breaking_changes

COPY = Path(__file__).parents[4] / "docs/api/openapi.json"


def test_the_copy_is_renewed_and_no_change_breaks_programs() -> None:
    copy = COPY.read_text("utf-8")
    assert breaking_changes(json.loads(copy), document()) == [], "This needs another version of the API: docs/api."
    assert copy == document_api.text(), "Renew it: manage.py document_api --write docs/api/openapi.json"


def test_the_description_names_no_tools_of_the_mcp_server() -> None:
    operations = {one["operationId"] for path in document()["paths"].values() for one in path.values()}
    descriptions = " ".join(re.findall(r'"description": "(.*?)"', json.dumps(document())))
    assert {name for name in TOOLS if re.search(rf"\b{name}\b", descriptions)} - operations == set()


def test_the_guide_says_what_to_do_about_each_refusal() -> None:
    rows = re.findall(r"^\| ((?:4\d\d|5\d\d)[0-9, ]*) \|", COPY.with_name("README.md").read_text("utf-8"), re.M)
    statuses = {
        status
        for methods in document()["paths"].values()
        for operation in methods.values()
        for status in operation["responses"]
        if status >= "400"
    }
    assert sorted(", ".join(rows).split(", ")) == sorted(statuses)
    assert {"413", "507"} <= statuses


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


def _list_of_runs(changed: Any) -> Any:
    return changed["paths"]["/api/v1/runs"]["get"]


def _schema(changed: Any, name: str) -> Any:
    return changed["components"]["schemas"][name]


def _without_a_parameter(changed: Any) -> None:
    operation = _list_of_runs(changed)
    operation["parameters"] = [one for one in operation["parameters"] if one["name"] != "q"]


def _with_a_new_parameter_that_is_demanded(changed: Any) -> None:
    team = {"name": "team", "in": "query", "required": True, "schema": {"type": "string"}}
    _list_of_runs(changed)["parameters"].append(team)


def _with_a_new_field_that_is_demanded(changed: Any) -> None:
    _schema(changed, "StopReason")["properties"]["by"] = {"type": "string"}
    _schema(changed, "StopReason")["required"] = ["by"]


def _with_a_body_that_is_demanded(changed: Any) -> None:
    changed["paths"]["/api/v1/runs/{run_id}/pause"]["post"]["requestBody"] = {"required": True, "content": {}}


def _with_a_lower_maximum(changed: Any) -> None:
    next(one for one in _list_of_runs(changed)["parameters"] if one["name"] == "limit")["schema"]["maximum"] = 50


def _with_a_higher_minimum(changed: Any) -> None:
    _schema(changed, "Answer")["properties"]["fingerprint"]["minLength"] = 8


def _with_a_new_limit(changed: Any) -> None:
    _schema(changed, "Again")["properties"]["redo"]["items"]["pattern"] = "^[a-z]+$"


def _with_another_pattern(changed: Any) -> None:
    operation = changed["paths"]["/api/v1/runs/{run_id}/files/{path}"]["get"]
    next(one for one in operation["parameters"] if one["name"] == "sha256")["schema"]["pattern"] = "^[0-9a-f]{64}$"


def _taking_no_other_fields(changed: Any) -> None:
    body = changed["paths"]["/api/v1/uploads"]["post"]["requestBody"]["content"]["multipart/form-data"]
    body["schema"]["additionalProperties"] = False


def _without_null_in_a_request(changed: Any) -> None:
    budget = _schema(changed, "Answer")["properties"]["budget_usd"]
    budget["anyOf"] = [one for one in budget["anyOf"] if one.get("type") != "null"]


def _with_null_in_an_answer(changed: Any) -> None:
    question = _schema(changed, "GateLine")["properties"]["question"]
    question["anyOf"] = [{"type": question.pop("type")}, {"type": "null"}]


def _with_other_lines_in_an_answer(changed: Any) -> None:
    _schema(changed, "GateLine")["properties"]["choices"]["items"] = {"type": "integer"}


def _with_another_format_in_an_answer(changed: Any) -> None:
    _schema(changed, "RunLine")["properties"]["submitted_at"]["format"] = "date"


def _with_a_field_that_may_be_missing(changed: Any) -> None:
    _schema(changed, "RunPage")["required"].remove("next")


def _without_a_media_type_of_an_answer(changed: Any) -> None:
    del changed["paths"]["/api/v1/runs/{run_id}/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]


def _with_another_media_type_of_a_body(changed: Any) -> None:
    content = changed["paths"]["/api/v1/runs/{run_id}/stop"]["post"]["requestBody"]["content"]
    content["application/xml"] = content.pop("application/json")


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
            "GET /api/v1/gates no longer has: answer 200, application/json, field gates, each, field question.",
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
        (_without_a_parameter, "GET /api/v1/runs no longer has: parameter q (query)."),
        (_with_a_new_parameter_that_is_demanded, "GET /api/v1/runs now demands: parameter team (query)."),
        (
            _with_a_new_field_that_is_demanded,
            "POST /api/v1/runs/{run_id}/stop now demands: body, application/json, field by.",
        ),
        (_with_a_body_that_is_demanded, "POST /api/v1/runs/{run_id}/pause now demands: body."),
        (_with_a_lower_maximum, "GET /api/v1/runs now takes less: parameter limit (query), maximum 50."),
        (
            _with_a_higher_minimum,
            "POST /api/v1/gates/{gate_id}/decision now takes less: body, application/json, field fingerprint, "
            "minLength 8.",
        ),
        (
            _with_a_new_limit,
            "POST /api/v1/runs/{run_id}/again now takes less: body, application/json, field redo, each, "
            "pattern ^[a-z]+$.",
        ),
        (
            _with_another_pattern,
            "GET /api/v1/runs/{run_id}/files/{path} now takes less: parameter sha256 (query), pattern ^[0-9a-f]{64}$.",
        ),
        (
            _taking_no_other_fields,
            "POST /api/v1/uploads now takes less: body, multipart/form-data, other fields False.",
        ),
        (
            _without_null_in_a_request,
            "POST /api/v1/gates/{gate_id}/decision no longer has: body, application/json, field budget_usd, type null.",
        ),
        (
            _with_null_in_an_answer,
            "GET /api/v1/gates now may have: answer 200, application/json, field gates, each, field question, "
            "type null.",
        ),
        (
            _with_other_lines_in_an_answer,
            "GET /api/v1/gates now may have: answer 200, application/json, field gates, each, field choices, each, "
            "type integer.",
        ),
        (
            _with_another_format_in_an_answer,
            "GET /api/v1/runs no longer has: answer 200, application/json, field runs, each, field submitted_at, "
            "format date-time.",
        ),
        (
            _with_a_field_that_may_be_missing,
            "GET /api/v1/runs no longer has: answer 200, application/json, field next, always.",
        ),
        (
            _without_a_media_type_of_an_answer,
            "GET /api/v1/runs/{run_id}/events no longer has: answer 200, text/event-stream.",
        ),
        (_with_another_media_type_of_a_body, "POST /api/v1/runs/{run_id}/stop no longer has: body, application/json."),
    ],
)
def test_a_change_that_breaks_programs_is_named(change: Callable[[Any], None], said: str) -> None:
    changed = deepcopy(document())
    change(changed)
    assert said in breaking_changes(document(), changed)


def test_additions_break_nothing() -> None:
    fewer = deepcopy(document())
    for change in (
        *(_without_operation, _without_field, _without_value, _without_status, _without_a_parameter),
        *(_with_a_lower_maximum, _with_a_higher_minimum, _with_a_new_limit, _taking_no_other_fields),
        *(_demanding_a_field, _with_a_field_that_may_be_missing, _without_a_media_type_of_an_answer),
    ):
        change(fewer)
    assert breaking_changes(fewer, document()) == []
