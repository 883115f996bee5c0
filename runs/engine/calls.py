"""Tool calls of an attempt as what a verifier may quote."""

from collections.abc import Iterator
from urllib.parse import unquote_plus

from pydantic import JsonValue

from runs.enums import Effect
from runs.models import ToolCall
from runs.pev.evidence.sources import ToolText
from runs.pev.tools.fetching import FetchPage
from runs.pev.tools.serving import WebFetch, WebSearch
from runs.pev.tools.toolbox import expression_of, nothing_found_by
from runs.reading import servers

_OF_THE_WEB = frozenset({FetchPage.name, WebFetch.name, WebSearch.name})
"""Code that a service runs is not among them: what it prints is made of what the executor wrote."""


def source_of_call(call: ToolCall) -> ToolText:
    """Its result, with all that the executor had put into it."""
    texts = list(_texts_in(call.arguments))
    is_outside = not call.is_error and _reads_outside(call.name)
    if is_outside:  # a page may repeat what its address says, which came from the executor
        texts += [unquote_plus(text) for text in texts]
    expression = "" if call.is_error else expression_of(call.name, call.arguments)
    missing = None if call.is_error else nothing_found_by(call.name, call.arguments, call.result)
    return ToolText(call.result, call.shown, "\n".join([call.name, *texts]), expression, is_outside, missing)


def _reads_outside(name: str) -> bool:
    if servers.is_of_a_server(name):
        return servers.effect(name) is Effect.READS_OUTSIDE
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
