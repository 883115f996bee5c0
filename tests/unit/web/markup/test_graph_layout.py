"""The drawing of a plan: nothing overlaps or leaves the canvas, and each line goes from a step to one that needs it."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.web.markup.graph_layout import FEWEST_ALIKE, MAX_LENGTH, NARROW, PAD, WIDE, Box, Canvas, Drawing, Unit, draw
from tests.work import growth

type Graph = dict[str, list[str]]
CHAIN: Graph = {f"s{n}": [f"s{n - 1}"] if n else [] for n in range(40)}
FAN: Graph = {"first": [], **{f"s{n}": ["first"] for n in range(38)}, "last": [f"s{n}" for n in range(38)]}


@st.composite
def graphs(draw_: st.DrawFn) -> Graph:
    """Plans without cycles of up to 25 steps."""
    count = draw_(st.integers(0, 25))
    before = [draw_(st.sets(st.integers(0, number - 1), max_size=4)) if number else set() for number in range(count)]
    return {f"s{number}": [f"s{one}" for one in sorted(ones)] for number, ones in enumerate(before)}


def apart(one: Box, other: Box) -> bool:
    beside = one.x + one.width < other.x or other.x + other.width < one.x
    return beside or one.y + one.height < other.y or other.y + other.height < one.y


def numbers(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d+", path)]


def ends(drawing: Drawing, unit: Unit) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where lines reach a step, or the frame of several, and where they leave it."""
    boxes, pad = [box for box in drawing.boxes if box.key in unit], PAD if len(unit) > 1 else 0
    left, right = min(box.x for box in boxes) - pad, max(box.x + box.width for box in boxes) + pad
    top, bottom = min(box.y for box in boxes) - pad, max(box.y + box.height for box in boxes) + pad
    x, y = (left + right) // 2, (top + bottom) // 2
    return ((x, top), (x, bottom)) if drawing.down else ((left, y), (right, y))


def check(graph: Graph, drawing: Drawing, canvas: Canvas) -> None:
    assert [box.key for box in drawing.boxes if box.key not in graph] == []
    assert len({box.key for box in drawing.boxes}) == len(graph)
    assert drawing.width <= canvas.width
    assert [pair for pair in combinations(drawing.boxes, 2) if not apart(*pair)] == []
    for box in drawing.boxes:
        assert 0 <= box.x <= box.x + box.width <= drawing.width
        assert 0 <= box.y <= box.y + box.height <= drawing.height
    for edge in drawing.edges:
        assert all(start in graph[end] for start in edge.start for end in edge.end)
        points = numbers(edge.path)
        begin, end = ends(drawing, edge.start)[1], ends(drawing, edge.end)[0]
        assert max(abs(points[0] - begin[0]), abs(points[1] - begin[1])) <= 1
        assert max(abs(points[-2] - end[0]), abs(points[-1] - end[1])) <= 1
        assert max(points[0::2]) <= drawing.width
        assert max(points[1::2]) <= drawing.height
        assert min(points) >= 0
    drawn = sum(len(edge.start) * len(edge.end) for edge in drawing.edges)
    assert (drawn, drawing.hidden) == (sum(map(len, graph.values())), 0)


@given(graphs())
def test_nothing_overlaps_and_lines_end_at_their_steps(graph: Graph) -> None:
    for canvas in (WIDE, NARROW):
        check(graph, draw(graph, canvas), canvas)


@pytest.mark.parametrize("graph", [{}, {"only": []}, CHAIN, FAN], ids=["empty", "one", "chain", "fan"])
def test_plans_of_extreme_shapes(graph: Graph) -> None:
    for canvas in (WIDE, NARROW):
        check(graph, draw(graph, canvas), canvas)


def test_three_steps_stand_in_one_row_and_below_each_other_on_a_phone() -> None:
    graph: Graph = {"a": [], "b": ["a"], "c": ["b"]}
    wide, narrow = draw(graph, WIDE), draw(graph, NARROW)
    assert len({box.y for box in wide.boxes}) == 1
    assert len({box.x for box in narrow.boxes}) == 1
    assert [edge.path.count("C") for edge in wide.edges + narrow.edges] == [0, 0, 0, 0], "straight lines"


def test_a_long_chain_goes_on_in_the_next_line() -> None:
    drawing = draw(CHAIN, WIDE)
    assert (drawing.down, drawing.height) == (False, 516)
    assert [(box.x, box.y) for box in drawing.boxes[4:6]] == [(884, 0), (16, 68)]


def test_a_line_goes_past_the_steps_between_its_ends() -> None:
    drawing = draw({"a": [], "b": ["a"], "c": ["a", "b"]}, WIDE)
    between = next(box for box in drawing.boxes if box.key == "b")
    line = next(edge for edge in drawing.edges if (edge.start, edge.end) == (("a",), ("c",)))
    passing = [y for x, y in zip(*[iter(numbers(line.path))] * 2, strict=True) if between.x <= x <= between.x + 200]
    assert passing
    assert all(y < between.y or y > between.y + between.height for y in passing)


def test_lines_that_can_be_kept_apart_do_not_cross() -> None:
    graph: Graph = {"a": [], "b": [], "c": [], "x": ["c"], "y": ["a"], "z": ["b"]}
    drawing = draw(graph, WIDE)
    place = {box.key: (box.x, box.y) for box in drawing.boxes}
    across = 0 if drawing.down else 1
    order = sorted("abc", key=lambda key: place[key][across])
    below = sorted("xyz", key=lambda key: place[key][across])
    assert [{"a": "y", "b": "z", "c": "x"}[key] for key in order] == below


def test_a_single_crossing_does_not_change_the_order_of_the_plan() -> None:
    drawing = draw({"1": [], "2": ["1"], "3": ["1"], "4": ["3"], "5": ["2", "3"]}, WIDE)
    place = {box.key: box.x if drawing.down else box.y for box in drawing.boxes}
    assert place["2"] < place["3"]
    assert place["4"] < place["5"]


def test_a_plan_beyond_any_reader_is_drawn_in_part() -> None:
    """More lines would take more than linear time."""
    graph: Graph = {f"s{n}": [f"s{one}" for one in range(max(0, n - 100), n)] for n in range(200)}
    drawing = draw(graph, WIDE)
    assert drawing.hidden > 0
    assert len(drawing.edges) <= MAX_LENGTH
    assert len(drawing.boxes) == 200


@pytest.mark.slow
def test_the_work_on_a_plan_beyond_any_reader_grows_with_its_steps() -> None:
    def drawn(size: int) -> Drawing:
        return draw({f"s{n}": [f"s{one}" for one in range(max(0, n - 30), n)] for n in range(size)}, WIDE)

    assert growth(drawn, 50) < 5


def test_steps_that_are_alike_have_one_frame_and_one_line_to_them_all() -> None:
    for canvas in (WIDE, NARROW):
        drawing = draw(FAN, canvas)
        assert [(len(edge.start), len(edge.end)) for edge in drawing.edges] == [(1, 38), (38, 1)]
        (frame,) = drawing.frames
        inside = [box for box in drawing.boxes if frame.y < box.y < frame.y + frame.height]
        assert {box.key for box in inside} == {*FAN} - {"first", "last"}
        assert all(frame.x < box.x < box.x + box.width < frame.x + frame.width for box in inside)


@pytest.mark.parametrize(("count", "frames"), [(FEWEST_ALIKE - 1, 0), (FEWEST_ALIKE, 1)])
def test_a_few_steps_that_are_alike_keep_their_lines(count: int, frames: int) -> None:
    graph: Graph = {"first": [], **{f"s{n}": ["first"] for n in range(count)}}
    assert len(draw(graph, WIDE).frames) == frames


def test_a_line_goes_past_a_frame() -> None:
    graph: Graph = {**FAN, "last": [*FAN["last"], "first"]}
    for canvas in (WIDE, NARROW):
        drawing = draw(graph, canvas)
        check(graph, drawing, canvas)
        (frame,) = drawing.frames
        (past,) = (edge for edge in drawing.edges if (edge.start, edge.end) == (("first",), ("last",)))
        points = [*zip(*[iter(numbers(past.path))] * 2, strict=True)]
        beside = [x for x, y in points if frame.y + PAD <= y <= frame.y + frame.height - PAD]
        assert beside
        assert all(x < frame.x or x > frame.x + frame.width for x in beside)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 12))
def test_frames_between_frames_and_chains(first: int, second: int, length: int) -> None:
    graph: Graph = {f"c{n}": [f"c{n - 1}"] if n else [] for n in range(length)}
    graph |= {f"s{n}": [f"c{length - 1}"] for n in range(first)}
    graph |= {f"t{n}": [f"s{one}" for one in range(first)] for n in range(second)}
    graph["end"] = [f"t{n}" for n in range(second)]
    for canvas in (WIDE, NARROW):
        check(graph, draw(graph, canvas), canvas)


def test_a_line_past_many_ranks_takes_few_bytes() -> None:
    assert sum(len(edge.path) for edge in draw(FAN, NARROW).edges) < 10_000
