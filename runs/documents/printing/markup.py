"""Converts Markdown of models, files and people to blocks. Long texts are parsed in an isolated process."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from pydantic import TypeAdapter

from runs import isolation
from runs.documents.printing.blocks import (
    Block,
    Diagram,
    Heading,
    HorizontalRule,
    Items,
    Paragraph,
    Preformatted,
    Quotation,
    Span,
    Spans,
    TableBlock,
    paragraph,
    span,
)
from runs.text.visible import visible_text

MAX_HERE_CHARACTERS = 5_000
"""Up to this total length, the texts of a report are parsed in this process, which takes at most 0.2 seconds."""
LIMITS = isolation.Limits(megabytes=600, cpu_seconds=10, seconds=30, output=60_000_000)
OUTSIDE = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
"""Addresses that links may have without having been looked up."""

MAX_NESTING = 20
"""Nested lists, list items and quotations. The parser leaves out what is deeper. A higher limit would make it take
seconds on brackets that are never closed.
"""
DEEPEST = 8
"""Levels of lists and quotations that are indented. Pages are too narrow for more, and typst has a limit too."""
TOO_DEEP = paragraph("What is nested deeper in lists or quotations is left out here.", tone="muted")

_HOLDERS = frozenset({"list_item_open", "blockquote_open"})

type Read = list[tuple[Block, ...]]

_read: TypeAdapter[Read] = TypeAdapter(list[tuple[Block, ...]])


def blocks_of(texts: Sequence[str], known: str, top: Sequence[int]) -> Read:
    """Returns the blocks of each text. Links that begin with `known` were looked up, and lead to the rest of their
    address.

    `top`: for each text, the level at which its headings begin; 0 turns headings into paragraphs. Texts that would
    exceed `LIMITS` are returned unformatted.
    """
    data = json.dumps({"texts": texts, "known": known, "top": top}).encode()
    if sum(map(len, texts)) <= MAX_HERE_CHARACTERS:
        return _blocks_of(data)
    try:
        return _read.validate_json(isolation.run(f"{__name__}.{parsed.__name__}", data, LIMITS))
    except isolation.ChildFailed:
        why = paragraph("This text is shown as it is: laying it out would take too long.", tone="muted")
        return [(why, Preformatted(visible_text(text.replace(known, "")))) if text.strip() else () for text in texts]


def parsed(data: bytes) -> bytes:
    """Entry point of the isolated process."""
    return _read.dump_json(_blocks_of(data))


def _blocks_of(data: bytes) -> Read:
    given = json.loads(data)
    return [blocks_here(text, given["known"], top) for text, top in zip(given["texts"], given["top"], strict=True)]


def blocks_here(text: str, known: str, top: int, nesting: int = MAX_NESTING) -> tuple[Block, ...]:
    """Like `blocks_of` for one text in this process, for callers that are isolated themselves.

    The result begins with `TOO_DEEP` if something was left out.
    """
    tokens = _parser(nesting).parse(text)
    found = tuple(_MarkdownReader(known, top).blocks(SyntaxTreeNode(tokens).children))
    left_out = any(token.type in _HOLDERS and token.level >= nesting - 1 for token in tokens)
    return (TOO_DEEP, *found) if left_out else found


@lru_cache(maxsize=2)
def _parser(nesting: int) -> MarkdownIt:
    options = {"html": False, "maxNesting": nesting}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("image")


class _MarkdownReader:
    """Converts the syntax tree of one text."""

    def __init__(self, known: str, top: int) -> None:
        self._known = known
        self._top = top
        self._before = top - 1
        self._highest = 0
        self._depth = 0

    def blocks(self, nodes: Sequence[SyntaxTreeNode]) -> Iterator[Block]:
        for node in nodes:
            match node.type:
                case "paragraph":
                    yield Paragraph(self._inline(node))
                case "heading":
                    yield self._heading(node)
                case "bullet_list" | "ordered_list":
                    start = node.attrs.get("start", 1) if node.type == "ordered_list" else None
                    yield from self._items(node, None if start is None else int(start))
                case "blockquote":
                    inside = self._inside(node.children)
                    yield from inside if self._depth >= DEEPEST else [Quotation(inside)]
                case "fence" if node.info.split()[:1] == ["mermaid"]:
                    yield Diagram(visible_text(node.content.rstrip("\n")))
                case "fence" | "code_block":
                    yield Preformatted(visible_text(node.content.rstrip("\n")))
                case "hr":
                    yield HorizontalRule()
                case "table":
                    yield self._table(node)
                case other:
                    raise ValueError(f"no block for {other}")

    def _items(self, node: SyntaxTreeNode, start: int | None) -> Iterator[Block]:
        """A list. Below the maximum depth, its items become paragraphs that begin with their marker."""
        rows = tuple(self._inside(item.children) for item in node.children)
        if self._depth < DEEPEST:
            yield Items(rows, start)
            return
        for number, row in enumerate(rows, start or 0):
            mark = Span("• " if start is None else f"{number}. ")
            first = row[0].spans if row and isinstance(row[0], Paragraph) else ()
            yield Paragraph((mark, *first))
            yield from row[1:] if first else row

    def _inside(self, nodes: Sequence[SyntaxTreeNode]) -> tuple[Block, ...]:
        self._depth += 1
        found = tuple(self.blocks(nodes))
        self._depth -= 1
        return found

    def _heading(self, node: SyntaxTreeNode) -> Block:
        words = self._inline(node)
        if not self._top:
            return Paragraph(tuple(Span(one.text, strong=True, code=one.code, to=one.to) for one in words))
        depth = int(node.tag[1])
        self._highest = min(self._highest or depth, depth)
        self._before = min(self._top + depth - self._highest, self._before + 1, 6)
        return Heading(self._before, words)

    def _table(self, node: SyntaxTreeNode) -> TableBlock:
        rows = [tuple(self._inline(cell) for cell in row.children) for part in node.children for row in part.children]
        return TableBlock("Table", rows[0], tuple(rows[1:]))

    def _inline(self, node: SyntaxTreeNode) -> Spans:
        return tuple(_joined(one for child in node.children for one in self._spans(child.children, Span(""))))

    def _spans(self, nodes: Sequence[SyntaxTreeNode], look: Span) -> Iterator[Span]:
        for node in nodes:
            match node.type:
                case "text" | "text_special":
                    yield _as(look, node.content)
                case "softbreak":
                    yield _as(look, " ")
                case "hardbreak":
                    yield _as(look, "\n")
                case "code_inline":
                    yield Span(
                        visible_text(node.content), look.strong, look.emphasis, look.struck, code=True, to=look.to
                    )
                case "strong":
                    yield from self._spans(node.children, Span("", True, look.emphasis, look.struck, to=look.to))
                case "em":
                    yield from self._spans(node.children, Span("", look.strong, True, look.struck, to=look.to))
                case "s":
                    yield from self._spans(node.children, Span("", look.strong, look.emphasis, True, to=look.to))
                case "link":
                    yield from self._link(node, look)
                case other:
                    raise ValueError(f"no span for {other}")

    def _link(self, node: SyntaxTreeNode, look: Span) -> Iterator[Span]:
        target = str(node.attrs.get("href") or "")
        known = target.startswith(self._known)
        to = target.removeprefix(self._known) if known else target if OUTSIDE.match(target) else ""
        yield from self._spans(node.children, Span("", look.strong, look.emphasis, look.struck, to=to))
        if not to:
            yield _as(look, f" [not looked up: {unquote(target) or 'nowhere'}]")


def _as(look: Span, text: str) -> Span:
    return Span(visible_text(text), look.strong, look.emphasis, look.struck, to=look.to)


def _joined(found: Iterator[Span]) -> Iterator[Span]:
    """Joins neighbouring spans of the same style."""
    held: Span | None = None
    for one in found:
        same = held and (held.strong, held.emphasis, held.struck, held.code, held.to) == (
            (one.strong, one.emphasis, one.struck, one.code, one.to)
        )
        if held and same:
            held = Span(held.text + one.text, one.strong, one.emphasis, one.struck, one.code, one.to)
            continue
        if held:
            yield held
        held = one
    if held:
        yield held


def quotation(text: str) -> Span:
    """Returns words from a source in quotation marks."""
    return span(f"“{text}”")
