"""The model service: a team that behaves, or misbehaves as it is told, and a ledger of every answer that left."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.fakes.anthropic_answers import Answer, CutStream, EndEarly, Fail, Request, Slow
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_delivery import Ending
from tests.fakes.anthropic_usage import InputUsage
from tests.fakes.team import Team, plan, step

SECONDS = 0.3
"""That an answer takes: long enough to be killed in."""
_TROUBLE: tuple[Fail, ...] = (
    Fail(429, "rate_limit_error", "Too many requests.", retry_after=0.5),
    Fail(529, "overloaded_error", "Overloaded."),
    Fail(500, "api_error", "Something broke."),
)


@dataclass(frozen=True)
class Served:
    """One whole answer: tokens of the prompt and of the answer, monotonic times of the question and of the answer."""

    request_id: str
    input: int
    output: int
    asked_at: float
    left_at: float


class Service(FakeAnthropic):
    """`served` has every answer that left whole, whether or not somebody was still there to take it."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.served: dict[str, Served] = {}
        self._chance = random.Random(seed)
        self._trouble = 0.0
        self._now = threading.local()
        together = step("four", "one", "two", "three")
        self._team = Team(plan=plan(step("one"), step("two"), step("three"), together))
        self.script(self._answer)

    @contextmanager
    def in_trouble(self, share: float) -> Iterator[None]:
        """Meanwhile this share of all questions is refused, left waiting, or answered in part."""
        self._trouble = share
        try:
            yield
        finally:
            self._trouble = 0.0

    def _answer(self, request: Request) -> Answer:
        self._team.seen.clear()  # it would keep every conversation
        self.requests.clear()
        right = Slow(SECONDS * (0.5 + self._chance.random()), self._team(request))
        if self._chance.random() >= self._trouble:
            return right
        answers: tuple[Answer, ...] = (*_TROUBLE, Slow(5, right), CutStream("Some of"), EndEarly("Some of"))
        return self._chance.choice(answers)

    def _create(self, *asked: Any) -> Any:
        self._now.asked_at = time.monotonic()
        return super()._create(*asked)

    def _message_reply(self, request: Request, delivery: Any, request_id: str) -> Any:
        self._now.request_id = request_id
        return super()._message_reply(request, delivery, request_id)

    def _total(self, model: str, usage: InputUsage, output: int, ending: Ending, *, streamed: bool) -> None:
        super()._total(model, usage, output, ending, streamed=streamed)
        if ending is Ending.COMPLETE:
            now = self._now
            prompt = usage.uncached + usage.read + usage.written_5m + usage.written_1h
            left_at = time.monotonic() + 2 * SECONDS  # it is sent after this, with the wait that it was given
            self.served[now.request_id] = Served(now.request_id, prompt, output, now.asked_at, left_at)
