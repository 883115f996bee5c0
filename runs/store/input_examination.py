"""Examines incoming contents: which are texts, which are documents that wait for their reader, and which are neither.

UTF-8 is read here, since that is cheap and safe. Texts in other encodings are read at once, in isolated processes.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from itertools import batched, chain
from typing import Any

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from runs import isolation
from runs.contracts.ports import FileInfo
from runs.documents import encodings
from runs.documents.document_format import MAX_BYTES as MAX_DOCUMENT
from runs.documents.file_kinds import DAMAGED, HEAD_BYTES, NOT_UNPACKED, TAIL_BYTES, FileKind, is_document, kind_of
from runs.documents.formats import READ
from runs.documents.formats import zip as zip_format
from runs.documents.packed_parts import packed, unpacked
from runs.errors import UploadRefused
from runs.isolation import ChildFailed, Limits
from runs.models import Attempt, Rendition, Run, Template, ToolCall, Tree
from runs.store import blobs
from runs.store.renditions import BLANK, EMPTY, IN_A_QUERY
from runs.text.paths import can_be_seen

MAX_BYTES = 20_000_000
"""Bytes of a content in another encoding, and of its text in UTF-8. UTF-8 contents have no limit of their own."""
LIMITS = Limits(megabytes=400, cpu_seconds=10, seconds=20, output=MAX_BYTES)
MAX_PROBLEM = 300
BATCH_BYTES = 2_000_000
BATCH_FILES = 200
"""Limits of what one process reads: small files together, because starting it takes longer than reading one."""
MAX_SECONDS = 60.0
"""Seconds for all contents of an upload. A thousand texts in Windows-1252 take a few seconds."""


@cache
def reader() -> str:
    """The name of the reader. Another version may read differently, so that its renditions are separate."""
    return f"text 4, chardet {version('chardet')}"


def is_text(pieces: Iterable[bytes]) -> bool:
    """Whether it is UTF-8 without NUL, like `runs.documents.content.text_of`, but with only one piece in memory.

    False for documents whose format may consist of ASCII only.
    """
    given = iter(pieces)
    first = next(given, b"")
    return not is_document(first[:HEAD_BYTES]) and _is_utf_8(chain([first], given))


def _is_utf_8(pieces: Iterable[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return not any("\0" in decoder.decode(piece) for piece in pieces) and not decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False


def _is_blank(pieces: Iterable[bytes]) -> bool:
    """Whether a UTF-8 text has no visible characters."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    return not any(can_be_seen(decoder.decode(piece)) for piece in pieces)


def is_binary(head: bytes) -> bool:
    """Whether a content with this beginning is not UTF-8. The beginning may be cut within a character."""
    try:
        return "\0" in codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return True


def is_legible(read: Callable[[], Iterable[bytes]]) -> bool:
    """Whether a content is a text in any encoding, or a document that has a reader. `read` yields its pieces."""
    if is_text(read()):
        return True
    kind = _kind_of(read())
    if kind.format or kind.problem:
        return kind.format in READ
    data = b"".join(read())
    if len(data) > MAX_BYTES:
        return False
    try:
        codec, *_ = unpacked(isolation.run(f"{encodings.__name__}.read_all", packed([data]), LIMITS))
    except ChildFailed:
        return False
    return bool(codec)


def examine(files: Mapping[str, FileInfo]) -> None:
    """Decide for each of these files whether it is text, or a document, which waits for `reading` from then on.

    Files that were examined before are skipped. Raises UploadRefused if it takes too long; the results until then are
    kept.
    """
    end = time.monotonic() + MAX_SECONDS
    new: dict[str, tuple[str, int]] = {}
    blank: dict[str, int] = {}
    for path, (sha256, size) in files.items():
        _check_time(path, end)
        if sha256 in new:
            continue
        if not is_text(blobs.pieces_of(sha256)):
            new[sha256] = (path, size)
        elif _is_blank(blobs.pieces_of(sha256)):
            blank[sha256] = size
    _keep(
        [
            Rendition(source=source, reader=reader(), codec="utf-8", text=source, extent=BLANK if size else EMPTY)
            for source, size in blank.items()
        ]
    )
    known = _known_contents(new)
    waiting: dict[str, tuple[str, int]] = {}
    for source, (path, size) in new.items():
        if source in known or _is_used_as_text(source):
            continue
        if row := _recognise(source, size):
            _keep([row])
        else:
            waiting[source] = (path, size)
    for batch in _batches(waiting):
        _check_time(waiting[batch[0]][0], end)
        _keep(_read(batch))


def keep_problems(problems: Mapping[str, str]) -> None:
    """Store why contents cannot be read, by their SHA-256, if the caller knows it."""
    rows = [
        Rendition(source=source, reader=reader(), problem=problem[:MAX_PROBLEM]) for source, problem in problems.items()
    ]
    Rendition.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["source", "reader"], update_fields=["problem"]
    )


def _known_contents(sources: Iterable[str]) -> set[str]:
    """Contents that have a text, or that the current readers have read, or will read."""
    readers = [reader(), *(form.reader_version for form in READ.values())]
    mine = Rendition.objects.filter(Q(text__gt="") | Q(reader__in=readers)).values_list("source", flat=True)
    return {source for some in batched(sources, IN_A_QUERY) for source in mine.filter(source__in=some)}


def _is_used_as_text(source: str) -> bool:
    """Whether a run uses the content as the UTF-8 text that its bytes are, such as a web page that a run wrote.

    Then it stays a text, because quotes refer to places in it.
    """
    if Rendition.objects.filter(source=source).exists() or not _is_utf_8(blobs.pieces_of(source)):
        return False
    return is_named(source)


def _check_time(path: str, end: float) -> None:
    if time.monotonic() > end:
        raise UploadRefused(
            f"Finding out which files are text took more than {MAX_SECONDS:g} seconds and had only come to “{path}”. "
            "Send the same files again to go on from there, fewer of them, or save them as UTF-8."
        )


def _keep(rows: Sequence[Rendition]) -> None:
    """Store renditions. If another process has read the same content at the same time, one of the two counts."""
    Rendition.objects.bulk_create(rows, ignore_conflicts=True)


def _recognise(source: str, size: int) -> Rendition | None:
    """The rendition by beginning and end: a document that waits for its reader, or an unreadable content; else None."""
    kind = _kind_of(blobs.pieces_of(source))
    if not kind.format:
        too_long = f"has more than {_megabytes(MAX_BYTES)} and is not UTF-8; save it as UTF-8"
        problem = kind.problem or (too_long if size > MAX_BYTES else "")
        return Rendition(source=source, reader=reader(), problem=problem) if problem else None
    form = READ.get(kind.format)
    if form is None:
        return Rendition(source=source, reader=reader(), problem=NOT_UNPACKED)
    if size > MAX_DOCUMENT:
        problem = f"has {_megabytes(size)}; a document may have {_megabytes(MAX_DOCUMENT)}, so split it"
        return Rendition(source=source, reader=form.reader_version, format=form.name, problem=problem)
    return Rendition(source=source, reader=form.reader_version, format=form.name)


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.0f} MB"


def _kind_of(pieces: Iterable[bytes]) -> FileKind:
    """The kind of a content, by its beginning and its end."""
    head = tail = b""
    for piece in pieces:
        head = head or piece[:HEAD_BYTES]
        tail = (tail + piece)[-TAIL_BYTES:]
    kind = kind_of(head, tail)
    return FileKind(problem=DAMAGED) if kind.format == zip_format.FORMAT.name and zip_format.END not in tail else kind


def _batches(sources: Mapping[str, tuple[str, int]]) -> Iterator[list[str]]:
    """The contents in batches that one process reads, in order."""
    batch, total = list[str](), 0
    for source, (_, size) in sources.items():
        if batch and (total + size > BATCH_BYTES or len(batch) == BATCH_FILES):
            yield batch
            batch, total = [], 0
        batch.append(source)
        total += size
    if batch:
        yield batch


def _read(batch: Sequence[str]) -> list[Rendition]:
    """The texts of these contents. If the process crashes, each is read alone to find the cause."""
    data = packed(b"".join(blobs.pieces_of(source)) for source in batch)
    try:
        parts = list(unpacked(isolation.run(f"{encodings.__name__}.read_all", data, LIMITS)))
    except ChildFailed as error:
        if len(batch) > 1:
            return [row for source in batch for row in _read([source])]
        return [Rendition(source=batch[0], reader=reader(), problem=f"is more than its reader can do: {error}")]
    rows: list[Rendition] = []
    for source, (codec, payload, caution) in zip(batch, batched(parts, 3), strict=True):
        row = Rendition(source=source, reader=reader(), codec=codec.decode())
        if codec:
            row.text = blobs.put(payload).sha256
            row.extent = "" if can_be_seen(payload.decode()) else BLANK
            row.cautions = (caution.decode(),) if caution else ()
        else:
            row.problem = payload.decode()
        rows.append(row)
    return rows


def texts_naming_contents() -> Iterator[QuerySet[Any, str]]:
    """The columns that name contents, as stored text, so that a hundred thousand rows need not be parsed."""
    for rows, column in ((Tree.objects, "changes"), (Attempt.objects, "overlay"), (ToolCall.objects, "writes")):
        yield rows.order_by().annotate(text=Cast(column, TextField())).values_list("text", flat=True)
    for owners in (Run.objects, Template.objects):
        own = owners.order_by().filter(letterhead__isnull=False)
        yield own.annotate(text=Cast("letterhead", TextField())).values_list("text", flat=True)


def is_named(sha256: str) -> bool:
    """Whether any row names this content. Searches all rows."""
    return any(texts.filter(text__contains=sha256).exists() for texts in texts_naming_contents())
