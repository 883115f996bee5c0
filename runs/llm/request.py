"""The request to a server and the answer in its reply: each server gets the question in a form that it can take.

A structured answer is asked for by the format where that is honoured; else by a tool whose input is the answer, where a
named tool can be demanded; else by the prompt alone. Without the format the prompt has the schema in any case.

Prompts are marked for the service's cache where a later question will begin with the same. A write costs a quarter more
than plain input and a read a tenth of it, so a prefix pays as soon as it is likelier than one in four that it is read
within five minutes. An hour would cost twice the input; few prefixes are read again after five minutes and within the
hour, since every read keeps an entry alive for five minutes more.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask, ByService
from runs.llm import cleaning
from runs.llm.capabilities import Capability
from runs.pev.conversation.sendable import sendable
from runs.pev.conversation.served import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH
from runs.text.domains import EVERY

MAX_BREAKPOINTS = 4
"""Cache breakpoints per request."""
_MARK = {"type": "ephemeral", "ttl": "5m"}
_SYSTEM = (-1, 0)


def mark_prefixes(sent: dict[str, Any], ask: Ask) -> None:
    """Adds cache breakpoints to the request. The blocks of the conversation itself do not change."""
    for message, block in _ends(ask):
        if (message, block) == _SYSTEM:
            _mark(sent["system"], block)
        else:
            changed = dict(sent["messages"][message])
            changed["content"] = list(changed["content"])
            _mark(changed["content"], block)
            sent["messages"][message] = changed


def _mark(blocks: list[Any], block: int) -> None:
    blocks[block] = {**blocks[block], "cache_control": _MARK}


def _ends(ask: Ask) -> list[tuple[int, int]]:
    """Returns the last blocks of shared prefixes, as message and block: the longest four.

    A conversation with tools grows: a retry begins with its first message, and the next round with its last one. The
    message before that is marked again, because the service looks back over twenty blocks only. A last round that
    forbids tools shares no message with another question.
    """
    ends = {_SYSTEM if count == 0 else (0, count - 1) for count in ask.stable}
    if ask.last_round:
        return sorted(ends & {_SYSTEM})
    if ask.tools:
        user_turns = [number for number, message in enumerate(ask.messages) if message["role"] == "user"]
        ends |= {(number, _length(ask, number) - 1) for number in (user_turns[0], *user_turns[-2:])}
    return sorted(ends)[-MAX_BREAKPOINTS:]


def _length(ask: Ask, number: int) -> int:
    content: Any = ask.messages[number]["content"]
    return len(content)


_TOOL_BLOCKS = frozenset({"tool_use", "tool_result"})
_TYPES = {
    WEB_SEARCH: "web_search_20260318",
    WEB_FETCH: "web_fetch_20260318",
    CODE_EXECUTION: "code_execution_20260521",
}
"""The types of the service's own tools in the Messages API."""
MAX_PAGE_TOKENS = 10_000
"""Of one page that the service reads. It is paid for again in each following round."""


def parameters(ask: Ask, capabilities: Capability) -> dict[str, Any]:
    """Returns the request: what every server understands, and the parameters that this model accepts."""
    ask = replace(ask, messages=sendable(ask.messages))
    # otherwise the schema is in another part of the question
    has_schema = _takes_format(ask, capabilities) or answer_tool(ask, capabilities)
    sent: dict[str, Any] = {
        "model": ask.model,
        "max_tokens": ask.max_tokens,
        "messages": list(ask.messages),
        "system": [{"type": "text", "text": ask.system if has_schema else ask.instructions}],
    }
    sent |= _tools(ask, capabilities)
    if capabilities.caching:
        mark_prefixes(sent, ask)
    return sent | _optional(ask, capabilities)


def answer_tool(ask: Ask, capabilities: Capability) -> str:
    """Returns the name of the tool whose input is the answer, or an empty string."""
    return (
        (ask.schema_name or "answer")
        if ask.schema is not None and capabilities.forced_tool and not capabilities.format
        else ""
    )


def answered(content: Sequence[JsonObject], stop_reason: str, tool: str) -> tuple[tuple[JsonObject, ...], str]:
    """Returns the blocks and the stop reason as if the answer had come as text, which is how it is stored and sent
    again.

    So no call of `tool` is left without a result, and conversations are the same on every server. Text next to the
    answer is dropped. An answer next to other calls is dropped too, because it was given without their results.
    """
    answers = [block for block in content if block.get("type") == "tool_use" and block.get("name") == tool]
    if not tool or not answers:
        return tuple(content), stop_reason
    others = [block for block in content if block not in answers]
    if any(block.get("type") == "tool_use" for block in others):
        return tuple(others), stop_reason
    answer = cleaning.words(json.dumps(answers[0].get("input"), ensure_ascii=False))  # complete, like any other text
    text: JsonObject = {"type": "text", "text": answer}
    kept = [block for block in others if block.get("type") != "text"]
    return (*kept, text), "end_turn" if stop_reason == "tool_use" else stop_reason


def _tools(ask: Ask, capabilities: Capability) -> dict[str, Any]:
    """Returns the tools and the tool choice. The tools are the same in all rounds, because another prefix would not be
    cached.
    """
    tools: list[dict[str, Any]] = [
        _by_service(tool.name, tool.service)
        if tool.service
        else {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in ask.tools
    ]
    if name := answer_tool(ask, capabilities):
        description = "Gives your answer and ends your work. Its input is the whole answer."
        tools.append({"name": name, "description": description, "input_schema": ask.schema})
        choice = {"type": "tool", "name": name} if ask.last_round or not ask.tools else None
    elif ask.last_round and not capabilities.no_tools and not _has_tool_blocks(ask):
        return {}  # the only way to forbid them here; a conversation with calls has to name its tools
    else:
        choice = {"type": "none"} if ask.last_round and ask.tools and capabilities.no_tools else None
    return ({"tools": tools} if tools else {}) | ({"tool_choice": choice} if choice else {})


def _by_service(name: str, service: ByService) -> dict[str, Any]:
    """The model must call these tools itself, not from code that it runs, because the results would not be shown."""
    sent: dict[str, Any] = {"type": _TYPES[name], "name": name}
    if name == CODE_EXECUTION:
        return sent
    sent |= {"allowed_callers": ["direct"], "max_uses": service.uses}
    if EVERY not in service.sites.allowed:
        sent["allowed_domains"] = list(service.sites.allowed)
    elif service.sites.refused:
        sent["blocked_domains"] = list(service.sites.refused)
    return sent | ({"max_content_tokens": MAX_PAGE_TOKENS} if name == WEB_FETCH else {})


def _has_tool_blocks(ask: Ask) -> bool:
    contents: list[Any] = [message["content"] for message in ask.messages]
    return any(block.get("type") in _TOOL_BLOCKS for content in contents for block in content)


def _takes_format(ask: Ask, capabilities: Capability) -> bool:
    cites = any(tool.name == WEB_SEARCH and tool.service for tool in ask.tools)
    return capabilities.format and ask.schema is not None and not cites  # citations and a format exclude each other


def _optional(ask: Ask, capabilities: Capability) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    output: dict[str, Any] = {}
    if _takes_format(ask, capabilities):
        output["format"] = {"type": "json_schema", "schema": ask.schema}
    if capabilities.effort:
        output["effort"] = ask.effort
    if output:
        sent["output_config"] = output
    if capabilities.adaptive and not answer_tool(ask, capabilities):  # no tool can be forced on a model that thinks
        sent["thinking"] = {"type": "adaptive", "display": "summarized"}
    return sent
