"""Texts that evidence refers to but that are not files: findings, tool results, requests of people, the answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from runs.enums import AttemptStatus
from runs.lifecycle.change_requests import requests_of
from runs.models import Attempt, Run, Step, ToolCall
from runs.readmodel.run_files import FileDiff, changes_since
from runs.store.journal import CHECKS, check_id

_OF_AN_ATTEMPT = re.compile(r"attempt-(\d{1,18})-(?:output|(diff)|tool-(\d{1,9})|command-([a-z0-9_-]{1,40}))")
_FINAL_COMMAND = re.compile(r"command-([a-z0-9_-]{1,40})")
_REQUEST = re.compile(r"request-(\d{1,9})")
_OF_A_STEP = re.compile(r"step-([A-Za-z0-9][A-Za-z0-9_.-]{0,59})-tool-(\d{1,9})")


@dataclass(frozen=True)
class SaidText:
    """A text with its title. `attempt` is None for the answer and for requests. `diffs` replace the text of a diff."""

    title: str
    text: str
    attempt: Attempt | None = None
    diffs: Sequence[FileDiff] = ()


def said_text(run: Run, place: str, words: str = "") -> SaidText | None:
    """The text at a place, or None. Places are:

    * `answer`, `request-N`
    * `attempt-ID-output`, `attempt-ID-tool-N`
    * `attempt-ID-diff`, in which the lines with these `words` are marked
    * `attempt-ID-command-NAME`, the output of a command that a check ran; `command-NAME` for the whole task
    * `step-KEY-tool-N`, a call of the attempt with which a step of the newest plan passed
    """
    if place == "answer":
        return SaidText("The answer", run.answer) if run.answer else None
    if asked := _REQUEST.fullmatch(place):
        said = (one for gate in requests_of(run) for one in gate.asked if one.request == int(asked[1]))
        return next((SaidText(f"Request {one.request}", one.words) for one in said), None)
    if final := _FINAL_COMMAND.fullmatch(place):
        return _output_of_command(ToolCall.objects.filter(run=run, attempt=None), final[1])
    if earlier := _OF_A_STEP.fullmatch(place):
        doer = passed_by(run, earlier[1])
        return _result_of_tool(doer, int(earlier[2])) if doer else None
    found = _OF_AN_ATTEMPT.fullmatch(place)
    attempts = Attempt.objects.of_run(run).select_related("step__plan", "work", "reused_from__work")
    attempt = attempts.filter(pk=int(found[1])).first() if found else None
    if not (found and attempt):
        return None
    if found[2]:
        diffs = changes_since(run, attempt, words)
        return SaidText("What has changed since it was asked for", "", attempt, diffs) if diffs else None
    if found[4]:
        return _output_of_command(_calls(attempt), found[4], attempt)
    if found[3]:
        return _result_of_tool(attempt, int(found[3]))
    return SaidText("Findings", attempt.output.findings, attempt) if attempt.output else None


def passed_by(run: Run, key: str) -> Attempt | None:
    """The attempt by which this step of the newest plan has passed."""
    step = Step.objects.filter(plan__run=run, key=key).order_by("plan__version").last()
    attempts = Attempt.objects.select_related("step__plan", "work", "reused_from__work")
    if step is None:
        return None
    own = attempts.filter(step=step, status=AttemptStatus.PASSED).order_by("number").last()
    return own or attempts.filter(pk=step.reused_from_id or 0).first()


def _result_of_tool(attempt: Attempt, number: int) -> SaidText | None:
    call = _calls(attempt).filter(ordinal=number).only("name", "result").first()
    return SaidText(f"Result of tool call {number}, {call.name}", call.result, attempt) if call else None


def _output_of_command(calls: QuerySet[ToolCall], command: str, attempt: Attempt | None = None) -> SaidText | None:
    """The output of the latest run of this command as a check."""
    call = calls.filter(use_id=check_id(command), ordinal__gte=CHECKS).only("result").last()
    return SaidText(f"The command {command}, run as a check", call.result, attempt) if call else None


def _calls(attempt: Attempt) -> QuerySet[ToolCall]:
    """The calls that count. A reused attempt has the calls of the attempt whose result it took over."""
    doer = attempt.reused_from or attempt
    if not hasattr(doer, "work"):
        return ToolCall.objects.none()
    return ToolCall.objects.filter(attempt=doer, generation=doer.work.generation)
