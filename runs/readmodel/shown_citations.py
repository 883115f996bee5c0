"""Looks up the citations in the answer of a run and in the files that it made, as they are now."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from runs.documents.places.document import Document as Laid
from runs.enums import CitationStatus
from runs.evidence.citations.citation import Citation, Cited
from runs.evidence.citations.citing import broken_line, is_markdown, may_cite, of_the_run, superfluous_line
from runs.evidence.citations.lookup import citations_in, noted_in
from runs.evidence.citations.statements import Uncited, uncited
from runs.evidence.sources import GivenFiles, Sources
from runs.models import Attempt, Run
from runs.pev.contracts import PlanStep
from runs.readmodel.memo import WeightedCache
from runs.readmodel.run_files import written_files
from runs.store import renditions, trees
from runs.text.plural import pluralize

MAX_LINKS = 2_000
MAX_CHARACTERS = 400_000
MAX_SEARCHED = 10_000_000
"""Limits for one text that is shown: links that are looked up, its characters, and characters of its sources that are
searched. The pre-checks and the end of a run look up everything; a page must not take more than a second or two.
"""
MAX_ALL_CHARACTERS = 1_000_000
"""Characters of all texts in one report whose citations are counted."""
MAX_KEPT = 20_000
"""Citations that this process caches, about 30 MB: each page and each update shows most of them again."""


@dataclass(frozen=True)
class CitingDocument:
    """A delivered text: the answer, or the file at `path`. `finished`: the plan wants it without citations."""

    path: str
    cited: Cited
    uncited: tuple[Uncited, ...] = ()
    finished: bool = False

    @property
    def name(self) -> str:
        return self.path or "The answer"

    @property
    def notes(self) -> list[Citation]:
        """The citations in notes of a document, which no page shows as links."""
        return [one for one in self.cited.citations if one.at]


@dataclass(frozen=True)
class CitationProblem:
    """A problem of a document as a sentence; `citation` is the citation that it is about, if there is one."""

    document: CitingDocument
    sentence: str
    citation: Citation | None = None

    def __str__(self) -> str:
        return f"{self.document.name}: {self.sentence}"


@dataclass(frozen=True)
class RunCitations:
    """The citations of documents. Documents without citations are listed as well."""

    documents: tuple[CitingDocument, ...]

    @cached_property
    def all(self) -> tuple[Citation, ...]:
        return tuple(one for document in self.documents for one in document.cited.citations)

    @cached_property
    def broken(self) -> list[CitationProblem]:
        """Broken citations and links to files, citations that should not be there, and documents that could not be
        searched.
        """
        found: list[CitationProblem] = []
        for document in self.documents:
            cited = document.cited
            if document.finished:
                unwanted = (one for one in cited.citations if one.by_form)
                found += (CitationProblem(document, superfluous_line(one), one) for one in unwanted)
                continue
            if cited.problem:
                found.append(CitationProblem(document, cited.problem))
            found += (CitationProblem(document, broken_line(one), one) for one in cited.broken)
        return found

    @cached_property
    def corrected(self) -> list[str]:
        return [
            f"{document.name}: {one.stands}: {one.sentence}."
            for document in self.documents
            for one in document.cited.citations
            if one.status is CitationStatus.CORRECTED
        ]

    @property
    def weak(self) -> int:
        """How many citations may prove nothing, such as those next to a figure that their source does not have."""
        return sum(1 for one in self.all if one.weak)

    @property
    def sentence(self) -> str:
        """The sentence with which a report begins."""
        count, broken = len(self.all), len(self.broken)
        if not (count or broken or self.rest):
            return "No citations"
        parts = ["all found" if not broken else f"{broken:,} broken"]
        placed = any(one.place for one in self.all if one.status is CitationStatus.CORRECTED)
        parts += [f"{len(self.corrected):,} with a corrected {'place' if placed else 'line'}"] if self.corrected else []
        parts += [f"{self.weak:,} to check (each with the reason for doubt)"] if self.weak else []
        parts += [f"{self.rest} not looked through here to the end"] if self.rest else []
        return f"{pluralize(count, 'citation')}, {', '.join(parts)}"

    @property
    def rest(self) -> str:
        """The documents of which only the first citations were looked up, because they are long."""
        names = [document.name for document in self.documents if document.cited.until is not None]
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        return ", ".join(names[:3]) + more


def sources_of(place: Run | Attempt) -> Sources:
    """The sources that texts of a run may cite. Texts of an attempt may also cite what that attempt wrote."""
    run = place.step.plan.run if isinstance(place, Attempt) else place
    changes = place.overlay if isinstance(place, Attempt) else {}
    now = {**trees.files_of(run.head), **{path: info for path, info in changes.items() if info}}
    files = trees.contents_of(run.head) if not changes else trees.TreeBytes(now, trees.readings_of(run.head))
    inputs = trees.files_of(run.inputs)
    made = [path for path, info in now.items() if inputs.get(path) != info]
    return Sources(files, GivenFiles(trees.contents_of(run.inputs), inputs), made=made)


def cited_in(text: str, place: Run | Attempt, *, finished: bool = False) -> Cited:
    """The first citations of a text that the run or the attempt wrote. Reads nothing for a text without links."""
    if "](" not in text and "]:" not in text:
        return Cited()
    run = place.step.plan.run if isinstance(place, Attempt) else place
    changes = place.overlay if isinstance(place, Attempt) else {}
    written = tuple(sorted((path, info.sha256) for path, info in changes.items() if info))
    digest = hashlib.sha256(text.encode(errors="replace")).digest()
    key = (digest, run.inputs.digest, run.head.digest, written, finished)
    return _cache.get(key, lambda: _look_up(text, sources_of(place), finished=finished))


def noted_by(run: Run, path: str, sha256: str, text: Laid, finished: Collection[str] = ()) -> CitingDocument:
    """The citations of a Word or PDF document that the run made, in one of its versions, whose text is `text`."""
    key = (sha256, run.inputs.digest, run.head.digest)
    cited = _cache.get(key, lambda: noted_in(text, sources_of(run), MAX_SEARCHED, most=MAX_LINKS))
    return CitingDocument(path, cited, finished=path in finished)


def _look_up(text: str, sources: Sources, *, finished: bool) -> Cited:
    beginning = text[:MAX_CHARACTERS]
    cited = citations_in(beginning, sources, MAX_SEARCHED, finished=finished, most=MAX_LINKS)
    if cited.until is None and len(beginning) < len(text):
        return replace(cited, until=len(beginning))
    return cited


_cache = WeightedCache[Cited](MAX_KEPT, lambda cited: len(cited.links) + 1)


def document_of(run: Run, path: str, text: str | None, finished: Collection[str] = ()) -> CitingDocument:
    """One file that the run made, in any of its versions, or its answer. `finished`: files that must not cite."""
    text = text or ""
    cited = cited_in(text, run, finished=path in finished)
    stated = () if path in finished else tuple(uncited(text[:MAX_CHARACTERS]))
    if cited.links:  # links that the file already had when it was given are not the run's
        before = trees.files_of(run.inputs).get(path)
        cited = of_the_run(text, cited, (_text(before.sha256) or "") if before else "")
    return CitingDocument(path, cited, stated, path in finished)


def finished_in(steps: Iterable[PlanStep]) -> frozenset[str]:
    """The files of these steps that must not contain citations."""
    return frozenset(output.path for step in steps for output in step.expected_outputs if not output.cited)


def citations_of(run: Run, finished: frozenset[str] = frozenset()) -> RunCitations:
    """The citations of the answer and of every Markdown, Word and PDF file that the run made.

    `finished` are files that must not have any.
    """
    return RunCitations(tuple(_documents(run, finished)))


def _documents(run: Run, finished: frozenset[str]) -> Iterator[CitingDocument]:
    if run.answer:
        yield document_of(run, "", run.answer)
    left = MAX_ALL_CHARACTERS
    for path, info in written_files(run, run.head).items():
        if not may_cite(path):
            continue
        left -= min(info.size, MAX_CHARACTERS)
        if left < 0:
            yield CitingDocument(path, Cited(until=0), finished=path in finished)
            continue
        laid = renditions.document_of(info.sha256) if not is_markdown(path) else None
        yield (
            noted_by(run, path, info.sha256, laid, finished)
            if laid
            else document_of(run, path, _text(info.sha256), finished)
        )


def _text(sha256: str) -> str | None:
    try:
        return trees.read_text(sha256)
    except FileNotFoundError:
        return None
