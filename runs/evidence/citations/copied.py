"""Links that a text quotes from a given file: they stand there in the same characters, and cite nothing for the run."""

import re
from collections.abc import Collection, Iterator
from typing import Protocol

from runs.documents.content import Converted, text_of
from runs.enums import Provenance
from runs.evidence.citations.links import MAX_TARGET
from runs.text.normalisation import one_spaced

MAX_READ = 30_000_000
MAX_COMPARED = 20_000_000
"""Characters of given files that are read for the links of one text, and that are compared with them: a second. What is
not found by then counts as the run's own.
"""
_MARKDOWN = (".md", ".markdown")
_QUOTATION = re.compile(r"(\r?\n)[ \t]*(?:>[ \t]?)+")


class Files(Protocol):
    """Sources by name, with where their words come from."""

    def __iter__(self) -> Iterator[str]: ...
    def __getitem__(self, name: str) -> bytes: ...
    def provenance(self, name: str) -> Provenance:
        """Where the words of this source come from."""
        ...


def copied(links: Collection[str], files: Files) -> dict[str, str]:
    """Which of these links, in the characters of their text, stand in a given file, and in which.

    White space and the marks of a quotation don't count. A link without its target in it is never one of them: it may
    lead somewhere else here.
    """
    wanted = _Wanted(links)
    given = [name for name in files if files.provenance(name) is Provenance.GIVEN] if wanted.left else []
    read = MAX_READ
    for name in sorted(given, key=lambda name: not name.lower().endswith(_MARKDOWN)):
        try:
            data = files[name]
        except FileNotFoundError:  # pages show a run of which the store has lost a file
            continue
        read -= len(data)
        if read < 0 or wanted.allowance < 0 or not wanted.left:
            break
        if b"](" in data and (text := text_of(data)):
            wanted.look_in(name, _plain(text))
    return wanted.found


def given_notes(notes: Collection[str], files: Files) -> set[str]:
    """Which of these notes of documents stand so in a document that was given, of which this one may be a copy."""
    wanted, found, left = set(notes), set[str](), MAX_COMPARED
    for name in sorted(name for name in files if files.provenance(name) is Provenance.GIVEN) if wanted else ():
        text = text_of(data) if isinstance(data := files[name], Converted) else None
        for note in wanted - found if text else ():
            left -= len(text or "")
            if left < 0:
                return found
            if text and note in text:
                found.add(note)
    return found


class _Wanted:
    """The links that are looked for, by what follows their text: each `](` of a file is looked at once."""

    def __init__(self, links: Collection[str]) -> None:
        self.found: dict[str, str] = {}
        self.allowance = MAX_COMPARED
        self.left: dict[str, list[str]] = {}
        self._ends: dict[str, dict[tuple[int, int], set[str]]] = {}
        for link in links:
            plain = _plain(link)
            at = plain.find("](")
            if at >= 0 and plain not in self.left:
                self._ends.setdefault(_end(plain, at), {}).setdefault((at, len(plain)), set()).add(plain)
            if at >= 0:
                self.left.setdefault(plain, []).append(link)

    def look_in(self, name: str, text: str) -> None:
        at = text.find("](")
        while at >= 0 and self.allowance >= 0:
            for (before, length), links in self._ends.get(_end(text, at), {}).items():
                self.allowance -= length
                self._take(text[max(0, at - before) : at - before + length], links, name)
            at = text.find("](", at + 1)

    def _take(self, link: str, links: set[str], name: str) -> None:
        if link in links:
            self.found |= dict.fromkeys(self.left.pop(link, ()), name)


def _end(text: str, at: int) -> str:
    close = text.find(")", at, at + MAX_TARGET)
    return text[at : close + 1] if close > 0 else ""


def _plain(text: str) -> str:
    return one_spaced(_QUOTATION.sub(r"\1", text))
