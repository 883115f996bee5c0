"""Texts that evidence names and that are no files: findings, results of tools, what people asked for, the answer."""

import re
from dataclasses import dataclass

from runs.models import Attempt, Gate, Run, ToolCall

_OF_AN_ATTEMPT = re.compile(r"attempt-(\d{1,18})-(?:output|tool-(\d{1,9}))")
_REQUEST = re.compile(r"request-(\d{1,9})")


@dataclass(frozen=True)
class SaidText:
    """`attempt`: whose findings or tool this is; None for the answer and for what a person asked for."""

    title: str
    text: str
    attempt: Attempt | None = None


def said_text(run: Run, place: str) -> SaidText | None:
    """The text at a place: `answer`, `request-N`, `attempt-ID-output` or `attempt-ID-tool-N`; None if there is none."""
    if place == "answer":
        return SaidText("The answer", run.answer) if run.answer else None
    if asked := _REQUEST.fullmatch(place):
        gate = Gate.objects.filter(run=run, request=int(asked[1])).first()
        return SaidText(f"Request {gate.request}", gate.reason) if gate else None
    found = _OF_AN_ATTEMPT.fullmatch(place)
    attempts = Attempt.objects.of_run(run).select_related("step__plan", "work", "reused_from__work")
    attempt = attempts.filter(pk=int(found[1])).first() if found else None
    if not (found and attempt):
        return None
    return _result_of_tool(attempt, int(found[2])) if found[2] else _findings(attempt)


def _findings(attempt: Attempt) -> SaidText | None:
    return SaidText("Findings", attempt.output.findings, attempt) if attempt.output else None


def _result_of_tool(attempt: Attempt, number: int) -> SaidText | None:
    """Of the calls that count; a result taken over from another run has those of the attempt that made it."""
    doer = attempt.reused_from or attempt
    if not hasattr(doer, "work"):
        return None
    calls = ToolCall.objects.filter(attempt=doer, generation=doer.work.generation)
    call = calls.filter(ordinal=number).only("name", "result").first()
    return SaidText(f"Result of tool call {number}, {call.name}", call.result, attempt) if call else None
