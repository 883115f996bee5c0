"""A document's text as it is shown to models: each block with its anchor, its number and remarks on it."""

from collections.abc import Iterator
from typing import NamedTuple

from runs.documents.model.clause_numbers import was_within
from runs.documents.model.layout import Block, BlockKind, Deletion, Mark, MarkKind
from runs.documents.places.document import Document
from runs.text.plural import pluralize
from runs.text.truncate import truncate_line

MAX_FLAGS = 12
"""Flags of one kind before one block. Further ones are only counted."""
MAX_WORDS = 121
"""Characters of the words that a flag quotes, including the ellipsis where they are cut off."""
UNSEEN = "invisible in the document: proves nothing"
_KINDS = {
    BlockKind.FORMULAS: "formulas",
    BlockKind.SPEAKER_NOTES: "speaker notes",
    BlockKind.TEXT_BOX: "text box",
    BlockKind.FOOTNOTE: "footnote",
    BlockKind.ENDNOTE: "endnote",
    BlockKind.HEADER: "header",
    BlockKind.FOOTER: "footer",
    BlockKind.CHART: "chart",
}


class MarkedLines(NamedTuple):
    """Whole lines of a text, from `start` to before `end`. `head` is shown before them and is not part of the text."""

    head: str
    start: int
    end: int
    first_line: int
    last_line: int


def pieces(document: Document, first_line: int, last_line: int) -> Iterator[MarkedLines]:
    """Yields these lines (numbered from 1) block by block. A form feed before a page belongs to no block."""
    text = document.text
    start = offset_of(text, first_line)
    line, seen = first_line, None
    while line <= last_line and start <= len(text):
        end, last = _end_of_line(text, start), line
        block = _begins_in(document, start, end)
        while last < last_line and end < len(text):
            following = _end_of_line(text, end + 1)
            if _begins_in(document, end + 1, following) is not block:
                break
            end, last = following, last + 1
        begun = start + (text[start : start + 1] == "\f")
        head = _head(document, block, begun, end) if block and block is not seen else ""
        yield MarkedLines(head, begun, end, line, last)
        seen, start, line = block, end + 1, last + 1


def marked_text(document: Document, limit: int) -> str:
    """Returns the first `limit` characters of a document's text, with anchors and remarks before the blocks."""
    parts: list[str] = []
    left = limit
    for piece in pieces(document, 1, document.text.count("\n") + 1):
        parts.append((piece.head + document.text[piece.start : piece.end])[: max(left, 0)])
        left -= len(parts[-1]) + 1
        if left <= 0:
            break
    return "\n".join(parts)


def offset_of(text: str, line: int) -> int:
    """Returns the offset of a line (numbered from 1), or the end of the text if it has fewer lines."""
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text) + 1
    return at


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _begins_in(document: Document, start: int, end: int) -> Block | None:
    """Returns the block that has part of a line. A line outside all blocks belongs to the block before it."""
    found = document.block_at(start)
    if found and (start < found.end or found.start == found.end == start):
        return found
    following = document.block_at(end)
    return following if following and following.start >= start and following is not found else found


def _head(document: Document, block: Block, start: int, end: int) -> str:
    flags = "".join(f"{{{flag}}} " for flag in _flags(document, block, start, end))
    if block.kind is BlockKind.PAGE:
        label = f" “{block.label}”" if block.label else ""
        return f"[{block.anchor}]{label} {flags}".rstrip() + "\n"
    number = block.clause or block.label
    return f"[{block.anchor}] {number + ' ' if number else ''}{flags}"


def _flags(document: Document, block: Block, start: int, end: int) -> Iterator[str]:
    if block.kind is BlockKind.COMMENT:
        yield f"comment{by_whom(document.author_of(block))}"
    if block.kind in _KINDS:
        yield _KINDS[block.kind]
    if block.markup:
        yield was_within(block, block.markup)
    for kind, name in (
        (MarkKind.HIDDEN, "hidden"),
        (MarkKind.STRUCK, "struck through"),
        (MarkKind.UNSEEN, UNSEEN),
        (MarkKind.INSERTED, "inserted"),
        (MarkKind.COMMENTED, "comment"),
    ):
        marks = document.marks_on(start, end, kind)
        yield from (_flag(document, mark, name, start, end) for mark in marks[:MAX_FLAGS])
        if len(marks) > MAX_FLAGS:
            yield f"{name}: {pluralize(len(marks) - MAX_FLAGS, 'more place')}"
    if read := document.marks_on(start, end, MarkKind.READ):
        yield read_by(read)
    if doubt := document.doubt_about_number(block):
        yield doubt
    deleted = document.deletions_in(start, end)
    yield from (f"deleted{by_whom(one)}: “{_short(one.text)}”" for one in deleted[:MAX_FLAGS])
    if len(deleted) > MAX_FLAGS:
        yield f"deleted: {pluralize(len(deleted) - MAX_FLAGS, 'more place')}"


def read_by(marks: list[Mark]) -> str:
    """Says how words were read that are a picture in the document, with the lowest confidence.

    Scanning software adds such words to a file invisibly and does not state a confidence.
    """
    sure = sureness(marks)
    return "read by OCR before it came here" if sure is None else f"read by OCR, {sure} %"


def sureness(marks: list[Mark]) -> int | None:
    """Returns the lowest confidence, in percent, of words read from a picture, or None if no mark states one."""
    return min((int(mark.note) for mark in marks if mark.note.isdecimal() and mark.note.isascii()), default=None)


def _flag(document: Document, mark: Mark, name: str, start: int, end: int) -> str:
    if mark.kind is MarkKind.COMMENTED:
        name = f"comment {mark.note}"
    whole = mark.start <= start and mark.end >= end
    words = "" if whole else f": “{_short(document.text[max(mark.start, start) : min(mark.end, end)])}”"
    return f"{name}{by_whom(mark)}{words}"


def by_whom(made: Mark | Deletion | None) -> str:
    """Returns the author and the date."""
    if made is None:
        return ""
    return (f" by {made.by}" if made.by else "") + (f" on {made.on[:10]}" if made.on else "")


def _short(words: str) -> str:
    return truncate_line(words, MAX_WORDS)
