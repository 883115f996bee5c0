"""The content of a file as text: which bytes are text, how it was converted, and the hash of the original."""

import hashlib
from collections.abc import Callable
from functools import cache

from runs.documents.places.document import Document
from runs.text.paths import can_be_seen


class Converted(bytes):
    """A text as UTF-8 that was given in another encoding or format. `sha256` is the hash of what was given, which
    evidence names: it is what people have and can compare. `document` reads the places of its text, when they are asked
    for; None where a text has nothing but lines. `guessed`: its encoding was guessed, and others are about as likely.
    """

    sha256: str
    document: Callable[[], Document] | None
    guessed: bool

    def __new__(
        cls, data: bytes, sha256: str, document: Callable[[], Document] | None = None, *, guessed: bool = False
    ) -> "Converted":
        made = super().__new__(cls, data)
        made.sha256 = sha256
        made.document = document and cache(document)
        made.guessed = guessed
        return made


class Unreadable(bytes):
    """A content that is no text, whatever its bytes look like: a PDF file may be nothing but ASCII."""


def digest_of(data: bytes) -> str:
    """The SHA-256, in hex, of a content as it was given."""
    return data.sha256 if isinstance(data, Converted) else hashlib.sha256(data).hexdigest()


def is_guessed(data: bytes) -> bool:
    """Whether this is a text whose encoding was guessed, while others are about as likely."""
    return isinstance(data, Converted) and data.guessed


def text_of(data: bytes) -> str | None:
    """The decoded text without a byte order mark, or None when the bytes are not text.

    Offsets in Evidence count characters of exactly this string; line endings are as in the file.
    """
    if isinstance(data, Unreadable) or b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def document_of(data: bytes) -> Document | None:
    """The places of a document's text, which is what `text_of` gives; None for a text that has nothing but lines."""
    return data.document() if isinstance(data, Converted) and data.document else None


def is_text(data: bytes) -> bool:
    """Whether the bytes are UTF-8 (a byte order mark is allowed) without NUL."""
    return text_of(data) is not None


def is_blank(data: bytes) -> bool:
    """Whether nothing in a file can be seen: it is empty, or a text of spaces and invisible characters alone."""
    text = text_of(data)
    return not data.strip() if text is None else not can_be_seen(text)
