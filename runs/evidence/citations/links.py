"""Finds the links of a Markdown text, in linear time: those that a renderer makes, and those with spaces in the target.

No Markdown parser is asked, since each call must be cheap on hostile text and say where a link stands in the characters
of the file. Code blocks and code spans are left out. Where the two ways of reading a text differ, rendering errs on the
side of a mark (see `runs.reports.markdown_html`).
"""

import html
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runs.errors import InvalidInput

MAX_CHARACTERS = 5_000_000
MAX_LINKS = 100_000
"""As long as a file that a step may write; a text with more of them is not looked through at all."""
MAX_TARGET = 4_000  # characters of an address
MAX_PARENTHESES = 16  # pairs inside an address
MAX_OPEN = 1_000  # lists, and brackets that are not closed yet
MAX_NESTED = 20
"""Characters and parentheses of a target, brackets and lists that are open at once, and list items that begin in one
line: with these the scan is linear.
"""
MAX_LABEL = 400  # characters of a reference's name
MAX_DEFINITIONS = 10_000  # of a text

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_MARKER = re.compile(r"[ \t]{0,40}(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)")
_QUOTE = re.compile(r"[ \t]{0,40}>")
_FENCE = re.compile(r"(`{3,})[^`\r\n]*$|(~{3,})")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r"=+|-+|(?:[*_-][ \t]*){3,}")
_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
_DEFINITION = re.compile(r"[ \t]{0,3}\[([^\[\]\r\n]{1,400})\]:[ \t]*(\S[^\r\n]{0,4000})")
_TOKEN = re.compile(r"\\.|`+|[\[\]]|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>", re.DOTALL)
_IN_TARGET = re.compile(r"\\.|[()\r\n]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True)
class MarkdownBlock:
    """A paragraph, list item, heading or table row: the characters from `start` to before `end`."""

    start: int
    end: int
    row: bool = False


@dataclass(frozen=True)
class MarkdownLink:
    """`start` to before `end` is all of it. `text` is Markdown; `target` is without escapes, brackets and title.

    `line` counts from 1, `block` is the place of its block among those of the text.
    """

    start: int
    end: int
    line: int
    text: str
    target: str
    block: int


@dataclass
class _Fence:
    mark: str
    depth: int
    indent: int


def blocks_in(text: str) -> tuple[list[MarkdownBlock], dict[str, str]]:
    """The blocks of a text that are not code, in order, and the targets of its reference definitions by label."""
    reader = _BlockParser(text)
    for match in _LINE.finditer(text):
        if match[0]:
            reader.take(match.start(), match[0])
    reader.close(len(text))
    return reader.blocks, reader.definitions


def links_in(text: str) -> tuple[list[MarkdownBlock], list[MarkdownLink]]:
    """The blocks of a text and the links in them, in order. Raises InvalidInput for a text that is too large."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(f"it has {len(text):,} characters, and up to {MAX_CHARACTERS:,} are looked through")
    blocks, definitions = blocks_in(text)
    if text.count("](") > MAX_LINKS:
        raise InvalidInput(f"it has more than {MAX_LINKS:,} links")
    found: list[MarkdownLink] = []
    line, counted = 1, 0
    for number, block in enumerate(blocks):
        for start, end, label, target in _links_of(text, block, definitions):
            line += text.count("\n", counted, start)
            counted = start
            found.append(MarkdownLink(start, end, line, label, _plain(target), number))
            if len(found) > MAX_LINKS:
                raise InvalidInput(f"it has more than {MAX_LINKS:,} links")
    return blocks, found


def is_head(text: str, end: int) -> bool:
    """Whether the table row that ends there is the first one: under it stands the line of dashes."""
    below = _LINE.match(text, end)
    return below is not None and "|" in below[0] and _DELIMITERS.fullmatch(below[0].lstrip(" \t>").rstrip()) is not None


class _BlockParser:
    """Reads lines one after the other; what was read of a block that is still open is kept."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[MarkdownBlock] = []
        self.definitions: dict[str, str] = {}
        self._start: int | None = None
        self._table = False
        self._depth = 0
        self._fence: _Fence | None = None
        self._lists: list[int] = []
        self._code = False

    def take(self, at: int, line: str) -> None:
        depth, after = _quotes(line)
        rest = line[after:].expandtabs(4).rstrip("\r\n")
        body = rest.lstrip(" ")
        indent = len(rest) - len(body)
        if self._fence and self._in_fence(self._fence, depth, body, indent):
            return
        if not body.strip():
            self.close(at)
            return
        self._line(at, line, depth, after, indent, body)

    def close(self, at: int) -> None:
        if self._start is not None:
            self.blocks.append(MarkdownBlock(self._start, at))
        self._start = None
        self._table = False

    def _in_fence(self, fence: _Fence, depth: int, body: str, indent: int) -> bool:
        """Whether the line belongs to the open fence. A fence ends with the quotation or the list that it is in."""
        left = depth < fence.depth or (body.strip() != "" and indent < fence.indent)
        closing = body.rstrip()
        if left or (closing and set(closing) == {fence.mark[0]} and len(closing) >= len(fence.mark)):
            self._fence = None
        return not left

    def _line(self, at: int, line: str, depth: int, after: int, indent: int, body: str) -> None:
        quotation, self._depth = depth > self._depth, depth
        marker = bool(_MARKER.match(body)) and not _is_rule(body)
        if self._start is None or marker or quotation:
            while self._lists and indent < self._lists[-1]:
                self._lists.pop()
        base = self._lists[-1] if self._lists else 0
        if self._start is None and indent - base >= 4:
            return  # indented code
        if marker:
            self.close(at)
            body = self._items(body, indent)
            base = self._lists[-1] if self._lists else 0
        if fence := _FENCE.match(body) if indent - base < 4 else None:
            self.close(at)
            self._fence = _Fence(fence[1] or fence[2], depth, base)
        else:
            self._prose(at, line, body, opens=quotation)

    def _items(self, body: str, indent: int) -> str:
        """What stands behind the markers of list items; where their contents begin is remembered."""
        for _ in range(MAX_NESTED):
            marker = _MARKER.match(body)
            if marker is None or len(self._lists) == MAX_OPEN:
                break
            behind = body[marker.end() :]
            body = behind.lstrip(" ")
            gap = len(behind) - len(body)
            indent += marker.end() + (gap if gap <= 4 else 1)
            self._lists.append(indent)
            if gap > 4:
                break
        return body

    def _prose(self, at: int, line: str, body: str, *, opens: bool) -> None:
        definition = _DEFINITION.match(body) if self._start is None else None
        if definition:
            if len(self.definitions) < MAX_DEFINITIONS:
                self.definitions.setdefault(_folded(definition[1]), definition[2])
            return
        if _HEADING.match(body):
            self.close(at)
            self.blocks.append(MarkdownBlock(at, at + len(line)))
        elif self._start is not None and "|" in body and _DELIMITERS.fullmatch(body.rstrip()):
            self.blocks.append(MarkdownBlock(self._start, at, row=True))
            self._start, self._table = None, True
        elif _RULE.fullmatch(body.rstrip()):
            self.close(at)
        elif body.startswith("|") or (self._table and "|" in body):
            table = self._table
            self.close(at)
            self._table = table
            self.blocks.append(MarkdownBlock(at, at + len(line), row=True))
        elif self._start is None or opens:
            self.close(at)
            self._start = at


def _quotes(line: str) -> tuple[int, int]:
    """How many `>` the line begins with, and where what follows them begins."""
    depth = at = 0
    while match := _QUOTE.match(line, at):
        depth, at = depth + 1, match.end()
    return depth, at + (1 if depth and line[at : at + 1] == " " else 0)


def _is_rule(body: str) -> bool:
    return body[:1] in "*-" and _RULE.fullmatch(body.rstrip()) is not None


def _links_of(text: str, block: MarkdownBlock, definitions: Mapping[str, str]) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, text and target of the links in a block."""
    runs: dict[int, list[int]] = {}  # the ends of runs of backticks by their length
    if "`" in text[block.start : block.end]:
        for run in re.compile("`+").finditer(text, block.start, block.end):
            runs.setdefault(len(run[0]), []).append(run.end())
    opened: deque[int] = deque(maxlen=MAX_OPEN)
    at = block.start
    while match := _TOKEN.search(text, at, block.end):
        found, at = match[0], match.end()
        if found[0] == "`":
            ends = runs.get(len(found), [])
            following = bisect_right(ends, match.end())
            at = ends[following] if following < len(ends) else at
        elif found == "[":
            opened.append(match.start())
        elif found == "]" and opened:
            start = opened.pop()
            label = (start + 1, match.start())
            behind = _inline(text, at, block.end) or _reference(text, label, at, definitions)
            if behind:
                target, at = behind
                opened.clear()  # no link may hold another one
                yield start, at, text[label[0] : label[1]], target


def _inline(text: str, at: int, end: int) -> tuple[str, int] | None:
    """The target in parentheses that begins here, and where the link ends."""
    if text[at : at + 1] != "(":
        return None
    depth, seen = 1, 0
    end = min(end, at + MAX_TARGET)
    if text[at + 1 : at + 2] == "<":
        angle = text.find(">", at, end)
        close = text.find(")", angle, end) if angle > 0 else -1
        return (text[at + 1 : close], close + 1) if close > 0 and "\n" not in text[at:angle] else None
    for match in _IN_TARGET.finditer(text, at + 1, end):
        char = match[0]
        seen += char in "()"
        if char in "\r\n" or seen > MAX_PARENTHESES:
            return None
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[at + 1 : match.start()], match.end()
    return None


def _reference(text: str, label: tuple[int, int], at: int, definitions: Mapping[str, str]) -> tuple[str, int] | None:
    """The target of `[text][label]`, `[text][]` or `[text]`, and where the link ends."""
    if not definitions:
        return None
    if text[at : at + 1] == "[":
        close = text.find("]", at, at + MAX_LABEL + 2)
        name = text[at + 1 : close] if close > 0 else ""
        if name.strip():
            target = definitions.get(_folded(name))
            return (target, close + 1) if target else None
        at = close + 1 if close > 0 else at
    if label[1] - label[0] > MAX_LABEL:
        return None
    target = definitions.get(_folded(text[label[0] : label[1]]))
    return (target, at) if target else None


def _folded(label: str) -> str:
    return " ".join(label.split()).casefold()


def _plain(target: str) -> str:
    """The target as it is meant: without title, angle brackets, backslashes and entities."""
    inner = target.strip()
    if inner.startswith("<") and ">" in inner:
        inner = inner[1 : inner.index(">")]
    elif inner[-1:] in {'"', "'"}:
        title = inner.rfind(inner[-1], 0, -1)
        inner = inner[:title].rstrip() if title > 0 and inner[title - 1].isspace() else inner
    return html.unescape(_ESCAPED.sub(r"\1", inner))
