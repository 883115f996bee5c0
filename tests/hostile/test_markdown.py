"""Hostile Markdown: what is dear to parse, to nest, to render and to clean; and long texts that are shown again."""

import pytest

from runs import isolation
from runs.reports import markdown_html
from tests.hostile.bounds import within

pytestmark = pytest.mark.slow

UNITS = {
    "words": "word **bold** text `x` \n\n",
    "stars": "*a **a ",
    "underscores": "_a_b",
    "strikes": "~~a ",
    "brackets": "[",
    "pairs of brackets": "[[]]",
    "links": "[a](",
    "images": "![a](",
    "references": "[a]: /x\n",
    "uses of references": "[a][b] ",
    "backticks": "`a ``b ",
    "angles": "<",
    "addresses": "<http://a",
    "tags": "<a b=",
    "entities": "&amp;&#1;",
    "quotes": ">" * 50 + "a\n",
    "lazy quotes": "> a\nb\n",
    "items": "- a\n",
    "numbers": "1. a\n",
    "tabs": "\t- a\n",
    "tables": "|a|\n|-|\n",
    "columns": "|a" * 200 + "|\n" + "|-" * 200 + "|\n",
    "headings": "# a\n",
    "rules": "---\n",
    "fences": "```\n",
    "breaks": "a  \n",
    "escapes": "\\*",
    "mixed": '**a*b_c__d~~[x](y "',
}


def each(characters: int) -> None:
    texts = {name: (unit * (characters // len(unit) + 1))[:characters] for name, unit in UNITS.items()}
    texts["nested items"] = "\n".join("  " * level + "- a" for level in range(int(characters**0.5)))
    for text in texts.values():
        markdown_html.render_markdown(text)


def long_text(characters: int, times: int) -> str:
    text = ("word **bold** [x](http://example.com/) " * (characters // 38 + 1))[:characters]
    return [markdown_html.render_markdown(text) for _ in range(times)][-1][:30]


def not_to_be_laid_out() -> str:
    markdown_html.LIMITS = isolation.Limits(megabytes=400, cpu_seconds=0.5, seconds=30)
    return markdown_html.render_markdown("[<" * 500_000)[:94]


@pytest.mark.exhaustive
def test_what_is_rendered_in_this_process_takes_no_time_and_no_memory() -> None:
    within(1.5, 50, f"{__name__}.each", markdown_html.MAX_HERE_CHARACTERS)


def test_a_long_text_is_rendered_elsewhere() -> None:
    assert within(0.5, 20, f"{__name__}.long_text", 400_000, 1) == "<p>word <strong>bold</strong> "


def test_a_text_is_rendered_once_for_all_pages_and_updates() -> None:
    assert within(1, 60, f"{__name__}.long_text", 50_000, 60) == "<p>word <strong>bold</strong> "
    assert (
        within(0.6, 60, f"{__name__}.long_text", markdown_html.MAX_HERE_CHARACTERS, 300)
        == "<p>word <strong>bold</strong> "
    )


def test_what_would_take_too_long_is_shown_as_it_is() -> None:
    shown = within(1.5, 60, f"{__name__}.not_to_be_laid_out")
    assert shown == "<p><em>This text is shown as it is: laying it out would take too long.</em></p><pre>[&lt;[&lt;"
