"""What the codes of an RTF file say, in one go from its beginning to its end."""

import codecs
import re
from collections import defaultdict
from typing import NamedTuple

from runs.documents.readers.rtf.codes import CHARSETS, LEFT_OUT, LINE_ENDS, SIGNS, TABS, date_of
from runs.errors import InvalidInput

MAX_GROUPS = 1_000_000
_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?[0-9]{1,9})?[ ]?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z'])|([{}])|([^\\{}\r\n\0]+)|[\r\n\0\\]+",
    re.DOTALL,
)
_STORIES = {
    "footnote": "footnote",
    "annotation": "annotation",
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "header"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "footer"),
}
_LABELS = frozenset({"listtext", "pntext"})
_MAX_AUTHORS = 10_000
_MAX_JOINED = 10_000
_HIGH, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)


class State(NamedTuple):
    """What holds inside a group. `target`: where its text goes to; None is nowhere."""

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


class Run(NamedTuple):
    """Characters of a line that something is true of."""

    start: int
    end: int
    is_hidden: bool
    is_inserted: bool
    by: str
    on: str


class Gone(NamedTuple):
    """Deleted words that stood before the character `start` of a line."""

    start: int
    text: str
    by: str
    on: str


class Line:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.size = 0
        self.label = ""
        self.runs: list[Run] = []
        self.gone: list[Gone] = []

    @property
    def text(self) -> str:
        return "".join(self.parts).rstrip()

    def add(self, run: Run) -> None:
        """As a part of the run before it, if the same is true of both."""
        if self.runs and self.runs[-1].end == run.start and self.runs[-1][2:] == run[2:]:
            run = run._replace(start=self.runs.pop().start)
        self.runs.append(run)

    def delete(self, gone: Gone) -> None:
        last = self.gone[-1] if self.gone else None
        if last and len(last.text) < _MAX_JOINED and last._replace(text="") == gone._replace(text=""):
            gone = gone._replace(text=self.gone.pop().text + gone.text)
        self.gone.append(gone)


class Reader:
    """`streams`: the lines of the text, and of what stands beside it, by name."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.streams: dict[str, list[Line]] = defaultdict(list)
        self._state = State()
        self._stack: list[State] = []
        self._codec = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._authors = ""
        self._names: list[str] = []
        self._pending = bytearray()
        self._left_out = 0
        self._high = 0

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
                name, value = word.decode(), int(number) if number is not None else None
                if name == "bin":
                    at += max(value or 0, 0)
                else:
                    self._word(name, value)
            elif sign is not None:
                self._sign(sign)
            elif brace is not None:
                self._group(brace)
                if brace == b"}" and not self._stack:
                    break  # what stands behind the document is none of it
        self._flush()

    def _raw(self, data: bytes) -> None:
        """Bytes in the encoding of the font; as many of them as the last character has doubles for are left out."""
        left_out = min(self._left_out, len(data))
        self._left_out -= left_out
        self._pending += data[left_out:]

    def _flush(self) -> None:
        if self._pending:
            data, self._pending = bytes(self._pending), bytearray()
            self._say(data.decode(self._state.codec or self._codec, errors="replace"))

    def _group(self, brace: bytes) -> None:
        self._flush()
        self._left_out = 0
        if brace == b"{":
            if len(self._stack) == MAX_GROUPS:
                raise InvalidInput(f"has more than {MAX_GROUPS:,} groups in one another")
            self._stack.append(self._state)
        elif self._stack:
            before, self._state = self._state.target, self._stack.pop()
            if before in _KEPT and self._state.target != before:
                self._end_line(before)

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
        is_on = value != 0
        match word:
            case "u":
                self._unicode((value or 0) % 0x10000)
            case "uc":
                self._state = self._state._replace(skip=min(max(value or 0, 0), 10))
            case "v":
                self._state = self._state._replace(is_hidden=is_on)
            case "deleted":
                self._state = self._state._replace(is_gone=is_on)
            case "revised":
                self._state = self._state._replace(is_inserted=is_on)
            case "revauth":
                self._state = self._state._replace(by=value or 0)
            case "revdttm":
                self._state = self._state._replace(on=value or 0)
            case "revauthdel":
                self._state = self._state._replace(gone_by=value or 0)
            case "revdttmdel":
                self._state = self._state._replace(gone_on=value or 0)
            case "plain":
                self._state = self._state._replace(is_hidden=False, is_gone=False, is_inserted=False, codec="")
            case "f" | "ansicpg" | "fcharset":
                self._encoding(word, value or 0)
            case _:
                self._text_or_target(word)

    def _text_or_target(self, word: str) -> None:
        target = self._state.target
        if word in LINE_ENDS:
            self._end_line(target)
        elif word in TABS:
            self._say("\t")
        elif word.encode() in SIGNS:
            self._say(SIGNS[word.encode()])
        elif word in {"shptxt", "dptxbxtext"}:  # text boxes, in groups that are left out else
            self._state = self._state._replace(target="")
            self._end_line("")
        elif word in {"fonttbl", "revtbl"} or (word in _LABELS and target is not None):
            self._state = self._state._replace(target=word if word in _TABLES else "label")
        elif word in LEFT_OUT:
            self._state = self._state._replace(target=None)
        elif word in _STORIES and (target is not None or word == "annotation"):
            self._state = self._state._replace(target=_STORIES[word])

    def _encoding(self, word: str, value: int) -> None:
        if word == "ansicpg":
            self._codec = _known(f"cp{value}") or "cp1252"
        elif word == "fcharset":
            self._fonts[self._font] = CHARSETS.get(value, "")
        elif self._state.target == "fonttbl":
            self._font = value
        else:
            self._state = self._state._replace(codec=self._fonts.get(value, ""))

    def _unicode(self, unit: int) -> None:
        """A unit of UTF-16: characters beyond the first plane come as two of them."""
        self._left_out = self._state.skip
        if unit in _HIGH:
            self._high = unit
            return
        if unit in _LOW and self._high:
            unit = 0x10000 + ((self._high - 0xD800) << 10) + (unit - 0xDC00)
        self._high = 0
        self._say(chr(unit))

    def _say(self, text: str) -> None:
        state = self._state
        if state.target is None or state.target == "fonttbl":
            return
        if state.target == "revtbl":
            self._authors = (self._authors + text)[:_MAX_AUTHORS]
            self._names = self._authors.split(";")
            return
        lines = self.streams["" if state.target == "label" else state.target]
        if not lines:
            lines.append(Line())
        line = lines[-1]
        if state.target == "label":
            line.label += text.replace("\t", " ")
        elif state.is_gone:
            line.delete(Gone(line.size, text, self._author(state.gone_by), date_of(state.gone_on)))
        else:
            end = line.size + len(text)
            if state.is_hidden or state.is_inserted:
                by, on = (self._author(state.by), date_of(state.on)) if state.is_inserted else ("", "")
                line.add(Run(line.size, end, state.is_hidden, state.is_inserted, by, on))
            line.parts.append(text)
            line.size = end

    def _author(self, number: int) -> str:
        return self._names[number] if 0 <= number < len(self._names) else ""

    def _end_line(self, target: str | None) -> None:
        if target in _KEPT:
            self.streams[target].append(Line())


_TABLES = frozenset({"fonttbl", "revtbl"})
_KEPT = frozenset({"", *_STORIES.values()})


def _known(codec: str) -> str:
    try:
        return codecs.lookup(codec).name
    except (LookupError, ValueError):
        return ""
