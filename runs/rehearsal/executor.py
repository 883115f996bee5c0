"""Carries out a step of the document review: it lists and reads, writes the file of the step, and reports on it."""

from collections.abc import Iterable

from runs.pev.contracts import CriterionMet, LeftOut, PlanStep, StepOutput
from runs.pev.delimiters import listed_in
from runs.pev.plans import commented
from runs.rehearsal import job, review_files
from runs.rehearsal.comments import Copies
from runs.rehearsal.conversation import Conversation, Use, unknown
from runs.rehearsal.documents import Document, Limits, documents_in, gaps_of, next_reads, not_listed
from runs.rehearsal.review_files import Written
from runs.rehearsal.text import cut_at_line
from runs.text.plural import pluralize

REPORT_CHARACTERS = 30_000
"""Of a report, which the final answer repeats. The file has everything."""
TO_DO = "Choose fewer files, or connect a model."


def act(conversation: Conversation, limits: Limits) -> StepOutput | list[Use]:
    """Tool calls while something has to be read or written, then the report. Raises ModelError for other steps."""
    step = PlanStep.model_validate_json(conversation.text("step"))
    if not job.is_known(step):
        raise unknown(f"the step “{step.name}”")
    if step.step_id == commented.STEP:
        return _comment(step, conversation, limits)
    output = step.outputs[0]
    attempts = [call for call in conversation.calls if call.name == "write_file"]
    if attempts and attempts[-1].is_error:
        return _blocked(f"{output} could not be written: {attempts[-1].result}")
    if not attempts and "write_file" not in conversation.tools:
        return _blocked("No tools may be used any more, and the file is not written yet.")
    documents = _documents_for(step, conversation, limits)
    if not documents and not conversation.calls:
        return [("list_files", {"prefix": ""})]
    if more := not_listed(conversation.calls):
        listed = len(documents_in(conversation.calls, limits))
        return _blocked(f"There are {listed + more:,} files, and the list of them has room for {listed:,}. {TO_DO}")
    if sum(one.characters for one in documents if not one.problem) > limits.task_characters:
        most = f"{limits.task_characters:,} characters together"
        return _blocked(f"The documents have more than the offline rules read, {most}. {TO_DO}")
    if not attempts and (reads := next_reads(documents, limits, conversation.turns)):
        return reads
    gaps = gaps_of(documents)
    if step.step_id in _READ_BY and gaps:
        return _blocked(f"{gaps[0].path} could not be read: {gaps[0].why}.")
    written = _written(step, conversation, documents)
    if len(written.content) > limits.file_characters:
        size = f"{output} would have {len(written.content):,} characters"
        return _blocked(f"{size}; the offline rules write at most {limits.file_characters:,}. {TO_DO}")
    if not attempts:
        return [("write_file", {"path": output, "content": written.content})]
    return _done(step, conversation, written.summary, gaps)


_READ_BY = {"notices": ("findings", "key-facts")}
"""Steps that work from the files of earlier steps instead of the documents."""


def _documents_for(step: PlanStep, conversation: Conversation, limits: Limits) -> list[Document]:
    """What the step works from: files of earlier steps, or every file that the run has not made itself."""
    sources = [job.OUTPUTS[name] for name in _READ_BY.get(step.step_id, ())]
    every = documents_in(conversation.calls, limits, sources)
    made = {path for part in conversation.all("files") if part.name for path in listed_in(part.text)}
    documents = [every[path] for path in sources or every if sources or path not in made]
    for path in job.left_out(step.description, every):
        every[path].is_dismissed = True
    return documents


def _written(step: PlanStep, conversation: Conversation, documents: list[Document]) -> Written:
    match step.step_id:
        case "inventory":
            return review_files.inventory(documents)
        case "key-facts":
            return review_files.key_facts(documents)
        case "findings":
            is_heeding = conversation.all("critique") or conversation.all("person")
            return review_files.findings(documents, is_silent=job.ON_PURPOSE in step.description and not is_heeding)
        case _:
            return review_files.notices(*(one.text for one in documents))


def _comment(step: PlanStep, conversation: Conversation, limits: Limits) -> StepOutput | list[Use]:
    """The copies of Word documents, one call for each comment."""
    copies = Copies(step, conversation, limits)
    if reads := copies.reads():
        return reads
    if not copies.findings.is_reviewed:
        return _blocked(f"The findings could not be read: {copies.findings.note}.")
    if due := copies.due_comments():
        return due
    if missing := len(copies.comments) - len(copies.tried):
        return _blocked(f"{pluralize(missing, 'comment')} could not be written in one attempt. {TO_DO}")
    return _done(step, conversation, copies.report(), copies.left_out())


def _done(step: PlanStep, conversation: Conversation, summary: str, gaps: Iterable[LeftOut]) -> StepOutput:
    left = list(gaps)
    requests = len(conversation.all("person"))
    not_done = f"\n- Not done: {pluralize(requests, 'request')} of a person: offline rules do not understand words."
    how = f"By rule, see {step.outputs[0]}."
    return StepOutput(
        status="done",
        reasoning=f"{job.NO_AI}. Searched the text for fixed patterns and counted what was found.",
        findings=cut_at_line(summary, REPORT_CHARACTERS) + (not_done if requests else ""),
        criteria_met=[CriterionMet(criterion=one.text, met=True, how=how) for one in step.acceptance_criteria],
        confidence=0.6 if left else 0.9,
        notes=job.NOTE,
        left_out=left,
    )


def _blocked(reason: str) -> StepOutput:
    reasoning = f"{job.NO_AI}. {reason}"
    return StepOutput(status="blocked", reasoning=reasoning, findings="", criteria_met=[], confidence=0.0, notes=reason)
