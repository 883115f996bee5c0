"""What tools say that they have shown of which file: provenance and coverage rest on it."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from runs.contracts.base import JsonObject
from runs.contracts.ports import Shown
from tests.unit.pev.tools.bench import FILES, Memory, run

SHA = {path: hashlib.sha256(data).hexdigest() for path, data in FILES.items()}


def parts(name: str, arguments: JsonObject, memory: Memory | None = None, **limits: int) -> list[tuple[object, ...]]:
    """Path, text and lines of each part that was shown."""
    result = run(name, arguments, memory, **limits)
    return [(one.path, result.text[one.start : one.end], *one[4:7]) for one in result.shown]


def test_a_file_that_is_read_shows_its_lines_behind_its_name() -> None:
    assert parts("read_file", {"path": "a.md", "first_line": 2}) == [
        ("a.md", "a.md, lines 2-3 of 3", 0, 0, 0),
        ("a.md", "two three\nfour", 2, 3, 3),
    ]
    assert run("read_file", {"path": "a.md"}).shown[1].sha256 == SHA["a.md"]


def test_what_did_not_fit_was_not_shown() -> None:
    assert parts("read_file", {"path": "a.md"}, result_chars=14)[1] == ("a.md", "one\ntwo three", 1, 2, 3)
    assert parts("read_file", {"path": "a.md", "first_line": 2}, result_chars=3)[1] == ("a.md", "two", 2, 1, 3)


def test_an_empty_file_shows_its_name() -> None:
    assert parts("read_file", {"path": "docs/empty.txt"}) == [("docs/empty.txt", "docs/empty.txt", 0, 0, 0)]


def test_a_search_shows_each_line_that_it_gives() -> None:
    found = parts("search_files", {"pattern": "two"})
    assert found == [("a.md", "a.md:2: two three", 2, 2, 3), ("docs/b.md", "docs/b.md:1: Two", 1, 1, 2)]
    assert parts("search_files", {"pattern": "two"}, result_chars=20) == found[:1]
    assert parts("search_files", {"pattern": "two"}, hits=1) == found[:1]


def test_a_search_shows_no_more_than_a_piece_of_a_long_line() -> None:
    memory = Memory({"a.txt": b"x" * 50 + b"two" + b"y" * 50})
    assert parts("search_files", {"pattern": "two"}, memory, hit_chars=9) == [
        ("a.txt", "a.txt:1: …xxxtwoyyy…", 1, 0, 1),
    ]


def test_a_list_shows_names_alone() -> None:
    assert parts("list_files", {"prefix": "docs"}) == [
        ("docs/b.md", "12\tdocs/b.md", 0, 0, 0),
        ("docs/empty.txt", "0\tdocs/empty.txt", 0, 0, 0),
    ]
    assert parts("list_files", {}, listed_files=1) == [("a.md", "19\ta.md", 0, 0, 0)]


def test_what_was_written_was_not_shown() -> None:
    assert parts("write_file", {"path": "new.md", "content": "New.\n"}) == []
    assert parts("edit_file", {"path": "a.md", "old": "one", "new": "1"}) == []


def test_what_went_wrong_shows_nothing() -> None:
    assert parts("read_file", {"path": "logo.png"}) == []


@given(
    st.text(st.sampled_from("ab\n\r \té"), max_size=60),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(1, 40),
)
def test_the_part_is_exactly_the_lines_that_it_names(text: str, first: int, lines: int, limit: int) -> None:
    every = text.split("\n")
    arguments: JsonObject = {"path": "t", "first_line": first, "lines": lines}
    result = run("read_file", arguments, Memory({"t": text.encode()}), result_chars=limit)
    for one in (one for one in result.shown if one.lines and one.last_line >= one.first_line):
        assert result.text[one.start : one.end] == "\n".join(every[one.first_line - 1 : one.last_line])
        assert isinstance(one, Shown)
