"""The notes of a document that was made which are citations: “lease.docx, clause 4.2(b): “ten days””."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote as encoded

import regex

from runs.pev.citations.links import Block, Link
from runs.pev.contracts import RESULT
from runs.pev.documents.document import ASIDE, Document, words_for
from runs.pev.documents.layout import BlockKind
from runs.pev.texts.wording import one_spaced

MAX_SEARCHED = 50_000_000
"""Characters of a document in which the words are looked for that its notes are about."""
MAX_HEAD = 900
MAX_DIGITS = 5
MAX_TRIED = 200_000
"""Characters of a page before a quote in which its note may begin, digits of its number, and how often one is tried."""
_OPENING = ": “"
_NOTE = re.compile(r"\s*(?P<head>[^\s“”](?:(?!: “)[\s\S]){1,900}): “(?P<quote>[\s\S]+)”\s*")
_DIGITS = re.compile(r"(?<!\S)[0-9]+(?=[^\s,“”])")
_FOOT = re.compile(r"(?<!\s)\s*+\d{1,5} / \d{1,5}\s*+")
_PLACE = re.compile(
    r"(?:clause|line|paragraph|pages?|slide|table|text box|footnote|endnote|comment|header|footer|notes of|chapter"
    r"|name of) [^“”]{0,80}\d[^“”]{0,80}(?: \(“[^“”]{0,80}”\))?|[^!]{1,80}![A-Z]{1,3}\d{1,7}(?::[A-Z]{1,3}\d{1,7})?"
)
_LINE = re.compile(r"line (\d{1,9})")
_BROKEN_WORD = re.compile(r"(?<=[^\s][-‐/–—])\n(?=\S)")
_LINE_END = re.compile(r"(?<![^\S\n])[^\S\n]*+\n\s*+")
_LINES = re.compile(r"[^\n]+\n?")
_SHORT = 0.75
_OTHER_SCRIPT = r"[^\p{Latin}\p{Greek}\p{Cyrillic}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Common}\p{Inherited}]"
_LOSSY = regex.compile(rf"{_OTHER_SCRIPT}|f[fil]+|\[(?:[a-z0-9-]+ )*[a-z0-9-]+\]")
IN_OTHER_LETTERS = regex.compile(rf"{_OTHER_SCRIPT}|[\uFB00-\uFB06]|\p{{So}}")
"""What a source has of which a page may not give back the words as they are there."""
_MIN_FIRM = 4
"""Letters of a quote that have to be comparable; of fewer it counts that its source has letters that are not."""
_ROOM = 4
"""Characters of a source for each of a page between two parts that are alike in both, and so many more."""
_MAX_PLACES = 1_000
_MAX_SOUGHT = 4_000
"""Characters of a quote that are looked for in the text."""
_SIGNS = str.maketrans({char: f"\\{char}" for char in r"\`*_{}[]()<>#+-.!|~"} | {"&": "&amp;"})


@dataclass(frozen=True)
class Note:
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

    def may_stand_in(self, text: str) -> bool:
        """Whether a text, whose words have one space between them, may have these words, of which a page has given
        some back in other letters: of scripts whose letters are joined or reordered, of joined Latin letters, and of
        signs that are printed as their names. All else of the quote stands there, with such letters between.
        """
        if not self.number or not _LOSSY.search(self.quote):
            return False
        return any(_stands_in(one_spaced(quote).strip(), text) for quote in self._spellings())

    def words(self) -> re.Pattern[str]:
        """What finds the quoted words in the text, with the number of the note if that stands there."""
        words = r"\s+".join(map(re.escape, self.quote[:_MAX_SOUGHT].split()))
        if len(self.quote) > _MAX_SOUGHT:
            return re.compile(f"“{words}")
        return re.compile(rf"“{words}”\s*{self.number}(?!\d)" if self.number else f"“{words}”")

    def links(self) -> Iterator[Link]:
        """It as a link of Markdown; then with other names and spellings that may have been meant: as the run has left
        a given file, and without the ends of lines.
        """
        line = _LINE.fullmatch(self.place)
        anchor = encoded(f"L{line[1]}" if line else self.place, safe="")
        for prefix in ("", RESULT):
            for words in self._spellings():
                text = f"“{one_spaced(words).strip().translate(_SIGNS)}”"
                yield Link(self.start, self.end, 0, text, f"{prefix}{encoded(self.source)}#{anchor}", 0)

    def _spellings(self) -> list[str]:
        """The quote as it may have been before its lines were broken."""
        return list(dict.fromkeys([_BROKEN_WORD.sub("", self.quote), _LINE_END.sub("", self.quote)]))


def _stands_in(quote: str, text: str) -> bool:
    parts = _firm_parts(quote)
    if sum(map(str.isalnum, "".join(part for part, _ in parts))) < _MIN_FIRM:
        return IN_OTHER_LETTERS.search(text) is not None
    at = text.find(parts[0][0])
    for _ in range(_MAX_PLACES):
        if at < 0 or _follows(parts, text, at):
            return at >= 0
        at = text.find(parts[0][0], at + 1)
    return False


def _firm_parts(quote: str) -> list[tuple[str, str]]:
    """What stands between such letters, each part with those that stand before it."""
    parts: list[tuple[str, str]] = []
    before, at = "", 0
    for start, end in [*(match.span() for match in _LOSSY.finditer(quote)), (len(quote), len(quote))]:
        if part := quote[at:start].strip():
            parts.append((part, before))
            before = ""
        before, at = before + quote[start:end], end
    return parts


def _follows(parts: Sequence[tuple[str, str]], text: str, at: int) -> bool:
    """Whether the parts stand there one after the other, and what is between them as it is or in other letters."""
    at += len(parts[0][0])
    for part, before in parts[1:]:
        found = text.find(part, at, at + _ROOM * len(before) + _ROOM + len(part))
        between = text[at:found].strip()
        if found < 0 or not (between == before.strip() or IN_OTHER_LETTERS.search(between)):
            return False
        at = found + len(part)
    return True


def notes_in(document: Document, is_source: Callable[[str], bool]) -> list[Note]:
    """The citations among the notes of a Word or a PDF document, in order. Others are left out: a note that names no
    place, or no words.
    """
    if document.layout.format == "pdf":
        return list(_on_pages(document, is_source))
    found: list[Note] = []
    for block in document.layout.blocks:
        if block.kind in {BlockKind.FOOTNOTE, BlockKind.ENDNOTE}:
            match = _NOTE.fullmatch(document.text, block.start, block.end)
            if match and (named := _named(match["head"], is_source)):
                found.append(Note(block.start, block.end, words_for(block), *named, match["quote"]))
    return found


def _on_pages(document: Document, is_source: Callable[[str], bool]) -> Iterator[Note]:
    """Of one that goes on behind its page what stands on it is taken."""
    before, left = 0, MAX_TRIED
    for page in document.layout.blocks:
        heads: list[_Head] = []
        for found in _numbered(document.text, page.start, page.end):
            if int(found.number) <= before or left <= 0 or (heads and heads[-1].end == found.end):
                continue
            left -= 1
            if named := _known(found.head, is_source):
                before = int(found.number)
                heads.append(found._replace(named=named))
        ends = [*(one.start for one in heads[1:]), page.end]
        for one, end in zip(heads, ends, strict=False):
            words = document.text[one.end : end]
            close = words.rfind("”")
            quote = words[:close] if close >= 0 else _FOOT.sub("", words)
            at = f"{words_for(page)}, footnote {one.number}"
            yield Note(one.start, one.end + len(quote) + (close >= 0), at, *one.named, quote, one.number)


class _Head(NamedTuple):
    """What may be the beginning of a note on a page, up to its quote."""

    start: int
    end: int
    number: str
    head: str
    named: tuple[str, str] = "", ""


def _numbered(text: str, start: int, end: int) -> Iterator[_Head]:
    """Where a number stands at the beginning of a word, with what follows it up to a quote; names of files may begin
    with digits too, the fewest belong to the number first. Each character of the text is looked at for one quote only.
    """
    at = text.find(_OPENING, start, end)
    while at >= 0:
        for digits in _DIGITS.finditer(text, max(start, at - MAX_HEAD), at):
            for cut in range(digits.start() + 1, min(digits.end(), digits.start() + MAX_DIGITS) + 1):
                yield _Head(digits.start(), at + len(_OPENING), text[digits.start() : cut], text[cut:at])
        start = at + len(_OPENING)
        at = text.find(_OPENING, start, end)


def _named(head: str, is_source: Callable[[str], bool]) -> tuple[str, str] | None:
    """The source and the place that a note begins with: a source that there is, or what looks like a place."""
    places = (pair for pair in _parted(head) if _PLACE.fullmatch(pair[1]))
    return _known(head, is_source) or next(places, None)


def _known(head: str, is_source: Callable[[str], bool]) -> tuple[str, str] | None:
    return next((pair for pair in _parted(head) if is_source(pair[0]) or is_source(RESULT + pair[0])), None)


def _parted(head: str) -> Iterator[tuple[str, str]]:
    """What stands before each comma, and behind it. A long line may have been broken where the name has no space."""
    for one in dict.fromkeys([one_spaced(head), _LINE_END.sub("", head)]):
        yield from ((one[: at.start()], one[at.end() :]) for at in re.finditer("(?<=.), (?=.)", one))


def placed_in(document: Document, notes: Sequence[Note]) -> tuple[list[Block], list[Link]]:
    """Paragraphs, and a link for each note: at the quoted words of the text that it is about where these stand there,
    so that their sentence is the statement that they carry; else where the note is.
    """
    on_pages = document.layout.format == "pdf"
    blocks = list(_paragraphs(document, notes) if on_pages else (Block(*one[2:4]) for one in document.layout.blocks))
    starts = [one.start for one in blocks]
    ends = [match.start() for match in re.finditer("\n", document.text)]
    found: list[Link] = []
    at, left = 0, MAX_SEARCHED
    for note in notes:
        match = note.words().search(document.text, at) if left > 0 else None
        left -= (match.end() if match else len(document.text)) - at
        link = next(note.links())
        if match and (on_pages or not _is_aside(document, match.start())):
            at = match.end()
            link = replace(link, start=match.start(), end=at)
        line = bisect_right(ends, link.start) + 1
        found.append(replace(link, line=line, block=bisect_right(starts, link.start) - 1))
    return blocks, found


def _is_aside(document: Document, at: int) -> bool:
    block = document.block_at(at)
    return block is not None and block.kind in ASIDE


def _paragraphs(document: Document, notes: Sequence[Note]) -> Iterator[Block]:
    """Those of pages, whose lines are no paragraphs: each ends with a line that is much shorter than others are."""
    begun = [note.start for note in notes]
    for page in document.layout.blocks:
        lines = [(line.start(), line.end()) for line in _LINES.finditer(document.text, page.start, page.end)]
        longest = max((end - start for start, end in lines), default=0)
        ends = {end for start, end in lines if end - start < longest * _SHORT}
        ends.update(begun[bisect_right(begun, page.start) : bisect_left(begun, page.end)])
        edges = sorted({page.start, page.end, *ends})
        yield from (Block(start, end) for start, end in pairwise(edges))
