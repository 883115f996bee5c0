"""Two texts line by line: what a reader sees, that no line is lost, and what hostile texts may cost."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.text.diff import CONTEXT, MAX_LINES, MAX_ROWS, DiffBudget, LineDiff, changed_lines, line_diff
from tests.work import growth

_SIGNS = {"same": " ", "removed": "-", "added": "+"}


def compared(before: str, after: str) -> LineDiff:
    found = line_diff(before, after, DiffBudget())
    assert found is not None
    return found


def shown(before: str, after: str) -> list[str]:
    lines = []
    for hunk in compared(before, after).hunks:
        lines += [f"… {hunk.left_out}"] if hunk.left_out else []
        for row in hunk.rows:
            marked = "".join(piece.text if piece.kind == "same" else f"[{piece.text}]" for piece in row.pieces)
            lines.append(f"{_SIGNS[row.kind]}{row.old or '.'} {row.new or '.'} {marked}")
    return lines


def test_changed_words_are_marked_in_lines_that_stand_beside_each_other() -> None:
    before, after = "a title\nten days apply\nthe end\n", "a title\ntwelve days apply\nand more\nthe end\n"
    assert shown(before, after) == [
        " 1 1 a title",
        "-2 . [ten] days apply",
        "+. 2 [twelve] days apply",
        "+. 3 and more",
        " 3 4 the end",
    ]


def test_what_stays_is_left_out_but_for_some_lines_around() -> None:
    lines = [f"line {number}" for number in range(1, 21)]
    changed = [*lines[:9], "other", *lines[10:]]
    found = shown("\n".join(lines), "\n".join(changed))
    assert found[0] == "… 6"
    assert found[1:] == [
        *(f" {n} {n} line {n}" for n in range(10 - CONTEXT, 10)),
        "-10 . line 10",
        "+. 10 other",
        *(f" {n} {n} line {n}" for n in range(11, 11 + CONTEXT)),
    ]


def test_a_paragraph_that_moved_is_gone_here_and_new_there() -> None:
    found = compared("one\ntwo\nthree\nfour\n", "two\nthree\nfour\none\n")
    assert (found.added, found.removed, found.more) == (1, 1, 0)


def test_nothing_differs_in_line_ends_or_equal_texts() -> None:
    assert compared("a\r\nb\r\n", "a\nb\n") == LineDiff(0, 0, ())
    assert compared("", "") == LineDiff(0, 0, ())


_LINES = st.lists(st.sampled_from(["a", "b", "c", "", "a b"]), max_size=12)


@given(_LINES, _LINES)
def test_both_texts_can_be_read_from_the_rows(before: list[str], after: list[str]) -> None:
    found = compared("\n".join(["x", *before, "y"]), "\n".join(["x", *after, "y"]))
    rows = [row for hunk in found.hunks for row in hunk.rows]
    words = {(row.old, row.new): "".join(piece.text for piece in row.pieces) for row in rows}
    old, new = ["x", *before, "y"], ["x", *after, "y"]
    assert all(old[at - 1] == text for (at, _), text in words.items() if at)
    assert all(new[at - 1] == text for (_, at), text in words.items() if at)
    assert len(old) - found.removed == len(new) - found.added
    assert found.more == 0
    assert sum(row.kind == "removed" for row in rows) == found.removed


def test_a_new_text_is_shown_up_to_a_bound() -> None:
    found = compared("", "line\n" * 5_000)
    assert (found.added, found.more, len(found.hunks[0].rows)) == (5_000, 5_000 - MAX_ROWS, MAX_ROWS)


def test_too_long_texts_are_not_compared() -> None:
    assert line_diff("", "\n" * (MAX_LINES + 2), DiffBudget()) is None
    assert line_diff("x" * 1_000_001, "", DiffBudget()) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "texts",
    [
        lambda size: ("a\nb\n" * size, "b\na\n" * size),
        lambda size: ("a\n" * size, "b\n" * size),
        lambda size: ("".join(f"{n * n % 97}\n" for n in range(size)), "".join(f"{n * n % 89}\n" for n in range(size))),
        lambda size: ("".join(f"{n}\n" for n in range(size)), "".join(f"{n}\n" for n in range(size, 0, -1))),
        lambda size: ("a b " * size, "b a " * size),
        lambda size: (f"{'a b ' * 400}\n" * (size // 50), f"{'b a ' * 400}\n" * (size // 50)),
    ],
    ids=["swapped", "replaced", "mixed", "turned round", "one long line", "long lines"],
)
def test_the_work_on_hostile_texts_grows_with_their_length(texts: Callable[[int], tuple[str, str]]) -> None:
    assert growth(lambda size: compared(*texts(size)), 300) < 5


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("a\nb\nc\nd", "a\nx\ny\nd", ["-b", "-c", "+x", "+y"]),
        ("a\nb\nc", "a\nc", ["-b"]),
        ("a\r\nb\r\n", "a\nb", []),
        ("", "a\n\nb", ["+a", "+", "+b"]),
        ("a\nb", "b\na", ["-a", "+a"]),
    ],
)
def test_changed_lines_are_those_that_were_removed_and_then_those_in_their_place(
    before: str, after: str, changed: list[str]
) -> None:
    assert [_SIGNS[kind] + line for kind, line in changed_lines(before, after, DiffBudget())] == changed


def test_without_a_budget_all_between_the_same_lines_has_changed() -> None:
    before, after = "a\n" + "b\nc\n" * 50 + "d", "a\n" + "c\nb\n" * 50 + "d"
    found = list(changed_lines(before, after, DiffBudget(0)))
    assert [kind for kind, _ in found] == ["removed"] * 100 + ["added"] * 100
