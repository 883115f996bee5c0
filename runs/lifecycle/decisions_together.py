"""Several gates with equal consequences approved at once: each is decided and recorded by itself."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

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
_READ = ("run__inputs", "plan", "step__plan", "attempt__verdict")
"""What consequences are computed from."""


def approve_together(user: User, chosen: Sequence[tuple[int, str]]) -> tuple[list[Gate], list[tuple[Gate, str]]]:
    """Approve gates, each with the digest that the page showed. Returns those that are approved, and those that are
    not, each with the reason as a sentence.

    Raises InvalidInput, before anything is decided, if there are too many gates, gates with different consequences, or
    no open gate.
    """
    digests = dict(chosen[: MAX_TOGETHER + 1])
    if len(digests) > MAX_TOGETHER:
        raise InvalidInput(f"At most {MAX_TOGETHER} decisions are made at once. Tick fewer.")
    gates = _with_consequences(approvable_gates(user).filter(pk__in=digests).values_list("pk", flat=True))
    if not gates:
        raise InvalidInput("None of the ticked decisions is still needed.")
    if len({gate.kind for gate in gates}) > 1:
        raise InvalidInput("Decisions of different kinds have different consequences. Tick those of one kind.")
    problems = {gate.pk: type_of(gate).needs_reading(gate) for gate in gates}
    _check_equal([gate for gate in gates if not problems[gate.pk]])
    approved, left = [], []
    for gate in gates:
        problem = problems[gate.pk]
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


def equal_gates(gates: Sequence[Gate]) -> Mapping[int, str]:
    """Those of these gates that can be approved together with another one, by primary key: equal texts stand for equal
    consequences.
    """
    shared = Counter(gate.consequences for gate in gates if gate.consequences)
    return {gate.pk: gate.consequences for gate in gates if shared[gate.consequences] > 1}


def _with_consequences(keys: Iterable[int]) -> list[Gate]:
    gates = Gate.objects.filter(pk__in=keys).select_related(*_READ).prefetch_related("plan__steps").order_by("pk")
    return list(gates)


def _check_equal(gates: Sequence[Gate]) -> None:
    """Raises InvalidInput with the parts in which the consequences of these gates differ."""
    found = [type_of(gate).consequences(gate) for gate in gates]
    parts = {part: None for one in found for part in one if len({other.get(part) for other in found}) > 1}
    if parts:
        differ = f"These decisions have different consequences: they differ in {', '.join(parts)}."
        raise InvalidInput(f"{differ} Tick those that are equal and decide the others one by one.")
