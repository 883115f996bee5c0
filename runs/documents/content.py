"""The content of a file as text: decides whether bytes are text, and keeps the hash of the original."""

import hashlib
from collections.abc import Callable
from functools import cache

from runs.documents.places.document import Document
from runs.text.paths import can_be_seen


class Converted(bytes):
    """The UTF-8 text of a file that was in another encoding or format.

    `sha256` is the hash of the original file. Evidence names it, because it is what people have and can compare.
    `document` reads the places of the text when they are needed; it is None if the text has only lines. `guessed`: its
    encoding was guessed, and another one is about as likely.
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
    """A content that is not text, whatever its bytes look like: a PDF file may be pure ASCII."""


def digest_of(data: bytes) -> str:
    """Returns the SHA-256 of the original content, in hex."""
    return data.sha256 if isinstance(data, Converted) else hashlib.sha256(data).hexdigest()


def is_guessed(data: bytes) -> bool:
    """Whether the encoding of this text was guessed and another one is about as likely."""
    return isinstance(data, Converted) and data.guessed


def text_of(data: bytes) -> str | None:
    """Returns the decoded text without a byte order mark, or None if the bytes are not text.

    Offsets in evidence count characters of exactly this string. Line endings are as in the file.
    """
    if isinstance(data, Unreadable) or b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def document_of(data: bytes) -> Document | None:
    """Returns the document whose text `text_of` returns, or None if the text has only lines."""
    return data.document() if isinstance(data, Converted) and data.document else None


def is_text(data: bytes) -> bool:
    """Whether the bytes are UTF-8 without NUL. A byte order mark is allowed."""
    return text_of(data) is not None


def is_blank(data: bytes) -> bool:
    """Whether nothing in a file is visible: it is empty, or a text of spaces and invisible characters."""
    text = text_of(data)
    return not data.strip() if text is None else not can_be_seen(text)
