"""The shapes that models must deliver: plans, step outputs, verdicts. Closed objects, no Django.

Everything here is data from outside until it has been validated.
"""

from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from runs.contracts.base import (
    MAX_EVIDENCE,
    Confidence,
    Contract,
    Line,
    Name,
    Path,
    QuotedEvidence,
    StepId,
    Text,
    Words,
)
from runs.enums import About, Action, Complexity, Severity
from runs.pev.checks.registry import AnyCheck


class Criterion(Contract):
    """One measurable statement; with a check, the check alone decides it. `about`: what it speaks of, which plans from
    elsewhere and of earlier versions do not say: `topic` does.
    """

    text: Words
    about: Annotated[About | None, WithJsonSchema({"type": "string", "enum": [str(about) for about in About]})] = None
    check: AnyCheck | None = None

    @property
    def topic(self) -> About:
        if self.about is not None:
            return self.about
        return About.OUTPUT if self.check and not self.check.compares else About.SOURCES


class ContextItem(Contract):
    name: Line
    value: Words


class PlannedAction(Contract):
    tool: Line
    purpose: Words


class ExpectedOutput(Contract):
    """A file that a step writes. `cited` is false for a finished text, code or data, which must not carry citations."""

    path: Path
    cited: bool = True

    @model_validator(mode="before")
    @classmethod
    def _from_a_path(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value


class PlanStep(Contract):
    """One unit of a plan. `inputs`: patterns of the given files it is to deal with; all of them if there are none.
    `tools`: those it may use; all that stay within the run if it is empty. `agent`: the name of the one that carries it
    out. The two are left out where they are empty, as by earlier versions.
    """

    step_id: StepId
    name: Line
    description: Words
    agent: Annotated[Name, Field(max_length=60, exclude_if=lambda name: not name)] = ""
    actions: Annotated[list[PlannedAction], Field(max_length=40)]
    acceptance_criteria: Annotated[list[Criterion], Field(min_length=1, max_length=40)]
    tools: Annotated[list[Line], Field(max_length=100, exclude_if=lambda names: not names)] = []
    inputs: Annotated[list[Path], Field(max_length=100)] = []
    expected_outputs: Annotated[list[ExpectedOutput], Field(max_length=40)]
    dependencies: Annotated[list[StepId], Field(max_length=100)]
    estimated_complexity: Complexity

    @property
    def outputs(self) -> list[str]:
        """The paths that it writes."""
        return [output.path for output in self.expected_outputs]


NOT_DONE = "Nothing was done"
"""How the note of a plan begins that does nothing about a request."""


class RequestAnswer(Contract):
    """How a plan meets request `request` of a person: by a step, or by its criterion number `criterion` (from 1).

    Without `step_id` the criterion is a success criterion. `how` says it in words.
    """

    request: Annotated[int, Field(ge=1, le=1_000)]
    step_id: StepId | None = None
    criterion: Annotated[int, Field(ge=1, le=40)] | None = None
    how: Words

    @property
    def done(self) -> bool:
        return not self.how.casefold().startswith(NOT_DONE.casefold())

    @property
    def why_not(self) -> str:
        """What follows the words that nothing was done; empty if something was."""
        return "" if self.done else self.how[len(NOT_DONE) :].removeprefix(" about it").strip(" :.,;–—-")


class PlanContract(Contract):
    goal: Words
    context: Annotated[list[ContextItem], Field(max_length=40)]
    steps: Annotated[list[PlanStep], Field(min_length=1)]
    success_criteria: Annotated[list[Criterion], Field(min_length=1, max_length=40)]
    rollback_strategy: Words
    answers: Annotated[list[RequestAnswer], Field(max_length=200)] = []

    def for_another_run(self) -> "PlanContract":
        """Without the answers to what people asked for in the run that it was made in."""
        return self.model_copy(update={"answers": []}) if self.answers else self

    @property
    def header(self) -> "PlanHeader":
        return PlanHeader(
            goal=self.goal,
            context=self.context,
            success_criteria=self.success_criteria,
            rollback_strategy=self.rollback_strategy,
            answers=self.answers,
        )


class PlanHeader(Contract):
    """A plan without its steps, which are rows of their own."""

    goal: Words
    context: Annotated[list[ContextItem], Field(max_length=40)]
    success_criteria: Annotated[list[Criterion], Field(min_length=1, max_length=40)]
    rollback_strategy: Words
    answers: Annotated[list[RequestAnswer], Field(max_length=200)] = []


class CriterionMet(Contract):
    criterion: Words
    met: bool
    how: Words


class LeftOut(Contract):
    """Work that a step did not do. `path`: the file that it is about, or nothing; `why`: a clause behind its name."""

    path: Name
    why: Line


class StepOutput(Contract):
    """What an executor says of its attempt, a claim and no evidence. `not_applicable`: there is nothing to do.

    `left_out`: each entry is an open point of the run (T6). Offline rules fill it in; models are not asked for it.
    """

    status: Literal["done", "blocked", "not_applicable"]
    reasoning: Text
    findings: Text
    criteria_met: list[CriterionMet]
    confidence: Confidence
    notes: Text
    left_out: SkipJsonSchema[list[LeftOut]] = []


class CriterionAnswer(Contract):
    """`criterion` is the label given in the question (`C1`, `C2`, ...)."""

    criterion: Words
    passed: bool
    evidence: Annotated[list[QuotedEvidence], Field(max_length=MAX_EVIDENCE)]
    confidence: Confidence
    feedback: Text


class VerifierAnswer(Contract):
    criteria_results: list[CriterionAnswer]
    overall_pass: bool
    action: Action
    severity: Severity
    feedback_for_executor: Text


class SynthesizedAnswer(Contract):
    """The final answer, in Markdown."""

    answer: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200_000)]


class SimpleStep(Contract):
    """A step of a SimplePlan. `after`: the numbers, from 1, of the steps whose results it needs."""

    name: Line
    description: Words
    criteria: Annotated[list[Words], Field(min_length=1, max_length=40)]
    files: Annotated[list[Path], Field(max_length=40)] = []
    after: Annotated[list[Annotated[int, Field(ge=1, le=1_000)]], Field(max_length=100)] = []


class SimpleRequestAnswer(Contract):
    """Which step of a SimplePlan does what a person asked for, and how. Numbers from 1."""

    request: Annotated[int, Field(ge=1, le=1_000)]
    step: Annotated[int, Field(ge=1, le=1_000)]
    how: Words


class SimplePlan(Contract):
    """A plan in the form that a small model can write; `imports.simple_plans` makes a whole plan of it."""

    goal: Words
    steps: Annotated[list[SimpleStep], Field(min_length=1)]
    success_criteria: Annotated[list[Words], Field(min_length=1, max_length=40)]
    answers: Annotated[list[SimpleRequestAnswer], Field(max_length=200)] = []


class SimpleReport(Contract):
    """What an executor says of its attempt, in the form that a small model can write."""

    done: bool
    result: Text
    missing: Text = ""
    confidence: Confidence = 0.5

    @property
    def whole(self) -> StepOutput:
        return StepOutput(
            status="done" if self.done else "blocked",
            reasoning="" if self.done else self.missing,
            findings=self.result,
            criteria_met=[],
            confidence=self.confidence,
            notes=self.missing if self.done else "",
        )


class SimpleVerdict(Contract):
    """What a verifier says of one criterion, in the form that a small model can write."""

    passed: bool
    quote: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""
    source: Annotated[str, StringConstraints(strip_whitespace=True, max_length=400)] = ""
    statement: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""
    why: Text = ""
    confidence: Confidence = 0.5
