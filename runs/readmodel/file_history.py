"""How the files of a run came to be: the workspace at each moment, who wrote what, and every version of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from runs.contracts.ports import FileInfo
from runs.enums import EventKind
from runs.models import Attempt, Run, Tree
from runs.store import trees

_SETTLED = (EventKind.STEP_PASSED, EventKind.STEP_ACCEPTED)
_OF_STEP = ("step__key", "step__spec", "step__status", "step__plan__version", "step__plan__run_id")
_OF_INTEREST = ("number", "status", "overlay", *_OF_STEP)


@dataclass(frozen=True)
class Moment:
    """The workspace from event number `seq` on, 0 for the start, until the next one. `attempt`: whose result it got."""

    seq: int
    digest: str
    attempt: Attempt | None = None

    @property
    def name(self) -> str:
        if self.attempt is None:
            return "the start"
        return f"“{self.attempt.step.spec.name}”"


@dataclass(frozen=True, eq=False)
class FileHistory:
    """The workspace of a run over time, read when asked for, in a number of queries that does not grow."""

    run: Run

    @cached_property
    def moments(self) -> Sequence[Moment]:
        """The oldest first; the last one is now."""
        found = [Moment(0, self.run.inputs.digest)]
        attempts = {(one.step.plan.version, one.step.key, one.number): one for one in self._settled}
        found += [Moment(seq, tree, attempts.get(key)) for seq, tree, key in self._results]
        return found

    @cached_property
    def _results(self) -> Sequence[tuple[int, str, tuple[int, str, int]]]:
        """Of each result that reached the workspace: event, tree, and version, step and number of the attempt."""
        results, version = [], 0
        events = self.run.events.filter(kind__in=[EventKind.PLAN_APPROVED, *_SETTLED]).order_by("seq")
        for seq, kind, data in events.values_list("seq", "kind", "data"):
            if kind == EventKind.PLAN_APPROVED:
                version = data["version"]
            else:
                results.append((seq, data["tree"], (version, data["step"], data["attempt"])))
        return results

    @cached_property
    def _settled(self) -> Sequence[Attempt]:
        wanted = {key for _, _, key in self._results}
        every = Attempt.objects.of_run(self.run).values_list("pk", "step__plan__version", "step__key", "number")
        chosen = [pk for pk, *key in every if tuple(key) in wanted]
        return list(Attempt.objects.filter(pk__in=chosen).select_related("step__plan").only(*_OF_INTEREST))

    @property
    def now(self) -> Moment:
        return self.moments[-1]

    def at(self, seq: int) -> Moment | None:
        """The moment of exactly this number."""
        return next((moment for moment in self.moments if moment.seq == seq), None)

    def files(self, moment: Moment) -> Mapping[str, FileInfo]:
        """Every file as of then, sorted by path."""
        known = {tree.digest: tree for tree in (self.run.inputs, self.run.head)}
        return trees.files_of(known.get(moment.digest) or Tree.objects.get(digest=moment.digest))

    def writers(self, moment: Moment) -> Mapping[str, Attempt]:
        """By path, whose content stands in the workspace as of then, or who removed it."""
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
    """`info` is None where the file was removed; `attempt` wrote it, None for what was submitted."""

    info: FileInfo | None
    attempt: Attempt | None


def versions_of(run: Run, path: str) -> Sequence[FileVersion]:
    """What a file was, the oldest first: as submitted, and as attempts left it, also those that did not pass."""
    return list(_versions(run, path))


def _versions(run: Run, path: str) -> Iterator[FileVersion]:
    given = trees.files_of(run.inputs).get(path)
    if given:
        yield FileVersion(given, None)
    attempts = Attempt.objects.of_run(run).select_related("step__plan").only(*_OF_INTEREST).order_by("pk")
    for attempt in attempts:
        if path in attempt.overlay:
            yield FileVersion(attempt.overlay[path], attempt)
