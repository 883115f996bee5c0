"""Reads the cells of one sheet as a stream: only the current row is kept in memory."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, NoReturn
from xml.parsers import expat

from runs.documents.formats.xlsx.number_formats import Format
from runs.documents.model.sheets import MAX_COLUMN, MAX_ROW, number_of
from runs.documents.reading.package_parts import whole_number
from runs.errors import InvalidInput

MAX_CELLS = 2_000_000  # of a workbook
MAX_TAGS = 40_000_000
"""Opening and closing tags. A cell with a value has four, and a cell with only a format one; some sheets have millions
of those.
"""
_BREAK = re.compile(r"[\t\r\n]+")
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MAX_STRING = 32_767
"""The maximum length of a cell in Excel."""
TRUE = frozenset({"1", "true"})
GENERAL = Format()


class Enough(Exception):
    """Raised when a limit of the workbook is reached."""


class Row(NamedTuple):
    """A row. `texts` and `formulas`: by column, in order. `stored`: the non-empty values of
    `Cell.stored`, by column.
    """

    number: int
    hidden: bool
    texts: Mapping[int, str]
    formulas: Mapping[int, str]
    stored: Mapping[int, str]


class Counts:
    """Counts the cells and tags of all sheets of a workbook. Raises Enough beyond a limit."""

    def __init__(self) -> None:
        self._cells, self._tags = MAX_CELLS, MAX_TAGS

    def take_row(self, row: Row) -> None:
        self._cells -= len(row.texts) + len(row.formulas)
        if self._cells < 0:
            raise Enough

    def take_tags(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self._tags -= piece.count(b"<")
            if self._tags < 0:
                raise Enough
            yield piece


def stream(pieces: Iterable[bytes], parser: expat.XMLParserType) -> None:
    """Parses a part. Raises InvalidInput if it is not XML or has a document type."""
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        for piece in pieces:
            parser.Parse(piece)
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two are raised for unknown encodings
        raise InvalidInput("is damaged; open it with the program that made it and save it again") from error


def _refuse_doctype(*_: object) -> None:
    raise InvalidInput("has a document type in it, which no such file needs; save it again")


def in_a_line(text: str) -> str:
    """Returns the text of a cell without tabs and line breaks."""
    if "_x" in text:
        text = _ESCAPE.sub(_unescaped, text)
    return _BREAK.sub(" ", text[:_MAX_STRING])


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


class LocalNames(dict[str, str]):
    """Maps names of tags to names without prefix. Each is computed once."""

    def __missing__(self, tag: str) -> str:
        name = self[tag] = tag.rpartition(":")[2]
        return name


class Columns(dict[str, int]):
    """Maps the letters of columns to their numbers."""

    def __missing__(self, letters: str) -> int:
        if not (letters.isascii() and letters.isalpha() and len(letters) <= 3):
            _refuse_place()
        number = self[letters] = number_of(letters)
        if number > MAX_COLUMN:
            _refuse_place()
        return number


class Formats(dict[str, Format]):
    """Maps style numbers, as the file writes them, to number formats."""

    def __init__(self, styles: Sequence[Format]) -> None:
        super().__init__()
        self._styles = styles

    def __missing__(self, style: str) -> Format:
        at = whole_number(style, -1)
        if not 0 <= at < len(self._styles):
            return GENERAL
        found = self[style] = self._styles[at]
        return found


def shared_strings(pieces: Iterator[bytes], max_characters: int) -> Sequence[str]:
    """Returns the shared strings, without pronunciations."""
    first = next(pieces, b"")
    return _Strings(chain([first], pieces), max_characters).all if first else []


class _Strings:
    def __init__(self, pieces: Iterable[bytes], max_characters: int) -> None:
        self.all: list[str] = []
        self._left, self._max = max_characters, max_characters
        self._parts: list[str] = []
        self._inside = self._phonetic = False
        self._names = LocalNames()
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        stream(pieces, parser)

    def _start(self, tag: str, _: Mapping[str, str]) -> None:
        name = self._names[tag]
        if name == "t":
            self._inside = not self._phonetic
        elif name == "si":
            self._parts = []
        elif name == "rPh":
            self._phonetic = True

    def _end(self, tag: str) -> None:
        name = self._names[tag]
        if name == "t":
            self._inside = False
        elif name == "si":
            self.all.append(in_a_line("".join(self._parts)))
        elif name == "rPh":
            self._phonetic = False

    def _characters(self, text: str) -> None:
        if self._inside:
            self._left -= len(text)
            if self._left < 0:
                raise InvalidInput(f"has more than {self._max:,} characters of text; split it")
            self._parts.append(text)


class Cells:
    """Passes each row to `take` and each range of hidden columns to `hide`.

    `without_value`: the number of formulas that no program has calculated. Their cells are empty.
    """

    __slots__ = (
        *("_cell", "_column", "_columns", "_counts", "_formats", "_formula", "_formulas", "_hidden", "_hide"),
        *(
            "_is_numbered",
            "_is_sorted",
            "_names",
            "_parts",
            "_phonetic",
            "_row",
            "_shared",
            "_stored",
            "_strings",
            "_take",
        ),
        *("_texts", "_value", "without_value"),
    )

    def __init__(
        self,
        strings: Sequence[str],
        formats: Mapping[str, Format],
        counts: Counts,
        take: Callable[[Row], None],
        hide: Callable[[int, int], None],
    ) -> None:
        self._strings, self._formats, self._counts = strings, formats, counts
        self._take, self._hide = take, hide
        self._names = LocalNames()
        self._row, self._hidden, self._is_numbered = 0, False, True
        self._texts: dict[int, str] = {}
        self._formulas: dict[int, str] = {}
        self._stored: dict[int, str] = {}
        self._columns = Columns()
        self._column, self._is_sorted = 0, True
        self._cell: Mapping[str, str] | None = None
        self._value: str | None = None
        self._formula = ""
        self._shared: Mapping[str, str] = {}
        self._parts: list[str] | None = None
        self._phonetic = False
        self.without_value = 0

    def read(self, pieces: Iterable[bytes]) -> None:
        """Reads a sheet. Raises Enough when a limit is reached; the rows before it have been passed on."""
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        stream(self._counts.take_tags(pieces), parser)

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = self._names[tag]
        if name == "c":
            self._cell, self._value, self._formula = attributes, None, ""
        elif self._cell is not None:
            if name == "v" or (name == "t" and not self._phonetic):
                self._parts = []
            elif name == "f":
                self._parts, self._shared = [], attributes
            elif name == "rPh":
                self._phonetic = True
        elif name == "row":
            number = attributes.get("r")
            self._is_numbered = number is not None
            self._row = self._row + 1 if number is None else _row_number(number)
            self._hidden = attributes.get("hidden") in TRUE or _is_zero(attributes.get("ht"))
            self._texts, self._formulas, self._stored = {}, {}, {}
            self._column, self._is_sorted = 0, True
        elif name == "col" and (attributes.get("hidden") in TRUE or _is_zero(attributes.get("width"))):
            first = whole_number(attributes.get("min"), 1, low=1)
            self._hide(first, min(whole_number(attributes.get("max"), first, low=first), MAX_COLUMN))

    def _characters(self, text: str) -> None:
        if self._parts is not None:
            self._parts.append(text)

    def _end(self, tag: str) -> None:
        name = self._names[tag]
        if name == "v":
            if self._parts is not None:
                self._value, self._parts = "".join(self._parts), None
        elif name == "c":
            self._end_cell()
        elif name == "row":
            self._end_row()
        elif name == "rPh":
            self._phonetic = False
        elif self._parts is not None:
            text, self._parts = "".join(self._parts), None
            if name == "t":
                self._value = (self._value or "")[:_MAX_STRING] + text
            elif name == "f":
                self._formula = _formula(text, self._shared)

    def _end_row(self) -> None:
        texts, formulas = self._texts, self._formulas
        if not self._is_sorted:
            texts, formulas = dict(sorted(texts.items())), dict(sorted(formulas.items()))
        if texts or formulas:
            row = Row(self._row, self._hidden, texts, formulas, self._stored)
            self._counts.take_row(row)
            self._take(row)
        self._texts, self._formulas, self._stored = {}, {}, {}

    def _end_cell(self) -> None:
        cell, self._cell = self._cell or {}, None
        column = self._place(cell.get("r"))
        if value := self._value:
            kind = cell.get("t")
            if kind == "s":  # the most common kinds first: this runs for each of two million cells
                at = int(value) if value.isdecimal() and len(value) < 10 else -1
                text = self._strings[at] if 0 <= at < len(self._strings) else ""
            elif kind is None or kind == "n":
                style = cell.get("s")
                text, stored = (self._formats[style] if style else GENERAL).cell(value)
                if stored:
                    self._stored[column] = stored
            else:
                text = ("TRUE" if value.strip() in TRUE else "FALSE") if kind == "b" else value
            if text:
                as_it_is = kind == "s" or (text.isprintable() and kind != "inlineStr")
                self._texts[column] = text if as_it_is else in_a_line(text)
        if self._formula:
            self._formulas[column] = self._formula
            self.without_value += not self._value and cell.get("t") != "str"  # a calculated text may be empty

    def _place(self, reference: str | None) -> int:
        """Returns the column of the next cell. If a row has no number, its first cell has it."""
        before = self._column
        if reference:
            letters = reference.rstrip("0123456789")
            column = self._columns[letters]
            if not self._is_numbered:
                self._row, self._is_numbered = _row_number(reference[len(letters) :]), True
        else:
            column = before + 1
            if column > MAX_COLUMN:
                _refuse_place()
        if column <= before:
            self._is_sorted = False
        self._column = column
        return column


def _formula(text: str, attributes: Mapping[str, str]) -> str:
    """Returns the formula as people type it. The range that it is filled to is appended."""
    text = _BREAK.sub(" ", text.strip())[:_MAX_STRING]
    if not text:
        return ""
    area = attributes.get("ref", "")
    kind = attributes.get("t")
    if kind == "array":
        return f"{{={text}}}"
    return f"={text} (filled to {area[:30]})" if kind == "shared" and ":" in area else f"={text}"


def _row_number(digits: str) -> int:
    number = whole_number(digits, 0, high=MAX_ROW + 1)
    if not 1 <= number <= MAX_ROW:
        _refuse_place()
    return number


def _refuse_place() -> NoReturn:
    raise InvalidInput(
        "names a cell beyond XFD1048576, the last that there is; save it again with a spreadsheet program"
    )


def _is_zero(size: str | None) -> bool:
    return size is not None and size.strip() in {"0", "0.0"}
