"""Which plans and steps are the job that the rehearsal knows."""

from typing import Any

import pytest

from runs.pev.checks.file_exists import FileExists
from runs.pev.contracts import Criterion, PlanStep
from runs.rehearsal import job
from runs.submission.run_templates import SHIPPED, shipped_plan

FINDINGS = job.template().steps[2]


def changed(**changes: Any) -> PlanStep:
    return PlanStep.model_validate({**FINDINGS.model_dump(), **changes})


def described(*lines: str) -> PlanStep:
    return changed(description="\n".join([FINDINGS.description, *lines]))


@pytest.mark.parametrize(
    "step",
    [
        FINDINGS,
        described(job.ON_PURPOSE),
        described(f"{job.LEAVE_OUT}`a.md`"),
        changed(name="Another name", estimated_complexity="low"),
        changed(acceptance_criteria=[Criterion(text="There", check=FileExists(kind="file_exists", path="x"))]),
    ],
)
def test_a_step_of_the_document_review_is_known(step: PlanStep) -> None:
    assert job.is_known(step)


@pytest.mark.parametrize(
    "step",
    [
        described("And report the largest of three files."),
        changed(description="Report the largest of three files."),
        changed(description=f"{FINDINGS.description} Report the largest of three files."),
        changed(step_id="notices"),
        changed(step_id="largest"),
        changed(expected_outputs=["review/largest.md"]),
        changed(expected_outputs=["digest/findings.md"]),
        changed(expected_outputs=["review-2/findings.md"]),
        changed(expected_outputs=["review/findings.md", "review/more.md"]),
        changed(expected_outputs=[]),
        changed(acceptance_criteria=[*FINDINGS.acceptance_criteria, Criterion(text="It names the largest file")]),
    ],
)
def test_a_step_that_asks_for_anything_else_is_not(step: PlanStep) -> None:
    assert not job.is_known(step)


def test_a_plan_is_known_by_its_steps_and_its_success_criteria() -> None:
    plan = job.template()
    more = Criterion(text="The final answer names the largest file")
    assert [key for key in SHIPPED if job.can_carry_out(shipped_plan(key))] == [job.TEMPLATE]
    assert not job.can_carry_out(plan.model_copy(update={"success_criteria": [*plan.success_criteria, more]}))
    assert not job.can_carry_out(plan.model_copy(update={"steps": [described("More.")]}))


def test_paths_are_left_out_by_their_whole_name() -> None:
    line = f"{job.LEAVE_OUT}`a.md`, `b c.md`"
    assert job.left_out(described(line).description, ["a.md", "b c.md", "c.md", "aa.md"]) == {"a.md", "b c.md"}


def test_everything_but_the_files_of_the_review_is_a_document() -> None:
    own = ["review/findings.md", "review/key-facts.csv", "reviewed/contracts/lease.docx"]
    documents = ["lease.docx", "review/lease.md", "review/old/findings.md", "contracts/findings.md", "findings.md"]
    assert [path for path in [*own, *documents] if job.is_own(path)] == own
