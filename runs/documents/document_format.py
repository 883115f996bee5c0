"""What a document format declares: how its files are recognised, which module reads them, and the
limits of the reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, NamedTuple

from runs.documents.model.anchors import NO_ANCHORS, Anchors
from runs.isolation import Limits

MAX_BYTES = 50_000_000
"""Of a document. It is sent to its reader whole."""
LIMITS = Limits(megabytes=1_024, cpu_seconds=30, seconds=60, files=32, output=32_000_000)
"""Some five times what the largest documents of the tests need. A process that exceeds it is ended."""
OF_PICTURES = replace(LIMITS, cpu_seconds=400, seconds=600)
"""OCR takes up to three seconds per page, and twice that if other pages are read at the same time. The reader stops OCR
well before these limits.
"""
HTML_PACKAGES = ("lxml", "tinycss2", "cssselect2")
"""Libraries that read HTML, also inside mails and e-books."""


class Signature(NamedTuple):
    """Bytes at certain offsets, or a pattern at the beginning of a content.

    `binary`: text may begin with the same bytes, so the content must contain a NUL too. `in_ascii`: a matching content
    may be pure ASCII and is still not text. `is_inside`: files of other formats may contain these bytes, so the
    signatures of other formats are tried first.
    """

    parts: tuple[tuple[int, bytes], ...] = ()
    pattern: re.Pattern[bytes] | None = None
    binary: bool = False
    in_ascii: bool = False
    is_inside: bool = False

    def fits(self, head: bytes) -> bool:
        if self.pattern and not self.pattern.match(head):
            return False
        return all(head.startswith(magic, at) for at, magic in self.parts) and (not self.binary or b"\0" in head)


def begins(*magics: bytes, binary: bool = False, in_ascii: bool = False) -> tuple[Signature, ...]:
    """Returns a signature for each of these beginnings."""
    return tuple(Signature(((0, magic),), binary=binary, in_ascii=in_ascii) for magic in magics)


@dataclass(frozen=True)
class DocumentFormat:
    """One format, declared as `FORMAT` by a module or package in `runs/documents/formats/`.

    `title`: what people call it, with an article. `unit`: what the format counts, such as "page".

    A file is recognised by `signatures`; a zip file with parts by `zip_part` (the beginning of the name of its main
    part) or `zip_media_type` (the beginning of its uncompressed first part); a text by `is_text_of`, which gets its
    beginning; and a web page also by `media_types`.

    `reader`: the module whose function `read` makes text and layout from the bytes in an isolated process, or empty.
    Increase `edition` when it reads the same content differently, so that documents are read again. `packages`:
    libraries whose versions have the same effect. `attachments`: the module has a function `attachments` too.

    `drawing`: the module whose functions `picture` and `thumbnail` draw pages. `has_places`: it can locate characters
    on a page. `shown_to_models`: the form in which models get its pages.

    `is_archive`: uploaded files are unpacked. `is_text`: its files are written as text. `is_fetched`: files of this
    format are also fetched from the web. `layout_name`: the format's name in layouts, if it is not `name`.

    `anchors`: the names of its places. `has_tables`: its rows can be read as tables. `notes_on_pages`: notes are part
    of a page's text and not blocks of their own. `takes_comments`: comments can be added to its files.
    """

    name: str
    title: str
    unit: str = ""
    signatures: Sequence[Signature] = ()
    zip_part: bytes = b""
    zip_media_type: bytes = b""
    is_text_of: Callable[[bytes], bool] | None = None
    media_types: tuple[str, ...] = ()
    reader: str = ""
    edition: int = 1
    packages: tuple[str, ...] = ()
    limits: Limits = LIMITS
    attachments: bool = False
    drawing: str = ""
    has_places: bool = False
    shown_to_models: Literal["pdf", "picture"] | None = None
    is_archive: bool = False
    is_text: bool = False
    is_fetched: bool = True
    layout_name: str = ""
    anchors: Anchors = NO_ANCHORS
    has_tables: bool = False
    notes_on_pages: bool = False
    takes_comments: bool = False

    @property
    def function(self) -> str:
        """The path of the function that reads it, for an isolated process, or an empty string."""
        return f"{self.reader}.read" if self.reader else ""

    @cached_property
    def reader_version(self) -> str:
        """Identifies this version of reader and libraries. Documents read by another version count
        as other renditions.
        """
        return ", ".join([f"{self.name} {self.edition}", *filter(None, map(_installed, self.packages))])


def _installed(package: str) -> str:
    """Returns the package with its version, or an empty string if an optional package is not installed."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""
