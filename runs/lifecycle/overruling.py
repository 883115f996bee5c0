"""Overruling a verdict: a person judges a criterion otherwise, with a reason, and both stay visible (T15).

It moves nothing. The verdict, what ran, the state of the step and the outcome stay as they are, and what people accept
is never shown as verified. While a decision about the attempt is open, a person overrules there, with the answer that
lets the run go on: that is one act.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from django.db.models import Exists, OuterRef

from runs.enums import AuditKind
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.events import kinds as events
from runs.evidence.results import CriterionResult, Overruled
from runs.lifecycle.approval import fingerprint
from runs.models import Attempt, LabelledCase, Overruling, Run, User, Verdict
from runs.people import second_person
from runs.people.permissions import check_can_decide, part_in_plan
from runs.store import audit_trail, event_log

MAX_REASON = 2_000
"""Characters of a reason."""
IS_OVERRULED = Exists(Overruling.objects.filter(attempt=OuterRef("pk")))
"""Annotates attempts as `is_overruled`, which saves readers of many a query where no one overruled anything."""


def is_overruled(attempt: Attempt) -> bool:
    """Whether anyone ever overruled its verdict."""
    return bool(getattr(attempt, "is_overruled", True))


def overrule(attempt_id: int, user: User, label: str, *, met: bool, reason: str, seen: int) -> Overruling:
    """Record that a person judges this criterion of the attempt otherwise. With the answer of the verdict itself, the
    verdict holds again. `seen`: the id of the newest overruling of the attempt that the person has read, 0 for none.

    Raises NotAllowed; InvalidInput without a reason; DecisionRefused if there is no such criterion, if nothing would be
    different, if someone has overruled the verdict since, or while a decision about the attempt is open.
    """
    with event_log.writing():
        attempt = Attempt.objects.select_related("step__plan", "tree").get(pk=attempt_id)
        run = event_log.locked(attempt.step.plan.run_id)
        check_can_decide(user, run)
        reason = _checked(reason)
        if run.gates.open().filter(attempt=attempt).exists():
            raise DecisionRefused("A decision about this result is open. Accept it or send it back there.")
        newest = attempt.overrulings.select_related("by").last()
        if newest and newest.pk != seen:
            if (newest.by_id, newest.label, newest.met, newest.reason) == (user.pk, label, met, reason):
                return newest  # sent twice
            raise DecisionRefused(f"{newest.by} overruled {newest.label} since you opened this page. Read that first.")
        result = _judged(attempt, label)
        before = attempt.overrulings.filter(label=label).last()
        if met == (before.met if before else result.met):
            raise DecisionRefused(f"{label} is {_words(met)} already. Reload the page.")
        takes_back = result.met and before is not None and before.by_id == user.pk
        if met and not takes_back:
            _check_second_person(user, run, attempt)
        return _record(run, attempt, result, user, met=met, reason=reason)


def accept(run: Run, attempt: Attempt, user: User, labels: Collection[str], reason: str) -> None:
    """Record that a person who accepts a result at its gate judges these criteria as met. The run must be locked, and
    who may accept is checked before.

    Raises InvalidInput without a reason, and DecisionRefused for a criterion that is not unmet.
    """
    reason = _checked(reason)
    for label in sorted(labels):
        result = _judged(attempt, label)
        if result.met or attempt.overrulings.filter(label=label).in_force().exists():
            raise DecisionRefused(f"{label} is met already. Reload the page.")
        _record(run, attempt, result, user, met=True, reason=reason)


def unmet_criteria(attempt: Attempt) -> list[CriterionResult]:
    """The criteria that neither the verdict of the attempt nor a person judges as met."""
    verdict = Verdict.objects.filter(attempt=attempt).first()
    rows = attempt.overrulings.in_force().select_related("by")
    return [one for one in with_people(verdict.results, rows) if not one.holds] if verdict else []


def _checked(reason: str) -> str:
    reason = reason.strip()
    if not reason:
        raise InvalidInput("Say why you overrule the verdict. It stays visible next to your reason.")
    if len(reason) > MAX_REASON:
        raise InvalidInput(f"The reason has {len(reason):,} characters; {MAX_REASON:,} are allowed.")
    return reason


def _check_second_person(user: User, run: Run, attempt: Attempt) -> None:
    if second_person.is_needed_for_result(run, attempt.step) and (did := part_in_plan(user, run)):
        raise NotAllowed(f"A second person has to accept this: you {did}. You may say that a criterion is not met.")


def _record(run: Run, attempt: Attempt, result: CriterionResult, user: User, *, met: bool, reason: str) -> Overruling:
    step, label = attempt.step, result.label
    # What the owner agreed to was another label.
    earlier = LabelledCase.objects.filter(overruling__attempt=attempt, overruling__label=label)
    for case in earlier.select_related("overruling__attempt__step"):
        audit_trail.record(
            AuditKind.CASE_DELETED, by=user, run_id=run.pk, subject=subject_of(case.overruling), name="overruled again"
        )
        case.delete()
    row = Overruling.objects.create(attempt=attempt, label=label, was=result.met, met=met, by=user, reason=reason)
    event = events.VerdictOverruled(
        by=user.get_username(),
        step=step.key,
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
        subject=subject_of(row),
        digest=fingerprint.attempt_digest(attempt),
        step=step.key,
        attempt=attempt.number,
        before=_words(result.met),
        after=_words(met),
        name=f"verdict of {result.decided_by}",
        words=audit_trail.digest_of_words(reason),
    )
    return row


def subject_of(row: Overruling) -> str:
    """The criterion, for the audit trail."""
    return f"{row.label} of step {row.attempt.step.key}, attempt {row.attempt.number}"


def _judged(attempt: Attempt, label: str) -> CriterionResult:
    verdict = Verdict.objects.filter(attempt=attempt).first()
    result = next((one for one in verdict.results if one.label == label), None) if verdict else None
    if result is None:
        raise DecisionRefused("There is no such criterion in this verdict. Reload the page.")
    return result


def _words(met: bool) -> str:
    return "met" if met else "not met"


def with_people(results: Sequence[CriterionResult], rows: Iterable[Overruling]) -> list[CriterionResult]:
    """The results with what people judge otherwise. `rows` are the overrulings of their attempt that are in force."""
    said = {row.label: Overruled(by=row.by.get_username(), met=row.met, reason=row.reason, at=row.at) for row in rows}
    return [one.model_copy(update={"overruled": said[one.label]}) if one.label in said else one for one in results]
