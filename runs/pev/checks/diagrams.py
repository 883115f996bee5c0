"""Checks that Mermaid can draw every diagram of a file."""

import operator
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from runs.pev.checks.base import FileCheck, Label, text_in
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.mermaid_diagrams import drawn
from runs.text.patterns import Budget
from runs.text.plural import pluralize

DRAWING_SECONDS = 15.0
"""For all diagrams of one file. Each takes a third of a second."""


class Diagrams(FileCheck):
    """Mermaid can draw each diagram of the file, blocks ```mermaid or all of a .mmd file; there are `min` or more."""

    order = 100
    title = "every Mermaid diagram of a file can be drawn"
    seconds = DRAWING_SECONDS
    stricter = {"min": operator.ge}

    kind: Literal["diagrams"]
    min: Annotated[int, Field(ge=1, le=20), Label("At least so many diagrams", "If empty: 1")] = 1

    def words(self, commands: Mapping[str, str]) -> str:
        least = f", at least {self.min:,} of them" if self.min > 1 else ""
        return f"each Mermaid diagram of {self.path} can be drawn{least}"

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        found = drawn(text_in(data), budget, whole=self.path.lower().endswith(".mmd"))
        wrong = next((one for one in found if one.problem), None)
        if wrong:
            sentence = f"has a diagram in line {wrong.line} that cannot be drawn: {wrong.problem}"
            return CheckResult(False, sentence, wrong.line)
        sentence = f"has {pluralize(len(found), 'diagram')} that can be drawn, wanted at least {self.min:,}"
        return CheckResult(len(found) >= self.min, sentence, found[0].line if found else 0)
