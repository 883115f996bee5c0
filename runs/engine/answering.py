"""Who answers a question to a model: the rehearsal for its own ids, the API for all others."""

import json
import math
import time
from collections.abc import Callable, Iterator

from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask, Draft, Reply
from runs.llm.client import Clients
from runs.rehearsal.model import MODELS, Rehearsal

POLL_INTERVAL = 0.1
"""Seconds between two looks at whether a wait has to end."""


class Answering:
    """Safe to share between threads. `delay`: seconds before each reply of the rehearsal, so that one can follow."""

    def __init__(self, delay: float = 0.0) -> None:
        self._delay = delay
        self._rehearsal = Rehearsal()
        self._clients = Clients()

    def ask(self, ask: Ask, keep_going: Callable[[], None] = lambda: None, draft: Draft | None = None) -> Reply:
        """The reply to one question. `keep_going` raises to break it off, also while the reply is waited for; `draft`
        is told of it meanwhile.

        Raises ModelError.
        """
        if ask.model not in MODELS:
            return self._clients.ask(ask, keep_going, draft)
        reply = self._rehearsal.ask(ask)
        began, written = time.monotonic(), _written(reply, draft, math.ceil(self._delay / POLL_INTERVAL))
        while (left := began + self._delay - time.monotonic()) > 0:
            next(written, None)
            keep_going()
            time.sleep(min(left, POLL_INTERVAL))
        for _ in written:  # what a late wakening has left
            pass
        keep_going()
        return reply

    def close(self) -> None:
        self._clients.close()


def _written(reply: Reply, draft: Draft | None, pieces: int) -> Iterator[None]:
    """Tells of the reply in about so many pieces, one for each item that is asked for."""
    if draft is None:
        return
    blocks = [(str(block["type"]), str(block.get("name", "")), _words(block)) for block in reply.content]
    size = math.ceil(sum(len(words) for _, _, words in blocks) / max(1, pieces))
    for kind, tool, words in blocks:
        draft.begin(kind, tool)
        for at in range(0, len(words), size):
            draft.add(words[at : at + size])
            yield


def _words(block: JsonObject) -> str:
    return str(block["text"]) if "text" in block else json.dumps(block.get("input"), ensure_ascii=False)
