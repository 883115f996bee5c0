"""Owns how a request is read: whose role it is, what its fences hold, what tools answered.

Everything the rules know comes from here; nothing is remembered between two requests.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from runs.enums import Role
from runs.pev.contracts import JsonObject
from runs.pev.delimiters import Block, find

PLANNER = "offline-planner"
EXECUTOR = "offline-executor"
VERIFIER = "offline-verifier"
MODELS = {PLANNER: Role.PLANNER, EXECUTOR: Role.EXECUTOR, VERIFIER: Role.VERIFIER}
_ROLE_LINE = "# Your role: "


class BadRequest(Exception):
    """The request cannot be answered; the text goes into the API's error."""


@dataclass(frozen=True)
class Call:
    """One tool call of this conversation. `result` is None while it has none."""

    name: str
    input: JsonObject
    result: str | None
    is_error: bool

    def text(self, field: str) -> str:
        return str(self.input.get(field, ""))


@dataclass(frozen=True)
class Question:
    """A request, read. `tools` is empty when the answer may use none."""

    role: Role
    model: str
    digest: str
    fences: tuple[Block, ...]
    calls: tuple[Call, ...]
    turns: int
    tools: frozenset[str]

    def one(self, kind: str) -> str:
        """The text of the first fence of a kind, or nothing."""
        return next((item.text for item in self.fences if item.kind == kind), "")

    def all(self, kind: str) -> list[Block]:
        return [item for item in self.fences if item.kind == kind]

    @cached_property
    def listed(self) -> dict[str, int]:
        """The `files` fences: path to size in bytes, the later one holds. Long lists are cut by whoever asks."""
        found = {}
        for line in "\n".join(item.text for item in self.all("files")).split("\n"):
            path, tab, size = line.rpartition("\t")
            if tab and size.endswith(" bytes") and size[:-6].isdigit():
                found[path] = int(size[:-6])
        return found


def read_question(body: JsonValue) -> Question:
    """Raises BadRequest for what the real service would refuse, and for what the rules have no answer to."""
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        raise BadRequest("model: Field required")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("messages: at least one message is required")
    if not isinstance(body.get("max_tokens"), int):
        raise BadRequest("max_tokens: Field required")
    turns = [_turn(message) for message in messages]
    if turns[0][0] != "user":
        raise BadRequest("messages: the first message must have the role user")
    return Question(
        role=_role(model, _plain(body.get("system"))),
        model=model,
        digest=digest_of(body),
        fences=tuple(item for block in turns[0][1] for item in find(_plain(block.get("text")))),
        calls=tuple(_calls(turns)),
        turns=sum(role == "assistant" for role, _ in turns),
        tools=_tools(body),
    )


def digest_of(body: JsonValue) -> str:
    """Names a request by its content: the same request gives the same ids."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _role(model: str, system: str) -> Role:
    """By the prompt's first line, else by the model: one offline model may be set for several roles."""
    first = system.split("\n", 1)[0].strip()
    named = first.removeprefix(_ROLE_LINE) if first.startswith(_ROLE_LINE) else ""
    if named in list(Role):
        return Role(named)
    return MODELS[model]


def _turn(message: JsonValue) -> tuple[str, list[JsonObject]]:
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        raise BadRequest("messages: each message is an object with the role user or assistant")
    content = message.get("content")
    if isinstance(content, str):
        return str(message["role"]), [{"type": "text", "text": content}]
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise BadRequest("messages: content must be a string or a list of blocks")
    return str(message["role"]), [block for block in content if isinstance(block, dict)]


def _plain(content: JsonValue) -> str:
    """Text given as a string or as text blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_plain(block.get("text")) for block in content if isinstance(block, dict))
    return ""


def _calls(turns: Sequence[tuple[str, list[JsonObject]]]) -> Iterator[Call]:
    results = {
        str(block.get("tool_use_id")): block
        for role, blocks in turns
        for block in blocks
        if role == "user" and block.get("type") == "tool_result"
    }
    for role, blocks in turns:
        for block in blocks:
            if role != "assistant" or block.get("type") != "tool_use":
                continue
            given, answer = block.get("input"), results.get(str(block.get("id")))
            yield Call(
                name=str(block.get("name")),
                input=given if isinstance(given, dict) else {},
                result=None if answer is None else _unfenced(_plain(answer.get("content"))),
                is_error=bool(answer and answer.get("is_error")),
            )


def _unfenced(text: str) -> str:
    """What a tool answered, without the fence around the whole of it."""
    match find(text):
        case [Block(kind="tool") as whole]:
            return whole.text
        case _:
            return text


def _tools(body: JsonObject) -> frozenset[str]:
    choice, tools = body.get("tool_choice"), body.get("tools")
    if isinstance(choice, dict) and choice.get("type") == "none":
        return frozenset()
    listed = tools if isinstance(tools, list) else []
    return frozenset(str(tool.get("name")) for tool in listed if isinstance(tool, dict))
