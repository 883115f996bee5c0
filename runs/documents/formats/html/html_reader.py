"""Reads HTML as text: headings, paragraphs, list items, cells. Also used for e-books and the bodies of mails."""

import codecs
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lxml import etree
from lxml import html as lxml_html

from runs.documents import encodings
from runs.documents.formats.html import FORMAT
from runs.documents.formats.html.hidden_text import PageLooks, Scope
from runs.documents.formats.html.style_sheets import Linked
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument
from runs.documents.reading.package_parts import Element, whole_number
from runs.errors import InvalidInput

MAX_TAGS = 2_000_000
MAX_ATTRIBUTES = 20_000
"""Attributes of one tag, or fewer of each of several tags: libxml2 compares each attribute with all before it, which
takes half a second at this limit.
"""
ELSEWHERE = (
    "It refers to style sheets that are kept elsewhere, or has scripts. They are not applied: text that only they hide "
    "is not marked as hidden."
)
CUT = "What is nested deeper than 256 elements, and all that follows it, was not read."
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_WORD = re.compile("[a-z0-9]+")
_BLOCKS = frozenset(
    _WORD.findall(
        "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption "
        "figure footer form header hgroup hr html legend li main menu nav ol option p pre section select summary "
        "table tbody td tfoot th thead tr ul"
    )
) | set(_HEADINGS)
_LEFT_OUT = frozenset(
    _WORD.findall(
        "applet area audio canvas datalist embed frame frameset head iframe input link map meta noembed noframes "
        "noscript object param rp rt script style svg template textarea title video"
    )
)
_SPACES = re.compile(r"[ \t\r\n\f]+")
_TAG = re.compile(rb"""<[A-Za-z](?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')?|["'])*+""")
_VALUE = re.compile(rb"""=\s*+(?:"[^"]*+"|'[^']*+')""")
_END = re.compile(rb"</(?:body|html)\s*>", re.IGNORECASE)
"""Removed, because libxml2 drops what follows them, while browsers show it and apply its style sheets."""
_LONG_TAG = 4_000
"""Bytes. In shorter tags, attributes need not be counted."""
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_HEAD_BYTES = 4_096  # of a page that are searched for its encoding
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NUMBERS: dict[str, Callable[[int], str]] = {
    "a": lambda number: chr(ord("a") + (number - 1) % 26),
    "A": lambda number: chr(ord("A") + (number - 1) % 26),
}
_MAX_LABEL = 100_000  # the highest number of a list item


class HtmlBlock(NamedTuple):
    """A block of a page: its text, and the ranges of it that are hidden."""

    text: str
    kind: BlockKind
    level: int
    label: str
    hidden: Sequence[tuple[int, int]]


class HtmlPage(NamedTuple):
    """A page. `is_cut`: the end is missing because of too deep nesting.

    `cautions`: sentences, such as that the encoding was guessed, or that something that is not applied may hide text.
    """

    title: str
    pieces: Sequence[HtmlBlock]
    is_cut: bool
    cautions: Sequence[str] = ()


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    page = page_of(data)
    builder = Builder(FORMAT.name)
    if page.title:
        builder.add("title", BlockKind.TITLE, page.title)
    add_pieces(builder, page.pieces)
    if page.is_cut:
        builder.note(CUT)
    for caution in page.cautions:
        builder.caution(caution)
    return builder.build(FORMAT.unit, len(page.pieces))


def add_pieces(builder: Builder, pieces: Sequence[HtmlBlock], prefix: str = "") -> None:
    for number, piece in enumerate(pieces, 1):
        block = builder.add(f"{prefix}p{number}", piece.kind, piece.text, label=piece.label, level=piece.level)
        for start, end in piece.hidden:
            builder.mark(MarkKind.HIDDEN, block.start + start, block.start + end)


def page_of(data: bytes, encoding: str = "", linked: Linked | None = None) -> HtmlPage:
    """Reads a page. `encoding`: what is known of it from elsewhere, such as a mail's header; without any, it is guessed
    unless the data is UTF-8.

    `linked`: returns the style sheets that the page refers to, if they are available.
    """
    if data.count(b"<") > MAX_TAGS:
        raise InvalidInput(f"has more than {MAX_TAGS:,} HTML tags; split it")
    decoded_text, caution = _decode(data, encoding)
    text = _END.sub(b"", decoded_text.encode(errors="replace"))
    if _attributes_to_compare(text) > MAX_ATTRIBUTES**2:
        raise InvalidInput("has tags with more attributes than any page has; save it again")
    parser = lxml_html.HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = lxml_html.document_fromstring(text, parser=parser)
    except (etree.LxmlError, ValueError):  # the page has only comments
        return HtmlPage("", [], is_cut=False)
    is_cut = any(one.type_name == "ERR_RESOURCE_LIMIT" for one in parser.error_log)
    title = root.find(".//title")
    _add_bodies(root)
    looks = PageLooks(root, linked)
    pieces = _BlockCollector(looks)
    pieces.walk(root)
    pieces.flush()
    cautions = [caution] if caution else []
    if looks.is_elsewhere or any(_runs(script) for script in root.iter("script")):
        cautions.append(ELSEWHERE)
    return HtmlPage(" ".join((title.text or "").split()) if title is not None else "", pieces.all(), is_cut, cautions)


def _add_bodies(root: etree._Element) -> None:
    """Puts the rows of tables into bodies, as browsers do. Selectors rely on it."""
    for table in list(root.iter("table")):
        body = None
        for child in list(table):
            if child.tag != "tr":
                body = None
                continue
            if body is None:
                body = etree.Element("tbody")
                child.addprevious(body)
            body.append(child)


def _runs(script: Element) -> bool:
    """Whether a script element is a program and not data."""
    kind = script.get("type", "").strip().lower()
    return not kind or kind == "module" or "javascript" in kind or "ecmascript" in kind


def _attributes_to_compare(text: bytes) -> int:
    """Returns the number of comparisons between attributes: the sum of the squares of their number in each tag."""
    longs = (tag[0] for tag in _TAG.finditer(text) if tag.end() - tag.start() > _LONG_TAG)
    return sum(len(_VALUE.sub(b" ", tag).replace(b"/", b" ").split()) ** 2 for tag in longs)


def _decode(data: bytes, encoding: str) -> tuple[str, str]:
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, errors="replace"), ""
    found = _CHARSET.search(data[:_HEAD_BYTES])
    return decode_or_guess(data, encoding, "utf-8", found[1].decode() if found else "")


def decode_or_guess(data: bytes, *likely: str) -> tuple[str, str]:
    """Decodes text with the first of these encodings that fits, or with a guessed one.

    Returns a caution if another encoding is about as likely.
    """
    for codec in likely:
        if codec and (text := decode_or_none(data, codec)) is not None:
            return text, ""
    try:
        _, text, caution = encodings.decode_guessed(data)
    except InvalidInput:
        return data.decode("cp1252", errors="replace"), ""
    return text, caution


def decode_or_none(data: bytes, codec: str) -> str | None:
    """Returns None if the codec does not fit, or is not a text encoding."""
    try:
        return codecs.lookup(codec).name and data.decode(codec)
    except (LookupError, UnicodeError, ValueError):
        return None


class _Faint(NamedTuple):
    """Text in the colour of its ground. It is hidden unless a picture is behind it."""

    start: int
    end: int
    scope: Scope
    floating: Scope | None

    def is_on_picture(self) -> bool:
        """Known only at the end of the page."""
        return self.scope.is_doubtful() or (self.floating is not None and self.floating.has_pictures)


class _BlockCollector:
    """Collects the text between the beginnings and ends of blocks."""

    def __init__(self, looks: PageLooks) -> None:
        self._looks = looks
        self._pieces: list[HtmlBlock] = []
        self._parts: list[str] = []
        self._size = 0
        self._hidden: list[tuple[int, int]] = []
        self._faint: list[_Faint] = []
        self._faint_pieces: list[tuple[int, Sequence[_Faint]]] = []
        self._kind, self._level, self._label = BlockKind.PARAGRAPH, 0, ""
        self._lists = self._verbatim = 0

    def all(self) -> list[HtmlBlock]:
        """Returns all pieces. Must be called at the end, when all pictures are known."""
        for number, faint in self._faint_pieces:
            piece = self._pieces[number]
            spans = [(one.start, min(one.end, len(piece.text))) for one in faint if not one.is_on_picture()]
            self._pieces[number] = piece._replace(hidden=sorted([*piece.hidden, *spans]))
        return self._pieces

    def walk(self, element: Element) -> None:
        """Reads an element recursively. The parser limits the nesting to 256 levels."""
        tag = element.tag
        is_block = tag in _BLOCKS
        before = self._kind, self._level
        if is_block:
            self.flush()
            self._begin(element)
        self._looks.enter(element)
        self._verbatim += tag == "pre"
        self._lists += tag in {"ul", "ol"}
        self._say(element.text)
        number = whole_number(element.get("start"), 1, low=0, high=_MAX_LABEL) if tag == "ol" else 0
        for child in element:
            if child.tag == "br":
                self._break()
            elif child.tag not in _LEFT_OUT:
                if child.tag == "li" and tag == "ol":
                    number = whole_number(child.get("value"), number, high=_MAX_LABEL)
                    self.flush()
                    self._label = f"{_NUMBERS.get(element.get('type', ''), str)(number)}."
                    number += 1
                self.walk(child)
            else:
                self._looks.skip(child)
            self._say(child.tail)
        if is_block:
            self.flush()
            self._kind, self._level = before
        self._looks.leave()
        self._verbatim -= tag == "pre"
        self._lists -= tag in {"ul", "ol"}

    def _begin(self, element: Element) -> None:
        tag = element.tag
        if tag in _HEADINGS:
            self._kind, self._level = BlockKind.HEADING, _HEADINGS[tag]
        elif tag in {"td", "th"}:
            self._kind, self._level = BlockKind.CELL, 0
        elif tag == "li":
            self._level = self._lists

    def _say(self, text: str | None) -> None:
        """Adds text of the page. Consecutive white space counts once, also across tags."""
        if not text:
            return
        if not self._verbatim:
            text = _SPACES.sub(" ", text)
            if not self._parts or self._parts[-1].endswith((" ", "\n")):
                text = text.removeprefix(" ")
        if text:
            if text.strip():
                size = len(text)
                look = self._looks.look
                if look.is_hidden:
                    self._hidden.append((self._size, self._size + size))
                elif look.is_like_ground:
                    self._faint.append(
                        _Faint(self._size, self._size + size, self._looks.scope(), self._looks.floating())
                    )
            self._parts.append(text)
            self._size += len(text)

    def _break(self) -> None:
        """Ends a line. Two line breaks in a row begin another block."""
        if self._parts and self._parts[-1] == "\n" and not self._verbatim:
            self.flush()
        elif self._parts or self._verbatim:
            self._parts.append("\n")
            self._size += 1

    def flush(self) -> None:
        """Makes a piece of the text so far."""
        whole = "".join(self._parts)
        text = whole.strip("\n").rstrip()
        if text.strip():
            shift = len(whole) - len(whole.lstrip("\n"))
            hidden = [(max(start - shift, 0), min(end - shift, len(text))) for start, end in self._hidden]
            if self._faint:
                moved = [one._replace(start=max(one.start - shift, 0), end=one.end - shift) for one in self._faint]
                self._faint_pieces.append((len(self._pieces), moved))
            self._pieces.append(HtmlBlock(text, self._kind, self._level, self._label, hidden))
            self._label = ""
        self._parts, self._hidden, self._faint, self._size = [], [], [], 0
