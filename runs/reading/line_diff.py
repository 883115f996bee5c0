"""Two texts compared line by line, and within changed lines word by word; bounded work, however hostile they are."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from runs.reading.word_diff import Effort, Kind, Piece, script, shared, sides

MAX_CHARACTERS = 1_000_000
MAX_LINES = 50_000
"""Of each of two texts that are compared."""
MAX_ROWS = 2_000
"""Lines of one comparison that are shown, what stays around the changes included."""
MAX_IN_A_LINE = 2_000
CONTEXT = 3


@dataclass(frozen=True)
class Row:
    """One line; `old` and `new` are its numbers in the two texts, 0 where it is in only one. `hit`: it is pointed at;
    `first`: that begins here.
    """

    kind: Kind
    old: int
    new: int
    pieces: tuple[Piece, ...]
    hit: bool = False
    first: bool = False


@dataclass(frozen=True)
class Hunk:
    """Lines that stand together; `left_out` so many lines before it that are the same in both."""

    left_out: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class LineDiff:
    """`added` and `removed` count lines of the whole comparison; `more` of those are not among the hunks."""

    added: int
    removed: int
    hunks: tuple[Hunk, ...]
    more: int = 0


def line_diff(before: str, after: str, effort: Effort) -> LineDiff | None:
    """What differs; None for texts that are too long. Where `effort` does not reach, one part replaces the other."""
    if max(len(before), len(after)) > MAX_CHARACTERS:
        return None
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) > MAX_LINES:
        return None
    kinds = _kinds(old, new, effort)
    hunks = _hunks(old, new, kinds, effort)
    counted = Counter(kinds)
    shown = sum(1 for hunk in hunks for row in hunk.rows if row.kind != "same")
    return LineDiff(counted["added"], counted["removed"], hunks, counted["added"] + counted["removed"] - shown)


def _lines(text: str) -> list[str]:
    """Without their ends: those of Windows differ from others in nothing that a reader sees."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _kinds(old: Sequence[str], new: Sequence[str], effort: Effort) -> list[Kind]:
    """What becomes of each line, in order: between lines that each text has once, and both in this order, the shortest
    way from one to the other; without effort for it, what is gone and then what is new.
    """
    kinds: list[Kind] = []
    at = its = 0
    for here, there in [*_anchors(old, new), (len(old), len(new))]:
        kinds += _between(old[at:here], new[its:there], effort)
        if here < len(old):
            kinds.append("same")
        at, its = here + 1, there + 1
    return kinds


def _between(old: Sequence[str], new: Sequence[str], effort: Effort) -> list[Kind]:
    start = shared(old, new)
    end = shared(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    found = script(old, new, effort) if effort.take(len(old) + len(new)) else None
    if found is None:
        found = [*_times("removed", len(old)), *_times("added", len(new))]
    return [*_times("same", start), *found, *_times("same", end)]


def _times(kind: Kind, count: int) -> list[Kind]:
    return [kind] * count


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest sequence of pairs of lines that are alone in both texts and stand in the same order."""
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    places = {line: at for at, line in enumerate(new) if line in once}
    pairs = [(at, places[line]) for at, line in enumerate(old) if line in once]
    ends: list[int] = []  # of the best sequence of each length, where its last line stands in the new text
    last: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_, there) in enumerate(pairs):
        length = bisect_left(ends, there)
        ends[length : length + 1] = [there]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    chosen, number = [], last[-1] if last else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]


type _Entry = tuple[Kind, int, int]
"""A line with its numbers in both texts, from 1; of one that is in one text only, where the other one is."""


def _hunks(old: Sequence[str], new: Sequence[str], kinds: Sequence[Kind], effort: Effort) -> tuple[Hunk, ...]:
    entries = list(_numbered(kinds))
    near = bytearray(len(entries))
    for at, kind in enumerate(kinds):
        if kind != "same":
            near[max(0, at - CONTEXT) : at + CONTEXT + 1] = b"\1" * len(near[max(0, at - CONTEXT) : at + CONTEXT + 1])
    hunks: list[Hunk] = []
    left_out, room = 0, MAX_ROWS
    for is_near, group in groupby(enumerate(entries), key=lambda one: near[one[0]]):
        part = [entry for _, entry in group]
        if not is_near:
            left_out = len(part)
        elif room > 0:
            hunks.append(Hunk(left_out, tuple(_rows(old, new, part[:room], effort))))
            room -= len(part)
    return tuple(hunks)


def _numbered(kinds: Sequence[Kind]) -> Iterator[_Entry]:
    at = its = 0
    for kind in kinds:
        at, its = at + (kind != "added"), its + (kind != "removed")
        yield kind, at, its


def _rows(old: Sequence[str], new: Sequence[str], part: Sequence[_Entry], effort: Effort) -> Iterator[Row]:
    """What is gone stands before what is new in its place."""
    for same, group in groupby(part, key=lambda entry: entry[0] == "same"):
        entries = list(group)
        if same:
            yield from (Row("same", at, its, (Piece("same", _cut(new[its - 1])),)) for _, at, its in entries)
            continue
        gone = [(at, _cut(old[at - 1])) for kind, at, _ in entries if kind == "removed"]
        come = [(its, _cut(new[its - 1])) for kind, _, its in entries if kind == "added"]
        pairs = [sides(one, other, effort) for (_, one), (_, other) in zip(gone, come, strict=False)]
        for (at, text), pair in zip_longest(gone, pairs):
            yield Row("removed", at, 0, pair[0] if pair else (Piece("same", text),))
        for (its, text), pair in zip_longest(come, pairs):
            yield Row("added", 0, its, pair[1] if pair else (Piece("same", text),))


def _cut(line: str) -> str:
    return line if len(line) <= MAX_IN_A_LINE else f"{line[:MAX_IN_A_LINE]} …"
