"""What has changed since a result was rejected, as a verdict on a request names it by `@diff`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from runs.contracts.ports import FileInfo
from runs.evidence.finding import find
from runs.lifecycle.change_requests import requests_of
from runs.models import Attempt, Run
from runs.readmodel.file_diff import FileDiff, diffs_of
from runs.store import trees
from runs.text.diff import DiffBudget, DiffHunk, Kind, LineDiff, line_diff

FINDINGS = "Findings"


def changes_since(run: Run, attempt: Attempt, words: str = "") -> Sequence[FileDiff]:
    """How findings and files of an attempt differ from those of each result whose rejection it was judged by. The lines
    that are gone or new with these words are marked, where they are found first.
    """
    judged = {one.number for one in attempt.verdict.requests} if hasattr(attempt, "verdict") else set()
    gates = [gate for gate in requests_of(run) if judged & {one.request for one in gate.asked}]
    rejected = {gate.attempt_id: gate.attempt for gate in gates if gate.attempt}
    diffs = [diff for one in rejected.values() for diff in _between(one, attempt)]
    return _marked(diffs, words) if words else diffs


def _between(rejected: Attempt, attempt: Attempt) -> Iterator[FileDiff]:
    old, new = (one.output.findings if one.output else "" for one in (rejected, attempt))
    if old != new:
        lines = line_diff(old, new, DiffBudget())
        yield FileDiff(FINDINGS, None, None, lines, "" if lines else "Too large to be compared.")
    before, after = _left(rejected), _left(attempt)
    paths = sorted({*rejected.overlay, *attempt.overlay})
    yield from diffs_of([path for path in paths if before.get(path) != after.get(path)], before, after)


def _left(attempt: Attempt) -> Mapping[str, FileInfo]:
    changed = {**trees.files_of(attempt.base), **attempt.overlay}
    return {path: info for path, info in changed.items() if info}


def _marked(diffs: Sequence[FileDiff], words: str) -> Sequence[FileDiff]:
    kinds: tuple[Kind, ...] = ("removed", "added")
    for kind in kinds:
        for place, diff in enumerate(diffs):
            lines = _with(diff.lines, kind, words) if diff.lines else None
            if lines:
                return [*diffs[:place], replace(diff, lines=lines), *diffs[place + 1 :]]
    return diffs


def _with(diff: LineDiff, kind: Kind, words: str) -> LineDiff | None:
    """With the lines of one kind marked that have these words; None if none have."""
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
