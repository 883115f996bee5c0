"""How much of “every file” a verifier has looked at: its verdict rests on a sample, and code can count that sample."""

from collections.abc import Iterator, Sequence

import regex

from runs.enums import About
from runs.pev.contracts import TOOL, Criterion
from runs.pev.evidence.results import Evidence
from runs.pev.texts.naming import Paths
from runs.pev.texts.patterns import Budget, TooSlow
from runs.pev.verification.case import Case

_EACH_FILE = regex.compile(
    r"\b(?:each|every|all|jede[mnrs]?|alle[nr]?|sämtliche[nr]?)\s+(?:(?:of\s+(?:the|these|those)|the|der|dieser)\s+)?"
    r"(?:(?!of\b|in\b|from\b|to\b|with\b|the\b|der\b|die\b|von\b|aus\b|zu\b)\S+\s+)?"
    r"(?:files?|documents?|contracts?|inputs?|datei(?:en)?|dokument(?:s|es|en?)?|vertr(?:ag|ags|ages|äge|ägen)"
    r"|unterlagen?)\b",
    regex.IGNORECASE,
)
"""Words that plainly speak of files. Of anything else nothing is counted, rather than something wrong."""


def looked_at(criterion: Criterion, evidence: Sequence[Evidence], case: Case) -> tuple[int, int]:
    """Of how many given files the verified evidence is, and how many the criterion speaks of: those that it names, if
    there are several, else those that the step deals with. 0 of 0 where it does not speak of each of them, or
    only of how the result looks, for which nobody has to look at a file.
    """
    if criterion.topic is About.OUTPUT or not _EACH_FILE.search(criterion.text):
        return 0, 0
    try:
        named = dict.fromkeys(Paths(case.inputs.infos).named_in(criterion.text, Budget()))
    except TooSlow:
        return 0, 0
    files = set(named if len(named) > 1 else case.meant)
    seen = {path for item in evidence if item.verified for path in _files_of(item, case)}
    return len(seen & files), len(files)


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
