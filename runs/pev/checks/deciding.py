"""Carries out checks (T2). Whatever goes wrong means that the check does not hold."""

from runs.contracts.base import RESULT
from runs.errors import InvalidInput
from runs.evidence.results import Evidence
from runs.pev.checks.base import Check, FileCheck, evidence_of
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.paths import clean_path
from runs.text.patterns import Budget


def run_check(check: Check, material: CheckInput, seconds: float | None = None) -> Evidence:
    """Returns the result of the check with its figures. `verified` says whether it holds. Never raises for bad input.

    Only the named files are read. `line`, `start` and `end` point at the first relevant place, if there is one. The
    check does not hold if a file is missing or is not text, if `material` cannot run a command, if a pattern or schema
    is invalid, or if it takes more than `seconds` (by default the time limit of its kind).
    """
    try:
        return check.decide(material, Budget(check.seconds if seconds is None else seconds))
    except InvalidInput as error:
        return evidence_of(check.subject, None, CheckResult(False, str(error)))


def problem_with(check: Check) -> str | None:
    """Returns why a plan must not contain this check, as something its author can correct, or None. Whether its command
    exists is not examined.
    """
    try:
        if isinstance(check, FileCheck):
            clean_path(check.path.removeprefix(RESULT))
        return check.problem()
    except InvalidInput as error:
        return str(error)
