"""The tab with the files of a run as of any moment, with their authors and the differences between two moments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import Http404

from runs.contracts.ports import FileInfo
from runs.documents.formats import DRAWN
from runs.enums import EventKind
from runs.models import Attempt, Run
from runs.readmodel.run_files import Change, FileDiff, FileHistory, WorkspaceMoment, changes_between, diffs_of
from runs.store import trees
from runs.text.normalisation import caseless
from runs.web.frame.run_tab import EVERYTHING, STEP_ENDS, RunTab

ROWS = 200
"""Files of one list on one page."""
DIFFS = 100
"""Changed files on one page."""


@dataclass(frozen=True)
class FileList:
    """A page of one of the two lists; `back` and `on` are the addresses of those beside it, or empty."""

    page: Page[FileRow]
    back: str
    on: str


@dataclass(frozen=True)
class FileRow:
    """`info` is what is shown: of a removed file what was given. `before`: what it was at the start, if it changed.
    `change`: against the start. `problem`: why it cannot be read, as a clause behind its name; `notes`, which parts of
    it cannot be. Of a document `extent` is how much it is, and `drawn` that its pages can be shown as pictures.
    """

    path: str
    info: FileInfo
    change: Change | None
    attempt: Attempt | None
    before: FileInfo | None = None
    problem: str = ""
    notes: Sequence[str] = ()
    extent: str = ""
    drawn: bool = False

    @property
    def folder(self) -> str:
        folder, slash, _ = self.path.rpartition("/")
        return folder + slash

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, eq=False)
class FilesPage:
    """The files as of `to`; with `since` what differs between the two moments. `asked`: the query of the address, with
    a part of their paths and the pages of the two lists.
    """

    run: Run
    history: FileHistory
    to: WorkspaceMoment
    since: WorkspaceMoment | None
    asked: Mapping[str, str]

    @cached_property
    def _then(self) -> Mapping[str, FileInfo]:
        return self.history.files(self.to)

    @cached_property
    def _start(self) -> Mapping[str, FileInfo]:
        return self.history.given(self.to)

    @cached_property
    def _writers(self) -> Mapping[str, Attempt]:
        return self.history.writers(self.to)

    @cached_property
    def results(self) -> FileList:
        """The files that the run made, changed or removed."""
        return self._list("made", self._results())

    @cached_property
    def given(self) -> FileList:
        """The files that were submitted, unchanged."""
        return self._list("given", self._given())

    def _list(self, name: str, rows: Iterator[FileRow]) -> FileList:
        page = Paginator(list(rows), ROWS).get_page(self.asked.get(name, 1))
        back, on = (f"?{urlencode({**self.asked, name: page.number + by})}" for by in (-1, 1))
        return FileList(page, back if page.has_previous() else "", on if page.has_next() else "")

    def _results(self) -> Iterator[FileRow]:
        known = trees.readings_of(self.run.head)
        for path in changes_between(self._start, self._then):
            before, after = self._start.get(path), self._then.get(path)
            shown = after or before
            change: Change = "new" if before is None else "changed" if after else "removed"
            if shown and self._is_asked_for(path):
                yield FileRow(
                    path,
                    shown,
                    change,
                    self._writers.get(path),
                    before if after else None,
                    extent=known.extents.get(shown.sha256, ""),
                    drawn=known.formats.get(shown.sha256) in DRAWN,
                )

    def _given(self) -> Iterator[FileRow]:
        known = trees.readings_of(self.run.inputs)
        for path, info in self._start.items():
            if self._is_asked_for(path):
                now = self._then.get(path)
                change: Change | None = None if now == info else "changed" if now else "removed"
                yield FileRow(
                    path,
                    info,
                    change,
                    self._writers.get(path),
                    problem=known.problems.get(info.sha256, ""),
                    notes=[*known.notes.get(info.sha256, ()), *known.cautions.get(info.sha256, ())],
                    extent=known.extents.get(info.sha256, ""),
                    drawn=known.formats.get(info.sha256) in DRAWN,
                )

    def _is_asked_for(self, path: str) -> bool:
        return caseless(self.asked.get("path", "")) in caseless(path)

    @cached_property
    def diffs(self) -> Sequence[FileDiff]:
        """The differences between the two moments; those after the first `DIFFS` are counted in `more`."""
        if self.since is None:
            return ()
        return list(diffs_of(self._changed[:DIFFS], self._before, self._then))

    @property
    def more(self) -> int:
        return max(0, len(self._changed) - DIFFS)

    @cached_property
    def _before(self) -> Mapping[str, FileInfo]:
        return self.history.files(self.since) if self.since else {}

    @cached_property
    def _changed(self) -> Sequence[str]:
        return [path for path in changes_between(self._before, self._then) if self._is_asked_for(path)]


def files_page(run: Run, asked: Mapping[str, str]) -> FilesPage:
    """The page; `to` and `from` are numbers of events. Raises Http404 for a moment that the run does not have."""
    history = FileHistory(run)
    to, since = (_moment(history, asked.get(name, "")) for name in ("to", "from"))
    return FilesPage(run, history, to or history.now, since, asked)


def _moment(history: FileHistory, given: str) -> WorkspaceMoment | None:
    if not given:
        return None
    found = history.at(int(given)) if given.isascii() and given.isdigit() and len(given) < 10 else None
    if found is None:
        raise Http404("This run has no such moment.")
    return found


FILES = RunTab(
    "files",
    "files/files.html",
    read=files_page,
    regions={"files": EVERYTHING | STEP_ENDS | {EventKind.GATE_DECIDED}},
    shown_in={"files": lambda page: (page.results, page.diffs if page.since else page.given)},
    query=("to", "from", "path", "made", "given"),
)
