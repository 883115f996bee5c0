"""Counts the numbers of headings and list items from their styles. OpenDocument texts do not store them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runs.documents.formats.docx.numbering import BULLET, MAX_NUMBER, Numbered, format_number
from runs.documents.model.sheets import column_of
from runs.documents.reading.package_parts import Element, whole_number

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
DC = "{http://purl.org/dc/elements/1.1/}"
MAX_DEPTH = 100
"""Of nested elements. A table in a table in a list in a section has twenty."""
TOO_DEEP = "is nested deeper than any document"


_MAX_LEVEL = 10  # lists have ten levels
_MAX_AFFIX = 40  # characters before and after a number
_MAX_PARENTS = 20  # styles that are based on each other may be circular
_LOWER, _UPPER = "lower letters", "upper letters"
_FORMATS = {"1": "decimal", "a": _LOWER, "A": _UPPER, "i": "lowerRoman", "I": "upperRoman"}
_IN_STEP = {_LOWER: "lowerLetter", _UPPER: "upperLetter"}
"""With `num-letter-sync`, bb comes after aa, as in Word; otherwise ab does."""
_OUTLINE = "outline"


@dataclass(frozen=True)
class _Level:
    """A level of a list style. `format` is empty if there is no number. `shown`: how many levels
    its number includes.
    """

    format: str
    prefix: str
    suffix: str
    start: int
    shown: int
    is_bullet: bool


class OdtStyles:
    """The list styles of a text by name, and the list styles of paragraph styles."""

    def __init__(self, *roots: Element | None) -> None:
        self.lists: dict[str, Mapping[int, _Level]] = {}
        self.outline: Mapping[int, _Level] = {}
        self._paragraphs: dict[str, tuple[str, str]] = {}
        for root in roots:
            for one in (
                root.iter(f"{TEXT}list-style", f"{TEXT}outline-style", f"{STYLE}style") if root is not None else ()
            ):
                if one.tag == f"{STYLE}style":
                    names = one.get(f"{STYLE}list-style-name", ""), one.get(f"{STYLE}parent-style-name", "")
                    self._paragraphs.setdefault(one.get(f"{STYLE}name", ""), names)
                elif one.tag == f"{TEXT}outline-style":
                    self.outline = self.outline or dict(_levels(one))
                else:
                    self.lists.setdefault(one.get(f"{STYLE}name", ""), dict(_levels(one)))

    def list_of(self, paragraph: Element) -> str:
        """Returns the name of the list style of a paragraph's style or of one that it is based on."""
        name = paragraph.get(f"{TEXT}style-name", "")
        for _ in range(_MAX_PARENTS):
            found, name = self._paragraphs.get(name, ("", ""))
            if found or not name:
                return found
        return ""


def _levels(style: Element) -> Iterator[tuple[int, _Level]]:
    for one in style:
        prefix, suffix = (one.get(f"{STYLE}num-{which}", "")[:_MAX_AFFIX] for which in ("prefix", "suffix"))
        form = _FORMATS.get(one.get(f"{STYLE}num-format", ""), "")
        yield (
            whole_number(one.get(f"{TEXT}level"), 1, low=1, high=_MAX_LEVEL),
            _Level(
                format=_IN_STEP.get(form, form) if one.get(f"{STYLE}num-letter-sync") == "true" else form,
                prefix=prefix,
                suffix=suffix,
                start=whole_number(one.get(f"{TEXT}start-value"), 1, high=MAX_NUMBER),
                shown=whole_number(one.get(f"{TEXT}display-levels"), 1, low=1, high=_MAX_LEVEL),
                is_bullet=one.tag == f"{TEXT}list-level-style-bullet",
            ),
        )


@dataclass
class _OpenList:
    """A list that is being read. Nested lists share `counts`, by level."""

    style: str
    key: str
    counts: dict[int, int]
    goes_on: bool


class OdtCounters:
    """The counters of each list, in text order."""

    def __init__(self, styles: OdtStyles) -> None:
        self._styles = styles
        self._open: list[_OpenList] = []
        self._last: dict[str, dict[int, int]] = {}
        self._named: dict[str, dict[int, int]] = {}
        self._outline: dict[int, int] = {}

    def begin(self, element: Element, level: int) -> None:
        """Begins a list. Another list of the same style restarts the count, unless it says that it continues."""
        above = self._open[-1] if level > 1 else None
        style = element.get(f"{TEXT}style-name", "") or (above.style if above else "")
        goes_on = element.get(f"{TEXT}continue-numbering") == "true" or bool(above and above.goes_on)
        before = self._named.get(element.get(f"{TEXT}continue-list", ""))
        if above:
            counts = above.counts
            if not goes_on:
                counts.pop(level, None)
        else:
            goes_on = goes_on or before is not None
            counts = (before if before is not None else self._last.get(style, {})) if goes_on else {}
            self._last[style] = counts
        if name := element.get("{http://www.w3.org/XML/1998/namespace}id"):
            self._named[name] = counts
        self._open.append(_OpenList(style, style or (above.key if above else "list"), counts, goes_on))

    def end(self) -> None:
        self._open.pop()

    def item(self, item: Element, paragraph: Element, level: int) -> Numbered | None:
        """Returns the number of the first paragraph of an item in the innermost list."""
        one = self._open[-1]
        one.goes_on = False
        style = one.style or self._styles.list_of(paragraph)
        start = item.get(f"{TEXT}start-value")
        return _count(self._styles.lists.get(style, {}), one.key, one.counts, level, start)

    def heading(self, heading: Element, level: int) -> Numbered | None:
        if heading.get(f"{TEXT}is-list-header") == "true":
            return None
        start = heading.get(f"{TEXT}start-value", "1") if heading.get(f"{TEXT}restart-numbering") == "true" else None
        return _count(self._styles.outline, _OUTLINE, self._outline, level, start)


def _count(
    levels: Mapping[int, _Level], key: str, counts: dict[int, int], level: int, start: str | None
) -> Numbered | None:
    style = levels.get(level)
    if style is None:
        return None
    for above in range(1, level):
        if above in levels:
            counts.setdefault(above, levels[above].start)
    begins = level not in counts
    counts[level] = style.start if begins else counts[level] + 1
    if start is not None:
        counts[level] = whole_number(start, style.start, high=MAX_NUMBER)
    for below in [other for other in counts if other > level]:
        del counts[below]
    if style.is_bullet:
        return Numbered(BULLET, key, level)
    if not style.format:
        return None
    shown = [one for one in range(max(level - style.shown + 1, 1), level + 1) if one in levels and levels[one].format]
    numbers = ".".join(_written(counts[one], levels[one].format) for one in shown)
    shape = f"{style.format} {style.prefix}%{style.suffix}"
    label = f"{style.prefix}{numbers}{style.suffix}".strip()
    return Numbered(label, key, level, shape, is_whole=len(shown) > 1, begins=begins)


def _written(number: int, form: str) -> str:
    if form in _IN_STEP:
        letters = column_of(number)
        return letters.lower() if form == _LOWER else letters
    return format_number(number, form)
