"""Who answers, and how long one waits for it."""

import pytest

from runs.contracts.ports import Ask, Usage
from runs.engine import recording
from runs.engine.recording import Answering
from runs.enums import Role
from runs.errors import LeaseLost, ModelError
from runs.pev.conversation.asking import user
from runs.pev.delimiters import delimited
from tests.integration.llm.client.serving import Seen

QUESTION = user(delimited("result", "No points were found.", "findings"))
ASK = Ask(Role.SYNTHESIZER, "offline-executor", "", (QUESTION,))


class Clock:
    """Time passes while somebody sleeps, and only then."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(recording, "time", clock)
    return clock


def test_the_rehearsal_answers_for_its_own_ids() -> None:
    reply = Answering().ask(ASK)
    assert reply.model == "offline-executor"
    assert reply.usage == Usage()
    assert reply.text.startswith('{"answer":"No points were found.')


def test_the_api_is_asked_for_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    with pytest.raises(ModelError, match="there is no ANTHROPIC_API_KEY"):
        Answering().ask(Ask(Role.PLANNER, "offline-but-not-ours", "", ()))


def test_a_reply_of_the_rehearsal_takes_its_time_and_work_that_has_to_end_is_looked_for_meanwhile(
    clock: Clock,
) -> None:
    looks: list[float] = []
    Answering(delay=0.35).ask(ASK, lambda: looks.append(round(clock.now - 100, 2)))
    assert looks == [0, 0.1, 0.2, 0.3, 0.35]


def test_a_wait_is_broken_off(clock: Clock) -> None:
    def stop() -> None:
        raise LeaseLost("cancelled")

    with pytest.raises(LeaseLost):
        Answering(delay=30).ask(ASK, stop)
    assert clock.now == 100


@pytest.mark.usefixtures("clock")
def test_the_rehearsal_writes_while_it_is_waited_for() -> None:
    seen = Seen()
    reply = Answering(delay=0.35).ask(ASK, draft=seen)
    assert seen.blocks == [("text", "", reply.text)]
    assert seen.pieces >= 3
