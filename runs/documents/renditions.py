"""Renditions: the text beside a content in another encoding than UTF-8, or the sentence why there is none.

Whether a content is text is decided when it comes in, once for all runs that have it. UTF-8 is read here, since that is
cheap and safe; what else there may be is read in guarded processes.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import batched

from django.db.models import Q

from runs import guarded
from runs.documents import encodings
from runs.documents.kinds import HEAD_BYTES, TAIL_BYTES, is_document, kind_of
from runs.errors import UploadRefused
from runs.guarded import ChildFailed, Limits
from runs.models import Rendition
from runs.pev.ports import FileInfo

MAX_BYTES = 20_000_000
"""Of a content in another encoding, and of its text in UTF-8; UTF-8 itself is read as long as a file may be."""
LIMITS = Limits(megabytes=400, cpu_seconds=10, seconds=20, output=MAX_BYTES)
BATCH_BYTES = 2_000_000
BATCH_FILES = 200
"""What is read in one process: small files together, since each process takes longer to begin than to read one."""
MAX_SECONDS = 60.0
"""For all contents of an upload; a thousand texts in Windows-1252 take some seconds."""
_IN_A_QUERY = 5_000
"""Hashes looked up at once: databases bound the parameters of a query."""


@cache
def reader() -> str:
    """Who reads: another version may read differently, so that its renditions are others."""
    return f"text 2, charset-normalizer {version('charset-normalizer')}"


@dataclass(frozen=True)
class Store:
    """The store of files, which lies above this room: contents by their SHA-256, piece by piece, and the way in."""

    pieces: Callable[[str], Iterator[bytes]]
    put: Callable[[bytes], FileInfo]


@dataclass(frozen=True)
class Readings:
    """What contents read as, by their hashes: the hash of the text, or why there is none, as a clause.

    Those that are in neither are UTF-8, or were never examined.
    """

    texts: Mapping[str, str]
    problems: Mapping[str, str]


def is_text(pieces: Iterable[bytes]) -> bool:
    """Whether it is UTF-8 without NUL, as `pev.files.paths.text_of` wants it, in the memory of one piece; and no
    document of a kind that may be written in ASCII alone.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    begun = False
    try:
        for piece in pieces:
            if (not begun and is_document(piece)) or "\0" in decoder.decode(piece):
                return False
            begun = True
        return not decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False


def readings(sources: Iterable[str]) -> Readings:
    """Of several readers the first text counts, since quotes that were found in it stay where they are; without a text
    the last one's problem does.
    """
    texts: dict[str, str] = {}
    problems: dict[str, str] = {}
    for some in batched(sources, _IN_A_QUERY):
        rows = Rendition.objects.filter(source__in=some).order_by("id")
        for source, text, problem in rows.values_list("source", "text", "problem"):
            if text:
                texts.setdefault(source, text)
            else:
                problems[source] = problem
    return Readings(texts, {source: why for source, why in problems.items() if source not in texts})


def codec_of(source: str) -> str:
    """The name of the encoding that a content was read as; empty for UTF-8 and for what cannot be read."""
    rows = Rendition.objects.filter(source=source, text__gt="").order_by("id")
    return rows.values_list("codec", flat=True).first() or ""


def examine(files: Mapping[str, FileInfo], store: Store) -> None:
    """Decide for each of these files whether it is text; what was decided before is not looked at again.

    Raises UploadRefused when that takes too long; what was decided until then stays so.
    """
    end = time.monotonic() + MAX_SECONDS
    new: dict[str, tuple[str, int]] = {}
    for path, (sha256, size) in files.items():
        _check_time(path, end)
        if sha256 not in new and not is_text(store.pieces(sha256)):
            new[sha256] = (path, size)
    known = _decided(new)
    waiting: dict[str, tuple[str, int]] = {}
    for source, (path, size) in new.items():
        if source in known:
            continue
        if problem := _problem_outside(source, size, store):
            _keep([Rendition(source=source, reader=reader(), problem=problem)])
        else:
            waiting[source] = (path, size)
    for batch in _batches(waiting):
        _check_time(waiting[batch[0]][0], end)
        _keep(_read(batch, store))


def _decided(sources: Iterable[str]) -> set[str]:
    """Those of which there is a text, or whatever this reader has made of them."""
    mine = Rendition.objects.filter(Q(text__gt="") | Q(reader=reader())).values_list("source", flat=True)
    return {source for some in batched(sources, _IN_A_QUERY) for source in mine.filter(source__in=some)}


def _check_time(path: str, end: float) -> None:
    if time.monotonic() > end:
        raise UploadRefused(
            f"Finding out which files are text took more than {MAX_SECONDS:g} seconds and had only come to “{path}”. "
            "Send the same files again to go on from there, fewer of them, or save them as UTF-8."
        )


def _keep(rows: Sequence[Rendition]) -> None:
    """Somebody else may have read the same content at the same time: one of the two counts."""
    Rendition.objects.bulk_create(rows, ignore_conflicts=True)


def _problem_outside(source: str, size: int, store: Store) -> str:
    """What can be said of it without reading all of it."""
    head = tail = b""
    for piece in store.pieces(source):
        head = head or piece[:HEAD_BYTES]
        tail = (tail + piece)[-TAIL_BYTES:]
    if problem := kind_of(head, tail):
        return problem
    return "" if size <= MAX_BYTES else f"has more than {MAX_BYTES // 1_000_000} MB and is not UTF-8; save it as UTF-8"


def _batches(sources: Mapping[str, tuple[str, int]]) -> Iterator[list[str]]:
    """In turn, together as long as they are few and small."""
    batch, total = list[str](), 0
    for source, (_, size) in sources.items():
        if batch and (total + size > BATCH_BYTES or len(batch) == BATCH_FILES):
            yield batch
            batch, total = [], 0
        batch.append(source)
        total += size
    if batch:
        yield batch


def _read(batch: Sequence[str], store: Store) -> list[Rendition]:
    """What these contents read as. One that breaks the process is found by reading each by itself."""
    data = encodings.packed(b"".join(store.pieces(source)) for source in batch)
    try:
        parts = list(encodings.unpacked(guarded.run(f"{encodings.__name__}.read_all", data, LIMITS)))
    except ChildFailed as error:
        if len(batch) > 1:
            return [row for source in batch for row in _read([source], store)]
        return [Rendition(source=batch[0], reader=reader(), problem=f"is more than its reader can do: {error}")]
    rows: list[Rendition] = []
    for source, (codec, payload) in zip(batch, batched(parts, 2), strict=True):
        row = Rendition(source=source, reader=reader(), codec=codec.decode())
        if codec:
            row.text = store.put(payload).sha256
        else:
            row.problem = payload.decode()
        rows.append(row)
    return rows
