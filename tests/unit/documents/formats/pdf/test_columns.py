"""Columns that a PDF draws line by line across both are read one after the other, and rows of tables as rows."""

import json
import random
from collections.abc import Sequence
from textwrap import wrap

import pytest

from runs.documents.formats.pdf.drawing import places
from runs.documents.formats.pdf.pdf_reader import make
from tests.documents import pdfs

_TEXT = (
    "the tenant shall pay rent monthly in advance to landlord and keep all premises in good order unless agreed "
    "otherwise by both parties who may give notice of any defect which appears during term"
)
_WORDS = _TEXT.split()
_WIDTH = 40
"""Characters of a line of a column."""


def prose(count: int, seed: int) -> str:
    """So many words, in sentences."""
    chance, sentences = random.Random(seed), list[str]()
    while sum(len(one.split()) for one in sentences) < count:
        sentences.append(" ".join(chance.choices(_WORDS, k=chance.randint(8, 30))).capitalize() + ".")
    return " ".join(" ".join(sentences).split()[:count])


def rows(left: Sequence[str], right: Sequence[str], before: bytes = b"", after: bytes = b"") -> bytes:
    """A page with the lines of both beside each other, drawn row by row."""
    lines = [before]
    for at in range(max(len(left), len(right))):
        for column, x in ((left, 50), (right, 320)):
            lines += [pdfs.line(one, x, 740 - 14 * at, 9) for one in column[at : at + 1] if one]
    return pdfs.pages_of([b"".join([*lines, after])], font=pdfs.COURIER)


def cells(words: int, seed: int) -> list[list[str]]:
    """Eighteen cells of so many words each, as lines."""
    return [wrap(prose(words, seed + at), _WIDTH) for at in range(18)]


def table(left: Sequence[list[str]], right: Sequence[list[str]]) -> tuple[list[str], list[str]]:
    """The lines of the cells, each row of them as high as its higher cell."""
    found: tuple[list[str], list[str]] = ([], [])
    for pair in zip(left, right, strict=True):
        height = max(map(len, pair))
        for column, cell in zip(found, pair, strict=True):
            column += [*cell, *[""] * (height - len(cell))]
    return found[0][:46], found[1][:46]


_LEFT, _RIGHT = wrap(prose(260, 1), _WIDTH), wrap(prose(200, 2), _WIDTH)
_ACROSS = "\n".join(f"{one} {other}".strip() for one, other in zip(_LEFT, [*_RIGHT, *[""] * 99], strict=False))


def test_columns_are_read_one_after_the_other() -> None:
    heading, foot = pdfs.line("Lease", 50, 770, 9), pdfs.line("Page 1", 50, 30, 9)
    made = make(rows(_LEFT, _RIGHT, heading, foot))
    assert len(_LEFT) > len(_RIGHT) > 20
    assert made.text == "\n".join(["Lease", *_LEFT, *_RIGHT, "Page 1"])


def test_a_place_over_two_lines_of_a_column_is_in_that_column() -> None:
    data = rows(_LEFT, _RIGHT)
    start = make(data).text.index(_LEFT[1])
    (boxes,) = json.loads(places(data, page=1, spans=f"{start}-{start + len(_LEFT[1]) + 1 + len(_LEFT[2])}"))
    assert len(boxes) == 2
    assert all(left > 49 / 612 and right < 320 / 612 for left, _, right, _ in boxes)


@pytest.mark.parametrize("words", [4, 6, 11, 17, 23, 36, 60])
@pytest.mark.parametrize("seed", [100, 200, 300])
def test_rows_of_tables_stay_rows(words: int, seed: int) -> None:
    left, right = table(cells(words, seed), cells(words, seed + 50))
    assert make(rows(left, right)).text == "\n".join(
        " ".join(filter(None, pair)) for pair in zip(left, right, strict=True)
    )


@pytest.mark.parametrize("seed", [100, 200, 300])
def test_rows_in_small_letters_stay_rows(seed: int) -> None:
    chance = random.Random(seed)
    left, right = (
        [" ".join(chance.choices(_WORDS, k=chance.randint(4, 7)))[:_WIDTH].strip() for _ in range(40)] for _ in "ab"
    )
    assert make(rows(left, right)).text == "\n".join(map(" ".join, zip(left, right, strict=True)))


def test_entries_beside_a_text_stay_beside_it() -> None:
    left = [f"Entry {number} of the list" for number in range(20)]
    right = wrap(prose(200, 1).replace(". ", " and ").lower(), _WIDTH)[:20]
    assert make(rows(left, right)).text == "\n".join(map(" ".join, zip(left, right, strict=True)))


def test_what_a_line_divides_stays_rows() -> None:
    assert make(rows(_LEFT, _RIGHT, b"50 600 m 560 600 l S ")).text == _ACROSS
    assert make(rows(_LEFT, _RIGHT, b"308 760 m 308 50 l S ")).text != _ACROSS
    assert make(rows(_LEFT, _RIGHT, b"1 1 m 2 1 l S " * 5_000)).text == _ACROSS


def test_few_lines_stay_as_they_are_drawn() -> None:
    left, right = _LEFT[:7], _RIGHT[:7]
    assert make(rows(left, right)).text == "\n".join(map(" ".join, zip(left, right, strict=True)))
