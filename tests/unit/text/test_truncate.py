"""Texts cut to a length, and never inside of what a reader sees as one character."""

from itertools import accumulate

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from runs.text.truncate import boundary, cut_after, in_quotes, quoted, truncate, truncate_line, truncate_path

LETTER_WITH_MARK, FLAG, FAMILY, SYLLABLE = "e\u0301", "🇨🇭", "👨‍👩‍👧", "क्षि"
GROUPS = [LETTER_WITH_MARK, FLAG, FAMILY, SYLLABLE, "👍🏽", "각", "\r\n", "a", "漢", " ", "\n"]


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("short", 5, "short"),
        ("a long sentence", 8, "a long…"),
        ("a long sentence", 7, "a long…"),
        ("longword", 4, "lon…"),
        ("e\u0301e\u0301e\u0301", 4, "e\u0301…"),
        (FLAG * 3, 4, f"{FLAG}…"),
        (FAMILY * 2, 8, f"{FAMILY}…"),
        (FAMILY, 4, "…"),
        ("👍🏽👍🏽", 3, "👍🏽…"),
        ("\ud83d\ude00\ud83d\ude00", 2, "…"),
    ],
)
def test_a_text_is_cut_to_a_number_of_characters_with_the_ellipsis(text: str, limit: int, shown: str) -> None:
    assert truncate(text, limit) == shown


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("a\n  long\tline", 80, "a long line"),
        ("a\n  long\tline", 8, "a long…"),
        ("a\x1flong\u3000line", 80, "a long line"),
        (" " * 10_000 + "far away", 8, "far away"),
        ("x" * 10_000, 4, "xxx…"),
        ("one " * 10_000, 8, "one one…"),
        (" \n ", 8, ""),
    ],
)
def test_a_line_has_single_spaces(text: str, limit: int, shown: str) -> None:
    assert truncate_line(text, limit) == shown


@pytest.mark.parametrize(
    ("path", "limit", "shown"),
    [
        ("contracts/lease.txt", 19, "contracts/lease.txt"),
        ("contracts/2026/lease.txt", 16, "contrac…ease.txt"),
        ("contracts/2026/lease.txt", 15, "contrac…ase.txt"),
        (f"{FLAG * 5}/{FLAG * 5}.txt", 13, f"{FLAG * 3}…{FLAG}.txt"),
        (f"a{FLAG * 5}{FLAG * 5}.txt", 11, f"a{FLAG * 2}….txt"),
    ],
)
def test_a_path_is_cut_in_the_middle(path: str, limit: int, shown: str) -> None:
    assert truncate_path(path, limit) == shown


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [("cell", 4, "cell"), ("cells", 4, "cell …"), ("cafe\u0301s", 4, "caf …"), ("a\r\nb", 2, "a …")],
)
def test_a_mark_comes_on_top_of_what_is_kept(text: str, limit: int, shown: str) -> None:
    assert cut_after(text, limit) == shown


@given(st.lists(st.sampled_from(GROUPS), max_size=90).map("".join), st.integers(0, 400))
def test_no_group_of_characters_is_cut(text: str, at: int) -> None:
    places = {0, *accumulate(len(cluster) for cluster in regex.findall(r"\X", text))}
    assert boundary(text, at) == max(place for place in places if place <= at)


@pytest.mark.parametrize("before", ["", "a", "é", "🇨"])
def test_a_long_row_of_flags_is_cut_between_two(before: str) -> None:
    text = f"{before}{FLAG * 100}"
    places = [0, *accumulate(len(cluster) for cluster in regex.findall(r"\X", text))]
    assert {boundary(text, at) for at in range(len(text) + 1)} == set(places)


@given(st.text(max_size=40), st.integers(1, 30))
def test_nothing_is_longer_than_its_limit(text: str, limit: int) -> None:
    assert len(truncate(text, limit)) <= limit
    assert len(truncate_line(text, limit)) <= limit
    assert len(truncate_path(text, limit)) <= limit


@pytest.mark.parametrize(
    "hostile", ["🇨" * 2_000_000, "\u0301" * 2_000_000, "a" + "\u200d" * 2_000_000, "한" * 2_000_000]
)
def test_hostile_texts_are_cut_near_the_limit(hostile: str) -> None:
    assert 999_900 < boundary(hostile, 1_000_000) <= 1_000_000


def test_quoted_is_one_short_line() -> None:
    assert quoted("a\n b") == "“a b”"
    assert quoted("a" * 80) == f"“{'a' * 80}”"
    assert quoted("a" * 100) == quoted("a" * 1_000) == f"“{'a' * 80}…”"
    assert quoted(" " * 1_000 + "a", 10) == "“…”"
    assert quoted(FLAG * 3, 3) == f"“{FLAG}…”"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("“Step 10” is done", "‘“Step 10” is done’"), ('he said "no"', '‘he said "no"’'), ("a “b” c", "“a “b” c”")],
)
def test_quotation_marks_are_not_doubled(text: str, shown: str) -> None:
    assert quoted(text) == in_quotes(text) == shown
