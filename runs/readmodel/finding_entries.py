"""Findings that a document describes one by one, each under a heading with its number.

### F3 · Missing amount: late fee

- Document: contracts/lease.docx
- **Severity:** high
- Recommendation: State the amount.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from runs.evidence.citations.citing import is_markdown
from runs.models import Attempt
from runs.pev.points import FENCE
from runs.readmodel.result_points import MAX_CHARACTERS, MAX_FILE_BYTES, MAX_FILES, labelled
from runs.store import trees
from runs.text.normalisation import caseless

MAX_ENTRIES = 200
_HEADING = re.compile(r" {0,3}#{1,6}\s+(\S.*?)[ #]*")
_FIELD = re.compile(
    r"\s*(?:[-*+]\s+)?(?P<mark>(?:\*\*|__)?)(?P<label>[^\W\d_]{1,20}(?: [^\W\d_]{1,20}){0,2})"
    r"(?:[:：](?P=mark)|(?P=mark)[:：])\s*(?P<value>\S.*)"
)
_LABELS = {
    "document": ("document", "source", "file", "contract", "dokument", "quelle", "datei", "vertrag", "文件", "来源"),
    "severity": ("severity", "risk", "priority", "rating", "schwere", "risiko", "priorität", "严重程度", "风险"),
    "recommendation": (
        "recommendation",
        "recommended action",
        "recommended change",
        "action",
        "proposal",
        "suggestion",
        "empfehlung",
        "maßnahme",
        "vorschlag",
        "建议",
    ),
}
_FIELDS = {caseless(label): field for field, labels in _LABELS.items() for label in labels}
"""The field that a label stands for, in English, German or Chinese."""


@dataclass(frozen=True)
class FindingEntry:
    """One finding. `title` and the fields are Markdown; a field that is not given is empty."""

    number: str
    title: str
    document: str = ""
    severity: str = ""
    recommendation: str = ""


def field_of(label: str) -> str:
    """The field that a label or the header of a column stands for; empty for none."""
    return _FIELDS.get(caseless(label.strip()), "")


def entries_in(text: str) -> list[FindingEntry]:
    """The findings that say what to do or how severe they are, up to a limit. Headings inside of code do not count."""
    return [entry for entry in islice(_entries(text), MAX_ENTRIES) if entry.severity or entry.recommendation]


def entries_of(attempt: Attempt) -> Mapping[str, FindingEntry]:
    """The findings that the Markdown files of an attempt describe, by number; the first of those that share one."""
    files = [(path, info) for path, info in sorted(attempt.overlay.items()) if info and is_markdown(path)]
    entries: dict[str, FindingEntry] = {}
    for _, info in files[:MAX_FILES]:
        text = (trees.read_text(info.sha256) or "")[:MAX_CHARACTERS] if info.size <= MAX_FILE_BYTES else ""
        for entry in entries_in(text):
            entries.setdefault(entry.number, entry)
    return entries


def _entries(text: str) -> Iterator[FindingEntry]:
    number = title = fence = ""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        opened = FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
        elif not fence and (heading := _HEADING.fullmatch(line)):
            if number:
                yield FindingEntry(number, title, **fields)
            (number, title), fields = labelled(heading[1]), {}
        elif number and not fence and (field := _FIELD.fullmatch(line)) and (name := field_of(field["label"])):
            fields.setdefault(name, field["value"].strip())
    if number:
        yield FindingEntry(number, title, **fields)
