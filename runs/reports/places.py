"""Addresses of what a report cites: pages of the product, or in an export the list of sources at its end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Protocol

from runs.contracts.base import RESULT
from runs.contracts.ports import FileInfo
from runs.documents.printing.blocks import SOURCE, Block, CitedSource, Span, Spans, span, with_spans
from runs.evidence.citations.citation import Citation
from runs.evidence.results import Evidence
from runs.models import Attempt, Step
from runs.store import blobs, trees
from runs.text.file_titles import titles_of
from runs.text.visible import visible_text

MAX_AROUND = 160
"""Characters of the line on either side of the words that are cited."""
MAX_BYTES = 2_000_000
"""Bytes of a source that is read to show the line. Of a longer one only the place is named."""


MAX_TITLED = 60
"""Given documents that have titles. With more, paths are kept: each text is searched for all of them."""
_SPACE = re.compile(r"\s+")


class CitedPlaces(Protocol):
    """The addresses of what a report cites; empty for what cannot be shown."""

    def citation(self, one: Citation) -> str: ...
    def broken(self, one: Citation) -> str:
        """The address that is nearest to the place of a broken citation."""
        ...

    def evidence(self, proof: Evidence, attempt: Attempt | None) -> str: ...
    def file(self, path: str, info: FileInfo) -> str: ...
    def step(self, step: Step) -> str: ...
    def attempt(self, attempt: Attempt) -> str: ...


class PathTitles:
    """The titles of documents, which a report names instead of their paths.

    `given` are the paths of the given files, and `made` maps the paths of delivered files to their titles. `known` maps
    the paths of given documents to titles. It is empty for a project, whose files people name by their paths.
    """

    def __init__(self, given: Collection[str], made: Mapping[str, str]) -> None:
        self.known = titles_of(given) if len(given) <= MAX_TITLED else {}
        shared = Counter([*self.known.values(), *made.values()])
        self._titles = {**made, **self.known} if self.known else {}
        self._titles = {path: title for path, title in self._titles.items() if shared[title] == 1}
        longest_first = sorted(map(re.escape, self._titles), key=len, reverse=True)
        self._path = re.compile(rf"(?<![\w/.-])(?:{'|'.join(longest_first)})(?![\w/-])") if self._titles else None

    def in_text(self, text: str) -> str:
        return self._path.sub(lambda match: self._titles[match[0]], text) if self._path else text

    def in_block(self, block: Block) -> Block:
        """The block with titles instead of paths in its own words, except in quoted words and code."""
        return with_spans(block, self._in_span)

    def _in_span(self, one: Span) -> Span:
        if one.code and one.text in self._titles:
            return replace(one, text=self._titles[one.text], code=False)
        if one.code or one.text.startswith("“"):
            return one
        return replace(one, text=self.in_text(one.text))


class InReport:
    """Addresses in an export: lists each cited place once, in the order of the text, with its words from the store.

    `sections` maps the paths of delivered files to the sections of the report that show them.
    """

    def __init__(self, titles: PathTitles, sections: Mapping[str, str], *, hashes: bool) -> None:
        self._titles = titles
        self._sections = sections
        self._hashes = hashes
        self._numbers: dict[tuple[str, str, int, int], int] = {}
        self._listed: list[CitedSource] = []
        self._texts: dict[str, str] = {}

    @property
    def listed(self) -> tuple[CitedSource, ...]:
        return tuple(self._listed)

    def citation(self, one: Citation) -> str:
        place = one.source.removeprefix(RESULT)
        if one.plain and place in self._sections:
            return f"#{self._sections[place]}"
        if one.source != place:
            place = f"{place} as the run has left it"
        where = place if one.plain else f"{place}, {one.where}"
        return self._address(where, one.source, one.sha256, one.source_start, one.source_end)

    def broken(self, one: Citation) -> str:
        return ""

    def evidence(self, proof: Evidence, attempt: Attempt | None) -> str:
        if proof.kind == "check" or not proof.sha256 or proof.source.startswith("@"):
            return ""  # a file that a check looked at stands among the results, with its hash
        return self._address(proof.where, proof.source, proof.sha256, proof.start, proof.end)

    def file(self, path: str, info: FileInfo) -> str:
        return ""

    def step(self, step: Step) -> str:
        return ""

    def attempt(self, attempt: Attempt) -> str:
        return ""

    def _address(self, where: str, source: str, sha256: str, start: int, end: int) -> str:
        key = (source, sha256, start, end)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            place = span(self._titles.in_text(where)).text
            around = self._around(sha256, start, end)
            self._listed.append(CitedSource(self._numbers[key], place, sha256 if self._hashes else "", around))
        return f"{SOURCE}{self._numbers[key]}"

    def _around(self, sha256: str, start: int, end: int) -> Spans:
        text = self._text(sha256) if start < end else ""
        if not start < end <= len(text):
            return ()
        first = max(text.rfind("\n", 0, start) + 1, start - MAX_AROUND)
        line_end = text.find("\n", end)
        last = min(len(text) if line_end < 0 else line_end, end + MAX_AROUND)
        around = (text[first:start], False), (text[start:end], True), (text[end:last], False)
        return tuple(Span(visible_text(_SPACE.sub(" ", part)), strong=strong) for part, strong in around if part)

    def _text(self, sha256: str) -> str:
        """The text of a source; empty if it is long, unreadable or lost."""
        if sha256 not in self._texts:
            try:
                short = blobs.size_of(sha256) <= MAX_BYTES
                self._texts[sha256] = (trees.read_text(sha256) or "") if short else ""
            except FileNotFoundError:
                self._texts[sha256] = ""
        return self._texts[sha256]
