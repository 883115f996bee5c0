"""Markdown to HTML: the only way in which text of models and files becomes markup (S2)."""

from collections.abc import Sequence
from functools import lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

TOP_HEADING = 3
"""Headings of a text begin here, below the page's own h1 and h2."""

_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}


def render_markdown(text: str) -> SafeString:
    """Clean HTML of a hostile text. Raw HTML in it is shown as text, images become links, nothing carries style."""
    parser = _parser()
    tokens = parser.parse(text)
    _fit_headings(tokens)
    html = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="nofollow noopener noreferrer",
    )
    return mark_safe(clean)  # noqa: S308  cleaned on the line above


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def _fit_headings(tokens: Sequence[Token]) -> None:
    """Headings start at `TOP_HEADING` and never skip a level, so that the page's outline stays whole."""
    headings = [token for token in tokens if token.type in {"heading_open", "heading_close"}]
    highest = min((int(token.tag[1]) for token in headings), default=1)
    before = TOP_HEADING - 1
    for token in headings:
        if token.type == "heading_open":
            before = min(int(token.tag[1]) - highest + TOP_HEADING, before + 1, 6)
        token.tag = f"h{before}"
