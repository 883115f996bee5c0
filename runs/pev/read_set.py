"""Which of its files an attempt has read, and whether they are the same elsewhere. Reuse of results depends on it."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from runs.contracts.base import Contract
from runs.contracts.ports import FileInfo
from runs.errors import InvalidInput
from runs.pev.contracts import PlanStep
from runs.text.paths import MAX_CHARACTERS, is_unprintable, selected


def meant_by(steps: Iterable[PlanStep], paths: Iterable[str]) -> list[str]:
    """The given files that the steps of a plan name as input. A step that names none gets all, and so does every step
    of a plan whose patterns are too complex.
    """
    named = [step.inputs for step in steps]
    if not all(named):
        return list(paths)
    listed = list(paths)
    try:
        return selected((pattern for patterns in named for pattern in patterns), listed)
    except InvalidInput:
        return listed


MAX_FILES = 500
"""Files that are recorded one by one: some 50 kB in a row of the database. An attempt that reads more depends on all
files.
"""
MAX_SETS = 10
"""Searches over many files. Checking one goes through all names of the run again, 10,000 in some 20 ms."""


class _ReadKind(StrEnum):
    """What is asked of many files, of those whose path begins with what follows the word."""

    EVERYTHING = "everything"
    CONTENTS = "contents"
    LISTING = "listing"
    NAMES = "names"
    MEANT = "meant"


class ReadSet(Contract):
    """What was read, with digests of the content: `files` by path, `sets` by the search. That a file was missing, or
    that a set had no other file, counts as well.
    """

    files: dict[str, str] = {}
    sets: dict[str, str] = {}


@dataclass(frozen=True)
class FileView:
    """The files as an attempt at `step` finds them: as they were `given`, and as the workspace has them.

    `unreadable`: why contents are no text, `extents`: how much documents are, by their hash; listings say both.
    `loose`: outputs of steps that this one does not wait for. Whether they are there is a matter of timing, so no set
    depends on it; to have read one does count.
    """

    given: Mapping[str, FileInfo]
    workspace: Mapping[str, FileInfo]
    step: PlanStep
    unreadable: Mapping[str, str] = field(default_factory=dict)
    extents: Mapping[str, str] = field(default_factory=dict)
    loose: Set[str] = frozenset()
    _digests: dict[str, str] = field(default_factory=dict, init=False)

    @cached_property
    def meant(self) -> Set[str]:
        """The given files that the step is to deal with: its question lists them, so it need not ask for them."""
        return frozenset(meant_by([self.step], self.given))

    @cached_property
    def paths(self) -> list[str]:
        return sorted({*self.given, *self.workspace})

    def file(self, path: str) -> str:
        """The state of one file; empty if it does not exist."""
        given, now = self._content(self.given.get(path)), self._content(self.workspace.get(path))
        return given if given == now else f"{given}/{now}"

    def digest(self, asked: str) -> str:
        """The result of a search over many files, by the key of `ReadSet.sets`."""
        found = self._digests.get(asked)
        if found is None:
            lines = (f"{path}\0{entry}\n" for path in self.paths if (entry := self.entry(asked, path)))
            found = self._digests[asked] = hashlib.sha256("".join(lines).encode()).hexdigest()
        return found

    def entry(self, asked: str, path: str) -> str:
        """What one file adds to the result of a search; empty for nothing."""
        kind, _, prefix = asked.partition(" ")
        given, now = self.given.get(path), self.given.get(path) if path in self.loose else self.workspace.get(path)
        if not path.startswith(prefix):
            return ""
        match _ReadKind(kind):
            case _ReadKind.EVERYTHING:
                return self.file(path)
            case _ReadKind.CONTENTS:
                return f"{self._content(given)}/{self._content(now)}" if given or now else ""
            case _ReadKind.LISTING:
                return f"{now.size} {self._listed(now)} {given == now}" if now else ""
            case _ReadKind.NAMES:
                return f"{given is not None} {now is not None}" if given or now else ""
            case _ReadKind.MEANT:
                # The question names these files. Their sizes, and all other names in it, are for orientation only; but
                # a file that had nothing to read in it was left alone for that.
                return f"{given.size > 0} {self._is_unreadable(given)}" if given and path in self.meant else ""

    def _is_unreadable(self, info: FileInfo) -> bool:
        return info.sha256 in self.unreadable

    def _listed(self, info: FileInfo) -> str:
        return self.unreadable.get(info.sha256) or self.extents.get(info.sha256, "")

    def _content(self, info: FileInfo | None) -> str:
        if info is None:
            return ""
        return f"!{info.sha256}" if self._is_unreadable(info) else info.sha256


def holds(reads: ReadSet, view: FileView) -> bool:
    """Whether another attempt that reads the same finds the same."""
    return all(view.file(path) == state for path, state in reads.files.items()) and all(
        view.digest(asked) == digest for asked, digest in reads.sets.items()
    )


def concerned(reads: ReadSet | None, before: FileView, now: FileView) -> list[str]:
    """The read files that differ between two views, sorted; all files if it is unknown what was read."""
    changed = [path for path in sorted({*before.paths, *now.paths}) if before.file(path) != now.file(path)]
    if reads is None:
        return changed
    return [
        path
        for path in changed
        if path in reads.files or any(before.entry(asked, path) != now.entry(asked, path) for asked in reads.sets)
    ]


class ReadTracker:
    """Collects what is read, in bounded memory. `recorded` makes a record of it."""

    def __init__(self) -> None:
        self._files = set[str]()
        self._sets: set[str] = {_ReadKind.MEANT}

    def file(self, path: str) -> None:
        if len(self._files) <= MAX_FILES and _may_exist(path) and not path.startswith("@"):
            self._files.add(path)

    def contents(self, prefix: str) -> None:
        """All files whose path begins with this were searched."""
        self._set(f"{_ReadKind.CONTENTS} {prefix}")

    def listing(self, prefix: str) -> None:
        """The names and sizes of these files were listed."""
        self._set(f"{_ReadKind.LISTING} {prefix}")

    def names(self) -> None:
        """The set of existing files matters."""
        self._set(_ReadKind.NAMES)

    def everything(self) -> None:
        self._set(_ReadKind.EVERYTHING)

    def earlier(self, reads: ReadSet | None) -> None:
        """What an earlier attempt read: its critique is in the prompt of this one. All files if that is unknown."""
        if reads is None:
            self.everything()
            return
        for path in reads.files:
            self.file(path)
        for asked in reads.sets:
            self._set(asked)

    def over[Value](self, files: Mapping[str, Value], *, contents: bool = True) -> Mapping[str, Value]:
        """The same files, recorded as they are read; without `contents` only their names are read."""
        return _Watched(files, self, contents=contents)

    def recorded(self, view: FileView) -> ReadSet:
        """The record of what was read, as it is in this view."""
        if _ReadKind.EVERYTHING in self._sets or len(self._files) > MAX_FILES or len(self._sets) > MAX_SETS:
            return ReadSet(sets={_ReadKind.EVERYTHING: view.digest(_ReadKind.EVERYTHING)})
        return ReadSet(
            files={path: view.file(path) for path in sorted(self._files)},
            sets={asked: view.digest(asked) for asked in sorted(self._sets)},
        )

    @property
    def knows_names(self) -> bool:
        return _ReadKind.NAMES in self._sets

    def _set(self, asked: str) -> None:
        if len(self._sets) <= MAX_SETS and _may_exist(asked.partition(" ")[2]):
            self._sets.add(asked)


def _may_exist(path: str) -> bool:
    """Whether it can be a path, or the beginning of one. Models ask for anything, and what cannot be a path exists
    nowhere.
    """
    return len(path) <= MAX_CHARACTERS and not is_unprintable(path)


class _Watched[Value](Mapping[str, Value]):
    """Files by path that record in `ReadTracker` what is read of them."""

    def __init__(self, files: Mapping[str, Value], looks: ReadTracker, *, contents: bool) -> None:
        self._files, self._looks, self._contents = files, looks, contents

    def __getitem__(self, path: str) -> Value:
        if self._contents:
            self._looks.file(path)
        return self._files[path]

    def __contains__(self, path: object) -> bool:
        # Who knows all names knows this too: a check that goes through them depends on no content by that.
        if self._contents and isinstance(path, str) and not self._looks.knows_names:
            self._looks.file(path)
        return path in self._files

    def __iter__(self) -> Iterator[str]:
        self._looks.names()
        return iter(self._files)

    def __len__(self) -> int:
        self._looks.names()
        return len(self._files)
