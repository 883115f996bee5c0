"""Whether a notice still tells of something: much may have happened since it was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runs.enums import GateStatus, NoticeKind
from runs.models import Notice, User
from runs.notices import account_mails
from runs.people.permissions import approvable_gates, gates_asking, visible_runs


def why_outdated(person: User, notices: Sequence[Notice]) -> Mapping[int, str]:
    """Of these notices to one person, with their gates, those for which there is no reason any more, and why. The
    number of queries does not grow with the notices.
    """
    runs = {notice.run_id for notice in notices if notice.run_id}
    gates = {notice.gate_id for notice in notices if notice.gate_id}
    visible = set(visible_runs(person).filter(pk__in=runs).values_list("pk", flat=True)) if runs else set()
    asked = set(gates_asking(person).filter(pk__in=gates).values_list("pk", flat=True)) if gates else set()
    may_approve = set(approvable_gates(person).filter(pk__in=gates).values_list("pk", flat=True)) if gates else set()

    def why(notice: Notice) -> str:
        gate = notice.gate
        if notice.kind in {NoticeKind.EMAIL_ADDED, NoticeKind.PASSWORD_RESET} and not account_mails.is_needed(notice):
            return "The link is no longer needed."
        if notice.run_id and notice.run_id not in visible:
            return "The person may no longer see the run."
        if gate is None:
            return ""
        if gate.status != GateStatus.OPEN:
            return "The decision was made, or is no longer needed."
        if notice.kind == NoticeKind.ASSIGNED and gate.assigned_to_id != person.pk:
            return "The decision is the turn of someone else now."
        may = asked if notice.kind == NoticeKind.DECISION_NEEDED else may_approve
        return "" if gate.pk in may else "The decision no longer waits for this person."

    return {notice.pk: sentence for notice in notices if (sentence := why(notice))}
