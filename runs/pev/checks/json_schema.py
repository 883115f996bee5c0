"""Checks that a JSON file fits a JSON Schema."""

from collections.abc import Mapping
from typing import Annotated, Literal

from runs.contracts.base import Text
from runs.errors import InvalidInput
from runs.pev.checks.base import FileCheck, Label, text_in
from runs.pev.checks.json_valid import json_in
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.json_schemas import problem_with_value, read_schema
from runs.text.patterns import Budget


class JsonSchema(FileCheck):
    """`schema_text` is a JSON Schema, as text."""

    order = 70
    title = "a JSON file fits a JSON Schema"
    is_quick = True

    kind: Literal["json_schema"]
    schema_text: Annotated[Text, Label("JSON Schema", is_long=True)]

    def words(self, commands: Mapping[str, str]) -> str:
        return f"{self.path} is JSON of the agreed shape"

    def problem(self) -> str | None:
        try:
            read_schema(self.schema_text)
        except InvalidInput as error:
            return f"The schema cannot be used: {error}."
        return None

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        value = json_in(text_in(data))
        try:
            problem = problem_with_value(value, read_schema(self.schema_text), budget)
        except InvalidInput as error:
            raise InvalidInput(f"was not compared with the schema: {error}") from error
        return CheckResult(problem is None, f"breaks the schema: {problem}" if problem else "follows the schema")
