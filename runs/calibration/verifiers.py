"""Which verifier is measured, as new runs would ask it, and what measuring it will cost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from runs.accounting.prices import cost_of
from runs.calibration.calibrations import Wanted, address_of
from runs.contracts.ports import Ask, Reply, Usage
from runs.enums import Role
from runs.errors import ModelError
from runs.llm.capabilities import is_asked_simply
from runs.models import LabelledCase
from runs.pev.policy import Policy
from runs.planted_faults.cases import Case, case_count, case_of
from runs.planted_faults.corrected_cases import CorrectedCase
from runs.planted_faults.stored_contracts import VerifierSettings

_MAX_QUESTIONS = 8
"""Questions about one case: the result and the final answer are judged with the rules and without, each with a second
question about evidence that is in doubt. Where checks decide, none is asked.
"""
_CRITERIA = 5
"""Of a case without the rules: so many questions has a verifier that is asked about one criterion at a time."""
_SAMPLES = 24
"""Cases whose questions are measured."""
_CHARACTERS_IN_A_TOKEN = (4, 2)
"""At least and at most; Chinese has fewer."""
_ANSWER_TOKENS = (300, 1_500)


def settings_for(policy: Policy, model: str = "") -> tuple[VerifierSettings, str]:
    """How runs under this policy ask their verifier, or another model in its place, and the address of the server."""
    role_model = policy.model_for(Role.VERIFIER)
    model = model or role_model.model
    asked = VerifierSettings(
        model=model,
        effort=role_model.effort,
        min_confidence=policy.min_verifier_confidence,
        min_document_bytes=policy.min_document_bytes,
        simple=is_asked_simply(model, Role.VERIFIER),
    )
    return asked, address_of(model)


@dataclass(frozen=True)
class CostEstimate:
    """USD from `low` to `high`, None without a known price, and how many questions there will be."""

    cases: int
    min_questions: int
    max_questions: int
    low: Decimal | None
    high: Decimal | None

    @property
    def sentence(self) -> str:
        asked = f"{self.cases:,} cases, {self.min_questions:,} to {self.max_questions:,} questions"
        if self.low is None or self.high is None:
            return f"Estimate: {asked}. The model has no known price, so no budget can be kept."
        return f"Estimate: {asked}, ${self.low:,.2f} to ${self.high:,.2f}."


def estimate_cost(wanted: Wanted) -> CostEstimate:
    """What a calibration will cost, from the first questions about some of its cases."""
    numbers = range(min(_SAMPLES, case_count(wanted.size)))
    generated = [case_of(number, wanted.kinds, wanted.languages, wanted.seed) for number in numbers]
    kept = LabelledCase.objects.filter(pk__in=wanted.corrections[:_SAMPLES]).select_related("overruling")
    corrected = [CorrectedCase(0, one.overruling.met, one.content) for one in kept]
    parts = [
        _estimate(wanted.asked, generated, case_count(wanted.size)),
        _estimate(wanted.asked, corrected, len(wanted.corrections)),
    ]
    lows, highs = [one.low for one in parts if one.low is not None], [one.high for one in parts if one.high is not None]
    return CostEstimate(
        cases=wanted.cases,
        min_questions=sum(one.min_questions for one in parts),
        max_questions=sum(one.max_questions for one in parts),
        low=sum(lows, Decimal(0)) if lows else None,
        high=sum(highs, Decimal(0)) if highs else None,
    )


def _estimate(asked: VerifierSettings, samples: Sequence[Case | CorrectedCase], cases: int) -> CostEstimate:
    """The estimate for so many cases like these."""
    lengths = _QuestionLengths()
    for case in samples:
        for rules in (True, False):
            with suppress(ModelError):
                case.ending(lengths, asked, rules=rules)
    tokens = [lengths.characters / max(1, lengths.questions) / each for each in _CHARACTERS_IN_A_TOKEN]
    least = cases * lengths.questions // max(1, len(samples))
    most = cases * _MAX_QUESTIONS * (_CRITERIA if asked.simple else 1)
    today = timezone.now().date()
    low, high = (
        cost_of(asked.model, Usage(input=round(prompt), output=answer), today)
        for prompt, answer in zip(tokens, _ANSWER_TOKENS, strict=True)
    )
    return CostEstimate(
        cases=cases,
        min_questions=least,
        max_questions=most,
        low=None if low is None else low * least,
        high=None if high is None else high * most,
    )


class _QuestionLengths:
    """A model that measures what it is asked, and never answers."""

    def __init__(self) -> None:
        self.questions = 0
        self.characters = 0

    def ask(self, ask: Ask) -> Reply:
        self.questions += 1
        self.characters += len(ask.instructions) + sum(len(str(message["content"])) for message in ask.messages)
        raise ModelError("Only measured.", kind="measured", retriable=False)
