"""Calls that act outside: each waits for a person who sees what will be sent, and is carried out once for each yes."""

from collections.abc import Callable
from functools import partial

from django.utils import timezone

from runs.contracts.ports import Acting, ToolResult, ToolUse
from runs.engine.database import database
from runs.enums import GateStatus
from runs.errors import ApprovalAwaited
from runs.lifecycle.gates.tool_gate import call_digest, calls_asked, latest_gate
from runs.models import Gate, WorkItem
from runs.store.journal import CallPlace
from runs.text.plural import pluralize

_REFUSED = "{person} has not allowed this call, and nothing was sent: {reason}"
_LEFT = (
    "{person} has not allowed it to be repeated: {reason} Whether the first call was carried out is not known, since "
    "the process ended in the middle of it."
)


def cleared(
    work: WorkItem,
    place: CallPlace,
    use: ToolUse,
    acting: Acting,
    commit: Callable[[Callable[[WorkItem], object]], object],
) -> ToolResult | None:
    """None when this very call may be carried out now; a result in its place where a person refused it.

    That it is about to be sent is committed before, under the lease. A call that was sent, and whose process ended
    before there was a result, is sent again only if its tool says that this does no harm; otherwise a person is asked
    once more, who knows of it.
    Of more calls than the policy allows nobody is asked; of one that may have been sent somebody always is.
    Raises ApprovalAwaited as long as nobody has decided.
    """
    number = 0
    while True:
        digest = call_digest(work, place, use, number)
        gate = database.call(partial(latest_gate, work, digest))
        if gate is None and not number and (used_up := database.call(partial(_used_up, work))):
            return ToolResult(used_up, is_error=True)
        if gate is None or gate.status == GateStatus.WITHDRAWN:
            raise ApprovalAwaited(use.name, use.input, digest, again=number > 0)
        if gate.status == GateStatus.REJECTED:
            words = _LEFT if number else _REFUSED
            return ToolResult(words.format(person=gate.decided_by, reason=_ended(gate.reason)), is_error=True)
        if gate.status != GateStatus.APPROVED:
            raise ApprovalAwaited(use.name, use.input, digest, again=number > 0)
        if gate.sent_at is None or acting.repeatable:
            commit(partial(_sent, gate.pk))
            return None
        number += 1


def _sent(gate_id: int, work: WorkItem) -> None:
    Gate.objects.filter(pk=gate_id, work=work).update(sent_at=timezone.now())


def _used_up(work: WorkItem) -> str:
    """Steps that ask at the same moment may come to some more questions: each of them is a person's to answer."""
    most = work.run.policy.acting_calls
    if calls_asked(work.run) < most:
        return ""
    return f"This run may ask to let {pluralize(most, 'call')} act outside, and has done so. Nothing was sent."


def _ended(reason: str) -> str:
    return reason if reason.endswith((".", "!", "?")) else f"{reason}."
