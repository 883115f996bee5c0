"""Markdown as people read it where it is not rendered."""

import pytest

from runs.text.plain_markdown import plain_line, readable, without_markup
from tests.hostile.bounds import within


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("- **Recommendation:** name the [index](<lease.md#L3>)", "Recommendation: name the index"),
        ("## 3. Rent", "3. Rent"),
        ("> 1. `TBD` \\[date\\]", "TBD [date]"),
        ("| F1 | no date | high |", "F1 · no date · high"),
        ("- [x] done", "done"),
        ("-5 degrees", "-5 degrees"),
    ],
)
def test_a_line_of_markdown_is_shown_as_text(line: str, words: str) -> None:
    assert plain_line(line) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("**Each** point quotes [its clause](lease%20one.md#L3)", "Each point quotes its clause"),
        ("`rows.csv` has a row for each of contracts/**/*.md", "rows.csv has a row for each of contracts/**/*.md"),
        ("2 ** 3 and [an index]", "2 ** 3 and [an index]"),
        (r"The title is \<i>Lease\</i>, by \[A-Z\]", r"The title is <i>Lease</i>, by \[A-Z\]"),
    ],
)
def test_a_text_loses_its_marks_and_nothing_else(text: str, words: str) -> None:
    assert without_markup(text) == words


def test_a_line_keeps_where_its_links_lead() -> None:
    line = "- **Rent:** [“2,400”](<Service agreement.md#L3>), [“May”](Lease%20one.docx#p4)"
    assert readable(r"\<i>Rent\</i>") == "<i>Rent</i>"
    assert readable(line) == "- Rent: “2,400” (Service agreement.md#L3), “May” (Lease one.docx#p4)"


@pytest.mark.slow
def test_hostile_texts_are_read_within_limits() -> None:
    texts = [piece * 20_000 for piece in ("[", "[a](", "[a](<", "**", "**a", "**a ", "`", "![", "[a](b")]
    within(1, 50, "tests.work.each", "runs.text.plain_markdown.readable", [(text,) for text in texts])
