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
_ROWS = 8
"""Steps above each other at most, where ranks stand side by side."""

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
class Edge:
    """A line from the step `start` to `end`, which depends on it; `path` is SVG path data."""

    start: str
    end: str
    path: str


@dataclass(frozen=True)
class Drawing:
    """`down`: ranks stand below each other. `hidden` counts the dependencies that are not drawn."""

    width: int
    height: int
    down: bool
    boxes: tuple[Box, ...]
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
    rows = [by_level[number] for number in range(len(by_level))]
    ways = [_downwards(canvas, rows), *([_sideways(canvas, rows)] if canvas.both else [])]
    drawings = []
    for way in ways:
        net = _Net(
            dependencies, [row[at : at + way.per_rank] for row in rows for at in range(0, len(row), way.per_rank)]
        )
        net.order()
        drawings.append(_Sheet(net, way).drawing())
    return min(drawings, key=lambda drawing: drawing.height)


def _downwards(canvas: Canvas, rows: Sequence[Sequence[str]]) -> _Way:
    gap, lanes = 16, canvas.width // 10
    most = max(1, (canvas.width - lanes + gap) // (canvas.narrowest + gap))
    count = max(1, min(most, max(map(len, rows), default=1)))
    width = min(canvas.widest, (canvas.width - lanes + gap) // count - gap)
    return _Way(True, _HEIGHT, 20, width, gap, 12, count, 0, 0, canvas.width)


def _sideways(canvas: Canvas, rows: Sequence[Sequence[str]]) -> _Way:
    gap, ranks = 40, sum(-(-len(row) // _ROWS) for row in rows)
    most = (canvas.width + gap) // (canvas.narrowest + gap)
    margin = 16 if ranks > most else 0
    count = max(1, min(most, ranks))
    width = min(canvas.widest, (canvas.width - 2 * margin + gap) // count - gap)
    return _Way(False, width, gap, _HEIGHT, 12, 12, _ROWS, count, margin, 0)


class _Net:
    """Steps and lanes in ranks, and which of them are linked. `chains`: by line, the slots that it goes through."""

    def __init__(self, dependencies: Mapping[str, Sequence[str]], rows: list[list[str]]) -> None:
        self.ranks: list[list[Slot]] = [list(row) for row in rows]
        self.rank_of = {key: number for number, row in enumerate(rows) for key in row}
        self.before: dict[Slot, list[Slot]] = defaultdict(list)
        self.after: dict[Slot, list[Slot]] = defaultdict(list)
        self.chains: list[list[Slot]] = []
        edges = [(start, end) for end, starts in dependencies.items() for start in dict.fromkeys(starts)]
        edges.sort(key=lambda edge: self._span(*edge))
        outward, inward = Counter(edge[0] for edge in edges), Counter(edge[1] for edge in edges)
        length = 0
        for start, end in edges:
            length += self._span(start, end)
            if length > MAX_LENGTH:
                break
            # Lines that leave one step, or reach one, share a lane: the larger of the two bundles.
            bundle = f"from {start}" if outward[start] >= inward[end] else f"to {end}"
            lanes = ((rank, bundle) for rank in range(self.rank_of[start] + 1, self.rank_of[end]))
            self._add_line([start, *lanes, end])
        self.hidden = len(edges) - len(self.chains)

    def _span(self, start: str, end: str) -> int:
        return self.rank_of[end] - self.rank_of[start]

    def _add_line(self, chain: list[Slot]) -> None:
        self.chains.append(chain)
        for lane in chain[1:-1]:
            if lane not in self.before:
                self.ranks[int(lane[0])].append(lane)
        for one, other in pairwise(chain):
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
                self.ranks[number].sort(key=middle.__getitem__)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(rank) for rank in self.ranks], crossings
        self.ranks = best

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
        edges = tuple(Edge(str(chain[0]), str(chain[-1]), self._path(chain)) for chain in self._net.chains)
        return Drawing(width, height, way.down, tuple(self._boxes()), edges, self._net.hidden)

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
            linked = [self._middle(one) for one in links.get(slot, ()) if one in self._start]
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

    def _path(self, chain: Sequence[Slot]) -> str:
        """From the end of the first step to the beginning of the last one, straight past what stands between them."""
        way = self._way
        ranks = range(self._net.rank_of[str(chain[0])], self._net.rank_of[str(chain[-1])] + 1)
        crosses = [self._middle(slot) + self._offsets[rank] for slot, rank in zip(chain, ranks, strict=True)]
        drawn = [self._part("M", (self._along(ranks[0]) + way.along, crosses[0]))]
        for (rank, cross), (_, below) in pairwise(zip(ranks, crosses, strict=True)):
            begin, end = self._along(rank) + way.along, self._along(rank + 1)
            if end < begin:  # the next band
                band = [slot for row in self._net.ranks[rank + 1 : rank + 1 + way.per_band] for slot in row]
                gutter = self._offsets[rank + 1] + min(self._start[slot] for slot in band) - 14
                corners = ((begin + 12, cross), (begin + 12, gutter), (end - 12, gutter), (end - 12, below))
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
