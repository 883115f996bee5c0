"""Cleans what a service sends: secrets are removed first, then texts are cut to what can be stored."""

import json
from collections.abc import Sequence
from typing import cast

from pydantic import JsonValue

from runs.contracts.base import JsonObject
from runs.redaction import redacted

MAX_NAME = 120
"""Characters of a model's name, or of an id: what the columns take."""
MAX_TOOL_NAME = 80
MAX_BYTES = 30_000_000
"""Of a whole reply: some pages that its service has read for it, as PDF files."""
_CALLS = frozenset({"tool_use", "server_tool_use"})


def words(raw: str) -> str:
    """A text without secrets, and without NUL, which PostgreSQL does not store. Cut it after this, never before."""
    return redacted(raw.replace("\0", "�"))


def name(raw: object, limit: int = MAX_NAME) -> str:
    """A short text, whatever the service sent in its place."""
    return words(raw if isinstance(raw, str) else "")[:limit].encode("utf-8", "replace").decode()


def blocks(content: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """The blocks as they are stored and sent again. Raises ValueError for what can neither be stored nor sent."""
    if len(json.dumps(content, ensure_ascii=False).encode()) > MAX_BYTES:  # half a surrogate pair is no text either
        raise ValueError("no answer is as long as this")
    return _joined(tuple(cast("JsonObject", _clean(_call(block))) for block in content))


def _call(block: JsonObject) -> JsonObject:
    """A call as it can be stored. Ids of calls of ours are replaced when they are sent, wherever they have to be; the
    others belong to the service.
    """
    kind = block.get("type")
    if kind not in _CALLS:
        return block
    if len(str(block.get("name", ""))) > MAX_TOOL_NAME:
        raise ValueError("the name of a tool has a usual length")
    if kind == "tool_use":
        return {**block, "id": name(block.get("id"))}
    if not 0 < len(str(block.get("id") or "")) <= MAX_NAME:
        raise ValueError("a call of the service needs an id of usual length")
    return block


def _clean(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return words(value)
        case dict():
            return {words(key): _clean(inner) for key, inner in value.items()}
        case list():
            return [_clean(inner) for inner in value]
        case _:
            return value


def _joined(content: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """A secret cut into pieces over several blocks is whole again where their text is put together: then it is one."""
    texts = [block for block in content if block.get("type") == "text"]
    whole = "".join(str(block.get("text", "")) for block in texts)
    if len(texts) < 2 or redacted(whole) == whole:
        return content
    first, others = texts[0], {id(block) for block in texts[1:]}
    one = {**first, "text": redacted(whole)}
    return tuple(one if block is first else block for block in content if id(block) not in others)
