"""The notes of a document that was made which are citations: “lease.docx, clause 4.2(b): “ten days””."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote as encoded

from runs.pev.citations.letters import is_lossy, stands_in
from runs.pev.citations.links import Link
from runs.pev.contracts import RESULT
from runs.pev.documents.document import Document, words_for
from runs.pev.documents.layout import BlockKind
from runs.pev.texts.wording import one_spaced

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
        some back in other letters.
        """
        if not self.number or not is_lossy(self.quote):
            return False
        return any(stands_in(one_spaced(quote).strip(), text) for quote in self._spellings())

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
