"""Cleans what a service sends: removes secrets first, then cuts texts to what can be stored."""

import json
from collections.abc import Sequence
from typing import cast

from pydantic import JsonValue

from runs.contracts.base import JsonObject
from runs.redaction import redacted

MAX_NAME = 120
"""Characters of a model's name or an id, as in the database columns."""
MAX_TOOL_NAME = 80
MAX_BYTES = 30_000_000
"""Of a whole reply. It may contain PDF files that the service has read."""
_CALLS = frozenset({"tool_use", "server_tool_use"})


def words(raw: str) -> str:
    """Removes secrets, and NUL, which PostgreSQL cannot store. Cut the text after this, never before."""
    return redacted(raw.replace("\0", "�"))


def name(raw: object, limit: int = MAX_NAME) -> str:
    """Returns a short text, whatever type the service has sent."""
    return words(raw if isinstance(raw, str) else "")[:limit].encode("utf-8", "replace").decode()


def blocks(content: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Returns the blocks as they are stored and sent again. Raises ValueError if that is impossible."""
    if len(json.dumps(content, ensure_ascii=False).encode()) > MAX_BYTES:  # fails for unpaired surrogates too
        raise ValueError("no answer is as long as this")
    return _merge_texts(tuple(cast("JsonObject", _clean(_call(block))) for block in content))


def _call(block: JsonObject) -> JsonObject:
    """Returns a call that can be stored. Ids of our calls are replaced on sending if necessary; other ids belong to the
    service.
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


def _merge_texts(content: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """Merges text blocks, because a secret that is split over several of them would be whole again where they are
    joined.
    """
    texts = [block for block in content if block.get("type") == "text"]
    whole = "".join(str(block.get("text", "")) for block in texts)
    if len(texts) < 2 or redacted(whole) == whole:
        return content
    first, others = texts[0], {id(block) for block in texts[1:]}
    one = {**first, "text": redacted(whole)}
    return tuple(one if block is first else block for block in content if id(block) not in others)
