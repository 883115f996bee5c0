"""Citations: links in a deliverable from a statement to the place in a source that carries it, each looked up (T8)."""

from collections.abc import Sequence
from dataclasses import replace

from runs.documents.places.document import Document
from runs.enums import CitationStatus
from runs.errors import InvalidInput
from runs.evidence.citations.citation import Citation, Cited, Library
from runs.evidence.citations.copied import copied, given_notes
from runs.evidence.citations.links import MAX_LINKS, links_in
from runs.evidence.citations.notes import MAX_NOTES, notes_in
from runs.evidence.citations.placing import placed_in
from runs.evidence.citations.reader import MAX_SEARCHED, TOO_MUCH, UNCOMPARED, Reader


def citations_in(
    text: str, library: Library, allowance: int = MAX_SEARCHED, *, finished: bool = False, most: int = MAX_LINKS
) -> Cited:
    """Every citation of a Markdown text, looked up. Links elsewhere (`https:`, `#heading`) are none.

    Linear in the text; the sources are searched up to `allowance` characters. What is not looked up is broken. Those
    that do not hold as they are, and in a `finished` text all of them, may be copied from a given file.
    `most`: how many links are looked up.
    """
    try:
        reader = Reader(text, links_in(text), library, allowance)
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
        reader = Reader(text, links_in(text), library)
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
    reader = Reader(document.text, (blocks, links), library, allowance)
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
    """The citations, of which those that stand so in a given file are none of the text's own."""
    asked = {text[one.start : one.end] for one in found if finished or one.status is not CitationStatus.OK}
    files = copied(asked, library) if asked else {}
    return [_copied(one, files[raw]) if (raw := text[one.start : one.end]) in files else one for one in found]


def _copied(one: Citation, name: str) -> Citation:
    return replace(
        one,
        status=CitationStatus.COPIED,
        sentence=f"It stands so in {name}, which is quoted here",
        source=name,
        source_start=0,
        source_end=0,
        source_line=0,
        plain=True,
        by_form=False,
        weak="",
    )
