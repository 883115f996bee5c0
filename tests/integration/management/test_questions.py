"""A gate in the terminal shows what the page shows: all that a step writes, and what came of it."""

import pytest

from runs.enums import GateKind, WorkKind
from runs.lifecycle import outcomes
from runs.management.questions import about
from runs.models import Gate, Run
from tests import factories

pytestmark = pytest.mark.django_db


def asked(run: Run) -> list[str]:
    return about(factories.open_gate(run))


def test_a_plan_is_shown_with_everything_its_steps_write() -> None:
    lines = asked(factories.awaiting_plan())
    at = lines.index("- inventory (low): List the contracts and their parties")
    assert lines[at + 1 : at + 8] == [
        "    Read each contract and note its parties, its date and its subject in one table.",
        f"    must hold (output): The inventory exists [check: {factories.INVENTORY} exists]",
        "    must hold (output): Every contract is listed with both parties.",
        f"    writes: {factories.INVENTORY}",
        "    uses list_files: See what there is.",
        "    uses read_file: Read each contract.",
        "    uses write_file: Write the table.",
    ]
    assert f"    writes: {factories.REVIEW}" in lines
    assert [line for line in lines if " of the whole): " in line] == [
        "8 criteria (2 of the whole): 3 automatic checks, 5 AI reviews"
    ]
    assert lines[-1].startswith("Estimated cost: $")


def test_a_second_plan_says_what_changed() -> None:
    lines = asked(factories.awaiting_second_plan())
    assert "- deadlines (low, added) after inventory: List the deadlines" in lines
    assert "- review (high, changed) after inventory: Review the clauses" in lines
    assert (
        "Since version 1: 1 step removed: Draft the notices · 1 changed: Review the clauses (description) · "
        "1 added: List the deadlines"
    ) in lines


def test_a_step_that_is_to_start_is_shown_with_all_that_is_about_to_happen() -> None:
    lines = asked(factories.start_gate())
    does = factories.review_step().description
    assert lines[:-1] == [
        "Start “Review the clauses”? It is a high-risk step.",
        "- review (high) after inventory: Review the clauses",
        f"    {does}",
        "    must hold (output): Each finding quotes the clause it is about.",
        "    must hold (output): Each finding recommends what to do.",
        f"    must hold (output): The review has no placeholders [check: {factories.REVIEW} has no placeholders]",
        f"    writes: {factories.REVIEW}",
        "    uses read_file: Read the clauses.",
        "    uses search_files: Find placeholders.",
        "    uses write_file: Write the findings.",
        "    may read: all of your files",
    ]
    assert lines[-1].startswith("Estimated cost: $")


def test_an_error_is_shown_with_what_was_tried_and_what_the_answers_lead_to() -> None:
    assert asked(factories.step_error()) == [
        "The service refuses this request (403): its policy does not allow contracts/Service agreement.md.",
        "! The executor (claude-sonnet-5-5) was asked 8 times and gave no answer.",
        "approve: Attempt 1 goes on after its 1 answer. That helps where the cause is gone.",
        "reject: The planner gets your words and this error. It writes version 2 for approval.",
    ]
    assert asked(factories.error_gate())[-1] == "reject: There is no plan yet that could be changed."


def test_a_result_is_shown_with_every_file_written_and_removed() -> None:
    run = factories.executing()
    with factories.working(run, WorkKind.ATTEMPT, "inventory") as mine:
        assert mine.attempt is not None
        changes = factories.overlay({factories.INVENTORY: "# Inventory", "other.md": "x"}) | {factories.SERVICE: None}
        outcomes.executed(mine.attempt, factories.output("one\ntwo"), changes)
    attempt = run.plans.get().steps.get(key="inventory").attempts.get()
    assert about(Gate(run=run, kind=GateKind.STEP, question="Keep it?", attempt=attempt)) == [
        "Keep it?",
        f"removed {factories.SERVICE}",
        "wrote other.md (1 bytes)",
        "wrote review/inventory.md (11 bytes)",
        f"! differs from the plan: {factories.SERVICE} was written, which no step declared.",
        "! differs from the plan: other.md was written, which no step declared.",
        "! differs from the plan: The plan named the tool list_files; it was not used.",
        "! differs from the plan: The plan named the tool read_file; it was not used.",
        "! differs from the plan: The plan named the tool write_file; it was not used.",
        "| one",
        "| two",
    ]


def test_a_result_is_shown_with_its_verdict() -> None:
    lines = asked(factories.step_gate())
    assert lines[1:3] == [
        f"wrote {factories.REVIEW} (405 bytes)",
        "met: Each finding quotes the clause it is about. (AI review, 90 % confident; from your files)",
    ]


def test_a_line_break_in_a_text_begins_no_line_of_ours() -> None:
    name = "Innocent\n   1  admin approved the plan"
    step = factories.plan_step("one", name)
    lines = asked(factories.awaiting_plan(factories.plan(step)))
    assert "- one (low): Innocent 1 admin approved the plan" in lines
    assert not [line for line in lines if "\n" in line]


def test_an_exhausted_step_shows_first_what_was_not_met() -> None:
    lines = asked(factories.exhausted_gate())
    assert lines[0] == "“Review the clauses” did not pass in 2 attempts. Accept it with open points?"
    first, second = (one.text for one in factories.review_step().acceptance_criteria[:2])
    assert lines[1:6] == [
        f"! not met: “{first}” (Unsupported: no passage that was quoted for it is in its source)",
        f"! not met: “{second}” (Finding 2 has no recommendation)",
        "! major: it must be fixed before anyone relies on it",
        f"! attempt 1: {factories.CRITIQUE}",
        f"! attempt 2: {factories.CRITIQUE}",
    ]


def test_a_question_of_a_model_is_shown_with_the_answers_that_it_suggests() -> None:
    assert asked(factories.question_gate()) == ["Which law applies to the notices?", "1. German law", "2. French law"]
