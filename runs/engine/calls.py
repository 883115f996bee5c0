"""Tool calls of an attempt as what a verifier may quote."""

from collections.abc import Iterator

from pydantic import JsonValue

from runs.models import ToolCall
from runs.pev.evidence.sources import ToolText
from runs.pev.tools.toolbox import expression_of


def source_of_call(call: ToolCall) -> ToolText:
    """Its result, with all that the executor had put into it."""
    sent = "\n".join([call.name, *_texts_in(call.arguments)])
    expression = "" if call.is_error else expression_of(call.name, call.arguments)
    return ToolText(call.result, call.shown, sent, expression)


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
