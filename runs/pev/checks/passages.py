"""Finds the quoted passages of a Markdown text, each with the sources that are named next to it.

The text is parsed line by line and not rendered, which would take far longer.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from runs.errors import InvalidInput
from runs.evidence.source_names import Paths
from runs.text.patterns import Budget
from runs.text.sentences import lines_in

MAX_CHARACTERS = 5_000_000
"""The maximum that a step may write into one file."""
MIN_CHARACTERS = 12
"""Between quotation marks. Shorter ones are words that the text talks about."""
_GROUP_LINES = 200
"""Lines without an empty line between them that are searched for the name of a source."""
_FENCE = re.compile(r"\s{0,20}(?:(?:[-*+]|\d{1,9}[.)])\s{1,4})?(?P<marks>`{3,}|~{3,})")
_QUOTE = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?P<marks>(?:>\s?)+)")
_BLOCK = re.compile(r"\s*(?:[-*+]\s|\d{1,9}[.)]\s|\||#{1,6}\s)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[(?P<text>[^\[\]\n]*)\]\((?P<target><[^<>\n]*>|[^()\s]*+)(?:\s[^()\n]*+)?\)")
_QUOTED = re.compile(
    rf"„(?P<low>[^„“”\"]{{{MIN_CHARACTERS},}})[“”]"
    rf"|“(?P<high>[^„“”]{{{MIN_CHARACTERS},}})”"
    rf"|«(?P<angled>[^«»]{{{MIN_CHARACTERS},}})»"
    rf"|(?<![\w\"])\"(?=\S)(?P<straight>[^\"]{{{MIN_CHARACTERS},}})(?<=\S)\"(?!\w)"
)
_ATTRIBUTION = re.compile(r"\s*(?:[—–-]|\(|Source\b|Quelle\b)", re.IGNORECASE)
_PAIRS = {"“": "”", "„": "“”", '"': '"', "«": "»"}


class QuotedPassage(NamedTuple):
    """A quoted text, its first line, and the sources named nearest to it, if any. A citation may name a source that
    does not exist.
    """

    text: str
    line: int
    sources: tuple[str, ...]


@dataclass(frozen=True)
class _Block:
    """Lines that belong together: a paragraph, an item, a row, a heading or a block quote."""

    quote: bool
    line: int
    text: str

    @property
    def is_heading(self) -> bool:
        return not self.quote and bool(_HEADING.match(self.text))


type _Group = list[_Block]
"""Blocks without an empty line between them."""


def passages_in(text: str, paths: Paths, budget: Budget) -> Iterator[QuotedPassage]:
    """Yields block quotes and text in quotation marks, outside of code.

    The source is taken from a citation's target; otherwise from the same paragraph, item or row; otherwise from the
    lines next to it; otherwise, for a block quote, from across one empty line; otherwise from the heading above. Raises
    InvalidInput if the text is too long, and TooSlow if the budget is used up.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(f"is not read for quotes: it has {len(text):,} characters and may have {MAX_CHARACTERS:,}")
    before: _Group = []
    heading = ""
    groups = _groups(text, lambda line: any(paths.named_in(line, budget)))
    group = next(groups, None)
    while group is not None:
        after = next(groups, None)
        for number, block in enumerate(group):
            budget.left()
            if block.is_heading:
                heading = block.text
            nearest: tuple[str, ...] | None = None
            for passage in _quotes(block, paths, budget) if block.quote else _in_marks(block, paths, budget):
                if not passage.sources and nearest is None:
                    near = [*_near(group, number, before, after or []), heading]
                    nearest = next(filter(None, (_named(words, paths, budget) for words in near)), ())
                yield passage if passage.sources else passage._replace(sources=nearest or ())
        before, group = group, after


def _named(text: str, paths: Paths, budget: Budget) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths.named_in(text, budget)))


def _near(group: _Group, number: int, before: _Group, after: _Group) -> Iterator[str]:
    """Yields texts that may name the source, nearest first."""
    for blocks in (group[max(0, number - 1) : number + 2], group):
        yield "\n".join(block.text for block in blocks if not block.quote)
    if group[number].quote:
        yield "\n".join(block.text for block in (*before[-1:], *after[:1]) if not block.quote)


def _quotes(block: _Block, paths: Paths, budget: Budget) -> Iterator[QuotedPassage]:
    """Yields the paragraphs of a block quote, without a line that begins with a dash and names a source."""
    lines, sources = list[str](), list[str]()
    first = block.line
    for number, line in enumerate([*block.text.split("\n"), ""], block.line):
        linked = [*_targets(line, paths, budget)]
        named = list(paths.named_in(line, budget)) if _ATTRIBUTION.match(line) else []
        sources += linked or named
        if line.strip() and not named:
            first = first if lines else number
            lines.append(_LINK.sub(lambda match: match["text"], line))
        elif not line.strip() and lines:
            words = _unmarked(" ".join(lines), paths, budget)
            sources += paths.named_in(" ".join(lines)[len(words) :], budget) if not sources else []
            yield QuotedPassage(words, first, tuple(dict.fromkeys(sources)))
            lines, sources = [], []


def _unmarked(text: str, paths: Paths, budget: Budget) -> str:
    """Returns the words without enclosing quotation marks, after which only a source may be named."""
    text = text.strip()
    closing = max((text.rfind(mark) for mark in _PAIRS.get(text[:1], "")), default=-1)
    rest = text[closing + 1 :]
    if closing > 0 and (not rest or (_ATTRIBUTION.match(rest) and any(paths.named_in(rest, budget)))):
        return text[1:closing]
    return text


def _in_marks(block: _Block, paths: Paths, budget: Budget) -> Iterator[QuotedPassage]:
    text = _CODE.sub(lambda match: " " * len(match[0]), block.text)
    links = [(match.start(), match.end(), match) for match in _LINK.finditer(block.text)]
    counted, line = 0, block.line
    whole: tuple[str, ...] | None = None
    for match in _QUOTED.finditer(text):
        budget.left()
        line += block.text.count("\n", counted, match.start())
        counted = match.start()
        while links and links[0][1] <= match.start():
            links.pop(0)
        inside = links[0][2] if links and links[0][0] <= match.start() else None
        if inside and match.start() >= inside.end("text"):
            continue  # the title of a link
        if inside:
            target = inside["target"].strip("<>")
            sources = tuple(_targets(inside[0], paths, budget)) or (target,)
        else:
            whole = tuple(dict.fromkeys(paths.named_in(block.text, budget))) if whole is None else whole
            sources = whole
        yield QuotedPassage(match[match.lastgroup or 0], line, sources)


def _targets(text: str, paths: Paths, budget: Budget) -> Iterator[str]:
    for match in _LINK.finditer(text):
        yield from paths.named_in(match["target"].strip("<>"), budget)


def _groups(text: str, names_one: Callable[[str], bool]) -> Iterator[_Group]:
    group: _Group = []
    lines = 0
    for block in _blocks(text, names_one):
        if group and (block is None or lines > _GROUP_LINES):
            yield group
            group, lines = [], 0
        if block is not None:
            group.append(block)
            lines += block.text.count("\n") + 1
    if group:
        yield group


def _blocks(text: str, names_one: Callable[[str], bool]) -> Iterator[_Block | None]:
    """Yields the blocks in order. None stands for an empty line or for code."""
    quote, first, lines = False, 0, list[str]()
    for number, line in _without_code(text):
        marks = _QUOTE.match(line)
        if lines and (_ends(quote, marks is not None, line, names_one) or len(lines) >= _GROUP_LINES):
            yield _Block(quote, first, "\n".join(lines))
            lines = []
        if not line.strip():
            yield None
            continue
        if not lines:
            quote, first = marks is not None, number
        lines.append(line[marks.end() :] if marks else line)
    if lines:
        yield _Block(quote, first, "\n".join(lines))


def _ends(quote: bool, marked: bool, line: str, names_one: Callable[[str], bool]) -> bool:
    """Whether a block ends before this line. As in rendered Markdown, a block quote continues in lines without its
    mark.
    """
    if not line.strip() or (marked and not quote) or (not marked and _BLOCK.match(line)):
        return True
    return quote and not marked and names_one(line)


def _without_code(text: str) -> Iterator[tuple[int, str]]:
    """Yields the lines with their numbers. Lines of fenced code are replaced by empty ones."""
    fence = ""
    for number, line in enumerate(lines_in(text), 1):
        mark = _FENCE.match(line)
        if fence:
            closes = mark and line.strip() == mark["marks"] and mark["marks"].startswith(fence)
            fence = "" if closes else fence
            yield number, ""
        elif mark and "`" not in line[mark.end() :]:
            fence = mark["marks"]
            yield number, ""
        else:
            yield number, line
