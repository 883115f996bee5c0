"""The models of the benchmarks: `tests.fakes.team` without a line in between, as fast as it can think."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast
from unittest.mock import patch

from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask, Reply, ReplyDraft, Usage
from runs.enums import Role
from runs.llm.client import Clients
from tests.fakes.anthropic_answers import Request, Say, ToolUse, UseTools
from tests.fakes.team import Team

_NUMBERS = itertools.count(1)


class Scripted:
    """Answers as `team` does; an executor's last answer takes `seconds`, from when `together` of them are at it.

    `asked` counts the questions by role, `thinking` is the CPU time in seconds that the script itself used,
    `max_at_once` how many executors were at work at the same time, `began_at` (monotonic) when the last began.
    """

    def __init__(self, team: Team, seconds: float = 0.0, together: int = 1) -> None:
        self.asked: Counter[str] = Counter()
        self.thinking = 0.0
        self.max_at_once = 0
        self.began_at = 0.0
        self._at_once = 0
        self._team = team
        self._seconds = seconds
        self._lock = threading.Lock()
        self._start = threading.Barrier(together, self._began, timeout=60)

    def _began(self) -> None:
        self.began_at = time.monotonic()

    def ask(self, ask: Ask, keep_going: Callable[[], None], draft: ReplyDraft | None = None) -> Reply:
        began = time.thread_time()
        reply = self._reply(ask)
        with self._lock:
            self.asked[ask.role.value] += 1
            self.thinking += time.thread_time() - began
        if ask.role is Role.EXECUTOR and reply.stop_reason == "end_turn":
            self._work()
        return reply

    def _reply(self, ask: Ask) -> Reply:
        request = Request(0, ask.model, ask.system, list(ask.messages), [], ask.schema, {}, {})
        answer = self._team(request)
        usage = Usage(input=4_000, output=400)
        match answer:
            case Say(text):
                return Reply(({"type": "text", "text": text},), "end_turn", ask.model, usage, "req_bench")
            case UseTools(tools):
                calls = tuple(_call(use) for use in tools)
                return Reply(calls, "tool_use", ask.model, usage, "req_bench")
        raise TypeError(f"{answer} is for a server")

    def _work(self) -> None:
        if not self._seconds:
            return
        self._start.wait()
        with self._lock:
            self._at_once += 1
            self.max_at_once = max(self.max_at_once, self._at_once)
        time.sleep(self._seconds)
        with self._lock:
            self._at_once -= 1


def _call(use: ToolUse) -> JsonObject:
    arguments = cast("JsonObject", dict(use.input))
    return {"type": "tool_use", "id": f"toolu_{next(_NUMBERS)}", "name": use.name, "input": arguments}


@contextmanager
def answering(team: Team, seconds: float = 0.0, together: int = 1) -> Iterator[Scripted]:
    """A model is connected, and every question of this process goes to the script; no client, no HTTP."""
    scripted = Scripted(team, seconds, together)
    answers = patch.object(Clients, "ask", lambda _, ask, keep_going, draft: scripted.ask(ask, keep_going))
    with answers, patch.dict(os.environ, ANTHROPIC_API_KEY="no-key"):
        yield scripted
