"""Hostile text in a Markdown file stays words."""

import pytest
from markdown_it import MarkdownIt

from runs.readmodel.markdown_escaping import code, line

HOSTILE = [
    "# heading",
    "1. list",
    "- item",
    "> quote",
    "=====",
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "![x](http://evil.example/)",
    "a | b",
    "`tick` ``two``",
    "*a* _b_ __c__ ~~d~~",
    "&lt;b&gt; &amp;",
    "two\n\n# paragraphs",
    "back\\slash \\",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_line_reads_as_it_was_written(text: str) -> None:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    (opening, inline, closing) = parser.parse(f"{line(text)}")
    assert (opening.type, closing.type) == ("paragraph_open", "paragraph_close")
    assert {child.type for child in inline.children or []} <= {"text", "text_special"}
    assert "".join(child.content for child in inline.children or []) == " ".join(text.split())


@pytest.mark.parametrize("text", ["plain", "`", "a``b`", "``` x"])
def test_code_shows_every_character(text: str) -> None:
    (_, inline, _) = MarkdownIt("commonmark").parse(f"See {code(text)}.")
    assert [child.content for child in inline.children or [] if child.type == "code_inline"] == [text]
