"""Plans, steps and attempts as they are read: what differs, what was heeded, what is kept, what it cost."""

import pytest

from runs.enums import About, ApprovalPolicy, PlanStatus, WorkKind
from runs.lifecycle import outcomes
from runs.models import Attempt, Run
from runs.pev.verifier import failed
from runs.readmodel.plan_view import SMALL, PlanReading, StepReading
from runs.readmodel.run_view import reading_of
from runs.store import trees
from tests import factories

pytestmark = pytest.mark.django_db


def newest(run: Run) -> PlanReading:
    plan = reading_of(run).plan
    assert plan is not None
    return plan


def steps_of(run: Run) -> tuple[StepReading, ...]:
    return newest(run).steps


def test_what_comes_after_what() -> None:
    plan = newest(factories.awaiting_plan())
    assert plan.steps[1].after == ["List the contracts and their parties"]


def test_what_differs_from_the_plan() -> None:
    first, second = steps_of(factories.step_gate())[1].attempts
    assert first.deviations == (
        "Unplanned file: review/scratch.txt.",
        "The plan named the tool search_files; it was not used.",
    )
    assert second.deviations == ()


def test_an_output_that_is_missing_is_a_deviation() -> None:
    run = factories.executing()
    with factories.working(run, WorkKind.ATTEMPT, "inventory") as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, factories.output("Nothing."), {})
        outcomes.judged(mine.attempt, failed("Nothing was written."))
    assert "Expected output review/inventory.md is missing." in steps_of(run)[0].attempts[0].deviations


def test_a_retry_names_the_critique_that_it_was_given() -> None:
    first, second = steps_of(factories.failed_attempt())[1].attempts
    assert (first.heeds, first.retry, second.heeds, second.retry) == (0, 2, 1, 0)


def test_the_critique_of_an_attempt_that_was_told_nothing_is_that_of_the_one_before() -> None:
    run = factories.failed_attempt()
    second = steps_of(run)[1].attempts[1].row
    Attempt.objects.create(step=second.step, number=3, base=second.base)
    assert [attempt.heeds for attempt in steps_of(run)[1].attempts] == [0, 1, 1]


def test_the_difference_between_versions() -> None:
    plan = newest(factories.awaiting_second_plan())
    assert plan.changes is not None
    assert plan.changes.names("added") == ("List the deadlines",)
    assert plan.changes.names("removed") == ("Draft the notices",)
    assert [(one.name, [text.what for text in one.changes]) for one in plan.changes.steps if one.kind == "changed"] == [
        ("Review the clauses", ["description"])
    ]


def test_kept_results_are_counted_and_told_where_they_were_made() -> None:
    first, second = reading_of(factories.replanned()).plans
    assert (second.kept, second.new) == (1, 1)
    assert [step.kept_from for step in second.steps] == [1, 0]
    assert [step.estimate is None for step in second.steps] == [True, False], "what is kept costs nothing"
    kept = second.steps[0]
    assert [attempt.row for attempt in kept.attempts] == [attempt.row for attempt in first.steps[0].attempts]
    assert kept.own_attempts == ()


def test_of_an_earlier_version_the_steps_that_were_tried_are_told() -> None:
    first, second = reading_of(factories.replanned()).plans
    assert [step.row.key for step in first.steps] == ["inventory", "review", "notices"]
    assert [step.row.key for step in first.tried_steps] == ["inventory", "review"]
    assert second.tried_steps == second.steps
    assert (first.row.status, first.newest) == (PlanStatus.SUPERSEDED, False)


def test_the_rejection_of_a_version_is_why_there_is_a_next() -> None:
    second = newest(factories.awaiting_second_plan())
    assert second.before is not None
    assert [gate.reason for gate in second.before.rejections] == [
        "Check the deadlines too, and leave the notices to me."
    ]


def test_an_approval_has_its_time_from_the_gate_or_from_the_event() -> None:
    by_person = newest(factories.executing())
    assert by_person.approved_at == by_person.decisions[0].decided_at
    run = factories.awaiting_plan(plan_approval=ApprovalPolicy.NEVER)
    by_policy = newest(run)
    assert by_policy.decisions == []
    assert by_policy.approved_at == run.events.get(kind="plan_approved").at


def test_what_the_steps_cost_is_less_than_the_whole() -> None:
    reading = reading_of(factories.finished_succeeded())
    assert reading.plan is not None
    assert 0 < sum(step.spent.cost for step in reading.plan.steps) < reading.totals.cost


def test_what_is_held_against_the_sources_is_counted_and_the_steps_without_it_are_named() -> None:
    about = factories.criterion("Every party is named in a contract.", about=About.SOURCES)
    review = factories.plan_step("review", "Review the clauses", acceptance_criteria=[about])
    plan = newest(factories.awaiting_plan(factories.plan(factories.inventory_step(), review)))
    assert plan.unsourced == ["List the contracts and their parties"]
    assert plan.judging == [
        ("2 automatic checks", "a file exists"),
        ("3 AI reviews", "1 compares the result with your files, 2 look only at the result"),
    ]
    assert plan.unsourced_words == (
        "the result of “List the contracts and their parties”, so nothing checks whether it is true."
    )
    assert [step.stays_unsourced for step in plan.steps] == [True, False]
    alike = newest(factories.awaiting_plan())
    assert alike.unsourced_words == "all results, so nothing checks whether they are true."
    assert {step.stays_unsourced for step in alike.steps} == {False}
    assert [step.reads for step in plan.steps] == ["reads all your files", "reads all your files"]


@pytest.mark.parametrize(
    ("tools", "actions", "reads"),
    [
        (["run_command"], ["run_command"], "runs commands"),
        (["run_command", "write_file"], ["run_command", "write_file"], "runs commands"),
        (["run_command", "read_file"], ["run_command", "read_file"], "reads all your files"),
        (["write_file"], ["write_file"], "reads all your files"),
    ],
)
def test_a_step_that_only_runs_commands_is_not_said_to_read_files(
    tools: list[str], actions: list[str], reads: str
) -> None:
    planned = [{"tool": tool, "purpose": "Do it."} for tool in actions]
    step = factories.plan_step("tests", "Run the tests", tools=tools, actions=planned)
    assert [one.reads for one in newest(factories.awaiting_plan(factories.plan(step))).steps] == [reads]


def test_steps_of_a_run_without_files_read_none() -> None:
    run = factories.awaiting_plan()
    Run.objects.filter(pk=run.pk).update(inputs=trees.make_tree({}))
    run.refresh_from_db()
    assert {one.reads for one in newest(run).steps} == {"reads none, as no files are given"}


def test_a_plan_of_one_or_two_steps_is_said_to_be_small() -> None:
    steps = [factories.plan_step(f"step-{number}", f"Step {number}") for number in range(3)]
    said = [newest(factories.awaiting_plan(factories.plan(*steps[:count]))).small for count in (1, 2, 3)]
    assert said == [SMALL[1], SMALL[2], ""]
