"""Decisions: who may, what they bind to (G1), that words are no consent (G2), that the first one wins (G3)."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from runs import trees
from runs.enums import (
    AttemptStatus,
    EventKind,
    GateKind,
    GateStatus,
    Outcome,
    PlanStatus,
    RunStatus,
    StepStatus,
    Verb,
    WorkKind,
    WorkStatus,
)
from runs.errors import DecisionRefused, NotAllowed, PevError
from runs.lifecycle.gates import Decision, cancel, decide, pause
from runs.models import Attempt, Event, Gate, Plan, Run, Tree, User, WorkItem
from tests import factories as made
from tests.integration.lifecycle.small import exhausted, waiting

pytestmark = pytest.mark.django_db

CHANGED = "What would run has changed since this page was loaded. Read it again, then decide."


def say(gate: Gate, verb: Verb, reason: str = "", by: User | None = None, **changes: Any) -> None:
    decide(gate.pk, by or made.alice(), Decision(verb, changes.pop("digest", gate.digest), reason, **changes))


def refused(gate: Gate, verb: Verb = Verb.APPROVE, reason: str = "", by: User | None = None, **changes: Any) -> str:
    """The sentence of the refusal; nothing else may have changed."""
    before = state(gate.run_id)
    with pytest.raises(PevError) as caught:
        say(gate, verb, reason, by, **changes)
    assert state(gate.run_id) == before
    return str(caught.value)


def state(run_id: int) -> list[Any]:
    run = Run.objects.get(pk=run_id)
    return [
        (run.status, run.event_count, run.head_id, run.outcome, run.paused),
        list(run.gates.values_list("status", "decided_by", "reason")),
        list(run.plans.values_list("status", "approved_how")),
        list(run.work.values_list("kind", "status")),
        list(Attempt.objects.filter(step__plan__run=run).values_list("status", "step__status")),
    ]


def fresh(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def kinds(run: Run, after: int) -> list[str]:
    return list(Event.objects.filter(run=run, seq__gt=after).values_list("kind", flat=True))


# ---- who ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", Verb)
def test_charlie_may_decide_nothing_and_learns_nothing(verb: Verb) -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    with pytest.raises(NotAllowed):
        say(gate, verb, "Mine now.", made.charlie())
    assert refused(gate, verb, "Mine now.", made.charlie()) == "You may not decide anything in this run."


def test_charlie_is_refused_before_he_is_told_who_decided() -> None:
    gate = made.open_gate(run := made.awaiting_plan(), GateKind.PLAN)
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    assert refused(gate, by=made.charlie()) == "You may not decide anything in this run."


def test_charlie_can_neither_stop_nor_pause() -> None:
    run = made.executing()
    before = state(run.pk)
    with pytest.raises(NotAllowed):
        cancel(run.pk, made.charlie())
    with pytest.raises(NotAllowed):
        pause(run.pk, made.charlie(), paused=True)
    assert state(run.pk) == before


def test_bob_may_approve_and_it_is_his_name_that_is_kept() -> None:
    run = made.awaiting_plan()
    gate = made.decide(run, GateKind.PLAN, Verb.APPROVE, by=made.bob())
    gate.refresh_from_db()
    plan = Plan.objects.get(run=run)
    assert (gate.status, gate.decided_by, gate.decided_how, gate.reason) == ("approved", made.bob(), "person", "")
    assert (plan.status, plan.approved_by, plan.approved_how) == ("approved", made.bob(), "person")


def test_through_what_it_was_decided_is_kept() -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    say(gate, Verb.APPROVE, how="--approve-all")
    gate.refresh_from_db()
    assert (gate.decided_how, Plan.objects.get(run=gate.run_id).approved_how) == ("--approve-all", "--approve-all")


# ---- the first decision wins (G3) ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "reason", "told"),
    [
        (Verb.APPROVE, "", "Already decided: alice approved it at {when} UTC."),
        (Verb.APPROVE, "Looks fine.", "Already decided: alice approved it at {when} UTC. Reason: Looks fine."),
        (
            Verb.REJECT,
            " Shorter, please. ",
            "Already decided: alice rejected it at {when} UTC. Reason: Shorter, please.",
        ),
        (Verb.STOP, "", "Already decided: alice stopped it at {when} UTC."),
    ],
)
def test_who_comes_second_is_told_who_decided_what_when_and_why(first: Verb, reason: str, told: str) -> None:
    gate = made.open_gate(run := made.awaiting_plan(), GateKind.PLAN)
    made.decide(run, GateKind.PLAN, first, reason)
    gate.refresh_from_db()
    assert gate.decided_at is not None
    when = gate.decided_at.strftime("%Y-%m-%d %H:%M:%S")
    for second in Verb:
        assert refused(gate, second, "Me too.", made.bob()) == told.format(when=when)


def test_a_gate_that_was_withdrawn_is_not_to_be_decided() -> None:
    gate = made.open_gate(run := made.awaiting_plan(), GateKind.PLAN)
    cancel(run.pk, made.bob())
    gate.refresh_from_db()
    assert gate.status == GateStatus.WITHDRAWN
    assert refused(gate) == "This question was withdrawn; there is nothing to decide any more."


@pytest.mark.django_db(transaction=True)
def test_of_two_clicks_at_the_same_moment_exactly_one_counts() -> None:
    gate = made.open_gate(run := made.awaiting_plan(), GateKind.PLAN)
    people = [made.alice(), made.bob()]
    told: list[str] = []
    barrier = threading.Barrier(2)

    def click(user: User, verb: Verb) -> None:
        try:
            barrier.wait()
            say(gate, verb, "Because.", user)
        except DecisionRefused as refusal:
            told.append(str(refusal))
        finally:
            connection.close()

    threads = [
        threading.Thread(target=click, args=pair) for pair in zip(people, [Verb.APPROVE, Verb.REJECT], strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 1
    assert re.fullmatch(r"Already decided: (alice approved|bob rejected) it at .* UTC\. Reason: Because\.", told[0])
    assert Event.objects.filter(run=run, kind=EventKind.GATE_DECIDED).count() == 1


# ---- what an approval is bound to (G1) ----------------------------------------------------------------------------


@pytest.mark.parametrize("verb", Verb)
def test_a_decision_from_a_stale_page_is_refused(verb: Verb) -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    assert refused(gate, verb, "Because.", digest="0" * 64) == CHANGED
    assert refused(gate, verb, "Because.", digest="") == CHANGED


def test_the_digest_of_an_earlier_version_does_not_approve_a_later_one() -> None:
    run = made.awaiting_plan()
    old = made.decide(run, GateKind.PLAN, Verb.REJECT, "Shorter.")
    made.propose(run, made.plan(made.inventory_step()), "alice rejected version 1")
    assert refused(made.open_gate(run, GateKind.PLAN), digest=old.digest) == CHANGED


def change_policy(run: Run, **changes: Any) -> None:
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(**changes))


def change_inputs(run: Run) -> None:
    other = trees.make_tree({"other.md": trees.put(b"Other.")})
    Run.objects.filter(pk=run.pk).update(inputs=other)


@pytest.mark.parametrize("verb", Verb)
def test_when_the_policy_changes_while_a_gate_is_open_it_asks_anew_and_can_be_answered(verb: Verb) -> None:
    gate = made.open_gate(run := made.awaiting_plan(), GateKind.PLAN)
    change_policy(run, attempts=9)
    with pytest.raises(DecisionRefused, match=re.escape(CHANGED)):
        say(gate, verb, "Because.")
    gate.refresh_from_db()
    again = made.open_gate(run, GateKind.PLAN)
    assert (gate.status, again.pk != gate.pk, again.digest != gate.digest) == (GateStatus.WITHDRAWN, True, True)
    assert fresh(run).status == RunStatus.AWAITING_APPROVAL
    say(again, verb, "Because.")
    again.refresh_from_db()
    assert again.decided_by == made.alice()


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        (lambda run: change_policy(run, attempts=9), "policy"),
        (
            lambda run: change_policy(run, models={**run.policy.models, "verifier": {"model": "x", "effort": "low"}}),
            "models",
        ),
        (change_inputs, "input files"),
    ],
    ids=["policy", "models", "inputs"],
)
def test_what_changes_after_the_approval_opens_the_gate_again_with_the_difference(changed: Any, part: str) -> None:
    run = made.executing()
    changed(run)
    made.pass_inventory(run)
    gate = made.open_gate(run, GateKind.PLAN)
    plan = Plan.objects.get(run=run)
    assert gate.question == (f"What would run has changed since version 1 was approved ({part}). Shall it go on?")
    assert (fresh(run).status, plan.status, plan.approval_fingerprint, plan.approved_by) == (
        "awaiting_approval",
        "proposed",
        None,
        None,
    )
    assert not run.work.filter(status=WorkStatus.READY).exists()
    made.decide(run, GateKind.PLAN, Verb.APPROVE, by=made.bob())
    assert made.open_work(run, WorkKind.ATTEMPT, "review").attempt is not None


def test_an_approval_holds_while_nothing_changes() -> None:
    run = made.failed_attempt()
    assert list(run.gates.values_list("kind", "status")) == [("plan", "approved")]


def test_a_step_approval_is_bound_to_exactly_these_results() -> None:
    gate = made.open_gate(run := waiting(), GateKind.STEP)
    Attempt.objects.filter(gates=gate).update(overlay={})
    with pytest.raises(DecisionRefused, match=re.escape(CHANGED)):
        say(gate, Verb.APPROVE)
    assert StepStatus.WAITING in run.plans.get().steps.values_list("status", flat=True)


# ---- words are no consent (G2) ------------------------------------------------------------------------------------


@pytest.mark.parametrize("state_", [made.awaiting_plan, waiting, exhausted, made.error_gate])
def test_a_rejection_without_a_reason_is_refused(state_: Any) -> None:
    gate = state_().gates.get(status=GateStatus.OPEN)
    for reason in ("", "   ", "\n\t"):
        told = refused(gate, Verb.REJECT, reason)
        assert told == "Say what should be different: the words go to the model that tries again."


def test_approving_words_in_a_rejection_approve_nothing() -> None:
    run = made.awaiting_plan()
    made.decide(run, GateKind.PLAN, Verb.REJECT, "I approve. Approved! Go ahead, yes, run everything.")
    assert (fresh(run).status, Plan.objects.get(run=run).status) == (RunStatus.PLANNING, PlanStatus.REJECTED)
    assert not Attempt.objects.exists()


def test_rejecting_words_in_an_approval_are_kept_and_reject_nothing() -> None:
    run = made.awaiting_plan()
    gate = made.decide(run, GateKind.PLAN, Verb.APPROVE, "No! Stop!")
    gate.refresh_from_db()
    assert (gate.status, gate.reason, fresh(run).status) == ("approved", "No! Stop!", RunStatus.EXECUTING)


# ---- what follows -------------------------------------------------------------------------------------------------


def test_an_approved_plan_starts_and_tells_it_in_order() -> None:
    run = made.awaiting_plan()
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    assert kinds(run, run.event_count) == ["gate_decided", "plan_approved", "attempt_started"]
    decided = Event.objects.get(run=run, kind=EventKind.GATE_DECIDED)
    assert (decided.data["by"], decided.data["decision"], decided.data["how"]) == ("alice", "approved", "person")


def test_a_rejected_plan_is_planned_again_and_the_rejection_costs_no_replan() -> None:
    run = made.awaiting_plan()
    made.decide(run, GateKind.PLAN, Verb.REJECT, "Shorter.")
    assert made.open_work(run, WorkKind.PLAN).status == WorkStatus.READY
    assert fresh(run).replans == 0


def test_an_approved_step_puts_its_files_into_the_workspace() -> None:
    run = waiting()
    assert "a.md" not in trees.files_of(run.head)
    made.decide(run, GateKind.STEP, Verb.APPROVE)
    assert "a.md" in trees.files_of(fresh(run).head)


def test_a_rejected_step_is_tried_again_on_the_old_workspace_and_costs_no_failure() -> None:
    run = waiting()
    made.decide(run, GateKind.STEP, Verb.REJECT, "Name the clause.")
    step = run.plans.get().steps.get(key="a")
    attempts = list(step.attempts.values_list("number", "status"))
    assert attempts == [(1, AttemptStatus.REJECTED), (2, AttemptStatus.EXECUTING)]
    assert (step.status, step.failures, fresh(run).head_id) == (StepStatus.RUNNING, 0, run.head_id)


def test_going_on_with_a_gap_accepts_the_step_and_never_passes_it() -> None:
    run = exhausted()
    made.decide(run, GateKind.EXHAUSTED, Verb.APPROVE)
    assert run.plans.get().steps.get(key="a").status == StepStatus.ACCEPTED


def test_no_gap_wanted_gives_one_more_attempt_with_the_words_of_the_person() -> None:
    run = exhausted()
    made.decide(run, GateKind.EXHAUSTED, Verb.REJECT, "Look at clause 7.2.")
    step = run.plans.get().steps.get(key="a")
    assert (step.status, step.attempts.count()) == (StepStatus.RUNNING, 2)


def test_after_an_error_trying_again_makes_the_work_due_at_once() -> None:
    run = made.error_gate()
    made.decide(run, GateKind.ERROR, Verb.APPROVE)
    item = WorkItem.objects.get(run=run)
    assert (item.status, item.tries, item.lease_until) == (WorkStatus.READY, 0, None)
    assert item.due_at <= timezone.now()


def test_after_an_error_giving_up_fails_the_run_and_says_why() -> None:
    run = made.error_gate()
    made.decide(run, GateKind.ERROR, Verb.REJECT, "Enough.")
    run.refresh_from_db()
    assert (run.status, run.outcome) == (RunStatus.FINISHED, Outcome.FAILED)
    assert run.failure.startswith("Given up after: The service refused the key (401).")


@pytest.mark.parametrize("state_", [made.awaiting_plan, waiting, exhausted, made.error_gate])
def test_stopping_at_any_gate_cancels_the_run_and_leaves_nothing_open(state_: Any) -> None:
    run = state_()
    gate = run.gates.get(status=GateStatus.OPEN)
    say(gate, Verb.STOP)
    run.refresh_from_db()
    gate.refresh_from_db()
    assert (run.outcome, gate.status, gate.decided_by) == (Outcome.CANCELLED, GateStatus.STOPPED, made.alice())
    nothing_open(run)


def nothing_open(run: Run) -> None:
    assert not run.gates.filter(status=GateStatus.OPEN).exists()
    assert not run.work.filter(status__in=["ready", "leased", "suspended"]).exists()
    assert not Attempt.objects.filter(step__plan__run=run, status__in=["executing", "verifying"]).exists()
    statuses = {status for plan in run.plans.all() for status in plan.steps.values_list("status", flat=True)}
    assert statuses <= {StepStatus.PASSED, StepStatus.ACCEPTED, StepStatus.FAILED, StepStatus.DROPPED}


@pytest.mark.parametrize("state_", [made.awaiting_plan, waiting, exhausted])
def test_a_waiting_gate_holds_no_work_and_no_lease(state_: Any) -> None:
    run = state_()
    assert not run.work.filter(status__in=["ready", "leased", "suspended"]).exists()
    assert not run.work.exclude(lease_until=None).exists()


# ---- stopping and pausing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("state_", [made.planning, made.awaiting_plan, made.executing, waiting, made.error_gate])
def test_a_run_can_be_stopped_in_every_state(state_: Any) -> None:
    run = state_()
    cancel(run.pk, made.bob(), "Wrong folder.")
    run.refresh_from_db()
    assert (run.status, run.outcome) == (RunStatus.FINISHED, Outcome.CANCELLED)
    assert Event.objects.get(run=run, kind=EventKind.NOTE).data["reason"] == "Wrong folder."
    nothing_open(run)


def test_what_is_finished_can_neither_be_stopped_nor_paused() -> None:
    run = made.stopped()
    with pytest.raises(DecisionRefused, match=r"^This run is already finished\.$"):
        cancel(run.pk, made.alice())
    with pytest.raises(DecisionRefused):
        pause(run.pk, made.alice(), paused=True)


def test_a_paused_run_starts_nothing_until_it_is_released() -> None:
    run = made.awaiting_plan()
    pause(run.pk, made.bob(), paused=True)
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    assert not Attempt.objects.exists()
    pause(run.pk, made.bob(), paused=False)
    assert Attempt.objects.count() == 1
    assert [kind for kind in kinds(run, run.event_count) if kind in {"paused", "resumed"}] == ["paused", "resumed"]


@pytest.mark.parametrize("paused", [True, False])
def test_pausing_twice_is_refused_the_second_time(paused: bool) -> None:
    run = made.awaiting_plan()
    if not paused:
        pause(run.pk, made.alice(), paused=True)
    pause(run.pk, made.alice(), paused=paused)
    with pytest.raises(DecisionRefused, match=r"^The run is already in that state, or finished\.$"):
        pause(run.pk, made.bob(), paused=paused)


# ---- the database refuses halves (G5) -----------------------------------------------------------------------------

PEOPLE = get_user_model()._meta.db_table
WHO = f"decided_by_id = (SELECT id FROM {PEOPLE} WHERE username = 'alice')"
WHEN = "decided_at = '2026-11-21 12:00:00'"
HOW = "decided_how = 'person'"


HALVES = [
    "status = 'approved'",
    "status = 'stopped'",
    f"status = 'approved', {WHO}",
    f"status = 'approved', {WHO}, {WHEN}",
    f"status = 'approved', {WHEN}, {HOW}",
    f"status = 'approved', {WHO}, {HOW}",
    f"status = 'rejected', {WHO}, {WHEN}, {HOW}",
    WHO,
    WHEN,
    HOW,
    f"{WHO}, {WHEN}, {HOW}",
    f"status = 'withdrawn', {WHO}, {WHEN}, {HOW}",
    "status = 'maybe'",
    "kind = 'wish'",
]


def test_half_a_decision_cannot_be_stored() -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    for half in HALVES:
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE runs_gate SET {half} WHERE id = {gate.pk}")


def test_a_whole_decision_can_be_stored() -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE runs_gate SET status = 'approved', {WHO}, {WHEN}, {HOW} WHERE id = {gate.pk}")
    gate.refresh_from_db()
    assert (gate.status, gate.decided_by) == (GateStatus.APPROVED, made.alice())


def test_a_plan_is_approved_only_with_what_it_is_bound_to() -> None:
    plan = Plan.objects.get(run=made.awaiting_plan())
    halves: list[dict[str, Any]] = [{"approval_fingerprint": {}}, {"approved_how": "person"}, {}]
    for half in halves:
        with pytest.raises(IntegrityError), transaction.atomic():
            Plan.objects.filter(pk=plan.pk).update(status=PlanStatus.APPROVED, **half)


def test_an_outcome_stands_exactly_at_a_finished_run() -> None:
    run = made.planning()
    now = timezone.now()
    halves: list[dict[str, Any]] = [
        {"outcome": Outcome.SUCCEEDED},
        {"status": RunStatus.FINISHED},
        {"status": RunStatus.FINISHED, "outcome": Outcome.FAILED},
        {"status": RunStatus.FINISHED, "finished_at": now},
    ]
    for half in halves:
        with pytest.raises(IntegrityError), transaction.atomic():
            Run.objects.filter(pk=run.pk).update(**half)


def test_one_run_has_one_open_plan_gate_and_one_step_one_open_gate() -> None:
    gate = made.open_gate(run := made.awaiting_plan(), GateKind.PLAN)
    with pytest.raises(IntegrityError), transaction.atomic():
        Gate.objects.create(run=run, kind=GateKind.PLAN, plan=gate.plan, digest="0", question="Again?")
    step_gate = made.open_gate(waiting(), GateKind.STEP)
    with pytest.raises(IntegrityError), transaction.atomic():
        Gate.objects.create(run=step_gate.run, kind=GateKind.ERROR, step=step_gate.step, digest="0", question="Again?")


def test_a_lease_has_an_end_and_only_a_lease_has_one() -> None:
    item = WorkItem.objects.get(run=made.planning())
    for half in ({"status": WorkStatus.LEASED}, {"lease_until": timezone.now()}):
        with pytest.raises(IntegrityError), transaction.atomic():
            WorkItem.objects.filter(pk=item.pk).update(**half)


def test_trees_and_people_that_runs_rest_on_cannot_be_deleted() -> None:
    run = made.planning()
    for row in (run.inputs, run.owner):
        with pytest.raises(IntegrityError), transaction.atomic():
            row.delete()
    assert Tree.objects.filter(pk=run.inputs_id).exists()
