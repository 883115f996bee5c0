"""The links of a Markdown text: those that a renderer makes, and those with spaces in the target."""

import pytest

from runs.errors import InvalidInput
from runs.evidence.citations.links import MAX_CHARACTERS, MAX_LINKS, links_in


def found(text: str) -> list[tuple[int, str, str]]:
    return [(link.line, link.text, link.target) for link in links_in(text)[1]]


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("a.md#L1", "a.md#L1"),
        ("<my file.md#L1>", "my file.md#L1"),
        ("my file.md#L1", "my file.md#L1"),
        ("report (1).md#L1", "report (1).md#L1"),
        (r"a\(b.md#L1", "a(b.md#L1"),
        ('a.md#L1 "a title"', "a.md#L1"),
        ("a&amp;b.md#L1", "a&b.md#L1"),
        ("B%C3%BCro.md#L1", "B%C3%BCro.md#L1"),
    ],
)
def test_targets_are_read_as_they_are_meant(target: str, meant: str) -> None:
    assert found(f"One [“two”]({target}) three.") == [(1, "“two”", meant)]


@pytest.mark.parametrize(
    "text",
    [
        "```\n[a](b)\n```",
        "~~~ md\n[a](b)\n~~~",
        "    [a](b)",
        "- one\n\n      [a](b)",
        "> ```\n> [a](b)\n> ```",
        "- ```\n  [a](b)\n  ```",
        "`[a](b)`",
        "`` ` [a](b) ``",
        r"\[a](b)",
        "[a] (b)",
        "[a](b\nc)",
        "[a",
    ],
)
def test_code_and_what_is_no_link_is_left_out(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "before",
    [
        "```\ncode\n```\n",
        "> ```\n> code\n\n",
        "- ```\n  code\n\n",
        "`one tick\n",
        "    code\n",
        "text\n    ",
        "- item\n\n    ",
        "| a |\n|---|\n| ",
        "# ",
        "1. ",
        "![",
    ],
)
def test_what_follows_code_is_read_again(before: str) -> None:
    assert [target for _, _, target in found(f"{before}[a](b)")] == ["b"]


def test_no_link_holds_another_one() -> None:
    assert found("[a [b](c) d](e)") == [(1, "b", "c")]


def test_links_by_reference_are_links() -> None:
    text = "[“one”][r], [R][] and [r]\n\nand [s].\n\n[r]: <a b.md#L1>\n"

    assert found(text) == [(1, "“one”", "a b.md#L1"), (1, "R", "a b.md#L1"), (1, "r", "a b.md#L1")]


def test_lines_are_those_of_the_file() -> None:
    assert [line for line, _, _ in found("[a](b)\r\n\r\n- x\n- [c](d)\ntext [e](f)")] == [1, 4, 5]


def test_a_text_that_is_too_large_is_refused() -> None:
    with pytest.raises(InvalidInput, match="5,000,001 characters"):
        links_in("a" * (MAX_CHARACTERS + 1))
    with pytest.raises(InvalidInput, match="more than 100,000 links"):
        links_in("[a](b)" * (MAX_LINKS + 1))
