"""Where trying again cannot help: a person asks for another plan at an error, with the error told to the planner."""

from __future__ import annotations

import pytest

from runs.engine import claim
from runs.engine.prompt_inputs import for_planner
from runs.enums import AttemptStatus, EventKind, GateKind, GateStatus, RunStatus, StepStatus, Verb, WorkKind, WorkStatus
from runs.errors import LeaseLost
from runs.events.kinds import read
from runs.lifecycle import effects
from runs.lifecycle import state as states
from runs.lifecycle.change_requests import answered, requests_of, unmet
from runs.lifecycle.gate_decisions import pause
from runs.lifecycle.gates import error_gate
from runs.models import Attempt, Gate, Run, WorkItem
from runs.pev.policy import Capacities
from runs.readmodel.status_words import about_request, decided, decision_in_words
from tests import factories as made
from tests.integration.lifecycle.deciding import fresh, refused, say
from tests.integration.lifecycle.small import done, started

pytestmark = pytest.mark.django_db

ERROR = "The tool “convert” is forbidden by the policy of the service (403)."
WORDS = "Do without converting."


def held(run: Run, key: str = "", kind: WorkKind = WorkKind.ATTEMPT) -> Gate:
    """The work of a step, or of this kind, has met an error."""
    lease = claim.claim(made.open_work(run, kind, key).pk)
    assert lease is not None
    with made.committing(lease) as mine:
        error_gate.ask(mine, ERROR, reset=False)
    return Gate.objects.filter(run=run, kind=GateKind.ERROR, status=GateStatus.OPEN).latest("pk")


def status_of(run: Run, key: str) -> tuple[str, bool]:
    return run.plans.latest("version").steps.values_list("status", "refused").get(key=key)


def happened(run: Run, kind: EventKind) -> list[str]:
    return [read(event.kind, event.data).sentence({}) for event in run.events.filter(kind=kind)]


def test_the_planner_is_asked_with_the_words_and_the_error_and_no_replan_is_used_up() -> None:
    run = started("a", replans=0)
    say(held(run, "a"), Verb.REJECT, WORDS)
    run = fresh(run)
    assert (run.status, run.replans, made.open_work(run, WorkKind.PLAN).status) == ("planning", 0, "ready")
    brief, why = for_planner(WorkItem(run=run), Capacities())
    assert [(one.label, one.text, one.from_person, one.request) for one in brief.lessons] == [
        ("An error that held version 1 in step a", ERROR, False, 0),
        ("alice rejected version 1 after an error in step a", WORDS, True, 1),
    ]
    assert why == "alice requested changes to version 1 after an error in “A”."
    assert brief.stands


def test_the_attempt_ends_and_nothing_of_it_stays() -> None:
    run = started("a")
    gate = held(run, "a")
    say(gate, Verb.REJECT, WORDS)
    attempt = Attempt.objects.get()
    assert (attempt.status, attempt.finished_at is not None, fresh(run).head_id) == (
        AttemptStatus.CANCELLED,
        True,
        run.head_id,
    )
    assert gate.work is not None
    gate.work.refresh_from_db()
    assert (gate.work.status, gate.work.lease_until, status_of(run, "a")) == (
        WorkStatus.CANCELLED,
        None,
        (StepStatus.PENDING, False),
    )


def test_the_next_version_is_asked_about_before_anything_runs() -> None:
    run = started("a")
    say(held(run, "a"), Verb.REJECT, WORDS)
    made.propose(run, made.plan(made.plan_step("a", "A, as it is")))
    gate = made.open_gate(run, GateKind.PLAN)
    assert (gate.question, Attempt.objects.count()) == ("Version 2 of the plan is ready. Approve it?", 1)


def test_a_request_needs_words_and_has_a_number_that_the_plan_answers() -> None:
    run = started("a")
    gate = held(run, "a")
    assert refused(gate, Verb.REJECT, " ").startswith("Say what should be different")
    say(gate, Verb.REJECT, WORDS)
    plan = run.plans.get()
    [request] = answered(requests_of(fresh(run)), plan, {one.key: one for one in plan.steps.all()}, lambda _: ())
    assert (request.number, request.status) == (1, "open")
    assert about_request(request.gate) == "version 1 of the plan after an error in “A”"
    assert unmet([request]) == []


def test_it_is_told_as_a_request_for_changes() -> None:
    run = started("a")
    gate = held(run, "a")
    say(gate, Verb.REJECT, WORDS)
    gate.refresh_from_db()
    about = "requested changes to the plan instead of trying “A” again"
    assert (decided(gate), decision_in_words(gate)) == ("changes requested", about)
    told = "alice requested changes to the plan instead of trying “a” again: Do without converting."
    assert happened(run, EventKind.GATE_DECIDED)[-1] == told
    assert happened(run, EventKind.REPLANNING) == ["A new plan is needed. Step “A” cannot go on after an error."]


def test_what_is_given_up_is_told_as_that() -> None:
    run = started("a")
    gate = held(run, "a")
    say(gate, Verb.GIVE_UP, "Nobody is there.", how="--approve-all")
    gate.refresh_from_db()
    assert (decided(gate), decision_in_words(gate)) == ("declined", "decided against trying “A” again")
    told = "alice decided against trying “a” again (--approve-all): Nobody is there."
    assert happened(run, EventKind.GATE_DECIDED)[-1] == told


def test_only_an_error_is_given_up() -> None:
    gate = made.open_gate(made.awaiting_plan())
    assert refused(gate, Verb.GIVE_UP, "Because.") == "Only work that an error holds is given up."


def test_steps_under_way_end_first_and_none_starts_meanwhile() -> None:
    run = started("a", "b", "c", parallel=2)
    say(held(run, "a"), Verb.REJECT, WORDS)
    assert (fresh(run).status, status_of(run, "a"), status_of(run, "c")) == (
        RunStatus.EXECUTING,
        (StepStatus.PENDING, True),
        (StepStatus.PENDING, False),
    )
    done(run, "b", {"b.md": "B"})
    assert (fresh(run).status, status_of(run, "b")[0]) == (RunStatus.PLANNING, StepStatus.PASSED)
    assert Attempt.objects.count() == 2


def test_another_step_that_an_error_holds_is_decided_first() -> None:
    run = started("a", "b")
    one, other = held(run, "a"), held(run, "b")
    say(one, Verb.REJECT, WORDS)
    assert fresh(run).status == RunStatus.EXECUTING
    say(other, Verb.REJECT, "The same here.")
    brief, _ = for_planner(WorkItem(run=fresh(run)), Capacities())
    assert (fresh(run).status, [lesson.request for lesson in brief.lessons]) == (RunStatus.PLANNING, [0, 1, 0, 2])


def test_a_planner_that_brings_nothing_new_leads_to_another_try() -> None:
    run = started("a", replans=0)
    say(held(run, "a"), Verb.REJECT, WORDS)
    with made.working(run, WorkKind.PLAN) as mine:
        effects.go_on_without_replan(states.of(mine.run), "The same again.")
    assert (fresh(run).status, status_of(run, "a")) == (RunStatus.EXECUTING, (StepStatus.RUNNING, False))
    assert list(Attempt.objects.values_list("number", "status")) == [(1, "cancelled"), (2, "executing")]
    say(held(run, "a"), Verb.REJECT, "I said: without.")
    assert fresh(run).status == RunStatus.PLANNING


def test_an_answer_that_cannot_be_written_leads_to_another_plan() -> None:
    run = started("a")
    done(run, "a", {"a.md": "A"})
    say(held(run, kind=WorkKind.FINALISE), Verb.REJECT, "Make the results shorter.")
    run = fresh(run)
    brief, why = for_planner(WorkItem(run=run), Capacities())
    assert (run.status, why) == (RunStatus.PLANNING, "alice requested changes to version 1 after an error.")
    assert [lesson.text for lesson in brief.lessons] == [ERROR, "Make the results shorter."]
    with made.working(run, WorkKind.PLAN) as mine:
        effects.go_on_without_replan(states.of(mine.run), "The same again.")
    assert made.open_work(run, WorkKind.FINALISE).status == WorkStatus.READY


def test_a_planner_that_fails_after_a_rejected_version_can_be_told_more() -> None:
    run = made.awaiting_plan()
    made.decide(run, GateKind.PLAN, Verb.REJECT, "Shorter.")
    gate = held(run, kind=WorkKind.PLAN)
    say(gate, Verb.REJECT, WORDS)
    brief, _ = for_planner(WorkItem(run=fresh(run)), Capacities())
    assert [lesson.text for lesson in brief.lessons] == ["Shorter.", ERROR, WORDS]
    assert made.open_work(run, WorkKind.PLAN).pk != gate.work_id, "with a journal of its own, for another question"


def test_before_there_is_a_plan_nothing_can_be_changed() -> None:
    gate = made.open_gate(made.error_gate())
    assert refused(gate, Verb.REJECT, WORDS) == (
        "There is no plan yet that could be changed. Plan again, or stop the run and submit the task again with what "
        "is missing in the request."
    )


@pytest.mark.parametrize(
    ("allowed", "sentence_"),
    [
        (0, "Its policy allows no revision. Try again, or stop the run"),
        (1, "Changes to the plan of this run were requested once already, and its policy allows no more. Try again,"),
    ],
)
def test_there_are_as_many_revisions_as_the_policy_allows(allowed: int, sentence_: str) -> None:
    run = started("a", revisions=allowed)
    for _ in range(allowed):
        say(held(run, "a"), Verb.REJECT, WORDS)
        made.propose(run, made.plan(made.plan_step("a", "A once more")))
        plan_gate = made.open_gate(run, GateKind.PLAN)
        assert refused(plan_gate, Verb.REJECT, "Not this.").endswith(
            "allows no more. Approve this one, or stop the run and submit the task again with what is missing in the "
            "request."
        )
        say(plan_gate, Verb.APPROVE)
    gate = held(run, "a")
    assert refused(gate, Verb.REJECT, WORDS).startswith(sentence_)
    say(gate, Verb.APPROVE)
    assert status_of(run, "a") == (StepStatus.RUNNING, False)


def test_a_second_person_is_needed_for_no_answer_here() -> None:
    run = made.awaiting_plan(made.plan(made.plan_step("a", "A")), second_person=True)
    made.decide(run, GateKind.PLAN, Verb.APPROVE, by=made.bob())
    say(held(run, "a"), Verb.APPROVE)
    say(held(run, "a"), Verb.REJECT, WORDS)
    assert fresh(run).status == RunStatus.PLANNING


def test_while_the_run_is_paused_the_planner_is_not_asked() -> None:
    run = started("a")
    gate = held(run, "a")
    pause(run.pk, made.alice(), paused=True)
    say(gate, Verb.REJECT, WORDS)
    assert (fresh(run).status, status_of(run, "a")) == (RunStatus.EXECUTING, (StepStatus.PENDING, True))
    pause(run.pk, made.alice(), paused=False)
    assert fresh(run).status == RunStatus.PLANNING


def test_a_worker_that_comes_back_late_commits_nothing() -> None:
    run = started("a")
    lease = claim.claim(made.open_work(run, WorkKind.ATTEMPT, "a").pk)
    assert lease is not None
    with made.committing(lease) as mine:
        error_gate.ask(mine, ERROR, reset=False)
    say(made.open_gate(run, GateKind.ERROR), Verb.REJECT, WORDS)
    with pytest.raises(LeaseLost):
        claim.commit(lease, lambda mine: None)


def test_changes_cannot_be_requested_while_new_files_are_read() -> None:
    run = started("a")
    effects.read_documents(states.of(run))
    gate = held(run, kind=WorkKind.READ)
    assert refused(gate, Verb.REJECT, WORDS).startswith("The new files have to be read before the plan can change.")
    say(gate, Verb.APPROVE)
    assert gate.work is not None
    gate.work.refresh_from_db()
    assert gate.work.status == WorkStatus.READY
