"""Carries out a step of the document review: list, read, write its file, report; all by tool calls."""

from collections.abc import Callable, Iterable, Mapping
from posixpath import dirname

from runs.pev.contracts import CriterionMet, LeftOut, PlanStep, StepOutput
from runs.pev.plans import commented
from runs.rehearsal import comments, files, job
from runs.rehearsal.account import account_of
from runs.rehearsal.conversation import Conversation, Use, unknown
from runs.rehearsal.documents import Document, Limits, due, library, unlisted
from runs.rehearsal.text import named

_WRITERS: Mapping[str, Callable[[files.Material], files.Written]] = {
    "inventory": files.inventory,
    "key-facts": files.key_facts,
    "findings": files.findings,
    "notices": files.notices,
}
_OUTPUTS_READ = {"notices": ("findings.md", "key-facts.csv")}
"""Steps that work from the files of earlier steps instead of the documents."""


def act(conversation: Conversation, limits: Limits) -> StepOutput | list[Use]:
    """Tool calls while something is to be read or written, then the report. Raises ModelError for other steps."""
    step = PlanStep.model_validate_json(conversation.text("step"))
    if not job.is_known(step):
        raise unknown(f"the step “{step.name}”")
    if step.step_id == commented.STEP:
        return _commented(step, conversation, limits)
    output = step.outputs[0]
    attempts = [call for call in conversation.calls if call.name == "write_file"]
    if attempts and attempts[-1].is_error:
        return _blocked(f"{output} could not be written: {attempts[-1].result}")
    if not attempts:
        if "write_file" not in conversation.tools:
            return _blocked("No tools may be used any more, and the file is not written yet.")
        if step.step_id not in _OUTPUTS_READ and not any(call.name == "list_files" for call in conversation.calls):
            return [("list_files", {"prefix": ""})]
        wanted = [one for one, dismissed in _documents(step, conversation) if not dismissed]
        if reads := due(wanted, limits.of_own_files if step.step_id in _OUTPUTS_READ else limits, conversation.turns):
            return reads
    material = _material(step, conversation, limits)
    if step.step_id in _OUTPUTS_READ and material.account.left_out:
        return _blocked(f"Files of earlier steps could not be read: {material.account.shortfall}.")
    written = _WRITERS[step.step_id](material)
    if not attempts:
        return [("write_file", {"path": output, "content": written.content})]
    return _done(step, written.summary, [*material.account.left_out, *written.left_out])


def _commented(step: PlanStep, conversation: Conversation, limits: Limits) -> StepOutput | list[Use]:
    """The copies of Word documents, one call for each comment."""
    if reads := comments.reads(step, conversation, limits):
        return reads
    findings = comments.findings_of(step, conversation, limits)
    if findings.left_out:
        return _blocked(f"The findings could not be read: {findings.shortfall}.")
    wanted = comments.wanted(step, conversation)
    if uses := comments.due_comments(wanted, conversation, limits):
        return uses
    return _done(step, comments.report(wanted, conversation), comments.left_out(step, wanted, conversation))


def _documents(step: PlanStep, conversation: Conversation) -> list[tuple[Document, bool]]:
    """What the step works from, each with whether a person has left it out."""
    folder = dirname(step.outputs[0])
    sources = [f"{folder}/{name}" for name in _OUTPUTS_READ.get(step.step_id, ())]
    every = library(conversation.calls, sources)
    made = {f"{folder}/{name}" for name in job.OUTPUTS.values()}
    given = sources or [path for path in every if path not in made]
    dismissed = job.left_out(step.description, given)
    return [(every[path], path in dismissed) for path in given]


def _material(step: PlanStep, conversation: Conversation, limits: Limits) -> files.Material:
    heeds = conversation.all("critique") or conversation.all("person")
    return files.Material(
        path=step.outputs[0],
        account=account_of(_documents(step, conversation), unlisted(conversation.calls), limits),
        requests=len(conversation.all("person")),
        silent=job.ON_PURPOSE in step.description and not heeds,
        limits=limits,
    )


def _done(step: PlanStep, summary: str, left_out: Iterable[LeftOut]) -> StepOutput:
    left = list(left_out)
    how = f"By rule, see {named(step.outputs, 3)}."
    return StepOutput(
        status="done",
        reasoning=f"{job.NO_AI}. Searched the text for fixed patterns and counted what was found.",
        findings=summary,
        criteria_met=[CriterionMet(criterion=one.text, met=True, how=how) for one in step.acceptance_criteria],
        confidence=0.6 if left else 0.9,
        notes=job.NOTE,
        left_out=left,
    )


def _blocked(reason: str) -> StepOutput:
    reasoning = f"{job.NO_AI}. {reason}"
    return StepOutput(status="blocked", reasoning=reasoning, findings="", criteria_met=[], confidence=0.0, notes=reason)
