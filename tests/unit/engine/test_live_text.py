"""What a model is writing reaches those who follow: bounded in size and number, readable, without secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from runs.engine import live_text
from runs.engine.live_text import MAX_BYTES, LiveDraft, last
from runs.enums import Role
from runs.models import Attempt, Step, WorkItem
from runs.store import broadcast
from tests.factories.parts import plan_step

RUN = 7
KEY = "sk-ant-zyxwv-9876543210abcdef"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(live_text, "time", clock)
    return clock


@pytest.fixture
def shown(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The updates that a follower of the run is sent."""
    sent: list[str] = []
    monkeypatch.setattr(broadcast, "_send", lambda name, message: sent.append(message["text"]))
    broadcast.follow(RUN)
    yield sent
    broadcast.unfollow(RUN)


def draft() -> LiveDraft:
    return LiveDraft(
        WorkItem(run_id=RUN, attempt=Attempt(step=Step(pk=12, spec=plan_step("read", "Read it")), number=2)),
        Role.EXECUTOR,
    )


def told(sent: list[str]) -> list[dict[str, Any]]:
    return [json.loads(text)["writing"] for text in sent]


def write(draft: LiveDraft, clock: Clock, *pieces: str) -> None:
    for piece in pieces:
        draft.add(piece)
        clock.now += 0.2
        draft.tick()


def test_an_update_says_whose_call_it_is_and_how_it_goes(shown: list[str], clock: Clock) -> None:
    one = draft()
    one.tick()
    one.begin("thinking")
    write(one, clock, "The NDA comes first.")
    one.begin("tool_use", "read_file")
    write(one, clock, '{"path": "nda.md"}')
    one.begin("text")
    clock.now += 0.2
    one.tick()
    about = {"step": 12, "attempt": 2, "name": "Read it", "role": "executor"}
    assert told(shown) == [
        {**about, "text": "", "tool": "", "thinking": "", "silent_s": 0},
        {**about, "text": "", "tool": "", "thinking": "The", "silent_s": 0},
        {**about, "text": "", "tool": "read_file", "thinking": "The NDA comes first.", "silent_s": 0},
        {**about, "text": "path: nda.md", "tool": "", "thinking": "The NDA comes first.", "silent_s": 0},
    ]


def test_nothing_is_done_while_nobody_follows(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_text, "redacted", lambda text: pytest.fail("work for nobody"))
    one = draft()
    one.begin("text")
    write(one, clock, "a" * 500, "b" * 500)
    one.end()
    assert one._text._raw == ""


def test_there_are_ten_updates_a_second_at_most(shown: list[str], clock: Clock) -> None:
    one = draft()
    one.begin("text")
    for _ in range(1_000):
        clock.now += 0.002
        one.add("word ")
        one.tick()
    assert 15 <= len(shown) <= 20


def test_a_silent_call_gives_a_sign_of_life(shown: list[str], clock: Clock) -> None:
    one = draft()
    for _ in range(12):
        one.tick()
        clock.now += 1
    assert [update["silent_s"] for update in told(shown)] == [0, 3, 6, 9]


def test_the_end_takes_it_away_once_and_nothing_comes_after_it(shown: list[str], clock: Clock) -> None:
    one = draft()
    one.tick()
    one.end()
    one.end()
    write(one, clock, "too late")
    assert told(shown)[1:] == [{"step": 12, "attempt": 2, "name": "Read it", "role": "executor", "done": True}]


def test_a_call_that_breaks_off_ends_and_one_that_nobody_saw_needs_no_end(shown: list[str]) -> None:
    for is_seen in (True, False):
        with suppress(ValueError), draft() as one:
            if is_seen:
                one.tick()
            raise ValueError("cut")
    assert [update.get("done", False) for update in told(shown)] == [False, True]


@pytest.mark.parametrize("size", [1, 3, 7, 11, 12, 13, 29])
@pytest.mark.parametrize("kind", ["text", "thinking", "tool_use"])
def test_a_secret_is_never_shown_however_it_is_cut(
    shown: list[str], clock: Clock, monkeypatch: pytest.MonkeyPatch, size: int, kind: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    one = draft()
    words = f"The key is {KEY}, and it " + "goes on " * 60
    one.begin(kind, "write_file" if kind == "tool_use" else "")
    write(one, clock, *(words[at : at + size] for at in range(0, len(words), size)))
    one.end()
    everything = "\n".join(shown)
    assert "(redacted)" in everything
    assert not any(KEY[at : at + 4] in everything for at in range(len(KEY) - 3))


def test_a_secret_that_is_cut_over_two_blocks_is_not_shown_either(
    shown: list[str], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    one = draft()
    one.begin("text")
    one.add(f"It is {KEY[:15]}")
    one.begin("text")
    write(one, clock, f"{KEY[15:]} as I said before.")
    assert told(shown)[-1]["text"] == "It is (redacted) a", "what follows is held back"


@pytest.mark.parametrize(
    "piece", ["x", "word ", "\u0001", '"', "\\", "\U0001f512", "\u202e", "\ud800", "界", "\0", "\n"]
)
def test_an_update_is_never_larger_than_a_kilobyte(shown: list[str], clock: Clock, piece: str) -> None:
    one = draft()
    one.begin("thinking")
    one.add(piece * 5_000)
    one.begin("tool_use", piece * 80)
    write(one, clock, piece * 5_000, piece * 20_000)
    one.end()
    assert max(len(text.encode()) for text in shown) <= MAX_BYTES
    assert sorted(told(shown)[0]) == [
        "attempt", "name", "role", "silent_s", "step", "text", "thinking", "tool",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        '{"findings": "# Points\\n\\nThe \\"term\\" is open.", "notes": [], "confidence": 0.8}',
        '{"steps":[{"step_id":"read","name":"Read it"},{"step_id":"wri',
    ],
)
def test_json_is_shown_as_lines_of_text(shown: list[str], clock: Clock, raw: str) -> None:
    one = draft()
    one.begin("text")
    one.add(raw)
    one.begin("thinking")
    one.tick()
    lines = told(shown)[-1]["text"].splitlines()
    assert (
        lines
        == {
            "f": ["findings: # Points", "", 'The "term" is open.', "notes:", "confidence: 0.8}"],
            "s": ["steps: step_id: read", "name: Read it", "step_id: wri"],
        }[raw[2]]
    )


def test_who_comes_late_is_shown_lines_too(shown: list[str], clock: Clock) -> None:
    one = draft()
    one.begin("text")
    one.add('aims of the run","steps":[{"step_id":"read","name":"Read it","text":"')
    one.begin("thinking")
    one.tick()
    assert told(shown)[-1]["text"].splitlines() == ["aims of the run", "steps: step_id: read", "name: Read it", "text:"]


def test_a_cut_text_begins_with_a_word() -> None:
    assert last("one two three four", 12) == "…four"
    assert last("one two", 12) == "one two"
    assert last("x" * 50, 12) == "…" + "x" * 7
