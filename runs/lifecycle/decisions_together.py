"""Several gates of one kind approved at once: each is decided and recorded as if it had been the only one."""

from collections.abc import Sequence

from runs.enums import Verb
from runs.errors import InvalidInput, PevError
from runs.lifecycle import gate_decisions
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.gates.registry import type_of
from runs.models import Gate, User
from runs.people.permissions import approvable_gates

HOW = "bulk decision"
"""How such a decision is recorded. It does not count as read."""
MAX_TOGETHER = 100


def approve_together(user: User, chosen: Sequence[tuple[int, str]]) -> tuple[list[Gate], list[tuple[Gate, str]]]:
    """Approve gates, each with the digest that the page showed. Returns those that are approved, and those that are
    not, each with the reason as a sentence.

    Raises InvalidInput, before anything is decided, if there are too many gates, gates of several kinds, or no open
    gate.
    """
    digests = dict(chosen[: MAX_TOGETHER + 1])
    if len(digests) > MAX_TOGETHER:
        raise InvalidInput(f"At most {MAX_TOGETHER} decisions are made at once. Tick fewer.")
    gates = list(approvable_gates(user).filter(pk__in=digests).select_related("run", "plan", "step").order_by("pk"))
    if not gates:
        raise InvalidInput("Nothing that is ticked needs your decision any more.")
    if len({gate.kind for gate in gates}) > 1:
        raise InvalidInput("Decisions of different kinds have different consequences. Tick those of one kind.")
    approved, left = [], []
    for gate in gates:
        problem = type_of(gate).needs_reading(gate)
        try:
            if not problem:
                gate_decisions.decide(gate.pk, user, Decision(Verb.APPROVE, digests[gate.pk], how=HOW))
        except PevError as error:
            problem = str(error)
        if problem:
            left.append((gate, problem))
        else:
            approved.append(gate)
    return approved, left
