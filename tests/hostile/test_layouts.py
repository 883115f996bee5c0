"""Files that were made to be dear to lay out: tables, JSON, and versions that are compared."""

import pytest

from runs.text.diff import DiffBudget, line_diff, word_diff
from runs.web.files import csv_sheet, folding
from runs.web.files.excerpt import MAX_COLOURED, coloured, excerpt
from tests.hostile.bounds import within


def laid_out(unit: str, characters: int) -> tuple[int, int]:
    """Rows and columns that a page shows of a table of such units."""
    found = csv_sheet.sheet((unit * (characters // len(unit) + 1))[:characters])
    return (len(found.rows), len(found.header)) if found else (0, 0)


TABLES = {
    "a million columns": ",",
    "rows of many columns": "a," * 90_000 + "\n",
    "many rows": "a" * 40 + "\n",
    "millions of rows": "a\n",
    "empty lines": "\n",
    "blank lines": " \n",
    "open quotes": '"',
    "quotes over lines": '"\n"',
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", TABLES.values(), ids=TABLES)
def test_a_table_is_laid_out_in_bounded_time_and_memory(unit: str) -> None:
    rows, columns = within(0.6, 40, f"{__name__}.laid_out", unit, csv_sheet.MAX_CHARACTERS // 4)
    assert rows <= csv_sheet.ROWS
    assert columns <= csv_sheet.COLUMNS


def parts_of(unit: str, characters: int) -> int:
    """How many parts a page shows of JSON that begins with such units."""
    text = (unit * (characters // len(unit) + 1))[:characters]
    return len(folding.folded(text) or folding.folded(f"[{text[: text.rindex(',')]}]" if "," in text else "") or ())


JSON = {
    "deep lists": ("[", 0),
    "deep objects": ('{"a":', 0),
    "empty lists": ("[],", 303),
    "numbers": ("0,", 303),
    "long numbers": ("9" * 4_000 + ",", 252),
    "names": ('{"a":0},', 903),
    "wide lists": ("[" + "0," * 500 + "0],", 3_030),
}


@pytest.mark.parametrize(("unit", "parts"), JSON.values(), ids=JSON)
def test_json_is_folded_in_bounded_time_and_memory(unit: str, parts: int) -> None:
    assert within(0.6, 50, f"{__name__}.parts_of", unit, folding.MAX_CHARACTERS // 4 - 2) <= parts


def changed_lines(one: str, other: str, times: int) -> int:
    found = line_diff(one * times, other * times, DiffBudget())
    return found.added if found else -1


@pytest.mark.parametrize(
    ("one", "other", "times"),
    [
        ("a\nb\n", "b\na\n", 25_000),
        ("a b " * 5_000 + "\n", "b a " * 5_000 + "\n", 49),
        ("x", "y", 1_000_000),
        ("a\n" * 9 + "b\n", "a\n" * 7 + "c\n", 5_000),
        (" \n", "\t\n", 50_000),
    ],
)
def test_versions_are_compared_in_bounded_time_and_memory(one: str, other: str, times: int) -> None:
    assert within(3, 150, f"{__name__}.changed_lines", one, other, times) > 0


def word_pieces(one: str, other: str, times: int) -> int:
    budget = DiffBudget()
    return sum(len(word_diff(one * times, other * times, budget)) for _ in range(50))


@pytest.mark.parametrize(
    ("one", "other", "times"),
    [
        ("a b ", "b a ", 2_500),
        ("a b ", "b a ", 500_000),
        ("a b c d e f g ", "a b c x y z ", 5_000),
        ("a", "b", 1_000_000),
        (" ", "\n", 1_000_000),
        (" ".join(f"w{n * n % 9_973}" for n in range(9_000)), " ".join(f"w{n * n % 9_967}" for n in range(9_000)), 1),
    ],
)
def test_words_are_compared_in_bounded_time_and_memory(one: str, other: str, times: int) -> None:
    assert within(3, 150, f"{__name__}.word_pieces", one, other, times) > 0


def coloured_lines(unit: str, path: str) -> int:
    """How many lines a page shows of code that begins with such units."""
    text = unit * (MAX_COLOURED // 4 // len(unit))
    return len(coloured(excerpt(text, 0, 0), text, path, f"{path} {unit}").lines)


CODE = {
    "open brackets": ("a.py", "({["),
    "tags": ("a.html", "<a <"),
    "here documents": ("a.sh", "<<a\n"),
    "templates": ("a.js", "`${"),
    "macros": ("a.c", "#if 0\n"),
    "angles": ("a.cpp", "a<"),
    "regular expressions": ("a.rb", "/%w("),
}


@pytest.mark.slow
@pytest.mark.parametrize(("path", "unit"), CODE.values(), ids=CODE)
def test_code_is_coloured_in_bounded_time_and_memory(path: str, unit: str) -> None:
    assert within(1.5, 100, f"{__name__}.coloured_lines", unit, path) >= 1
