"""How much of each given file was shown, and what of that keeps a result from being whole (T6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.contracts.ports import FileInfo, Shown
from runs.pev.contracts import LeftOut
from runs.pev.input_coverage import (
    MAX_OF_STEP,
    Extent,
    FileCoverage,
    Inputs,
    coverage,
    each_shown,
    grouped,
    names_in_words,
    not_read_by_plan,
    read_whole,
    summary,
    unread_in,
)


def inputs(*paths: str, size: int = 10, **more: object) -> Inputs:
    return Inputs({path: FileInfo(f"sha of {path}", size) for path in paths}, **more)  # type: ignore[arg-type]


def shown(path: str, first: int, last: int, lines: int) -> Shown:
    return Shown(path, f"sha of {path}", 0, 1, first, last, lines)


def sentences(given: Inputs, *parts: Shown) -> list[str]:
    return [one.sentence for one in coverage(given, parts)]


def test_what_was_shown_is_said_by_lines() -> None:
    given = inputs("a.md", "b.md", "c.md", "d.md", "scan.pdf", "x.md", "e.md")
    given = Inputs(given.files, {"scan.pdf": "is a PDF file, which cannot be read yet"}, {"x.md"})
    assert sentences(
        given,
        shown("a.md", 4, 6, 6),
        shown("a.md", 1, 3, 6),
        shown("b.md", 1, 400, 900),
        shown("c.md", 7, 7, 900),
        shown("d.md", 0, 0, 0),
        shown("e.md", 1, 0, 1),
    ) == [
        "a.md whole",
        "b.md lines 1 to 400 of 900",
        "c.md line 7 of 900",
        "d.md not shown",
        "scan.pdf not readable: it is a PDF file, which cannot be read yet",
        "x.md left out, as a person said",
        "e.md pieces of lines, of 1",
    ]


def test_of_documents_pages_and_sheets_are_said_too() -> None:
    def of(path: str, *pieces: tuple[int, int, str]) -> list[Shown]:
        return [shown(path, first, last, 90)._replace(unit=unit) for first, last, unit in pieces]

    assert sentences(
        inputs("a.pdf", "b.pdf", "c.xlsx", "d.pdf", "e.pdf", "f.pdf", "g.pdf", "h.pdf"),
        *of("a.pdf", (11, 20, "page 10"), (1, 10, "page 9")),
        *of("b.pdf", (1, 4, "page 1"), (30, 31, "page 7"), (32, 40, "page 8")),
        *of("c.xlsx", (1, 40, "sheet Old Rents"), (41, 50, "sheet New")),
        *of("d.pdf", (1, 90, "page 1")),
        *of("e.pdf", (1, 4, "page 1"), (50, 50, "")),
        *of("f.pdf", (1, 30, ""), (31, 60, "page 3")),
        *of("g.pdf", (1, 30, "page 1"), (31, 60, "")),
        *of("h.pdf", (1, 3, "page 1"), (7, 9, "page 1")),
    ) == [
        "a.pdf pages 9 to 10 (lines 1 to 20 of 90)",
        "b.pdf page 1 and pages 7 to 8 (lines 1 to 4 and 30 to 40 of 90)",
        "c.xlsx sheets Old Rents to New (lines 1 to 50 of 90)",
        "d.pdf whole",
        "e.pdf lines 1 to 4 and 50 of 90",
        "f.pdf lines 1 to 60 of 90",
        "g.pdf lines 1 to 60 of 90",
        "h.pdf page 1 (lines 1 to 3 and 7 to 9 of 90)",
    ]


def test_scattered_lines_are_counted() -> None:
    parts = [shown("a.md", n, n, 1_000) for n in (1, 3, 5, 900)]
    assert sentences(inputs("a.md"), *parts[:3]) == ["a.md lines 1 and 3 and 5 of 1,000"]
    assert sentences(inputs("a.md"), *parts) == ["a.md 4 of 1,000 lines"]


def test_only_the_content_as_it_was_given_counts() -> None:
    changed = Shown("a.md", "another", 0, 1, 1, 3, 3)
    copied = Shown("copy.md", "sha of b.md", 0, 1, 1, 3, 3)
    assert sentences(inputs("a.md", "b.md"), changed, copied) == ["a.md not shown", "b.md whole"]


def test_an_empty_file_is_whole() -> None:
    assert sentences(inputs("a.md", size=0)) == ["a.md whole"]


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=8))
def test_lines_are_counted_once(spans: list[tuple[int, int]]) -> None:
    parts = [shown("a.md", first, last, 30) for first, last in spans]
    [found] = coverage(inputs("a.md"), parts)
    lines = {line for first, last in spans for line in range(first, last + 1)}
    assert {line for first, last in found.ranges for line in range(first, last + 1)} == lines
    assert (found.count, found.share) == (len(lines), len(lines) / 30)
    assert (found.extent is Extent.WHOLE) == (len(lines) == 30)


def test_what_cannot_be_read_is_an_open_point_and_what_nobody_read_if_the_plan_gives_it() -> None:
    found = [
        FileCoverage("a.pdf", Extent.UNREADABLE, problem="is a PDF file, which cannot be read yet"),
        FileCoverage("b.pdf", Extent.UNREADABLE, problem="is a PDF file, which cannot be read yet"),
        FileCoverage("c.docx", Extent.UNREADABLE, problem="is a Word file, which cannot be read yet"),
        FileCoverage("d.md", Extent.NOTHING),
        FileCoverage("e.md", Extent.NOTHING),
        FileCoverage("part.md", Extent.PART, [(1, 1)], 2),
        FileCoverage("whole.md", Extent.WHOLE),
        FileCoverage("x.pdf", Extent.EXCLUDED),
    ]
    assert unread_in(found, {"d.md", "part.md"}) == [
        "a.pdf and b.pdf could not be read: each of them is a PDF file, which cannot be read yet.",
        "c.docx could not be read: it is a Word file, which cannot be read yet.",
        "d.md was not read, although the plan gives it to its steps.",
    ]
    assert unread_in(found[3:], ()) == []


def test_two_thousand_files_are_a_few_folders() -> None:
    paths = [f"src/{n % 40}/{n}.py" for n in range(1_990)] + [f"docs/{n}.md" for n in range(9)] + ["README.md"]
    assert names_in_words(paths) == "2,000 files: src/ (1,990), docs/ (9) and the top folder (1)"
    assert names_in_words([f"a/b/{n}.md" for n in range(9)]) == "9 files: a/b/ (9)"
    assert names_in_words([f"{n}/a.md" for n in range(12)]).endswith("(1) and 4 more folders")


def test_folders_are_as_deep_as_few_of_them_tell() -> None:
    assert grouped(["a/b/1", "a/b/2", "a/c/1", "d"]) == [("a/b/", 2), ("a/c/", 1), ("the top folder", 1)]
    assert grouped([]) == []


def test_whoever_decides_on_a_plan_is_told_what_it_does_not_read() -> None:
    found = [
        FileCoverage("a.pdf", Extent.UNREADABLE, problem="is a PDF file, which cannot be read yet"),
        FileCoverage("b.md", Extent.NOTHING),
        FileCoverage("c.md", Extent.NOTHING),
        FileCoverage("x.md", Extent.EXCLUDED),
    ]
    assert not_read_by_plan(found, {"c.md"}) == [
        "a.pdf cannot be read: it is a PDF file, which cannot be read yet.",
        "No step of this plan is given b.md.",
        "Left out, as a person said: x.md.",
    ]
    assert not_read_by_plan(found[1:3], {"b.md", "c.md"}) == []


def test_a_summary_is_as_long_for_two_thousand_files_as_for_twenty() -> None:
    found = [FileCoverage(f"a/{n}.md", Extent.PART, [(1, 1)], 2) for n in range(1_000)]
    found += [FileCoverage(f"b/{n}.md", Extent.NOTHING) for n in range(1_000)] + [FileCoverage("c.md", Extent.WHOLE)]
    lines = summary(found)
    assert lines[0] == "1 of 2,001 files were read in full."
    assert lines[1].startswith("In part: a/0.md line 1 of 2; a/1.md line 1 of 2;")
    assert lines[1].endswith("; 992 more.")
    assert lines[2:] == ["Not read: 1,000 files: b/ (1,000)."]
    assert summary([]) == []


SHA = "a" * 64


@pytest.mark.parametrize(
    ("shown", "whole"),
    [
        ([(1, 9, 9)], True),
        ([(5, 9, 9), (1, 3, 9), (3, 4, 9)], True),
        ([(1, 4, 9), (6, 9, 9)], False),
        ([(1, 8, 9), (9, 8, 9)], False),
        ([(2, 9, 9)], False),
        ([(0, 0, 0)], False),
        ([], False),
    ],
)
def test_what_was_read_whole(shown: list[tuple[int, int, int]], whole: bool) -> None:
    parts = [Shown("a.md", SHA, 0, 9, *lines) for lines in shown]
    other = [Shown("b.md", "b" * 64, 0, 9, 1, 9, 9)]
    files = {"a.md": FileInfo(SHA, 90), "copy.md": FileInfo(SHA, 90), "empty.md": FileInfo("c" * 64, 0)}
    assert read_whole(files, [*parts, *other]) == ({"a.md", "copy.md", "empty.md"} if whole else {"empty.md"})


def test_files_shown_at_a_step_are_listed_within_bounds() -> None:
    found = [
        *(FileCoverage(f"{n}.md", Extent.WHOLE) for n in range(MAX_OF_STEP + 5)),
        FileCoverage("b.md", Extent.PART, [(1, 2)], 4),
        FileCoverage("c.md", Extent.NOTHING),
    ]
    said = each_shown(found)
    assert (said[0], said[1], said[-1]) == ("b.md lines 1 to 2 of 4", "0.md whole", "6 more")
    assert len(said) == MAX_OF_STEP + 1


SCAN = {"scan.pdf": ("Page 3 of 12 is a picture without text.",)}


def test_what_of_a_readable_file_could_not_be_read_is_an_open_point() -> None:
    found = coverage(inputs("scan.pdf", "a.md", notes=SCAN), [shown("scan.pdf", 1, 9, 9), shown("a.md", 1, 9, 9)])
    said_so = "A part of scan.pdf could not be read: Page 3 of 12 is a picture without text."
    assert unread_in(found, {"scan.pdf", "a.md"}) == [said_so]
    assert not_read_by_plan(found, {"scan.pdf", "a.md"}) == [said_so.replace("could not", "cannot")]
    assert summary(found) == ["2 of 2 files were read in full.", said_so]
    assert [one.sentence for one in found] == ["scan.pdf whole, as far as it can be read", "a.md whole"]


def test_a_file_that_a_person_excluded_has_no_parts_that_could_not_be_read() -> None:
    assert unread_in(coverage(inputs("scan.pdf", notes=SCAN, excluded={"scan.pdf"}), ()), ()) == []


def test_many_places_and_many_files_are_counted() -> None:
    many = {"a.pdf": [f"Page {n} is damaged." for n in range(1, 6)]}
    assert unread_in(coverage(inputs("a.pdf", notes=many), ()), ()) == [
        "A part of a.pdf could not be read: Page 1 is damaged. Page 2 is damaged. Page 3 is damaged. "
        "2 more such places."
    ]
    files = {f"{n}.pdf": ("Page 1 is damaged.",) for n in range(10)}
    found = unread_in(coverage(inputs(*files, notes=files), ()), ())
    assert (len(found), found[-1]) == (9, "Parts of 8.pdf and 9.pdf could not be read either.")


GUESS = "Its encoding was guessed as Windows-1254: “ağaç” would be “ašaē” in Windows-1257."


def test_whoever_decides_on_a_plan_is_told_which_texts_are_doubtful_and_no_point_stays_open() -> None:
    found = coverage(inputs("a.txt", "b.txt", cautions={"a.txt": (GUESS,)}), [shown("a.txt", 1, 9, 9)])
    assert not_read_by_plan(found, {"a.txt", "b.txt"}) == [f"a.txt: {GUESS}"]
    assert unread_in(found, ()) == []
    assert [one.sentence for one in found] == ["a.txt whole", "b.txt not shown"]


def test_many_doubtful_texts_are_named_alone() -> None:
    files = {f"{n}.txt": (GUESS,) for n in range(10)}
    said = not_read_by_plan(coverage(inputs(*files, cautions=files), ()), set(files))
    assert (len(said), said[-1]) == (9, "Look at the pages of 8.txt and 9.txt too, since their texts are doubtful.")


def test_many_unread_files_are_counted_with_their_folders() -> None:
    paths = [f"contracts/{number}.md" for number in range(101)]
    assert unread_in(coverage(inputs(*paths), ()), paths) == [
        "101 files were not read, although the plan gives them to its steps: contracts/ (101)."
    ]


def test_what_steps_have_left_out_is_named_once_and_grouped_by_reason() -> None:
    given = inputs("a.md", "b.md", "c.md", "scan.pdf", "x.md")
    given = Inputs(given.files, {"scan.pdf": "is encrypted"}, {"x.md"})
    left = [
        LeftOut(path="a.md", why="not reviewed: too long"),
        LeftOut(path="b.md", why="not reviewed: too long"),
        LeftOut(path="a.md", why="not reviewed: too long"),  # by another step
        LeftOut(path="scan.pdf", why="not reviewed: it cannot be read as text"),
        LeftOut(path="x.md", why="not reviewed: too long"),
        LeftOut(path="", why="no notice was written"),
    ]
    assert unread_in(coverage(given, ()), {"a.md", "b.md", "c.md"}, left) == [
        "scan.pdf could not be read: it is encrypted.",
        "c.md was not read, although the plan gives it to its steps.",
        "a.md and b.md: not reviewed: too long.",
        "No notice was written.",
    ]
