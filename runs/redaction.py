"""Removes secrets of the environment from texts, in whatever spelling they occur (S5)."""

import base64
import os
import re
import string
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import unquote

MIN_PIECE = 12
"""Letters and digits in a row that give a secret away. Fewer may be the public beginning of a key (`sk-ant-api03-`)."""
MIN_SECRET = 8  # characters; shorter values would be removed from ordinary text
MIN_PLAIN_SECRET = 16
"""A shorter value without both letters and digits is a word, such as `not-needed` for a server that wants no key."""
REPLACEMENT = "(redacted)"

_NAMES = frozenset(
    {"KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS"}
)
_NOT_SECRET = frozenset(
    ["DIR", "ENV", "FILE", "FILENAME", "FOLDER", "HOME", "HOST", "ID", "NAME", "PATH", "SIZE", "SOCK", "TTL", "TYPE"]
)
"""Words of a name that say that the variable is only about a secret."""
_KEY_NAME_PREFIX = "PEV_API_KEY_ENV_"
"""Variables that name another variable, which has a key. Some people set them to the key itself."""
_IN_HEADERS = re.compile(r"[:=]\s*(?:[a-z]+(?:\s+|%20))?([^,\s]+)", re.IGNORECASE)
"""Values of `name: value` lines and of `name=value,name=value`, behind a word such as Bearer."""
_IN_ADDRESS = re.compile(r"://[^/@\s]*:([^/@\s]+)@")
_PLACE = re.compile(r"(?:~|\.{0,2})/[\w.-]+(?:/[\w.-]+)+/?")
"""A path to a secret. It may occur in texts, and removing it would break citations."""
_LAYERS = 3
"""How often escapes are decoded, such as percent signs inside JSON."""
_ESCAPES = re.compile(
    r"%(?P<percent>[0-9a-f]{2})"
    r"|(?<!\\)\\+(?:u(?P<unicode>[0-9a-f]{4})|u\{0{0,4}(?P<point>[0-9a-f]{1,4})\}"
    r"|x(?P<escape>[0-9a-f]{2})|(?P<octal>[0-3][0-7]{2})|(?P<space>[nrtbfv]))"
    r"|&\#x0{0,6}(?P<entity>[0-9a-f]{1,4});?|&\#0{0,6}(?P<number>[0-9]{1,4});?"
    r"|\b0x(?P<literal>[0-9a-f]{2})\b|=(?P<quoted>[0-9a-f]{2})",
    re.IGNORECASE,
)
_MARKS = ("\\", "%", "&#", "0x", "0X", "=")
"""Without one of these a text has no escapes. Looking for them takes a tenth of the time of the pattern."""
_BASES = {"number": 10, "octal": 8}
_TO_LOWER = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
_NOT_FOLDED = bytes(code for code in range(256) if not chr(code).isascii() or not chr(code).isalnum())


class _Form(NamedTuple):
    """One spelling of a secret, folded; every `piece` characters of it give it away."""

    text: bytes
    piece: int


type _Grams = Mapping[int, Mapping[bytes, Sequence[tuple[_Form, int]]]]
"""By length, all blocks of the forms, with the form and the place in it. A text is cut into blocks to find one."""


def redacted(text: str) -> str:
    """The text without any secret of the environment, or a piece of one that gives it away.

    Secrets are what variables named like keys, tokens and passwords hold, values of headers, and passwords in
    addresses. They are found with other capitals, with spaces, line breaks or punctuation inside, as percent, JSON,
    HTML or C escapes (one inside another too), in hexadecimal, in decimal, and in base64 from any byte on. Linear in
    the text.
    """
    grams = _grams(_secrets(tuple(os.environ.items())))
    if not grams or not any(_may_hold(view, grams) for view in _decoded(text)):
        return text
    spans = [span for view, places in _decoded_with_places(text) for span in _spans_in(view, places, grams)]
    parts, end = [], 0
    for first, last in sorted(spans):
        if first >= end:
            parts += [text[end:first], REPLACEMENT]
        end = max(end, last)
    return "".join([*parts, text[end:]])


@lru_cache(maxsize=4)  # without the cache, most of the time for a short text went here
def _secrets(variables: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    values = dict(variables)
    found = {values.get(name, name).strip() for by, name in variables if by.startswith(_KEY_NAME_PREFIX)}
    for name, value in variables:
        words = name.upper().split("_")
        if not _NAMES.isdisjoint(words) and _NOT_SECRET.isdisjoint(words) and not _PLACE.fullmatch(value):
            found.add(value.strip())
        if words[-1] == "HEADERS":
            found.update(unquote(given) for given in _IN_HEADERS.findall(value))
        if "@" in value:
            found.update(unquote(password) for password in _IN_ADDRESS.findall(value))
    secrets = []
    for value in found:
        is_mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
        if len(_fold(value)) >= MIN_SECRET and (is_mixed or len(value) >= MIN_PLAIN_SECRET):
            secrets.append(value)
    return tuple(sorted(secrets))


@lru_cache(maxsize=4)
def _grams(secrets: tuple[str, ...]) -> _Grams:
    found: dict[int, dict[bytes, list[tuple[_Form, int]]]] = {}
    for text in {_fold(spelling) for secret in secrets for spelling in _spellings(secret)}:
        form = _Form(text, min(MIN_PIECE, len(text)))
        size = (form.piece + 1) // 2  # any 2n - 1 characters of a text that is cut into blocks of n contain a whole one
        grams = found.setdefault(size, {})
        for at in range(len(text) - size + 1):
            grams.setdefault(text[at : at + size], []).append((form, at))
    return found


def _spellings(secret: str) -> Iterator[str]:
    data = secret.encode("utf-8", "surrogateescape")
    yield from (secret, data.hex())
    yield "".join(str(code) for code in data)
    for before in range(3):  # a byte can be at three places in base64; the ends depend on the bytes next to the secret
        encoded = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        yield encoded[(0, 2, 3)[before] : -1]


def _fold(text: str) -> bytes:
    """Letters and digits only, in lower case."""
    return text.encode("ascii", "ignore").translate(_TO_LOWER, _NOT_FOLDED)


def _decoded(text: str) -> Iterator[str]:
    """The text, then with its escapes decoded, then with those that this has produced, and so on."""
    yield text
    for _ in range(_LAYERS):
        if not any(mark in text for mark in _MARKS):
            return
        before, text = text, _ESCAPES.sub(_character, text)
        if text == before:
            return
        yield text


def _may_hold(text: str, grams: _Grams) -> bool:
    """Whether one of the blocks into which the text is cut is in a secret. Most texts end here."""
    folded = _fold(text)
    for size, known in grams.items():
        whole = memoryview(folded)[: len(folded) // size * size]
        # For a long reply this is most of the work; slices would take twice the time.
        blocks = map(itemgetter(0), struct.iter_unpack(f"{size}s", whole))
        if not known.keys().isdisjoint(blocks):
            return True
    return False


def _decoded_with_places(text: str) -> Iterator[tuple[str, list[int] | None]]:
    """The same, each with the place of every character in the original text, and its end; None for the text itself."""
    places: list[int] | None = None
    yield text, None
    for _ in range(_LAYERS):
        before = text
        text, places = _decode(text, places)
        if text == before:
            return
        yield text, places


def _decode(text: str, places: list[int] | None) -> tuple[str, list[int]]:
    at = places if places is not None else list(range(len(text) + 1))
    parts, kept, end = [], list[int](), 0
    for match in _ESCAPES.finditer(text):
        parts += [text[end : match.start()], _character(match)]
        kept += at[end : match.start()]
        kept.append(at[match.start()])
        end = match.end()
    return "".join([*parts, text[end:]]), [*kept, *at[end:]]


def _character(match: re.Match[str]) -> str:
    kind = match.lastgroup or "space"
    return " " if kind == "space" else chr(int(match[kind], _BASES.get(kind, 16)))


def _spans_in(view: str, places: list[int] | None, grams: _Grams) -> Iterator[tuple[int, int]]:
    """The places of secrets in a decoded text, as spans of the original text."""
    folded = _fold(view)
    kept = [at for at, char in enumerate(view) if char.isascii() and char.isalnum()]
    for first, last in _pieces(folded, grams):
        start, end = kept[first], kept[last - 1] + 1
        yield (start, end) if places is None else (places[start], places[end])


def _pieces(folded: bytes, grams: _Grams) -> Iterator[tuple[int, int]]:
    """The places of pieces that are long enough to give a secret away."""
    for size, known in grams.items():
        done = 0
        for at in range(0, len(folded), size):
            for form, offset in known.get(folded[at : at + size], ()) if at + size > done else ():
                first, last = _extend(folded, at, size, form, offset)
                if last - first >= form.piece:
                    yield first, last
                    done = max(done, last)


def _extend(folded: bytes, at: int, size: int, form: _Form, offset: int) -> tuple[int, int]:
    """How far the text and the form agree around a block that they have in common."""
    first, start = at, offset
    while first > 0 and start > 0 and folded[first - 1] == form.text[start - 1]:
        first, start = first - 1, start - 1
    last, end = at + size, offset + size
    while last < len(folded) and end < len(form.text) and folded[last] == form.text[end]:
        last, end = last + 1, end + 1
    return first, last
