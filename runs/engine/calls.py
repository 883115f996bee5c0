"""Tool calls of an attempt as what a verifier may quote."""

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import unquote_plus

from django.db.models import F, Q
from pydantic import JsonValue

from runs.contracts.base import STEP
from runs.enums import AttemptStatus, Effect
from runs.evidence.sources import ToolText
from runs.lifecycle import toolset
from runs.models import Attempt, Plan, ToolCall
from runs.pev.tools.registry import SHOWING_FILES, TOOLS, calculation_in, missing_in
from runs.pev.tools.tool import Results
from runs.store.journal import CHECKS

_QUOTED = ("attempt", "ordinal", "name", "arguments", "result", "is_error", "shown")
"""The columns of a call that are quoted. The others are not read: a plan of 200 steps has thousands of calls."""


def source_of_call(call: ToolCall) -> ToolText:
    """Its result, with all that the executor had put into it."""
    texts = list(_texts_in(call.arguments))
    is_outside = not call.is_error and _reads_outside(call.name)
    if is_outside:  # a page may repeat what its address says, which came from the executor
        texts += [unquote_plus(text) for text in texts]
    expression = "" if call.is_error else calculation_in(call.name, call.arguments)
    missing = None if call.is_error else missing_in(call.name, call.arguments, call.result)
    is_printed = not call.is_error and _results_of(call.name) is Results.COMMAND
    return ToolText(
        call.result, call.shown, "\n".join([call.name, *texts]), expression, is_outside, is_printed, missing
    )


def earlier_calls(plan: Plan, before: datetime | None = None) -> dict[str, ToolText]:
    """By its name as a source, each call of the attempts that passed, of those that had by this moment. Calls that only
    show files are left out: files are sources themselves.
    """
    until = Q(finished_at__lt=before) if before else Q()
    passed = Attempt.objects.filter(until, step__plan=plan, status=AttemptStatus.PASSED).order_by("number")
    doers = {reused or own: key for own, reused, key in passed.values_list("pk", "reused_from", "step__key")}
    if plan.version > 1:  # only later versions keep results of earlier ones
        kept = plan.steps.filter(reused_from__isnull=False)
        kept_doers = kept.values_list("reused_from", "reused_from__reused_from", "key")
        doers |= {reused or own: key for own, reused, key in kept_doers if own}
    of_doers = ToolCall.objects.filter(attempt__in=doers, generation=F("work__generation"), ordinal__lt=CHECKS)
    calls = of_doers.exclude(name__in=SHOWING_FILES).order_by("work", "ordinal").only(*_QUOTED)
    return {f"{STEP}{doers[call.attempt_id or 0]}/tool-{call.ordinal}": source_of_call(call) for call in calls}


def _reads_outside(name: str) -> bool:
    if toolset.is_of_a_server(name):
        return toolset.server_effect(name) is Effect.READS_OUTSIDE
    return _results_of(name) is Results.WEB


def _results_of(name: str) -> Results | None:
    return TOOLS[name].results if name in TOOLS else None


def _texts_in(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, item in value.items():
                yield name
                yield from _texts_in(item)
        case list():
            for item in value:
                yield from _texts_in(item)
