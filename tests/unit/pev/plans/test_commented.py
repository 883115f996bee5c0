"""The step for copies of Word documents: where it stands in a plan, and what code decides of what it makes."""

from runs.pev.checks.file_exists import FileExists
from runs.pev.checks.matches import Matches
from runs.pev.plans.commented import MAX_COPIES, with_copies, without_copies
from runs.pev.soundness import problems_in
from runs.pev.tools.registry import TOOL_NAMES
from runs.submission.run_templates import shipped_plan

REVIEW = shipped_plan("document-review")


def test_the_step_stands_behind_the_findings_and_names_each_copy() -> None:
    plan = with_copies(REVIEW, ["b.docx", "a/lease.docx"])
    assert [step.step_id for step in plan.steps] == ["inventory", "key-facts", "findings", "word-copies", "notices"]
    step, copies = plan.steps[3], ["reviewed/a/lease.docx", "reviewed/b.docx"]
    assert (step.outputs, step.dependencies) == (copies, ["findings"])
    pattern = r"^(?:F\d+ · |No findings|Not reviewed)"
    checks = [one.check for one in step.acceptance_criteria if one.check]
    assert checks == [Matches(kind="matches", path=copy, pattern=pattern, comments=True) for copy in copies]
    last = [one.check for one in plan.success_criteria[-2:]]
    assert last == [FileExists(kind="file_exists", path=copy) for copy in copies]
    assert problems_in(plan, TOOL_NAMES, max_steps=20) == []


def test_a_plan_without_word_documents_or_without_findings_stays_as_it_is() -> None:
    other = shipped_plan("project-analysis")
    assert with_copies(REVIEW, []) is REVIEW
    assert with_copies(other, ["a.docx"]) is other


def test_of_very_many_documents_the_first_are_copied() -> None:
    plan = with_copies(REVIEW, [f"{number:03d}.docx" for number in range(100)])
    assert plan.steps[3].outputs[-1] == f"reviewed/{MAX_COPIES - 1:03d}.docx"
    assert plan.context[-1].value.startswith(
        f"Of the 100 Word documents the first {MAX_COPIES} by their paths get one."
    )
    assert with_copies(REVIEW, [f"{number}.docx" for number in range(MAX_COPIES)]).context == REVIEW.context
    assert problems_in(plan, TOOL_NAMES, max_steps=20) == []


def test_documents_that_cannot_be_read_have_no_copies() -> None:
    plan = with_copies(REVIEW, ["a/lease.docx", "b.docx", "c.docx"])
    less = without_copies(plan, ["b.docx", "c.docx", "d.pdf"])
    expected = with_copies(REVIEW, ["a/lease.docx"])
    assert (less.steps, less.success_criteria) == (expected.steps, expected.success_criteria)
    assert less.context[-1].value == "b.docx, c.docx cannot be read and get none."
    assert problems_in(less, TOOL_NAMES, max_steps=20) == []


def test_without_any_copy_there_is_no_step_for_them() -> None:
    less = without_copies(with_copies(REVIEW, ["b.docx"]), ["b.docx"])
    assert (less.steps, less.success_criteria) == (REVIEW.steps, REVIEW.success_criteria)


def test_a_plan_that_makes_no_copies_of_them_stays_as_it_is() -> None:
    plan = with_copies(REVIEW, ["b.docx"])
    assert without_copies(plan, ["c.docx"]) is plan
    assert without_copies(REVIEW, ["b.docx"]) is REVIEW
    last = plan.steps[-1].model_copy(update={"dependencies": ["word-copies"]})
    resting = plan.model_copy(update={"steps": [*plan.steps[:-1], last]})
    assert without_copies(resting, ["b.docx"]) is resting
