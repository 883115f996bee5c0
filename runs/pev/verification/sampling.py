"""How much of “each” a verdict rests on: a verifier looks at a sample, and code counts that sample."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import regex

from runs.enums import About
from runs.pev.citations.citation import Cited
from runs.pev.citations.citing import is_markdown
from runs.pev.citations.lookup import citations_in
from runs.pev.contracts import OUTPUT, TOOL, Criterion
from runs.pev.evidence.results import Evidence
from runs.pev.files.paths import text_of
from runs.pev.points import lines_of_points
from runs.pev.texts.naming import Paths
from runs.pev.texts.patterns import Budget, TooSlow
from runs.pev.verification.case import Case

MAX_POINTS = 2_000
_EACH = regex.compile(
    r"(?<!\b(?:at|after|above|not|in)\s)\b(?:each|every|all|jede[mnrs]?|alle[nrs]?|sämtliche[nr]?|chaque|tous|toutes)\b"
    r"(?!\s+in\s+all\b)",
    regex.IGNORECASE,
)
_EACH_FILE = regex.compile(
    r"\b(?:each|every|all|jede[mnrs]?|alle[nr]?|sämtliche[nr]?)\s+(?:(?:of\s+(?:the|these|those)|the|der|dieser)\s+)?"
    r"(?:(?!of\b|in\b|from\b|to\b|with\b|the\b|der\b|die\b|von\b|aus\b|zu\b)\S+\s+)?"
    r"(?:files?|documents?|contracts?|inputs?|datei(?:en)?|dokument(?:s|es|en?)?|vertr(?:ag|ags|ages|äge|ägen)"
    r"|unterlagen?)\b",
    regex.IGNORECASE,
)
"""Words that plainly speak of files. Other criteria about each of something are counted by the points of the result."""


class Sample(NamedTuple):
    """Of `seen` of `of` things that a criterion speaks of there is evidence. `of` is 0 where code cannot count them."""

    seen: int
    of: int
    unit: str = ""


def sample_of(criterion: Criterion, evidence: Sequence[Evidence], case: Case) -> Sample | None:
    """How much of what a criterion says of each, every or all of something has evidence: a quote of the verifier, or a
    citation of the result that holds. None where it says nothing of the kind, and where it speaks only of how the
    result looks, all of which a verifier is shown.
    """
    if criterion.topic is About.OUTPUT or case.nothing_to_do or not _EACH.search(criterion.text):
        return None
    cited = {name: citations_in(text, case.sources) for name, text in _results(case)}
    if _EACH_FILE.search(criterion.text) and (files := _files_meant(criterion, case)):
        seen = {path for item in evidence if item.verified for path in _files_of(item, case)}
        seen |= {one.source for each in cited.values() for one in each.citations if not one.broken}
        return Sample(len(seen & files), len(files), "files")
    return _points(evidence, case, cited)


def _files_meant(criterion: Criterion, case: Case) -> set[str]:
    """The given files that it names, if there are several, else those that the step deals with."""
    try:
        named = dict.fromkeys(Paths(case.inputs.infos).named_in(criterion.text, Budget()))
    except TooSlow:
        return set()
    return set(named if len(named) > 1 else case.meant)


def _points(evidence: Sequence[Evidence], case: Case, cited: dict[str, Cited]) -> Sample:
    seen = of = 0
    for name, text in _results(case):
        points = lines_of_points(text, MAX_POINTS)
        if len(points) < 2:
            continue
        if len(points) > MAX_POINTS or cited[name].until is not None:
            return Sample(0, 0)
        lines = {item.statement_line for item in evidence if item.verified and item.statement_in == name}
        lines |= {one.line for one in cited[name].citations if not one.broken}
        of += len(points)
        seen += sum(1 for point in points if not lines.isdisjoint(point))
    return Sample(seen, of, "points" if of else "")


def _results(case: Case) -> Iterable[tuple[str, str]]:
    """Name and text of what the step has written, as far as it has points; else of what it has found."""
    written = [name for name in case.shown if is_markdown(name) and name in case.sources]
    return [(name, text_of(case.sources[name]) or "") for name in written] or [(OUTPUT, case.output)]


def _files_of(item: Evidence, case: Case) -> Iterator[str]:
    """The given files whose lines the evidence is from, by themselves or as a tool has shown them."""
    if item.source in case.inputs.infos:
        yield item.source
    number = item.source.removeprefix(TOOL)
    if number != item.source:
        for shown in case.tools[int(number) - 1].shown:
            info = case.inputs.infos.get(shown.path)
            as_given = info is not None and info.sha256 == shown.sha256
            if as_given and shown.lines and shown.start < item.end and item.start < shown.end:
                yield shown.path
