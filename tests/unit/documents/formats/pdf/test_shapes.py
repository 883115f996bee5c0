"""Words whose letters are shown by another copy of them are seen, and words on which other ink lies are not."""

import pytest

from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.model.layout import MarkKind
from tests.documents import pdfs
from tests.documents.pdfs import line

_WORDS = "Liability is capped at EUR 300."
_OTHERS = "Liability is capped at EUR 800."
_ABOVE = line("The Supplier is liable without limit.", y=640)
_COPY = line(_WORDS, y=600, more="3 Tr")
"""Comes first, so that pdfium keeps it instead of those after it."""
_BOX = b"q 1 g 60 590 400 40 re f Q "


def unseen(content: bytes, degrees: int = 0) -> list[str]:
    made = make(pdfs.rotated(pdfs.pages_of([_ABOVE + content]), degrees))
    return [made.text[mark.start : mark.end] for mark in made.rendered.layout.marks if mark.kind is MarkKind.UNSEEN]


def _ground(shade: float) -> bytes:
    return f"q {shade} g 60 590 400 40 re f Q ".encode()


def _clipping(painted: bytes, size: int = 14) -> bytes:
    """Words that are where something else is painted."""
    return b"q BT /F %d Tf 72 600 Td 7 Tr (%s) Tj ET %s Q " % (size, _WORDS.encode(), painted)


def _stripes(lightest: float) -> bytes:
    shades = (f"{1 - at / 40 * (1 - lightest):.3f} {lightest} {lightest} rg" for at in range(40))
    return b"".join(f"{shade} {60 + 10 * at} 590 10 40 re f ".encode() for at, shade in enumerate(shades))


@pytest.mark.parametrize(
    "content",
    [
        _COPY + line(_WORDS, x=71, y=601.5),
        _ground(0.87) + _COPY + line(_WORDS, x=71, y=601.5, more="1 g"),
        line(_WORDS, y=600, size=14, more="1 g") + line(_WORDS, y=600, size=14, more="1 Tr 0 G 1.5 w"),
        line(_WORDS, y=600, size=14, more="2 Tr 1 g 0 G 0.5 w"),
        _clipping(_stripes(0.1)),
        _clipping(_stripes(0.1), size=10),
    ],
    ids=["moved copy", "white on grey", "outlined copy", "outlined", "gradient", "small gradient"],
)
@pytest.mark.parametrize("degrees", [0, 90])
def test_words_of_which_another_copy_is_seen_are_not_marked(content: bytes, degrees: int) -> None:
    assert unseen(content, degrees) == []


@pytest.mark.parametrize(
    "content",
    [
        _COPY + line(_WORDS, x=71, y=601.5, more="1 g"),
        _ground(0.98) + _COPY + line(_WORDS, x=71, y=601.5, more="1 g"),
        line(_WORDS, y=600, size=14, more="1 g") + line(_WORDS, y=600, size=14, more="1 Tr 1 G 1.5 w"),
        line(_WORDS, y=600, size=14, more="2 Tr 1 g 1 G 0.5 w"),
        _clipping(_stripes(0.98)),
        _clipping(b""),
        _COPY + line(_WORDS, x=71, y=601.5) + _BOX,
        line(_WORDS, y=600, size=7, more="1 g") + line(_OTHERS, y=600, size=7),
        line(_WORDS, y=600, size=10, more="3 Tr") + line(_OTHERS, y=600, size=10),
        line(_WORDS, y=600, size=10, more="3 Tr") + line(_OTHERS, x=71, y=601, size=10),
        line(_OTHERS, y=600) + _clipping(b"", size=12),
    ],
    ids=[
        "white copy",
        "white on nearly white",
        "white outline of a copy",
        "white outline",
        "white gradient",
        "nothing painted",
        "under a box",
        "small letters over others",
        "another digit",
        "another digit nearby",
        "empty letters over others",
    ],
)
@pytest.mark.parametrize("degrees", [0, 90])
def test_words_of_which_no_copy_is_seen_are_marked(content: bytes, degrees: int) -> None:
    assert unseen(content, degrees) == [_WORDS]
