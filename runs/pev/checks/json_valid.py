"""Checks that a file is valid JSON."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from runs.errors import InvalidInput
from runs.pev.checks.base import FileCheck, text_in
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.json_schemas import parsed
from runs.text.patterns import Budget

MAX_JSON_CHARACTERS = 5_000_000
"""The maximum that a step may write into one file. Parsed JSON takes up to 70 times as much memory."""


class JsonValid(FileCheck):
    order = 60
    title = "a file is valid JSON"
    is_quick = True

    kind: Literal["json_valid"]

    def words(self, commands: Mapping[str, str]) -> str:
        return f"{self.path} is valid JSON"

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        json_in(text_in(data))
        return CheckResult(True, "is valid JSON")


def json_in(text: str) -> JsonValue:
    """Returns the parsed value. Raises InvalidInput with a clause."""
    if len(text) > MAX_JSON_CHARACTERS:
        raise InvalidInput(f"is not read as JSON: it has {len(text):,} characters and may have {MAX_JSON_CHARACTERS:,}")
    try:
        return parsed(text)
    except InvalidInput as error:
        raise InvalidInput(f"is not valid JSON: {error}") from error
