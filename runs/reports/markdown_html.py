"""Markdown to HTML: the only way in which text of models and files becomes markup (S2)."""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import unquote

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from runs import isolation

MAX_HERE_CHARACTERS = 10_000
"""Characters that are rendered in this process, in at most 0.15 seconds and 8 MB. Longer texts are isolated."""
LIMITS = isolation.Limits(megabytes=400, cpu_seconds=10, seconds=30)
MAX_RENDERED_BYTES = 32_000_000
"""Bytes of rendered texts that are cached: each page and each update shows most of them again."""
MAX_RENDERING = 2
"""Long texts that are rendered at the same time. The other isolated processes are for the searches of steps."""
TOP_HEADING = 3
"""The level of the highest heading of a text, below the h1 and h2 of the page."""

_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
_VALUES = {"code": {"class": {"language-mermaid"}}}
DIAGRAM = re.compile(r'<pre><code class="language-mermaid">(.*?)</code></pre>', re.DOTALL)
"""A block of Mermaid in clean HTML, with its escaped source. No text can make another element match."""
_SCHEMES = {"http", "https", "mailto"}
_HOLDERS = frozenset({"list_item_open", "blockquote_open"})
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class _RenderedMarkdown:
    """A cache of HTML by the digest of its text. Above `max_bytes` the least recently used entries are dropped."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, digest: bytes) -> bytes | None:
        with self._lock:
            html = self._kept.get(digest)
            if html is not None:
                self._kept.move_to_end(digest)
            return html

    def keep(self, digest: bytes, html: bytes) -> None:
        with self._lock:
            self._bytes += len(html) - len(self._kept.pop(digest, b""))
            self._kept[digest] = html
            while self._bytes > self._max_bytes:
                self._bytes -= len(self._kept.popitem(last=False)[1])


_rendered = _RenderedMarkdown(MAX_RENDERED_BYTES)
_turns = threading.BoundedSemaphore(MAX_RENDERING)


def render_markdown(text: str, within: str = "") -> SafeString:
    """Clean HTML of a hostile text. Raw HTML in it is shown as text, images become links, nothing carries style.

    Of the links without a scheme only those stay whose address begins with `within`, where the citations of the text
    have been looked up; any other is shown as words that say where it was to lead.

    A text that would take more than `LIMITS`, or is nested deeper than the parser reads, comes as it is, in a `pre`,
    below a sentence that says so.
    """
    data = text.encode(errors="replace")
    digest = hashlib.sha256(within.encode() + b"\0" + data).digest()
    html = _rendered.get(digest)
    if html is None and len(text) <= MAX_HERE_CHARACTERS:
        html = clean_html(data, within)
        _rendered.keep(digest, html)
    return mark_safe((_long(digest, data, within) if html is None else html).decode())  # noqa: S308  it has been cleaned or escaped


def _long(digest: bytes, data: bytes, within: str) -> bytes:
    if not _turns.acquire(timeout=LIMITS.seconds):
        return _as_it_is(data)
    try:
        html = _rendered.get(digest)
        if html is None:  # else it was rendered for someone else meanwhile
            try:
                html = isolation.run(f"{__name__}.{clean_html.__name__}", data, LIMITS, within=within)
            except (isolation.NoTurn, isolation.Interrupted):  # it says nothing of the text
                return _as_it_is(data)
            except isolation.ChildFailed:
                html = _as_it_is(data)
            _rendered.keep(digest, html)
        return html
    finally:
        _turns.release()


def _as_it_is(data: bytes, because: str = "laying it out would take too long") -> bytes:
    why = f"This text is shown as it is: {because}."
    return f"<p><em>{why}</em></p><pre>{escape(data.decode())}</pre>".encode()


def clean_html(data: bytes, within: str = "") -> bytes:
    """The rendering itself, in this process or an isolated one."""
    parser = _parser()
    tokens = parser.parse(data.decode())
    if any(token.type in _HOLDERS and token.level >= parser.options.maxNesting - 1 for token in tokens):
        return _as_it_is(data, "its lists or quotations are nested too deeply")  # the parser has left some of it out
    _fit_headings(tokens)
    for token in tokens:
        if token.children:
            _mark_strays(token.children, within)
    html = parser.renderer.render(tokens, parser.options, {})
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        tag_attribute_values=_VALUES,
        url_schemes=_SCHEMES,
        link_rel="nofollow noopener noreferrer",
    ).encode()


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def _mark_strays(tokens: list[Token], within: str) -> None:
    """Replace links without a scheme that were not looked up by their words and their target."""
    targets: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrGet("href") or "")
            known = bool(within) and target.startswith(within)
            targets.append("" if known or target.startswith("#") or _SCHEME.match(target) else target or "nowhere")
            if targets[-1]:
                token.type, token.tag, token.nesting = "text", "", 0
        elif token.type == "link_close" and (target := targets.pop()):
            token.type, token.tag, token.nesting = "text", "", 0
            token.content = f" [not looked up: {unquote(target)}]"


def _fit_headings(tokens: Sequence[Token]) -> None:
    """Let headings start at `TOP_HEADING` and skip no level, so that the outline of the page is valid."""
    headings = [token for token in tokens if token.type in {"heading_open", "heading_close"}]
    highest = min((int(token.tag[1]) for token in headings), default=1)
    before = TOP_HEADING - 1
    for token in headings:
        if token.type == "heading_open":
            before = min(int(token.tag[1]) - highest + TOP_HEADING, before + 1, 6)
        token.tag = f"h{before}"
