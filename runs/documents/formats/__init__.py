"""The document formats. Each module or package in this package declares one as `FORMAT`.

Readers are separate modules, because they import large libraries and run in isolated processes only.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from runs.documents.document_format import OF_PICTURES, DocumentFormat
from runs.documents.model.anchors import Anchors

_modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]

FORMATS: dict[str, DocumentFormat] = {module.FORMAT.name: module.FORMAT for module in _modules}
READ = {name: form for name, form in FORMATS.items() if form.reader}
"""Formats with a reader."""
DRAWN = frozenset(name for name, form in FORMATS.items() if form.drawing)
"""Formats whose pages can be drawn."""
MAY_TAKE_MINUTES = frozenset(name for name, form in FORMATS.items() if form.limits is OF_PICTURES)
"""Formats that may contain scans. Other work does not wait for them."""
_BY_LAYOUT = {form.layout_name or name: form for name, form in FORMATS.items()}


COMMENTED = {name: form for name, form in FORMATS.items() if form.takes_comments}
ANCHORS = Anchors(
    form="|".join(form.anchors.form for form in READ.values()),
    words={pattern: words for form in READ.values() for pattern, words in form.anchors.words.items()},
)
"""The anchors of all formats."""


def format_of(layout_name: str) -> DocumentFormat:
    """Returns the format that layouts call by this name."""
    return _BY_LAYOUT[layout_name]
