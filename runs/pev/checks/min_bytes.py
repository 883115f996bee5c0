"""Checks that a file has a minimum size."""

import operator
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from runs.contracts.base import MAX_COUNT
from runs.pev.checks.base import FileCheck, Label
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.patterns import Budget
from runs.text.plural import pluralize


class MinBytes(FileCheck):
    order = 20
    title = "a file has a minimum size"
    stricter = {"min": operator.ge}
    is_quick = limits_size = True

    kind: Literal["min_bytes"]
    min: Annotated[int, Field(ge=1, le=MAX_COUNT), Label("At least so many bytes")]

    def words(self, commands: Mapping[str, str]) -> str:
        return f"{self.path} has at least {pluralize(self.min, 'byte')}"

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        sentence = f"has {pluralize(len(data), 'byte')}, wanted at least {self.min:,}"
        return CheckResult(len(data) >= self.min, sentence)
