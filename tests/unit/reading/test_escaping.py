"""Hostile text in a Markdown file stays words."""

import pytest
from markdown_it import MarkdownIt

from runs.reading.escaping import block, code, line

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


@pytest.mark.parametrize("text", [*HOSTILE, "```\nunclosed", "~~~~", "<div>\n\n<p>", "[ref]: http://evil.example"])
def test_a_block_ends_where_it_ends(text: str) -> None:
    rows = "\n".join([*block(text), "", "## After"])
    tokens = MarkdownIt("commonmark").parse(rows)
    top = [token.type for token in tokens if token.level == 0]
    assert top == ["blockquote_open", "blockquote_close", "heading_open", "inline", "heading_close"] or top == [
        "blockquote_open",
        "blockquote_close",
        "heading_open",
        "heading_close",
    ]
    assert not [token for token in tokens if token.type == "html_block"]


@pytest.mark.parametrize("text", ["plain", "`", "a``b`", "``` x"])
def test_code_shows_every_character(text: str) -> None:
    (_, inline, _) = MarkdownIt("commonmark").parse(f"See {code(text)}.")
    assert [child.content for child in inline.children or [] if child.type == "code_inline"] == [text]


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


@pytest.mark.parametrize("text", IMAGES)
def test_no_image_is_fetched_when_a_report_is_opened(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse("\n".join(block(text)))
    assert not [child for token in tokens for child in token.children or [] if child.type == "image"]


def test_an_image_stays_a_link_and_code_stays_code() -> None:
    assert block("![x](http://a.example/)") == ["> &#33;[x](http://a.example/)"]
    assert block("```rust\nvec![1](2)\n```") == ["> ```rust", "> vec![1](2)", "> ```"]
