"""The plan of the rehearsal, and what feedback and failures change in it."""

import pytest

from runs.pev.contracts import PlanContract
from runs.pev.planner import Lesson
from runs.pev.plans.commented import with_copies
from runs.rehearsal import job
from tests.unit.rehearsal.bench import Bench

LEASE, SERVICE = "contracts/Büro lease.md", "contracts/Service agreement.docx"


def context(plan: PlanContract, name: str) -> list[str]:
    return [item.value for item in plan.context if item.name == name]


def after(*feedback: str) -> PlanContract:
    """The version that follows when a person has said this of the first."""
    first = Bench().plan()
    lessons = tuple(Lesson("Alice rejected version 1", words, from_person=True) for words in feedback)
    return Bench(lessons=lessons).plan(previous=first)


def test_it_is_the_shipped_document_review_and_says_that_no_ai_is_at_work() -> None:
    plan = Bench().plan()
    shipped = with_copies(job.template(), [SERVICE])
    added = [
        step.description.removeprefix(old.description) for step, old in zip(plan.steps, shipped.steps, strict=True)
    ]
    assert added == ["", "", f"\n{job.ON_PURPOSE}", "", ""]
    assert [step.acceptance_criteria for step in plan.steps] == [step.acceptance_criteria for step in shipped.steps]
    assert plan.success_criteria[:-1] == shipped.success_criteria
    assert plan.success_criteria[-1].text == job.ANSWER_NO_AI
    assert context(plan, "How this plan was made") == [
        "Offline rules, no AI: the template “Document review” for 3 files."
    ]
    assert "leaves one recommendation out on purpose" in context(plan, "Rehearsal")[0]
    assert job.can_carry_out(plan)


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (f"Leave out {SERVICE}.", {SERVICE}),
        ("leave out Büro lease.md and Service agreement.docx", {LEASE, SERVICE}),
        (f"Everything without `{LEASE}`, please", {LEASE}),
        ("Ohne Büro lease.md bitte", {LEASE}),
        (f"Do not leave out {SERVICE}", set()),
        (f"{SERVICE} is fine", set()),
        ("Leave out agreement.docx", set()),
        ("Make it nicer", set()),
        (f"Skip {LEASE}, {SERVICE} and data-processing-agreement.pdf", set()),
    ],
)
def test_files_that_feedback_names_are_left_out_but_never_all(words: str, out: set[str]) -> None:
    plan = after(words)
    assert [job.left_out(step.description, [LEASE, SERVICE, "x.md"]) for step in plan.steps] == [out] * len(plan.steps)
    assert ("word-copies" in [step.step_id for step in plan.steps]) == (SERVICE not in out)
    assert context(plan, "Feedback") == [f"Alice rejected version 1: “{words}”"]
    assert context(plan, "Left out") == ([", ".join(sorted(out))] if out else [])


def test_what_was_left_out_stays_out_in_later_versions() -> None:
    second = after(f"Leave out {SERVICE}")
    thanks = (Lesson("Alice", "Thank you", from_person=True),)
    third = Bench(lessons=thanks).plan(previous=second)
    assert job.left_out(third.steps[0].description, [LEASE, SERVICE]) == {SERVICE}


@pytest.mark.parametrize(
    "lesson", [Lesson("Alice", "No rehearsal please", from_person=True), Lesson("Step findings", "It failed")]
)
def test_nothing_fails_on_purpose_when_that_is_unwanted_or_something_has_failed(lesson: Lesson) -> None:
    plan = Bench(lessons=(lesson,)).plan(previous=Bench().plan())
    assert job.ON_PURPOSE not in "".join(step.description for step in plan.steps)
    assert context(plan, "Rehearsal") == ["None in this version."]
    assert lesson.text in "".join(item.value for item in plan.context)


def test_a_template_that_was_rejected_fails_nothing_on_purpose_in_its_next_version() -> None:
    said = (Lesson("Alice", "Again", from_person=True),)
    plan = Bench(request="Anything", lessons=said).plan(previous=job.template())
    assert [step.description for step in plan.steps] == [step.description for step in job.template().steps]


def test_copies_that_a_person_has_taken_out_of_the_plan_stay_out() -> None:
    first = Bench().plan()
    without = first.model_copy(update={"steps": [step for step in first.steps if step.step_id != "word-copies"]})
    plan = Bench(lessons=(Lesson("Step notices", "It failed"),)).plan(previous=without)
    assert [step.step_id for step in plan.steps] == ["inventory", "key-facts", "findings", "notices"]


def test_steps_that_have_passed_are_kept_to_the_letter() -> None:
    first = Bench().plan()
    kept = tuple(first.steps[:3])
    plan = Bench(lessons=(Lesson("Step notices", "It failed"),)).plan(previous=first, kept=kept)
    assert tuple(plan.steps[:3]) == kept


def test_more_than_a_line_can_hold_is_not_left_out() -> None:
    files = {f"{number:03d} {'x' * 60}.md": b"text" for number in range(60)}
    words = "; ".join(f"leave out {path}" for path in list(files)[:-1])
    plan = Bench(files, lessons=(Lesson("Alice", words, from_person=True),)).plan()
    assert context(plan, "Left out") == []
