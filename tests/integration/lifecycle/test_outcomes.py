"""What becomes of what workers bring back: plans, reports, verdicts, answers, errors."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from runs.contracts.base import QuotedEvidence
from runs.engine import claim
from runs.enums import Action, AttemptStatus, EventKind, GateKind, StepStatus, Verb, WorkKind, WorkStatus
from runs.errors import MoveRefused
from runs.evidence.quotes import resolve
from runs.evidence.results import Judgement
from runs.lifecycle import gate_decisions, outcomes
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates import error_gate
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Attempt, Event, Plan, Run, Step, Verdict, WorkItem
from runs.pev.contracts import PlanContract, PlanStep
from runs.pev.verifier import failed
from runs.store import event_log, trees
from tests import factories as made
from tests.factories import committing
from tests.integration.lifecycle.small import done, started, undone

pytestmark = pytest.mark.django_db


def judged(attempt: Attempt, judgement: Judgement) -> None:
    with event_log.writing():
        outcomes.judged(attempt, judgement)
    attempt.step.refresh_from_db()


def planned(run: Run, contract: PlanContract) -> Plan:
    with event_log.writing():
        return outcomes.propose_plan(run, contract, reason="Because.", estimate=None)


def attempt_of(run: Run) -> Attempt:
    return Attempt.objects.filter(step__plan__run=run).latest("pk")


def supported(text: str = "Done") -> Any:
    evidence = resolve(QuotedEvidence(source="@output", quote=text), {"@output": text.encode()})
    return made.judgement([made.result("C1", "It is done.", [evidence])])


# ---- plans --------------------------------------------------------------------------------------------------------


def test_a_plan_is_stored_so_that_it_can_be_read_back_as_it_was() -> None:
    contract = made.plan()
    plan = planned(made.planning(), contract)
    assert fingerprint.contract_of(plan) == contract
    assert plan.digest == fingerprint.plan_digest(contract)
    assert list(plan.steps.values_list("key", "position", "complexity", "status")) == [
        ("inventory", 0, "low", "pending"),
        ("review", 1, "high", "pending"),
        ("notices", 2, "medium", "pending"),
    ]


def test_versions_count_from_one() -> None:
    run = made.planning()
    assert [planned(run, made.plan()).version for _ in range(3)] == [1, 2, 3]


def replanning() -> Run:
    """Inventory passed, review failed for good; the planner is asked again."""
    run = made.executing(attempts=1, replans=1)
    done(run, "inventory", {})
    undone(run, "review")
    return Run.objects.get(pk=run.pk)


def kept(plan: Plan) -> list[str]:
    return list(plan.steps.exclude(reused_from=None).values_list("key", flat=True))


def test_an_unchanged_step_that_passed_is_kept_with_its_attempt() -> None:
    plan = planned(replanning(), made.plan())
    step = plan.steps.get(key="inventory")
    assert (kept(plan), step.status) == (["inventory"], StepStatus.PASSED)
    assert step.reused_from == Attempt.objects.get(step__key="inventory", step__plan__version=1)


@pytest.mark.parametrize(
    "changes",
    [
        {"description": "Read them all again."},
        {"expected_outputs": []},
        {"estimated_complexity": "medium"},
        {"acceptance_criteria": [made.criterion("Something else.")]},
    ],
)
def test_a_step_that_changed_in_anything_is_done_again(changes: dict[str, Any]) -> None:
    changed = PlanStep.model_validate({**made.inventory_step().model_dump(), **changes})
    assert kept(planned(replanning(), made.plan(changed, made.review_step()))) == []


def test_a_step_that_now_rests_on_a_new_one_is_done_again() -> None:
    changed = made.inventory_step().model_copy(update={"dependencies": ["first"]})
    plan = planned(replanning(), made.plan(made.plan_step("first", "First"), changed))
    assert kept(plan) == []


def test_a_step_that_failed_before_is_not_kept_even_if_unchanged() -> None:
    plan = planned(replanning(), made.plan())
    assert plan.steps.get(key="review").status == StepStatus.PENDING


def test_what_was_kept_once_is_kept_again_when_a_person_rejects_the_new_version() -> None:
    run = replanning()
    made.propose(run, made.plan(made.inventory_step()))
    made.decide(run, GateKind.PLAN, Verb.REJECT, "Smaller still.")
    made.propose(run, made.plan(made.inventory_step(), made.review_step("other")))
    plan = run.plans.latest("version")
    assert (plan.version, kept(plan)) == (3, ["inventory"])
    assert plan.steps.get(key="inventory").reused_from == Attempt.objects.get(step__key="inventory")


# ---- reports and verdicts -----------------------------------------------------------------------------------------


def test_a_report_waits_for_its_verdict_and_its_files_are_in_no_workspace() -> None:
    run = made.executing()
    attempt = attempt_of(run)
    outcomes.executed(attempt, made.output("Done"), made.overlay({"a.md": "A"}))
    attempt.refresh_from_db()
    assert (attempt.status, attempt.tree, list(attempt.overlay)) == (AttemptStatus.VERIFYING, None, ["a.md"])
    assert "a.md" not in trees.files_of(Run.objects.get(pk=run.pk).head)


def test_a_fingerprint_tells_a_repetition_and_nothing_else() -> None:
    def fingerprint(findings: str, files: dict[str, str], confidence: float) -> str:
        attempt = attempt_of(made.executing())
        outcomes.executed(attempt, made.output(findings, confidence=confidence), made.overlay(files))
        return attempt.fingerprint

    first = fingerprint("Done", {"a.md": "A"}, 0.5)
    assert fingerprint("Done", {"a.md": "A"}, 0.9) == first
    assert len({first, fingerprint("Done!", {"a.md": "A"}, 0.5), fingerprint("Done", {"a.md": "B"}, 0.5)}) == 3


def test_a_pass_has_the_tree_that_would_be_committed() -> None:
    attempt = attempt_of(made.executing())
    outcomes.executed(attempt, made.output("Done"), made.overlay({"a.md": "A"}))
    judged(attempt, supported())
    assert attempt.tree is not None
    assert set(trees.files_of(attempt.tree)) - set(trees.files_of(attempt.base)) == {"a.md"}
    assert (attempt.status, attempt.step.status, attempt.step.failures) == ("passed", "judged", 0)


def test_a_failure_costs_an_attempt_and_has_no_tree() -> None:
    attempt = attempt_of(made.executing())
    outcomes.executed(attempt, made.output("Done"), made.overlay({"a.md": "A"}))
    judged(attempt, failed("It is missing."))
    assert (attempt.status, attempt.tree, attempt.step.failures) == (AttemptStatus.FAILED, None, 1)
    assert attempt.verdict.feedback == "It is missing."


def test_what_never_got_as_far_as_a_report_can_fail_too() -> None:
    attempt = attempt_of(made.executing())
    judged(attempt, failed("The model refused to answer."))
    assert attempt.status == AttemptStatus.FAILED


def test_blocked_is_no_pass() -> None:
    run = made.blocked()
    attempt = attempt_of(run)
    assert (attempt.status, attempt.verdict.passed, attempt.tree) == (AttemptStatus.BLOCKED, False, None)
    assert made.open_gate(run, GateKind.EXHAUSTED).step == attempt.step


def test_an_attempt_is_judged_once() -> None:
    attempt = attempt_of(made.executing())
    judged(attempt, failed("No."))
    with pytest.raises((IntegrityError, MoveRefused)), transaction.atomic():
        judged(attempt, failed("No."))


def test_a_verdict_counts_what_was_supported_and_what_was_not() -> None:
    run = made.failed_attempt()
    verdict = Verdict.objects.get(attempt__step__key="review")
    assert (verdict.passed, verdict.criteria, verdict.supported, verdict.unsupported) == (False, 3, 1, 1)
    assert run.status == "executing"


def test_the_database_refuses_a_pass_without_support() -> None:
    undone(started("a"), "a")
    verdict = Verdict.objects.filter(passed=False)
    for half in (
        {},
        {"action": "pass"},
        {"action": "pass", "criteria": 0},
        {"action": "pass", "criteria": 2, "supported": 1},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            verdict.update(passed=True, **half)


def test_a_verdict_is_told_with_its_feedback() -> None:
    undone(run := started("a"), "a", Action.REPLAN)
    told = Event.objects.filter(run=run, kind=EventKind.VERDICT).latest("seq").data
    assert (told["step"], told["attempt"], told["passed"], told["action"]) == ("a", 1, False, "replan")
    assert told["feedback"] == "It is missing."


# ---- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reset", "generation"), [(False, 0), (True, 1)])
def test_work_with_an_error_waits_at_a_gate_without_a_lease(reset: bool, generation: int) -> None:
    run = made.executing()
    lease = claim.claim(made.open_work(run, WorkKind.ATTEMPT).pk)
    assert lease is not None
    with committing(lease) as mine:
        error_gate.ask(mine, "The service refused the key (401).", reset=reset)
    item = WorkItem.objects.get(pk=lease.item.pk)
    gate = made.open_gate(run, GateKind.ERROR)
    assert (item.status, item.lease_until, item.generation) == (WorkStatus.SUSPENDED, None, generation)
    assert (gate.work, gate.step, gate.question) == (
        item,
        Step.objects.get(key="inventory"),
        "The service refused the key (401).",
    )


def test_two_steps_may_have_errors_at_once_and_are_answered_apart() -> None:
    run = started("a", "b")
    for key in ("a", "b"):
        lease = claim.claim(made.open_work(run, WorkKind.ATTEMPT, key).pk)
        assert lease is not None
        with committing(lease) as mine:
            error_gate.ask(mine, "Down.", reset=False)
    one, other = run.gates.filter(kind=GateKind.ERROR)
    gate_decisions.decide(one.pk, made.alice(), Decision(Verb.APPROVE, one.digest))
    other.refresh_from_db()
    assert (other.status, WorkItem.objects.filter(run=run, status=WorkStatus.SUSPENDED).count()) == ("open", 1)
    assert one.digest != other.digest


# ---- answers ------------------------------------------------------------------------------------------------------


def test_an_answer_is_stored_with_its_judgement_and_told_in_figures() -> None:
    run = started("a", replans=0)
    done(run, "a", {made.REVIEW: "A"})
    made.final_answer(run, met=False)
    run.refresh_from_db()
    assert run.final is not None
    assert (run.answer, run.final.passed, run.final.action) == (made.ANSWER, False, Action.RETRY)
    assert Event.objects.get(run=run, kind=EventKind.ANSWERED).data == {"met": 1, "criteria": 2}
