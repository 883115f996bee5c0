"""Overruling a verdict: a person judges a criterion otherwise, with a reason, and both stay visible (T15).

It is an annotation. The verdict, what ran, the state of the step, the outcome and its open points stay as they are.
What people accept is never shown as verified.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runs.enums import AuditKind
from runs.errors import DecisionRefused, InvalidInput
from runs.events import kinds as events
from runs.evidence.results import CriterionResult
from runs.lifecycle.approval import fingerprint
from runs.models import Attempt, Overruling, User, Verdict
from runs.people.permissions import check_can_decide
from runs.store import audit_trail, event_log

MAX_REASON = 2_000
"""Characters of a reason."""


def overrule(attempt_id: int, user: User, label: str, *, met: bool, reason: str) -> Overruling:
    """Record that a person judges this criterion of the attempt otherwise. With the answer of the verdict itself, the
    verdict holds again. Possible as soon as there is a verdict, also after the run has finished.

    Raises NotAllowed; InvalidInput without a reason; DecisionRefused if there is no such criterion, or if nothing
    would be different.
    """
    reason = reason.strip()
    if not reason:
        raise InvalidInput("Say why you judge this otherwise. The verdict stays visible next to your reason.")
    if len(reason) > MAX_REASON:
        raise InvalidInput(f"The reason has {len(reason):,} characters; {MAX_REASON:,} are allowed.")
    with event_log.writing():
        attempt = Attempt.objects.select_related("step__plan", "tree").get(pk=attempt_id)
        run = event_log.locked(attempt.step.plan.run_id)
        check_can_decide(user, run)
        result = _judged(attempt, label)
        before = _newest(attempt, label)
        if met == (before.met if before else result.met):
            raise DecisionRefused(f"{label} is {'met' if met else 'not met'} already. Reload the page.")
        row = Overruling.objects.create(attempt=attempt, label=label, was=result.met, met=met, by=user, reason=reason)
        event = events.VerdictOverruled(
            by=user.get_username(),
            step=attempt.step.key,
            attempt=attempt.number,
            criterion=label,
            was=result.met,
            met=met,
            decided_by=result.decided_by,
            reason=reason,
        )
        event_log.record(run.pk, event)
        audit_trail.record(
            AuditKind.OVERRULED,
            by=user,
            run_id=run.pk,
            subject=f"{label} of step {attempt.step.key}, attempt {attempt.number}",
            digest=fingerprint.attempt_digest(attempt),
            step=attempt.step.key,
            attempt=attempt.number,
            before=_words(result.met),
            after=_words(met),
            name=f"verdict of {result.decided_by}",
            words=audit_trail.digest_of_words(reason),
        )
    return row


def _judged(attempt: Attempt, label: str) -> CriterionResult:
    verdict = Verdict.objects.filter(attempt=attempt).first()
    result = next((one for one in verdict.results if one.label == label), None) if verdict else None
    if result is None:
        raise DecisionRefused("There is no such criterion in this verdict. Reload the page.")
    return result


def _newest(attempt: Attempt, label: str) -> Overruling | None:
    return attempt.overrulings.filter(label=label).order_by("-pk").first()


def _words(met: bool) -> str:
    return "met" if met else "not met"


def in_force(rows: Iterable[Overruling]) -> dict[str, Overruling]:
    """By criterion, the overruling that holds; none where the verdict holds again. `rows`: of an attempt, in order."""
    newest = {row.label: row for row in rows}
    return {label: row for label, row in newest.items() if row.was != row.met}


def accepted_by(results: Sequence[CriterionResult], rows: Iterable[Overruling]) -> list[str]:
    """Who accepts a result that its verdict did not: the people on whose word all of its criteria are met. Empty if it
    is verified, or if a criterion is not met whatever people say.
    """
    holding = in_force(rows)
    met = [holding[one.label].met if one.label in holding else one.met for one in results]
    if not results or not all(met) or all(one.met for one in results):
        return []
    return sorted({row.by.get_username() for row in holding.values() if row.met})
