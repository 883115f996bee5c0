"""While a stream comes, whoever watches is told of its blocks: whatever the service sends, the reply is the same."""

from __future__ import annotations

from typing import Any

import pytest

from runs.llm.client import Clients
from tests.fakes.anthropic_answers import Say, Think, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.integration.llm.client.serving import DELTA, END, START, STOP, TEXT, TOOL, Seen, events, question, text

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def seen_of(clients: Clients, **changes: Any) -> Seen:
    seen = Seen()
    clients.ask(question(**changes), draft=seen)
    return seen


def test_thinking_text_and_tool_calls_are_told_as_they_come(api: FakeAnthropic, clients: Clients) -> None:
    api.replies(Think(UseTools(ToolUse("read_file", {"path": "nda.md"}), text="Let me look."), text="First the NDA."))
    seen = seen_of(clients, tools=(TOOL,))
    assert seen.blocks == [
        ("thinking", "", "First the NDA."),
        ("text", "", "Let me look."),
        ("tool_use", "read_file", '{"path":"nda.md"}'),
    ]
    assert seen.pieces > len(seen.blocks)


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "novelty_delta", "text": "no"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": None}},
        {"type": "ping"},
    ],
)
def test_events_without_words_are_passed_over(api: FakeAnthropic, clients: Clients, odd: dict[str, Any]) -> None:
    api.replies(events(START, TEXT, odd, text("Hi."), STOP, DELTA, END))
    assert seen_of(clients).blocks == [("text", "", "Hi.")]


def test_what_is_told_does_not_change_the_reply(api: FakeAnthropic, clients: Clients) -> None:
    api.replies(Think(Say("Hi.")), Think(Say("Hi.")))
    told, untold = clients.ask(question(), draft=Seen()), clients.ask(question())
    assert (told.text, told.stop_reason) == (untold.text, untold.stop_reason) == ("Hi.", "end_turn")
