"""Reads RTF files line by line with all tracked changes accepted, then notes, headers and footers.

This is our own parser because the available library drops notes, reads deleted words as text, and takes more than
linear time.
"""

import codecs
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from runs.documents.formats.rtf import FORMAT
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument
from runs.documents.reading.fields import FONTS as SIGN_FONTS
from runs.documents.reading.fields import MAX_CODE, FieldCode, left_out_at, text_in
from runs.errors import InvalidInput

_WORD = re.compile("[a-z]+")
LEFT_OUT = frozenset(
    _WORD.findall(
        "aftncn aftnsep aftnsepc atndate atnicn atnid atnparent atnref atntime atrfend atrfstart author background "
        "bkmkend bkmkstart buptim category colorschememapping colortbl company creatim datafield datastore doccomm "
        "docvar ffdeftext ffentrymcr ffexitmcr ffformat ffhelptext ffname ffstattext filetbl ftncn "
        "ftnsep ftnsepc generator gridtbl hlinkbase info keywords latentstyles levelnumbers leveltext listlevel "
        "listname listoverridetable listpicture liststylename listtable mailmerge manager nesttableprops nextfile "
        "nonesttables nonshppict objclass objdata objname operator panose passwordhash pgptbl pict pn pnseclvl pntxta "
        "pntxtb printim private propname revtim rsidtbl rxe shprslt sn sp staticval stylesheet subject sv tc template "
        "themedata title txe userprops wgrffmtfilter writereservhash xe xmlnstbl atnauthor falt fontemb fontfile"
    )
)
LINE_ENDS = frozenset({"par", "line", "sect", "page", "row", "nestrow", "column"})
TABS = frozenset({"tab", "cell", "nestcell"})
SIGNS = {
    b"emdash": "\u2014",
    b"endash": "\u2013",
    b"emspace": "\u2003",
    b"enspace": "\u2002",
    b"qmspace": "\u2005",
    b"bullet": "\u2022",
    b"zwj": "\u200d",
    b"zwnj": "\u200c",
    b"ltrmark": "\u200e",
    b"rtlmark": "\u200f",
    b"lquote": "\u2018",
    b"rquote": "\u2019",
    b"ldblquote": "\u201c",
    b"rdblquote": "\u201d",
    b"~": "\xa0",
    b"_": "\u2011",
    b"-": "\u00ad",
    b"{": "{",
    b"}": "}",
    b"\\": "\\",
    b"\t": "\t",
}
CHARSETS = (
    {0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "cp950", 161: "cp1253"}
    | {162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874"}
    | {238: "cp1250", 254: "cp437", 255: "cp850"}
)
"""Encodings by their number in the font table."""
CHARACTER_SETS = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
"""Encodings of files from before `ansicpg`."""


def date_of(packed: int) -> str:
    """Decodes a date from the bits of one number (minutes, hours, days, months, years since 1900). Empty if it is
    invalid.
    """
    packed &= 0xFFFFFFFF
    minute, hour, day = packed & 0x3F, packed >> 6 & 0x1F, packed >> 11 & 0x1F
    month, year = packed >> 16 & 0xF, 1_900 + (packed >> 20 & 0x1FF)
    return f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}" if day and month else ""


MAX_GROUPS = 1_000_000  # open at the same time
_TOKEN = re.compile(
    rb"\\([A-Za-z]+)(-?[0-9]+)?[ ]?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z])|([{}])|([^\\{}\r\n\0]+)|[\r\n\0]+|\\",
    re.DOTALL,
)
"""Line ends and zero bytes are ignored, but are tokens of their own, because they end the token before them."""
_STORIES = {
    "footnote": "footnote",
    "annotation": "annotation",
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "header"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "footer"),
}
_LABELS = frozenset({"listtext", "pntext"})
_MAX_AUTHORS = 10_000  # characters of the table of authors
_MAX_JOINED = 10_000  # characters of a deletion to which the next one is added
_MAX_FONT_NAME = 100
_MAX_CHOICES = 100  # of the list of a form field
_MAX_FIELDS = 1_000
"""Nesting of fields."""
_MAX_NUMBER = 2**32  # larger numbers mean nothing in RTF
_HIGH, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)


class State(NamedTuple):
    """The state inside a group. `target`: the destination of its text, None for nowhere."""

    target: str | None = ""
    skip: int = 1
    codec: str = ""
    is_hidden: bool = False
    is_gone: bool = False
    is_inserted: bool = False
    by: int = 0
    on: int = 0
    gone_by: int = 0
    gone_on: int = 0
    is_repeated: bool = False
    """The group repeats, for older programs, what the file has elsewhere for newer ones."""
    unicode_target: str | None = None
    """The destination of a text that is repeated in Unicode."""

    def after(self, word: str, value: int | None) -> "State | None":
        """Returns the state after a code that only changes the state, or None for other codes."""
        is_on = value != 0
        match word:
            case "uc":
                return self._replace(skip=min(max(value or 0, 0), 10))
            case "v":
                return self._replace(is_hidden=is_on)
            case "deleted" | "mvf":
                return self._replace(is_gone=is_on)
            case "revised" | "mvt":
                return self._replace(is_inserted=is_on)
            case "revauth":
                return self._replace(by=value or 0)
            case "revdttm":
                return self._replace(on=value or 0)
            case "revauthdel":
                return self._replace(gone_by=value or 0)
            case "revdttmdel":
                return self._replace(gone_on=value or 0)
            case "mvauth":
                return self._replace(by=value or 0, gone_by=value or 0)
            case "mvdate":
                return self._replace(on=value or 0, gone_on=value or 0)
            case "plain":
                return self._replace(is_hidden=False, is_gone=False, is_inserted=False, codec="")
            case _:
                return None


class RtfRun(NamedTuple):
    """A range of a line with its properties."""

    start: int
    end: int
    is_hidden: bool
    is_inserted: bool
    by: str
    on: str


class DeletedText(NamedTuple):
    """Words deleted before the character `start` of a line."""

    start: int
    text: str
    by: str
    on: str


class RtfLine:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.size = 0
        self.label = ""
        self.runs: list[RtfRun] = []
        self.gone: list[DeletedText] = []
        self.left_out: list[str] = []
        """Names of what Word shows but the file does not hold, such as "number that Word counts"."""
        self.unread: list[str] = []
        """Names of what the file holds but is not read, such as "formula"."""

    @property
    def text(self) -> str:
        return "".join(self.parts).rstrip()

    def add(self, run: RtfRun) -> None:
        """Adds a run, merged with the run before it if their properties are equal."""
        if self.runs and self.runs[-1].end == run.start and self.runs[-1][2:] == run[2:]:
            run = run._replace(start=self.runs.pop().start)
        self.runs.append(run)

    def delete(self, gone: DeletedText) -> None:
        last = self.gone[-1] if self.gone else None
        if last and len(last.text) < _MAX_JOINED and last._replace(text="") == gone._replace(text=""):
            gone = gone._replace(text=self.gone.pop().text + gone.text)
        self.gone.append(gone)


class Field:
    """An open field at this nesting depth. `form`: the values of a form field by code."""

    def __init__(self, depth: int, shown: int) -> None:
        self.depth, self._shown = depth, shown
        self.code = ""
        self.form: dict[str, int] = {}
        self.choices: list[str] = []

    def has_result(self, shown: int) -> bool:
        """Whether text was read since the field began. `shown`: the characters read so far."""
        return shown > self._shown

    @property
    def form_text(self) -> str:
        """Returns what a form field without a result shows: a box, ticked or not, or the chosen list entry."""
        chosen = self.form.get("ffres", _UNDEFINED)
        chosen = self.form.get("ffdefres", 0) if chosen == _UNDEFINED else chosen
        match self.form.get("fftype"):
            case 1:
                return "☒" if chosen else "☐"
            case 2:
                return self.choices[chosen].strip() if 0 <= chosen < len(self.choices) else ""
            case _:
                return ""


class RtfReader:
    """Reads an RTF file. `streams`: the lines of the text and of other destinations, by name."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.streams: dict[str, list[RtfLine]] = defaultdict(list)
        self._state = State()
        self._stack: list[State] = []
        self._codec = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font_names: dict[int, str] = {}
        self._font = 0
        self._default_font = 0
        self._authors = ""
        self._names: list[str] = []
        self._pending = bytearray()
        self._left_out = 0
        self._high = 0
        self._fields: list[Field] = []
        self._shown = 0

    def read(self) -> None:
        at, end = 0, len(self._data)
        while at < end and (token := _TOKEN.match(self._data, at)):
            at = token.end()
            word, number, code, sign, brace, text = token.groups()
            if text is not None:
                self._raw(text)
            elif code is not None:
                self._raw(bytes((int(code, 16),)))
            elif word is not None:
                # Word writes at most ten digits; longer numbers are cut and then limited.
                name = word.decode()
                value = None if number is None else max(-_MAX_NUMBER, min(int(number[:12]), _MAX_NUMBER))
                if self._left_out and (name in TABS or word in SIGNS):
                    self._left_out -= 1  # an escaped character counts as a character
                elif name == "bin":
                    at += max(value or 0, 0)
                else:
                    self._word(name, value)
            elif sign is not None:
                if self._left_out and sign in SIGNS:
                    self._left_out -= 1
                else:
                    self._sign(sign)
            elif brace is not None:
                self._group(brace)
                if brace == b"}" and not self._stack:
                    break  # what follows the document is ignored
        self._flush()

    def _raw(self, data: bytes) -> None:
        """Decodes bytes in the font's encoding, and skips the fallbacks of the last Unicode character."""
        left_out = min(self._left_out, len(data))
        self._left_out -= left_out
        self._pending += data[left_out:]

    def _flush(self) -> None:
        if self._pending:
            data, self._pending = bytes(self._pending), bytearray()
            codec = self._state.codec or self._codec_of(self._default_font) or self._codec
            is_signs = codec in SIGN_FONTS
            self._say(text_in(codec, data.decode("latin-1")) if is_signs else data.decode(codec, errors="replace"))

    def _group(self, brace: bytes) -> None:
        self._flush()
        self._left_out = 0
        if brace == b"{":
            if len(self._stack) == MAX_GROUPS:
                raise InvalidInput(f"has more than {MAX_GROUPS:,} groups in one another")
            self._stack.append(self._state)
        elif self._stack:
            before, self._state = self._state.target, self._stack.pop()
            if before in _KEPT and before not in {self._state.target, self._state.unicode_target}:
                self._end_line(before)
            if self._fields and len(self._stack) < self._fields[-1].depth:
                self._end_field(self._fields.pop())

    def _end_field(self, field: Field) -> None:
        """Adds the text of a field without a result, or records that it is unknown."""
        target = self._state.target
        if target not in _KEPT or field.has_result(self._shown):
            return
        code = FieldCode(field.code)
        self._say(field.form_text or code.displayed_text)
        if code.left_out and not self._state.is_gone:
            self._line(target).left_out.append(code.left_out)

    def _sign(self, sign: bytes) -> None:
        self._flush()
        self._left_out = 0
        if sign == b"*":
            self._state = self._state._replace(target=None)
        elif sign in {b"\n", b"\r"}:
            self._end_line(self._state.target)
        elif sign in SIGNS:
            self._say(SIGNS[sign])

    def _word(self, word: str, value: int | None) -> None:
        self._flush()
        self._left_out = 0
        if (state := self._state.after(word, value)) is not None:
            self._state = state
        elif word == "u":
            self._unicode((value or 0) % 0x10000)
        elif word in {"f", "ansicpg", "fcharset", "deff"}:
            self._encoding(word, value or 0)
        elif word in {"fftype", "ffres", "ffdefres"}:
            if self._fields:
                self._fields[-1].form[word] = value or 0
        else:
            self._text_or_target(word)

    def _text_or_target(self, word: str) -> None:
        target = self._state.target
        around = self._stack[-1].target if self._stack else None  # of the enclosing group
        if word == "par" and self._state.is_gone and target in _KEPT and self._line(target).parts:
            self._say("\n")  # the paragraph continues with the next one
        elif word in LINE_ENDS:
            self._end_line(around if word == "nestrow" and target is None else target)
        elif word in TABS:
            self._say("\t")
        elif word.encode() in SIGNS:
            self._say(SIGNS[word.encode()])
        elif word in CHARACTER_SETS:
            self._codec = CHARACTER_SETS[word]
        elif word in {"shptxt", "dptxbxtext"}:  # text boxes, inside groups that are otherwise ignored
            if not self._state.is_repeated:
                self._state = self._state._replace(target="")
                self._end_line("")
        elif word in {"field", "fldinst", "ffl"}:
            self._field(word, target, around)
        else:
            self._redirect(word, target, around)

    def _field(self, word: str, target: str | None, around: str | None) -> None:
        if word == "field":
            if target in _KEPT and len(self._fields) < _MAX_FIELDS:
                self._fields.append(Field(len(self._stack), self._shown))
            return
        is_ours = bool(self._fields) and around in (_KEPT | {_CODE} if word == "fldinst" else {_CODE, None})
        self._state = self._state._replace(target={"fldinst": _CODE, "ffl": _CHOICE}[word] if is_ours else None)
        if is_ours and word == "ffl" and len(self._fields[-1].choices) < _MAX_CHOICES:
            self._fields[-1].choices.append("")

    def _redirect(self, word: str, target: str | None, around: str | None) -> None:
        """Sets the destination of a group that begins with this code."""
        if word in {"fonttbl", "revtbl"} or (word in _LABELS and target is not None):
            self._state = self._state._replace(target=word if word in _TABLES else "label")
        elif word in _FORMULAS:
            if around in _KEPT and not self._state.is_gone:
                self._line(around).unread.append("formula")
            self._state = self._state._replace(target=None)
        elif word == "upr":
            self._state = self._state._replace(target=None, unicode_target=target)
        elif word == "ud":  # repeats the text that was written for older programs
            self._state = self._state._replace(target=self._state.unicode_target)
        elif word in LEFT_OUT:
            self._state = self._state._replace(target=None, is_repeated=self._state.is_repeated or word == "shprslt")
        elif word in _STORIES and (target in _KEPT or word == "annotation"):
            self._state = self._state._replace(target=_STORIES[word])

    def _encoding(self, word: str, value: int) -> None:
        if word == "ansicpg":
            self._codec = _CODE_PAGES.get(value) or _known(f"cp{value}") or "cp1252"
        elif word == "deff":
            self._default_font = value
        elif word == "fcharset":
            self._fonts[self._font] = CHARSETS.get(value, "")
        elif self._state.target == "fonttbl":
            self._font = value
        else:
            self._state = self._state._replace(codec=self._codec_of(value) or self._codec)

    def _codec_of(self, font: int) -> str:
        """Returns the encoding of a font, or the name of a symbol font, or an empty string if the file does not state
        it.
        """
        name = self._font_names.get(font, "").rstrip("; ").casefold()
        return name if name in SIGN_FONTS else self._fonts.get(font, "")

    def _unicode(self, unit: int) -> None:
        """Adds a UTF-16 code unit. Characters beyond the first plane come as two of them."""
        self._left_out = self._state.skip
        if unit in _HIGH:
            self._high = unit
            return
        if unit in _LOW and self._high:
            unit = 0x10000 + ((self._high - 0xD800) << 10) + (unit - 0xDC00)
        self._high = 0
        codec = self._state.codec
        is_sign = unit >> 8 == _PRIVATE and codec in SIGN_FONTS
        self._say(text_in(codec, chr(unit & 0xFF)) if is_sign else chr(unit))

    def _say(self, text: str) -> None:
        state = self._state
        match state.target:
            case None:
                return
            case "fonttbl":
                self._font_names[self._font] = (self._font_names.get(self._font, "") + text)[:_MAX_FONT_NAME]
                return
            case "revtbl":
                self._authors = (self._authors + text)[:_MAX_AUTHORS]
                self._names = self._authors.split(";")
                return
            case "code":
                self._fields[-1].code = (self._fields[-1].code + text)[:MAX_CODE]
                return
            case "choice":
                self._fields[-1].choices[-1] = (self._fields[-1].choices[-1] + text)[:MAX_CODE]
                return
            case _:
                self._shown += len(text)
        line = self._line("" if state.target == "label" else state.target)
        if state.target == "label":
            line.label += text.replace("\t", " ")
        elif state.is_gone:
            line.delete(DeletedText(line.size, text, self._author(state.gone_by), date_of(state.gone_on)))
        else:
            end = line.size + len(text)
            if state.is_hidden or state.is_inserted:
                by, on = (self._author(state.by), date_of(state.on)) if state.is_inserted else ("", "")
                line.add(RtfRun(line.size, end, state.is_hidden, state.is_inserted, by, on))
            line.parts.append(text)
            line.size = end

    def _line(self, target: str) -> RtfLine:
        lines = self.streams[target]
        if not lines:
            lines.append(RtfLine())
        return lines[-1]

    def _author(self, number: int) -> str:
        return self._names[number] if 0 <= number < len(self._names) else ""

    def _end_line(self, target: str | None) -> None:
        if target in _KEPT:
            self.streams[target].append(RtfLine())


_TABLES = frozenset({"fonttbl", "revtbl"})
_KEPT = frozenset({"", *_STORIES.values()})
_CODE, _CHOICE = "code", "choice"
_FORMULAS = frozenset({"mmath", "moMathPara", "moMath"})
_PRIVATE = 0xF0
_UNDEFINED = 25
"""Word's code for a form field that has not been changed."""
_CODE_PAGES = {10_000: "mac_roman"}


def _known(codec: str) -> str:
    try:
        return codecs.lookup(codec).name
    except (LookupError, ValueError):
        return ""


_KINDS = {
    "": BlockKind.LINE,
    "footnote": BlockKind.FOOTNOTE,
    "annotation": BlockKind.COMMENT,
    "header": BlockKind.HEADER,
    "footer": BlockKind.FOOTER,
}


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    if not data.lstrip().startswith(b"{\\rtf"):
        raise InvalidInput("is not an RTF file")
    reader = RtfReader(data)
    reader.read()
    builder = Builder(FORMAT.name)
    number = 0
    for name, kind in _KINDS.items():
        for line in _without_gaps(reader.streams[name]):
            number += 1
            _add(builder, f"L{number}", kind, line)
    return builder.build(FORMAT.unit, number)


def _add(builder: Builder, anchor: str, kind: BlockKind, line: RtfLine) -> None:
    block = builder.add(anchor, kind, line.text, label=line.label.strip())
    start = block.start
    for run in line.runs:
        end = min(start + run.end, block.end)  # without trailing spaces
        if run.is_hidden:
            builder.mark(MarkKind.HIDDEN, start + run.start, end)
        if run.is_inserted:
            builder.mark(MarkKind.INSERTED, start + run.start, end, by=run.by, on=run.on)
    for thing in line.left_out:
        builder.note(left_out_at(thing, f"line {anchor.removeprefix('L')}"))
    for thing in line.unread:
        builder.note(f"The {thing} at line {anchor.removeprefix('L')} was not read.")
    for gone in line.gone:
        if text := gone.text.strip("\n"):
            builder.delete(start + gone.start, text, by=gone.by, on=gone.on)


def _without_gaps(lines: Sequence[RtfLine]) -> list[RtfLine]:
    """Returns lines with at most one empty line in a row, and none at the beginning and the end."""
    kept: list[RtfLine] = []
    for line in lines:
        if line.text.strip() or line.gone or line.left_out or line.unread or (kept and kept[-1].text.strip()):
            kept.append(line)
    while kept and not kept[-1].text.strip() and not kept[-1].gone:
        kept.pop()
    return kept
