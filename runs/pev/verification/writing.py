"""What code finds wrong with a file as soon as it is written, so that it goes back at once and not with the verdict."""

from collections.abc import Sequence

from runs.contracts.ports import (
    Acting,
    GuardedToolbox,
    Original,
    ToolResult,
    ToolSpec,
    ToolUse,
    Workspace,
    names_that_write,
)
from runs.documents.content import is_blank
from runs.errors import InvalidInput
from runs.pev.checks.base import Check
from runs.pev.checks.deciding import run_check
from runs.pev.checks.material import LISTED, CheckInput
from runs.pev.contracts import PlanStep
from runs.pev.verification.prechecks import DOCUMENTS
from runs.text.paths import clean_path

SECONDS = 1.0
"""For each check: a pattern that takes longer is left to verification."""
_HEAD = "Code has looked at the file, and as it is the attempt would fail:"


class CheckedWrites:
    """A toolbox (`contracts.ports.GuardedToolbox`) that says with what was written whether it can pass.

    It decides nothing: verification looks at the files as they are in the end.
    """

    def __init__(self, inner: GuardedToolbox, workspace: Workspace, step: PlanStep, min_document_bytes: int) -> None:
        self._inner, self._workspace = inner, workspace
        self._step, self._min_document_bytes = step, min_document_bytes
        self._writing = names_that_write(inner.specs())

    def specs(self) -> Sequence[ToolSpec]:
        return self._inner.specs()

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        return self._inner.originals(use, result)

    def acting(self, use: ToolUse) -> Acting | None:
        return self._inner.acting(use)

    def run(self, use: ToolUse) -> ToolResult:
        result = self._inner.run(use)
        if use.name not in self._writing or result.is_error:
            return result
        path = clean_path(str(use.input["path"]))  # it was written, so it is a path
        if path not in self._workspace.files():
            return result  # a copy with comments lies elsewhere
        wrong = self._wrong_with(path, self._workspace.read(path))
        more = "".join(f"\n- {sentence}" for sentence in wrong[:LISTED])
        return ToolResult(f"{result.text}\n{_HEAD}{more}", shown=result.shown) if wrong else result

    def _wrong_with(self, path: str, data: bytes) -> list[str]:
        if is_blank(data):
            return [f"{path} is empty"] if path in self._step.outputs else []
        found = [run_check(check, CheckInput({path: data}), SECONDS) for check in self._checks_of(path)]
        wrong = [evidence.sentence for evidence in found if not evidence.verified]
        if (
            path.lower().endswith(DOCUMENTS)
            and not any(check.limits_size for check in self._checks_of(path))
            and len(data) < self._min_document_bytes
        ):
            wrong.append(f"{path} has {len(data)} bytes; in this run it has to have {self._min_document_bytes}")
        return wrong

    def _checks_of(self, path: str) -> list[Check]:
        checks = [criterion.check for criterion in self._step.acceptance_criteria]
        return [check for check in checks if check and check.is_quick and _is_of(check.subject, path)]


def _is_of(named: str, path: str) -> bool:
    try:
        return clean_path(named) == path
    except InvalidInput:
        return False
