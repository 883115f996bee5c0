"""Gates before execution: nothing of a step runs before a person lets it start; who refuses gets another plan."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.engine.prompt_inputs import for_planner
from runs.enums import GateKind, GateStatus, Outcome, StepApproval, StepMoment, StepStatus, Verb, WorkKind
from runs.errors import DecisionRefused
from runs.lifecycle import effects
from runs.lifecycle import state as states
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.change_requests import answered, requests_of, unmet
from runs.lifecycle.gate_decisions import cancel, pause
from runs.models import Attempt, Gate, Run, Step, WorkItem
from runs.pev.policy import SETTINGS, Capacities
from runs.readmodel.status_words import about_request
from runs.store import trees
from tests import factories as made
from tests.integration.lifecycle.deciding import fresh, refused, say
from tests.integration.lifecycle.small import done

pytestmark = pytest.mark.django_db

BEFORE: dict[str, Any] = {"step_approval": StepApproval.ALL, "step_moment": StepMoment.BEFORE, "sources_needed": False}


def started(*steps: Any, **policy: Any) -> Run:
    """The plan is approved: one step “a”, unless others are given."""
    return made.executing(made.plan(*(steps or (made.plan_step("a", "A"),))), **{**BEFORE, **policy})


def gates(run: Run) -> dict[str, Gate]:
    """The open ones, by the step they are about."""
    found = run.gates.filter(status=GateStatus.OPEN).select_related("step")
    return {gate.step.key if gate.step else gate.kind: gate for gate in found}


def steps(run: Run) -> dict[str, tuple[str, bool, bool]]:
    rows = run.plans.latest("version").steps.values_list("key", "status", "cleared", "refused")
    return {key: (status, cleared, refused) for key, status, cleared, refused in rows}


def attempts(run: Run) -> int:
    return Attempt.objects.filter(step__plan__run=run).count()


def test_nothing_of_a_step_is_carried_out_before_a_person_lets_it_start() -> None:
    run = started()
    gate = gates(run)["a"]
    assert (gate.kind, gate.question) == (GateKind.START, "Start “A”? It is a low-risk step.")
    assert (steps(run), attempts(run), run.work.open().count()) == ({"a": ("waiting", False, False)}, 0, 0)
    say(gate, Verb.APPROVE)
    assert (steps(run), attempts(run)) == ({"a": ("running", True, False)}, 1)


def test_the_result_is_kept_without_another_question() -> None:
    run = started()
    say(gates(run)["a"], Verb.APPROVE)
    done(run, "a", {"a.md": "A"})
    assert (steps(run), gates(run)) == ({"a": ("passed", True, False)}, {})


def test_a_step_whose_result_lost_against_another_is_tried_again_without_another_question() -> None:
    run = started(made.plan_step("a", "A"), made.plan_step("b", "B"))
    for gate in gates(run).values():
        say(gate, Verb.APPROVE)
    done(run, "a", {"out.md": "A"})
    done(run, "b", {"out.md": "B"})
    assert (steps(run)["b"], attempts(run), gates(run)) == (("running", True, False), 3, {})


def test_a_question_takes_no_place_among_the_parallel_steps() -> None:
    first = made.plan_step("a", "A", estimated_complexity="high")
    run = started(first, made.plan_step("b", "B"), step_approval=StepApproval.HIGH, parallel=1)
    assert {key: status for key, (status, _, _) in steps(run).items()} == {"a": "waiting", "b": "running"}
    say(gates(run)["a"], Verb.APPROVE)
    assert steps(run)["a"] == ("pending", True, False)
    done(run, "b", {})
    assert steps(run)["a"] == ("running", True, False)


def test_an_answer_while_the_run_is_paused_starts_nothing_until_it_goes_on() -> None:
    run = started()
    pause(run.pk, made.alice(), paused=True)
    say(gates(run)["a"], Verb.APPROVE)
    assert (steps(run), attempts(run)) == ({"a": ("pending", True, False)}, 0)
    pause(run.pk, made.alice(), paused=False)
    assert (steps(run), attempts(run)) == ({"a": ("running", True, False)}, 1)


def test_a_refusal_needs_words_and_is_a_numbered_request() -> None:
    run = started()
    sentence = "Say what should be different: the words go to the model that tries again."
    assert refused(gates(run)["a"], Verb.REJECT, " ") == sentence
    say(gate := gates(run)["a"], Verb.REJECT, "Ask the landlord first.")
    gate.refresh_from_db()
    assert (gate.status, gate.request, gate.reason) == ("rejected", 1, "Ask the landlord first.")


def test_after_a_refusal_the_planner_is_asked_with_the_words_and_no_replan_is_used_up() -> None:
    run = started(replans=0)
    say(gates(run)["a"], Verb.REJECT, "Ask the landlord first.")
    run = fresh(run)
    assert (run.status, run.replans, attempts(run)) == ("planning", 0, 0)
    brief, why = for_planner(WorkItem(run=run), Capacities())
    assert [(one.label, one.text, one.from_person, one.request) for one in brief.lessons] == [
        ("alice rejected the start of step a of version 1", "Ask the landlord first.", True, 1)
    ]
    assert why == "alice requested changes to the start of “A” in version 1."


def test_a_planner_that_brings_nothing_new_leads_back_to_the_question() -> None:
    run = started(replans=0)
    for words in ("Ask the landlord first.", "I said: first."):
        say(gates(run)["a"], Verb.REJECT, words)
        with made.working(run, WorkKind.PLAN) as mine:
            effects.go_on_without_replan(states.of(mine.run), "The same again.")
        assert (steps(run), gates(run)["a"].kind) == ({"a": ("waiting", False, False)}, GateKind.START)
    say(gates(run)["a"], Verb.APPROVE)
    assert steps(run) == {"a": ("running", True, False)}


def test_steps_under_way_end_and_none_starts_while_another_plan_is_asked_for() -> None:
    run = started(made.plan_step("a", "A"), made.plan_step("b", "B"), made.plan_step("c", "C"))
    asked = gates(run)
    say(asked["b"], Verb.APPROVE)
    say(asked["a"], Verb.REJECT, "Not like this.")
    assert (fresh(run).status, steps(run)["a"]) == ("executing", ("pending", False, True))
    done(run, "b", {"b.md": "B"})
    assert fresh(run).status == "executing", "c waits for an answer"
    say(gates(run)["c"], Verb.APPROVE)
    assert (fresh(run).status, steps(run)["b"][0], attempts(run)) == ("planning", "passed", 1)


def test_a_plan_that_takes_its_place_is_asked_about_anew() -> None:
    run = started()
    say(gates(run)["a"], Verb.REJECT, "Ask the landlord first.")
    made.propose(run, made.plan(made.plan_step("a", "A, with the landlord")))
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    assert (steps(run), gates(run)["a"].question) == (
        {"a": ("waiting", False, False)},
        "Start “A, with the landlord”? It is a low-risk step.",
    )
    assert Step.objects.get(plan__run=run, plan__version=1).status == StepStatus.DROPPED


def test_what_was_asked_for_is_answered_by_the_plan_and_is_no_criterion_of_the_result() -> None:
    run = started()
    say(gates(run)["a"], Verb.REJECT, "Ask the landlord first.")
    plan = run.plans.get()
    by_key = {step.key: step for step in plan.steps.all()}
    [request] = answered(requests_of(fresh(run)), plan, by_key, lambda _: ())
    assert (about_request(request.gate), request.status, request.step) == ("the start of “A”", "open", None)
    assert unmet([request]) == []


def test_an_answer_is_bound_to_the_results_that_the_step_rests_on() -> None:
    run = started(made.plan_step("a", "A"), made.plan_step("b", "B", dependencies=["a"]))
    say(gates(run)["a"], Verb.APPROVE)
    done(run, "a", {"a.md": "A"})
    gate = gates(run)["b"]
    Step.objects.filter(plan__run=run, key="a").update(fingerprint="0" * 64)
    with pytest.raises(DecisionRefused):
        say(gate, Verb.APPROVE)
    again = gates(run)["b"]
    assert (again.pk > gate.pk, again.kind, again.question) == (True, GateKind.START, gate.question)
    say(again, Verb.APPROVE)
    assert steps(run)["b"] == ("running", True, False)


@pytest.mark.parametrize("changed", ["policy", "inputs"])
def test_an_answer_is_bound_to_what_the_approval_of_the_plan_is_bound_to(changed: str) -> None:
    run = started()
    gate = gates(run)["a"]
    if changed == "policy":
        Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(rounds=3))
    else:
        Run.objects.filter(pk=run.pk).update(inputs=trees.with_changes(run.inputs, made.overlay({"new.md": "New."})))
    with pytest.raises(DecisionRefused):
        say(gate, Verb.APPROVE)
    assert (gates(run)["a"].pk > gate.pk, attempts(run)) == (True, 0)


def test_a_second_person_lets_it_start_where_the_policy_wants_one() -> None:
    run = made.awaiting_plan(made.plan(made.plan_step("a", "A")), **BEFORE, second_person=True)
    made.decide(run, GateKind.PLAN, Verb.APPROVE, by=made.bob())
    sentence = "A second person has to approve this: you submitted the task. You may request changes, or stop the run."
    assert refused(gates(run)["a"]) == sentence
    say(gates(run)["a"], Verb.APPROVE, by=made.bob())
    assert steps(run) == {"a": ("running", True, False)}


def test_stopping_at_the_question_ends_the_run_with_nothing_carried_out() -> None:
    run = started()
    say(gates(run)["a"], Verb.STOP)
    assert (fresh(run).outcome, steps(run), attempts(run)) == (Outcome.CANCELLED, {"a": ("dropped", False, False)}, 0)


def test_stopping_the_run_takes_the_question_back() -> None:
    run = started()
    cancel(run.pk, made.alice())
    assert [gate.status for gate in run.gates.filter(kind=GateKind.START)] == [GateStatus.WITHDRAWN]


def test_an_approval_of_before_there_was_a_moment_still_holds() -> None:
    policy = made.awaiting_plan().policy
    later = {name for name, setting in SETTINGS.items() if setting.as_before == getattr(policy, name)}
    assert later >= {"step_moment", "questions", "commands", "web", "service_tools", "executor", "fallback_verifier"}
    before = json.loads(policy.model_dump_json(exclude=later))
    assert fingerprint.policy_digest(policy) == fingerprint.digest_of(before)
    assert fingerprint.policy_digest(policy.changed(step_moment="before")) != fingerprint.digest_of(before)
