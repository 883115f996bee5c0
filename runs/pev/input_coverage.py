"""Coverage: which lines of the given files the executors were shown, computed from what tools recorded (T6)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from runs.contracts.ports import FileInfo, Shown
from runs.pev.contracts import LeftOut
from runs.text.plural import list_with_and, word_for

MAX_RANGES = 3
"""Ranges of lines that a sentence names. Further ones are counted."""
MAX_NAMED = 8
"""Files or folders that a sentence names. Two thousand files are usually in a few folders."""
MAX_NOTES = 3
"""Sentences on what could not be read of one file."""
MAX_OF_STEP = 40
"""Files that are listed individually for a step."""


class Extent(StrEnum):
    """How much of a file was shown. An empty file counts as whole."""

    WHOLE = "whole"
    PART = "part"
    NOTHING = "nothing"
    UNREADABLE = "unreadable"
    EXCLUDED = "excluded"


@dataclass(frozen=True)
class FileCoverage:
    """How much of one given file was shown.

    * `ranges`: the first and last lines that were shown, out of `lines` lines (0 if none was shown).
    * `units`: the pages, slides or sheets of each range, such as “pages 1 to 7”, if the format has them.
    * `problem`: why it cannot be read, as a clause that continues its name.
    * `notes`: sentences on what could not be read.
    * `cautions`: sentences on what to know before relying on its text.
    * `empty`: it shows nothing, although it may have some bytes (`size`).
    """

    path: str
    extent: Extent
    ranges: Sequence[tuple[int, int]] = ()
    lines: int = 0
    problem: str = ""
    notes: Sequence[str] = ()
    cautions: Sequence[str] = ()
    units: Sequence[str] = ()
    empty: bool = False
    size: int = 0

    @property
    def count(self) -> int:
        """The number of lines that were shown whole."""
        return sum(last - first + 1 for first, last in self.ranges)

    @property
    def share(self) -> float:
        return 1.0 if self.extent is Extent.WHOLE else self.count / self.lines if self.lines else 0.0

    @property
    def sentence(self) -> str:
        """Returns a phrase such as “annex.md lines 1 to 400 of 900” or “lease.pdf pages 1 to 7 (lines 1 to 400 of
        900)”.
        """
        match self.extent:
            case Extent.WHOLE:
                return f"{self.path} whole{', as far as it can be read' if self.notes else ''}"
            case Extent.PART:
                return f"{self.path} {self._part()}"
            case Extent.NOTHING:
                return f"{self.path} not shown"
            case Extent.UNREADABLE:
                return f"{self.path} not readable: it {self.problem}"
            case Extent.EXCLUDED:
                return f"{self.path} left out, as a person said"

    def _part(self) -> str:
        if not self.ranges:
            return f"pieces of lines, of {self.lines:,}"
        if len(self.ranges) > MAX_RANGES:
            return f"{self.count:,} of {self.lines:,} lines"
        spans = [f"{first:,} to {last:,}" if first < last else f"{first:,}" for first, last in self.ranges]
        lines = f"{word_for(self.count, 'line')} {' and '.join(spans)} of {self.lines:,}"
        units = dict.fromkeys(self.units)
        return f"{' and '.join(units)} ({lines})" if units and all(units) else lines


@dataclass(frozen=True)
class Inputs:
    """The given files and what is known about them, by path.

    * `problems`: why files cannot be read.
    * `excluded`: files that a person excluded.
    * `notes`: what could not be read of the other files.
    * `cautions`: what to know before relying on their texts.
    * `blank`: files that show nothing.
    """

    files: Mapping[str, FileInfo] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    excluded: Collection[str] = ()
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    cautions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    blank: Collection[str] = ()


def coverage(inputs: Inputs, shown: Iterable[Shown]) -> tuple[FileCoverage, ...]:
    """Returns how much of each given file was shown, in the order of the files.

    Files are compared by content: a file that the run has changed is not the given one.
    """
    seen: dict[str, list[Shown]] = defaultdict(list)
    for one in shown:
        if one.lines:
            seen[one.sha256].append(one)
    found: list[FileCoverage] = []
    for path, info in inputs.files.items():
        if path in inputs.excluded:
            found.append(FileCoverage(path, Extent.EXCLUDED))
        elif path in inputs.problems:
            found.append(FileCoverage(path, Extent.UNREADABLE, problem=inputs.problems[path]))
        else:
            notes, cautions = inputs.notes.get(path, ()), inputs.cautions.get(path, ())
            blank = not info.size or path in inputs.blank
            covered = _covered(path, info, seen[info.sha256])
            if blank:
                covered = replace(covered, extent=Extent.WHOLE, empty=True)
            found.append(replace(covered, size=info.size, notes=notes, cautions=cautions))
    return tuple(found)


def read_whole(files: Mapping[str, FileInfo], shown: Iterable[Shown]) -> set[str]:
    """Returns the given files whose every line was shown at some time. Empty files are included."""
    return {one.path for one in coverage(Inputs(files), shown) if one.extent is Extent.WHOLE}


def _covered(path: str, info: FileInfo, shown: Sequence[Shown]) -> FileCoverage:
    ranges = _merge_ranges((one.first_line, one.last_line) for one in shown if one.first_line <= one.last_line)
    lines = shown[-1].lines if shown else 0
    if not info.size or (lines and ranges == [(1, lines)]):
        return FileCoverage(path, Extent.WHOLE, ranges, lines)
    units = [_units(shown, *each) for each in ranges[:MAX_RANGES]]
    return FileCoverage(path, Extent.PART if lines else Extent.NOTHING, ranges, lines, units=units)


def _units(shown: Iterable[Shown], first: int, last: int) -> str:
    """Returns the pages that contain these lines, if the first and the last one are known."""
    within = [one for one in shown if one.unit and first <= one.first_line <= one.last_line <= last]
    begins = next((one.unit for one in within if one.first_line == first), "")
    ends = next((one.unit for one in within if one.last_line == last), "")
    if not (begins and ends):
        return ""
    unit, _, name = begins.partition(" ")
    return begins if begins == ends else f"{unit}s {name} to {ends.partition(' ')[2]}"


def _merge_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the ranges sorted, with adjacent and overlapping ones merged."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def unread_in(found: Iterable[FileCoverage], meant: Collection[str], left: Iterable[LeftOut] = ()) -> list[str]:
    """Returns a sentence for each group of given files that keep a result from being complete (T6).

    The groups are: files that cannot be read, by reason; files that can be read in part; files `meant` by the plan that
    no step was shown; and files that steps have `left` out, by reason. Unreadable and excluded files are named once.
    """
    problems: dict[str, list[str]] = defaultdict(list)
    nothing: list[str] = []
    listed = list(found)
    named = {one.path for one in listed if one.extent in {Extent.UNREADABLE, Extent.EXCLUDED}}
    skipped: dict[str, list[str]] = defaultdict(list)
    for path, why in dict.fromkeys((one.path, one.why) for one in left if one.path not in named):
        skipped[why].append(path)
        named.add(path)
    for one in listed:
        if one.extent is Extent.UNREADABLE:
            problems[one.problem].append(one.path)
        elif one.extent is Extent.NOTHING and one.path in meant and one.path not in named:
            nothing.append(one.path)
    sentences = [
        f"{names_in_words(paths)} could not be read: {word_for(len(paths), 'it', 'each of them')} {why}."
        for why, paths in problems.items()
    ]
    sentences += _read_in_part([one for one in listed if one.notes])
    if nothing:
        were, them = word_for(len(nothing), "was", "were"), word_for(len(nothing), "it", "them")
        who, _, folders = names_in_words(nothing).partition(": ")
        where = f": {folders}" if folders else ""
        sentences.append(f"{who} {were} not read, although the plan gives {them} to its steps{where}.")
    for why, paths in skipped.items():
        about = [path for path in paths if path]
        sentences.append(f"{names_in_words(about)}: {why}." if about else f"{why[:1].upper()}{why[1:]}.")
    return sentences


def not_read_by_plan(found: Iterable[FileCoverage], meant: Collection[str]) -> list[str]:
    """Returns sentences for the person who decides on a plan: on files that cannot be read, that no step will read, and
    that are empty, doubtful or excluded.
    """
    listed = list(found)
    left = [one.path for one in listed if one.extent is Extent.NOTHING and one.path not in meant]
    sentences = [sentence.replace(" could not be read: ", " cannot be read: ") for sentence in unread_in(listed, ())]
    if left:
        sentences.append(f"No step of this plan is given {names_in_words(left)}.")
    if empty := [one.path for one in listed if one.empty and not one.size]:
        sentences.append(
            f"Nothing is in {names_in_words(empty)}: {'the file is' if len(empty) == 1 else 'these files are'} empty."
        )
    if blank := [one.path for one in listed if one.empty and one.size]:
        sentences.append(f"Nothing but white space is in {names_in_words(blank)}.")
    return sentences + _doubts([one for one in listed if one.cautions]) + _exclusions(listed)


def shown_of(found: Iterable[FileCoverage], meant: Collection[str]) -> str:
    """Returns how many of a step's files were shown, and which were not, or an empty string if all were."""
    ours = [one for one in found if one.path in meant and one.extent is not Extent.EXCLUDED]
    missing = [one.path for one in ours if one.extent in {Extent.NOTHING, Extent.UNREADABLE}]
    if not missing:
        return ""
    return f"{len(ours) - len(missing):,} of {len(ours):,} files were shown. Not read: {names_in_words(missing)}."


def summary(found: Iterable[FileCoverage]) -> list[str]:
    """Returns grouped lines on what was shown of the given files. Two thousand files take as many lines as twenty."""
    listed = list(found)
    return _extents(listed) + unread_in(listed, ()) + _exclusions(listed)


def readable(found: Iterable[FileCoverage]) -> list[str]:
    """Like `summary`, without the files that could not be read."""
    listed = list(found)
    return _extents(listed) + _exclusions(listed)


def _extents(listed: Sequence[FileCoverage]) -> list[str]:
    whole = sum(1 for one in listed if one.extent is Extent.WHOLE)
    part = [one.sentence for one in listed if one.extent is Extent.PART]
    nothing = [one.path for one in listed if one.extent is Extent.NOTHING]
    lines = [f"{whole:,} of {len(listed):,} files were read in full."] if listed else []
    if part:
        more = [f"{len(part) - MAX_NAMED:,} more"] if len(part) > MAX_NAMED else []
        lines.append(f"In part: {'; '.join([*part[:MAX_NAMED], *more])}.")
    if nothing:
        lines.append(f"Not read: {names_in_words(nothing)}.")
    return lines


def each_shown(found: Iterable[FileCoverage]) -> list[str]:
    """Returns a clause for each file that was shown at least in part, such as “nda.md whole”, up to MAX_OF_STEP. Files
    that were shown in part come first.
    """
    shown = [one for one in found if one.extent in {Extent.PART, Extent.WHOLE}]
    named = sorted(shown, key=lambda one: one.extent is Extent.WHOLE)[:MAX_OF_STEP]
    more = len(shown) - len(named)
    return [one.sentence for one in named] + ([f"{more:,} more"] if more else [])


def _read_in_part(found: Sequence[FileCoverage]) -> list[str]:
    """Returns sentences on what could not be read of these files. If there are many, most are only named."""
    sentences = []
    for one in found[:MAX_NAMED]:
        more = len(one.notes) - MAX_NOTES
        rest = [f"{more:,} more such places."] if more > 0 else []
        sentences.append(f"A part of {one.path} could not be read: {' '.join([*one.notes[:MAX_NOTES], *rest])}")
    if more_files := [one.path for one in found[MAX_NAMED:]]:
        sentences.append(f"Parts of {names_in_words(more_files)} could not be read either.")
    return sentences


def _doubts(found: Sequence[FileCoverage]) -> list[str]:
    """Returns sentences on what to know before relying on these files. If there are many, most are only named."""
    sentences = [f"{one.path}: {' '.join(one.cautions[:MAX_NOTES])}" for one in found[:MAX_NAMED]]
    if more := [one.path for one in found[MAX_NAMED:]]:
        sentences.append(f"Look at the pages of {names_in_words(more)} too, since their texts are doubtful.")
    return sentences


def _exclusions(found: Iterable[FileCoverage]) -> list[str]:
    paths = [one.path for one in found if one.extent is Extent.EXCLUDED]
    return [f"Left out, as a person said: {names_in_words(paths)}."] if paths else []


def names_in_words(paths: Sequence[str]) -> str:
    """Returns the names of the files, or their number and folders if there are many."""
    if len(paths) <= MAX_NAMED:
        return list_with_and(paths)
    folders = grouped(paths)
    named = [f"{folder} ({count:,})" for folder, count in folders[:MAX_NAMED]]
    more = len(folders) - len(named)
    return f"{len(paths):,} files: {list_with_and([*named, *([f'{more:,} more folders'] if more else [])])}"


def grouped(paths: Iterable[str]) -> list[tuple[str, int]]:
    """Returns folders with the number of files in them, largest first.

    The deepest level with few enough folders is used, or else the top level.
    """
    parents = [path.split("/")[:-1] for path in paths]
    for depth in range(max(map(len, parents), default=0), 0, -1):
        counts = _count_below(parents, depth)
        if len(counts) <= MAX_NAMED or depth == 1:
            return counts
    return _count_below(parents, 1)


def _count_below(parents: Iterable[Sequence[str]], depth: int) -> list[tuple[str, int]]:
    counts: dict[str, int] = defaultdict(int)
    for parts in parents:
        counts["".join(f"{part}/" for part in parts[:depth]) or "the top folder"] += 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
