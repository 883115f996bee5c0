"""The files of a run: what it made, all versions of a file, and the differences between two versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from runs.contracts.ports import FileInfo
from runs.enums import EventKind, GateStatus
from runs.evidence.passages import find
from runs.lifecycle.change_requests import requests_of
from runs.models import Attempt, Gate, Run, Tree
from runs.pev.checks.material import list_in_words
from runs.store import trees
from runs.text.diff import MAX_CHARACTERS, DiffBudget, DiffHunk, Kind, LineDiff, line_diff


@dataclass(frozen=True)
class MadeFile:
    """A file that the run made, changed or removed. `info` of a removed file is that of the given one."""

    path: str
    change: Literal["new", "changed", "removed"]
    info: FileInfo


def written_files(run: Run, tree: Tree) -> Mapping[str, FileInfo]:
    """The files of a tree of the run that are new or differ from its inputs, sorted by path."""
    given = trees.files_of(run.inputs)
    return {path: info for path, info in trees.files_of(tree).items() if given.get(path) != info}


def made_files(run: Run) -> tuple[MadeFile, ...]:
    """The differences between inputs and workspace, sorted by path."""
    given, now = trees.files_of(run.inputs), trees.files_of(run.head)
    written = written_files(run, run.head)
    made = [MadeFile(path, "changed" if path in given else "new", info) for path, info in written.items()]
    gone = [MadeFile(path, "removed", info) for path, info in given.items() if path not in now]
    return tuple(sorted([*made, *gone], key=lambda file: file.path))


MAX_COMPARED_FILES = 20
MAX_TOTAL_BYTES = 4_000_000
"""Files that one page compares, and their bytes before and after."""

type Change = Literal["new", "changed", "removed"]


@dataclass(frozen=True)
class FileDiff:
    """A path whose content differs. If the two are not compared, `lines` is None and `note` says why."""

    path: str
    old: FileInfo | None
    new: FileInfo | None
    lines: LineDiff | None
    note: str = ""

    @property
    def change(self) -> Change:
        if self.old is None:
            return "new"
        return "changed" if self.new else "removed"


def changes_between(old: Mapping[str, FileInfo], new: Mapping[str, FileInfo]) -> Sequence[str]:
    """The paths whose content differs, sorted."""
    return sorted(path for path in {*old, *new} if old.get(path) != new.get(path))


def diffs_of(paths: Sequence[str], old: Mapping[str, FileInfo], new: Mapping[str, FileInfo]) -> Iterator[FileDiff]:
    """A diff for each path. Only the first ones are compared, within the limits of a page."""
    budget, left = DiffBudget(), MAX_TOTAL_BYTES
    for number, path in enumerate(paths):
        before, after = old.get(path), new.get(path)
        left -= sum(info.size for info in (before, after) if info)
        if number < MAX_COMPARED_FILES and left >= 0:
            yield file_diff(path, before, after, budget)
        else:
            yield FileDiff(path, before, after, None, "Not compared on this page.")


def file_diff(path: str, old: FileInfo | None, new: FileInfo | None, budget: DiffBudget) -> FileDiff:
    """The diff of two contents of a path; None stands for a missing file."""
    if max(info.size if info else 0 for info in (old, new)) > 4 * MAX_CHARACTERS:
        return FileDiff(path, old, new, None, "Too large to be compared.")
    before, after = _text(old), _text(new)
    if before is None or after is None:
        return FileDiff(path, old, new, None, "Not a text file.")
    lines = line_diff(before, after, budget)
    return FileDiff(path, old, new, lines, "" if lines else "Too large to be compared.")


def _text(info: FileInfo | None) -> str | None:
    """The text of a file; empty for a missing file, None if it is no text or was lost."""
    if info is None:
        return ""
    try:
        return trees.read_text(info.sha256)
    except FileNotFoundError:
        return None


_RESULT_EVENTS = (EventKind.STEP_PASSED, EventKind.STEP_ACCEPTED)
_STEP_FIELDS = ("step__key", "step__spec", "step__status", "step__plan__version", "step__plan__run_id")
_ATTEMPT_FIELDS = ("number", "status", "overlay", *_STEP_FIELDS)


@dataclass(frozen=True)
class WorkspaceMoment:
    """The workspace from event `seq` (0 for the start) to the next moment. The result of `attempt` changed it, or the
    files that a person gave at the gate `supply`.
    """

    seq: int
    digest: str
    attempt: Attempt | None = None
    supply: Gate | None = None

    @property
    def name(self) -> str:
        if self.supply:
            return f"{self.supply.decided_by} gave {list_in_words(self.supply.supplied or [])}"
        if self.attempt is None:
            return "the start"
        return f"“{self.attempt.step.spec.name}”"


@dataclass(frozen=True, eq=False)
class FileHistory:
    """The workspace of a run over time. Parts are read when needed, in a number of queries that does not grow."""

    run: Run

    @cached_property
    def moments(self) -> Sequence[WorkspaceMoment]:
        """All moments, the oldest first. The last one is the current workspace."""
        wanted = {key for _, _, key in self._results}
        every = Attempt.objects.of_run(self.run).values_list("pk", "step__plan__version", "step__key", "number")
        chosen = [pk for pk, *key in every if tuple(key) in wanted]
        rows = Attempt.objects.filter(pk__in=chosen).select_related("step__plan").only(*_ATTEMPT_FIELDS)
        attempts = {(one.step.plan.version, one.step.key, one.number): one for one in rows}
        found = [WorkspaceMoment(seq, tree, attempts.get(key)) for seq, tree, key in self._results]
        found += [WorkspaceMoment(seq, tree, supply=gate) for seq, (tree, gate) in self._supplies.items()]
        start = WorkspaceMoment(0, self._inputs_at(0).digest)
        return sorted([start, *found], key=lambda moment: moment.seq)

    @cached_property
    def _supplies(self) -> Mapping[int, tuple[str, Gate]]:
        """The gates at which people gave files, with the workspace after that, by the number of the event."""
        decided = self.run.events.filter(kind=EventKind.GATE_DECIDED, data__decision=GateStatus.SUPPLIED)
        rows = list(decided.order_by("seq").values_list("seq", "data"))
        gates = self.run.gates.select_related("inputs", "decided_by").in_bulk([data["gate"] for _, data in rows])
        return {seq: (data["tree"], gates[data["gate"]]) for seq, data in rows}

    def _inputs_at(self, seq: int) -> Tree:
        later = (gate.inputs for number, (_, gate) in self._supplies.items() if number > seq)
        return next(later, None) or self.run.inputs

    def given(self, moment: WorkspaceMoment) -> Mapping[str, FileInfo]:
        """The input files at that moment, sorted by path."""
        return trees.files_of(self._inputs_at(moment.seq))

    @cached_property
    def _results(self) -> Sequence[tuple[int, str, tuple[int, str, int]]]:
        """For each result that reached the workspace: event, tree, and version, step and number of the attempt."""
        results, version = [], 0
        events = self.run.events.filter(kind__in=[EventKind.PLAN_APPROVED, *_RESULT_EVENTS]).order_by("seq")
        for seq, kind, data in events.values_list("seq", "kind", "data"):
            if kind == EventKind.PLAN_APPROVED:
                version = data["version"]
            else:
                results.append((seq, data["tree"], (version, data["step"], data["attempt"])))
        return results

    @property
    def now(self) -> WorkspaceMoment:
        return self.moments[-1]

    def at(self, seq: int) -> WorkspaceMoment | None:
        """The moment of exactly this number."""
        return next((moment for moment in self.moments if moment.seq == seq), None)

    def files(self, moment: WorkspaceMoment) -> Mapping[str, FileInfo]:
        """All files at that moment, sorted by path."""
        known = {tree.digest: tree for tree in (self.run.inputs, self.run.head)}
        return trees.files_of(known.get(moment.digest) or Tree.objects.get(digest=moment.digest))

    def writers(self, moment: WorkspaceMoment) -> Mapping[str, Attempt]:
        """By path, the attempt that wrote the content which the workspace has at that moment, or removed it."""
        files = self.files(moment)
        found: dict[str, Attempt] = {}
        for one in reversed(self.moments):
            if one.attempt is None or one.seq > moment.seq:
                continue
            for path, entry in one.attempt.overlay.items():
                if path not in found and files.get(path) == entry:
                    found[path] = one.attempt
        return found


@dataclass(frozen=True)
class FileVersion:
    """A version of a file. `info` is None if it was removed; `attempt` is None for the submitted version."""

    info: FileInfo | None
    attempt: Attempt | None


def versions_of(run: Run, path: str) -> Sequence[FileVersion]:
    """The versions of a file, the oldest first: as submitted, and as attempts left it, including failed ones."""
    submitted = trees.files_of(run.inputs).get(path)
    attempts = Attempt.objects.of_run(run).select_related("step__plan").only(*_ATTEMPT_FIELDS).order_by("pk")
    written = [FileVersion(attempt.overlay[path], attempt) for attempt in attempts if path in attempt.overlay]
    return [FileVersion(submitted, None), *written] if submitted else written


FINDINGS = "Findings"


def changes_since(run: Run, attempt: Attempt, words: str = "") -> Sequence[FileDiff]:
    """How findings and files of an attempt differ from each rejected result whose requests it was judged by.

    The first removed or new lines that have the `words` are marked.
    """
    judged = {one.number for one in attempt.verdict.requests} if hasattr(attempt, "verdict") else set()
    gates = [gate for gate in requests_of(run) if judged & {one.request for one in gate.asked}]
    rejected = {gate.attempt_id: gate.attempt for gate in gates if gate.attempt}
    diffs = [diff for one in rejected.values() for diff in _diffs_between(one, attempt)]
    kinds: tuple[Kind, ...] = ("removed", "added") if words else ()
    for kind in kinds:
        for place, diff in enumerate(diffs):
            lines = _with_hits(diff.lines, kind, words) if diff.lines else None
            if lines:
                return [*diffs[:place], replace(diff, lines=lines), *diffs[place + 1 :]]
    return diffs


def _diffs_between(rejected: Attempt, attempt: Attempt) -> Iterator[FileDiff]:
    old, new = (one.output.findings if one.output else "" for one in (rejected, attempt))
    if old != new:
        lines = line_diff(old, new, DiffBudget())
        yield FileDiff(FINDINGS, None, None, lines, "" if lines else "Too large to be compared.")
    before, after = _files_after(rejected), _files_after(attempt)
    paths = sorted({*rejected.overlay, *attempt.overlay})
    yield from diffs_of([path for path in paths if before.get(path) != after.get(path)], before, after)


def _files_after(attempt: Attempt) -> Mapping[str, FileInfo]:
    changed = {**trees.files_of(attempt.base), **attempt.overlay}
    return {path: info for path, info in changed.items() if info}


def _with_hits(diff: LineDiff, kind: Kind, words: str) -> LineDiff | None:
    """The diff in which the lines of one kind that have these words are marked; None if no line has them."""
    rows = (row for hunk in diff.hunks for row in hunk.rows if row.kind == kind)
    text = "\n".join("".join(piece.text for piece in row.pieces) for row in rows)
    span = find(words, text)
    if span is None:
        return None
    last = span.line + text.count("\n", span.start, span.end)
    hunks, number = list[DiffHunk](), 0
    for hunk in diff.hunks:
        marked = []
        for row in hunk.rows:
            number += row.kind == kind
            hit = row.kind == kind and span.line <= number <= last
            marked.append(replace(row, hit=hit, first=hit and number == span.line))
        hunks.append(replace(hunk, rows=tuple(marked)))
    return replace(diff, hunks=tuple(hunks))
