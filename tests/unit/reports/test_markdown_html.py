"""Markdown to clean HTML."""

import pytest

from runs.reports.markdown_html import MAX_HERE_CHARACTERS, _RenderedMarkdown, clean_html, render_markdown


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](http://evil.example/pixel.png)",
        "<style>*{display:none}</style>",
        "| a |\n|:-:|\n| <b onclick=x>y</b> |",
        "<a href='javascript:alert(1)'>x</a>",
        "<svg/onload=alert(1)>",
    ],
)
def test_nothing_acts(hostile: str) -> None:
    html = render_markdown(hostile)
    assert "<script" not in html
    assert "<img" not in html
    assert "<style" not in html
    assert "<svg" not in html
    assert "style=" not in html
    assert 'href="javascript' not in html
    assert 'href="data' not in html


def test_headings_fit_below_the_pages_own() -> None:
    assert render_markdown("# A\n\n#### B\n\n## C") == "<h3>A</h3>\n<h4>B</h4>\n<h4>C</h4>\n"


def test_links_leave_without_a_referrer() -> None:
    assert 'rel="nofollow noopener noreferrer"' in render_markdown("[x](https://example.com/)")


def test_tables_and_lists_are_kept() -> None:
    html = render_markdown("| a | b |\n|---|--:|\n| 1 | 2 |\n\n3. x")
    assert "<td>1</td>" in html
    assert '<ol start="3">' in html


def test_a_long_text_is_rendered_like_a_short_one() -> None:
    text = "# A\n\n[x](javascript:alert(1)) **b** <script>ö</script>\n\n" * (MAX_HERE_CHARACTERS // 30)
    assert render_markdown(text) == clean_html(text.encode()).decode()


def test_an_empty_text_and_half_a_surrogate_pair_are_rendered() -> None:
    assert render_markdown("") == ""
    assert render_markdown("a\ud800") == "<p>a?</p>\n"


@pytest.mark.parametrize("text", ["> " * 25 + "deep", "- " * 15 + "deep", "1. - > " * 8 + "deep"])
def test_what_is_nested_too_deeply_is_shown_as_it_is(text: str) -> None:
    html = render_markdown(text)
    assert html.startswith(
        "<p><em>This text is shown as it is: its lists or quotations are nested too deeply.</em></p>"
    )
    assert html.endswith("deep</pre>")


def test_of_rendered_texts_no_more_bytes_are_kept_than_may_be() -> None:
    rendered = _RenderedMarkdown(max_bytes=10)
    for name in (b"a", b"b", b"c"):
        rendered.keep(name, name * 5)
    assert [rendered.get(name) for name in (b"a", b"b", b"c")] == [None, b"bbbbb", b"ccccc"]
    rendered.get(b"b")
    rendered.keep(b"d", b"d")
    assert [rendered.get(name) for name in (b"b", b"c", b"d")] == [b"bbbbb", None, b"d"]
    rendered.keep(b"b", b"b" * 9)
    rendered.keep(b"e", b"e" * 11)
    assert [rendered.get(name) for name in (b"b", b"d", b"e")] == [None, None, None]
