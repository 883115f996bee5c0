"""The sources that a quote may name, and where the words of each come from (T1a). Computed, never asked."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Protocol

from runs.enums import Provenance
from runs.errors import InvalidInput
from runs.pev.contracts import DIFF, OUTPUT, PERSON, RESULT, TOOL
from runs.pev.ports import FileInfo, Shown
from runs.pev.texts.arithmetic import calculated
from runs.pev.texts.figures import numbers_in

OUTSIDE = frozenset({Provenance.GIVEN, Provenance.OBSERVED, Provenance.PERSON})
"""What can carry a statement about the material or the world: no model of the run wrote it."""


CONVENTIONAL = frozenset(map(Decimal, (0, 1, 2, 7, 12, 24, 52, 60, 365, *(10**n for n in range(1, 13)))))
"""Figures that need no source: halves, percentages, thousands and millions, parts of a day and of a year."""


def source_of(path: str, inputs: Mapping[str, FileInfo]) -> str:
    """The name under which a verifier quotes what the run has left at a path."""
    return RESULT + path if path in inputs else path


@dataclass(frozen=True)
class Given:
    """The files of the task as they were handed in: their readable bytes by path, read lazily, and what they are."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    infos: Mapping[str, FileInfo] = field(default_factory=dict)


class Missing(Protocol):
    """What a tool looked for. See `tools.finding.Finding`."""

    def finds_nothing_in(self, infos: Mapping[str, FileInfo], files: Mapping[str, bytes]) -> bool: ...


@dataclass(frozen=True)
class ToolText:
    """One tool call: what it gave back, what of that shows files, and all that the executor had put into it.
    `expression`: what was computed, where it is a calculation that has a result. `is_outside`: whether all but its
    first line came from the web, or from a server that only looks things up. `missing`: what it looked for and did not
    find.
    """

    result: str
    shown: Sequence[Shown] = ()
    sent: str = ""
    expression: str = ""
    is_outside: bool = False
    missing: Missing | None = None


class Sources(Mapping[str, bytes]):
    """Every source that a quote may name, as readable bytes: `@output`, `@tool-1` onwards, `@person-N`, the files as
    they were given by their paths, what was made by its path, or behind `@result/` where a file of that name was given.

    `made`: the paths in `files` that the run has written.
    """

    def __init__(
        self,
        files: Mapping[str, bytes],
        given: Given,
        *,
        made: Collection[str] = (),
        output: str = "",
        tools: Sequence[ToolText] = (),
        persons: Mapping[int, str] | None = None,
        diff: str = "",
    ) -> None:
        self._files, self._given = files, given
        self._made = made
        self._tools = {f"{TOOL}{number}": tool for number, tool in enumerate(tools, 1)}
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

    def digest(self, name: str) -> str | None:
        """The SHA-256 of a given file as it was handed in, which its readable bytes may not be; None for the others."""
        return self._given.infos[name].sha256 if name in self._given.infos else None

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
        if tool.is_outside:
            return [(tool.result.find("\n") + 1, len(tool.result))]
        if tool.expression:
            return [] if unseen else [(0, len(tool.result.partition("\n")[0]))]
        if tool.missing:
            return [(0, len(tool.result))] if self._is_nowhere(tool.missing) else []
        return [(one.start, one.end) for one in tool.shown if self._is_given(one)]

    def _is_nowhere(self, wanted: Missing) -> bool:
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
        seen = {*CONVENTIONAL, *(number for words in self._persons.values() for number in numbers_in(words))}
        found = dict[str, Sequence[Decimal]]()
        for name, tool in self._tools.items():
            if tool.expression:
                found[name] = sorted(calculated(tool.expression).numbers - seen)
            for start, end in self._outside(tool, found.get(name, ())):
                seen.update(numbers_in(tool.result[start:end]))
        return found

    def _is_given(self, shown: Shown) -> bool:
        info = self._given.infos.get(shown.path)
        return info is not None and info.sha256 == shown.sha256


def rested_on(read: Collection[str], inputs: Mapping[str, FileInfo], before: Mapping[str, FileInfo]) -> list[str]:
    """The sources behind the paths that were read: the files as they were given first, then what the run has made."""
    given = [path for path in sorted(read) if path in inputs]
    made = [path for path in sorted(read) if path in before and before[path] != inputs.get(path)]
    return [*given, *(source_of(path, inputs) for path in made)]
