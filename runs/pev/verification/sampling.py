"""How much of “each” a verdict is based on: a verifier looks at a sample, and code counts the sample."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import regex

from runs.contracts.base import OUTPUT, RESULT, TOOL
from runs.documents.content import text_of
from runs.enums import About
from runs.evidence.citations.citation import Cited
from runs.evidence.citations.citing import is_markdown
from runs.evidence.citations.lookup import citations_in
from runs.evidence.results import Evidence
from runs.evidence.source_names import Paths
from runs.evidence.sources import OUTSIDE
from runs.pev.contracts import Criterion
from runs.pev.points import lines_of_points, sections_of
from runs.pev.policy import RULES
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.output_units import Output, count_units
from runs.pev.verification.questions import shows_all
from runs.text.csv_tables import is_csv
from runs.text.numbers import numbers_in
from runs.text.patterns import Budget, TooSlow
from runs.text.sentences import says_each

MAX_POINTS = 2_000
_EACH_FILE = regex.compile(
    r"\b(?:each|every|all|jede[mnrs]?|alle[nr]?|sämtliche[nr]?)\s+(?:(?:of\s+(?:the|these|those)|the|der|dieser)\s+)?"
    r"(?:(?!of\b|in\b|from\b|to\b|with\b|the\b|der\b|die\b|von\b|aus\b|zu\b)\S+\s+)?"
    r"(?:files?|documents?|contracts?|inputs?|datei(?:en)?|dokument(?:s|es|en?)?|vertr(?:ag|ags|ages|äge|ägen)"
    r"|unterlagen?)\b",
    regex.IGNORECASE,
)
"""Words that clearly mean files. Other criteria about each of something are counted by the points of the result."""
_FILE_OF_ALL = regex.compile(
    r"\b(?:(?:larg|bigg|small|long|short|new|old|lat|earli)est|(?:größ|klein|läng|kürz|neu|ält)e?ste[nrsm]?)\s+"
    r"(?:\S+\s+)?(?:files?|documents?|contracts?|inputs?|datei(?:en)?|dokumente?s?|vertr(?:ag|ags|ages|äge))\b",
    regex.IGNORECASE,
)
"""One file among all. That it is the largest also depends on the sizes of the others."""
_LISTED = regex.compile(
    r"\b(?:is|are|ist|sind|wird|werden)\s+(?:listed|named|aufgeführt|aufgelistet|genannt)(?:\s+in\s+\S+)?"
    r"(?:,\s+or\s+counted\s+there\s+as\s+not\s+listed)?\s*\.?\s*$",
    regex.IGNORECASE,
)
"""Criteria that ask only that the names of files occur in the result."""
_OCCURS = r"\b(?:occurs?|stands?|is\s+from|are\s+from|comes?\s+from|kommt|stammt|steht|stehen)\b"
_EACH_FIGURE = regex.compile(
    r"^\W*(?:each|every|all|jede[mnrs]?|alle[nr]?|sämtliche[nr]?)\s+(?:(?:of\s+)?(?:the|der|die)\s+)?"
    rf"(?:figures?|numbers?|amounts?|sums?|zahl(?:en)?|betr[aä]ge?|summen?)\b.{{0,80}}?{_OCCURS}",
    regex.IGNORECASE,
)
"""Figures of the result must occur in a source: tracing looks them up."""
_EACH_REFERENCE = regex.compile(
    rf"^\W*(?:each|every|all|jede[rs]?|alle)\s+(?:references?|verweise?)\b.{{0,80}}?{_OCCURS}", regex.IGNORECASE
)
MIN_REFERRED = 6
"""Characters of a line that a reference must repeat, unless the line is shorter."""
_REFERENCE = regex.compile(
    r"^[ \t]{0,8}(?:[-*+][ \t]+)?`?(?P<path>[^\s:`]{1,400}):(?P<line>\d{1,9}):[ \t]?(?P<words>[^\n]{0,2000})$",
    regex.MULTILINE,
)


_QUOTE = regex.compile(r"^\s{0,3}>\s?\S|[“„«\"][^“”„«»\"\n]{12,2000}[”“»\"]")
"""A passage that the check of quotes looks up."""


class EvidenceCount(NamedTuple):
    """Of `seen` of `of` things that a criterion speaks of there is evidence. `of` is 0 where code cannot count them.
    `lacking`: where the others are, as far as code has decided it for each of them, for people and models.
    """

    seen: int
    of: int
    unit: str = ""
    lacking: str = ""


def sample_of(criterion: Criterion, evidence: Sequence[Evidence], case: VerificationInput) -> EvidenceCount | None:
    """How much of what a criterion says of each, every or all of something has evidence: a quote of the verifier, or a
    citation of the result that holds. Of a criterion about the output, a part counts that has what is said, or that was
    quoted. None where the criterion says nothing of each; where it is about other parts of the output, and the verifier
    was shown all of it; and for offline rules, which look at everything.
    """
    if case.nothing_to_do:
        return None
    if criterion.topic is About.OUTPUT:
        return _of_output(criterion, evidence, case)
    compares = not case.whole and _FILE_OF_ALL.search(criterion.text) is not None  # its step has compared them
    if not (compares or says_each(criterion.text)):
        return None
    if case.model.startswith(RULES):
        return None
    results = _results(criterion, case)
    cited = {name: Cited() if is_csv(name) else citations_in(text, case.sources) for name, text in results.items()}
    if (compares or _EACH_FILE.search(criterion.text)) and (files := _files_meant(criterion, case)):
        seen = {path for item in evidence if item.verified and not item.weak for path in _files_of(item, case)}
        seen |= {one.source for each in cited.values() for one in each.citations if not one.broken}
        if compares:  # a tool may show the sizes of all in one list
            seen.update(*(_named_in(item.quote, files) for item in evidence if item.outside and not item.weak))
        elif _LISTED.search(criterion.text):
            seen.update(*(_named_in(text, files) for text in results.values()))
        return EvidenceCount(len(seen & files), len(files), "files")
    if _EACH_FIGURE.search(criterion.text):
        return _figures(results, case)
    if _EACH_REFERENCE.search(criterion.text):
        return _references(results, case)
    # checks have passed by now, so that every quote of these files was looked up
    looked_up = {one.check.subject: one.check.looked_up for one in case.criteria if one.check and one.check.looked_up}
    return _points(evidence, results, cited, looked_up)


def _of_output(criterion: Criterion, evidence: Sequence[Evidence], case: VerificationInput) -> EvidenceCount | None:
    if case.model.startswith(RULES) or not says_each(criterion.text):
        return None
    written = [name for name in case.shown if name in case.sources]
    texts = {
        name: text_of(case.sources[name]) or ""
        for name in written
        if is_markdown(name) or is_csv(name) or name.endswith(".txt")
    }
    named = set(_named_in(criterion.text, written))
    chosen = {name: text for name, text in texts.items() if name in named}
    if not named:  # the answer has what a whole task comes to, or says where it is
        chosen = {OUTPUT: case.output, **texts} if case.whole or not texts else texts
    found = count_units(criterion.text, evidence, Output(chosen, written, sorted(_files_meant(criterion, case))))
    if found is None:
        return None if shows_all(case) else EvidenceCount(0, 0)
    lacking = f"missing in {_in_short(found.lacking)}" if found.by_code and found.lacking else ""
    return EvidenceCount(found.of - len(found.lacking), found.of, found.unit if found.of else "", lacking)


def _in_short(places: Sequence[str], limit: int = 5) -> str:
    return "; ".join(places[:limit]) + (f"; and {len(places) - limit:,} more" if len(places) > limit else "")


def _files_meant(criterion: Criterion, case: VerificationInput) -> set[str]:
    """The given files that the criterion names, if there are several, otherwise those that the step deals with."""
    named = _named_in(criterion.text, case.inputs.infos)
    return named if len(named) > 1 else set(case.meant)


def _named_in(text: str, paths: Iterable[str]) -> set[str]:
    try:
        return set(Paths(paths).named_in(text, Budget()))
    except TooSlow:
        return set()


def _figures(results: Mapping[str, str], case: VerificationInput) -> EvidenceCount:
    """How many of the figures in these results are traced (T11)."""
    of = sum(1 for text in results.values() for _ in numbers_in(text))
    untraced = sum(1 for one in case.untraced if one.source in results and one.kind == "number")
    return EvidenceCount(max(of - untraced, 0), of, "figures" if of else "")


def _references(results: Mapping[str, str], case: VerificationInput) -> EvidenceCount:
    """How many of the lines that refer to a line of a given file, as `src/main.py:12: import os` does, have its
    words.
    """
    found = [one for text in results.values() for one in islice(_REFERENCE.finditer(text), MAX_POINTS + 1)]
    if len(found) > MAX_POINTS:
        return EvidenceCount(0, 0)
    lines: dict[str, Sequence[str]] = {}
    seen = 0
    for reference in found:
        path, line, words = reference["path"], int(reference["line"]), reference["words"].strip(" `")
        if path in case.inputs.files and path not in lines:
            lines[path] = (text_of(case.inputs.files[path]) or "").split("\n")
        there = lines[path][line - 1].strip() if path in lines and 0 < line <= len(lines[path]) else ""
        seen += bool(there) and words in there and len(words) >= min(MIN_REFERRED, len(there))
    return EvidenceCount(seen, len(found), "references" if found else "")


def _points(
    evidence: Sequence[Evidence],
    results: Mapping[str, str],
    cited: Mapping[str, Cited],
    looked_up: Mapping[str, str],
) -> EvidenceCount:
    """Of the points of these results. `looked_up`: by path, what a check has found in the sources, every quoted passage
    or every row of a file: a row with a quote has evidence then, and so has a section with one.
    """
    seen = of = 0
    for name, text in results.items():
        found = looked_up.get(name.removeprefix(RESULT), "")
        points = (found == "passages" and sections_of(text, MAX_POINTS)) or lines_of_points(name, text, MAX_POINTS)
        if len(points) > MAX_POINTS or cited[name].until is not None:
            return EvidenceCount(0, 0)
        lines = {
            item.statement_line
            for item in evidence
            if item.verified and item.outside and not item.weak and item.statement_in == name
        }
        lines |= {one.line for one in cited[name].citations if not one.broken and one.provenance in OUTSIDE}
        if found == "passages":
            lines |= {number for number, line in enumerate(text.split("\n"), 1) if _QUOTE.search(line)}
        of += len(points)
        seen += len(points) if found == "rows" else sum(1 for point in points if not lines.isdisjoint(point))
    return EvidenceCount(seen, of, "points" if of else "")


def _results(criterion: Criterion, case: VerificationInput) -> Mapping[str, str]:
    """Name and text of the results that a criterion may speak of: those that it names; else the answer, where the whole
    task is judged, and all that a step has written, or has found.
    """
    written = [name for name in case.shown if (is_markdown(name) or is_csv(name)) and name in case.sources]
    chosen = [name for name in written if name in _named_in(criterion.text, written)] or ([] if case.whole else written)
    return {name: text_of(case.sources[name]) or "" for name in chosen} or {OUTPUT: case.output}


def _files_of(item: Evidence, case: VerificationInput) -> Iterator[str]:
    """The given files whose lines the evidence is from, directly or as a tool showed them."""
    if item.source in case.inputs.infos:
        yield item.source
    number = item.source.removeprefix(TOOL)
    if number != item.source:
        for shown in case.tools[int(number) - 1].shown:
            info = case.inputs.infos.get(shown.path)
            as_given = info is not None and info.sha256 == shown.sha256
            if as_given and shown.lines and shown.start < item.end and item.start < shown.end:
                yield shown.path
