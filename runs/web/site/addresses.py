"""The addresses of places in a run. The read model and reports name places, and pages link to them."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from runs.contracts.base import COMMAND, DIFF, OUTPUT, PERSON, RESULT, STEP
from runs.evidence.citations.citation import Citation
from runs.evidence.results import Evidence, UntracedFigure
from runs.models import Attempt, Step

API_PATH = "/api/v1/"
"""The beginning of every address of the REST API, if it is on."""
MCP_PATH = "/mcp"
"""The path of the MCP server, if it is on."""
MAX_WORDS = 400
"""Characters of the words that an address may ask for in a text."""


@dataclass(frozen=True)
class Place:
    """`start` to before `end` are characters. Else `words` are looked for, or the whole `line` is meant, which counts
    from 1, or what a document has at an `anchor` such as `p23`. Nothing is 0 or empty.
    """

    start: int = 0
    end: int = 0
    line: int = 0
    words: str = ""
    anchor: str = ""

    def __bool__(self) -> bool:
        return self.end > self.start or self.line > 0 or bool(self.words or self.anchor)

    @property
    def query(self) -> dict[str, str | int]:
        """The place as the query of an address."""
        if self.end > self.start:
            return {"start": self.start, "end": self.end}
        asked: dict[str, str | int] = {"line": self.line} if self.line > 0 else {}
        asked |= {"at": self.anchor} if self.anchor else {}
        return asked | ({"words": self.words[:MAX_WORDS]} if self.words else {})


def file_address(run_id: int, path: str, sha256: str = "", place: Place | None = None) -> str:
    """A file of a run, at a version and a place in it; without a version the newest."""
    address = reverse("file", args=[run_id, path])
    return _at(f"{address}?{urlencode({'sha': sha256})}" if sha256 else address, place or Place())


def text_address(run_id: int, name: str, place: Place) -> str:
    """A text that is no file, at a place in it."""
    return _at(reverse("text", args=[run_id, name]), place)


def _at(address: str, place: Place) -> str:
    """A page with a text, at a place in it; the page itself if there is no place."""
    if not place:
        return address
    return f"{address}{'&' if '?' in address else '?'}{urlencode(place.query)}#hit"


def files_address(run_id: int) -> str:
    """The beginning of the address of every file of a run."""
    return reverse("file", args=[run_id, "x"]).removesuffix("x")


def citation_address(run_id: int, one: Citation) -> str:
    """The place in the source that a citation names; the file for a link that quotes nothing. For a broken one the
    nearest words in the source, or empty if there is no such file.
    """
    if one.broken and not one.source:
        return ""
    place = Place(one.source_start, one.source_end)
    if one.broken and not place:
        place = Place(line=one.cited_line, words=one.quote)
    return file_address(run_id, one.source.removeprefix(RESULT), one.sha256, place)


def address_of(place: Step | Attempt) -> str:
    """The page of a step, or an attempt on it. Their plan has to be read with them."""
    if isinstance(place, Attempt):
        return f"{address_of(place.step)}#attempt-{place.number}"
    return reverse("step", args=[place.plan.run_id, place.pk])


def evidence_address(run_id: int, evidence: Evidence, attempt: Attempt | None) -> str:
    """The place that a piece of evidence names; empty if there is none to show. Words that are not there are searched
    for. Without an attempt it is evidence for the final answer.
    """
    source = evidence.source.removeprefix(RESULT)
    words = evidence.quote if evidence.kind == "quote" and not (evidence.verified and source != DIFF) else ""
    place = Place(evidence.start, evidence.end, evidence.line, words)
    if source.startswith("@"):
        name = _text_name(source, attempt) if evidence.verified or evidence.sha256 else ""
        return text_address(run_id, name, place) if name else ""
    return file_address(run_id, source, evidence.sha256, place) if evidence.sha256 else ""


def _text_name(source: str, attempt: Attempt | None) -> str:
    """The name of the text of an attempt, a tool or a person, or of the changes since a rejection; empty for none."""
    if source == OUTPUT:
        return f"attempt-{attempt.pk}-output" if attempt else "answer"
    if source.startswith(COMMAND) and attempt is None:
        return source.removeprefix("@")
    if source.startswith(PERSON):
        return f"request-{source.removeprefix(PERSON)}"
    if source.startswith(STEP):
        return source.removeprefix("@").replace("/", "-")
    return f"attempt-{attempt.pk}-{source.removeprefix('@')}" if attempt else ""


def statement_address(run_id: int, evidence: Evidence, attempt: Attempt | None) -> str:
    """The words of the result that a piece of evidence supports; empty if it names none."""
    place = Place(evidence.statement_start, evidence.statement_end)
    return _in_result(run_id, evidence.statement_in, place, attempt) if evidence.statement_in and place else ""


def untraced_address(run_id: int, figure: UntracedFigure, attempt: Attempt | None) -> str:
    """A figure of the result, at its place; without an attempt, of the final files and answer."""
    return _in_result(run_id, figure.source, Place(figure.start, figure.end), attempt)


def _in_result(run_id: int, source: str, place: Place, attempt: Attempt | None) -> str:
    source = source.removeprefix(RESULT)
    if source.startswith("@"):
        name = _text_name(source, attempt)
        return text_address(run_id, name, place) if name else ""
    info = attempt.overlay.get(source) if attempt else None
    return file_address(run_id, source, info.sha256 if info else "", place)
