"""The arguments of a call that acts outside, as people read them: lengths are stated, and what is folded is counted."""

import json
from typing import Any

import pytest

from runs.models import Gate
from runs.readmodel.gate_details import WHOLE_CHARACTERS, WHOLE_LINES, Argument, arguments_of, sent_in_lines


def gate(**arguments: Any) -> Gate:
    return Gate(call={"name": "mail__send", "arguments": arguments})


@pytest.mark.parametrize(
    ("value", "kind", "length"),
    [
        ("", "empty text", "0 characters"),
        ("a", "text", "1 character"),
        ("5", "text", "1 character"),
        (5, "number", "1 character"),
        (True, "yes or no", "4 characters"),
        (None, "nothing", "4 characters"),
        ([1, 2], "list of 2", "12 characters in 4 lines"),
        ({"a": "b"}, "object", "14 characters in 3 lines"),
        ("a\n" * 1_200, "text", "2,400 characters in 1,201 lines"),
    ],
)
def test_kind_and_length_are_stated(value: object, kind: str, length: str) -> None:
    (one,) = arguments_of(gate(a=value))
    assert (one.kind, one.length) == (kind, length)


@pytest.mark.parametrize(
    "value",
    [
        "\n".join(f"line {number}" for number in range(400)),
        "x" * 10_000,
        " " * 5_000 + "rm -rf",
        "\n" * 300 + "the end",
        "start" + "\n" * 300,
        json.dumps({"body": "line\n" * 500}),
        "\r" * 1_000,
    ],
)
def test_both_ends_of_a_long_value_are_shown_and_the_rest_is_counted(value: str) -> None:
    (one,) = arguments_of(gate(a=value))
    assert one.head + one.middle + one.tail == value
    assert one.middle
    assert len(one.head) + len(one.tail) <= WHOLE_CHARACTERS
    assert (one.head + one.tail).count("\n") <= WHOLE_LINES
    assert one.left_out.startswith(f"{len(one.middle):,} characters")


def test_lines_that_are_left_out_are_counted() -> None:
    (one,) = arguments_of(gate(body="\n".join(f"line {number}" for number in range(1, 401))))
    assert (one.head, one.tail) == ("line 1\nline 2\nline 3\nline 4\n", "line 399\nline 400")
    assert one.left_out.endswith("in 394 lines")


def test_a_short_value_is_whole() -> None:
    assert Argument("a", "text", "x" * WHOLE_CHARACTERS).middle == ""


def test_a_long_value_keeps_no_other_out_of_a_terminal() -> None:
    lines = list(sent_in_lines(gate(body="line\n" * 5_000, to="bob@example.com")))
    assert len(lines) < 20
    assert "to (text, 15 characters):" in lines
    assert "    bob@example.com" in lines
