"""The context window of a model: when a conversation is near its end, and how an attempt continues in a new one."""

import json
from collections.abc import Collection
from dataclasses import replace

from runs.contracts.ports import Ask, Reply, names_that_write
from runs.pev.conversation.asking import EXCEEDED, added
from runs.pev.conversation.originals import tokens_in
from runs.pev.conversation.repetition import CallHistory
from runs.pev.delimiters import delimited

BYTES_PER_TOKEN = 3
"""Lower than in the languages that models write, so that an estimate fills a window early rather than late."""
MAX_ANSWER_TOKENS = 32_000
MAX_DIGEST_CHARS = 12_000  # of the summary with which a conversation begins again
MAX_RESULT_CHARS = 30_000
"""Characters of one result of a tool."""
_SHARE = 8
"""One result of a tool, or the digest of all results, takes at most an eighth of a window; an answer takes a quarter.
"""
_CLOSED = (
    "Your earlier conversation in this attempt was closed because {limit}. What you wrote is kept{written}. "
    "These are the calls that you made in it, each with the beginning of its result. The rest you no longer have: "
    "where you need it, make the call again, one at a time and for a smaller part."
)
_NOT_OFFERED = (
    "What this run may use of {names} is used up, or kept for steps that are at work now, so that it is not offered. "
    "Do without it; what you could not look up, say so, and if the step cannot be done without, report it as blocked."
)
RUN_LIMIT = "what this run may use of a tool of your service is used up"


def answer_tokens(window: int | None) -> int:
    """The limit of one answer in tokens."""
    return min(MAX_ANSWER_TOKENS, window // 4) if window else MAX_ANSWER_TOKENS


def result_chars(window: int | None, most: int) -> int:
    """The limit of one result of a tool in characters: `most` if the window is large or unknown."""
    return min(most, BYTES_PER_TOKEN * window // _SHARE) if window else most


def cuts(window: int) -> bool:
    """Whether an attempt in this window sees less at a time, or may answer less, than in a large enough window."""
    return answer_tokens(window) < MAX_ANSWER_TOKENS or result_chars(window, MAX_RESULT_CHARS) < MAX_RESULT_CHARS


class Room:
    """How much of the window, in tokens, a conversation has taken: by what the last reply reported, the rest estimated.

    It depends on the conversation alone, so that a resumed attempt is closed at the same place (D3).
    """

    def __init__(self, window: int | None) -> None:
        self.window = window
        self._tokens = self._bytes = 0
        self._exceeded = 0
        self._over = False

    def heard(self, ask: Ask, reply: Reply) -> None:
        """Count the reply to this question. A server that reports nothing, or more than was sent, is not believed."""
        usage = reply.usage
        read = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h
        self._bytes = _bytes_of(ask) + _size(reply.content)
        self._tokens = min(read + usage.output, self._bytes) if read else self._bytes // BYTES_PER_TOKEN
        self._over = reply.stop_reason == EXCEEDED
        self._exceeded += self._over

    def exceeded(self, ask: Ask) -> bool:
        """Whether the model has just said that this was too long for it. That is believed once in an attempt."""
        return self._over and self._exceeded == 1 and len(ask.messages) > 1

    def is_full(self, ask: Ask) -> bool:
        """Whether this question and its answer may no longer fit. Never true for the first question of a
        conversation.
        """
        if self.exceeded(ask) or self.window is None or len(ask.messages) == 1:
            return self.exceeded(ask)
        more = max(0, _bytes_of(ask) - self._bytes) // BYTES_PER_TOKEN
        return self._tokens + more + ask.max_tokens > self.window


def without(first: Ask, names: Collection[str]) -> Ask:
    """The first question without these tools of the service, and with a sentence that the run has used them up."""
    left = tuple(tool for tool in first.tools if tool.name not in names)
    return added(replace(first, tools=left), _NOT_OFFERED.format(names=" and ".join(sorted(names))))


def begun_again(
    first: Ask, calls: CallHistory, room: Room, demand: str, *, used_up: bool = False, limit: str = ""
) -> Ask:
    """The first question once more, with what was done since, and a `demand` that holds already. `used_up`: the tools
    of the service are, and are not offered any more. `limit`: what else has closed the conversation, as a clause.

    What the model no longer sees is shown to it in full when it asks again.
    """
    near = f"it was near the limit of {room.window:,} tokens" if room.window else "it was longer than you can read"
    limit = limit or near
    if used_up:
        first = replace(first, tools=tuple(tool for tool in first.tools if tool.service is None))
        limit = "the web searches, pages and runs of code that an attempt may have are used up"
    paths = calls.written_files(names_that_write(first.tools))
    written = f": {', '.join(paths)}" if paths else ""
    digest = delimited("calls", calls.digest(result_chars(room.window, MAX_DIGEST_CHARS)) or "(none)")
    calls.forget_results()
    return added(first, "\n".join([_CLOSED.format(limit=limit, written=written), digest, demand]).strip())


def _bytes_of(ask: Ask) -> int:
    """The size in bytes. Pages that are shown as they look count as so much text as they take tokens."""
    pages = tokens_in(ask.messages) * BYTES_PER_TOKEN
    tools = sum(len(tool.description) + _size(tool.input_schema) for tool in ask.tools)
    return len(ask.instructions.encode()) + tools + _size(ask.messages) + pages


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
