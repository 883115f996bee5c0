"""Which verifier is measured, as new runs would ask it, and what measuring it will cost."""

from __future__ import annotations

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
from runs.pev.policy import Policy
from runs.planted_faults.cases import case_of
from runs.planted_faults.trial import tried
from runs.planted_faults.verifier_settings import VerifierSettings

MIN_QUESTIONS, MAX_QUESTIONS = 2, 8
"""Questions about one case: at least one with the rules and one without. At most the result and the final answer are
judged in both ways, each with a second question about evidence that is in doubt.
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
    """What a calibration will cost, from the length of the questions about some of its cases."""
    lengths = _QuestionLengths()
    samples = min(_SAMPLES, wanted.cases)
    for number in range(samples):
        job = case_of(number, wanted.kinds, wanted.languages, wanted.seed).job
        with suppress(ModelError):
            tried(job, lengths, rules=False, asked=wanted.asked)
    tokens = [lengths.characters / max(1, lengths.questions) / each for each in _CHARACTERS_IN_A_TOKEN]
    each = _CRITERIA if wanted.asked.simple else 1
    questions = [wanted.cases * each * count for count in (MIN_QUESTIONS, MAX_QUESTIONS)]
    today = timezone.now().date()
    low, high = (
        cost_of(wanted.asked.model, Usage(input=round(prompt), output=answer), today)
        for prompt, answer in zip(tokens, _ANSWER_TOKENS, strict=True)
    )
    return CostEstimate(
        cases=wanted.cases,
        min_questions=questions[0],
        max_questions=questions[1],
        low=None if low is None else low * questions[0],
        high=None if high is None else high * questions[1],
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
