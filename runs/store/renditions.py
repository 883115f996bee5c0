"""Renditions: what contents read as that are no UTF-8, known once for all runs, beside the contents themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import batched

from runs.documents.content import Converted, Unreadable
from runs.documents.model.document import Document
from runs.documents.model.layout import Rendered
from runs.models import Rendition
from runs.store import blobs

IN_A_QUERY = 5_000
"""Hashes looked up at once: databases bound the parameters of a query."""
WAITING = "has not been read yet"
EMPTY, BLANK = "empty", "nothing but white space"
"""The extents of contents without a byte, and of texts in which nothing can be seen."""


@dataclass(frozen=True)
class Readings:
    """What contents read as, by their hashes: those of the text and of its layout, the format, how many characters it
    has, how much that is ("12 pages"), how many pages models may see as they look and how many of these are mostly
    pictures or tables. As sentences, `notes` say what of it could not be read, `cautions` what to know before relying
    on its text. Or why there is no text, as a clause, and of which format it is (`unread`); those that are `waiting`
    are still to be read.

    Those that are in none are UTF-8, or were never examined.
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
        """Whether it is a text whose encoding was guessed, while others are about as likely."""
        return source in self.cautions and source not in self.layouts


def readings(sources: Iterable[str]) -> Readings:
    """Of several readers the first text counts, since quotes that were found in it stay where they are; without a text
    the last one's problem does.
    """
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
    """What is known of the contents of both."""
    both = {name: {**getattr(known, name), **getattr(more, name)} for name in _BY_SOURCE}
    return Readings(**both, waiting=known.waiting | more.waiting)


_BY_SOURCE = ("texts", "layouts", "formats", "sizes", "extents", "pages", "notes", "cautions", "problems", "unread")


def of_format(form: str, sources: Iterable[str]) -> frozenset[str]:
    """Those of these hashes that are of this format by their bytes, but for what its reader has refused."""
    found = set[str]()
    for some in batched(sources, IN_A_QUERY):
        rows = Rendition.objects.filter(source__in=some, format=form, problem="")
        found.update(rows.values_list("source", flat=True))
    return frozenset(found)


def content_of(sha256: str, known: Readings) -> bytes:
    """A content as it is read: of text in another encoding and of documents the text as UTF-8 (`Converted`), and what
    is no text as `Unreadable`. Raises FileNotFoundError when the store lost it.
    """
    if text := known.texts.get(sha256):
        layout = known.layouts.get(sha256)
        read_document = partial(document, text, layout) if layout else None
        return Converted(blobs.read(text), sha256, read_document, guessed=known.has_guessed(sha256))
    data = blobs.read(sha256)
    return Unreadable(data) if sha256 in known.problems else data


def document(text: str, layout: str) -> Document:
    """The document of these two contents, by their hashes."""
    return (_large if blobs.size_of(layout) > LARGE else _usual)(text, layout)


def _document(text: str, layout: str) -> Document:
    rendered = Rendered.model_validate_json(blobs.read(layout))
    return Document(blobs.read(text).decode(), rendered.layout)


LARGE = 1_000_000
"""Bytes of a layout: a document takes some fifteen times as much memory. The largest may have 32 million."""
_usual = lru_cache(maxsize=16)(_document)
_large = lru_cache(maxsize=1)(_document)


def document_of(source: str) -> Document | None:
    """The document that a content is; None for texts, and for what cannot be read."""
    row = Rendition.objects.filter(source=source, layout__gt="").order_by("id").first()
    return document(row.text, row.layout) if row else None


def codec_of(source: str) -> str:
    """The name of the encoding that a content was read as; empty for UTF-8, documents, texts in which
    nothing can be seen, and what cannot be read.
    """
    rows = Rendition.objects.filter(source=source, text__gt="").exclude(extent__in=(BLANK, EMPTY)).order_by("id")
    return rows.values_list("codec", flat=True).first() or ""
