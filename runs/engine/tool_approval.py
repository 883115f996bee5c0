"""Calls that act outside the run: a person approves each one, seeing what will be sent. An approval allows one call."""

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
    """None if exactly this call may be carried out now; else a result that says why not.

    Raises ApprovalAwaited if no one has decided yet. If the run has asked for as many calls as its policy allows,
    no one is asked, except about a call that may have been sent already.
    """
    # That the call is about to be sent is committed first, under the lease. If the process ends before there is a
    # result, it is unknown whether the call was carried out. It is sent again only if its tool declares that as
    # harmless; otherwise a person is asked again, with that fact. `number` counts these questions.
    number = 0
    while True:
        digest = call_digest(work, place, use, number)
        gate = database.call(partial(latest_gate, work, digest))
        if gate is None and not number and (used_up := database.call(partial(_problem_with_number, work))):
            return ToolResult(used_up, is_error=True)
        if gate is None or gate.status == GateStatus.WITHDRAWN:
            raise ApprovalAwaited(use.name, use.input, digest, again=number > 0)
        if gate.status == GateStatus.REJECTED:
            words = _LEFT if number else _REFUSED
            reason = gate.reason if gate.reason.endswith((".", "!", "?")) else f"{gate.reason}."
            return ToolResult(words.format(person=gate.decider, reason=reason), is_error=True)
        if gate.status != GateStatus.APPROVED:
            raise ApprovalAwaited(use.name, use.input, digest, again=number > 0)
        if gate.sent_at is None or acting.repeatable:
            commit(partial(_note_sending, gate.pk))
            return None
        number += 1


def _note_sending(gate_id: int, work: WorkItem) -> None:
    Gate.objects.filter(pk=gate_id, work=work).update(sent_at=timezone.now())


def _problem_with_number(work: WorkItem) -> str:
    """Why no further call may be asked about; empty if one may. Parallel steps may exceed the limit by a few."""
    most = work.run.policy.acting_calls
    if calls_asked(work.run) < most:
        return ""
    return f"This run may ask to let {pluralize(most, 'call')} act outside, and has done so. Nothing was sent."
