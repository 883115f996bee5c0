"""A report as Markdown whose answer is hostile: its words stay words, whoever opens the file."""

from itertools import pairwise

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from runs.documents.printing.blocks import PrintableReport, ReportSection, paragraph
from runs.documents.printing.markup import blocks_here
from runs.evidence.citations.lookup import citations_in
from runs.reports.formats.markdown import as_markdown
from runs.reports.texts import linked
from tests.unit.reports.test_citing import Library

OTHERS = [
    "```\nunclosed",
    "~~~~",
    "<div>\n\n<p>",
    "<img src=http://evil.example/>",
    "# No section\n\n---\n\n## Outcome",
]
IMAGES = [
    "![x](http://evil.example/?q=1)",
    "\\![x](http://evil.example/)",
    "![a [b] c](http://evil.example/)",
    "![x][ref]\n\n[ref]: http://evil.example/",
    "![ref]\n\n[ref]: http://evil.example/",
    "![ref][]\n\n> [ref]: http://evil.example/",
    "- a\n  - ![x](http://evil.example/)",
    "| ![x](http://evil.example/) |\n|---|",
    "```\nclosed\n```\n![x](http://evil.example/)",
    "```\u2028![x](http://evil.example/)\u2028```\n![x](http://evil.example/)",
    "~~~ ![x](http://evil.example/)\n~~~",
    "    ```\n![x](http://evil.example/)\n    ```",
    "``` a`b\n![x](http://evil.example/)\n```",
]
KNOWN = "looked-up:"


def section(title: str, words: str) -> ReportSection:
    return ReportSection(title.lower(), title, (paragraph(words),))


def report(answer: str) -> PrintableReport:
    """The answer between two sections of the brief, as `outline` lays it out."""
    text = linked(answer, citations_in(answer, Library()), lambda one: f"{KNOWN}#source-{one.source}")
    main = (section("Outcome", "Succeeded"), ReportSection("answer", "Answer", blocks_here(text, KNOWN, 2)))
    sections = (*main, section("Decisions", "None"))
    return PrintableReport("Review", about="Report on run 1", main=sections, foot="The end.")


def parsed(answer: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(as_markdown(report(answer)))


def fetched_or_obeyed(tokens: list[Token]) -> list[Token]:
    inline = [child for token in tokens for child in token.children or []]
    return [token for token in [*tokens, *inline] if token.type in {"image", "html_block", "html_inline"}]


def sections(tokens: list[Token]) -> list[str]:
    return [after.content for token, after in pairwise(tokens) if (token.type, token.tag) == ("heading_open", "h2")]


@pytest.mark.parametrize("answer", [*IMAGES, *OTHERS])
def test_nothing_is_fetched_or_obeyed_when_a_report_is_opened(answer: str) -> None:
    assert fetched_or_obeyed(parsed(answer)) == []


@pytest.mark.parametrize("answer", [*IMAGES, *OTHERS])
def test_the_sections_after_an_answer_are_still_sections(answer: str) -> None:
    assert sections(parsed(answer)) == ["Outcome", "Answer", "Decisions"]
