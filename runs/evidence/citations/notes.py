"""Notes of a document that was made which are citations: “lease.docx, clause 4.2(b): “ten days””.

Each stands in the text at the words that it is about.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote as encoded

from runs.contracts.base import RESULT
from runs.documents.formats import format_of
from runs.documents.model.layout import Block as DocumentBlock
from runs.documents.model.layout import BlockKind
from runs.documents.places.document import ASIDE, Document, words_for
from runs.evidence.citations.links import MarkdownBlock, MarkdownLink
from runs.evidence.citations.words import Comparable, is_lossy
from runs.text.normalisation import one_spaced
from runs.text.paths import MAX_CHARACTERS

MAX_HEAD = 900
MAX_DIGITS = 5
"""Characters of a page before a quote in which its note may begin, and digits of its number."""
MAX_TRIED = 1_000_000
"""What may be the name of a source, of all notes of a document: a second or two. A text may have so many commas and
numbers before its quotes that each of them could begin a name or end one.
"""
MAX_NOTES = 20_000  # of a document
_CHARACTERS = 50
"""Characters of a head that take as long as trying one name."""
_OPENING = ": “"
_MAX_HEAD = 901
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_DIGITS = re.compile(rf"(?<!\S)(?:[0-9]+|[{RAISED}]+)(?=[^\s,“”])")
_ON_THE_LINE = str.maketrans(RAISED, "0123456789")
_FOOT = re.compile(r"(?<!\s)\s*+\d{1,5} / \d{1,5}\s*+")
_PLACE = re.compile(
    r"(?:clause|line|paragraph|pages?|slide|table|text box|footnote|endnote|comment|header|footer|notes of|chapter"
    r"|name of) (?=[^“”\d]{0,80}\d)[^“”]{1,160}(?: \(“[^“”]{0,80}”\))?"
    r"|[^!]{1,80}![A-Z]{1,3}\d{1,7}(?::[A-Z]{1,3}\d{1,7})?"
)
_LINE = re.compile(r"line (\d{1,9})")
_BROKEN_WORD = re.compile(r"(?<=[^\s][-‐/–—])\n(?=\S)")
_LINE_END = re.compile(r"(?<![^\S\n])[^\S\n]*+\n\s*+")
MAX_QUOTE = 4_000
"""Characters of a quote that is searched for in the text, and of one that is compared without some of its letters."""
_SIGNS = str.maketrans({char: f"\\{char}" for char in r"\`*_{}[]()<>#+-.!|~"} | {"&": "&amp;"})


@dataclass(frozen=True)
class CitationNote:
    """A citation as a document has it: `start` to before `end` are all of it, `at` is what people call its place.
    `number`: as the text has it at its reference, which only pages do.
    """

    start: int
    end: int
    at: str
    source: str
    place: str
    quote: str
    number: str = ""

    def may_stand_in(self, source: Comparable) -> bool:
        """Whether a source may have these words, of which a page has given some back in other letters."""
        if not self.number or len(self.quote) > MAX_QUOTE or not is_lossy(self.quote):
            return False
        return any(source.may_have(one_spaced(quote).strip()) for quote in self._spellings())

    def links(self) -> Iterator[MarkdownLink]:
        """The note as a Markdown link, then with other names and spellings that may have been meant: those of a given
        file in the run, and without line ends.
        """
        line = _LINE.fullmatch(self.place)
        anchor = encoded(f"L{line[1]}" if line else self.place, safe="")
        for prefix in ("", RESULT):
            for words in self._spellings():
                text = f"“{one_spaced(words).strip().translate(_SIGNS)}”"
                yield MarkdownLink(self.start, self.end, 0, text, f"{prefix}{encoded(self.source)}#{anchor}", 0)

    def _spellings(self) -> list[str]:
        """The quote as it may have been before its lines were broken."""
        return list(dict.fromkeys([_BROKEN_WORD.sub("", self.quote), _LINE_END.sub("", self.quote)]))


class CitationNotes(NamedTuple):
    """The notes of a document, in order. `rest`: the place from which there was too much to try; empty if nowhere."""

    found: list[CitationNote]
    rest: str = ""


def notes_in(document: Document, is_source: Callable[[str], bool]) -> CitationNotes:
    """The citations among the notes of a document. Others are left out: a note that names no place, or
    no words.
    """
    names, found = _SourceNames(is_source), list[CitationNote]()
    read = _on_page if format_of(document.layout.format).notes_on_pages else _in_note
    for block in document.layout.blocks:
        notes = read(document, block, names, int(found[-1].number or 0) if found else 0)
        if names.left < 0 or len(found) + len(notes) > MAX_NOTES:
            return CitationNotes(found, words_for(block))
        found += notes
    return CitationNotes(found)


def _in_note(document: Document, block: DocumentBlock, names: "_SourceNames", _: int) -> list[CitationNote]:
    if block.kind not in {BlockKind.FOOTNOTE, BlockKind.ENDNOTE}:
        return []
    head, opening, quote = document.text[block.start : block.end].strip().partition(_OPENING)
    is_note = opening and len(head) <= _MAX_HEAD and quote.endswith("”") and not head.startswith(("“", "”"))
    named = names.named(head) if is_note else None
    return [CitationNote(block.start, block.end, words_for(block), *named, quote[:-1])] if named else []


def _on_page(document: Document, page: DocumentBlock, names: "_SourceNames", before: int) -> list[CitationNote]:
    """Of one that goes on behind its page what stands on it is taken. Their numbers are above `before`, and rise."""
    heads: list[_Head] = []
    for found in _numbered_heads(document.text, page.start, page.end):
        if names.left < 0:
            return []
        if int(found.number) <= before or (heads and heads[-1].end == found.end):
            continue
        if named := names.known(found.head):
            before = int(found.number)
            heads.append(found._replace(named=named))
    ends = [*(one.start for one in heads[1:]), page.end]
    return [_note_at(document, page, *both) for both in zip(heads, ends, strict=False)]


def _note_at(document: Document, page: DocumentBlock, head: "_Head", end: int) -> CitationNote:
    words = document.text[head.end : end]
    close = words.rfind("”")
    quote = words[:close] if close >= 0 else _FOOT.sub("", words)
    at = f"{words_for(page)}, footnote {head.number}"
    return CitationNote(head.start, head.end + len(quote) + (close >= 0), at, *head.named, quote, head.number)


class _Head(NamedTuple):
    """What may be the beginning of a note on a page, up to its quote."""

    start: int
    end: int
    number: str
    head: str
    named: tuple[str, str] = "", ""


def _numbered_heads(text: str, start: int, end: int) -> Iterator[_Head]:
    """Where a number stands at the beginning of a word, with what follows it up to a quote; names of files may begin
    with digits too, the fewest belong to the number first. Each character of the text is looked at for one quote only.
    """
    at = text.find(_OPENING, start, end)
    while at >= 0:
        for digits in _DIGITS.finditer(text, max(start, at - MAX_HEAD), at):
            for cut in range(digits.start() + 1, min(digits.end(), digits.start() + MAX_DIGITS) + 1):
                yield _Head(digits.start(), at + len(_OPENING), on_the_line(text[digits.start() : cut]), text[cut:at])
        start = at + len(_OPENING)
        at = text.find(_OPENING, start, end)


def on_the_line(number: str) -> str:
    return number.translate(_ON_THE_LINE)


class _SourceNames:
    """Which source a head begins with. `left`: how many names are tried yet; below zero nothing is found any more."""

    def __init__(self, is_source: Callable[[str], bool]) -> None:
        self._is_source = is_source
        self.left = MAX_TRIED

    def named(self, head: str) -> tuple[str, str] | None:
        """The source and the place that a note begins with: an existing source, or something in the form of a place."""
        places = (pair for pair in self._split_head(head) if _PLACE.fullmatch(pair[1]))
        return self.known(head) or next(places, None)

    def known(self, head: str) -> tuple[str, str] | None:
        is_source = self._is_source
        return next(
            (pair for pair in self._split_head(head) if is_source(pair[0]) or is_source(RESULT + pair[0])), None
        )

    def _split_head(self, head: str) -> Iterator[tuple[str, str]]:
        """The text before and after each comma. A line may have been broken where a name has no space."""
        self.left -= 1 + len(head) // _CHARACTERS
        if "," not in head:
            return
        joined = _LINE_END.sub("", head) if "\n" in head else head
        for one in dict.fromkeys([one_spaced(head), joined]):
            for at in re.finditer("(?<=.), (?=.)", one):
                self.left -= 1
                if self.left < 0 or at.start() > MAX_CHARACTERS:
                    break
                yield one[: at.start()], one[at.end() :]


MAX_SEARCHED = 50_000_000
"""Characters of a document that are searched for the words that its notes are about."""
_COMPARING = 100
"""Comparing one word takes as long as searching so many characters."""
_SPACE = re.compile(r"\s++")
_BEHIND = re.compile(rf"”\s*+(\d++|[{RAISED}]*+)")
_RAISED = frozenset(RAISED)
_LINES = re.compile(r"[^\n]+\n?")
_SHORT = 0.75


class Placed(NamedTuple):
    """Paragraphs, and a link for each note: at the quoted words of the text that it is about where these stand there,
    so that their sentence is the statement that they carry; else where the note is. `sought`: of so many notes the
    words were looked for; there was too much to be searched for the others.
    """

    blocks: list[MarkdownBlock]
    links: list[MarkdownLink]
    sought: int


def placed_in(document: Document, notes: Sequence[CitationNote]) -> Placed:
    """The places of these notes, in order."""
    on_pages = format_of(document.layout.format).notes_on_pages
    blocks = list(
        _paragraphs(document, notes) if on_pages else (MarkdownBlock(*one[2:4]) for one in document.layout.blocks)
    )
    starts = [one.start for one in blocks]
    ends = [match.start() for match in re.finditer("\n", document.text)]
    searched, found, at, sought = _Searched(document.text), list[MarkdownLink](), 0, 0
    for note in notes:
        place = searched.find(note, at)
        sought += searched.left > 0
        link = next(note.links())
        if place and (on_pages or not _is_aside(document, place[0])):
            at = place[1]
            link = replace(link, start=place[0], end=at)
        line = bisect_right(ends, link.start) + 1
        found.append(replace(link, line=line, block=bisect_right(starts, link.start) - 1))
    return Placed(blocks, found, sought)


class _Searched:
    """Finds quoted words in a text as long as the allowance lasts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.left = MAX_SEARCHED

    def find(self, note: CitationNote, at: int) -> tuple[int, int] | None:
        """Where the quoted words of a note occur next, with its number if that follows them."""
        first, *others = note.quote[:MAX_QUOTE].split() or [""]
        wanted = f"“{first}"
        while self.left > 0:
            start = self._text.find(wanted, at)
            self.left -= (start if start >= 0 else len(self._text)) - at + len(wanted) + _COMPARING
            if start < 0:
                return None
            if end := self._end(start + len(wanted), others, note):
                return start, end
            at = start + 1
        return None

    def _end(self, at: int, words: Sequence[str], note: CitationNote) -> int:
        """The end of the quotation in which these words stand; 0 if others do."""
        for word in words:
            space = _SPACE.match(self._text, at)
            begin, at = at, space.end() if space else at
            self.left -= _COMPARING + at - begin
            if not (space and self._text.startswith(word, at)):
                return 0
            at += len(word)
        if len(note.quote) > MAX_QUOTE:
            return at
        behind = _BEHIND.match(self._text, at)
        self.left -= behind.end() - at if behind else 0
        if behind is None or (note.number and on_the_line(behind[1]) != note.number):
            return 0
        return behind.end() if note.number or behind[1][:1] in _RAISED else at + 1


def _is_aside(document: Document, at: int) -> bool:
    block = document.block_at(at)
    return block is not None and block.kind in ASIDE


def _paragraphs(document: Document, notes: Sequence[CitationNote]) -> Iterator[MarkdownBlock]:
    """Paragraphs of pages, whose lines are no paragraphs: each ends with a line much shorter than the others."""
    begun = [note.start for note in notes]
    for page in document.layout.blocks:
        lines = [(line.start(), line.end()) for line in _LINES.finditer(document.text, page.start, page.end)]
        longest = max((end - start for start, end in lines), default=0)
        ends = {end for start, end in lines if end - start < longest * _SHORT}
        ends.update(begun[bisect_right(begun, page.start) : bisect_left(begun, page.end)])
        edges = sorted({page.start, page.end, *ends})
        yield from (MarkdownBlock(start, end) for start, end in pairwise(edges))
