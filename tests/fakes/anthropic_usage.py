"""The numbers under `usage`: a simulated prompt cache, and the sums of all that was reported.

The cache never expires by itself: a test of expiry starts another server.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, fields

from tests.fakes.anthropic_answers import JsonObject
from tests.fakes.anthropic_blocks import blocks_of, breakpoints, canonical, count_tokens, prompt_blocks, prompt_texts

MIN_PREFIX = 512
LOOKBACK = 20
"""Blocks looked at for an earlier entry from each breakpoint backwards, the breakpoint's own counted."""
_NOT_CACHEABLE = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True)
class UsageTotals:
    """Sums in tokens over the answers whose usage reached a client; a cut stream counts one output token."""

    responses: int = 0
    input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    ephemeral_5m_input_tokens: int = 0
    ephemeral_1h_input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: UsageTotals) -> UsageTotals:
        return UsageTotals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class InputUsage:
    """How the prompt of one request is billed. The four numbers add up to the whole prompt."""

    uncached: int
    read: int
    written_5m: int
    written_1h: int

    def to_json(self) -> JsonObject:
        return {
            "input_tokens": self.uncached,
            "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.written_5m + self.written_1h,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
        }

    def totals(self, output_tokens: int) -> UsageTotals:
        written = self.written_5m + self.written_1h
        return UsageTotals(1, self.uncached, self.read, written, self.written_5m, self.written_1h, output_tokens)


@dataclass(frozen=True)
class _Prefix:
    """The prompt up to and including one block; `ttl` if a breakpoint ends it."""

    key: str
    tokens: int
    ttl: str | None


class PromptCache:
    """Remembers prefixes per model and output format, and those that reach into the messages per tool choice,
    thinking and effort as well. Safe across threads.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def bill(self, body: JsonObject) -> InputUsage:
        """Reads the longest known prefix within reach of a breakpoint, writes the breakpoints after it."""
        prefixes = _prefixes(body)
        total = prefixes[-1].tokens
        ends = [i for i, prefix in enumerate(prefixes) if prefix.ttl and prefix.tokens >= MIN_PREFIX]
        if not ends:
            return InputUsage(total, 0, 0, 0)
        reached = [prefix for end in ends for prefix in prefixes[max(0, end + 1 - LOOKBACK) : end + 1]]
        with self._lock:
            read = max((prefix.tokens for prefix in reached if prefix.key in self._seen), default=0)
            self._seen.update(prefixes[i].key for i in ends)
        done, written = read, {"5m": 0, "1h": 0}
        for prefix in (prefixes[i] for i in ends):
            if prefix.tokens > done:
                written[prefix.ttl or "5m"] += prefix.tokens - done
                done = prefix.tokens
        return InputUsage(total - done, read, written["5m"], written["1h"])


def _prefixes(body: JsonObject) -> list[_Prefix]:
    output = body.get("output_config") or {}
    running = hashlib.sha256(canonical([body["model"], output.get("format")]).encode())
    messages_begin = len(body.get("tools", [])) + len(blocks_of(body.get("system", [])))
    tokens = 0
    result: list[_Prefix] = []
    for number, (text, ttl) in enumerate(zip(prompt_texts(body), _breakpoint_ttls(body), strict=True)):
        if number == messages_begin:
            settings = [body.get("tool_choice"), body.get("thinking"), output.get("effort")]
            running.update(canonical(settings).encode())
        running.update(text.encode())
        tokens += count_tokens(text)
        result.append(_Prefix(running.hexdigest(), tokens, ttl))
    return result


def _breakpoint_ttls(body: JsonObject) -> list[str | None]:
    """Per block of the prompt its breakpoint; the top-level one goes to the last block that can carry one."""
    blocks = [placed.block for placed in prompt_blocks(body)]
    ttls: list[str | None] = [next(breakpoints(block), None) for block in blocks]
    if automatic := body.get("cache_control"):
        last = max(i for i, block in enumerate(blocks) if block.get("type") not in _NOT_CACHEABLE)
        ttls[last] = ttls[last] or automatic.get("ttl", "5m")
    return ttls
