"""What a document format declares: how its files are recognised, who reads them, and what a reader may use."""

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
"""Of a document; it is sent to its reader whole."""
LIMITS = Limits(megabytes=1_024, cpu_seconds=30, seconds=60, files=32, output=32_000_000)
"""Some five times what the largest documents of the tests take; a hostile one is ended there."""
OF_PICTURES = replace(LIMITS, cpu_seconds=400, seconds=600)
"""Reading the words of a page takes up to three seconds, twice that while others are read. The reader stops OCR well
before.
"""
HTML_PACKAGES = ("lxml", "tinycss2", "cssselect2")
"""What HTML is read with, also inside of mails and e-books."""


class Signature(NamedTuple):
    """Bytes that must stand at their offsets, or a pattern that the content begins with.

    `binary`: the bytes may begin a text, so there must be a NUL too. `in_ascii`: a content that fits may be all ASCII
    and is still no text. `is_inside`: the bytes may be a part of a file of another format, so a content is first
    compared with all others.
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
    """A signature for each of these beginnings."""
    return tuple(Signature(((0, magic),), binary=binary, in_ascii=in_ascii) for magic in magics)


@dataclass(frozen=True)
class DocumentFormat:
    """One format, declared as `FORMAT` by a module or package in `runs/documents/formats/`.

    `title`: what people call it, with an article. `unit`: what the format counts, such as "page".

    How it is recognised: `signatures`; for a zip with parts, `zip_part` (how the name of its main part begins) or
    `zip_media_type` (what its uncompressed first part begins with); `is_text_of` for a text, by its beginning; and
    `media_types` if it comes from the web.

    `reader`: a module whose `read` makes text and layout from the bytes in an isolated process; empty if there is none.
    `edition` grows when it reads the same content differently, so that documents are read again; `packages` are those
    whose versions matter for the same reason. `attachments`: the module has a function `attachments` too.

    `drawing`: a module whose `picture` and `thumbnail` draw pages. `has_places`: it can say where characters are.
    `shown_to_models`: how models take its pages.

    `is_archive`: it is unpacked when it is given. `is_text`: its files are written as text. `is_fetched`: an address
    on the web may be of this format. `layout_name`: what its reader calls the format in layouts, if not `name`.

    `anchors`: what its places are called. `has_tables`: its rows can be read as tables. `notes_on_pages`: notes are
    part of the text of a page, and not blocks of their own. `takes_comments`: comments can be added to its files.
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
        """The function that reads it, for an isolated process; empty if there is none."""
        return f"{self.reader}.read" if self.reader else ""

    @cached_property
    def reader_version(self) -> str:
        """Readings by another version of reader or packages may differ, so they are other renditions."""
        return ", ".join([f"{self.name} {self.edition}", *filter(None, map(_installed, self.packages))])


def _installed(package: str) -> str:
    """With its version; empty for an optional package that is not installed."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""
