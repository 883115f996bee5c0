"""The tool that shows a file: lines of a text, or of a document with the names of its places and its original pages."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Annotated

from pydantic import Field, StringConstraints

from runs.contracts.base import JsonObject
from runs.contracts.ports import Original, OriginalKind, Shown, ToolResult, Workspace
from runs.documents.content import Unreadable, document_of
from runs.documents.file_kinds import HEAD_BYTES, kind_of
from runs.documents.formats import FORMATS, format_of
from runs.documents.model.layout import BlockKind
from runs.documents.places.document import Document, unit_at, units_in
from runs.documents.places.marked import MarkedLines, pieces
from runs.enums import Effect, OriginalPages
from runs.errors import InvalidInput
from runs.pev.read_set import ReadTracker
from runs.pev.tools.file_access import FilePath, content_at, fitting, lines_of
from runs.pev.tools.tool import Results, Tool, ToolContext, ToolLimits
from runs.text.paths import clean_path
from runs.text.plural import pluralize
from runs.text.truncate import quoted

_Place = Annotated[
    str,
    StringConstraints(max_length=300),
    Field(
        description="Of a document, the place wanted instead of first_line: a clause (4.2), pages (page=7-9), cells "
        "(Rents!A1:F40), or a name in brackets (p23, s4)"
    ),
]


class ReadFile(Tool):
    name = "read_file"
    effect = Effect.READS_FILES
    results = Results.FILES
    is_basic = True
    description = (
        "Gives lines of a file verbatim, after one line that says which. Of a document (Word, PDF, Excel and others) "
        "each paragraph, page or row begins with its name in brackets, for citations, and its number; remarks stand in "
        "braces."
    )

    path: FilePath
    first_line: Annotated[int, Field(ge=1, description="The first line wanted, from 1")] = 1
    lines: Annotated[int, Field(ge=1, le=10_000, description="How many lines")] = 400
    place: _Place = ""

    def run(self, context: ToolContext) -> ToolResult:
        workspace, limits = context.workspace, context.limits
        path = clean_path(self.path)
        if result := _to_be_seen(workspace, path, limits):
            return result
        data, text = content_at(workspace, path)
        every = lines_of(text)
        sha256 = workspace.files()[path].sha256
        if not every:
            return ToolResult(f"{path} is empty", shown=(Shown(path, sha256, 0, len(path)),))
        document = document_of(data)
        first, last = self._wanted(path, document, len(every))
        if document:
            return _of_document(path, sha256, document, every, (first, last), limits)
        return _of_text(path, sha256, every, (first, last), limits)

    def looks_at(self, looks: ReadTracker) -> None:
        looks.file(clean_path(self.path))

    @classmethod
    def originals(
        cls, workspace: Workspace, arguments: JsonObject, result: ToolResult, limits: ToolLimits
    ) -> Sequence[Original]:
        return originals_of(workspace, str(arguments.get("place", "")), result.shown, limits.originals)

    def _wanted(self, path: str, document: Document | None, count: int) -> tuple[int, int]:
        """Returns the first and the last requested line."""
        if not self.place.strip():
            if self.first_line > count:
                raise InvalidInput(f"{path} has only {pluralize(count, 'line')}; first_line is {self.first_line}.")
            return self.first_line, min(self.first_line + self.lines - 1, count)
        if document is None:
            raise InvalidInput(f"{path} is a plain text, which has no places but its lines; use first_line.")
        start, end = _span_of(path, document, self.place.strip().lstrip("#"))
        first = document.text.count("\n", 0, start) + 1
        return first, min(first + document.text.count("\n", start, end), first + self.lines - 1, count)


def _to_be_seen(workspace: Workspace, path: str, limits: ToolLimits) -> ToolResult | None:
    """Returns the result for a file whose text cannot be read, but whose pages can be shown."""
    info = workspace.files().get(path)
    if info is None or limits.originals is OriginalPages.NEVER or not (problem := workspace.problem(path)):
        return None
    kind = kind_without_text(workspace.read(path))
    if kind is None:
        return None
    more = f"; with place (page=6-10) others, at most {MAX_UNREAD} at a time" if kind == "pdf" else ""
    sentence = (
        f"{path} {problem}. So it has no text here, and nothing of it can be quoted or cited. To be looked at, it is "
        f"shown as it looks{more}. Say of what you take from it that it could not be verified."
    )
    return ToolResult(sentence, shown=(Shown(path, info.sha256, 0, len(path)),))


def _span_of(path: str, document: Document, place: str) -> tuple[int, int]:
    spans = document.parts_of(place)
    if len(spans) == 1:
        return spans[0]
    if spans:
        listed = ", ".join(block.anchor for block in document.clauses(place)[:10])
        raise InvalidInput(f"{path} has several clauses {place}: {listed}; name one of these.")
    raise InvalidInput(f"{path} has no place {quoted(place)}; search_files finds words, and names their places.")


def _of_text(path: str, sha256: str, every: Sequence[str], wanted: tuple[int, int], limits: ToolLimits) -> ToolResult:
    first, last = wanted
    given = every[first - 1 : last]
    given = given[: max(1, fitting(given, limits.result_chars))]
    last = whole = first + len(given) - 1
    text = "\n".join(given)
    note = _more_note(last, len(every))
    if len(text) > limits.result_chars:
        note = _cut_note(last, len(text), limits) + note
        text, whole = text[: limits.result_chars], last - 1
    head = f"{path}, lines {first}-{last} of {len(every)}"
    start = len(head) + 1
    body = Shown(path, sha256, start, start + len(text), first, whole, len(every))
    return ToolResult(f"{head}\n{text}{note}", shown=(Shown(path, sha256, 0, len(head)), body))


def _of_document(
    path: str, sha256: str, document: Document, every: Sequence[str], wanted: tuple[int, int], limits: ToolLimits
) -> ToolResult:
    """Returns the lines with anchors and remarks before their blocks, as many whole lines as fit."""
    given = list(_fitting(document, wanted, limits.result_chars))
    texts = [document.text[piece.start : piece.end] for piece in given]
    last = given[-1].last_line
    note = _more_note(last, len(every))
    whole = last
    if len(texts[-1]) > limits.result_chars:
        note = _cut_note(last, len(texts[-1]), limits) + note
        texts[-1], whole = texts[-1][: limits.result_chars], last - 1
    units = units_in(document, given[0].start, given[-1].end)
    head = f"{path}, lines {wanted[0]}-{last} of {len(every)}" + (f", {units}" if units else "")
    parts = [piece.head + text for piece, text in zip(given, texts, strict=True)]
    starts = accumulate((len(part) + 1 for part in parts), initial=len(head) + 1)
    shown = [Shown(path, sha256, 0, len(head))]
    for piece, text, start in zip(given, texts, starts, strict=False):
        begun = start + len(piece.head)
        lines = piece.first_line, min(piece.last_line, whole), len(every)
        shown.append(Shown(path, sha256, begun, begun + len(text), *lines, unit_at(document, piece.start)))
    return ToolResult("\n".join([head, *parts]) + note, shown=tuple(shown))


def _fitting(document: Document, wanted: tuple[int, int], limit: int) -> list[MarkedLines]:
    """Returns the pieces that fit into so many characters, at least one. The last may be the beginning of a block."""
    found: list[MarkedLines] = []
    used = 0
    for piece in pieces(document, *wanted):
        used += len(piece.head) + 1
        text = document.text[piece.start : piece.end]
        lines = text.split("\n")
        count = fitting(lines, limit - used)
        if count == len(lines):
            found.append(piece)
            used += len(text)
            continue
        if count or not found:
            text = "\n".join(lines[: max(count, 1)])
            last = piece.first_line + max(count, 1) - 1
            found.append(piece._replace(end=piece.start + len(text), last_line=last))
        break
    return found


def _more_note(last: int, count: int) -> str:
    return f"\n[more follows; go on with first_line={last + 1}]" if last < count else ""


def _cut_note(line: int, length: int, limits: ToolLimits) -> str:
    return (
        f"\n[cut: line {line} has {length} characters and {limits.result_chars} are shown; "
        f"search_files shows places further on]"
    )


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
