"""Checks that a file has no placeholders."""

from collections.abc import Mapping
from typing import Literal

import regex

from runs.pev.checks.base import FileCheck, text_in
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.patterns import Budget
from runs.text.truncate import quoted

_PLACEHOLDERS = regex.compile(
    r"(?<![\w-])(?:TODO|TBD|FIXME|XXX)(?![\w-])"
    r"|(?i:\blorem\s+ipsum\b)"
    r"|(?i:\[insert\b[^\]\n]{0,100}\])"
    r"|(?i:<placeholder>)"
    r"|\{\{[^{}\n]{0,100}\}\}"
    r"|(?i:\bcoming\s+soon\b)"
)


class NoPlaceholders(FileCheck):
    order = 90
    title = "a file has no placeholders (TODO, TBD, …)"
    is_quick = True

    kind: Literal["no_placeholders"]

    def words(self, commands: Mapping[str, str]) -> str:
        return f"{self.path} has no placeholders"

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        text = text_in(data)
        match = _PLACEHOLDERS.search(text)
        if match is None:
            return CheckResult(True, "has no placeholders")
        line = text.count("\n", 0, match.start()) + 1
        sentence = f"still has a placeholder: {quoted(match[0])}, line {line}"
        return CheckResult(False, sentence, line, match.start(), match.end())
