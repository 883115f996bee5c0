"""Every module and package of formats declares one, with a reader that exists, and no content fits two of them."""

from __future__ import annotations

from importlib import import_module
from itertools import combinations
from pathlib import Path

from runs.documents import formats
from runs.documents.formats import DRAWN, FORMATS, READ, format_of

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
