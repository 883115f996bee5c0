"""Editing a plan: while its gate is open, a person replaces the version that is asked about."""

from collections.abc import Collection, Iterator, Sequence

from runs.accounting.past_estimates import estimate_for
from runs.enums import SETTLED_STEPS, About, AuditKind, GateStatus, Role
from runs.errors import DecisionRefused, InvalidInput, PlanRefused
from runs.lifecycle import effects, outcomes
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.available_agents import agent_roster
from runs.lifecycle.gate_decisions import already_decided, current_digest
from runs.lifecycle.gates.plan_gate import ask_for_edit
from runs.lifecycle.toolset import commands_allowed, tool_names
from runs.models import Gate, Plan, Run, User
from runs.people.permissions import check_can_decide
from runs.pev.contracts import Criterion, PlanContract, PlanStep, RequestAnswer
from runs.pev.plans.problem import PlanProblem
from runs.pev.policy import Policy
from runs.pev.soundness import placed_comparisons, placed_problems
from runs.rehearsal.job import is_known, is_known_of_the_run
from runs.rehearsal.model import MODELS
from runs.store import audit_trail, event_log, trees


def edit(gate_id: int, user: User, digest: str, plan: PlanContract) -> Plan:
    """Store the edited plan as the next version, and ask about that one instead. An edit approves nothing (G2).

    `digest` is the one on the page that was edited. Raises NotAllowed; DecisionRefused if someone else has decided or
    edited since; PlanRefused with the problems of the plan; InvalidInput if nothing was changed.
    """
    with event_log.writing():
        gate = Gate.objects.select_related("run", "plan", "decided_by").get(pk=gate_id)
        run = event_log.locked(gate.run_id)
        gate.refresh_from_db(fields=["status", "decided_by", "decided_at", "decided_how", "reason"])
        gate.run = run
        check_can_decide(user, run)
        before = _plan_asked_about(gate, digest)
        plan = plan.model_copy(update={"answers": _answers_after_edit(before, plan)})
        if before == plan:
            raise InvalidInput("Nothing was changed, so there is nothing to save.")
        problems = problems_with(run, plan)
        if problems:
            raise PlanRefused([problem.sentence for problem in problems])
        effects.withdraw(gate)
        reason = f"{user.get_username()} edited version {gate.plan.version if gate.plan else 0}."
        row = outcomes.propose_plan(run, plan, reason=reason, estimate=estimate_for(run, plan), author=user)
        ask_for_edit(run, row)
        audit_trail.record(
            AuditKind.PLAN_EDITED,
            by=user,
            run_id=run.pk,
            subject=f"plan version {row.version}",
            digest=row.digest,
            version=row.version,
            gate=gate.pk,
        )
    return row


def with_other_topic(plan: PlanContract, step_id: str, number: int) -> PlanContract:
    """The plan with one criterion about the output instead of the sources, or the other way round.

    `step_id` is empty for a success criterion; `number` counts from 1. Raises InvalidInput.
    """
    whole = plan.model_dump(mode="json")
    listed = [whole["success_criteria"]] if not step_id else []
    listed += [step["acceptance_criteria"] for step in whole["steps"] if step_id and step["step_id"] == step_id]
    criteria = [*plan.success_criteria] if not step_id else []
    criteria += [one for step in plan.steps if step_id and step.step_id == step_id for one in step.acceptance_criteria]
    if not 1 <= number <= len(criteria) or criteria[number - 1].check:
        raise InvalidInput("There is no such criterion in this version of the plan; reload the page.")
    other = About.OUTPUT if criteria[number - 1].topic is About.SOURCES else About.SOURCES
    listed[0][number - 1]["about"] = other.value
    return PlanContract.model_validate(whole)


def change_topic(gate_id: int, user: User, digest: str, step_id: str, number: int) -> Plan:
    """Store the plan that is asked for `with_other_topic` as the next version: an edit like any other (G2).

    Raises what `edit` raises.
    """
    gate = Gate.objects.select_related("plan", "run", "decided_by").get(pk=gate_id)
    return edit(gate_id, user, digest, with_other_topic(_plan_asked_about(gate, digest), step_id, number))


def problems_with(run: Run, plan: PlanContract) -> Sequence[PlanProblem]:
    """What makes the plan unusable, each problem with its place. The same checks as for a plan of the planner."""
    policy = run.policy
    newest = run.plans.newest()
    kept = [step.spec for step in newest.steps.filter(status__in=SETTLED_STEPS)] if newest else []
    found = placed_problems(
        plan,
        tool_names(policy),
        commands=commands_allowed(policy),
        agents=agent_roster(policy, plan),
        max_steps=policy.max_steps,
        sources_needed=policy.sources_needed,
        requests=sorted({answer.request for answer in plan.answers}),
    )
    found = found or placed_comparisons(plan, trees.files_of(run.inputs), kept)
    return found or list(beyond_the_rehearsal(policy, plan, kept))


def _plan_asked_about(gate: Gate, digest: str) -> PlanContract:
    """The version that the gate asks about. Raises DecisionRefused if another one was edited."""
    if gate.plan is None:
        raise DecisionRefused("Only a plan that needs a decision can be edited.")
    if gate.status != GateStatus.OPEN:
        raise DecisionRefused(already_decided(gate))
    if digest != gate.digest or gate.digest != current_digest(gate):
        raise DecisionRefused("What would run has changed since this page was loaded. Reload it, then edit.")
    return fingerprint.contract_of(gate.plan)


def _answers_after_edit(before: PlanContract, plan: PlanContract) -> list[RequestAnswer]:
    """The planner's answers to requests whose step or criterion still exists.

    A request whose answer was edited away is open again, and is shown like that to the person who decides (T7).
    """
    old = {step.step_id: step.acceptance_criteria for step in before.steps} | {None: before.success_criteria}
    new = {step.step_id: step.acceptance_criteria for step in plan.steps} | {None: plan.success_criteria}
    found = []
    for answer in before.answers:
        if answer.step_id in new and answer.criterion:
            number = _number_after_edit(answer.criterion, old[answer.step_id], new[answer.step_id])
            found += [answer.model_copy(update={"criterion": number})] if number else []
        elif answer.step_id in new:
            found.append(answer)
    return found


def _number_after_edit(number: int, old: Sequence[Criterion], new: Sequence[Criterion]) -> int:
    """The number after the edit of the criterion with the same words, or of a new one in its place; else 0."""
    texts, known = [one.text for one in new], {one.text for one in old}
    wanted = old[number - 1].text
    if wanted in texts:
        return texts.index(wanted) + 1
    return number if number <= len(texts) and texts[number - 1] not in known else 0


_STEP_CHANGED = (
    "The offline rules cannot carry this step out: its description, its outputs and its criteria for an AI review have "
    "to stay as the planner wrote them; its name, inputs and automatic checks may change."
)

_CRITERION_CHANGED = (
    "The offline rules cannot judge this: a success criterion for an AI review has to stay as the planner wrote it."
)


def beyond_the_rehearsal(policy: Policy, plan: PlanContract, done: Collection[PlanStep]) -> Iterator[PlanProblem]:
    """What the rehearsal would refuse later, if it is the executor. Steps that are done are not checked."""
    if policy.model_for(Role.EXECUTOR).model not in MODELS:
        return
    for step in plan.steps:
        if step not in done and not is_known(step):
            yield PlanProblem(_STEP_CHANGED, step_id=step.step_id, where=f"Step “{step.name}”")
    for number, criterion in enumerate(plan.success_criteria, 1):
        if not is_known_of_the_run(criterion):
            yield PlanProblem(_CRITERION_CHANGED, criterion=number, field="text", where=f"Success criterion {number}")
