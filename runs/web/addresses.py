"""The addresses of places in a run: what reading and reports name, pages link."""

from urllib.parse import urlencode

from django.urls import reverse

from runs.models import Attempt, Step
from runs.pev.citations.lookup import Citation
from runs.pev.contracts import RESULT
from runs.pev.evidence.results import Evidence


def file_address(run_id: int, path: str, sha256: str = "", start: int = 0, end: int = 0) -> str:
    """A file of a run, at a version and a place in it."""
    address = reverse("file", args=[run_id, path])
    if not sha256:
        return address
    place = {"sha": sha256} | ({"start": start, "end": end} if end > start else {})
    return f"{address}?{urlencode(place)}" + ("#hit" if end > start else "")


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

    Without an attempt it is evidence on the final answer, which stands on the same page.
    """
    if evidence.source.startswith("@"):
        name = evidence.source[1:]
        place = f"{address_of(attempt)}-{name}" if attempt else f"#{name}"
        return place if evidence.verified else ""
    if not evidence.sha256:
        return ""
    return file_address(run_id, evidence.source, evidence.sha256, evidence.start, evidence.end)
