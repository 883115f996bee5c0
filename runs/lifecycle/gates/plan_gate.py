"""The gate of a plan: may this version be carried out?"""

from collections.abc import Collection

from runs.accounting.past_estimates import estimate_for
from runs.enums import Complexity, GateKind, GateStatus, PlanStatus, RunStatus, Verb
from runs.errors import DecisionRefused
from runs.lifecycle import available_agents, effects
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import Decision, GateFigures, GateType, Subject, Wording, open_gate
from runs.lifecycle.state import RunState
from runs.lifecycle.transitions import change
from runs.models import Gate, Plan, Run, User
from runs.models.querysets import GateQuerySet
from runs.pev.checks.material import list_in_words
from runs.pev.contracts import PlanStep
from runs.pev.missing_inputs import missing_inputs
from runs.store import trees
from runs.text.plural import pluralize, word_for


class PlanGate(GateType):
    kind = GateKind.PLAN
    label = "Plan"
    together = "Each run carries out this plan with its own files."
    subject = Subject.PLAN
    template = "gates/gate_plan.html"
    wording = Wording(
        "Approve",
        "Request changes",
        "What should be different?",
        "The planner gets these words and writes the next version. With an approval they are only noted.",
    )
    does = {
        Verb.APPROVE: "The steps are carried out as they are planned here. Calls that act outside and results of "
        "high-risk steps are asked about again, as the policy says.",
        Verb.REJECT: "Nothing is carried out. The planner writes the next version with your words, and you are asked "
        "about that one.",
    }
    for_second_person = True
    revises_plan = True
    takes_files = True
    supplied = "the plan is asked about again"
    shows_requests = True
    waiting = "waited for a decision about the plan"
    heading = "Approve this plan?"
    rejected = "requested changes to {about}"

    def digest(self, gate: Gate) -> str:
        return _digest(gate.run, gate.plan) if gate.plan else gate.digest

    def check_approval(self, gate: Gate) -> None:
        """Refuses a plan that names an agent which the run cannot have any more."""
        if gate.plan is None or not gate.plan.agents:
            return
        roster = available_agents.agent_roster(gate.run.policy)
        for name in gate.plan.agents:
            if why := roster.missing(name):
                instead = "Request changes, edit the plan, or have an administrator put that right."
                raise DecisionRefused(f"The plan names the agent “{name}”, {why} {instead}")

    def needs_reading(self, gate: Gate) -> str:
        if gate.plan is not None and gate.plan.version > 1:
            return "The plan is not the first of its run: read what has changed."
        if gate.plan is not None and any(step.complexity == Complexity.HIGH for step in gate.plan.steps.all()):
            return "The plan has high-risk steps."
        specs = [step.spec for step in gate.plan.steps.all()] if gate.plan else []
        if missing := missing_in_plan(gate.run, specs):
            are = word_for(len(missing), "is", "are")
            return f"The plan reads {list_in_words(missing)}, which {are} not among the files."
        return ""

    def consequences(self, gate: Gate) -> dict[str, str]:
        return fingerprint.shared_parts(gate.run, gate.plan) if gate.plan else {}

    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        assert gate.plan is not None
        if decision.verb is Verb.APPROVE:
            effects.approve_plan(gate.run, gate.plan, by=user, how=decision.how)
        else:
            change(gate.plan, PlanStatus.REJECTED)
            change(gate.run, RunStatus.PLANNING)

    def follow_supply(self, gate: Gate) -> None:
        """The documents among the new files are read, then the same version is asked about again."""
        assert gate.plan is not None
        change(gate.run, RunStatus.PLANNING)
        if not trees.readings_of(gate.run.inputs).waiting:  # else that follows once they are read
            estimate = estimate_for(gate.run, fingerprint.contract_of(gate.plan))
            Plan.objects.filter(pk=gate.plan.pk).update(estimate=estimate)

    def title(self, gate: Gate) -> str:
        return self.heading

    def facts(self, figures: GateFigures) -> list[str]:
        facts = [f"version {figures.version}", pluralize(figures.steps, "step")]
        facts += [pluralize(figures.high_risk_steps, "high-risk step")] if figures.high_risk_steps else []
        return [*facts, figures.cost]

    def bound_to(self, gate: Gate, attempt: int) -> str:
        if gate.plan is None:
            return super().bound_to(gate, attempt)
        return (
            f"version {gate.plan.version} of the plan, the input files, the policy, the models and their instructions"
        )

    def about(self, gate: Gate, step: str) -> str:
        return f"version {gate.plan.version} of the plan" if gate.plan else "the plan"

    def about_in_history(self, gate: Gate, step: str) -> str:
        return "the plan"


GATE = PlanGate()


def missing_in_plan(run: Run, steps: Collection[PlanStep]) -> list[str]:
    """The files that these steps of the plan name as input and that the run does not have."""
    if not missing_inputs(steps, ()):
        return []  # no step names a file, so that none has to be read from the database
    there = dict.fromkeys([*trees.files_of(run.inputs), *trees.files_of(run.head)])
    return missing_inputs(steps, there)


def ask(state: RunState) -> None:
    """Ask about the newest plan, or ask again about an approved one because what would run has changed."""
    run, plan = state.run, state.plan
    assert plan is not None
    question = f"Version {plan.version} of the plan is ready. Approve it?"
    if plan.status == PlanStatus.APPROVED:
        parts = ", ".join(fingerprint.differences(plan, run))
        question = f"Since version {plan.version} was approved, something has changed ({parts}). Approve it again?"
        change(plan, PlanStatus.PROPOSED, approval_fingerprint=None, approved_by=None, approved_how="")
    change(run, RunStatus.AWAITING_APPROVAL)
    open_gate(run, GATE, question, _digest(run, plan), plan=plan)


def ask_for_edit(run: Run, plan: Plan) -> None:
    """Ask about a version that a person edited. An edit is not an approval, whatever the policy says (G2)."""
    question = f"{plan.author} edited the plan. Approve version {plan.version}?"
    open_gate(run, GATE, question, _digest(run, plan), plan=plan)


def gates_of(run: Run) -> GateQuerySet:
    return run.gates.filter(kind=GATE.kind)


def waits_again(plan: Plan) -> bool:
    """Whether people were asked about this version and gave files instead of approving or rejecting it."""
    is_open = plan.approved_how == "" and plan.status != PlanStatus.REJECTED
    return is_open and gates_of(plan.run).filter(status=GateStatus.SUPPLIED, plan=plan).exists()


def _digest(run: Run, plan: Plan) -> str:
    return fingerprint.digest_of(fingerprint.fingerprint_of(run, plan))
