"""The journal of a run as lines of JSON: every model call with its reply, and every tool call with its result (T5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from heapq import merge

from pydantic import JsonValue

from runs.models import Attempt, ModelCall, Run, ToolCall
from runs.pev.tools.service_tools import SERVICE_TOOLS

CHUNK = 100
"""Calls that are read at once; each may be a megabyte."""

type _Place = dict[str, JsonValue]
_NOWHERE: _Place = {"step_id": None, "attempt": None}
"""Of a call for the whole run, such as the planner's."""


def lines(run: Run) -> Iterator[str]:
    """One object a line, by time. Characters beyond ASCII are escaped, so that no terminal obeys any."""
    steps = Attempt.objects.of_run(run).values_list("pk", "step__key", "number")
    places: dict[int | None, _Place] = {pk: {"step_id": key, "attempt": number} for pk, key, number in steps}
    models = ModelCall.objects.filter(run=run).order_by("created_at", "id")
    tools = ToolCall.objects.filter(run=run).order_by("created_at", "id")
    calls: Iterator[ModelCall | ToolCall] = merge(
        models.iterator(CHUNK), tools.iterator(CHUNK), key=lambda call: call.created_at
    )
    for call in calls:
        place = places.get(call.attempt_id, _NOWHERE)
        yield json.dumps(_model_call(call, place) if isinstance(call, ModelCall) else _tool_call(call, place))


def _model_call(call: ModelCall, place: _Place) -> dict[str, JsonValue]:
    return {
        "kind": "model",
        "at": call.created_at.isoformat(),
        **place,
        "role": call.role,
        "model": call.model,
        "request_id": call.request_id,
        "content": call.content,
        "stop_reason": call.stop_reason,
        "error": call.error,
        "tokens": {
            "input": call.input_tokens,
            "output": call.output_tokens,
            "cache_read": call.cache_read_tokens,
            "cache_write_5m": call.cache_write_5m_tokens,
            "cache_write_1h": call.cache_write_1h_tokens,
        },
        "web": {"searches": call.web_searches, "fetches": call.web_fetches},
        "cost_usd": None if call.cost_usd is None else str(call.cost_usd),
        "lower_bound": call.cost_is_lower_bound,
        "duration_ms": call.duration_ms,
    }


def _tool_call(call: ToolCall, place: _Place) -> dict[str, JsonValue]:
    return {
        "kind": "tool",
        "at": call.created_at.isoformat(),
        **place,
        "tool": call.name,
        "agent": call.agent or None,
        "arguments": call.arguments,
        "result": call.result,
        "failed": call.is_error,
        "wrote": {path: info.sha256 if info else None for path, info in call.writes.items()},
        "duration_ms": None if call.name in SERVICE_TOOLS else call.duration_ms,  # within that of the reply
    }
