"""Questions to people and their answers, as anyone who reads them later is told."""

import json
from dataclasses import dataclass
from decimal import Decimal

from runs.enums import GateKind
from runs.models import Gate
from runs.pev.texts.wording import quoted


@dataclass(frozen=True)
class Limit:
    """A limit that can be raised: the field's name and label, what holds now, and what is suggested."""

    name: str
    label: str
    now: Decimal | int
    suggested: Decimal | int


def limits_of(gate: Gate) -> tuple[Limit, ...]:
    """The limits that an approval of this gate can raise; twice of what holds now is suggested."""
    if gate.kind != GateKind.BUDGET:
        return ()
    policy = gate.run.policy
    found: list[Limit] = []
    if policy.budget is not None:
        found.append(Limit("budget", "New budget in USD", policy.budget, 2 * policy.budget))
    if policy.time_limit is not None:
        minutes = policy.time_limit // 60
        found.append(Limit("minutes", "New time limit in minutes", minutes, 2 * minutes))
    return tuple(found)


def called(gate: Gate) -> str:
    """The tool that a call which acts outside would call."""
    return str(gate.call["name"]) if gate.call else ""


def sent_with(gate: Gate) -> str:
    """The arguments of such a call, all of them, as they are sent."""
    return json.dumps(gate.call["arguments"], ensure_ascii=False, indent=2) if gate.call else ""


def asked_about(gate: Gate) -> str:
    """What a gate asks about, as the object of a sentence."""
    name = gate.step.spec.name if gate.step else ""
    match GateKind(gate.kind):
        case GateKind.PLAN:
            return f"version {gate.plan.version} of the plan" if gate.plan else "the plan"
        case GateKind.START:
            return f"the start of “{name}”"
        case GateKind.STEP:
            return f"the result of “{name}”"
        case GateKind.EXHAUSTED:
            return f"accepting open points in “{name}”"
        case GateKind.ERROR:
            return f"trying “{name}” again" if name else "trying again"
        case GateKind.BUDGET:
            return "going on beyond the limit"
        case GateKind.QUESTION:
            return f"the question {quoted(gate.question, 200)}"
        case GateKind.TOOL:
            return f"the call {called(gate)}"


def subject_of(gate: Gate) -> str:
    """What a gate asks about, as the head of a line."""
    if gate.step:
        return f"Step “{gate.step.spec.name}”"
    return f"Plan, version {gate.plan.version}" if gate.plan else gate.kind.capitalize()
