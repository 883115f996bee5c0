"""Citations: links in a deliverable from a statement to the place in a source that supports it, each looked up (T8).

A link that is also in a given file, in the same characters, is a quotation from it and no citation of the run.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from runs.documents.content import Converted, text_of
from runs.documents.places.document import Document
from runs.enums import CitationStatus, Provenance
from runs.errors import InvalidInput
from runs.evidence.citations.citation import Citation, Cited, Library
from runs.evidence.citations.citation_reader import MAX_SEARCHED, TOO_MUCH, UNCOMPARED, CitationReader
from runs.evidence.citations.links import MAX_LINKS, MAX_TARGET, links_in
from runs.evidence.citations.notes import MAX_NOTES, notes_in, placed_in
from runs.text.normalisation import one_spaced

MAX_READ = 30_000_000  # bytes of given files that are searched for copied links
MAX_COMPARED = 20_000_000
"""Characters of given files that are read for the links of one text, and that are compared with them: a second. A link
that is not found by then counts as the run's own.
"""
_MARKDOWN = (".md", ".markdown")
_QUOTATION = re.compile(r"(\r?\n)[ \t]*(?:>[ \t]?)+")


class SourceFiles(Protocol):
    """Sources by name, with where their words come from."""

    def __iter__(self) -> Iterator[str]: ...
    def __getitem__(self, name: str) -> bytes: ...
    def provenance(self, name: str) -> Provenance:
        """Where the words of this source come from."""
        ...


def copied(links: Collection[str], files: SourceFiles) -> dict[str, str]:
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


def given_notes(notes: Collection[str], files: SourceFiles) -> set[str]:
    """The notes that also stand in a given document, of which this one may be a copy."""
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
    """The links that are searched for, by what follows their text: each `](` of a file is looked at once."""

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
                link = text[max(0, at - before) : at - before + length]
                if link in links:
                    self.found |= dict.fromkeys(self.left.pop(link, ()), name)
            at = text.find("](", at + 1)


def _end(text: str, at: int) -> str:
    close = text.find(")", at, at + MAX_TARGET)
    return text[at : close + 1] if close > 0 else ""


def _plain(text: str) -> str:
    return one_spaced(_QUOTATION.sub(r"\1", text))


def citations_in(
    text: str, library: Library, allowance: int = MAX_SEARCHED, *, finished: bool = False, most: int = MAX_LINKS
) -> Cited:
    """Every citation of a Markdown text, looked up. Links elsewhere (`https:`, `#heading`) are none.

    Linear in the text; the sources are searched up to `allowance` characters. What is not looked up is broken. Those
    that do not hold as they are, and in a `finished` text all of them, may be copied from a given file.
    `most`: how many links are looked up.
    """
    try:
        reader = CitationReader(text, links_in(text), library, allowance)
    except InvalidInput as error:
        return Cited(problem=f"Its citations were not looked up: {error}.")
    found = _without_copied(text, list(reader.resolved(reader.links[:most])), library, finished=finished)
    until = reader.links[most].start if len(reader.links) > most else None
    return Cited(tuple(found), searched=allowance - reader.left, until=until)


def cited_at(text: str, start: int, end: int, library: Library) -> list[Citation]:
    """The citations of a Markdown text whose link or statement overlaps the characters `start` to before `end`.

    Broken ones are left out: the others carry the words there, as far as their `provenance` can.
    """
    try:
        reader = CitationReader(text, links_in(text), library)
    except InvalidInput:
        return []
    found = _without_copied(text, list(reader.resolved(reader.near(start, end))), library)
    return [one for one in found if not (one.broken or one.plain)]


def noted_in(document: Document, library: Library, allowance: int = MAX_SEARCHED, *, most: int = MAX_NOTES) -> Cited:
    """The same of a Word or a PDF document that was made, whose citations are notes. Offsets are those of its text.

    What does not hold is none of its own where the whole note stands in a given file. `problem` says from where on
    there was too much to be looked up.
    """
    notes, rest = notes_in(document, library.__contains__)
    blocks, links, sought = placed_in(document, notes[:most])
    reader = CitationReader(document.text, (blocks, links), library, allowance)
    found = list(reader.noted(zip(links, notes, strict=False)))
    unplaced = set(notes[sought:])
    given = given_notes({document.text[note.start : note.end] for note, one in found if one.broken}, library)
    cited = tuple(
        replace(one, weak=one.weak or UNCOMPARED) if note in unplaced and not one.broken else one
        for note, one in found
        if not (document.text[note.start : note.end] in given or (one.broken and reader.may_have(note, one)))
    )
    problem = f"Its notes from {rest} on were not looked up: {TOO_MUCH}." if rest else ""
    until = notes[most].start if len(notes) > most else None
    return Cited(cited, problem, searched=allowance - reader.left, until=until)


def _without_copied(
    text: str, found: Sequence[Citation], library: Library, *, finished: bool = False
) -> Sequence[Citation]:
    """The citations without those that stand in the same form in a given file."""
    asked = {text[one.start : one.end] for one in found if finished or one.status is not CitationStatus.OK}
    files = copied(asked, library) if asked else {}
    return [_as_copied(one, files[raw]) if (raw := text[one.start : one.end]) in files else one for one in found]


def _as_copied(one: Citation, name: str) -> Citation:
    return replace(
        one,
        status=CitationStatus.COPIED,
        sentence=f"It is written this way in {name}, which is quoted here",
        source=name,
        source_start=0,
        source_end=0,
        source_line=0,
        plain=True,
        by_form=False,
        weak="",
    )
