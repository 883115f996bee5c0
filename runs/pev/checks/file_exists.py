"""Checks that a file exists."""

from collections.abc import Mapping
from typing import Literal

from runs.pev.checks.base import FileCheck
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.patterns import Budget
from runs.text.plural import pluralize


class FileExists(FileCheck):
    order = 10
    title = "a file exists"

    kind: Literal["file_exists"]

    def words(self, commands: Mapping[str, str]) -> str:
        return f"{self.path} exists"

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        return CheckResult(True, f"exists ({pluralize(len(data), 'byte')})")
