"""Every module of the package declares one format, and no two share a name, a suffix or a place."""

from __future__ import annotations

from pathlib import Path

from runs.reports import formats
from runs.reports.formats import BY_SUFFIX, FORMATS, TEXT_FORMATS

MODULES = {path.stem for path in Path(formats.__file__).parent.glob("*.py")} - {"__init__"}


def test_every_module_is_a_format_of_its_name() -> None:
    assert set(FORMATS) == MODULES
    assert [one.name for one in FORMATS.values()] == list(FORMATS)


def test_suffixes_and_places_are_distinct() -> None:
    assert len(BY_SUFFIX) == len(FORMATS)
    assert len({one.order for one in FORMATS.values()}) == len(FORMATS)
    assert len({one.title for one in FORMATS.values()}) == len(FORMATS)


def test_every_format_names_its_media_type_and_a_text_is_quick() -> None:
    assert all("/" in one.media_type for one in FORMATS.values())
    assert not any(FORMATS[name].is_slow for name in TEXT_FORMATS)
