"""Where the steps of a plan stand in a drawing, and the lines between them. Knows keys, boxes and lines only."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from runs.pev.plans.ordering import levels

MAX_LENGTH = 3_000
"""Ranks that all lines together may cross. Longer lines of a plan beyond any reader are counted, not drawn."""
SWEEPS = 6
"""Times that the ranks are reordered. After that the number of crossings hardly falls."""
FEW_CROSSINGS = 1
"""Pairs of lines that may cross before ranks leave the order of the plan, in which their steps are numbered."""
FEWEST_ALIKE = 6
"""So many steps that depend on the same ones, and on which the same ones depend, have one frame and one line."""
PAD = 6
"""From a frame to its steps, in CSS pixels."""
_BLANK = "\n"
"""Begins what keeps the place of a step. No key has it."""
_ROWS = 8
"""Steps above each other at most, where ranks stand side by side."""

type Unit = tuple[str, ...]
"""The steps in one frame, or a single step."""
type Slot = str | tuple[int, str]
"""What has a place in a rank: the key of a step, or a lane (rank, bundle) through which lines pass it by."""


@dataclass(frozen=True)
class Box:
    """A step, in CSS pixels from the upper left corner."""

    key: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Frame:
    """Around steps that are alike, in CSS pixels. It may lie `PAD` pixels outside of the drawing."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Edge:
    """A line from the steps of `start` to those of `end`, which depend on them all; `path` is SVG path data."""

    start: Unit
    end: Unit
    path: str


@dataclass(frozen=True)
class Drawing:
    """`down`: ranks stand below each other. `hidden` counts the lines that are not drawn."""

    width: int
    height: int
    down: bool
    boxes: tuple[Box, ...]
    frames: tuple[Frame, ...]
    edges: tuple[Edge, ...]
    hidden: int


@dataclass(frozen=True)
class Canvas:
    """How wide a drawing may be, and between which widths a step; `both`: whether ranks may stand side by side."""

    width: int
    narrowest: int
    widest: int
    both: bool


WIDE = Canvas(1080, 168, 240, both=True)
NARROW = Canvas(340, 280, 300, both=False)
_HEIGHT = 40
"""Height of a step: two lines of its name."""


@dataclass(frozen=True)
class _Way:
    """One way to fill a canvas: sizes `along` the lines and `cross` to them, with the gaps after them.

    `margin`: room beside the ranks for lines from one band of ranks to the next one.
    """

    down: bool
    along: int
    along_gap: int
    cross: int
    cross_gap: int
    lane: int
    per_rank: int
    per_band: int
    margin: int
    room: int


def draw(dependencies: Mapping[str, Sequence[str]], canvas: Canvas) -> Drawing:
    """The steps of a plan without cycles, by key with the keys that each depends on: the lower of the drawings.

    No two boxes overlap, and none lies outside of the drawing, which is at most as wide as the canvas.
    """
    by_level: dict[int, list[str]] = defaultdict(list)
    level = levels(dependencies)
    for key in dependencies:
        by_level[level[key]].append(key)
    units = _units(dependencies)
    # Steps that are alike are on one level, and have ranks of their own.
    rows: list[Sequence[str]] = []
    for number in range(len(by_level)):
        rows.append([key for key in by_level[number] if len(units[key]) == 1])
        rows += dict.fromkeys(units[key] for key in by_level[number] if len(units[key]) > 1)
    rows = [row for row in rows if row]
    ways = [_downwards(canvas, rows), *([_sideways(canvas, rows)] if canvas.both else [])]
    drawings = []
    for way in ways:
        net = _Net(dependencies, units, [rank for row in rows for rank in _ranks(row, way.per_rank)])
        if way.per_band and any(net.first[key] // way.per_band != net.last[key] // way.per_band for key in units):
            continue  # no frame goes on in the next band
        net.order()
        drawings.append(_Sheet(net, way).drawing())
    return min(drawings, key=lambda drawing: drawing.height)


def _units(dependencies: Mapping[str, Sequence[str]]) -> dict[str, Unit]:
    """By step, those that are drawn in one frame with it."""
    after: dict[str, set[str]] = defaultdict(set)
    for key, starts in dependencies.items():
        for start in starts:
            after[start].add(key)
    alike: dict[tuple[frozenset[str], frozenset[str]], list[str]] = defaultdict(list)
    for key, starts in dependencies.items():
        if starts or after[key]:
            alike[frozenset(starts), frozenset(after[key])].append(key)
    return {key: (key,) for key in dependencies} | {
        key: tuple(keys) for keys in alike.values() if len(keys) >= FEWEST_ALIKE for key in keys
    }


def _ranks(row: Sequence[str], per_rank: int) -> list[list[str]]:
    """A row in as many ranks as it needs; those of a frame are as long as each other."""
    count = -(-len(row) // per_rank)
    length = -(-len(row) // count) if isinstance(row, tuple) else per_rank
    return [list(row[at : at + length]) for at in range(0, len(row), length)]


def _downwards(canvas: Canvas, rows: Sequence[Sequence[str]]) -> _Way:
    gap, lanes = 16, canvas.width // 10
    most = max(1, (canvas.width - lanes + gap) // (canvas.narrowest + gap))
    count = max(1, min(most, max(map(len, rows), default=1)))
    width = min(canvas.widest, (canvas.width - lanes + gap) // count - gap)
    return _Way(
        True,
        _HEIGHT,
        24 if any(isinstance(row, tuple) for row in rows) else 20,
        width,
        gap,
        12,
        count,
        0,
        0,
        canvas.width,
    )


def _sideways(canvas: Canvas, rows: Sequence[Sequence[str]]) -> _Way:
    gap, ranks = 40, sum(-(-len(row) // _ROWS) for row in rows)
    most = (canvas.width + gap) // (canvas.narrowest + gap)
    margin = 16 if ranks > most else 0
    count = max(1, min(most, ranks))
    width = min(canvas.widest, (canvas.width - 2 * margin + gap) // count - gap)
    return _Way(False, width, gap, _HEIGHT, 12, 12, _ROWS, count, margin, 0)


class _Net:
    """Steps and lanes in ranks, and which of them are linked. `lines`: each with the lanes that it goes through."""

    def __init__(
        self, dependencies: Mapping[str, Sequence[str]], units: Mapping[str, Unit], rows: list[list[str]]
    ) -> None:
        self.ranks: list[list[Slot]] = [list(row) for row in rows]
        self.rank_of = {key: number for number, row in enumerate(rows) for key in row}
        self.units = units
        self.first = {key: self.rank_of[unit[0]] for key, unit in units.items()}
        self.last = {key: self.rank_of[unit[-1]] for key, unit in units.items()}
        self.before: dict[Slot, list[Slot]] = defaultdict(list)
        self.after: dict[Slot, list[Slot]] = defaultdict(list)
        self.lines: list[tuple[Unit, list[Slot], Unit]] = []
        for number, row in enumerate(rows[1:], 1):  # the columns of a frame
            before = self.ranks[number - 1]
            if units[row[0]] == units[rows[number - 1][0]]:
                # No line passes where the last column ends before the others.
                self.ranks[number] += [f"{_BLANK}{number} {place}" for place in range(len(row), len(before))]
                for one, other in zip(before, self.ranks[number], strict=True):
                    self._link(one, other)
        edges = [*dict.fromkeys((units[start], units[end]) for end, starts in dependencies.items() for start in starts)]
        edges.sort(key=lambda edge: self._span(*edge))
        outward, inward = Counter(edge[0] for edge in edges), Counter(edge[1] for edge in edges)
        length = 0
        for start, end in edges:
            length += self._span(start, end)
            if length > MAX_LENGTH:
                break
            # Lines that leave one step, or reach one, share a lane: the larger of the two bundles.
            bundle = f"from {start[0]}" if outward[start] >= inward[end] else f"to {end[0]}"
            lanes = ((rank, bundle) for rank in range(self.last[start[0]] + 1, self.first[end[0]]))
            self._add_line(start, [*lanes], end)
        self.hidden = len(edges) - len(self.lines)

    def _span(self, start: Unit, end: Unit) -> int:
        return self.first[end[0]] - self.last[start[0]]

    def _add_line(self, start: Unit, lanes: list[Slot], end: Unit) -> None:
        self.lines.append((start, lanes, end))
        for lane in lanes:
            if lane not in self.before:
                self.ranks[int(lane[0])].append(lane)
        leaves = [key for key in start if self.rank_of[key] == self.last[key]]
        reaches = [key for key in end if self.rank_of[key] == self.first[key]]
        passed: list[Sequence[Slot]] = [leaves, *([lane] for lane in lanes), reaches]
        for ones, others in pairwise(passed):
            for one in ones:
                for other in others:
                    self._link(one, other)

    def _link(self, one: Slot, other: Slot) -> None:
        if other not in self.after[one]:
            self.after[one].append(other)
            self.before[other].append(one)

    def order(self) -> None:
        """Put each rank in the order of the middles of what its slots are linked to, while fewer lines cross."""
        best, fewest = [list(rank) for rank in self.ranks], self._crossings()
        for sweep in range(SWEEPS if fewest > FEW_CROSSINGS else 0):
            links, numbers = (self.before, range(1, len(self.ranks)))
            if sweep % 2:
                links, numbers = self.after, range(len(self.ranks) - 2, -1, -1)
            for number in numbers:
                beside = number + (1 if sweep % 2 else -1)
                place = _places(self.ranks[beside])
                own = _places(self.ranks[number])
                middle = {slot: _mean([place[one] for one in links.get(slot, ())], own[slot]) for slot in own}
                if self._is_framed(self.ranks[number]):  # its steps in their order, and no lane between them
                    middle = {slot: own[slot] if isinstance(slot, str) else 1 + middle[slot] for slot in own}
                self.ranks[number].sort(key=middle.__getitem__)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(rank) for rank in self.ranks], crossings
        self.ranks = best

    def _is_framed(self, rank: Sequence[Slot]) -> bool:
        return any(isinstance(slot, str) and len(self.units.get(slot, ())) > 1 for slot in rank)

    def _crossings(self) -> int:
        """How many pairs of lines between neighbouring ranks cross."""
        found = 0
        for upper, below in pairwise(self.ranks):
            lower = {slot: place for place, slot in enumerate(below)}
            passed: list[int] = []
            for slot in upper:
                ends = sorted(lower[one] for one in self.after.get(slot, ()))
                # A line crosses those that begin before it and end after it.
                found += sum(len(passed) - bisect_right(passed, end) for end in ends)
                for end in ends:
                    insort(passed, end)
        return found


class _Sheet:
    """The ranks of a net on paper."""

    def __init__(self, net: _Net, way: _Way) -> None:
        self._net, self._way = net, way
        self._lane = self._lane_width()
        self._room = max((sum(map(self._size, rank)) for rank in net.ranks), default=0.0)
        self._start: dict[Slot, float] = {}
        for number in range(len(net.ranks)):
            self._place(number, net.before)
        for number in reversed(range(len(net.ranks))):
            self._place(number, net.after)
        for number in range(len(net.ranks)):
            self._place(number, net.before)
        self._offsets, self._across = self._bands()

    def drawing(self) -> Drawing:
        """Everything in whole pixels."""
        way, ranks = self._way, self._net.ranks
        in_band = min(way.per_band, len(ranks)) if way.per_band else len(ranks)
        along = in_band * (way.along + way.along_gap) - way.along_gap + 2 * way.margin
        width, height = (self._across, along) if way.down else (along, self._across)
        boxes = {box.key: box for box in self._boxes()}
        units = dict.fromkeys(unit for unit in self._net.units.values() if len(unit) > 1)
        frames = tuple(_frame([boxes[key] for key in unit]) for unit in units)
        edges = tuple(Edge(start, end, self._path(start, lanes, end)) for start, lanes, end in self._net.lines)
        return Drawing(width, height, way.down, tuple(boxes.values()), frames, edges, self._net.hidden)

    def _boxes(self) -> Iterator[Box]:
        way = self._way
        for key, rank in self._net.rank_of.items():
            along, cross = self._along(rank), round(self._start[key] + self._offsets[rank])
            if way.down:
                yield Box(key, cross, along, way.cross, way.along)
            else:
                yield Box(key, along, cross, way.along, way.cross)

    def _lane_width(self) -> float:
        """If the canvas is too narrow, lanes move closer together."""
        way, least = self._way, float(self._way.lane)
        for rank in self._net.ranks if way.room else ():
            steps = sum(isinstance(slot, str) for slot in rank)
            if len(rank) > steps:
                left = way.room - steps * (way.cross + way.cross_gap)
                least = min(least, left / (len(rank) - steps))
        return least

    def _size(self, slot: Slot) -> float:
        """With the gap after it."""
        return self._way.cross + self._way.cross_gap if isinstance(slot, str) else self._lane

    def _middle(self, slot: Slot) -> float:
        return self._start[slot] + (self._way.cross if isinstance(slot, str) else self._lane) / 2

    def _seen_from(self, slot: Slot, other: Slot) -> float:
        """The middle of `other`, or of its frame if that does not enclose both."""
        unit = self._net.units.get(other, ()) if isinstance(other, str) else ()
        return self._middle(other) if len(unit) < 2 or slot in unit else self._center(unit)

    def _center(self, unit: Unit) -> float:
        starts = [self._start[key] for key in unit if key in self._start]
        return (min(starts) + max(starts) + self._way.cross) / 2

    def _place(self, number: int, links: Mapping[Slot, Sequence[Slot]]) -> None:
        """Each slot as near as possible to the middle of its neighbours."""
        rank = self._net.ranks[number]
        sizes = [self._size(slot) for slot in rank]
        # A step has a gap after it that may lie outside, a lane has none.
        room = self._room - (self._way.cross_gap if rank and not isinstance(rank[-1], str) else 0)
        packed = (self._room - sum(sizes)) / 2
        wanted = []
        for slot, size in zip(rank, sizes, strict=True):
            half = (self._way.cross if isinstance(slot, str) else self._lane) / 2
            own = self._start.get(slot, packed)
            linked = [self._seen_from(slot, one) for one in links.get(slot, ()) if one in self._start]
            wanted.append(_mean(linked, own + half) - half)
            packed += size
        self._start |= zip(rank, _spread(wanted, sizes, room), strict=True)

    def _bands(self) -> tuple[list[float], int]:
        """By rank, what is added across; and what all bands take."""
        way, ranks = self._way, self._net.ranks
        per = way.per_band or max(1, len(ranks))
        offsets: list[float] = []
        top = 0.0
        for first in range(0, len(ranks), per):
            band = [slot for rank in ranks[first : first + per] for slot in rank]
            begin = min(self._start[slot] for slot in band)
            end = max(self._start[slot] + (way.cross if isinstance(slot, str) else self._lane) for slot in band)
            offsets += [top - begin] * len(ranks[first : first + per])
            top += end - begin + 28
        return offsets, round(top - 28) if ranks else 0

    def _along(self, rank: int) -> int:
        way = self._way
        place = rank % way.per_band if way.per_band else rank
        return way.margin + place * (way.along + way.along_gap)

    def _path(self, source: Unit, lanes: Sequence[Slot], target: Unit) -> str:
        """From the end of `source` to the beginning of `target`, straight past what stands between them."""
        way = self._way
        ranks = range(self._net.last[source[0]], self._net.first[target[0]] + 1)
        passed = [self._middle(lane) + self._offsets[rank] for lane, rank in zip(lanes, ranks[1:-1], strict=True)]
        crosses = [
            self._center(source) + self._offsets[ranks[0]],
            *passed,
            self._center(target) + self._offsets[ranks[-1]],
        ]
        pads = {ranks[0]: PAD if len(source) > 1 else 0, ranks[-1]: PAD if len(target) > 1 else 0}
        drawn = [self._part("M", (self._along(ranks[0]) + way.along + pads[ranks[0]], crosses[0]))]
        for (rank, cross), (_, below) in pairwise(zip(ranks, crosses, strict=True)):
            begin = self._along(rank) + way.along + (pads[rank] if rank == ranks[0] else 0)
            end = self._along(rank + 1) - (pads[rank + 1] if rank + 1 == ranks[-1] else 0)
            if end < begin:  # the next band
                band = [slot for row in self._net.ranks[rank + 1 : rank + 1 + way.per_band] for slot in row]
                gutter = self._offsets[rank + 1] + min(self._start[slot] for slot in band) - 14
                right, left = self._along(rank) + way.along + 12, self._along(rank + 1) - 12
                corners = ((right, cross), (right, gutter), (left, gutter), (left, below))
                drawn.append(self._part("L", *corners, (end, below)))
            elif round(cross) == round(below):
                drawn.append(self._part("L", (end, below)))
            else:
                half = (begin + end) / 2
                drawn.append(self._part("C", (half, cross), (half, below), (end, below)))
            if rank + 1 < ranks[-1]:
                drawn.append(self._part("L", (end + way.along, below)))
        return "".join(_merge_straight_lines(drawn, way.down))

    def _part(self, sign: str, *points: tuple[float, float]) -> str:
        """A command of SVG paths, for points along and across."""
        turned = ((cross, along) if self._way.down else (along, cross) for along, cross in points)
        return sign + " ".join(f"{round(x)} {round(y)}" for x, y in turned)


def _merge_straight_lines(parts: Sequence[str], down: bool) -> list[str]:
    """Straight lines that go on straight as one: most of a long line goes past many ranks in one lane."""
    kept: list[str] = []
    for part in parts:
        straight = part[0] == "L" and kept and kept[-1][0] == "L"
        if straight and kept[-1].count(" ") == part.count(" ") == 1:
            one, other = (each[1:].split(" ")[0 if down else 1] for each in (kept[-1], part))
            if one == other:
                kept.pop()
        kept.append(part)
    return kept


def _frame(boxes: Sequence[Box]) -> Frame:
    x, y = min(box.x for box in boxes) - PAD, min(box.y for box in boxes) - PAD
    right, bottom = max(box.x + box.width for box in boxes) + PAD, max(box.y + box.height for box in boxes) + PAD
    return Frame(x, y, right - x, bottom - y)


def _places(rank: Sequence[Slot]) -> dict[Slot, float]:
    """The position of each slot in its rank, from 0 to 1."""
    return {slot: (place + 0.5) / len(rank) for place, slot in enumerate(rank)}


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _spread(wanted: Sequence[float], sizes: Sequence[float], room: float) -> list[float]:
    """Where boxes of these sizes begin, in this order and without overlap, within `room`: as near as may be to where
    they are wanted (isotonic regression: neighbours that would overlap become one block around their mean).
    """
    blocks: list[tuple[float, int]] = []
    before = 0.0
    for want, size in zip(wanted, sizes, strict=True):
        total, count = want - before, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            total, count = total + blocks[-1][0], count + blocks[-1][1]
            blocks.pop()
        blocks.append((total, count))
        before += size
    slack = max(0.0, room - before)
    starts = [min(max(total / count, 0.0), slack) for total, count in blocks for _ in range(count)]
    before = 0.0
    for place, size in enumerate(sizes):
        starts[place] += before
        before += size
    return starts
