"""What an owner does with a run beside its work: rename it, put it into the archive and take it back."""

from __future__ import annotations

from django.utils import timezone

from runs.enums import RunStatus
from runs.errors import DecisionRefused, InvalidInput
from runs.events import kinds as events
from runs.models import Run, User
from runs.people.permissions import check_can_manage
from runs.store import event_log

MAX_TITLE = 120
"""As the column has it: one line of a list."""


def rename(run_id: int, user: User, title: str) -> str:
    """Give a run another title, which is returned as it is kept. Neither models nor approvals know of titles.

    Raises NotAllowed, or InvalidInput.
    """
    title = checked_title(title)
    with event_log.writing():
        run = _managed(run_id, user)
        if title != run.title:
            event_log.record(run_id, events.Renamed(by=user.get_username(), before=run.title, after=title))
            event_log.keep(run, title=title)
    return title


def checked_title(title: str) -> str:
    """On one line, without characters that no one types. Raises InvalidInput."""
    title = "".join(one for one in " ".join(title.split()) if one.isprintable())
    if not title:
        raise InvalidInput("Give the run a title.")
    if len(title) > MAX_TITLE:
        raise InvalidInput(f"The title has {len(title):,} characters; {MAX_TITLE} are allowed.")
    return title


def archive(run_id: int, user: User) -> None:
    """Take a finished run off the lists. Its pages stay as they are. Raises NotAllowed, or DecisionRefused."""
    with event_log.writing():
        run = _managed(run_id, user)
        if problem := problem_with(run):
            raise DecisionRefused(problem)
        if run.archived_at is None:
            event_log.keep(run, archived_at=timezone.now())
            event_log.record(run_id, events.Archived(by=user.get_username()))


def problem_with(run: Run) -> str:
    """Why a run cannot be archived now, as sentences that say what to do; empty if it can."""
    if run.status == RunStatus.FINISHED:
        return ""
    return "Only a finished run can be archived. Stop it first, or let it come to its end."


def restore(run_id: int, user: User) -> None:
    """Put a run back on the lists. Raises NotAllowed."""
    with event_log.writing():
        run = _managed(run_id, user)
        if run.archived_at is not None:
            event_log.keep(run, archived_at=None)
            event_log.record(run_id, events.Restored(by=user.get_username()))


def _managed(run_id: int, user: User) -> Run:
    run = event_log.locked(run_id)
    check_can_manage(user, run)
    return run
