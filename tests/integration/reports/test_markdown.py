"""The Markdown report of a run whose answer is hostile: its words stay words, whoever opens the file."""

from itertools import pairwise

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from runs.models import Run
from runs.reports.markdown import as_markdown
from tests import factories

pytestmark = pytest.mark.django_db
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


def parsed(answer: str) -> list[Token]:
    run = factories.finished_succeeded()
    Run.objects.filter(pk=run.pk).update(answer=answer)
    run.refresh_from_db()
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(as_markdown(run))


@pytest.mark.parametrize("answer", [*IMAGES, *OTHERS])
def test_nothing_is_fetched_or_obeyed_when_a_report_is_opened(answer: str) -> None:
    tokens = parsed(answer)
    inline = [child for token in tokens for child in token.children or []]
    assert not [token for token in [*tokens, *inline] if token.type in {"image", "html_block", "html_inline"}]


@pytest.mark.parametrize("answer", OTHERS)
def test_the_sections_after_an_answer_are_still_sections(answer: str) -> None:
    headings = [after.content for token, after in pairwise(parsed(answer)) if token.tag == "h2"]
    assert [name for name in ("Success criteria", "Decisions", "Cost") if name not in headings] == []
    assert headings.count("Outcome") == 1
