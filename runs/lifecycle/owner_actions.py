"""What an owner does with a run besides its work: renaming, archiving, and what its report names."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.utils import timezone

from runs.enums import AuditKind, RunStatus
from runs.errors import DecisionRefused, InvalidInput
from runs.events import kinds as events
from runs.models import Run, User
from runs.people.permissions import check_can_manage
from runs.store import audit_trail, event_log
from runs.text.plural import list_with_and

MAX_TITLE = 120
"""Characters of a title: one line of a list, and the length of the column."""
MAX_REPORT_NAME = 200
"""Characters of a client, a matter or an author: the length of their columns."""


def rename(run_id: int, user: User, title: str) -> str:
    """Give a run another title, which is returned as it is stored. Titles are part of no prompt and no approval.

    Raises NotAllowed, or InvalidInput.
    """
    title = checked_title(title)
    with event_log.writing():
        run = _managed(run_id, user)
        if title != run.title:
            event_log.record(run_id, events.Renamed(by=user.get_username(), before=run.title, after=title))
            event_log.keep(run, title=title)
            audit_trail.record(AuditKind.RENAMED, by=user, run_id=run_id)
    return title


def checked_title(title: str) -> str:
    """The title on one line, without characters that cannot be printed. Raises InvalidInput."""
    title = _on_one_line(title)
    if not title:
        raise InvalidInput("Give the run a title.")
    if len(title) > MAX_TITLE:
        raise InvalidInput(f"The title has {len(title):,} characters; {MAX_TITLE} are allowed.")
    return title


def _on_one_line(text: str) -> str:
    return "".join(char for char in " ".join(text.split()) if char.isprintable())


@dataclass(frozen=True)
class ReportNames:
    """What a report names below its title; empty for none."""

    client: str = ""
    matter: str = ""
    author: str = ""

    @classmethod
    def of(cls, run: Run) -> ReportNames:
        return cls(run.client, run.matter, run.author)

    def checked(self) -> ReportNames:
        """The names as they are stored. Raises InvalidInput for a text that is too long."""
        return ReportNames(**{name: _checked_name(name, text) for name, text in asdict(self).items()})


def name_in_report(run_id: int, user: User, names: ReportNames) -> None:
    """Set what the report of a run names. They are part of no prompt and no approval.

    Raises NotAllowed, or InvalidInput for a text that is too long.
    """
    names = names.checked()
    with event_log.writing():
        run = _managed(run_id, user)
        before = ReportNames.of(run)
        if names != before:
            by = user.get_username()
            event = events.ReportNamed(by=by, client=names.client, matter=names.matter, author=names.author)
            event_log.record(run_id, event)
            event_log.keep(run, **asdict(names))
            changed = [name for name, text in asdict(names).items() if text != getattr(before, name)]
            audit_trail.record(AuditKind.REPORT_NAMED, by=user, run_id=run_id, subject=list_with_and(changed))


def _checked_name(name: str, text: str) -> str:
    text = _on_one_line(text)
    if len(text) > MAX_REPORT_NAME:
        raise InvalidInput(f"The {name} has {len(text):,} characters; {MAX_REPORT_NAME} are allowed.")
    return text


def archive(run_id: int, user: User) -> None:
    """Take a finished run off the lists. Its pages stay as they are. Raises NotAllowed, or DecisionRefused."""
    with event_log.writing():
        run = _managed(run_id, user)
        if problem := archiving_problem(run):
            raise DecisionRefused(problem)
        if run.archived_at is None:
            event_log.keep(run, archived_at=timezone.now())
            event_log.record(run_id, events.Archived(by=user.get_username()))
            audit_trail.record(AuditKind.ARCHIVED, by=user, run_id=run_id)


def archiving_problem(run: Run) -> str:
    """Why a run cannot be archived now, and what to do; empty if it can."""
    if run.status == RunStatus.FINISHED:
        return ""
    return "Only a finished run can be archived. Stop it first, or wait until it has finished."


def unarchive(run_id: int, user: User) -> None:
    """Put a run back on the lists. Raises NotAllowed."""
    with event_log.writing():
        run = _managed(run_id, user)
        if run.archived_at is not None:
            event_log.keep(run, archived_at=None)
            event_log.record(run_id, events.Restored(by=user.get_username()))
            audit_trail.record(AuditKind.UNARCHIVED, by=user, run_id=run_id)


def _managed(run_id: int, user: User) -> Run:
    run = event_log.locked(run_id)
    check_can_manage(user, run)
    return run
