"""What advancing does to rows: starts, commits, conflicts, replans, ends (D2, D4, D6)."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from runs.engine import claim
from runs.enums import (
    Action,
    AttemptStatus,
    EventKind,
    Exhausted,
    GateKind,
    GateStatus,
    Outcome,
    PlanStatus,
    RunStatus,
    StepApproval,
    StepStatus,
    Verb,
    WorkKind,
    WorkStatus,
)
from runs.errors import LeaseLost
from runs.lifecycle import effects, gate_decisions
from runs.lifecycle import state as states
from runs.lifecycle.advance import advance
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Attempt, Event, Run, Step, WorkItem
from runs.store import blobs, trees
from tests import factories as made
from tests.integration.lifecycle.small import done, exhausted, started, undone, waiting

pytestmark = pytest.mark.django_db

FREE: dict[str, Any] = {"step_approval": StepApproval.NONE}


def statuses(run: Run) -> dict[str, str]:
    return dict(run.plans.latest("version").steps.values_list("key", "status"))


def attempts(run: Run, key: str) -> list[str]:
    found = Attempt.objects.filter(step__plan__run=run, step__key=key).order_by("step__plan__version", "number")
    return list(found.values_list("status", flat=True))


def text(run: Run, path: str) -> str:
    return blobs.read(trees.files_of(Run.objects.get(pk=run.pk).head)[path].sha256).decode()


def two(**changes: Any) -> Run:
    """Two steps without order, both under way."""
    return started("a", "b", **changes)


def moved(run: Run) -> int:
    return Run.objects.get(pk=run.pk).event_count


# ---- starting -----------------------------------------------------------------------------------------------------


def test_a_step_starts_when_all_it_depends_on_has_passed_and_not_before() -> None:
    last = made.plan_step("c", "C", dependencies=["a", "b"])
    run = made.executing(made.plan(made.plan_step("a", "A"), made.plan_step("b", "B"), last), **FREE)
    done(run, "a", {})
    assert statuses(run) == {"a": "passed", "b": "running", "c": "pending"}
    done(run, "b", {})
    assert statuses(run) == {"a": "passed", "b": "passed", "c": "running"}


def test_no_more_steps_run_at_once_than_the_policy_allows() -> None:
    steps = [made.plan_step(f"s{n}", f"Step {n}") for n in range(4)]
    run = made.executing(made.plan(*steps), parallel=2, **FREE)
    assert list(statuses(run).values()) == ["running", "running", "pending", "pending"]
    done(run, "s0", {})
    assert list(statuses(run).values()) == ["passed", "running", "running", "pending"]


def test_nothing_starts_under_a_plan_that_nobody_approved() -> None:
    run = made.awaiting_plan()
    advance(run.pk)
    assert (Attempt.objects.count(), statuses(run)["inventory"]) == (0, StepStatus.PENDING)


def test_advancing_again_changes_nothing() -> None:
    for run in (made.planning(), made.awaiting_plan(), waiting(), exhausted(), made.stopped()):
        before = moved(run)
        advance(run.pk)
        advance(run.pk)
        assert moved(run) == before


def test_an_attempt_starts_from_the_workspace_as_it_is_then() -> None:
    run = made.executing()
    made.pass_inventory(run)
    assert Attempt.objects.get(step__key="review").base == Run.objects.get(pk=run.pk).head


# ---- the workspace (D4) -------------------------------------------------------------------------------------------


def test_only_a_pass_puts_files_into_the_workspace() -> None:
    run = two()
    undone(run, "a")
    done(run, "b", {"b.md": "B"})
    head = Run.objects.get(pk=run.pk).head
    assert set(trees.files_of(head)) - set(trees.files_of(run.inputs)) == {"b.md"}


def test_two_steps_that_touch_different_files_both_count() -> None:
    run = two()
    done(run, "a", {"a.md": "A"})
    done(run, "b", {"b.md": "B"})
    assert (text(run, "a.md"), text(run, "b.md"), statuses(run)) == ("A", "B", {"a": "passed", "b": "passed"})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("out.md", "out.md"),
        ("out", "out/b.md"),
        ("out/a.md", "out"),
        ("Out.md", "out.md"),
        (made.SERVICE, made.SERVICE),
    ],
)
def test_of_two_steps_that_touch_the_same_place_the_second_is_tried_again_on_the_new_tree(
    first: str, second: str
) -> None:
    run = two()
    done(run, "a", {first: "A"})
    done(run, "b", {second: "B"})
    step = Step.objects.get(plan__run=run, key="b")
    latest = step.attempts.latest("number")
    assert attempts(run, "b") == [AttemptStatus.CONFLICT, AttemptStatus.EXECUTING]
    assert (step.status, step.failures) == (StepStatus.RUNNING, 0)
    assert latest.base == Run.objects.get(pk=run.pk).head
    assert text(run, first) == "A"
    told = Event.objects.get(run=run, kind=EventKind.STEP_RETRIED)
    assert told.data == {"step": "b", "why": f"Another step changed {second} in the meantime."}


def test_a_step_that_was_tried_again_passes_on_the_new_tree() -> None:
    run = two(attempts=1, replans=0)
    done(run, "a", {"out.md": "A"})
    done(run, "b", {"out.md": "B"})
    done(run, "b", {"out.md": "A and B"})
    assert (text(run, "out.md"), statuses(run)) == ("A and B", {"a": "passed", "b": "passed"})


def test_a_step_at_its_gate_conflicts_too_when_it_is_approved_too_late() -> None:
    run = two(step_approval=StepApproval.ALL)
    done(run, "a", {"out.md": "A"})
    done(run, "b", {"out.md": "B"})
    for key in ("a", "b"):
        gate = run.gates.get(step__key=key, status=GateStatus.OPEN)
        gate_decisions.decide(gate.pk, made.alice(), Decision(Verb.APPROVE, gate.digest))
    assert (attempts(run, "b"), text(run, "out.md")) == ([AttemptStatus.CONFLICT, AttemptStatus.EXECUTING], "A")


# ---- failures, gaps, replans --------------------------------------------------------------------------------------


def test_a_failed_attempt_is_followed_by_another_until_they_are_used_up() -> None:
    run = two(attempts=3, replans=0, exhausted=Exhausted.FAIL)
    for _ in range(3):
        undone(run, "a")
    done(run, "b", {})
    assert attempts(run, "a") == [AttemptStatus.FAILED] * 3
    run.refresh_from_db()
    assert (run.status, run.outcome, statuses(run)) == ("finished", Outcome.FAILED, {"a": "failed", "b": "passed"})


def test_a_failed_step_does_not_cut_off_what_runs_beside_it() -> None:
    run = two(attempts=1, replans=0, exhausted=Exhausted.FAIL)
    undone(run, "a")
    assert (statuses(run), Run.objects.get(pk=run.pk).status) == ({"a": "failed", "b": "running"}, RunStatus.EXECUTING)


def test_by_policy_the_gap_is_accepted_and_the_outcome_is_at_most_partial() -> None:
    run = started("a", "b", attempts=1, replans=0, exhausted=Exhausted.ACCEPT)
    undone(run, "a")
    done(run, "b", {made.REVIEW: "B"})
    made.final_answer(run, met=True)
    run.refresh_from_db()
    finished = Event.objects.get(run=run, kind=EventKind.FINISHED)
    assert (run.outcome, statuses(run)) == (Outcome.PARTIAL, {"a": StepStatus.ACCEPTED, "b": StepStatus.PASSED})
    assert finished.data["gaps"] == ["Step “A” was accepted with open points. It is missing."]


def test_everything_passed_and_supported_is_a_success() -> None:
    run = made.finished_succeeded()
    assert (run.outcome, run.failure, set(statuses(run).values())) == (Outcome.SUCCEEDED, "", {"passed"})


def test_success_criteria_without_evidence_make_it_partial_however_the_model_puts_it() -> None:
    run = started("a", replans=0)
    done(run, "a", {made.REVIEW: "A"})
    made.final_answer(run, met=False)
    run.refresh_from_db()
    assert (run.outcome, statuses(run)) == (Outcome.PARTIAL, {"a": StepStatus.PASSED})


def test_a_replan_keeps_what_passed_and_drops_the_rest() -> None:
    run = made.replanned()
    first, second = run.plans.order_by("version")
    assert (first.status, second.status, run.replans) == (PlanStatus.SUPERSEDED, PlanStatus.PROPOSED, 1)
    assert dict(first.steps.values_list("key", "status")) == {
        "inventory": "passed",
        "review": "dropped",
        "notices": "dropped",
    }
    assert dict(second.steps.values_list("key", "status")) == {"inventory": "passed", "review-service": "pending"}
    assert second.steps.get(key="inventory").reused_from == first.steps.get(key="inventory").attempts.get()
    proposed = Event.objects.filter(run=run, kind=EventKind.PLAN_PROPOSED).latest("seq")
    assert proposed.data["kept"] == ["inventory"]


def test_a_version_stands_until_there_is_one_that_takes_its_place() -> None:
    run = two(attempts=1, replans=1)
    done(run, "a", {})
    undone(run, "b")
    run.refresh_from_db()
    plan = run.plans.get()
    assert (run.status, plan.status) == (RunStatus.PLANNING, PlanStatus.APPROVED)
    assert statuses(run) == {"a": StepStatus.PASSED, "b": StepStatus.JUDGED}
    made.propose(run, made.plan(made.plan_step("c", "C")))
    plan.refresh_from_db()
    assert plan.status == PlanStatus.SUPERSEDED
    assert dict(plan.steps.values_list("key", "status")) == {"a": "passed", "b": "dropped"}


def test_a_step_that_was_kept_is_not_carried_out_again() -> None:
    run = made.replanned()
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    assert attempts(run, "inventory") == [AttemptStatus.PASSED]
    assert [item.attempt.step.key for item in run.work.filter(status=WorkStatus.READY) if item.attempt] == [
        "review-service"
    ]


def test_a_person_is_told_when_nobody_can_do_a_step() -> None:
    run = started("a", attempts=3, replans=0)
    undone(run, "a", Action.CANNOT)
    question = "“A” did not pass in 1 attempt. The review says that no one can do it. Accept it with open points?"
    assert run.gates.get(kind=GateKind.EXHAUSTED).question == question


def test_a_replan_that_brings_nothing_goes_back_to_the_answer_that_there_was() -> None:
    run = started("a", replans=2)
    done(run, "a", {made.REVIEW: "A"})
    made.final_answer(run, met=False)
    with made.working(run, WorkKind.PLAN) as mine:
        effects.go_on_without_replan(states.of(mine.run), "The same again.")
    run.refresh_from_db()
    assert (run.outcome, run.answer, run.replans) == (Outcome.PARTIAL, made.ANSWER, 1)
    assert run.plans.get().status == PlanStatus.APPROVED
    told = Event.objects.get(run=run, kind=EventKind.NOTHING_NEW)
    assert told.data == {"version": 1, "why": "The same again."}


def test_a_replan_waits_for_what_runs_and_replans_are_bounded() -> None:
    run = two(attempts=1, replans=1, exhausted=Exhausted.FAIL)
    undone(run, "a", Action.REPLAN)
    assert (Run.objects.get(pk=run.pk).status, statuses(run)) == ("executing", {"a": "judged", "b": "running"})
    done(run, "b", {})
    assert Run.objects.get(pk=run.pk).status == RunStatus.PLANNING
    made.propose(run, made.plan(made.plan_step("a", "A again")))
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    undone(run, "a", Action.REPLAN)
    run.refresh_from_db()
    assert (run.status, run.outcome, run.replans) == (RunStatus.FINISHED, Outcome.FAILED, 1)


def test_what_was_dropped_with_an_earlier_plan_does_not_make_the_run_fail() -> None:
    run = started("a", "b", attempts=1, replans=1)
    done(run, "a", {made.REVIEW: "A"})
    undone(run, "b")
    made.propose(run, made.plan(made.plan_step("a", "A")))
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    made.final_answer(run)
    run.refresh_from_db()
    assert (run.outcome, attempts(run, "b")) == (Outcome.SUCCEEDED, [AttemptStatus.FAILED])


# ---- the end ------------------------------------------------------------------------------------------------------


def test_a_worker_of_a_stopped_run_can_commit_nothing_any_more() -> None:
    run = made.executing()
    lease = claim.claim(made.open_work(run, WorkKind.ATTEMPT).pk)
    assert lease is not None
    gate_decisions.cancel(run.pk, made.alice())
    with pytest.raises(LeaseLost):
        claim.commit(lease, claim.finish)
    assert lease.lost.is_set()
    assert set(trees.files_of(Run.objects.get(pk=run.pk).head)) == set(trees.files_of(run.inputs))


def test_stopping_cancels_the_attempt_and_drops_the_steps() -> None:
    run = made.stopped()
    assert attempts(run, "inventory") == [AttemptStatus.CANCELLED]
    assert set(statuses(run).values()) == {StepStatus.DROPPED}
    assert WorkItem.objects.get(run=run, kind=WorkKind.ATTEMPT).status == WorkStatus.CANCELLED


def test_a_paused_run_lets_what_runs_finish_and_starts_nothing_new() -> None:
    run = made.executing()
    gate_decisions.pause(run.pk, made.alice(), paused=True)
    made.pass_inventory(run)
    assert statuses(run) == {"inventory": "judged", "review": "pending", "notices": "pending"}
    gate_decisions.pause(run.pk, made.alice(), paused=False)
    assert statuses(run) == {"inventory": "passed", "review": "running", "notices": "pending"}


def test_nothing_is_finalised_while_a_step_is_open() -> None:
    run = waiting()
    assert not run.work.filter(kind=WorkKind.FINALISE).exists()
    assert Run.objects.get(pk=run.pk).status == RunStatus.EXECUTING


def test_an_end_tells_when() -> None:
    run = made.stopped()
    assert run.finished_at is not None
    assert run.finished_at <= timezone.now()
    assert Event.objects.filter(run=run).latest("seq").kind == EventKind.FINISHED
