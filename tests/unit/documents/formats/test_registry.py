"""Every module and package of formats declares one, with a reader that exists, and no content fits two of them."""

from __future__ import annotations

from importlib import import_module
from itertools import combinations
from pathlib import Path

import pytest

from runs.documents import formats
from runs.documents.formats import ANCHORS, COMMENTED, DRAWN, FORMATS, READ, format_of
from runs.documents.model.layout import Block, BlockKind

MODULES = {path.stem for path in Path(formats.__file__).parent.iterdir() if not path.name.startswith("__")}


def test_every_module_declares_a_format_of_its_name() -> None:
    assert set(FORMATS) == MODULES
    assert {name for name, form in FORMATS.items() if not form.reader} == {"tar", "zip"}


def test_what_a_format_declares_exists() -> None:
    for name, form in READ.items():
        reader = import_module(form.reader)
        assert callable(reader.read)
        assert callable(reader.attachments) if form.attachments else not hasattr(reader, "attachments")
        assert format_of(form.layout_name or name) is form
    for name in DRAWN:
        drawing = import_module(FORMATS[name].drawing)
        assert callable(drawing.picture)
        assert callable(drawing.thumbnail)
        assert hasattr(drawing, "places") == FORMATS[name].has_places


def test_every_format_can_be_recognised() -> None:
    for form in FORMATS.values():
        assert form.signatures or form.zip_part or form.zip_media_type or form.is_text_of


def test_no_beginning_is_that_of_two_formats() -> None:
    beginnings = [
        (form.name, magic) for form in FORMATS.values() for one in form.signatures for at, magic in one.parts if at == 0
    ]
    both = [
        (one, two)
        for (one, first), (two, second) in combinations(beginnings, 2)
        if one != two and (first.startswith(second) or second.startswith(first))
    ]
    assert both == []


def test_every_reader_gives_anchors_that_mean_the_same_in_all_formats() -> None:
    said: dict[str, str] = {}
    for form in READ.values():
        assert form.anchors.form
        for pattern, words in form.anchors.words.items():
            assert said.setdefault(pattern, words) == words


@pytest.mark.parametrize(
    ("layout", "anchor", "words", "unit"),
    [
        ("docx", "p23", "paragraph 23", ""),
        ("docx", "t1r2c3.p1", "table 1, row 2, column 3", ""),
        ("odt", "fn1.p1", "footnote 1", ""),
        ("html", "p4", "paragraph 4", ""),
        ("rtf", "L7", "line 7", ""),
        ("msg", "L7", "line 7", ""),
        ("epub", "sp2.p9", "chapter 2, paragraph 9", ""),
        ("pdf", "page=7", "page 7", "7"),
        ("image", "page=1", "page 1", "1"),
        ("pptx", "s3.sh1.p2", "slide 3", "3"),
        ("xlsx", "Rents!B7", "Rents!B7", "Rents"),
    ],
)
def test_places_are_called_what_their_format_declares(layout: str, anchor: str, words: str, unit: str) -> None:
    anchors = format_of(layout).anchors
    block = Block(anchor=anchor, kind=BlockKind.PARAGRAPH, start=0, end=0)
    assert (anchors.has(anchor), anchors.words_for(block), anchors.unit_of(anchor)) == (True, words, unit)
    assert (ANCHORS.has(anchor), ANCHORS.words_for(block)) == (True, words)
    assert not ANCHORS.has("Introduction")


def test_the_formats_with_tables_comments_and_notes_on_pages() -> None:
    assert [name for name, form in FORMATS.items() if form.has_tables] == ["xlsx"]
    assert [name for name, form in FORMATS.items() if form.notes_on_pages] == ["pdf"]
    assert list(COMMENTED) == ["docx"]
