"""The only writer of the journal of model calls and tool calls, and the reader for resumed work (D3)."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Sum

from runs.contracts.ports import Changes, Reply, ToolResult, ToolUse, Usage
from runs.enums import Role
from runs.errors import ModelError, PevError
from runs.events.kinds import ModelCalled, ToolCalled
from runs.models import ModelCall, ToolCall, WorkItem
from runs.models.calls import UNNAMED
from runs.pev.tools.registry import subject_of
from runs.store.event_log import record, writing
from runs.text.truncate import truncate_path

MAX_ABOUT = 200
"""Characters of the subject of a call in its event. The row of the call has all of it."""
CHECKS = 30_000
"""The first ordinal of calls that checks make. No attempt makes so many calls itself."""
CANARIES = 1_000_000
"""The first ordinal of questions about canaries. Thousands are reserved for each time that a person says “try again”
at a missing verdict, and so no attempt comes here with questions about its own result.
"""

_CALLS = frozenset({"tool_use", "server_tool_use"})


@dataclass(frozen=True)
class CallPlace:
    """The place of a call in the journal of a work item."""

    generation: int
    ordinal: int


@dataclass(frozen=True)
class JournalQuestion:
    """What was asked. A recorded reply is used only for a question with the same `digest`, which covers all of it.

    `pages` are the titles of the pages that it showed for the first time as images. `canary`: it is about a copy of a
    result with a planted fault.
    """

    role: Role
    model: str
    digest: str
    pages: tuple[str, ...] = ()
    canary: bool = False


def recorded_reply(work: WorkItem, ordinal: int, question: JournalQuestion) -> Reply | None:
    """The reply that this question got before a crash, or None. With usage, which tells how full the window is."""
    if not _has_past(work):
        return None
    call = (
        ModelCall.objects.live()
        .filter(work=work, generation=work.generation, ordinal=ordinal, question=question.digest)
        .first()
    )
    if call is None:
        return None
    usage = Usage(
        input=call.input_tokens,
        output=call.output_tokens,
        cache_read=call.cache_read_tokens,
        cache_write_5m=call.cache_write_5m_tokens,
        cache_write_1h=call.cache_write_1h_tokens,
        searches=call.web_searches,
        fetches=call.web_fetches,
        code_runs=call.code_runs,
    )
    return Reply(tuple(call.content), call.stop_reason, call.model, usage, call.request_id)


def has_reply(work: WorkItem, ordinal: int) -> bool:
    """Whether any question got a reply at this place before a crash."""
    replies = ModelCall.objects.live().filter(work=work, generation=work.generation, ordinal=ordinal)
    return _has_past(work) and replies.exists()


def write_reply(
    work: WorkItem,
    place: CallPlace,
    question: JournalQuestion,
    reply: Reply,
    cost: Decimal | None,
    duration_ms: int,
    *,
    live_: bool,
) -> None:
    """Record a reply. `live_` is false if it came after the lease was lost: then it only counts for the cost."""
    with writing():
        if live_ and _has_past(work):
            _discard_after(work, place)
        call = _write_call(
            work,
            place,
            question,
            reply.usage,
            live=live_,
            model=reply.model or question.model,
            content=list(reply.content),
            stop_reason=reply.stop_reason,
            request_id=reply.request_id,
            cost_usd=cost,
            cost_is_lower_bound=reply.usage.lower_bound,
            duration_ms=duration_ms,
        )
        _record_call(work, question, call)


def write_failure(
    work: WorkItem,
    place: CallPlace,
    question: JournalQuestion,
    error: PevError,
    usage: Usage,
    cost: Decimal | None,
    duration_ms: int,
) -> None:
    """Record a call without a usable reply, with its cost."""
    with writing():
        call = _write_call(
            work,
            place,
            question,
            usage,
            live=False,
            model=question.model,
            cost_usd=cost,
            cost_is_lower_bound=True,
            duration_ms=duration_ms,
            error=str(error)[:2_000],
            error_kind=((error.kind if isinstance(error, ModelError) else "") or UNNAMED)[:60],
        )
        _record_call(work, question, call)


def _write_call(work: WorkItem, place: CallPlace, question: JournalQuestion, usage: Usage, **fields: Any) -> ModelCall:
    return ModelCall.objects.create(
        **_columns(work, place),
        role=question.role.value,
        question=question.digest,
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_5m_tokens=usage.cache_write_5m,
        cache_write_1h_tokens=usage.cache_write_1h,
        web_searches=usage.searches,
        web_fetches=usage.fetches,
        code_runs=usage.code_runs,
        **fields,
    )


def recorded_result(work: WorkItem, ordinal: int, use: ToolUse) -> ToolCall | None:
    """The record of this tool call from before a crash, with what it wrote; None if it was not carried out."""
    # Arguments are compared as well, because some servers give all calls the same id.
    if not _has_past(work):
        return None
    same = {"generation": work.generation, "ordinal": ordinal, "use_id": use.id, "name": use.name}
    call = ToolCall.objects.filter(work=work, **same).first()
    return call if call and call.arguments == use.input else None


def write_result(
    work: WorkItem, place: CallPlace, use: ToolUse, result: ToolResult, writes: Changes, duration_ms: int
) -> ToolCall:
    """Record a tool call with its result."""
    with writing():
        if _has_past(work):
            ToolCall.objects.filter(work=work, generation=place.generation, ordinal=place.ordinal).delete()
        call = ToolCall.objects.create(
            **_columns(work, place),
            use_id=use.id,
            name=use.name,
            arguments=use.input,
            result=result.text,
            is_error=result.is_error,
            writes=writes,
            shown=result.shown,
            duration_ms=duration_ms,
            agent=use.agent,
        )
        step, attempt = _step_and_attempt(work)
        path = truncate_path(str(use.input.get("path", "")), 200)
        about = "" if path else " ".join(subject_of(use.name, use.input)[:MAX_ABOUT].split())
        event = ToolCalled(tool=use.name, error=result.is_error, path=path, step=step, attempt=attempt, about=about)
        record(work.run_id, event.model_copy(update={"agent": use.agent}), call)
    return call


def check_id(command: str) -> str:
    """The id of the call with which a check runs this command. No model has made it."""
    return f"check-{command}"


def results_of(work: WorkItem) -> list[ToolCall]:
    """The tool calls of the current generation without those of checks, in order: `@tool-1` is the first."""
    own = ToolCall.objects.filter(work=work, generation=work.generation, ordinal__lt=CHECKS)
    return list(own.order_by("ordinal"))


def used_seconds(work: WorkItem) -> float:
    """Seconds that the model calls and tool calls of the current generation have taken."""
    calls = [
        table.objects.filter(work=work, generation=work.generation).aggregate(sum=Sum("duration_ms"))["sum"] or 0
        for table in (ModelCall, ToolCall)
    ]
    return sum(calls) / 1_000


def _columns(work: WorkItem, place: CallPlace) -> dict[str, Any]:
    return {
        "run": work.run,
        "work": work,
        "attempt": work.attempt,
        "generation": place.generation,
        "ordinal": place.ordinal,
    }


def _has_past(work: WorkItem) -> bool:
    """Whether the item was claimed before. Only then can the journal have entries."""
    return work.epoch > 1


def _discard_after(work: WorkItem, place: CallPlace) -> None:
    """Discard replies from a place on, and tool calls after them.

    They do not count any more, because the conversation continues differently than before a crash.
    """
    replies = ModelCall.objects.live().filter(work=work, generation=place.generation)
    if replies.filter(ordinal__gte=place.ordinal).update(live=False):
        blocks = [block for content in replies.values_list("content", flat=True) for block in content]
        asked_for = [str(block.get("id")) for block in blocks if block.get("type") in _CALLS]
        calls = ToolCall.objects.filter(work=work, generation=place.generation, ordinal__lt=CHECKS)
        # By id as well as by number: some calls were not carried out, so numbers alone would keep some later calls.
        calls.exclude(use_id__in=asked_for, ordinal__lte=len(asked_for)).delete()


def _record_call(work: WorkItem, question: JournalQuestion, call: ModelCall) -> None:
    step, attempt = _step_and_attempt(work)
    stop = "error" if call.error else call.stop_reason
    event = ModelCalled(
        role=call.role,
        model=question.model,
        ms=call.duration_ms,
        stop=stop,
        step=step,
        attempt=attempt,
        pages=question.pages,
        canary=question.canary,
    )
    record(work.run_id, event, call)


def _step_and_attempt(work: WorkItem) -> tuple[str, int]:
    """The key of the step and the number of the attempt, for events; empty for work on the whole run."""
    attempt = work.attempt
    return (attempt.step.key, attempt.number) if attempt else ("", 0)
