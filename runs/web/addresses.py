"""The addresses of places in a run: what reading and reports name, pages link."""

from urllib.parse import urlencode

from django.urls import reverse

from runs.models import Attempt, Step
from runs.pev.citations.lookup import Citation
from runs.pev.contracts import DIFF, OUTPUT, PERSON, RESULT
from runs.pev.evidence.results import Evidence


def file_address(run_id: int, path: str, sha256: str = "", start: int = 0, end: int = 0) -> str:
    """A file of a run, at a version and a place in it."""
    address = reverse("file", args=[run_id, path])
    return _at(f"{address}?{urlencode({'sha': sha256})}", start, end) if sha256 else address


def _at(address: str, start: int, end: int) -> str:
    """A page that shows a text, at these characters of it; the page itself for a place that is none."""
    if end <= start:
        return address
    return f"{address}{'&' if '?' in address else '?'}{urlencode({'start': start, 'end': end})}#hit"


def files_address(run_id: int) -> str:
    """What the address of every file of a run begins with."""
    return reverse("file", args=[run_id, "x"]).removesuffix("x")


def citation_address(run_id: int, one: Citation) -> str:
    """The place in the source that a citation names; the file, for a link that quotes nothing."""
    path = one.source.removeprefix(RESULT)
    return file_address(run_id, path, one.sha256, one.source_start, one.source_end)


def address_of(place: Step | Attempt) -> str:
    """The page of a step, or an attempt on it. Their plan has to be read with them."""
    if isinstance(place, Attempt):
        return f"{address_of(place.step)}#attempt-{place.number}"
    return reverse("step", args=[place.plan.run_id, place.pk])


def evidence_address(run_id: int, evidence: Evidence, attempt: Attempt | None) -> str:
    """The very place that a piece of evidence names; empty where there is none to show.

    Without an attempt it is evidence on the final answer.
    """
    source = evidence.source.removeprefix(RESULT)
    if source.startswith("@"):
        address = _text_address(run_id, source, attempt)
        return _at(address, evidence.start, evidence.end) if evidence.verified and address else ""
    if not evidence.sha256:
        return ""
    return file_address(run_id, source, evidence.sha256, evidence.start, evidence.end)


def _text_address(run_id: int, source: str, attempt: Attempt | None) -> str:
    """What an attempt, a tool or a person said. What changed since a rejection is shown on the page of its step."""
    if source == DIFF:
        return address_of(attempt) if attempt else ""
    if source == OUTPUT:
        return reverse("text", args=[run_id, f"attempt-{attempt.pk}-output" if attempt else "answer"])
    if source.startswith(PERSON):
        return reverse("text", args=[run_id, f"request-{source.removeprefix(PERSON)}"])
    return reverse("text", args=[run_id, f"attempt-{attempt.pk}-{source.removeprefix('@')}"]) if attempt else ""


def statement_address(run_id: int, evidence: Evidence, attempt: Attempt | None) -> str:
    """The words of the result that a piece of evidence supports; empty where it names none."""
    source = evidence.statement_in.removeprefix(RESULT)
    if not source or evidence.statement_end <= evidence.statement_start:
        return ""
    if source.startswith("@"):
        address = _text_address(run_id, source, attempt)
        return _at(address, evidence.statement_start, evidence.statement_end) if address else ""
    info = attempt.overlay.get(source) if attempt else None
    sha256 = info.sha256 if info else ""
    return file_address(run_id, source, sha256, evidence.statement_start, evidence.statement_end)
