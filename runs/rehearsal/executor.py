"""Carries out a step of the document review: list, read, write its file, report; all by tool calls."""

from collections.abc import Callable, Mapping
from posixpath import dirname

from runs.pev.contracts import CriterionMet, PlanStep, StepOutput
from runs.pev.plans import commented
from runs.rehearsal import comments, files, job
from runs.rehearsal.conversation import Conversation, Use, unknown
from runs.rehearsal.documents import due, in_reach, library, shortfall, unlisted
from runs.rehearsal.text import named

_WRITERS: Mapping[str, Callable[[files.Material], tuple[str, str]]] = {
    "inventory": files.inventory,
    "key-facts": files.key_facts,
    "findings": files.findings,
    "notices": files.notices,
}
_OUTPUTS_READ = {"notices": ("findings.md", "key-facts.csv")}
"""Steps that work from the files of earlier steps instead of the documents."""


def act(conversation: Conversation) -> StepOutput | list[Use]:
    """Tool calls while something is to be read or written, then the report. Raises ModelError for other steps."""
    step = PlanStep.model_validate_json(conversation.text("step"))
    if not job.is_known(step):
        raise unknown(f"the step “{step.name}”")
    if step.step_id == commented.STEP:
        return _commented(step, conversation)
    output = step.outputs[0]
    written = [call for call in conversation.calls if call.name == "write_file"]
    if written and written[-1].is_error:
        return _blocked(f"{output} could not be written: {written[-1].result}")
    if written:
        material = _material(step, conversation)
        return _done(step, _WRITERS[step.step_id](material)[1], material.shortfall)
    if "write_file" not in conversation.tools:
        return _blocked("No tools may be used any more, and the file is not written yet.")
    if step.step_id not in _OUTPUTS_READ and not any(call.name == "list_files" for call in conversation.calls):
        return [("list_files", {"prefix": ""})]
    material = _material(step, conversation)
    return due(material.read) or [("write_file", {"path": output, "content": _WRITERS[step.step_id](material)[0]})]


def _commented(step: PlanStep, conversation: Conversation) -> StepOutput | list[Use]:
    """The copies of Word documents, one call for each comment."""
    if reads := comments.reads(step, conversation):
        return reads
    wanted = comments.wanted(step, conversation)
    if not (uses := comments.due_comments(wanted, conversation)):
        return _done(step, comments.report(wanted, conversation), "")
    if "comment_document" not in conversation.tools:
        return _blocked("No tools may be used any more, and not all comments are written yet.")
    return uses


def _material(step: PlanStep, conversation: Conversation) -> files.Material:
    folder = dirname(step.outputs[0])
    sources = [f"{folder}/{name}" for name in _OUTPUTS_READ.get(step.step_id, ())]
    every = library(conversation.calls, sources)
    given = sources or [path for path in every if path not in {f"{folder}/{name}" for name in job.OUTPUTS.values()}]
    left_out = job.left_out(step.description, given)
    wanted = [every[path] for path in given if path not in left_out]
    heeds = conversation.all("critique") or conversation.all("person")
    return files.Material(
        read=[document for document in in_reach(wanted) if not document.refused],
        every=[every[path] for path in given],
        left_out=left_out,
        unlisted=unlisted(conversation.calls),
        shortfall=shortfall(wanted),
        requests=len(conversation.all("person")),
        silent=job.ON_PURPOSE in step.description and not heeds,
    )


def _done(step: PlanStep, summary: str, gap: str) -> StepOutput:
    how = f"By rule, see {named(step.outputs, 3)}."
    return StepOutput(
        status="done",
        reasoning=f"{job.NO_AI}. Searched the text for fixed patterns and counted what was found.",
        findings=f"{summary}\n\nNot covered: {gap}" if gap else summary,
        criteria_met=[CriterionMet(criterion=one.text, met=True, how=how) for one in step.acceptance_criteria],
        confidence=0.6 if gap else 0.9,
        notes=f"{gap}\n{job.NOTE}".strip(),
    )


def _blocked(reason: str) -> StepOutput:
    reasoning = f"{job.NO_AI}. {reason}"
    return StepOutput(status="blocked", reasoning=reasoning, findings="", criteria_met=[], confidence=0.0, notes=reason)
