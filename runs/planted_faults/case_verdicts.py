"""What a verifier makes of a case: judged with the rules and without them, and what it said itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.contracts.ports import Model
from runs.enums import CaseOutcome
from runs.errors import ModelError, NoVerdict
from runs.evidence.results import Judgement
from runs.planted_faults.cases import Case
from runs.planted_faults.corrected_cases import CorrectedCase
from runs.planted_faults.stored_contracts import VerifierSettings
from runs.planted_faults.trial import Ending

UNKNOWN_JOB = "unknown_job"
"""The kind of error with which offline rules refuse a job that they do not know."""


@dataclass(frozen=True)
class CaseVerdict:
    """`with_rules` and `without_rules`: the outcome of each. `claimed`: whether the verifier itself called everything
    met when it was asked about everything, and how sure it said it was; None if it was never asked or said nothing
    usable. `verdicts`: those that a model gave.
    """

    with_rules: CaseOutcome
    without_rules: CaseOutcome
    claimed: bool | None
    confidence: float | None
    verdicts: int


def judge_case(case: Case | CorrectedCase, verifier: Model, asked: VerifierSettings) -> CaseVerdict:
    """Judge a case. Raises ModelError when the verifier gives no answer; an unusable one is an outcome."""
    with_rules, without_rules = (_ending(case, verifier, asked, rules=rules) for rules in (True, False))
    claimed, confidence = _own_opinion(without_rules.judged if without_rules else ())
    endings = [ending for ending in (with_rules, without_rules) if ending]
    return CaseVerdict(
        with_rules=_outcome(with_rules),
        without_rules=_outcome(without_rules),
        claimed=claimed,
        confidence=confidence,
        verdicts=sum(one.stage == "model" for ending in endings for one in ending.judged),
    )


def _ending(case: Case | CorrectedCase, verifier: Model, asked: VerifierSettings, *, rules: bool) -> Ending | None:
    """None if there was no usable verdict."""
    try:
        return case.ending(verifier, asked, rules=rules)
    except NoVerdict:
        return None
    except ModelError as error:
        if error.kind != UNKNOWN_JOB:
            raise
        return None


def _outcome(ending: Ending | None) -> CaseOutcome:
    if ending is None:
        return CaseOutcome.NO_VERDICT
    if not ending.passed:
        return CaseOutcome.REFUSED
    return CaseOutcome.MARKED if ending.marks else CaseOutcome.PASSED


def _own_opinion(judged: Sequence[Judgement]) -> tuple[bool | None, float | None]:
    """Whether the verifier called everything met, and how sure it was of that: as sure as of the criterion that it was
    least sure of, or, if it called something unmet, as sure as of the one that it was most sure of.
    """
    said = [result for one in judged for result in one.results if result.decided_by == "model"]
    if not said:
        return None, None
    unmet = [result.confidence for result in said if not result.claimed]
    if unmet:
        return False, max(unmet)
    return True, min(result.confidence for result in said)
