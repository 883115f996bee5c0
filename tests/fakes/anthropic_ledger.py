"""The memory of issued thinking blocks, which makes conversations append-only."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass

from tests.fakes.anthropic_answers import JsonObject
from tests.fakes.anthropic_blocks import Placed, bare, blocks_of, canonical, flatten

_BEFORE = ("system", "tools", "messages")


@dataclass(frozen=True)
class _Issued:
    """What stood before a thinking block when it was issued, and its text; hashes and all."""

    system: str
    tools: str
    messages: str
    thinking: str


class Ledger:
    """Refuses a replayed thinking block if anything before it changed. Signatures of other servers pass."""

    def __init__(self) -> None:
        self._issued: dict[str, _Issued] = {}
        self._lock = threading.Lock()

    def issue(self, body: JsonObject, content: list[JsonObject]) -> None:
        """Remembers the thinking blocks of an answer to `body`."""
        answer = [Placed("", "assistant", block) for block in content]
        for signature, issued in _standing(body, [*flatten(body["messages"]), *answer]).items():
            with self._lock:
                self._issued.setdefault(signature, issued)

    def error(self, body: JsonObject) -> str | None:
        """Which part of `body` differs from what a replayed block was issued for; None if none does."""
        placed = flatten(body["messages"])
        paths = {part.block.get("signature"): part.path for part in placed}
        for signature, now in _standing(body, placed).items():
            with self._lock:
                then = self._issued.get(signature)
            if then is None or then == now:
                continue
            changed = [name for name in _BEFORE if getattr(then, name) != getattr(now, name)]
            what = f"{', '.join(changed)} before it changed" if changed else "it was modified"
            return f"{paths[signature]}: `thinking` block cannot be replayed because {what}; append only"
        return None


def _standing(body: JsonObject, placed: list[Placed]) -> dict[str, _Issued]:
    """For each signature: what precedes its block. A string and its one-block list are the same."""
    system = _digest([bare(block) for block in blocks_of(body.get("system", []))])
    tools = _digest([bare(tool) for tool in body.get("tools", [])])
    before = hashlib.sha256()
    result: dict[str, _Issued] = {}
    for part in placed:
        if part.block["type"] == "thinking":
            signature = part.block["signature"]
            result[signature] = _Issued(system, tools, before.hexdigest(), part.block["thinking"])
        before.update(canonical([part.role, bare(part.block)], sort_keys=True).encode())
    return result


def _digest(value: object) -> str:
    return hashlib.sha256(canonical(value, sort_keys=True).encode()).hexdigest()
