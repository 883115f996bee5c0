"""The context window: when a conversation is full, and what the next one begins with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask, Reply, ToolResult, ToolUse, Usage
from runs.errors import ContractBroken
from runs.pev.conversation.repetition import CallHistory
from runs.pev.conversation.window import MAX_DIGEST_CHARS, Room, answer_tokens
from runs.pev.delimiters import find
from runs.pev.executor import execute
from runs.pev.tools.tool import ToolLimits, limits_for
from tests.unit.pev.scripted import Scripted, Tools, ask, gave, said, used
from tests.unit.pev.test_executor import DONE, REPORT, brief

LONG = "Read it. " * 3_000
EXCEEDED = said("", "model_context_window_exceeded")


def page(number: int, tokens: int) -> Reply:
    """A turn that reads a page; so many tokens were read, by the server's report."""
    reply = used("read_file", path="a.md", first_line=number)
    return replace(reply, usage=Usage(input=tokens // 2, cache_read=tokens // 2))


def second(model: Scripted) -> list[str]:
    """What the first message of the second conversation adds to that of the first."""
    begun = [asked for asked in model.asked if len(asked.messages) == 1]
    assert len(begun) == 2
    contents: list[Any] = [asked.messages[0]["content"] for asked in begun]
    texts = [[block["text"] for block in content] for content in contents]
    assert texts[1][: len(texts[0])] == texts[0], "the prompt cache reads it again"
    return texts[1][len(texts[0]) :]


def test_near_the_window_the_attempt_goes_on_in_a_new_conversation_that_knows_what_was_done() -> None:
    wrote = replace(used("write_file", path="one.md", content="x" * 400), usage=Usage(input=8_000))
    model = Scripted(page(1, 6_000), wrote, gave(REPORT))
    assert (
        execute(
            model, Tools(lambda use: ToolResult(f"Result of {use.name}. " * 30)), brief(request=LONG, window=10_000)
        )
        == DONE
    )
    (text,) = second(model)
    assert text.startswith(
        "Your earlier conversation in this attempt was closed because it was near the limit of 10,000 tokens. "
        "What you wrote is kept: “one.md”. These are the calls that you made in it,"
    )
    (block,) = find(text)
    lines = block.text.splitlines()
    assert lines[0].startswith('@tool-1 “read_file” “{"path": "a.md", "first_line": 1}”: “Result of read_file. Result')
    assert lines[1].startswith('@tool-2 “write_file” “{"path": "one.md", "content": "xxx')
    assert len(lines) == 2


def test_numbers_go_on_and_a_result_is_shown_again_in_full() -> None:
    model = Scripted(page(1, 8_000), page(1, 1_000), gave(REPORT))
    tools = Tools()
    assert execute(model, tools, brief(request=LONG, window=10_000)) == DONE
    assert len(tools.used) == 2
    content: Any = model.asked[2].messages[-1]["content"]
    assert [(part.name, part.text) for part in find(content[0]["content"])] == [("@tool-2 read_file", "read_file done")]


def test_with_an_unknown_window_a_conversation_is_never_closed_early() -> None:
    model = Scripted(*(page(number, 10**6) for number in range(1, 4)), gave(REPORT))
    assert execute(model, Tools(), brief()) == DONE
    assert [len(asked.messages) for asked in model.asked] == [1, 3, 5, 7]


def test_a_model_that_says_that_it_was_too_long_is_given_a_new_conversation_once() -> None:
    model = Scripted(page(1, 0), EXCEEDED, gave(REPORT))
    assert execute(model, Tools(), brief()) == DONE
    (text,) = second(model)
    assert "was closed because it was longer than you can read. What you wrote is kept. These" in text
    again = Scripted(page(1, 0), EXCEEDED, page(2, 0), EXCEEDED)
    with pytest.raises(ContractBroken, match="longer than the model can read"):
        execute(again, Tools(), brief(rounds=9))
    assert len(again.asked) == 4


def test_a_first_question_that_is_too_long_is_not_asked_again() -> None:
    model = Scripted(EXCEEDED)
    with pytest.raises(ContractBroken, match="longer than the model can read"):
        execute(model, Tools(), brief())
    assert len(model.asked) == 1


def test_a_demand_holds_in_the_new_conversation_too() -> None:
    model = Scripted(page(1, 0), EXCEEDED, gave(REPORT))
    assert execute(model, Tools(), brief(rounds=2)) == DONE
    (text,) = second(model)
    assert "Tools cannot be used any more. Answer now with your report" in text
    assert [asked.last_round for asked in model.asked] == [False, True, True]


def test_a_window_that_is_always_full_still_comes_to_an_end() -> None:
    model = Scripted(*(page(number, 9_999) for number in range(1, 9)))
    with pytest.raises(ContractBroken, match="used its 4 rounds"):
        execute(model, Tools(), brief(request=LONG, window=10_000))
    assert len(model.asked) == 6


def turn(role: str, text: str) -> JsonObject:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def conversation(text: str) -> Ask:
    first = ask()
    return replace(
        first, messages=(*first.messages, turn("assistant", "I read."), turn("user", text)), max_tokens=1_000
    )


@pytest.mark.parametrize(
    ("usage", "text", "full"),
    [
        (Usage(), "x" * 20_000, False),
        (Usage(), "x" * 30_000, True),
        (Usage(), "語" * 10_000, True),
        (Usage(input=8_000), "x" * 2_000, False),
        (Usage(input=8_900), "x" * 3_000, True),
        (Usage(input=4_000, cache_read=3_000, cache_write_5m=1_500, output=200), "x" * 300, False),
        (Usage(input=4_000, cache_read=3_000, cache_write_5m=1_500, output=500), "x" * 300, True),
        (Usage(input=10**9), "x" * 300, True),
    ],
)
def test_what_was_reported_counts_and_what_came_after_is_estimated(usage: Usage, text: str, full: bool) -> None:
    room = Room(10_000)
    before = conversation("y" * 40_000 if usage.input else "")
    room.heard(before, Reply((), "tool_use", "scripted", usage))
    grown = replace(before, messages=(*before.messages, turn("user", text)))
    assert room.is_full(grown) is full


def test_a_report_of_more_tokens_than_there_are_bytes_is_not_believed() -> None:
    room = Room(10_000)
    small = conversation("short")
    room.heard(small, Reply((), "tool_use", "scripted", Usage(input=10**9)))
    assert room.is_full(small) is False


def test_a_small_window_gets_short_answers_and_short_results() -> None:
    assert [answer_tokens(window) for window in (None, 8_000, 1_000_000)] == [32_000, 2_000, 32_000]
    assert [limits_for(window).result_chars for window in (None, 8_000, 1_000_000)] == [30_000, 3_000, 30_000]
    assert replace(limits_for(8_000), result_chars=30_000) == ToolLimits()


def test_what_is_told_of_earlier_calls_is_bounded_and_the_newest_are_kept() -> None:
    calls = CallHistory()
    for number in range(1, 301):
        use = ToolUse("id", "write_file", {"path": f"{number}.md", "content": "c" * 10_000})
        calls.answers([(use, ToolResult("r" * 10_000, is_error=number == 300))])
    digest = calls.digest(MAX_DIGEST_CHARS)
    lines = digest.splitlines()
    assert len(digest) <= MAX_DIGEST_CHARS
    assert lines[0].startswith("(and 2")
    assert lines[-1].startswith("@tool-300 “write_file” ")
    assert ": error: “rrr" in lines[-1]
    assert calls.written_files(["write_file"]) == [f"“{number}.md”" for number in range(1, 21)]
