"""Which calls repeat an earlier one, what is said of it, and when calls go round in circles."""

from __future__ import annotations

import pytest

from runs.contracts.base import JsonObject
from runs.contracts.ports import ToolResult, ToolUse
from runs.pev.conversation.repetition import CallHistory
from runs.pev.delimiters import delimited


def call(path: str, result: str = "", *, is_error: bool = False) -> tuple[ToolUse, ToolResult]:
    return ToolUse("id", "read_file", {"path": path}), ToolResult(result or f"Text of {path}.", is_error)


def turns_until_it_circles(pattern: str) -> int | None:
    """Each word of the pattern is a turn, each letter of it a call; None when it never goes round in circles."""
    calls = CallHistory()
    for number, turn in enumerate(pattern.split(), 1):
        calls.answers([call(letter) for letter in turn])
        if calls.circling:
            return number
    return None


@pytest.mark.parametrize(
    ("pattern", "turns"),
    [
        ("A A A", 3),
        ("A B A B A", 5),
        ("A B C A B C A", 7),
        ("AB AB BA", 3),
        ("A B C D C C", 6),
        ("AAA", None),
        ("AAA AA", None),
        ("A A", None),
        ("A B C D E F G", None),
        ("A A B A C A D A", None),
        ("AB AC AD AE AF", None),
    ],
)
def test_calls_go_round_in_circles_when_one_comes_the_third_time_and_nothing_new_does(
    pattern: str, turns: int | None
) -> None:
    assert turns_until_it_circles(pattern) == turns


def test_a_result_that_changed_is_told_in_full() -> None:
    calls = CallHistory()
    told = [calls.answers([call("a.md", text)])[0] for text in ("one", "two", "one")]
    assert told[:2] == [
        (delimited("tool", "one", "@tool-1 read_file"), False),
        (delimited("tool", "two", "@tool-2 read_file"), False),
    ]
    assert told[2][0].endswith("the result is the same as in @tool-1. Use that one, or go on.")
    assert calls.circling is False


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"prefix": "", "lines": 4}, {"lines": 4}, True),
        ({"lines": 4, "first_line": 1}, {"first_line": 1, "lines": 4}, True),
        ({"lines": 4}, {"lines": 5}, False),
        ({"regex": False}, {}, False),
    ],
)
def test_which_arguments_are_the_same(one: JsonObject, other: JsonObject, same: bool) -> None:
    calls = CallHistory()
    calls.answers([(ToolUse("1", "read_file", one), ToolResult("Text."))])
    ((told, _),) = calls.answers([(ToolUse("2", "read_file", other), ToolResult("Text."))])
    assert told.startswith("You have called") is same


def test_an_error_that_comes_again_stays_an_error() -> None:
    calls = CallHistory()
    calls.answers([call("a.md", "No such file.", is_error=True)])
    assert calls.answers([call("a.md", "No such file.", is_error=True)]) == [
        ("You have made this very call before, and it fails as in @tool-1. Do it otherwise, or go on.", True)
    ]


def test_a_repeated_call_keeps_its_number_and_its_result() -> None:
    calls = CallHistory()
    calls.answers([call("a"), call("a"), call("b")])
    assert [result.text for _, result in calls.calls] == ["Text of a.", "Text of a.", "Text of b."]
    ((told, _),) = calls.answers([call("c")])
    assert told == delimited("tool", "Text of c.", "@tool-4 read_file")


def test_what_was_going_on_in_one_sentence_however_the_tools_are_called() -> None:
    calls = CallHistory()
    for name in ("x" * 500, "<b>", "list_files", "list_files", "four", "four"):
        calls.answers([(ToolUse("id", name, {}), ToolResult("Nothing."))])
    listed = "“list_files” 2 times (1 of them with a result it had already)"
    four = "“four” 2 times (1 of them with a result it had already)"
    assert calls.summary == f"It called {listed}, {four}, “{'x' * 40}…” once."
    assert CallHistory().summary == ""
