"""The gate of a limit in money, time or uses of tools: is it raised, or is the run finished with what there is?"""

from dataclasses import replace
from decimal import ROUND_UP, Decimal
from math import ceil

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
        "Raise the limit",
        "Finish now",
        "A note (optional)",
        "Finishing keeps what has passed; the result is marked as incomplete, and nothing more is spent.",
        needs_reason=False,
    )
    does = {
        Verb.APPROVE: "The run goes on from where it stopped, up to the new limit, and you are asked again there.",
        Verb.REJECT: "The run ends. What has passed is kept, the result is marked as incomplete, and nothing more is "
        "spent.",
    }
    unattended = Verb.REJECT
    raises_limits = True
    heading = "Raise the limit?"

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

    def title(self, gate: Gate) -> str:
        return self.heading

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
        policy, known = gate.run.policy, figures or GateFigures()
        limits: list[Limit] = []
        if policy.budget is not None:
            more, why = _suggested_budget(policy.budget, known)
            limits.append(Limit("budget", "New budget in USD", policy.budget, more, "Raise to ${}", why))
        if policy.time_limit is not None:
            now = policy.time_limit // 60
            minutes, why = _suggested_minutes(now, known)
            limits.append(Limit("minutes", "New time limit in minutes", now, minutes, "Raise to {} minutes", why))
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


def _suggested_budget(now: Decimal, figures: GateFigures) -> tuple[Decimal, str]:
    """A new budget, and how it was worked out. It covers the upper end of the estimate, but is at most twice the
    budget so far, or twice what the lower end needs, because the upper end can be many times as much.
    """
    spent, low, high = figures.spent, figures.rest_low, figures.rest_high
    if not low:
        more = (max(now, spent) + now).quantize(_CENT, ROUND_UP)
        return more, f"${more} adds the budget so far once more, because the cost of the rest is not estimated."
    end, rest = ("upper", high) if high and high > low else ("lower", low)
    more = max(spent + rest, now + _CENT).quantize(_CENT, ROUND_UP)
    doubled = (max(now, spent + low) * 2).quantize(_CENT, ROUND_UP)
    if end == "upper" and more > doubled:
        what = "what the lower end of the estimate needs" if spent + low > now else "the budget so far"
        return doubled, f"${doubled} is twice {what}. The upper end needs ${more}, so you may be asked again."
    if spent + rest <= now:
        why = f"${more} is a cent more than the budget so far, which covers the {end} end of the estimate"
    else:
        why = f"${more} is ${spent:.2f} spent and ${rest:.2f} for the rest, the {end} end of its estimate"
    if end == "upper":
        return more, f"{why}. It includes further attempts."
    return more, f"{why}. It is enough if every further step passes at once; each further attempt needs more."


def _suggested_minutes(now: int, figures: GateFigures) -> tuple[int, str]:
    """A new time limit in minutes, and how it was worked out: at the pace of the steps that are done, if any are."""
    worked = ceil(figures.worked_seconds / 60)
    if worked < now:
        return now, f"The time limit of {now} minutes is not reached: {pluralize(worked, 'minute')} were worked."
    if figures.rest_minutes:
        more = worked + figures.rest_minutes
        return more, f"{more} minutes are the {worked} worked and {figures.rest_minutes} for the rest at the same pace."
    more = worked + now
    return (
        more,
        f"{more} minutes are the {worked} worked and {now} more, because the time of the rest is not estimated.",
    )
