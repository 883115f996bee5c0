"""Owns the sentence for each event: what the live feed and the command line print."""

from collections.abc import Callable, Mapping
from typing import Any

from runs.enums import EventKind

type Data = Mapping[str, Any]


def sentence(kind: str, data: Data) -> str:
    """One line of plain text. An event that this version does not know is named as it is."""
    tell = _SENTENCES.get(kind)
    return tell(data) if tell else kind.replace("_", " ")


def _attempt(data: Data) -> str:
    return f"{data.get('step', '?')}, attempt {data.get('attempt', '?')}"


def _proposed(data: Data) -> str:
    kept = len(data.get("kept") or [])
    reused = f", {kept} kept from before" if kept else ""
    return f"Plan version {data.get('version')} is ready: {data.get('steps')} steps{reused}"


def _decided(data: Data) -> str:
    what = f"{data.get('kind')} gate" + (f" of {data['step']}" if data.get("step") else "")
    reason = f": “{data['reason']}”" if data.get("reason") else ""
    through = f" ({data['how']})" if data.get("how") not in {"person", None} else ""
    return f"{data.get('by')} {data.get('decision')} the {what}{through}{reason}"


def _called(data: Data) -> str:
    where = f" for {_attempt(data)}" if data.get("step") else ""
    ended = " without a reply" if data.get("stop") == "error" else ""
    return f"The {data.get('role')} ({data.get('model')}) answered{ended}{where} in {data.get('ms')} ms"


def _tool(data: Data) -> str:
    where = f" {data['path']}" if data.get("path") else ""
    return f"{_attempt(data)}: {data.get('tool')}{where}" + (" — refused" if data.get("error") else "")


def _verdict(data: Data) -> str:
    if data.get("passed"):
        return f"{_attempt(data)} passed verification"
    return f"{_attempt(data)} did not pass, {data.get('action')}: {data.get('feedback')}"


def _confident(data: Data) -> str:
    return f"{_attempt(data)} reported, confidence {float(data.get('confidence') or 0):.0%}; verifying"


def _finished(data: Data) -> str:
    gaps = data.get("gaps") or []
    return f"Finished: {data.get('outcome')}" + (f", {len(gaps)} gaps" if gaps else "")


_SENTENCES: dict[str, Callable[[Data], str]] = {
    EventKind.SUBMITTED: lambda d: f"Submitted by {d.get('by')} with {d.get('files')} files",
    EventKind.PLANNING: lambda d: f"Writing version {d.get('version')} of the plan",
    EventKind.PLAN_PROPOSED: _proposed,
    EventKind.GATE_OPENED: lambda d: f"Waits for a person: {d.get('question')}",
    EventKind.GATE_DECIDED: _decided,
    EventKind.PLAN_APPROVED: lambda d: f"Version {d.get('version')} approved by {d.get('by')} ({d.get('how')})",
    EventKind.ATTEMPT_STARTED: lambda d: f"{_attempt(d)} started",
    EventKind.MODEL_CALLED: _called,
    EventKind.TOOL_CALLED: _tool,
    EventKind.VERIFYING: _confident,
    EventKind.VERDICT: _verdict,
    EventKind.STEP_PASSED: lambda d: f"{d.get('step')} is done; its files are in the workspace",
    EventKind.STEP_ACCEPTED: lambda d: f"{d.get('step')} was accepted with issues",
    EventKind.STEP_FAILED: lambda d: f"{d.get('step')} failed after {d.get('attempts')} attempts",
    EventKind.STEP_RETRIED: lambda d: f"{d.get('step')} starts again: {d.get('why')}",
    EventKind.REPLANNING: lambda d: f"Back to the planner: {d.get('why')}",
    EventKind.WAITING_FOR_MODEL: lambda d: f"Waiting for the model until {d.get('until')}: {d.get('why')}",
    EventKind.RECOVERED: lambda d: f"Continued after an interruption ({d.get('work')})",
    EventKind.PAUSED: lambda d: f"Paused by {d.get('by')}",
    EventKind.RESUMED: lambda d: f"Resumed by {d.get('by')}",
    EventKind.FINALISING: lambda _: "Writing and judging the final answer",
    EventKind.ANSWERED: lambda d: f"Final answer written; {d.get('met')} of {d.get('criteria')} success criteria met",
    EventKind.FINISHED: _finished,
    EventKind.NOTE: lambda d: str(d.get("text", "")),
}
