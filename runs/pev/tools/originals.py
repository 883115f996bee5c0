"""Finds the original pages that belong to the result of a `read_file` call."""

import re
from collections.abc import Iterator, Sequence

from runs.contracts.ports import Original, OriginalKind, Shown, Workspace
from runs.documents.content import Unreadable, document_of
from runs.documents.file_kinds import HEAD_BYTES, kind_of
from runs.documents.formats import FORMATS, format_of
from runs.documents.model.layout import BlockKind
from runs.documents.places.document import Document
from runs.enums import OriginalPages

MAX_UNREAD = 5
"""Pages shown of a file without text if no pages are requested. The number of its pages is unknown."""
_PAGES = re.compile(r"#?page=([1-9]\d{0,4})(?:-(?:page=)?([1-9]\d{0,4}))?", re.IGNORECASE)


def originals_of(workspace: Workspace, place: str, shown: Sequence[Shown], which: OriginalPages) -> Sequence[Original]:
    """Returns the pages that contain the shown lines, or the requested pages of a file without text."""
    files = workspace.files()
    parts = [one for one in shown if one.path in files and files[one.path].sha256 == one.sha256]
    if which is OriginalPages.NEVER or not parts:
        return ()
    path, sha256 = parts[0].path, parts[0].sha256
    data = workspace.read(path)
    if kind := kind_without_text(data):
        size = 0 if kind == "picture" else None
        return [Original(path, sha256, kind, page, size) for page in _asked_for(place, kind)]
    document = document_of(data)
    kind = format_of(document.layout.format).shown_to_models if document else None
    lines = [one for one in parts if one.lines]
    if not (document and kind and lines):
        return ()
    first, last = lines[0].first_line, max(max(one.first_line, one.last_line) for one in lines)
    pages = _pages(document, first, last)
    if which is OriginalPages.LAYOUT and kind == "pdf":
        pages = (page for page in pages if page[0] in document.layout.pictorial)
    return [Original(path, sha256, kind, *page) for page in pages]


def kind_without_text(data: bytes) -> OriginalKind | None:
    """Returns the kind of a content without text, if it has pages that can be shown."""
    if not isinstance(data, Unreadable):
        return None
    form = FORMATS.get(kind_of(data[:HEAD_BYTES]).format)
    return form.shown_to_models if form else None


def _asked_for(place: str, kind: OriginalKind) -> Sequence[int]:
    named = _PAGES.fullmatch(place.strip())
    if named is None:
        return range(1, 2 if kind == "picture" else MAX_UNREAD + 1)
    first = int(named[1])
    return range(first, min(int(named[2] or first), first + MAX_UNREAD - 1) + 1)


def _pages(document: Document, first_line: int, last_line: int) -> Iterator[tuple[int, int]]:
    """Yields the pages with any of these lines, and the number of bytes of their text."""
    line = at = 0
    for block in document.layout.blocks:
        line, at = line + document.text.count("\n", at, block.start), block.start
        ends = line + document.text.count("\n", block.start, block.end)
        if block.kind is BlockKind.PAGE and line < last_line and first_line <= ends + 1:
            size = len(document.text[block.start : block.end].encode())
            yield int(block.anchor.partition("=")[2]), size
