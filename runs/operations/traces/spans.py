"""Rows that have ended, as spans in OpenTelemetry's semantic conventions for generative AI, v0.1.0.

What these have no name for begins with `pevsite.`. What people, files and models have written, titles and the keys of
steps included, is `content`, which is kept apart.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import singledispatch
from typing import Any

from django.db import models
from django.db.models import Min
from django.utils import timezone

from runs.enums import AttemptStatus, Outcome, Role, StepStatus
from runs.models import Attempt, ModelCall, Run, Step, ToolCall
from runs.models.calls import UNNAMED
from runs.pev.agents import policy_for_agent
from runs.pev.policy import RULES
from runs.pev.tools.registry import TOOL_NAMES

type Attributes = dict[str, Any]
"""Attributes of a span by name: strings, numbers and lists of strings."""
_FAILED = frozenset({Outcome.FAILED, StepStatus.FAILED, AttemptStatus.FAILED, AttemptStatus.BLOCKED})


@dataclass(frozen=True)
class TraceSpan:
    """What is sent of one `row`.

    `parent` is the row of the parent span, None for a run. `error` is the kind of failure, empty for none. `is_call`:
    another process answered.
    """

    row: models.Model
    run: Run
    parent: models.Model | None
    name: str
    start: datetime
    end: datetime
    attributes: Attributes
    content: Attributes
    error: str = ""
    is_call: bool = False


@singledispatch
def span_of(row: models.Model) -> TraceSpan | None:
    """The span of a row, or None if nothing was done for it."""
    raise TypeError(row)


@span_of.register
def _(run: Run) -> TraceSpan:
    assert run.finished_at is not None
    return TraceSpan(
        run,
        run=run,
        parent=None,
        name="invoke_workflow pevsite",
        start=run.created_at,
        end=run.finished_at,
        attributes={
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.agent.name": "pevsite",
            "pevsite.run.outcome": str(run.outcome),
        },
        content={"pevsite.run.title": run.title, "pevsite.run.request": run.request},
        error=_failure(run.outcome),
    )


@span_of.register
def _(row: Step) -> TraceSpan | None:
    began = row.attempts.aggregate(at=Min("created_at"))["at"]
    if began is None:  # dropped before it began, or it keeps the result of an earlier version
        return None
    step = Step.objects.select_related("plan__run").get(pk=row.pk)  # the row may only have its key
    return TraceSpan(
        step,
        run=step.plan.run,
        parent=step.plan.run,
        name="step",
        start=began,
        end=timezone.now(),
        attributes=_place(step) | {"pevsite.step.status": step.status, "pevsite.step.failures": step.failures},
        content={"pevsite.step.key": step.key, "pevsite.step.name": step.spec.name},
        error=_failure(step.status),
    )


@span_of.register
def _(attempt: Attempt) -> TraceSpan:
    assert attempt.finished_at is not None
    return TraceSpan(
        attempt,
        run=attempt.step.plan.run,
        parent=attempt.step,
        name=f"invoke_agent {Role.EXECUTOR}",
        start=attempt.created_at,
        end=attempt.finished_at,
        attributes=_place(attempt.step)
        | {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": Role.EXECUTOR.value,
            "pevsite.attempt.number": attempt.number,
            "pevsite.attempt.status": attempt.status,
        },
        content={},
        error=_failure(attempt.status),
    )


@span_of.register
def _(call: ModelCall) -> TraceSpan:
    run = call.run
    policy = policy_for_agent(run.policy, call.attempt.agent if call.attempt else None)
    inputs = [call.input_tokens, call.cache_read_tokens, call.cache_write_5m_tokens, call.cache_write_1h_tokens]
    attributes: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "pevsite" if call.model.startswith(RULES) else "anthropic",
        "gen_ai.agent.name": call.role,
        "gen_ai.request.model": policy.model_for(Role(call.role)).model,
        "gen_ai.response.model": call.model,
        "gen_ai.usage.input_tokens": sum(inputs),
        "gen_ai.usage.cache_read.input_tokens": call.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": call.cache_write_5m_tokens + call.cache_write_1h_tokens,
        "gen_ai.usage.output_tokens": call.output_tokens,
    }
    if call.stop_reason:
        attributes["gen_ai.response.finish_reasons"] = [call.stop_reason]
    if call.request_id:
        attributes["pevsite.request_id"] = call.request_id
    if call.cost_usd is not None:
        attributes["pevsite.cost_usd"] = float(call.cost_usd)
    error = "_OTHER" if call.error_kind == UNNAMED else call.error_kind
    return TraceSpan(
        call,
        run=run,
        parent=call.attempt or run,
        name=f"chat {attributes['gen_ai.request.model']}",
        start=call.created_at - timedelta(milliseconds=call.duration_ms),
        end=call.created_at,
        attributes=attributes,
        content={"gen_ai.output.messages": _message(call)} if call.content else {},
        error=error,
        is_call=not call.model.startswith(RULES),
    )


@span_of.register
def _(call: ToolCall) -> TraceSpan:
    name = call.name if call.name in TOOL_NAMES else "unknown"  # models may ask for tools that do not exist
    return TraceSpan(
        call,
        run=call.run,
        parent=call.attempt or call.run,
        name=f"execute_tool {name}",
        start=call.created_at - timedelta(milliseconds=call.duration_ms),
        end=call.created_at,
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": call.use_id,
            "gen_ai.tool.type": "function",
            **({"gen_ai.agent.name": call.agent} if call.agent else {}),
        },
        content={
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.arguments": json.dumps(call.arguments, ensure_ascii=False),
            "gen_ai.tool.call.result": call.result,
        },
        error="tool_error" if call.is_error else "",
    )


def _place(step: Step) -> Attributes:
    return {"pevsite.plan.version": step.plan.version, "pevsite.step.number": step.position + 1}


def _failure(status: str | None) -> str:
    return status if status in _FAILED else ""


def _message(call: ModelCall) -> str:
    """The answer of a model in the format of the conventions."""
    parts = [part for block in call.content if (part := _part(block))]
    return json.dumps([{"role": "assistant", "parts": parts, "finish_reason": call.stop_reason}], ensure_ascii=False)


def _part(block: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a block; empty if it is unreadable, such as encrypted thinking."""
    match block.get("type"):
        case "text":
            return {"type": "text", "content": block.get("text")}
        case "thinking":
            return {"type": "reasoning", "content": block.get("thinking")}
        case "tool_use":
            return {
                "type": "tool_call",
                "id": block.get("id"),
                "name": block.get("name"),
                "arguments": block.get("input"),
            }
    return {}
