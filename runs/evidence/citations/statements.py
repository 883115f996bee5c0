"""What a citation supports: the sentence or table row around it, its figures, and statements without any citation."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import regex

from runs.errors import InvalidInput
from runs.evidence.citations.links import MarkdownBlock, MarkdownLink, is_head, links_in
from runs.evidence.tracing import ORDINAL_MARK, TABLE_OR_FIGURE
from runs.text.dates import names_month
from runs.text.normalisation import caseless
from runs.text.numbers import numbers_in, spelled_values, value_keys
from runs.text.numerals import WORD_VALUES, in_digits
from runs.text.scripts import has_touching
from runs.text.sentences import sentence_ends

MAX_SHOWN = 600
"""Characters of a statement or paragraph that are shown."""
MAX_TOLD = 50  # statements that are reported
MAX_TOLD_CHARACTERS = 10_000
"""Citations beneath one heading, and characters of their passages, that other paragraphs there are compared with."""
MIN_CITED = 8
"""Characters that a text must have to count as a passage."""
MAX_LABEL_WORDS = 2
"""Words next to a place, such as “Also: lines 4 and 7”, with which it says no more than where something is."""

_WORD = re.compile(r"[^\W_]")
_ORDINAL = regex.compile(r"\p{Nd}(?:st|nd|rd|th|er|ère|e|ª|º)$")
_NAME = regex.compile(r"(?<=\p{Ll}[,;]?[ ])\p{Lu}[\p{L}\p{N}’'-]+(?:[ ]\p{Lu}[\p{L}\p{N}’'-]+)+")
_FULL_NAME = regex.compile(r"(?<![\p{L}\p{N}’'-])\p{Lu}[\p{L}\p{M}’'-]+(?:[ ]\p{Lu}[\p{L}\p{M}’'-]+)+")
"""Two words or more with capitals, also at the beginning of a sentence."""
_QUOTED = regex.compile(r"[“„«][^“”„«»\n]{3,400}[”“»]|\"[^\"\n]{3,400}\"")
_OPENING, _CLOSING = '“„«"', '”“»"'
_NO_LETTERS = regex.compile(r"[^\p{L}\p{N}]+")
_COUNTED_OUT = regex.compile(rf"{ORDINAL_MARK}\s?\Z")
_ITEM = regex.compile(r"^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s|\d{1,9}[、．）]|（\d{1,9}）)")
_LETTERS = regex.compile(r"\p{L}+")
_SERIES = r"\p{Nd}[\p{Nd}.]{0,20}(?:\s?[-–,、~～至到和与及と및]\s?第?\p{Nd}[\p{Nd}.]{0,20}){0,20}"
_PLACE = regex.compile(
    r"(?<![\p{L}\p{N}])(?:lines?|pages?|pp?\.|clauses?|sections?|articles?|art\.|paragraphs?|nos?\.|slides?|tables?|rows?"
    r"|columns?|cells?|footnotes?|endnotes?|comments?|headers?|footers?|chapters?|parts?|schedules?|annex(?:es)?|exhibits?"
    r"|appendix|zeilen?|seiten?|ziffern?|klauseln?|folien?|tabellen?|spalten?|zellen?|anlagen?|absatz|abs\.|nr\.|§§?)"
    r":?\s{0,3}[A-Z]{0,3}\p{Nd}[\p{Nd}.]{0,20}(?:\s{0,3}(?:to|bis|and|und|,|–|-)\s{0,3}\p{Nd}[\p{Nd}.]{0,20}){0,20}"
    r"|(?:附件|附录|附錄|附表|附图|附圖|别表|別表|别纸|別紙|別添|编号|編號|番号|页码|頁碼|行号|行號|脚注|부록|별첨|별표|각주|번호|ภาคผนวก|มาตรา"
    rf"|{TABLE_OR_FIGURE})(?:ที่)?\s?[-：:]?\s?{_SERIES}|{ORDINAL_MARK}\s?{_SERIES}\s?(?:[条條款项項章节節页頁行列段表图圖図号號조항장절쪽행호]|ページ|페이지)",
    regex.IGNORECASE,
)
_COUNTED = regex.compile(
    r"(?<![\p{L}\p{N}])"
    r"(?:\p{Nd}[\p{Nd},.]{0,15} (?:further |more )?(?:points?|findings?|files?|lines?|words?|bytes"
    r"|placeholders?|texts? addressed|(?:missing|vague) \p{L}{1,20})(?!\p{L})"
    r"|(?:in|of) \p{Nd}[\p{Nd},.]{0,15} (?:documents?|files?)(?!\p{L})"
    r"|(?:points|findings|files|lines|words)(?: in (?:all|total))?: \p{Nd}[\p{Nd},.]{0,15})",
    regex.IGNORECASE,
)
"""How much was read and found, which no source says."""


@dataclass(frozen=True)
class Statement:
    """`start` to before `end` in the text; `words` are those of it with the texts of links, `own` without the links."""

    start: int
    end: int
    words: str
    own: str

    @cached_property
    def says_something(self) -> bool:
        """Whether there is a word besides its links."""
        return _WORD.search(self.own) is not None


@dataclass(frozen=True)
class Uncited:
    """A paragraph that states facts without a citation: its lines (from 1), and its beginning."""

    first_line: int
    last_line: int
    text: str


@dataclass
class _Told:
    """What the citations beneath one heading show: their own words, and the passages that begin with these."""

    cited: list[str] = field(default_factory=list)
    passages: str = ""

    def add(self, texts: Iterable[str]) -> None:
        for text in texts:
            words = _folded(text)
            if len(self.cited) < MAX_TOLD and len(words) >= MIN_CITED:
                self.cited.append(words)
                self.passages = f"{self.passages} {words}"[:MAX_TOLD_CHARACTERS]

    def look_at(self, block: str) -> None:
        if self.cited and self.carries(block):
            self.passages = f"{self.passages} {_folded(block)}"[:MAX_TOLD_CHARACTERS]

    def carries(self, block: str) -> bool:
        """Whether the block is a quotation of which a citation shows the beginning."""
        part = block.strip()
        if not self.cited or not (part.startswith(">") or (part[:1] in _OPENING and part[-1:] in _CLOSING)):
            return False
        words = _folded(block)
        return any(words.startswith(one) or one.startswith(words) for one in self.cited)

    def has(self, quotation: str) -> bool:
        return bool(self.passages) and f" {_folded(quotation)} " in f" {self.passages} "


class Statements:
    """The statements around the links of one text. Each block is read once."""

    def __init__(self, text: str, blocks: Sequence[MarkdownBlock], links: Sequence[MarkdownLink]) -> None:
        self._text, self._blocks = text, blocks
        self._links: dict[int, list[MarkdownLink]] = {}
        for link in links:
            self._links.setdefault(link.block, []).append(link)
        self._bounds: dict[int, list[int]] = {}
        self._known: dict[tuple[int, int], Statement] = {}

    def around(self, link: MarkdownLink) -> Statement:
        """The table row, or the sentence around the link; the sentence before, if nothing else is in it."""
        bounds = self._of_block(link.block)
        at = bisect_right(bounds, link.start) - 1
        statement = self._between(link.block, bounds[at], bounds[at + 1])
        if at > 0 and not statement.says_something:
            statement = self._between(link.block, bounds[at - 1], bounds[at + 1])
        return statement

    def _of_block(self, number: int) -> list[int]:
        """Where the sentences of a block begin, and where it ends."""
        if number not in self._bounds:
            block = self._blocks[number]
            ends = [] if block.row else list(sentence_ends(self._text, block.start, block.end))
            links = self._links.get(number, [])
            starts = [link.start for link in links]
            outside = [end for end in ends if not _is_in(end, starts, links)]
            self._bounds[number] = [block.start, *(end for end in outside if end < block.end), block.end]
        return self._bounds[number]

    def _between(self, number: int, start: int, end: int) -> Statement:
        if (start, end) not in self._known:
            own, words, at = [], [], start
            links = self._links.get(number, [])
            first, last = (bisect_left(links, place, key=lambda link: link.start) for place in (start, end))
            for link in links[first:last]:
                if link.end <= end:
                    before = self._text[at : link.start]
                    own.append(before)
                    words += [before, link.text]
                    at = link.end
            rest = self._text[at:end]
            shown = " ".join("".join([*words, rest]).split())
            self._known[start, end] = Statement(start, end, shown[:MAX_SHOWN], " ".join([*own, rest]))
        return self._known[start, end]


def uncited(text: str) -> list[Uncited]:
    """The paragraphs, list items and table rows that state facts (a figure, a date, a name in the middle of a sentence,
    a quotation) and have no link. Empty for a text that is too large.

    Left out are headings and tables' first rows, what introduces a list that cites, the passage itself where the
    citation beneath the same heading begins it, and what only names words of that passage again.
    """
    try:
        blocks, links = links_in(text)
    except InvalidInput:
        return []
    cited = {link.block for link in links}
    told = _told(text, blocks, links)
    found: list[Uncited] = []
    line, counted = 1, 0
    for number, block in enumerate(blocks):
        part = text[block.start : block.end].strip("\r\n")
        line += text.count("\n", counted, block.start)
        counted = block.start
        introduces = part.rstrip().endswith(":") and number + 1 in cited
        if number in cited or introduces or _is_heading(part) or (block.row and is_head(text, block.end)):
            continue
        if _states(part, told[number]):
            shown = " ".join(part[: 4 * MAX_SHOWN].split())[:MAX_SHOWN]
            found.append(Uncited(line, line + part.count("\n"), shown))
    return found


def _told(text: str, blocks: Sequence[MarkdownBlock], links: Sequence[MarkdownLink]) -> list[_Told]:
    """For each block, what the citations under the same heading quote."""
    texts: dict[int, list[str]] = {}
    for link in links:
        texts.setdefault(link.block, []).append(link.text)
    found: list[_Told] = []
    entry = _Told()
    for number, block in enumerate(blocks):
        if number == 0 or _is_heading(text[block.start : block.start + 200]):
            entry = _Told()
        entry.add(texts.get(number, ()))
        found.append(entry)
    for entry, block in zip(found, blocks, strict=True):
        entry.look_at(text[block.start : block.end])
    return found


def figures_in(text: str) -> dict[str, frozenset[str]]:
    """The figures of a text, each as it is written first, with the values that it can mean, without their signs: a loss
    of 5 may be written as -5. Parts of words, and what is counted by its place as in 5th and 第5, are none.
    """
    found: dict[str, frozenset[str]] = {}
    for number in numbers_in(text):
        written = text[number.start : number.end]
        is_ordinal = _ORDINAL.search(written) or _COUNTED_OUT.search(text[max(number.start - 3, 0) : number.start])
        if number.unit or not is_ordinal:
            found.setdefault(written, frozenset(value_keys(number)))
    return found


def lacking(statement: str, passages: Iterable[Collection[str]]) -> list[str]:
    """The figures of a statement that are in none of the passages, of which these are the `figures_said`.

    Where something is (“line 8”, “clause 4.2”) is no figure: the citation says that.
    """
    wanted = figures_in(_PLACE.sub("", _ITEM.sub("", statement)))
    remaining = iter(passages)
    while wanted and (there := next(remaining, None)) is not None:
        wanted = {written: keys for written, keys in wanted.items() if keys.isdisjoint(there)}
    return list(wanted)


def figures_said(passage: str) -> frozenset[str]:
    """The values of the figures of a passage, in digits or in words."""
    words = {in_digits(WORD_VALUES[word]) for word in _LETTERS.findall(passage.lower()) if word in WORD_VALUES}
    if has_touching(passage):
        words |= spelled_values(passage)
    return frozenset(words.union(*figures_in(passage).values()))


def full_names(statement: str) -> list[str]:
    """The names of a statement with several words, each once, without a first word that may be no name."""
    found: dict[str, None] = {}
    words = _ITEM.sub("", statement).strip()
    for match in _FULL_NAME.finditer(words):
        name = match[0]
        found[name if match.start() or name.count(" ") == 1 else name.partition(" ")[2]] = None
    return list(found)


def words_in(text: str) -> frozenset[str]:
    """The words of a text in small letters, each once."""
    return frozenset(_LETTERS.findall(caseless(text)))


def _states(part: str, told: _Told) -> bool:
    if told.carries(part):
        return False
    words = _COUNTED.sub("", _ITEM.sub("", part))
    beside = _PLACE.sub("", words)
    if len(_LETTERS.findall(beside)) <= MAX_LABEL_WORDS:
        words = beside
    if figures_in(words) or names_month(words):
        return True
    return any(not told.has(match[0]) for kind in (_QUOTED, _NAME) for match in kind.finditer(words))


def _folded(text: str) -> str:
    """The letters and figures of a text, in single words."""
    return str(_NO_LETTERS.sub(" ", caseless(text))).strip()


def _is_heading(part: str) -> bool:
    return part.lstrip(" >").startswith("#")


def _is_in(at: int, starts: Sequence[int], links: Sequence[MarkdownLink]) -> bool:
    place = bisect_right(starts, at) - 1
    return place >= 0 and links[place].start < at < links[place].end
