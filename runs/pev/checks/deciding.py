"""How any check is carried out (rule T2). Whatever goes wrong means that it does not hold."""

from runs.contracts.base import RESULT
from runs.errors import InvalidInput
from runs.evidence.results import Evidence
from runs.pev.checks.base import Check, FileCheck, evidence_of
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.paths import clean_path
from runs.text.patterns import Budget


def run_check(check: Check, material: CheckInput, seconds: float | None = None) -> Evidence:
    """The result of the check with its figures; `verified` says whether it held. Never raises for bad input.

    Only the files named are read. `line`, `start` and `end` point at the first place worth looking at, where there is
    one. A missing file, a command that `material` cannot run, a file that is not text, a bad pattern or schema, or one
    that takes more than `seconds` (the time limit of its kind, if None) means that the check does not hold.
    """
    try:
        return check.decide(material, Budget(check.seconds if seconds is None else seconds))
    except InvalidInput as error:
        return evidence_of(check.subject, None, CheckResult(False, str(error)))


def problem_with(check: Check) -> str | None:
    """Why a plan must not contain this check (its author can correct it), or None. Its command may not exist."""
    try:
        if isinstance(check, FileCheck):
            clean_path(check.path.removeprefix(RESULT))
        return check.problem()
    except InvalidInput as error:
        return str(error)
