"""Numbered lines with a marked place."""

from runs.web.files.excerpt import PANEL_LINES, WHOLE_LINES, excerpt


def parts(text: str, start: int, end: int) -> list[tuple[str, str, str, bool]]:
    return [(line.before, line.hit, line.after, line.first) for line in excerpt(text, start, end).lines]


def test_a_place_within_a_line() -> None:
    assert parts("one\ntwo", 5, 6) == [("one", "", "", False), ("t", "w", "o", True)]


def test_a_place_over_lines_is_marked_in_each() -> None:
    assert parts("ab\ncd\nef", 1, 7) == [("a", "b", "", True), ("", "cd", "", False), ("", "e", "f", False)]


def test_line_ends_of_windows_are_not_shown() -> None:
    assert parts("ab\r\ncd\r\n", 4, 6) == [("ab", "", "", False), ("", "cd", "", True)]


def test_no_place_marks_nothing() -> None:
    assert parts("ab", 0, 0) == [("ab", "", "", False)]
    assert parts("ab", 1, 99) == [("ab", "", "", False)]


def test_a_long_text_is_cut_around_the_place() -> None:
    found = excerpt("x\n" * (WHOLE_LINES + 1_000), 20_000, 20_001)
    assert (found.first, found.last, found.total, found.whole) == (9_601, 10_800, 21_000, False)
    assert [line.number for line in found.lines if line.hit] == [10_001]


def test_one_line_of_megabytes_is_cut_too() -> None:
    (line,) = excerpt("y" * 1_500_000, 1_000_000, 1_000_003).lines
    assert (line.hit, line.first, len(line.before) < 3_000, len(line.after) < 3_000) == ("yyy", True, True, True)


def test_a_panel_shows_less_of_a_long_text() -> None:
    found = excerpt("x\n" * 1_000, 1_000, 1_001, in_panel=True)
    assert (len(found.lines), found.hit, found.whole) == (PANEL_LINES - 2, 501, False)
    whole = excerpt("x\n" * PANEL_LINES, 0, 0, in_panel=True)
    assert (len(whole.lines), whole.hit, whole.whole) == (PANEL_LINES, 0, True)
