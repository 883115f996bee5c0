"""The judged results: criteria with evidence that the server resolved. Stored as JSON, read by pages."""

from collections.abc import Iterable
from typing import Literal

from runs.enums import Action, Severity
from runs.pev.contracts import Contract


class Evidence(Contract):
    """A quote that was looked up, or the result of a check.

    `source` is a path, `@output` or `@tool-N`; `sha256` is of the bytes the quote was looked up in. `start` and
    `end` are character offsets in the decoded text, `line` counts from 1. `sentence` is for people. Without
    `verified` it supports nothing and is shown as such.
    """

    kind: Literal["quote", "check"]
    source: str
    verified: bool
    sentence: str
    quote: str = ""
    sha256: str = ""
    start: int = 0
    end: int = 0
    line: int = 0

    @property
    def where(self) -> str:
        """Source and line for people."""
        name = "findings" if self.source == "@output" else self.source
        if self.source.startswith("@tool-"):
            name = f"result of tool call {self.source.removeprefix('@tool-')}"
        return f"{name}, line {self.line}" if self.line else name


class CriterionResult(Contract):
    """The judgement of one criterion. `passed` implies `supported`: code sees to it, not a model."""

    label: str
    text: str
    decided_by: Literal["check", "model", "nobody"]
    claimed: bool
    supported: bool
    passed: bool
    confidence: float
    feedback: str
    evidence: list[Evidence] = []

    @property
    def met(self) -> bool:
        return self.passed and self.supported

    @property
    def status(self) -> Literal["passed", "not judged", "unsupported", "failed"]:
        """`unsupported`: the verifier said it passed; without evidence that counts for nothing (T1)."""
        if self.met:
            return "passed"
        if self.decided_by == "nobody":
            return "not judged"
        return "unsupported" if self.claimed and not self.supported else "failed"


class Judgement(Contract):
    """Everything known about an attempt after verification; `passed` is computed from the results."""

    stage: Literal["checks", "model"]
    results: list[CriterionResult]
    passed: bool
    action: Action
    severity: Severity
    feedback: str
    notes: list[str] = []

    @property
    def unsupported(self) -> int:
        return sum(1 for result in self.results if result.claimed and not result.supported)


def all_pass(results: Iterable[CriterionResult]) -> bool:
    """T3: the only place where an overall pass comes from. No result at all is not a pass."""
    listed = list(results)
    return bool(listed) and all(result.met for result in listed)
