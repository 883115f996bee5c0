"""Keeps what was judged by an overruled verdict as a labelled case, if the owner of the run agrees (T17)."""

from __future__ import annotations

import hashlib

from runs.engine.verification_inputs import for_verifier
from runs.enums import AuditKind
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.lifecycle.overruling import subject_of
from runs.models import LabelledCase, Overruling, User
from runs.pev.policy import Capacities
from runs.planted_faults.corrected_cases import content_of
from runs.planted_faults.stored_contracts import JudgedContent
from runs.store import audit_trail, event_log, trees
from runs.store.journal import results_of
from runs.store.trees import Overlay

_NOT_OWNER = "Only the person who submitted the task can let calibrations use a correction."
_CHANGED = "What would be kept has changed since you opened this page. Look at it again."


def check_is_owner(user: User, overruling: Overruling) -> None:
    """Raises NotAllowed. Administrators have no say here: it is about the content of a run."""
    if overruling.attempt.step.plan.run.owner_id != user.pk:
        raise NotAllowed(_NOT_OWNER)


def content_to_keep(overruling: Overruling) -> JudgedContent:
    """What would be kept of what the verdict judged. Raises InvalidInput if no case can be made of it."""
    attempt = overruling.attempt
    if not Overruling.objects.in_force().filter(pk=overruling.pk).exists():
        raise InvalidInput("This correction does not hold any more, so calibrations cannot use it.")
    if attempt.reused_from_id:
        raise InvalidInput(
            "This result was taken over from another run. Calibrations can use only what this run has made."
        )
    result = next((one for one in attempt.verdict.results if one.label == overruling.label), None)
    if result is None or result.decided_by != "model" or attempt.found_nothing_to_do:
        raise InvalidInput("A verifier did not decide this criterion by the result, so calibrations cannot use it.")
    given = trees.files_of(attempt.given)
    overlay = Overlay(attempt.base, attempt.overlay, max_files=0, max_bytes=0, given=given)
    return content_of(for_verifier(attempt, overlay, results_of(attempt.work), Capacities()), result)


def digest_of(content: JudgedContent) -> str:
    return hashlib.sha256(content.model_dump_json().encode()).hexdigest()


def keep(overruling: Overruling, user: User, seen: str) -> LabelledCase:
    """Let calibrations use a correction. `seen`: the digest of the content that the owner has looked at.

    Raises NotAllowed, InvalidInput, and DecisionRefused if something else would be kept.
    """
    check_is_owner(user, overruling)
    with event_log.writing():
        run = event_log.locked(overruling.attempt.step.plan.run_id)
        if case := LabelledCase.objects.filter(overruling=overruling).first():
            return case  # sent twice
        content = content_to_keep(overruling)
        if digest_of(content) != seen:
            raise DecisionRefused(_CHANGED)
        audit_trail.record(
            AuditKind.CASE_KEPT, by=user, run_id=run.pk, subject=subject_of(overruling), digest=digest_of(content)
        )
        return LabelledCase.objects.create(overruling=overruling, content=content)


def take_back(overruling: Overruling, user: User) -> None:
    """Delete what was kept. Figures that calibrations have counted stay; they have no content. Raises NotAllowed."""
    check_is_owner(user, overruling)
    with event_log.writing():
        run = event_log.locked(overruling.attempt.step.plan.run_id)
        deleted, _ = LabelledCase.objects.filter(overruling=overruling).delete()
        if deleted:
            audit_trail.record(AuditKind.CASE_DELETED, by=user, run_id=run.pk, subject=subject_of(overruling))
