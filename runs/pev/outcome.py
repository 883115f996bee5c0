"""The outcome of a run: computed from the ledger, never taken from a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from runs.enums import SETTLED_STEPS, Outcome, StepStatus
from runs.pev.results import CriterionResult


@dataclass(frozen=True)
class StepEntry:
    """One line of the ledger. `feedback`: what was wrong with its last attempt, if anything."""

    name: str
    status: StepStatus
    feedback: str = ""


@dataclass(frozen=True)
class Ledger:
    """Everything an outcome depends on. `answered`: a final answer exists. `relaxed`: what the plan no longer asked
    for although no person agreed to that. `ended`: why a person finished it early with what was there. `failure`: why
    it could not go on.
    """

    steps: Sequence[StepEntry]
    criteria: Sequence[CriterionResult]
    answered: bool
    cancelled: bool = False
    failure: str = ""
    relaxed: Sequence[str] = ()
    ended: str = ""


def outcome_of(ledger: Ledger) -> Outcome:
    """`succeeded` needs every step passed, every success criterion supported, and an answer; nothing else does."""
    if ledger.cancelled:
        return Outcome.CANCELLED
    settled = [step.status in SETTLED_STEPS for step in ledger.steps]
    enough = any(settled) if ledger.ended else bool(settled) and all(settled)
    if ledger.failure or not enough:
        return Outcome.FAILED
    return Outcome.PARTIAL if gaps_in(ledger) else Outcome.SUCCEEDED


def gaps_in(ledger: Ledger) -> list[str]:
    """One sentence for each thing that was not achieved; empty exactly when nothing is missing."""
    gaps = [sentence for sentence in (ledger.failure, ledger.ended) if sentence]
    for step in ledger.steps:
        if step.status is StepStatus.PASSED:
            continue
        state = "accepted with issues" if step.status is StepStatus.ACCEPTED else f"not done ({step.status})"
        gaps.append(f"Step “{step.name}” was {state}. {step.feedback}".strip())
    if not ledger.steps:
        gaps.append("No step was carried out.")
    if not ledger.criteria:
        gaps.append("The success criteria were not judged.")
    gaps += [
        f"Success criterion not met: {result.text.rstrip('.')}. {result.feedback}".strip()
        for result in ledger.criteria
        if not result.met
    ]
    gaps += [f"Relaxed, and no one agreed to it: {sentence}" for sentence in ledger.relaxed]
    if not ledger.answered:
        gaps.append("There is no final answer.")
    return gaps
