"""Decisions: who may, what they bind to (G1), that words are no consent (G2), that the first one wins (G3)."""

from __future__ import annotations

import itertools
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from runs.contracts.feedback import Comment
from runs.engine.prompt_inputs import for_planner
from runs.enums import (
    EventKind,
    GateKind,
    GateStatus,
    PlanStatus,
    RunStatus,
    StepStatus,
    Verb,
    WorkKind,
    WorkStatus,
)
from runs.errors import DecisionRefused, NotAllowed
from runs.lifecycle.gate_decisions import cancel, pause
from runs.models import Attempt, Event, Plan, Run, User, WorkItem
from runs.pev.policy import Capacities
from runs.store import blobs, trees
from tests import factories as made
from tests.integration.lifecycle.deciding import fresh, refused, say, state
from tests.integration.lifecycle.small import exhausted, waiting

pytestmark = pytest.mark.django_db

CHANGED = "What would run has changed since this page was loaded. Read it again, then decide."


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
            "Already decided: alice requested changes at {when} UTC. Reason: Shorter, please.",
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
    assert refused(gate) == "This question was withdrawn and no longer needs a decision."


@pytest.mark.services
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
    assert re.fullmatch(
        r"Already decided: (alice approved it|bob requested changes) at .* UTC\. Reason: Because\.", told[0]
    )
    assert Event.objects.filter(run=run, kind=EventKind.GATE_DECIDED).count() == 1


@pytest.mark.services
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_forty_decisions_at_the_same_moment_exactly_one_counts() -> None:
    gate = made.open_gate(run := made.awaiting_plan(), GateKind.PLAN)
    people = itertools.cycle([made.alice(), made.bob()])
    verbs = itertools.cycle([Verb.APPROVE, Verb.REJECT, Verb.STOP])
    barrier = threading.Barrier(40)

    def click(user: User, verb: Verb) -> str:
        barrier.wait()
        try:
            say(gate, verb, "Because.", user)
        except DecisionRefused as refusal:
            return str(refusal)
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(40) as browsers:
        answers = list(browsers.map(click, itertools.islice(people, 40), itertools.islice(verbs, 40)))
    (decided,) = Event.objects.filter(run=run, kind=EventKind.GATE_DECIDED)
    gate.refresh_from_db()
    assert (answers.count(""), decided.data["by"]) == (1, gate.decided_by and gate.decided_by.get_username())
    did = {"approved": "approved it", "rejected": "requested changes", "stopped": "stopped it"}[gate.status]
    assert {sentence.split(" at ")[0] for sentence in answers if sentence} == {
        f"Already decided: {gate.decided_by} {did}"
    }
    assert run.plans.count() == 1


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
    other = trees.make_tree({"other.md": blobs.put(b"Other.")})
    Run.objects.filter(pk=run.pk).update(inputs=other)


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.REJECT, Verb.STOP])
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
    assert gate.question == (f"Since version 1 was approved, something has changed ({part}). Approve it again?")
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


# ---- comments on parts of a plan (T7) -------------------------------------------------------------------------------


def test_each_comment_on_a_plan_is_a_request_with_its_place() -> None:
    run = made.awaiting_plan()
    said = (
        Comment(text=" Name the amounts. ", step_id="review", criterion=2),
        Comment(text="   ", step_id="review"),
        Comment(text="In English, please.", step_id="notices"),
        Comment(text="Of all four.", criterion=1),
    )
    gate = made.open_gate(run, GateKind.PLAN)
    say(gate, Verb.REJECT, "Be brief.", comments=said)
    gate.refresh_from_db()
    assert [(one.request, one.step_id, one.criterion, one.words) for one in gate.asked] == [
        (1, None, None, "Be brief."),
        (2, "review", 2, "On step 2 “Review the clauses”, criterion 2: Name the amounts."),
        (3, "notices", None, "On step 3 “Draft the notices”: In English, please."),
        (4, None, 1, "On success criterion 1: Of all four."),
    ]
    assert gate.reason == "\n".join(one.words for one in gate.asked)
    assert (gate.request, fresh(run).requests) == (1, 4)
    brief, _ = for_planner(WorkItem(run=fresh(run)), Capacities())
    assert [(lesson.request, lesson.text) for lesson in brief.lessons] == [
        (one.request, one.words) for one in gate.asked
    ]


def test_a_comment_alone_is_reason_enough_to_reject() -> None:
    run = made.awaiting_plan()
    gate = made.open_gate(run, GateKind.PLAN)
    say(gate, Verb.REJECT, comments=(Comment(text="Shorter.", step_id="notices"),))
    gate.refresh_from_db()
    assert [one.words for one in gate.asked] == ["On step 3 “Draft the notices”: Shorter."]
    assert "Say what should be different" in refused(
        made.open_gate(made.awaiting_plan(), GateKind.PLAN), Verb.REJECT, comments=(Comment(text=" "),)
    )


@pytest.mark.parametrize(
    "comment",
    [
        Comment(text="x", step_id="nowhere"),
        Comment(text="x", step_id="review", criterion=9),
        Comment(text="x", criterion=9),
    ],
)
def test_a_comment_on_what_the_plan_does_not_have_is_refused(comment: Comment) -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    assert "Reload the page." in refused(gate, Verb.REJECT, "And this.", comments=(comment,))


def test_only_parts_of_plans_and_points_of_results_are_commented_on() -> None:
    gate = made.open_gate(made.step_gate(), GateKind.STEP)
    sentence = refused(gate, Verb.REJECT, "And this.", comments=(Comment(text="x", step_id="review"),))
    assert sentence == "Only the parts of a plan and the points of a result can be commented on."


def test_an_approval_takes_no_comments() -> None:
    run = made.awaiting_plan()
    gate = made.open_gate(run, GateKind.PLAN)
    sentence = refused(gate, Verb.APPROVE, "Go on.", comments=(Comment(text="x", step_id="review"),))
    assert sentence == "An approval sends no comments. Request changes with them, or empty their fields."
    gate.refresh_from_db()
    assert (gate.status, gate.comments, fresh(run).requests) == (GateStatus.OPEN, [], 0)
