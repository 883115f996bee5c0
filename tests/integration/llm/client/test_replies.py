"""Over real HTTP, whatever a service says becomes a reply, and breaks off when it is no longer wanted."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from runs.contracts.base import schema_for
from runs.contracts.ports import Reply, Usage
from runs.errors import LeaseLost
from runs.llm.client import Clients
from runs.pev.contracts import StepOutput
from runs.pev.conversation.turns import answered
from tests.fakes.anthropic_answers import (
    Answer,
    ContextExceeded,
    Overrun,
    Pause,
    Refuse,
    Say,
    Stall,
    Think,
    ToolUse,
    UseTools,
)
from tests.fakes.anthropic_api import FakeAnthropic
from tests.integration.llm.client.serving import (
    DELTA,
    END,
    LONG,
    MESSAGE,
    START,
    STOP,
    TEXT,
    TOOL,
    events,
    question,
    text,
)

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


# ---- replies ------------------------------------------------------------------------------------------------------


def test_a_reply_has_its_text_stop_reason_model_id_and_usage(api: FakeAnthropic, clients: Clients) -> None:
    api.replies(Say("Hi."))
    before = api.usage_totals()
    reply = clients.ask(question())
    after = api.usage_totals()
    assert (reply.text, reply.stop_reason, reply.model) == ("Hi.", "end_turn", "claude-opus-5-5")
    assert re.fullmatch(r"req_fake_\d+", reply.request_id)
    assert reply.usage == Usage(
        input=after.input_tokens - before.input_tokens, output=after.output_tokens - before.output_tokens
    )


@pytest.mark.parametrize(
    ("answer", "stop_reason"),
    [
        (Refuse("No."), "refusal"),
        (Overrun("cut"), "max_tokens"),
        (Pause(), "pause_turn"),
        (ContextExceeded("too"), "model_context_window_exceeded"),
        (UseTools(ToolUse("read_file", {"path": "a"})), "tool_use"),
    ],
)
def test_every_way_to_stop_is_a_reply(api: FakeAnthropic, answer: Answer, stop_reason: str, clients: Clients) -> None:
    api.replies(answer)
    assert clients.ask(question(tools=(TOOL,))).stop_reason == stop_reason


@pytest.mark.parametrize("key", [{}, {"id": None}, {"id": ""}, {"id": "a b"}, {"id": "x" * 1_000}])
def test_a_call_with_an_id_that_is_none_can_be_answered(
    api: FakeAnthropic, clients: Clients, key: dict[str, Any]
) -> None:
    call = {"type": "tool_use", **key, "name": "n", "input": {}}
    begun = {"type": "content_block_start", "index": 0, "content_block": call}
    api.replies(events(START, begun, STOP, DELTA, END), Say("Hi."))
    asked = question(tools=(TOOL,))
    reply = clients.ask(asked)
    assert [use.name for use in reply.tool_uses] == ["n"]
    assert clients.ask(answered(asked, reply, [("done", False)])).text == "Hi."
    called, result = (message["content"][0] for message in api.requests[-1].messages[1:])
    assert (called["id"], result["tool_use_id"]) == ("call-1", "call-1")


def test_tokens_of_the_cache_are_told_apart_from_the_others(api: FakeAnthropic, clients: Clients) -> None:
    api.replies(Say("One."), Say("Two."))
    asked = question(system=LONG * 3, stable=(0,))
    first, second = clients.ask(asked).usage, clients.ask(asked).usage
    assert (first.cache_read, first.cache_write_5m > 1_000, first.cache_write_1h) == (0, True, 0)
    assert (second.cache_read, second.cache_write_5m) == (first.cache_write_5m, 0)


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "qwen3-4b"])
def test_a_whole_tool_loop_is_valid_for_every_model_and_replays_what_was_said(
    api: FakeAnthropic, model: str, clients: Clients
) -> None:
    api.replies(Think(UseTools(ToolUse("read_file", {"path": "a"}), text="Let me look.")), Say("Done."))
    asked = question(model=model, tools=(TOOL,), schema=schema_for(StepOutput))
    first = clients.ask(asked)
    results = [{"type": "tool_result", "tool_use_id": use.id, "content": "Hello."} for use in first.tool_uses]
    said: Any = ({"role": "assistant", "content": list(first.content)}, {"role": "user", "content": results})
    second = clients.ask(replace(asked, messages=(*asked.messages, *said), last_round=True))
    assert second.text == "Done."
    assert [(use.name, use.input) for use in first.tool_uses] == [("read_file", {"path": "a"})]
    assert api.requests[1].messages[1]["content"] == list(first.content)


def test_an_unknown_kind_of_block_is_kept_as_it_came(api: FakeAnthropic, clients: Clients) -> None:
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "novelty", "x": 1}}
    api.replies(events(START, start, STOP, DELTA, END))
    assert clients.ask(question()).content == ({"type": "novelty", "x": 1},)


def test_figures_that_cannot_be_are_not_counted(api: FakeAnthropic, clients: Clients) -> None:
    odd = {"type": "message_start", "message": {**MESSAGE, "usage": {"input_tokens": -5, "output_tokens": 1}}}
    api.replies(events(odd, TEXT, text("Hi."), STOP, DELTA, END))
    assert clients.ask(question()).usage == Usage(input=0, output=5)


# ---- breaking off -------------------------------------------------------------------------------------------------


def test_keep_going_breaks_off_in_the_middle_of_a_stream(api: FakeAnthropic, clients: Clients) -> None:
    api.replies(Stall(5.0, Say(LONG)))
    seen = []

    def lost() -> None:
        seen.append(1)
        if len(seen) == 2:
            raise LeaseLost("gone")

    with pytest.raises(LeaseLost, match=r"^gone$"):
        clients.ask(question(), lost)
    assert 2 <= len(seen) <= 3  # on a busy machine the watch asks once more before it learns that the call is over


def test_keep_going_is_looked_at_for_every_event(api: FakeAnthropic, clients: Clients) -> None:
    api.replies(Say(LONG))
    seen: list[int] = []
    reply: Reply = clients.ask(question(), lambda: seen.append(1))
    assert (reply.stop_reason, len(seen) >= 5) == ("end_turn", True)
