"""Conversations in the form that the API takes back: blank texts, ids of calls, names and arguments."""

from __future__ import annotations

from typing import Any

import pytest

from runs.contracts.ports import Ask, Reply
from runs.pev.conversation.repetition import CallHistory
from runs.pev.conversation.sendable import NOTHING_SAID, CallIds, sendable
from runs.pev.conversation.turns import carried_out
from tests.unit.pev.scripted import Tools, ask

HELLO: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
NOTHING = {"type": "text", "text": NOTHING_SAID}
THOUGHT = {"type": "thinking", "thinking": " ", "signature": "s"}


def said(*blocks: object, role: str = "assistant") -> Any:
    return {"role": role, "content": list(blocks)}


def text(words: object) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(key: object = "a", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": "read_file", "input": {}, **more}


def result(key: str = "a", content: object = "done", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": content, **more}


# ---- blank texts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\t \r\n", "\u00a0", "\u3000\u2003", None])
def test_blank_texts_are_left_out_and_all_else_stays(blank: object) -> None:
    content = [THOUGHT, text(" words "), use(), {"type": "novelty", "text": ""}]
    told = said(*content[:1], text(blank), *content[1:], text(blank))
    assert sendable([HELLO, told, said(result(), role="user")])[1] == said(*content)


@pytest.mark.parametrize(
    "left",
    [
        [],
        [THOUGHT],
        [{"type": "redacted_thinking", "data": "x"}],
        [text("words"), THOUGHT],
    ],
)
def test_a_message_without_a_text_or_one_that_ends_in_thoughts_is_given_one(left: list[Any]) -> None:
    assert sendable([HELLO, said(*left, text(" ")), HELLO])[1] == said(*left, NOTHING)


@pytest.mark.parametrize("content", ["", " \n", [], [text("")]])
def test_a_blank_message_of_ours_is_given_a_text(content: Any) -> None:
    assert sendable([{"role": "user", "content": content}]) == (said(NOTHING, role="user"),)


@pytest.mark.parametrize("blank", ["", " \n", [], None])
def test_an_error_has_to_say_something(blank: object) -> None:
    messages = [HELLO, said(use()), said(result(content=blank, is_error=True), role="user")]
    assert sendable(messages)[2] == said(result(content=NOTHING_SAID, is_error=True), role="user")
    messages[2] = said(result(content=blank, is_error=False), role="user")
    assert sendable(messages)[2] == messages[2]


# ---- ids of calls -------------------------------------------------------------------------------------------------


def ids(*messages: Any) -> list[list[str]]:
    """Of the calls and of the results, by message."""
    sent: Any = sendable([HELLO, *messages])[1:]
    contents = [message["content"] for message in sent]
    return [[block.get("id") or block["tool_use_id"] for block in content] for content in contents]


@pytest.mark.parametrize("key", ["toolu_01A09q90qw90lq917835lq9", "call_0", "a-b_C9", "x" * 64])
def test_an_id_that_is_there_once_stays(key: str) -> None:
    assert ids(said(use(key)), said(result(key), role="user")) == [[key], [key]]


def test_an_id_that_repeats_in_each_turn_is_replaced_in_the_call_and_in_its_result() -> None:
    turn = [said(use("call_0")), said(result("call_0"), role="user")]
    assert ids(*turn, *turn, *turn) == [
        ["call_0"],
        ["call_0"],
        ["call-2"],
        ["call-2"],
        ["call-3"],
        ["call-3"],
    ]


def test_results_of_calls_with_the_same_id_belong_to_the_calls_in_their_order() -> None:
    turn = [said(use("a"), use("b"), use("a")), said(result("a"), result("b"), result("a"), role="user")]
    assert ids(*turn) == [["a", "b", "call-3"], ["a", "b", "call-3"]]


@pytest.mark.parametrize("key", ["", "a.b", "call 0", "functions.read:0", "id\n", "schlüssel", "x" * 65])
def test_an_id_that_the_api_refuses_is_replaced(key: str) -> None:
    turn = [said(use(key), use(key)), said(result(key), result(key), role="user")]
    assert ids(*turn) == [["call-1", "call-2"], ["call-1", "call-2"]]


@pytest.mark.parametrize("call", [use(None), use(7), {"type": "tool_use", "name": "read_file", "input": {}}])
def test_a_call_without_an_id_is_given_one(call: dict[str, Any]) -> None:
    asked = carried_out(ask(), Reply((call, use("b")), "tool_use", "m"), Tools(), CallHistory())
    assert ids(*asked.messages[1:]) == [["call-1", "b"], ["call-1", "b"]]


def test_no_new_id_is_one_that_was_there_before() -> None:
    turn = [said(use("call-2"), use("call-2"), use("call-3")), said(*[result("call-2")] * 2, result("call-3"))]
    turn[1]["role"] = "user"
    assert ids(*turn) == [["call-2", "call-3", "call-4"], ["call-2", "call-3", "call-4"]]


def test_ids_of_the_service_are_taken_and_stay() -> None:
    served: list[Any] = [
        {"type": "server_tool_use", "id": "s.1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s.1", "content": []},
    ]
    turn = [said(*served, use("s.1"), use("a")), said(result("s.1"), result("a"), role="user")]
    assert sendable([HELLO, *turn]) == (
        HELLO,
        said(*served, use("call-2"), use("a")),
        said(result("call-2"), result("a"), role="user"),
    )


def test_a_reply_in_two_parts_has_its_results_in_one_message() -> None:
    """After a pause a model goes on in a second message."""
    asked = ids(said(use("a")), said(use("a")), said(result("a"), result("a"), role="user"))
    assert asked == [["a"], ["call-2"], ["a", "call-2"]]


def test_a_result_of_no_call_stays() -> None:
    assert ids(said(result("b"), role="user")) == [["b"]]


def test_what_was_sent_stays_when_more_follows() -> None:
    turns = [said(text(" "), use("a")), said(result("a"), role="user")] * 20
    whole = sendable([HELLO, *turns])
    for length in range(1, len(turns) + 1):
        assert sendable([HELLO, *turns[: length - 1]]) == whole[:length]


@pytest.mark.slow
def test_as_many_calls_as_fit_into_a_reply_take_linear_time() -> None:
    many = [use(f"call-{number}") for number in range(2, 20_002)]
    found = ids(said(*many, *many), said(*[result("call-2")] * 3, role="user"))
    assert len(set(found[0])) == 40_000
    assert found[1] == ["call-2", found[0][20_000], "call-2"]


# ---- calls --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"name": "functions.read_file"}, {"name": "functions_read_file"}),
        ({"name": ""}, {"name": "unnamed"}),
        ({"name": None}, {"name": "unnamed"}),
        ({"name": "x" * 80}, {"name": "x" * 64}),
        ({"name": "datei öffnen"}, {"name": "datei__ffnen"}),
        ({"input": None}, {"input": {}}),
        ({"input": "{"}, {"input": {}}),
        ({"input": []}, {"input": {}}),
        (
            {"input": {"path": " "}, "caller": {"type": "direct"}},
            {"input": {"path": " "}, "caller": {"type": "direct"}},
        ),
    ],
)
def test_names_and_arguments_that_no_call_can_have_are_replaced(given: dict[str, Any], sent: dict[str, Any]) -> None:
    assert sendable([HELLO, said(use(**given)), said(result(), role="user")])[1] == said(use() | sent)


def test_the_conversation_itself_stays_as_it_came() -> None:
    reply = Reply((text(" "), use("a"), use("a")), "tool_use", "m")
    asked: Ask = carried_out(ask(), reply, Tools(), CallHistory())
    sendable(asked.messages)
    assert asked.messages[1] == said(text(" "), use("a"), use("a"))
    assert CallIds().unique(reply.content) == (text(" "), use("a"), use("call-2"))
