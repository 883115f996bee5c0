"""A long text: both ends are shown, its length is stated, and what is folded is counted."""

import json

import pytest

from runs.acts.excerpt import WHOLE_CHARACTERS, WHOLE_LINES, Excerpt


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("a", "1 character"),
        ("a\nb", "3 characters in 2 lines"),
        ("a\n" * 1_200, "2,400 characters in 1,201 lines"),
    ],
)
def test_the_length_is_stated(text: str, length: str) -> None:
    assert Excerpt(text).length == length


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"line {number}" for number in range(400)),
        "x" * 10_000,
        " " * 5_000 + "rm -rf",
        "\n" * 300 + "the end",
        "start" + "\n" * 300,
        json.dumps({"body": "line\n" * 500}),
        "\r" * 2_000,
    ],
)
def test_both_ends_of_a_long_text_are_shown_and_the_rest_is_counted(text: str) -> None:
    one = Excerpt(text)
    assert one.head + one.middle + one.tail == text
    assert one.middle
    assert len(one.head) + len(one.tail) <= WHOLE_CHARACTERS
    assert (one.head + one.tail).count("\n") <= WHOLE_LINES
    assert one.left_out.startswith(f"{len(one.middle):,} characters")


def test_lines_that_are_left_out_are_counted() -> None:
    one = Excerpt("\n".join(f"line {number}" for number in range(1, 401)))
    assert one.head == "".join(f"line {number}\n" for number in range(1, 6))
    assert one.tail == "line 399\nline 400"
    assert one.left_out.endswith("in 393 lines")


def test_a_short_text_is_whole() -> None:
    assert Excerpt("x" * WHOLE_CHARACTERS).middle == ""
