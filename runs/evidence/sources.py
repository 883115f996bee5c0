"""The sources that a quote may name, and where the words of each come from (T1a). Computed, never asked."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Protocol

from runs.contracts.base import DIFF, OUTPUT, PERSON, RESULT, TOOL
from runs.contracts.ports import FileInfo, Shown
from runs.documents.content import document_of, text_of
from runs.documents.places.views import seen_text
from runs.enums import Provenance
from runs.errors import InvalidInput
from runs.evidence.facts import FigurePlace
from runs.text.arithmetic import calculated
from runs.text.domains import addresses_in, normal_address
from runs.text.numbers import amounts_in

OUTSIDE = frozenset({Provenance.GIVEN, Provenance.OBSERVED, Provenance.PERSON})
"""What can carry a statement about the material or the world: no model of the run wrote it."""


TASK = "@task"
"""The name of the words of the task, where they are named."""
CONVENTIONAL = frozenset(map(Decimal, (0, 1, 2, 7, 12, 24, 52, 60, 365, *(10**n for n in range(1, 13)))))
"""Figures that need no source: halves, percentages, thousands and millions, parts of a day and of a year."""


def source_of(path: str, inputs: Mapping[str, FileInfo]) -> str:
    """The name under which a verifier quotes what the run has left at a path."""
    return RESULT + path if path in inputs else path


@dataclass(frozen=True)
class GivenFiles:
    """The files of the task as they were handed in: their readable bytes by path, read lazily, and what they are."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    infos: Mapping[str, FileInfo] = field(default_factory=dict)


class FailedSearch(Protocol):
    """What a tool looked for. See `tools.find_files.SearchTool`."""

    def finds_nothing_in(self, infos: Mapping[str, FileInfo], files: Mapping[str, bytes]) -> bool: ...


@dataclass(frozen=True)
class ToolText:
    """One tool call: what it gave back, what of that shows files, and all that the executor had put into it.
    `expression`: what was computed, where it is a calculation that has a result. `is_outside`: whether all but its
    first line came from the web, or from a server that only looks things up. `is_printed`: whether a command of the
    installation printed it. `missing`: what it looked for and did not find. `observed`: the result of
    `Sources.observed` for it, if that is already known.
    """

    result: str
    shown: Sequence[Shown] = ()
    sent: str = ""
    expression: str = ""
    is_outside: bool = False
    is_printed: bool = False
    missing: FailedSearch | None = None
    observed: Sequence[tuple[int, int]] | None = None


class Sources(Mapping[str, bytes]):
    """Every source that a quote may name, as readable bytes: `@output`, `@tool-1` onwards, `@person-N`, the files as
    they were given by their paths, what was made by its path, or behind `@result/` where a file of that name was given.

    `made`: the paths in `files` that the run has written. `earlier`: by their names, such as `@step-look-up/tool-2`,
    tool calls of steps that were settled before. `task`: its words; no quote may name them, but their figures need no
    other source.
    """

    def __init__(
        self,
        files: Mapping[str, bytes],
        given: GivenFiles,
        *,
        made: Collection[str] = (),
        output: str = "",
        tools: Sequence[ToolText] = (),
        earlier: Mapping[str, ToolText] | None = None,
        persons: Mapping[int, str] | None = None,
        diff: str = "",
        task: str = "",
    ) -> None:
        self._files, self._given = files, given
        self._made, self._task = made, task
        self._tools = {**(earlier or {}), **{f"{TOOL}{number}": tool for number, tool in enumerate(tools, 1)}}
        self._persons = {f"{PERSON}{number}": words for number, words in (persons or {}).items()}
        self._texts = {OUTPUT: output, **({DIFF: diff} if diff else {}), **self._persons}
        self._texts |= {name: tool.result for name, tool in self._tools.items()}

    def __getitem__(self, name: str) -> bytes:
        if name in self._texts:
            return self._texts[name].encode()
        if name in self._given.files:
            return self._given.files[name]
        return self._files[name.removeprefix(RESULT)]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        return name in self._texts or name in self._given.files or name.removeprefix(RESULT) in self._files

    def __iter__(self) -> Iterator[str]:
        yield from self._texts
        yield from self._given.files
        yield from (path for path in self._files if path not in self._given.files)
        yield from (RESULT + path for path in self._made if path in self._given.files and path in self._files)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def given_paths(self) -> Collection[str]:
        """Those of the files of the task."""
        return self._given.infos.keys()

    def digest(self, name: str) -> str | None:
        """The SHA-256 of a given file as it was handed in, which its readable bytes may not be; None for the others."""
        return self._given.infos[name].sha256 if name in self._given.infos else None

    def page(self, address: str) -> str:
        """What tools have shown of the web page at this address; empty for one that was not read."""
        return "\n".join(self._pages.get(normal_address(address), ()))

    @cached_property
    def _pages(self) -> Mapping[str, Sequence[str]]:
        """By each address that a look at the web was sent to, or has named, what it showed."""
        found = defaultdict[str, list[str]](list)
        for tool in self._tools.values():
            if tool.is_outside:
                head = f"{tool.sent}\n{tool.result.partition('\n')[0]}"
                is_search = not any(addresses_in(tool.sent))
                named = f"{head}\n{tool.result}" if is_search else head
                for address in {normal_address(named[start:end]) for start, end in addresses_in(named)}:
                    found[address].append(tool.result[tool.result.find("\n") + 1 :])
        return found

    def sent_to(self, name: str) -> str:
        """What the executor itself put into the tool call whose result this is; empty for other sources."""
        return self._tools[name].sent if name in self._tools else ""

    def provenance(self, name: str) -> Provenance:
        """Where the words of a source come from; of a tool's result, see `observed`."""
        if name in self._persons:
            return Provenance.PERSON
        return Provenance.GIVEN if name in self._given.files and name not in self._texts else Provenance.MADE

    def observed(self, name: str) -> list[tuple[int, int]]:
        """The parts of a tool's result, as characters, that show files which the run has not written, or a page of the
        web; of a calculation with nothing but figures that such parts, or people, had shown before, the line that says
        what it comes to. That nothing was found counts where the files as they were given have nothing of it either.
        """
        return self._outside(self._tools[name], self.unseen(name)) if name in self._tools else []

    def _outside(self, tool: ToolText, unseen: Sequence[Decimal]) -> list[tuple[int, int]]:
        if tool.observed is not None:
            return list(tool.observed)
        if tool.is_outside:
            return [(tool.result.find("\n") + 1, len(tool.result))]
        if tool.expression:
            return [] if unseen else [(0, len(tool.result.partition("\n")[0]))]
        if tool.missing:
            return [(0, len(tool.result))] if self._is_nowhere(tool.missing) else []
        # Parts count as one where only a line break separates them: a quote may have both.
        found: list[tuple[int, int]] = []
        for start, end in ((one.start, one.end) for one in tool.shown if self._is_given(one)):
            if found and tool.result[found[-1][1] : start] == "\n":
                start = found.pop()[0]
            found.append((start, end))
        return found

    def _is_nowhere(self, wanted: FailedSearch) -> bool:
        try:
            return wanted.finds_nothing_in(self._given.infos, self._given.files)
        except InvalidInput:
            return False

    def unseen(self, name: str) -> Sequence[Decimal]:
        """The figures that an executor computed with although nothing but the run's own words has them."""
        return self._unseen.get(name, ())

    @cached_property
    def _unseen(self) -> Mapping[str, Sequence[Decimal]]:
        """By the calculation. In the order of the calls: one may rest on the result of another."""
        if not any(tool.expression for tool in self._tools.values()):
            return {}
        said = [self._task, *self._persons.values()]
        seen = {*CONVENTIONAL, *(number for words in said for number in amounts_in(words))}
        found = dict[str, Sequence[Decimal]]()
        for name, tool in self._tools.items():
            if tool.expression:
                found[name] = sorted(_numbers_in(tool.expression, seen))
            for start, end in self._outside(tool, found.get(name, ())):
                seen.update(amounts_in(tool.result[start:end]))
        return found

    def facts(self) -> Iterator[tuple[FigurePlace, str]]:
        """What figures may come from without the files as they were given: the words of people, and what tools have
        observed or calculated. Each with its place.
        """
        yield FigurePlace(TASK, 0), self._task
        yield from ((FigurePlace(name, 0), words) for name, words in self._persons.items())
        for name, tool in self._tools.items():
            spans = [(0, len(tool.result))] if tool.is_outside or tool.is_printed else self.observed(name)
            yield from ((FigurePlace(name, start), tool.result[start:end]) for start, end in spans)

    def given_facts(self) -> Iterator[tuple[FigurePlace, str]]:
        """The text of each file as it was given, with its name and size. Each with its place."""
        for path, info in self._given.infos.items():
            yield FigurePlace(path, 0), f"{path}: {info.size} bytes"
        for path, data in self._given.files.items():
            document = document_of(data)
            text = seen_text(document) if document else text_of(data)
            yield FigurePlace(path, 0), text or ""
            if document:  # the numbers that readers see before its paragraphs
                clauses = {block.clause or block.label for block in document.layout.blocks}
                yield FigurePlace(path, 0), "; ".join(sorted(clauses))

    def _is_given(self, shown: Shown) -> bool:
        info = self._given.infos.get(shown.path)
        return info is not None and info.sha256 == shown.sha256


def rested_on(read: Collection[str], inputs: Mapping[str, FileInfo], before: Mapping[str, FileInfo]) -> list[str]:
    """The sources behind the paths that were read: the files as they were given first, then what the run has made."""
    given = [path for path in sorted(read) if path in inputs]
    made = [path for path in sorted(read) if path in before and before[path] != inputs.get(path)]
    return [*given, *(source_of(path, inputs) for path in made)]


def _numbers_in(expression: str, seen: Collection[Decimal]) -> Iterable[Decimal]:
    """The numbers of a calculation that were not seen; all of one that an earlier version carried out and this one
    refuses, so that its result proves nothing.
    """
    try:
        return calculated(expression).numbers.difference(seen)
    except InvalidInput:
        return amounts_in(expression)
