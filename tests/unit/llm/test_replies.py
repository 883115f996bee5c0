"""Recorded replies: the same question finds its reply, and a changed one does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runs.contracts.ports import Ask, Page, Reply, ToolResult, ToolUse, Usage
from runs.enums import Role
from runs.errors import InvalidInput, ModelError
from runs.llm.replies import NOT_RECORDED, REPLAYED, RecordedReplies
from runs.mcp_client.server_config import Listing, ServerTool

ASK = Ask(Role.EXECUTOR, "claude-sonnet-5-5", "Work.", ({"role": "user", "content": [{"type": "text", "text": "Go"}]},))
REPLY = Reply(({"type": "text", "text": "Done – “ja”."},), "end_turn", "claude-sonnet-5-5", Usage(10, 5), "req_1")


def refuse() -> Reply:
    raise AssertionError("asked although there is a recorded reply")


def test_a_reply_is_given_again_with_its_usage_and_marked(tmp_path: Path) -> None:
    replies = RecordedReplies(tmp_path)
    assert replies.answer(ASK, lambda: REPLY) == REPLY
    assert RecordedReplies(tmp_path).answer(ASK, refuse) == replace(REPLY, request_id=REPLAYED)


@pytest.mark.parametrize(
    "changed",
    [
        replace(ASK, system="Work well."),
        replace(ASK, model="claude-haiku-5-5"),
        replace(ASK, effort="high"),
        replace(ASK, messages=(*ASK.messages, *ASK.messages)),
        replace(ASK, last_round=True),
    ],
    ids=["prompt", "model", "effort", "messages", "last round"],
)
def test_a_changed_question_is_asked_again(tmp_path: Path, changed: Ask) -> None:
    replies = RecordedReplies(tmp_path)
    replies.answer(ASK, lambda: REPLY)
    other = replace(REPLY, request_id="req_2")
    assert replies.answer(changed, lambda: other) == other


def test_the_length_of_the_answer_that_a_budget_allows_is_no_other_question(tmp_path: Path) -> None:
    replies = RecordedReplies(tmp_path)
    replies.answer(ASK, lambda: REPLY)
    assert replies.answer(replace(ASK, max_tokens=900), refuse).text == REPLY.text


def test_a_reply_that_was_cut_off_is_not_recorded(tmp_path: Path) -> None:
    replies = RecordedReplies(tmp_path)
    replies.answer(ASK, lambda: replace(REPLY, stop_reason="max_tokens"))
    assert replies.answer(ASK, lambda: REPLY) == REPLY


def test_each_repetition_has_replies_of_its_own(tmp_path: Path) -> None:
    replies = RecordedReplies(tmp_path)
    replies.answer(ASK, lambda: REPLY)
    replies.repetition = 2
    other = replace(REPLY, request_id="req_2")
    assert replies.answer(ASK, lambda: other) == other


def test_nothing_is_asked_with_recorded_replies_only(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is no recorded reply to this question of the executor") as error:
        RecordedReplies(tmp_path, only_recorded=True).answer(ASK, refuse)
    assert (error.value.kind, error.value.retriable) == (NOT_RECORDED, False)


def test_a_file_that_is_no_reply_is_named(tmp_path: Path) -> None:
    replies = RecordedReplies(tmp_path)
    replies.answer(ASK, lambda: REPLY)
    (file,) = (tmp_path / "1").iterdir()
    file.write_text('{"content": 1}')
    with pytest.raises(ModelError, match=f"The recorded {file.name} cannot be read"):
        replies.answer(ASK, refuse)


PAGE = Page("https://example.org/area", datetime(2026, 11, 30, 12, tzinfo=UTC), "The area is 720.2 km².")


def test_the_result_of_a_server_belongs_to_one_call_and_its_tools_to_its_name(tmp_path: Path) -> None:
    def never(*_: object) -> Any:
        raise AssertionError("called although it was recorded")

    use, result = ToolUse("toolu_1", "tickets__search", {"words": "door"}), ToolResult("No ticket.", is_error=True)
    listing = Listing([ServerTool("search", "Finds tickets.", {"type": "object"})], ["create is there twice"])
    replies, later = RecordedReplies(tmp_path), RecordedReplies(tmp_path, only_recorded=True)
    assert (replies.result(use, [1], lambda: result), replies.listing("tickets", lambda: listing)) == (result, listing)
    assert (later.result(use, [1], never), later.listing("tickets", never)) == (result, listing)
    with pytest.raises(InvalidInput, match="This call of tickets__search was not recorded"):
        later.result(use, [2], never)
    for other in (replace(use, id="toolu_2"), replace(use, input={"words": "roof"}), replace(use, name="wiki__search")):
        with pytest.raises(InvalidInput, match=f"This call of {other.name} was not recorded"):
            later.result(other, [1], never)
    with pytest.raises(InvalidInput, match="What wiki offers was not recorded"):
        later.listing("wiki", never)


def test_a_result_with_half_of_a_pair_of_surrogates_is_recorded_after_the_call_has_acted(tmp_path: Path) -> None:
    use, replies = ToolUse("toolu_1", "tickets__create", {"title": "\ud83d"}), RecordedReplies(tmp_path)
    assert replies.result(use, [], lambda: ToolResult("Created \ud83d.")).text == "Created \ud83d."
    assert replies.result(use, [], lambda: ToolResult("Created twice.")).text == "Created ?."


def test_a_page_is_given_again_with_the_time_at_which_it_was_read(tmp_path: Path) -> None:
    def refuse_page() -> Page:
        raise AssertionError("read although it was recorded")

    replies = RecordedReplies(tmp_path)
    assert replies.page(PAGE.address, lambda: PAGE) == PAGE
    assert replies.page(PAGE.address, refuse_page) == PAGE
    with pytest.raises(InvalidInput, match="was not recorded, and only what was recorded may be read"):
        RecordedReplies(tmp_path, only_recorded=True).page("https://example.org/other", refuse_page)
