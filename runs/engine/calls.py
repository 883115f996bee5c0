"""Tool calls of an attempt as what a verifier may quote."""

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import unquote_plus

from django.db.models import Q
from pydantic import JsonValue

from runs.contracts.base import STEP
from runs.enums import AttemptStatus, Effect
from runs.evidence.sources import ToolText
from runs.lifecycle import bound_servers
from runs.models import Attempt, Plan, ToolCall
from runs.pev.tools.commands import RunCommand
from runs.pev.tools.fetching import FetchPage
from runs.pev.tools.finding import Glob, ListFiles
from runs.pev.tools.reading import ReadFile
from runs.pev.tools.serving import WebFetch, WebSearch
from runs.pev.tools.toolbox import expression_of, nothing_found_by
from runs.store.journal import CHECKS

_OF_THE_WEB = frozenset({FetchPage.name, WebFetch.name, WebSearch.name})
"""Code that a service runs is not among them: what it prints is made of what the executor wrote."""
_SHOW_FILES = frozenset({ReadFile.name, ListFiles.name, Glob.name})
_DOERS = ("step", "work", "reused_from__work")
_KEPT_DOERS = ("reused_from__reused_from__work",)


def source_of_call(call: ToolCall) -> ToolText:
    """Its result, with all that the executor had put into it."""
    texts = list(_texts_in(call.arguments))
    is_outside = not call.is_error and _reads_outside(call.name)
    if is_outside:  # a page may repeat what its address says, which came from the executor
        texts += [unquote_plus(text) for text in texts]
    expression = "" if call.is_error else expression_of(call.name, call.arguments)
    missing = None if call.is_error else nothing_found_by(call.name, call.arguments, call.result)
    is_printed = not call.is_error and call.name == RunCommand.name
    return ToolText(
        call.result, call.shown, "\n".join([call.name, *texts]), expression, is_outside, is_printed, missing
    )


def earlier_calls(plan: Plan, before: datetime | None = None) -> dict[str, ToolText]:
    """By its name as a source, each call of the attempts that passed, of those that had by this moment. Calls that only
    show files are left out: files are sources themselves.
    """
    until = Q(finished_at__lt=before) if before else Q()
    own = Attempt.objects.filter(until, step__plan=plan, status=AttemptStatus.PASSED)
    passed = {attempt.step.key: attempt for attempt in own.select_related(*_DOERS).order_by("number")}
    if plan.version > 1:  # only later versions keep results of earlier ones
        kept = plan.steps.filter(reused_from__isnull=False).select_related("reused_from__work", *_KEPT_DOERS)
        passed |= {step.key: step.reused_from for step in kept if step.reused_from}
    doers = {doer: key for key, attempt in passed.items() if hasattr(doer := attempt.reused_from or attempt, "work")}
    works = {doer.work.pk: (key, doer.work.generation) for doer, key in doers.items()}
    calls = ToolCall.objects.filter(work__in=works, ordinal__lt=CHECKS).exclude(name__in=_SHOW_FILES)
    return {
        f"{STEP}{works[call.work_id][0]}/tool-{call.ordinal}": source_of_call(call)
        for call in calls.order_by("work", "ordinal")
        if call.generation == works[call.work_id][1]
    }


def _reads_outside(name: str) -> bool:
    if bound_servers.is_of_a_server(name):
        return bound_servers.effect(name) is Effect.READS_OUTSIDE
    return name in _OF_THE_WEB


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
