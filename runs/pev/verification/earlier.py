"""What a verifier is shown of the tool calls of earlier steps: a line for each, and the passages that may matter."""

from collections.abc import Iterator
from typing import NamedTuple

from runs.evidence.relation import marks_of, stems_of
from runs.pev.delimiters import delimited
from runs.pev.verification.case import VerificationInput

IN_ALL = 24_000
OF_ONE = 4_000
"""Characters of passages that are shown of all these calls, and of one."""
LISTED = 100
"""Calls that are named."""
LINE_CHARS = 600
SHARED = 2
"""Words that a line has to share with what is judged, where it shares no figure and no name."""


def earlier_shown(case: VerificationInput) -> Iterator[str]:
    """The server looks quotes up in all of each result, however little of it is shown here."""
    if not case.earlier:
        return
    texts = [*(criterion.text for criterion in case.labelled.values()), case.output]
    wanted = Wanted.of("\n".join(texts))
    left = IN_ALL
    listed: list[str] = []
    for name, tool in list(case.earlier.items())[:LISTED]:
        head = tool.result.partition("\n")[0][:LINE_CHARS]
        listed.append(f"{name}: {head} ({len(tool.result):,} characters)")
        lines = passages(tool.result, wanted, min(left, OF_ONE))
        left -= len(lines)
        if lines:
            yield delimited("tool", lines, f"{name} (the lines that may matter)")
    if len(case.earlier) > LISTED:
        listed.append(f"and {len(case.earlier) - LISTED} more")
    yield delimited("earlier", "\n".join(listed))


class Wanted(NamedTuple):
    """Figures and names, and stems of words, that a line has to share to matter."""

    marks: set[str]
    stems: set[str]

    @classmethod
    def of(cls, text: str) -> "Wanted":
        return cls(marks_of(text), stems_of(text))


def passages(text: str, wanted: Wanted, budget: int) -> str:
    """The lines of a text that share a figure, a name or some words with what is wanted: so many characters of them."""
    found: list[str] = []
    for line in text.splitlines():
        if marks_of(line) & wanted.marks or len(stems_of(line) & wanted.stems) >= SHARED:
            budget -= len(line[:LINE_CHARS]) + 1
            if budget < 0:
                break
            found.append(line[:LINE_CHARS])
    return "\n".join(found)
