"""Finds the words of a quote in a document, as written or as the same text, and what readers must know about the place.

Linear in the size of the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from runs.documents.model.clause_numbers import is_within, plain_number, was_within
from runs.documents.model.layout import MIN_CONFIDENCE, Block, BlockKind, MarkKind
from runs.documents.places.document import Document, PlaceName
from runs.documents.places.marked import by_whom, read_by, sureness
from runs.documents.places.views import before_changes, own_text, seen_text, with_whole_paragraphs, without_running
from runs.text.boundaries import is_whole
from runs.text.negations import with_negation
from runs.text.normalisation import MAX_CUT, Markup, find_same_text, find_words, one_spaced
from runs.text.truncate import quoted

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class SourceSpan:
    """Character offsets `start` (first) and `end` (one after the last) and the line of `start`, from 1."""

    start: int
    end: int
    line: int


def find(quote: str, text: str) -> SourceSpan | None:
    """Where the quote first occurs in the text, with runs of white space counted as one space; None if nowhere. A quote
    of white space alone occurs nowhere.
    """
    return Searched(text).find(quote)


def find_verbatim(quote: str, text: str) -> SourceSpan | None:
    """Where the quote first occurs in its own spelling, without beginning or ending inside a number or a word."""
    return Searched(text, whole=True).find(quote)


def find_quote(quote: str, text: str, markup: Markup = Markup.PLAIN) -> SourceSpan | None:
    """As `find_verbatim`, or else where the text has the same words in another spelling."""
    return find_verbatim(quote, text) or find_respelled(quote, text, markup)


def find_respelled(quote: str, text: str, markup: Markup = Markup.PLAIN) -> SourceSpan | None:
    """Where the text has the same words as the quote, however they are spelled."""
    place = find_same_text(quote, text, markup)
    return SourceSpan(*place, text.count("\n", 0, place[0]) + 1) if place else None


def find_in_words(words: str, text: str, markup: Markup = Markup.PLAIN) -> SourceSpan | None:
    """Where the text first has the same words in another spelling, possibly inside longer words."""
    place = find_words(words, text, markup)
    return SourceSpan(*place, text.count("\n", 0, place[0]) + 1) if place else None


def widened(span: SourceSpan, text: str) -> SourceSpan:
    """The place, or the whole sentence if a negation stands directly before or after it."""
    start, end = with_negation(text, span.start, span.end)
    return span if (start, end) == (span.start, span.end) else SourceSpan(start, end, text.count("\n", 0, start) + 1)


def not_found(quote: str, name: str, text: str) -> str:
    """Why a quote is not in the text of the source called `name`."""
    if find(quote, text):
        return f"{quoted(quote)} is in {name} only as a part of longer words or numbers; quote these whole"
    return f"{quoted(quote)} does not occur in {name}"


class Searched:
    """A text prepared for several look-ups, which takes its memory twice. `whole`: as in `is_whole`; after MAX_CUT
    places where it is not, the quote counts as missing.
    """

    def __init__(self, text: str, *, whole: bool = False) -> None:
        self._text = text
        self._whole = whole
        self._spaced = one_spaced(text)

    def __contains__(self, quote: str) -> bool:
        return self.find(quote) is not None

    def find(self, quote: str) -> SourceSpan | None:
        for start, end in islice(self._places(" ".join(quote.split())), MAX_CUT if self._whole else 1):
            if not self._whole or is_whole(self._text, start, end):
                return SourceSpan(start, end, self._text.count("\n", 0, start) + 1)
        return None

    def _places(self, wanted: str) -> Iterator[tuple[int, int]]:
        """The places where the text has these words, in order. Each word of the text is counted once."""
        starts = (match.start() for match in _WORD.finditer(self._text))
        rest, last = wanted.count(" "), len(wanted) - wanted.rfind(" ") - 1
        at = self._spaced.find(wanted) if wanted else -1
        counted, word = 0, next(starts, 0)
        while at >= 0:
            if passed := self._spaced.count(" ", counted, at):
                word = next(islice(starts, passed - 1, None))
            counted = at
            start = word + at - self._spaced.rfind(" ", 0, at) - 1
            if rest:
                behind = _WORD.finditer(self._text, word)
                yield start, next(islice(behind, rest, None)).start() + last
            else:
                yield start, start + last
            at = self._spaced.find(wanted, at + 1)


_BLOCK_NAME = re.compile(r"[ \t]*\[([^\[\]\n]{1,120})\][ \t]*")
_REMARKS = re.compile(r"(?:\{[^{}\n]{1,600}\}[ \t]*)+")
_NUMBER = re.compile(
    r"(?:(?:clause|section|article)\s+|§{1,2}\s*)?"
    r"((?:\([0-9a-z]{1,6}\)|[0-9]{1,4}|[a-z](?=[.)])|[ivxlc]{1,7}(?=[.)]))"
    r"(?:\.[0-9]{1,4}|\.?\([0-9a-z]{1,6}\)){0,8}[.)]?)\s+",
    re.IGNORECASE,
)
"""What `read_file` and people put before the words of a clause."""


type Place = tuple[int, int]
"""The first character and the one after the last."""


@dataclass(frozen=True)
class Passage:
    """What of a document is quoted. `misnamed`: the name before the quote, if it is not that of its place.
    `remarks` says what has to be known of the place, such as "; the document hides it"; `weak`, why a person has to
    look whether the words are what they are quoted as.
    """

    span: SourceSpan
    words: str
    where: PlaceName
    misnamed: str = ""
    remarks: str = ""
    doubts: str = ""

    @property
    def weak(self) -> str:
        misnamed = f"it is in {self.where.words}, not in {self.misnamed}" if self.misnamed else ""
        return "; ".join(filter(None, (misnamed, self.doubts)))

    @property
    def place(self) -> str:
        return f"{self.where.words}{f', not in {self.misnamed}' if self.misnamed else ''}{self.remarks}"


class _Copied(NamedTuple):
    """A quote without what `read_file` shows before its words: the name of a block, and a number."""

    words: str
    name: str = ""
    number: str = ""


def passage_in(quote: str, document: Document, name: str, within: Place | None = None) -> Passage | str | None:
    """Where the document called `name` has the quote, rather `within` these characters; or why words that it has or had
    prove nothing. None where it never had them.
    """
    for copied in _copied(quote, document):
        named = document.span_of(copied.name) if copied.name else None
        found = located(copied.words, document, named or within)
        if found is None or (copied.number and not _may_have(copied.number, document, found)):
            continue
        where = document.place_name(*found)
        if document.marks_on(*found, MarkKind.UNSEEN):
            return f"{quoted(copied.words)} cannot be seen in {name}, {where.words}: there is no ink at its place"
        whole = _with_negation(document, found)
        is_verbatim = whole == found and find_verbatim(copied.words, document.text[slice(*found)])
        found = whole
        span = SourceSpan(*found, document.text.count("\n", 0, found[0]) + 1)
        words = copied.words if is_verbatim else document.text[slice(*found)]
        misnamed = _wrong_place(copied, named, document, found)
        block = document.block_at(found[0])
        remark = was_within(block, copied.number) if block and copied.number else ""
        remarks = remarks_on(document, found) + (f"; {remark}" if remark else "")
        doubts = _doubts(document, found, of_number=bool(copied.number))
        return Passage(span, words, where, misnamed, remarks, doubts)
    return _change_of(quote, document, name)


def _with_negation(document: Document, place: Place) -> Place:
    """The place, or its sentence if a negation stands directly before it, inside the paragraphs that have it."""
    blocks = document.blocks_in(*place)
    start = min([place[0], *(block.start for block in blocks)])
    end = max([place[1], *(block.end for block in blocks)])
    found = with_negation(document.text[start:end], place[0] - start, place[1] - start)
    return found[0] + start, found[1] + start


def unmarked(quote: str) -> Iterator[str]:
    """A quote out of what `read_file` shows: as it is, without the name of a block before its words, and without its
    number.
    """
    yield quote
    name = _BLOCK_NAME.match(quote)
    words = _without_remarks(quote[name.end() :].lstrip("\n") if name else quote)
    yield words
    if number := _NUMBER.match(words):
        yield _without_remarks(words[number.end() :])


def located(quote: str, document: Document, within: Place | None = None) -> Place | None:
    """The first place that has the words, in this order: within these characters, in the text that all readers see, in
    visible text, anywhere.
    """
    if within and (inside := _inside(quote, document, within)) and not document.marks_on(*inside, MarkKind.UNSEEN):
        return inside
    found = _search(quote, document, document.text)
    if found is None or not _is_aside(document, found):
        return found
    return _search(quote, document, own_text(document)) or _search(quote, document, seen_text(document)) or found


def remarks_on(document: Document, place: Place) -> str:
    """What readers must know about these words before they rely on them, each after a semicolon."""
    remarks: list[str] = []
    for block in document.blocks_in(*place):
        if block.kind is BlockKind.COMMENT:
            remarks.append(f"a comment{by_whom(document.author_of(block))}, which is no text of the document itself")
        elif block.kind is BlockKind.FORMULAS:
            remarks.append("a formula")
    if document.marks_on(*place, MarkKind.HIDDEN):
        remarks.append("the document hides it")
    if document.marks_on(*place, MarkKind.STRUCK):
        remarks.append("struck through")
    if inserted := document.marks_on(*place, MarkKind.INSERTED):
        remarks.append(f"a tracked insertion{by_whom(inserted[0])}")
    if read := document.marks_on(*place, MarkKind.READ):
        remarks.append(read_by(read) + (" sure" if sureness(read) is not None else ""))
    return "".join(f"; {remark}" for remark in dict.fromkeys(remarks))


def _doubts(document: Document, place: Place, *, of_number: bool) -> str:
    """Why words may be no part of what the document says, though they stand in it; `of_number`, or why the number that
    was quoted with them may not be that of their clause.
    """
    doubts: list[str] = []
    if any(block.kind is BlockKind.COMMENT for block in document.blocks_in(*place)):
        doubts.append("a comment is no text of the document itself")
    if document.marks_on(*place, MarkKind.HIDDEN):
        doubts.append("who reads the document is not shown it")
    if document.marks_on(*place, MarkKind.STRUCK):
        doubts.append("it is struck through in the document")
    sure = sureness(document.marks_on(*place, MarkKind.READ))
    if sure is not None and sure < MIN_CONFIDENCE:
        doubts.append(f"it was read by OCR, and only {sure} % sure")
    block = document.block_at(place[0])
    if of_number and block and (doubt := document.doubt_about_number(block)):
        doubts.append(doubt)
    return "; ".join(doubts)


def _inside(quote: str, document: Document, within: Place) -> Place | None:
    """Words that begin or end within these characters."""
    room = 2 * len(quote) + 400
    start = max(0, within[0] - room)
    found = _place(quote, document.text[within[0] : within[1] + room])
    if found and found[0] < within[1] - within[0]:
        return found[0] + within[0], found[1] + within[0]
    found = _place(quote, document.text[start : within[1]])
    return (found[0] + start, found[1] + start) if found and found[1] + start > within[0] else None


def _search(quote: str, document: Document, text: str) -> Place | None:
    """The first place in a text with the places of the document, which lines at the edges of pages may break up."""
    if found := _place(quote, text):
        return found
    view = without_running(document, text)
    if view and (found := find_same_text(quote, view.text)):
        return view.place(*found)
    whole = with_whole_paragraphs(document, text)
    return _place(quote, whole) if whole else None


def _place(quote: str, text: str) -> Place | None:
    span = find_quote(quote, text)
    return (span.start, span.end) if span else None


def _is_aside(document: Document, place: Place) -> bool:
    kinds = {block.kind for block in document.blocks_in(*place)}
    marked = document.marks_on(*place, MarkKind.UNSEEN, MarkKind.HIDDEN)
    return bool(marked or kinds & {BlockKind.COMMENT, BlockKind.HEADER, BlockKind.FOOTER})


def _copied(quote: str, document: Document) -> Iterator[_Copied]:
    """The quote as it is, and without what may have been copied with its words."""
    yield _Copied(quote)
    lines, names = list[str](), list[str]()
    for line in quote.split("\n"):
        name = _BLOCK_NAME.match(line)
        span = document.span_of(name[1]) if name else None
        if name and span:
            names.append(name[1])
            rest = _without_remarks(line[name.end() :])
            lines.append(_without_remarks(_without_number(rest, document.block_at(span[0]))))
        else:
            lines.append(line)
    words = "\n".join(lines)
    if names:
        yield _Copied(words, names[0])
    if number := _NUMBER.match(words):
        yield _Copied(words[number.end() :], names[0] if names else "", number[1])


def _without_remarks(line: str) -> str:
    remarks = _REMARKS.match(line)
    return line[remarks.end() :] if remarks else line


def _without_number(line: str, block: Block | None) -> str:
    for number in (block.clause, block.label, block.markup) if block else ():
        if number and line.startswith(f"{number} "):
            return line[len(number) + 1 :]
    return line


def _may_have(number: str, document: Document, place: Place) -> bool:
    """Whether a quote may have had this number before it: at the beginning of a clause, and if it is no mere figure,
    the number may be a wrong one.
    """
    block = document.block_at(place[0])
    if block is None or not block.clause or document.text[block.start : place[0]].strip():
        return False
    return not number.isdecimal() or _has_number(block, number)


def _has_number(block: Block, number: str) -> bool:
    is_its = plain_number(number) == plain_number(block.label) or is_within(block.clause, number)
    return is_its or bool(was_within(block, number))


def _wrong_place(copied: _Copied, named: Place | None, document: Document, place: Place) -> str:
    if named and not (named[0] < place[1] and place[0] < named[1]):
        return copied.name
    block = document.block_at(place[0])
    if not (copied.number and block):
        return ""
    known = document.disputed_numbers(block)
    is_its = _has_number(block, copied.number) or any(is_within(copied.number, number) for number in known)
    return "" if is_its else f"clause {copied.number}"


def _change_of(quote: str, document: Document, name: str) -> str | None:
    """Who changed the words, and when, if the document had them before its tracked changes."""
    view = before_changes(document)
    found = _place(quote, view.text) if view else None
    if not (view and found):
        return None
    if made := view.deletions(*found):
        return f"{quoted(quote)} is no longer in {name}: this text was deleted{by_whom(made[0])}"
    inserted = next(iter(document.marks_on(*view.place(*found), MarkKind.INSERTED)), None)
    return f"{quoted(quote)} is no longer in {name}: words were inserted there{by_whom(inserted)}"
