"""Operations and webhooks of the OpenAPI document have examples of what is sent and answered, which schemas allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from runs.pev.contracts import PlanContract
from runs.web.api.documentation import document

OPERATIONS = {
    operation["operationId"]: operation
    for place in ("paths", "webhooks")
    for methods in document()[place].values()
    for operation in methods.values()
}


def parts_of(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What has a schema and needs an example: parameters, the body, and the answer if all goes well."""
    for parameter in operation.get("parameters", []):
        yield f"parameter {parameter['name']}", parameter
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"body as {media_type}", content
    answer = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    contents = list(answer.get("content", {}).values())
    if contents:
        yield "answer", next((one for one in contents if "example" in one), contents[0])


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_has_examples_that_its_schemas_allow(name: str) -> None:
    for part, described in parts_of(OPERATIONS[name]):
        assert "example" in described, f"{part}: add it to the story of tests/api_examples.py"
        schema = {**described["schema"], "components": document()["components"]}
        validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
        assert [error.message for error in validator.iter_errors(described["example"])] == [], part


def test_the_plans_in_the_examples_can_be_imported() -> None:
    body = OPERATIONS["edit_plan"]["requestBody"]["content"]["application/json"]["example"]
    answers = [OPERATIONS[name]["responses"]["200"] for name in ("read_plan_document", "read_template")]
    for plan in (body["plan"], *(one["content"]["application/json"]["example"] for one in answers)):
        assert PlanContract.model_validate(plan).steps
