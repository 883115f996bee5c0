"""Owns the plain sentences of a run's history."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runs.enums import EventKind, GateKind
from runs.models import Event

SHOWN = 200
"""Lines of history on a page, and the most that a socket sends at once."""
SHOWN_ALL = 5_000

type Data = Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """One event. `tone` is good, bad, warn, active or calm."""

    seq: int
    at: datetime
    kind: str
    sentence: str
    tone: str


@dataclass(frozen=True)
class Feed:
    """The latest lines, oldest first; `earlier` of them are not shown."""

    lines: tuple[Line, ...]
    last: int
    earlier: int
    all: bool


def feed(events: Iterable[Event], names: Mapping[str, str], *, whole: bool = False) -> Feed:
    """`names` maps the keys of steps to their names."""
    lines = tuple(line(event, names) for event in events)
    return Feed(lines, lines[-1].seq if lines else 0, lines[0].seq - 1 if lines else 0, whole)


def line(event: Event, names: Mapping[str, str]) -> Line:
    told = sentence(event.kind, event.data, names)
    return Line(event.seq, event.at, event.kind, told, _tone(EventKind(event.kind), event.data))


def sentence(kind: str, data: Data, names: Mapping[str, str]) -> str:
    """One event in plain words. A step without a name in `names` goes by its key."""
    key = str(data.get("step") or "")
    return _SENTENCES[EventKind(kind)](data, f"“{names.get(key, key)}”")


def _tone(kind: EventKind, data: Data) -> str:
    if kind is EventKind.VERDICT:
        return "good" if data.get("passed") else "bad"
    if kind is EventKind.GATE_DECIDED:
        return "good" if data.get("decision") == "approved" else "warn"
    if kind is EventKind.FINISHED:
        return {"succeeded": "good", "partial": "warn"}.get(str(data.get("outcome")), "bad")
    if kind is EventKind.TOOL_CALLED and data.get("error"):
        return "bad"
    return _TONES.get(kind, "calm")


_TONES = {
    EventKind.GATE_OPENED: "warn",
    EventKind.PLAN_APPROVED: "good",
    EventKind.STEP_PASSED: "good",
    EventKind.STEP_ACCEPTED: "warn",
    EventKind.STEP_FAILED: "bad",
    EventKind.STEP_RETRIED: "warn",
    EventKind.REPLANNING: "warn",
    EventKind.WAITING_FOR_MODEL: "warn",
    EventKind.RECOVERED: "warn",
    EventKind.PAUSED: "warn",
    EventKind.ATTEMPT_REUSED: "good",
    EventKind.ATTEMPT_STARTED: "active",
    EventKind.PLANNING: "active",
    EventKind.FINALISING: "active",
    EventKind.VERIFYING: "active",
}


def many(count: object, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {noun}" if str(count) == "1" else f"{count} {noun}s"


def _submitted(data: Data, step: str) -> str:
    return f"{data.get('by')} submitted the task with {many(data.get('files', 0), 'file')}."


def _proposed(data: Data, step: str) -> str:
    kept = data.get("kept") or []
    more = f"; {many(len(kept), 'result')} kept from before" if kept else ""
    less = (
        f" It asks for less than what was agreed, in {many(data['relaxed'], 'place')}." if data.get("relaxed") else ""
    )
    return f"Version {data.get('version')} of the plan is ready: {many(data.get('steps'), 'step')}{more}.{less}"


def _opened(data: Data, step: str) -> str:
    return f"Waits for a person: {data.get('question', '')}"


def _decided(data: Data, step: str) -> str:
    what = {
        GateKind.PLAN: "the plan",
        GateKind.STEP: f"the result of {step}",
        GateKind.EXHAUSTED: f"going on with the gap in {step}",
        GateKind.ERROR: "trying again",
        GateKind.BUDGET: "going on beyond the limit",
    }.get(str(data.get("kind")), "it")  # type: ignore[call-overload]
    verb = "stopped the run at the question of" if data.get("decision") == "stopped" else str(data.get("decision"))
    how = "" if data.get("how") == "person" else f" ({data.get('how')})"
    reason = f": {data.get('reason')}" if data.get("reason") else "."
    return f"{data.get('by')} {verb} {what}{how}{reason}"


def _approved(data: Data, step: str) -> str:
    how = " by policy" if data.get("how") == "policy" else ""
    return f"Version {data.get('version')} of the plan is approved{how}, bound to {str(data.get('digest', ''))[:12]}."


def _reused(data: Data, step: str) -> str:
    source = f"attempt {data.get('from_attempt')} of run {data.get('from_run')}"
    return f"{step} takes over the result of {source}: nothing that it depends on has changed. It costs nothing."


def _raised(data: Data, step: str) -> str:
    budget = f"${data['budget']}" if data.get("budget") else ""
    minutes = f"{int(data['time_limit']) / 60:g} minutes" if data.get("time_limit") else ""
    return f"{data.get('by')} raised the limit: {' and '.join(filter(None, [budget, minutes]))}."


def _model(data: Data, step: str) -> str:
    about = f" for {step}, attempt {data['attempt']}" if data.get("attempt") else ""
    seconds = f"{int(data.get('ms') or 0) / 1_000:.1f} s"
    if data.get("stop") == "error":
        return f"The {data.get('role')} ({data.get('model')}) gave no answer{about} after {seconds}."
    return f"The {data.get('role')} ({data.get('model')}) answered{about} in {seconds}."


def _tool(data: Data, step: str) -> str:
    path = f" {data.get('path')}" if data.get("path") else ""
    ended = " failed" if data.get("error") else ""
    about = f" for {step}" if data.get("attempt") else ""
    return f"{data.get('tool')}{path}{ended}{about}."


def _verdict(data: Data, step: str) -> str:
    attempt = f"Attempt {data.get('attempt')} at {step}"
    if data.get("passed"):
        return f"{attempt} passed verification."
    asks = " A new plan is asked for." if data.get("action") == "replan" else ""
    return f"{attempt} did not pass: {data.get('feedback', '')}{asks}"


def _finished(data: Data, step: str) -> str:
    gaps = data.get("gaps") or []
    more = f" with {many(len(gaps), 'gap')}" if gaps else ""
    return f"Finished: {data.get('outcome')}{more}."


_SENTENCES: Mapping[EventKind, Callable[[Data, str], str]] = {
    EventKind.SUBMITTED: _submitted,
    EventKind.PLANNING: lambda data, step: f"The planner writes version {data.get('version')} of the plan.",
    EventKind.PLAN_PROPOSED: _proposed,
    EventKind.GATE_OPENED: _opened,
    EventKind.GATE_DECIDED: _decided,
    EventKind.GATE_WITHDRAWN: lambda data, step: "A question was withdrawn; it needs no answer any more.",
    EventKind.PLAN_APPROVED: _approved,
    EventKind.ATTEMPT_STARTED: lambda data, step: f"Attempt {data.get('attempt')} at {step} began.",
    EventKind.ATTEMPT_REUSED: _reused,
    EventKind.MODEL_CALLED: _model,
    EventKind.TOOL_CALLED: _tool,
    EventKind.VERIFYING: lambda data, step: (
        f"Attempt {data.get('attempt')} at {step} reported, {float(data.get('confidence') or 0):.0%} confident;"
        " it is being verified."
    ),
    EventKind.VERDICT: _verdict,
    EventKind.STEP_PASSED: lambda data, step: f"{step} passed; its files are in the workspace.",
    EventKind.STEP_ACCEPTED: lambda data, step: f"{step} was accepted with issues.",
    EventKind.STEP_FAILED: lambda data, step: f"{step} failed after {many(data.get('attempts'), 'attempt')}.",
    EventKind.STEP_RETRIED: lambda data, step: f"{step} is tried again. {data.get('why', '')}",
    EventKind.REPLANNING: lambda data, step: f"Back to the planner. {data.get('why', '')}",
    EventKind.WAITING_FOR_MODEL: lambda data, step: (
        f"The model's service is not available; it is asked again later. {data.get('why', '')}"
    ),
    EventKind.RECOVERED: lambda data, step: "A worker was lost; another one goes on where it stopped.",
    EventKind.PAUSED: lambda data, step: (
        f"{data.get('by')} paused the run. What is under way is finished; nothing new starts."
    ),
    EventKind.RESUMED: lambda data, step: f"{data.get('by')} resumed the run.",
    EventKind.LIMITS_RAISED: _raised,
    EventKind.FINALISING: lambda data, step: "Every step is settled. The final answer is being written.",
    EventKind.ANSWERED: lambda data, step: (
        f"The answer is written; {data.get('met')} of {data.get('criteria')} success criteria are met."
    ),
    EventKind.FINISHED: _finished,
    EventKind.NOTE: lambda data, step: f"{data.get('text', '')} {data.get('reason', '')}".strip(),
}
