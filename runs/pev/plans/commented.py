"""The step of a review that puts its findings into copies of its Word documents, as comments at the quotes."""

from collections.abc import Collection, Iterable

from runs.enums import About, Complexity
from runs.pev.checks.file_exists import FileExists
from runs.pev.checks.matches import Matches
from runs.pev.contracts import (
    ContextItem,
    Criterion,
    ExpectedOutput,
    PlanContract,
    PlannedAction,
    PlanStep,
)
from runs.text.truncate import truncate

REVIEWED = "reviewed/"
"""What the path of a copy with comments begins with; that of the file that it is a copy of follows."""
STEP = "word-copies"
AFTER = "findings"
"""The step with the findings, which are in its first output."""
MAX_COPIES = 15
"""Of one review; each has a criterion of the step and one of the plan, and of these 40 are allowed."""
NONE_FOUND = "No findings"
NOT_REVIEWED = "Not reviewed"
_DESCRIPTION = (
    "Put each finding of {findings} on a Word document into the copy of that document under reviewed/, as a comment at "
    "its quote, with comment_document. Begin each comment with the id of its finding, as in “F3 · what it is”, and say "
    "why it matters and what is recommended. A document without findings gets one comment at its first words, "
    "“No findings”. One that was not reviewed, or not as a whole, gets one that begins with “Not reviewed” and says "
    "why. Name in the report each finding whose quote can have no comment, and say why."
)
COMMENTS_STAND = (
    "Every finding of {findings} on these Word documents is a comment at its quote in the copy, or the report says why "
    "it is not"
)
_LIMIT = (
    "Of the {count} Word documents the first {most} by their paths get one. The findings on the others are in the file "
    "of findings; for copies of them run the review again with these alone."
)
_UNREADABLE = "{} cannot be read and get none."
_MAX_NAMED = 1_000
_COMMENTED = (
    "{copy} has comments that begin with the id of a finding, or say that there is none or what was not reviewed"
)
_PATTERN = rf"^(?:F\d+ · |{NONE_FOUND}|{NOT_REVIEWED})"


def is_word(path: str) -> bool:
    """Whether the tool that comments would take a file of this name."""
    return path.lower().endswith(".docx")


def with_copies(plan: PlanContract, paths: Iterable[str]) -> PlanContract:
    """The plan of a review with this step behind its findings, for the Word documents with these paths; the plan
    itself, where there are none or it has no step with findings.
    """
    every = [REVIEWED + path for path in sorted(paths)]
    copies = every[:MAX_COPIES]
    found = next((number for number, step in enumerate(plan.steps, 1) if step.step_id == AFTER), 0)
    if not (copies and found):
        return plan
    steps = [*plan.steps[:found], step_for(plan.steps[found - 1].outputs[0], copies), *plan.steps[found:]]
    exist = [
        Criterion(text=f"{copy} exists", about=About.OUTPUT, check=FileExists(kind="file_exists", path=copy))
        for copy in copies
    ]
    context = [*plan.context]
    if len(every) > MAX_COPIES:
        limit = _LIMIT.format(count=f"{len(every):,}", most=MAX_COPIES)
        context.append(ContextItem(name="Copies with comments", value=limit))
    criteria = [*plan.success_criteria, *exist]
    return plan.model_copy(update={"context": context, "steps": steps, "success_criteria": criteria})


def without_copies(plan: PlanContract, paths: Collection[str]) -> PlanContract:
    """The plan without the copies of these documents, which cannot be made. It stays as it is where it makes none of
    them, and where another step needs the copies and none would be left.
    """
    step = next((one for one in plan.steps if one.step_id == STEP), None)
    gone = {REVIEWED + path for path in paths} & set(step.outputs if step else ())
    if step is None or not gone:
        return plan
    kept = [one for one in step.outputs if one not in gone]
    if not kept and any(STEP in one.dependencies for one in plan.steps):
        return plan
    named = truncate(", ".join(sorted(one.removeprefix(REVIEWED) for one in gone)), _MAX_NAMED)
    less = step.model_copy(
        update={
            "acceptance_criteria": [one for one in step.acceptance_criteria if _path_of(one) not in gone],
            "expected_outputs": [one for one in step.expected_outputs if one.path not in gone],
        }
    )
    return plan.model_copy(
        update={
            "context": [*plan.context, ContextItem(name="No copies with comments", value=_UNREADABLE.format(named))],
            "steps": [less if one is step else one for one in plan.steps if kept or one is not step],
            "success_criteria": [one for one in plan.success_criteria if _path_of(one) not in gone],
        }
    )


def _path_of(criterion: Criterion) -> str:
    check = criterion.check
    return check.subject if check else ""


def step_for(findings: str, copies: Iterable[str]) -> PlanStep:
    """The step that makes these copies from the file of findings."""
    made = list(copies)
    return PlanStep(
        step_id=STEP,
        name="Comment the Word documents",
        description=_DESCRIPTION.format(findings=findings),
        actions=[
            PlannedAction(tool="list_files", purpose="See which Word documents there are."),
            PlannedAction(tool="read_file", purpose="Read the findings."),
            PlannedAction(tool="comment_document", purpose="Put each finding on a Word document at its quote."),
        ],
        acceptance_criteria=[
            *(
                Criterion(
                    text=_COMMENTED.format(copy=copy),
                    about=About.OUTPUT,
                    check=Matches(kind="matches", path=copy, pattern=_PATTERN, comments=True),
                )
                for copy in made
            ),
            Criterion(text=COMMENTS_STAND.format(findings=findings), about=About.OUTPUT),
        ],
        expected_outputs=[ExpectedOutput(path=copy, cited=False) for copy in made],
        dependencies=[AFTER],
        estimated_complexity=Complexity.LOW,
    )
