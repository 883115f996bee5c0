"""The place in a text that an address names: characters, a line, or words that are searched for."""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass

from django.http import HttpRequest

from runs.documents.places.document import Document
from runs.evidence.passages import SourceSpan, find
from runs.text.normalisation import Markup, caseless, find_same_text
from runs.text.scripts import UNSPACED
from runs.text.truncate import quoted
from runs.web.files.excerpt import MAX_CHARS
from runs.web.site.addresses import MAX_WORDS, Place

_WORD = re.compile(rf"(?=\w)[{UNSPACED}]|[^\W{UNSPACED}]+")
_ALIKE = 0.5
"""The share of the words that a place must have to be called the nearest one."""


@dataclass(frozen=True)
class Pointed:
    """Characters `start` to before `end`, both 0 for none. `problem`: a sentence if this is not the requested place."""

    start: int
    end: int
    problem: str = ""


def asked_in(request: HttpRequest) -> Place:
    """The place that the address names."""
    given = request.GET
    return Place(
        number_in(given.get("start", "")),
        number_in(given.get("end", "")),
        number_in(given.get("line", "")),
        given.get("words", "").strip()[:MAX_WORDS],
        given.get("at", "").strip()[:MAX_WORDS],
    )


def number_in(given: str) -> int:
    """A number in an address; 0 if it is invalid or far too large."""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else 0


def find_place(place: Place, text: str, document: Document | None = None) -> Pointed:
    """The place in this text or document. Takes linear time in the first `MAX_CHARS` characters."""
    if place.end > place.start:
        return Pointed(place.start, place.end)
    if place.anchor and not place.words:
        span = document.span_of(place.anchor) if document else None
        return Pointed(*span) if span else Pointed(0, 0, f"There is no place {quoted(place.anchor)} in this file.")
    line = _line(text, place.line)
    if not place.words:
        return line
    if quote := find(place.words, text):
        return Pointed(quote.start, quote.end)
    if same := find_same_text(place.words, text, Markup.MARKDOWN):
        return Pointed(*same)
    missing = f"{quoted(place.words, MAX_WORDS)} is not in this text."
    near = nearest(place.words, text[:MAX_CHARS])
    if near:
        return Pointed(near.start, near.end, f"{missing} What comes nearest to it is marked.")
    if line.end:
        return Pointed(line.start, line.end, f"{missing} Line {place.line:,}, which was named, is marked.")
    return Pointed(0, 0, missing)


def nearest(words: str, text: str) -> SourceSpan | None:
    """The part of the text, as long as these words, that has most of them; None if it has fewer than half."""
    wanted = Counter(caseless(match[0]) for match in _WORD.finditer(words))
    count = wanted.total()
    window: deque[tuple[str, int]] = deque()
    left = wanted.copy()  # what of the wanted words is not in the window
    held = best = 0
    place = (0, 0)
    for match in _WORD.finditer(text):
        word = caseless(match[0])
        window.append((word, match.start()))
        held += left[word] > 0
        left[word] -= 1
        if len(window) > count:
            gone, _ = window.popleft()
            left[gone] += 1
            held -= left[gone] > 0
        if held > best and word in wanted:
            best, place = held, (next(start for one, start in window if one in wanted), match.end())
    if best < max(2, _ALIKE * count):
        return None
    return SourceSpan(place[0], place[1], text.count("\n", 0, place[0]) + 1)


def _line(text: str, number: int) -> Pointed:
    """A line without the space around it; `Pointed(0, 0)` if it is empty or does not exist."""
    start = -1
    for _ in range(min(number, text.count("\n") + 1) - 1):
        start = text.index("\n", start + 1)
    end = text.find("\n", start + 1)
    words = text[start + 1 : end if end >= 0 else len(text)]
    begun = start + 1 + len(words) - len(words.lstrip())
    return Pointed(begun, begun + len(words.strip())) if number > 0 and words.strip() else Pointed(0, 0)
