"""Reads a question to a model: the delimited parts of its first message, and the tool calls made so far."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask
from runs.errors import ModelError
from runs.pev.delimiters import DelimitedBlock, find

type Use = tuple[str, JsonObject]
"""A tool call that the rehearsal asks for: the name of the tool, and its input."""


@dataclass(frozen=True)
class Call:
    """A tool call of this conversation and the text it was answered with."""

    name: str
    result: str
    is_error: bool
    path: str = ""


@dataclass(frozen=True)
class Conversation:
    """Everything the rehearsal knows: nothing is remembered between two questions. `tools` may be used next."""

    parts: tuple[DelimitedBlock, ...]
    calls: tuple[Call, ...]
    turns: int
    tools: frozenset[str]

    def text(self, kind: str) -> str:
        """The first part of this kind, or nothing."""
        return next((part.text for part in self.parts if part.kind == kind), "")

    def all(self, kind: str) -> list[DelimitedBlock]:
        return [part for part in self.parts if part.kind == kind]


def read(ask: Ask) -> Conversation:
    turns = [(str(message.get("role")), _blocks(message.get("content"))) for message in ask.messages]
    return Conversation(
        parts=tuple(part for block in turns[0][1] for part in find(_text(block.get("text")))),
        calls=tuple(_calls(turns)),
        turns=sum(role == "assistant" for role, _ in turns),
        tools=frozenset() if ask.last_round else frozenset(tool.name for tool in ask.tools),
    )


def unknown(job: str) -> ModelError:
    """For what the rehearsal cannot do. It never does something else instead: that would look like an answer."""
    return ModelError(
        f"The rehearsal without AI does not know {job}: it can only review texts and documents, as in the sample "
        "and the template “Document review”. To have it done, ask your administrator to connect a model; then submit "
        "the task again.",
        kind="unknown_job",
        retriable=False,
    )


def _calls(turns: Sequence[tuple[str, list[JsonObject]]]) -> Iterator[Call]:
    blocks = [block for _, listed in turns for block in listed]
    results = {block.get("tool_use_id"): block for block in blocks if block.get("type") == "tool_result"}
    for block in blocks:
        answer = results.get(block.get("id")) if block.get("type") == "tool_use" else None
        if answer is not None:
            given = block.get("input")
            path = given.get("path") if isinstance(given, dict) else ""
            text = "".join(part.text for part in find(_text(answer.get("content"))))
            yield Call(str(block.get("name")), text, answer.get("is_error") is True, _text(path))


def _blocks(content: JsonValue) -> list[JsonObject]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
