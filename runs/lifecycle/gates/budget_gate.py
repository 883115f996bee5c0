"""The gate of a limit in money, time or uses of tools: is it raised, or is the run finished with what there is?"""

from dataclasses import replace
from decimal import ROUND_UP, Decimal

from runs.enums import GateKind, Verb
from runs.lifecycle import effects, run_limits
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import Decision, GateFigures, GateType, Limit, Subject, Wording, hold, open_gate
from runs.models import Gate, User, WorkItem
from runs.text.plural import pluralize

_CENT = Decimal("0.01")


class BudgetGate(GateType):
    kind = GateKind.BUDGET
    label = "Limit"
    subject = Subject.QUESTION
    template = "gates/gate_question.html"
    wording = Wording(
        "Raise and go on",
        "Finish now",
        "A note (optional)",
        "Finishing keeps what has passed; the result is marked as incomplete, and nothing more is spent.",
        needs_reason=False,
    )
    unattended = Verb.REJECT
    raises_limits = True
    heading = "A limit is reached."

    def digest(self, gate: Gate) -> str:
        return fingerprint.policy_digest(gate.run.policy)

    def complete(self, decision: Decision) -> Decision:
        if decision.verb is not Verb.REJECT:
            return decision
        return replace(decision, reason=decision.reason.strip() or "Finish now, with what is done.")

    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        if decision.verb is Verb.APPROVE:
            run_limits.raise_to(gate.run, user, budget=decision.budget, time_limit=decision.time_limit)
        else:
            who = user.get_username()
            effects.finish(gate.run, ended=f"The limit was reached, and {who} finished the run with what was there.")

    def title(self, gate: Gate, unpassed: str = "") -> str:
        return "A limit is reached"

    def short_question(self, gate: Gate) -> str:
        return gate.question

    def bound_to(self, gate: Gate, attempt: int) -> str:
        return "the policy as it is, with the new limit"

    def wording_of(self, gate: Gate, figures: GateFigures | None = None) -> Wording:
        """The buttons name the new limit and what the run is finished with."""
        limits = self.limits(gate, figures)
        approve = limits[0].button.format(limits[0].suggested) if len(limits) == 1 else self.wording.approve
        if not figures or not figures.steps:
            return replace(self.wording, approve=approve)
        reject = f"Finish now with {figures.done} of {pluralize(figures.steps, 'step')}"
        return replace(self.wording, approve=approve, reject=reject)

    def limits(self, gate: Gate, figures: GateFigures | None = None) -> tuple[Limit, ...]:
        """The suggested budget is enough if every further step passes at once.

        Without an estimate, it is twice the current one. A time limit is doubled.
        """
        policy = gate.run.policy
        limits: list[Limit] = []
        if policy.budget is not None:
            rest = figures.rest_low if figures else None
            more = policy.budget + max(rest, _CENT).quantize(_CENT, ROUND_UP) if rest else 2 * policy.budget
            limits.append(Limit("budget", "New budget in USD", policy.budget, more, "Raise to ${}"))
        if policy.time_limit is not None:
            minutes = policy.time_limit // 60
            limits.append(Limit("minutes", "New time limit in minutes", minutes, 2 * minutes, "Raise to {} minutes"))
        return tuple(limits)

    def about(self, gate: Gate, step: str) -> str:
        return "going on beyond the limit"


GATE = BudgetGate()


def ask(work: WorkItem, sentence: str) -> None:
    """Hold the work until a person raises the limit or finishes the run. One gate asks for all held work."""
    hold(work)
    run = work.run
    if not run.gates.open().filter(kind=GATE.kind).exists():
        question = f"{sentence} Raise the limit, or finish now?"
        open_gate(run, GATE, question, fingerprint.policy_digest(run.policy))
