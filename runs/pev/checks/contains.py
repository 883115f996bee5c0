"""Checks that a file contains certain words."""

from collections.abc import Mapping
from typing import Annotated, Literal

from runs.contracts.base import Line
from runs.evidence.passages import find, find_in_words
from runs.pev.checks.base import FileCheck, Label, text_in
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.normalisation import markup_of
from runs.text.patterns import Budget
from runs.text.truncate import quoted


class Contains(FileCheck):
    order = 30
    title = "a file contains certain words"
    is_quick = True

    kind: Literal["contains"]
    text: Annotated[Line, Label("The words", "White space may differ, everything else counts")]

    def words(self, commands: Mapping[str, str]) -> str:
        return f"{self.path} contains “{self.text}”"

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        text = text_in(data)
        span = find(self.text, text) or find_in_words(self.text, text, markup_of(self.path))
        if span is None:
            return CheckResult(False, f"does not contain {quoted(self.text)}")
        sentence = f"contains {quoted(self.text)}, line {span.line}"
        return CheckResult(True, sentence, span.line, span.start, span.end)
