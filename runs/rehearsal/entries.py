"""What the file of findings says: its entries, which are counted in one way by all who count them, and its gaps."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from runs.pev.contracts import LeftOut

NOT_REVIEWED = "## Not reviewed"
_HEAD = re.compile(r"### (F\d+) · (.+)")
_FIELD = re.compile(r"^- ([A-Z][A-Za-z ]*): (.*\S)", re.MULTILINE)
_QUOTE = re.compile(r"^> (.*\S)", re.MULTILINE)


@dataclass(frozen=True)
class PointEntry:
    """One finding: its id, such as F3, what it is, and its fields by their labels; a missing one is empty."""

    name: str
    title: str
    quote: str
    fields: Mapping[str, str]

    def __getitem__(self, label: str) -> str:
        return self.fields.get(label, "")

    @property
    def document(self) -> str:
        return self["Document"]

    @property
    def place(self) -> str:
        return self["Place"] or f"line {self['Line'] or '?'}"


def entries_in(text: str) -> Iterator[PointEntry]:
    """In their order. Quotes begin with “> ”, so that nothing in a document can pass for an entry."""
    for part in re.split(r"^(?=#{1,3} )", text, flags=re.MULTILINE):
        if head := _HEAD.match(part):
            yield PointEntry(head[1], head[2], " ".join(_QUOTE.findall(part)), dict(_FIELD.findall(part)))


def gaps_section(left: Iterable[LeftOut]) -> list[str]:
    """The lines of the section that names what was not reviewed, as `gaps_in` reads them; nothing without gaps."""
    lines = [f"- {one.path}: {one.why}" if one.path else f"- {one.why}" for one in left]
    return ["", NOT_REVIEWED, "", *lines] if lines else []


def gaps_in(text: str, documents: Iterable[str]) -> dict[str, str]:
    """Why these documents were not reviewed, or not as a whole. Documents without a gap are left out."""
    lines = text.partition(f"\n{NOT_REVIEWED}\n")[2].partition("\n## ")[0].split("\n")
    return {
        path: line.removeprefix(start)
        for path in documents
        for start in [f"- {path}: "]
        for line in lines
        if line.startswith(start)
    }
