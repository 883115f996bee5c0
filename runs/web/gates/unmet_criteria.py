"""A step that did not pass, as its gate shows it: what happened in the attempts, and what each answer leads to."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from runs.enums import AttemptStatus
from runs.evidence.results import critique_head
from runs.pev.outcome import Review
from runs.readmodel.plan_view import AttemptReading, StepReading
from runs.text.normalisation import one_spaced
from runs.text.truncate import quoted

MAX_COMPARED = 200
"""Characters of a finding that are compared, because it may be cut after 300 where it is shown."""


@dataclass(frozen=True)
class Became:
    """Attempts with the same outcome."""

    attempts: tuple[int, ...]
    said: str

    @property
    def title(self) -> str:
        *before, last = map(str, self.attempts)
        return f"Attempts {', '.join(before)} and {last}" if before else f"Attempt {last}"


@dataclass(frozen=True, eq=False)
class Unpassed:
    """A step that waits for a person, and its last attempt. `shown`: what the gate says of unmet criteria.
    `cost`: what the attempt cost, in USD.
    """

    step: StepReading
    attempt: AttemptReading
    shown: Collection[str]
    cost: Decimal

    @property
    def blocked(self) -> bool:
        """Whether it was reported as impossible. Then nothing of it was judged."""
        return self.attempt.row.status == AttemptStatus.BLOCKED

    @cached_property
    def became(self) -> list[Became]:
        """What happened that the gate does not say elsewhere, each thing once. The words of people are shown with their
        requests.
        """
        found: dict[str, tuple[int, ...]] = {}
        for review in self.step.open_point.reviews:
            said = "" if review.by else self._said(review)
            if said:
                found[said] = (*found.get(said, ()), review.attempt)
        return [Became(attempts, said) for said, attempts in found.items()]

    def _said(self, review: Review) -> str:
        attempt = next(one for one in self.step.attempts if one.row.number == review.attempt)
        if review.repeats:
            return "The same as the one before; what had been criticised was not addressed."
        if self.blocked and attempt is self.attempt:
            return ""
        if not attempt.verdict or attempt.conflict:
            return review.said or review.status
        said = attempt.verdict.feedback
        shown = {one[:MAX_COMPARED] for one in self.shown}
        for line, words in _lines(attempt):
            said = said.replace(line, "" if one_spaced(words)[:MAX_COMPARED] in shown else words)
        return one_spaced(said).strip()

    @property
    def why_unjudged(self) -> str:
        """Why some criteria were not judged."""
        failed = any(one.decided_by == "check" and not one.met for one in self.attempt.results)
        return "a check had failed before" if failed else "a request was not met"

    @property
    def accepting(self) -> str:
        """What happens if it is accepted as it is."""
        names = [step.name for step in self._later]
        left = "with what it wrote" if self.attempt.row.overlay else "without it"
        match names:
            case []:
                later = "No other step needs it."
            case [name]:
                later = f"“{name}” goes on {left}."
            case _:
                later = f"{len(names)} later steps go on {left}."
        return f"{later} The result will be marked as incomplete."

    @property
    def again(self) -> str:
        """What happens if it is tried again."""
        if self.blocked:
            return "Another attempt gets your words: say where it finds what is missing, or how to do without."
        spent = f" Attempt {self.attempt.row.number} cost ${self.cost:,.2f}." if self.cost else ""
        return f"Another attempt gets your words and all of the critique.{spent}"

    @property
    def _later(self) -> list[StepReading]:
        """The steps that depend on it, directly or not. A plan names them in any order."""
        found: set[str] = {self.step.row.key}
        steps = self.step.plan.steps
        while more := {one.row.key for one in steps if found.intersection(one.row.spec.dependencies)} - found:
            found |= more
        return [one for one in steps if one.row.key in found - {self.step.row.key}]


def _lines(attempt: AttemptReading) -> Iterator[tuple[str, str]]:
    """The lines of a critique that are about one criterion each, without those about requests."""
    if attempt.verdict:
        for one in attempt.verdict.results:
            yield f"{critique_head(one.label, one.text)}{one.feedback}", one.feedback
        for asked in attempt.verdict.requests:
            yield f"{critique_head(asked.label, quoted(asked.text))}{asked.feedback}", ""
