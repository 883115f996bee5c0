"""Renditions: the texts of contents that are not UTF-8, such as documents. They are read once for all runs.

Documents are read in the background, one at a time and in isolated processes, since a large one takes seconds.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache, partial
from itertools import batched
from typing import Any

from django.conf import settings
from django.db.models import F, Q
from pydantic import ValidationError

from runs import isolation
from runs.documents.content import Converted, Unreadable
from runs.documents.formats import DRAWN, FORMATS, MAY_TAKE_MINUTES
from runs.documents.model.layout import BlockKind, MarkKind, Rendered
from runs.documents.packed_parts import unpacked
from runs.documents.places.document import Document
from runs.errors import InvalidInput, StoreAway
from runs.isolation import ChildFailed, Crashed, Interrupted, NoTurn
from runs.models import Rendition, clock
from runs.store import blobs
from runs.text.plural import pluralize

IN_A_QUERY = 5_000
"""Hashes in one query, because databases limit the number of parameters."""
WAITING = "has not been read yet"
EMPTY, BLANK = "empty", "nothing but white space"
"""The extents of contents without bytes, and of texts without visible characters."""


@dataclass(frozen=True)
class Readings:
    """What is known of contents, by their hashes. A content that is in none is UTF-8, or was never examined.

    * `texts` and `layouts`: the hashes of the text and its layout. `formats`: the format of a document.
    * `sizes`: characters. `extents`: the size in words, such as "12 pages". `pages`: how many pages models may see as
      images, and how many of these are mostly pictures or tables.
    * `notes`: sentences about parts that could not be read. `cautions`: sentences about doubts in the text.
    * `problems`: why there is no text, as a clause. `unread`: the format of such a content.
    * `waiting`: contents that have not been read yet.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    layouts: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    extents: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    cautions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()

    def has_guessed(self, source: str) -> bool:
        """Whether the encoding of a text was guessed and others are about as likely."""
        return source in self.cautions and source not in self.layouts


def readings(sources: Iterable[str]) -> Readings:
    """What is known of these contents."""
    # If several readers made a text, the first one counts: quotes refer to places in it. Without a text, the problem
    # of the last reader counts.
    texts: dict[str, Rendition] = {}
    problems: dict[str, str] = {}
    unread: dict[str, str] = {}
    waiting = set[str]()
    for some in batched(sources, IN_A_QUERY):
        for row in Rendition.objects.filter(source__in=some).order_by("id"):
            if row.text:
                texts.setdefault(row.source, row)
            else:
                problems[row.source], unread[row.source] = row.problem or WAITING, row.format
                (waiting.discard if row.problem else waiting.add)(row.source)
    waiting -= texts.keys()
    return Readings(
        texts={source: row.text for source, row in texts.items()},
        layouts={source: row.layout for source, row in texts.items() if row.layout},
        formats={source: row.format for source, row in texts.items() if row.format},
        pages={source: (row.pages, row.pictorial) for source, row in texts.items() if row.pages},
        sizes={source: row.characters for source, row in texts.items() if row.layout},
        extents={source: row.extent for source, row in texts.items() if row.extent},
        notes={source: row.notes for source, row in texts.items() if row.notes},
        cautions={source: row.cautions for source, row in texts.items() if row.cautions},
        problems={source: why for source, why in problems.items() if source not in texts},
        unread={source: form for source, form in unread.items() if form and source not in texts},
        waiting=frozenset(waiting),
    )


def joined(known: Readings, more: Readings) -> Readings:
    """What is known of the contents in either."""
    both = {name: {**getattr(known, name), **getattr(more, name)} for name in _BY_SOURCE}
    return Readings(**both, waiting=known.waiting | more.waiting)


_BY_SOURCE = ("texts", "layouts", "formats", "sizes", "extents", "pages", "notes", "cautions", "problems", "unread")


def of_format(form: str, sources: Iterable[str]) -> frozenset[str]:
    """The contents that have this format according to their bytes, except those that its reader refused."""
    found = set[str]()
    for some in batched(sources, IN_A_QUERY):
        rows = Rendition.objects.filter(source__in=some, format=form, problem="")
        found.update(rows.values_list("source", flat=True))
    return frozenset(found)


def content_of(sha256: str, known: Readings) -> bytes:
    """A content as it is read. Documents and texts in other encodings are returned as UTF-8 (`Converted`), contents
    without a text as `Unreadable`. Raises FileNotFoundError if the store lost it.
    """
    if text := known.texts.get(sha256):
        layout = known.layouts.get(sha256)
        read_document = partial(document, text, layout) if layout else None
        return Converted(blobs.read(text), sha256, read_document, guessed=known.has_guessed(sha256))
    data = blobs.read(sha256)
    return Unreadable(data) if sha256 in known.problems else data


def document(text: str, layout: str) -> Document:
    """The document of these two contents, by their hashes."""
    return (_cached_large if blobs.size_of(layout) > LARGE else _cached_small)(text, layout)


def _document(text: str, layout: str) -> Document:
    rendered = Rendered.model_validate_json(blobs.read(layout))
    return Document(blobs.read(text).decode(), rendered.layout)


LARGE = 1_000_000
"""Bytes of a large layout. Its document takes about fifteen times as much memory; the maximum is 32 million bytes."""
_cached_small = lru_cache(maxsize=16)(_document)
_cached_large = lru_cache(maxsize=1)(_document)


def document_of(source: str) -> Document | None:
    """The document of a content; None for texts and unreadable contents."""
    row = Rendition.objects.filter(source=source, layout__gt="").order_by("id").first()
    return document(row.text, row.layout) if row else None


def codec_of(source: str) -> str:
    """The encoding that a content was read in; empty for UTF-8, documents, blank texts and unreadable contents."""
    rows = Rendition.objects.filter(source=source, text__gt="").exclude(extent__in=(BLANK, EMPTY)).order_by("id")
    return rows.values_list("codec", flat=True).first() or ""


log = logging.getLogger(__name__)
POLL_INTERVAL = timedelta(seconds=1)
"""How long work waits before it checks whether another process has finished reading."""
MAX_TRIES = 3
"""A content that has ended its reader as often counts as unreadable."""
GIVEN_UP = ", given up"
MAX_PROBLEM = 300
"""The length of the column."""
_COMMENT = re.compile(r"\.p\d+$")
"""The end of an anchor that names a paragraph within a comment."""
_UNUSABLE = "was answered by its reader with what cannot be used; save it again, or as text"


def still_waiting(sources: Iterable[str]) -> list[str]:
    """The contents that have not been read yet, including those that are being read."""
    rows = Rendition.objects.waiting().values_list("source", flat=True)
    return [source for some in batched(sources, IN_A_QUERY) for source in rows.filter(source__in=some)]


def documents_among(sources: Iterable[str]) -> int:
    """How many of these contents are documents, read or not."""
    rows = Rendition.objects.exclude(format="").values_list("source", flat=True).distinct()
    return sum(len(rows.filter(source__in=some)) for some in batched(sources, IN_A_QUERY))


def untaken(limit: int = 100, *, minutes: bool | None = None) -> list[str]:
    """Waiting contents that no worker is reading. `minutes`: only those that may take minutes, or only the others."""
    rows = Rendition.objects.waiting().filter(_free())
    if minutes is not None:
        rows = rows.filter(format__in=MAY_TAKE_MINUTES) if minutes else rows.exclude(format__in=MAY_TAKE_MINUTES)
    return list(rows.values_list("source", flat=True)[:limit])


def waiting_row(source: str) -> Rendition | None:
    """The rendition of a waiting content, even if someone is reading it: for callers who cannot wait."""
    return Rendition.objects.waiting().filter(source=source).first()


def take(source: str) -> Rendition | None:
    """Claim a waiting content for this process; None if another process reads or has read it.

    Pass the rendition to `make` and then to `keep`.
    """
    row = waiting_row(source)
    free = Rendition.objects.waiting().filter(_free(), pk=row.pk) if row else None
    return row if free and free.update(taken_until=_until(), tries=F("tries") + 1) else None


def extend(row: Rendition) -> None:
    """Extend the claim on a rendition. It expires LEASE_SECONDS after the last call."""
    Rendition.objects.waiting().filter(pk=row.pk).update(taken_until=_until())


def _until() -> Any:
    return clock.after(timedelta(seconds=settings.LEASE_SECONDS))


def make(row: Rendition) -> None:
    """Read the content, which may take a minute, without using the database.

    A problem of the content is stored with the rendition. After another failure it is tried again, MAX_TRIES times.
    """
    try:
        _read_document(row)
    except StoreAway:
        raise  # nothing was found out about the content
    except FileNotFoundError:
        _give_up(row, "is gone from the store of files; give it again")
    except (NoTurn, Interrupted) as error:
        if row.tries + 1 >= MAX_TRIES:
            _give_up(row, f"could not be read: {error}; give it again")
    except Exception:
        log.exception("the %s file %s could not be read", row.format, row.source)
        _give_up(
            row,
            "could not be read, because pevsite itself failed; give it again, or ask the administrator of this site",
        )


def _give_up(row: Rendition, problem: str) -> None:
    """Store a problem that is not caused by the content, so that it is read again when the file is given again."""
    row.problem, row.reader = problem, f"{row.reader}{GIVEN_UP}"


def keep(row: Rendition) -> None:
    """Store a rendition, unless another process was faster."""
    names = ("reader", "text", "layout", "extent", "characters", "pages", "pictorial", "notes", "cautions", "problem")
    made = {name: getattr(row, name) for name in names}
    Rendition.objects.filter(source=row.source, reader=row.reader).exclude(pk=row.pk).delete()  # given up before
    Rendition.objects.waiting().filter(pk=row.pk).update(**made, taken_until=None)


def _free() -> Q:
    return Q(taken_until=None) | Q(taken_until__lt=clock.now())


def _read_document(row: Rendition) -> None:
    try:
        form = FORMATS[row.format]
        answer = isolation.run(form.function, partial(blobs.read, row.source), form.limits)
        header, payload = unpacked(answer)
        rendered = Rendered.model_validate_json(header)
        text = payload.decode()
        Document(text, rendered.layout)
    except InvalidInput as error:
        row.problem = str(error)[:MAX_PROBLEM] or _UNUSABLE
    except (NoTurn, Interrupted):
        raise
    except Crashed as error:
        log.warning("the reader of %s broke on %s: %s", row.format, row.source, error)
        row.problem = "is more than its reader can do, which broke on it; save it again, or as another format"
    except ChildFailed as error:
        row.problem = f"is more than its reader can do: {error}; save it again, or split it"[:MAX_PROBLEM]
    except (ValidationError, ValueError):  # a process that a hostile file has taken over may answer anything
        log.warning("the reader of %s has answered %s with what is no document", row.format, row.source)
        row.problem = _UNUSABLE
    else:
        row.text, row.layout = blobs.put(payload).sha256, blobs.put(header).sha256
        row.extent, row.characters = _extent(rendered), len(text)
        row.notes, row.cautions = rendered.notes, rendered.cautions
        if row.format in DRAWN:
            row.pages, row.pictorial = rendered.layout.units, len(rendered.layout.pictorial)


def _extent(rendered: Rendered) -> str:
    """The size in the words of its format, with how much OCR has read and the number of comments; empty if the format
    counts nothing.
    """
    layout = rendered.layout
    if not layout.units:
        return ""
    parts = [pluralize(layout.units, layout.unit)]
    ends = [block.end for block in layout.blocks]  # the blocks of a PDF are its pages
    scanned = len({bisect_right(ends, mark.start) for mark in layout.marks if mark.kind is MarkKind.READ})
    if scanned:
        parts.append("read by OCR" if scanned >= layout.units else f"{scanned:,} read by OCR")
    comments = len({_COMMENT.sub("", one.anchor) for one in layout.blocks if one.kind is BlockKind.COMMENT})
    if comments:
        parts.append(pluralize(comments, "comment"))
    return ", ".join(parts)
