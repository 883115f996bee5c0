"""One normal form for every comparison of texts, in two strengths. Knows nothing of Django.

**Same text** proves that words occur: what a person copies and another program prints of the same words is equal.

| equal | examples |
|---|---|
| white space of all kinds, and none, but not between digits | `two⏎words` `two words` `twowords`; not `1 000` `1000` |
| hyphens between letters, so a line break in a word | `in-⏎ference` `in\u00adference` `inference`; `re-sign` `resign` |
| invisible: all ignorable characters | soft hyphen, U+200B, U+034F, marks of direction, variation selectors |
| quotation marks, and apostrophes | `“due”` `"due"` `«due»`; `tenant’s` `tenant's` |
| dashes and minus signs | `–5` `−5` `－5` `-5`; `10–20` `10-20` |
| composed and decomposed letters | `ü` and `u` with U+0308, Hangul and its parts |
| ligatures and old letters | `ﬁ` `ﬆ` `ĳ` `ſ` |
| full-width, half-width, small, vertical and mathematical forms | `ＡＢＣ` `ABC`; `ｶﾞ` `ガ`; `￥` `¥`; `～` `〜` |
| radicals and compatibility ideographs | U+2F12 `力`; U+F90A `金` |
| Arabic presentation forms, tatweel, harakat; Hebrew points | U+FEE3 `م` |
| letters that are also signs | `µ` `μ`; Ohm `Ω`; Angstrom `Å`; Kelvin `K` |
| Roman numerals, squared units | `Ⅳ` `IV`; `㎡` `m²` `m2`; `㈱` `(株)`; `℃` `°C` |
| decimal digits of all scripts | `١٢٣` `123` |
| marks and entities of Markdown and HTML, in such texts | `**due**` `[due](a.md)` `<b>due</b>` `due`; `&amp;` `&` |

What says something else stays different: capitals, accents, signs, figures, `10²` and `102`, `H₂O` and `H2O`, `½`,
`10-20` and `1020`; in HTML what is struck out or raised.

**Could be the same text** is needed to prove an absence. Whatever is the same could be the same, and also:

| equal | examples |
|---|---|
| capitals, with and without a dot | `İNDİRİM` `indirim`; `STRASSE` `Straße` |
| accents and strokes | `Kündigung` `Kundigung`; `Łódź` `Lodz` |
| letters of other scripts that look alike | Cyrillic `а` `е` `о`, Greek `ο` `Α`; in words of their own too |
| raised letters, and letters in circles, squares and brackets | `Ⓟenalty` `⒫enalty` `penalty` |
| letters that are spaced out, and words that characters of no width separate | `I N D E M N I T Y` |

A search for an absence (`Sought`) also takes for equal what is another spelling of the same words:

| equal | examples |
|---|---|
| umlauts and what stands for them | `Müller` `Mueller`; `Køb` `Koeb` |
| separators of thousands, and decimal marks | `1,000` `1 000` `1.000` `1000`; `12,5` `12.5` |
| raised digits and fractions | `CO₂` `CO2`; `½` `1/2` |
| points between single letters, apostrophes in words | `G.m.b.H.` `G. m. b. H.` `GmbH`; `tenant’s` `tenants` |
| underscores and spaces | `force_majeure` `force majeure` |

Linear in the length of a text. A text is folded in chunks of some thousand characters; where a character comes from is
worked out for the chunks that have a match only.
"""

import html
import re
import sys
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

import regex

from runs.text.boundaries import is_whole
from runs.text.ignorable import IGNORED
from runs.text.scripts import UNSPACED

MAX_CHARACTERS = 2_000_000
"""Of a text in which a quote is looked for, some six hundred pages: half a second, at the worst two."""
MIN_KEY = 12
"""Characters of a folded quote; a shorter one must occur once only, to point at one place."""
MAX_CUT = 1_000
"""Places that are looked at before giving up. Usually the quote is part of longer words in all of them."""
MAX_LIKE = 10_000
"""Places with the letters of a term, but with other word boundaries. After so many, the term may be there."""
MAX_BETWEEN = 200
"""Characters that a passage may have beyond twice those of the quote: white space, marks, invisible characters."""
_CHUNK = 4_000  # longer texts are folded in chunks of this length, and the result is cached
_ABOVE = 0x10000  # stands for all characters beyond the first plane
_MAX_MARKS = 30
"""Marks of one letter that are composed with it; ordering many more takes time that grows with their square."""


class Strength(StrEnum):
    SAME = "same text"
    COULD_BE = "could be the same text"
    SPELLINGS = "could be the same text in another spelling"
    LOOKS = "could be the same text, look-alikes of other scripts included"


class Markup(StrEnum):
    """The markup of a text, which is not part of its words."""

    PLAIN = ""
    MARKDOWN = "markdown"
    HTML = "html"


def markup_of(name: str) -> Markup:
    """The markup of a source by its name. Sources that are no files, such as answers of models, are Markdown."""
    if name.startswith("@") and "/" not in name:
        return Markup.MARKDOWN
    lower = name.lower()
    if lower.endswith((".md", ".markdown")):
        return Markup.MARKDOWN
    return Markup.HTML if lower.endswith((".html", ".htm", ".xhtml")) else Markup.PLAIN


_NO_WIDTH = re.compile(f"[{IGNORED}]")
_POINTS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4"
    "\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff"
)
"""Hebrew and Arabic points, which most texts leave out, and tatweel, which only stretches a word."""
_COMPATIBLE = (
    "\u00b5\u0132\u0133\u013f\u0140\u0149\u017f\u01c4-\u01cc\u01f1-\u01f3\u0e33\u0eb3\u0edc\u0edd\u2024\u2100\u2103"
    "\u2105\u2106\u2109\u2113\u2116\u2121\u2160-\u217f\u2e9f\u2ef3\u2f00-\u2fdf\u3220-\u3243\u32c0-\u32cb\u3300-\u33ff"
    "\uf900-\ufaff\ufb00-\ufb4f\ufb50-\ufdff\ufe10-\ufe19\ufe30-\ufe48\ufe4d-\ufe6b\ufe70-\ufefc\uff01-\uffe2\uffe4-\uffe6"
    "\uffe8-\uffee\U0001d400-\U0001d7ff\U0002f800-\U0002fa1f"
)
"""Characters that are other shapes of the same ones, block by block."""
_RADICALS = dict(
    zip(
        "⺠⻄⻅⻆⻉⻋⻑⻓⻔⻘⻙⻚⻛⻜⻝⻢⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲",
        "民西见角贝车長长门青韦页风飞食马鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀",
        strict=True,
    )
)
_SIGNS = (
    {"…": "...", "‥": "...", "∕": "/", "٫": ".", "٬": ",", "٪": "%", "،": ",", "؛": ";", "؟": "?"}
    | dict.fromkeys("“”„‟«»″〝〞〟❝❞＂", '"')
    | dict.fromkeys("‘’‚‛‹›′`´ʼ＇", "'")
    | dict.fromkeys("‐‑‒–—―−﹣－﹘⸺⸻\ufffe\x02", "-")  # noncharacters stand for hyphens in the texts of PDF files
    | dict.fromkeys("〜∼～", "~")
)
_STROKES = dict(zip("øłđħŧðæœþıªº", ("o", "l", "d", "h", "t", "d", "ae", "oe", "th", "i", "a", "o"), strict=True))
_SCRIPTS_ALIKE = (
    ("авеіїјкмнорстухһѕԁԛԝѵӏ", "abeiijkmhopctyxhsdqwvl"),
    ("αβεζηικμνορτυχϲ", "abezhikmnoptyxc"),
    ("օոսհց", "onuhg"),
    ("ɑɡɩʋꞌᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "agiv'abcdefghijklmnoprstuvwyz"),
    ("ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏟᏢᏙᏚᏞᏦᏴ", "drtajewmhgzcpvslkb"),
)
"""Letters without capitals that look like Latin ones, also where only their capitals do: Cyrillic, Greek, Armenian,
phonetic, Cherokee.
"""
LOOK_ALIKES = {char: latin for chars, latins in _SCRIPTS_ALIKE for char, latin in zip(chars, latins, strict=True)}
_SMALL_ALIKE = {"ν": "v", "η": "n", "υ": "u"}
"""Small letters that look like another letter than their capitals; next to Latin letters only."""
_LARGE_ALIKE = {
    ord(char): {"Ν": "N", "Η": "H", "Υ": "Y"}[unicodedata.normalize("NFD", char)[0]]
    for char in "ΝΗΥΉΎΫ"
    + "".join(map(chr, (*range(0x1F28, 0x1F30), *range(0x1F59, 0x1F60, 2), *range(0x1FCA, 0x1FCC))))
}
"""Capitals of these look like other letters than the small ones, so they are replaced as long as they are capitals."""
_NEXT_TO_LATIN = re.compile(r"[νηυ](?=[a-z])|(?<=[a-z])[νηυ]")
_SCRIPTS = re.compile("[\u0250-\u02af\u0370-\u058f\u13a0-\u13ff\u1d00-\u1d7f\u1f00-\u1fff\ua730\ua731\ua78c]")
_SPACE_THERE = re.compile(rf"(?<=[{UNSPACED}]) | (?=[{UNSPACED}])")
_IN_WORD = re.compile(rf"[^\W_{UNSPACED}]{{2}}")
_RAISED = (
    *(*range(0x2B0, 0x2B9), *range(0x2E0, 0x2E5)),
    *(*range(0x1D2C, 0x1D6B), 0x2071, 0x207F, *range(0x2090, 0x209D)),
    *(*range(0x24B6, 0x24EA), *range(0x1F130, 0x1F14A)),
)
"""Letters that are raised, lowered, or in circles and squares."""
_FRAMED = {chr(first + at): chr(0x61 + at) for first in (0x249C, 0x1F110, 0x1F150, 0x1F170) for at in range(26)}
"""Letters in brackets, and white ones on black circles and squares."""
_ARABIC_ALIKE = {"ی": "ي", "ى": "ي", "ک": "ك", "ة": "ه", "ہ": "ه", "ھ": "ه", "ۀ": "ه"}
_SPELLINGS = dict(zip("äöüøæåÄÖÜØÆÅ", ("ae", "oe", "ue", "oe", "ae", "aa") * 2, strict=True)) | {
    sign: unicodedata.normalize("NFKC", sign).replace("⁄", "/") for sign in "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
}
_SPELLING = re.compile(f"[{''.join(_SPELLINGS)}]")
_BESIDE_SIGNS = re.compile(r"(?<!\s)\s++(?=[.,'·•])|(?<=[.,'·•])\s++")
"""White space that is dropped in any case: without it the next expressions find what they are after at once."""
_APOSTROPHE = re.compile(r"'(?!\d)|(?<!\d)'")
_SAYS_LITTLE = re.compile(
    r"(?<=\d)[.,'\s](?=\d{3}(?!\d))"
    r"|(?<=[^\W\d_])[.·•](?<=(?<![^\W\d_])[^\W\d_].)(?=[^\W\d_](?![^\W\d_]))"
)
"""Separators of thousands, and points between letters that stand alone."""
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_SPELLS = re.compile(
    rf"[{''.join(_SPELLINGS)}\u0308\u030a'’_·•]|\d.?\d{{3}}|\d,|(?<![^\W\d_])[^\W\d_]\.\s?[^\W\d_](?![^\W\d_])"
)
"""What a text or a term has where another spelling makes a difference."""
_UNDERSCORE = re.compile("_+")
_GAP_MARK = "\0"
"""Stands for the white space between two digits, since folding a folded text must not take it away."""
_GAP = re.compile(r"([0-9])\s+(?=[0-9])")
_SPACES = re.compile(r"\s+")
_BROKEN = re.compile(r"-(?<=[^\W\d_]-)-{0,2}(?=[^\W\d_])")
"""Hyphens between two letters: they may be there because the line ended. So "re-sign" is taken for "resign"."""
_POWER = regex.compile(r"(?<=(?<!\p{L})[kcdm]?m)[²³](?![\p{Latin}\p{N}_])")
_SQUARED = {"²": "2", "³": "3"}
_ASCII = {ord(char): None for char in "\t\n\v\f\r\x1c\x1d\x1e\x1f "} | {ord("`"): "'", 2: "-"}
_END_DASHES = re.compile(r"^-+(?=[^\W\d_])|(?<=[^\W\d_])-+$")
_ENDS_LINE = re.compile(r"(?<=[^\W\d_])-[^\S\n]*\n\s*(?=[^\W\d_])")
_ODD_ASCII = re.compile(r"[`\x02]|-[ \t\r]*\n")
_CUT = re.compile(r"\s(?<=[\w.,;:!?)。、]\s)(?=\s{0,5}[^\W\d_])")
"""Where a chunk may end: white space that joins no digits and no parts of a word."""
_ENTITY = r"&(?P<entity>(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
_INLINE = (
    r"</?(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|dfn|em|font|i|kbd|label|mark|samp|small|span|strong|tt|u|var|wbr)"
    r"(?:\s[^<>]{0,500})?/?>"
)
_BLOCK = (
    r"<(?P<block>/?(?:address|article|aside|blockquote|body|br|caption|center|dd|div|dl|dt|fieldset|figcaption|figure|footer"
    r"|form|h[1-6]|header|hr|html|li|main|nav|ol|p|pre|section|table|tbody|td|tfoot|th|thead|tr|ul)(?:\s[^<>]{0,500})?/?>)"
)
_LINK_END = r"\](?:\([^()\s]{0,400}(?:\s\"[^\"\n]{0,100}\")?\)|\[[^\[\]\n]{0,100}\])"
_LINK = rf"\[(?=[^\[\]]{{1,400}}{_LINK_END})"
_EMPHASIS = (
    r"\*(?<![\d*]\*)\*{0,2}(?![\s*])|\*(?<![\s*]\*)\*{0,2}(?![\d*])"
    r"|_(?<!\w_)_{0,2}(?=[^\W_])|_(?<=[^\W_]_)_{0,2}(?!\w)|`+"
)
_QUOTED = r">(?:(?<=^>)|(?<=^[ \t]>)|(?<=^[ \t]{2}>)|(?<=^[ \t]{3}>))(?:[ \t]?>)*[ \t]?(?![\d=>])"  # not > 5
_MARKS = {
    Markup.MARKDOWN: re.compile(
        rf"\\(?P<escaped>[!-/:-@\[-`{{-~\n])|{_ENTITY}|{_BLOCK}|{_INLINE}|{_EMPHASIS}|!(?={_LINK})|{_LINK}|{_LINK_END}"
        rf"|\[\^[^\[\]\s]{{1,40}}\](?!:)|#(?<=^#)#{{0,5}}[ \t]|{_QUOTED}",
        re.IGNORECASE | re.MULTILINE,
    ),
    Markup.HTML: re.compile(rf"{_ENTITY}|{_BLOCK}|{_INLINE}(?P<escaped>)", re.IGNORECASE),
}
"""Each of them begins with a sign, so that Python passes over all other characters at once."""


ALIKE = "letters of another script that look alike"
SPACED = "letters that are spaced out, or words that are not"
ACCENTS = "other accents, or dots of the letter i"
SPELLED = "another spelling"
CROWDED = "so much like it that not all of it was looked at"


class Occurrence(NamedTuple):
    """Characters `start` to before `end` of a text that could be the wanted ones. `doubt`: what makes it uncertain that
    they are, as the end of a sentence; empty where nothing but capitals differs.
    """

    start: int
    end: int
    doubt: str = ""


class Folded:
    """A text folded for many look-ups; takes its memory once more. `check` is called for each chunk and may raise."""

    def __init__(
        self,
        source: str,
        strength: Strength = Strength.SAME,
        markup: Markup = Markup.PLAIN,
        check: Callable[[], object] | None = None,
    ) -> None:
        self.source, self.strength, self.markup = source, strength, markup
        self._starts, self._keys = array("Q"), array("Q")
        parts, size = list[str](), 0
        for start, end in _chunks(source):
            if check:
                check()
            part = _fold(source[start:end], strength, markup)
            self._starts.append(start)
            self._keys.append(size)
            size += len(part)
            parts.append(part)
        self.text = "".join(parts)

    def spans(self, wanted: str, at: int = 0) -> Iterator[tuple[int, int]]:
        """Where the source has what is folded to `wanted`, in order, overlapping places too, from a key on."""
        found = self.text.find(wanted, at) if wanted else -1
        while found >= 0:
            yield self._place(found)[0], self._place(found + len(wanted) - 1)[1]
            found = self.text.find(wanted, found + 1)

    def key_at(self, place: int) -> int:
        """The first character of the folded text that comes from this place of the source or one behind it."""
        number = bisect_right(self._starts, place) - 1
        if number < 0:
            return 0
        starts, _ = self._aligned(number)
        return self._keys[number] + bisect_left(starts, place - self._starts[number])

    def _place(self, at: int) -> tuple[int, int]:
        number = bisect_right(self._keys, at) - 1
        starts, ends = self._aligned(number)
        begin, inside = self._starts[number], at - self._keys[number]
        return begin + starts[inside], begin + ends[inside]

    def _aligned(self, number: int) -> tuple[array[int], array[int]]:
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.source)
        return _aligned(self.source[self._starts[number] : end], self.strength, self.markup)


_kept = lru_cache(maxsize=8)(Folded)


def folded(text: str, strength: Strength = Strength.SAME, markup: Markup = Markup.PLAIN) -> str:
    """The form of a text in which texts of the same words are equal, without white space except between digits."""
    return "".join(_fold(text[start:end], strength, markup) for start, end in _chunks(text))


def spelled(text: str, strength: Strength = Strength.SAME, markup: Markup = Markup.PLAIN) -> str:
    """The form in which values are equal: one space for white space, and hyphens are kept unless a line ends there."""
    if strength is Strength.SAME and markup is Markup.PLAIN and text.isascii() and not _ODD_ASCII.search(text):
        return one_spaced(text)
    return one_spaced("".join(_spell(text[start:end], strength, markup) for start, end in _chunks(text)))


def one_spaced(text: str, piece: int = 1_000_000) -> str:
    """`" ".join(text.split())`, piece by piece: a list of all words takes up to 20 times the memory of the text."""
    parts: list[str] = []
    apart = False  # whether white space lies between what was taken so far and what comes
    for start in range(0, len(text), piece):
        part = text[start : start + piece]
        words = " ".join(part.split())
        apart = bool(parts) and (apart or part[0].isspace())
        if words:
            parts += [" ", words] if apart else [words]
            apart = part[-1].isspace()
    return "".join(parts)


def caseless(text: str, markup: Markup = Markup.PLAIN) -> str:
    """The form in which values are equal whatever their capitals."""
    return spelled(text, markup=markup).casefold()


def place_among(name: str, names: Sequence[str]) -> int:
    """The place of a name among others, such as those of columns; of the same text if none is exactly so, else -1."""
    if name in names:
        return names.index(name)
    wanted = spelled(name)
    return next((place for place, other in enumerate(names) if spelled(other) == wanted), -1)


def contains_text(text: str, words: str, strength: Strength = Strength.SAME) -> bool:
    """Whether a text has these words, also inside longer words and with other white space."""
    wanted = _wanted(words, strength)
    return bool(wanted) and wanted in folded(text, strength)


def find_same_text(quote: str, source: str, markup: Markup = Markup.PLAIN) -> tuple[int, int] | None:
    """Where the source has the words of the quote in its own spelling, as first character and one after the last.

    Returns None if the source does not have them or is longer than MAX_CHARACTERS, if a short quote has several such
    places, if the ends of the quote cut a word or a number, or if the words are too far apart for one passage.
    """
    if len(source) > MAX_CHARACTERS:
        return None
    for marks in dict.fromkeys((Markup.PLAIN, markup)):
        wanted = _wanted(quote, Strength.SAME, marks)
        longest = 2 * len(quote) + (MAX_BETWEEN if marks is Markup.PLAIN else 4 * MAX_BETWEEN)
        view = (_kept if len(source) > _CHUNK else Folded)(source, Strength.SAME, marks)
        spans = islice(view.spans(wanted), MAX_CUT)
        places = (span for span in (_with_dashes(span, quote, source) for span in spans) if is_whole(source, *span))
        found = next(places, None)
        if found and (len(wanted) >= MIN_KEY or next(places, None) is None) and found[1] - found[0] <= longest:
            return found
    return None


def _with_dashes(span: tuple[int, int], quote: str, source: str) -> tuple[int, int]:
    """With the dashes at the ends of a quote, which are not looked for, where the source has them."""
    start, end = span
    if _is_dash(quote.lstrip()[:1]) and _is_dash(source[max(start - 1, 0) : start]):
        start -= 1
    if _is_dash(quote.rstrip()[-1:]) and _is_dash(source[end : end + 1]):
        end += 1
    return start, end


def _is_dash(character: str) -> bool:
    return _SIGNS.get(character, character) == "-"


def find_words(words: str, source: str, markup: Markup = Markup.PLAIN) -> tuple[int, int] | None:
    """The first place where the source has these words as the same text, with white space at the same places. It may be
    inside a longer word.
    """
    for marks in dict.fromkeys((Markup.PLAIN, markup)):
        wanted = _joined(words, Strength.SAME, Markup.PLAIN)
        for span in islice(Folded(source, markup=marks).spans(_wanted(words)), MAX_CUT):
            if _joined(source[slice(*span)], Strength.SAME, marks) == wanted:
                return span
    return None


class Sought:
    """A text in which nothing but a search for all that could be the same proves an absence."""

    def __init__(self, source: str, check: Callable[[], object] | None = None) -> None:
        self._source, self._check = source, check
        self._views = dict[tuple[Strength, Markup], Folded]()

    def occurrences(self, term: str) -> Iterator[Occurrence]:
        """Where something could be the term, in the order of the text but for what only looks like it or has marks
        between, which comes behind the rest. What is in a longer word counts as well.
        """
        for view, wanted in self._searches(term):
            for number, span in enumerate(view.spans(wanted)):
                if self._check:
                    self._check()
                if self._agrees(view, span, term):
                    yield Occurrence(*span, _doubt(self._source[slice(*span)], term, view.markup))
                elif number > MAX_LIKE:
                    yield Occurrence(*span, CROWDED)
                    return

    def first(self, term: str) -> Occurrence | None:
        """The first place without a doubt; else the first of all, None if there is none."""
        first = None
        for found in islice(self.occurrences(term), MAX_CUT):
            if not found.doubt:
                return found
            first = first or found
        return first

    def lines(self, term: str, limit: int) -> list[int]:
        """For each of the first lines in which something could be the term, where that begins."""
        found = dict[int, int]()
        for view, wanted in self._searches(term):
            at, left = view.text.find(wanted), limit
            while at >= 0 and left:
                if self._check:
                    self._check()
                span = next(view.spans(wanted, at))
                at += 1
                if self._agrees(view, span, term):
                    line = self._source.rfind("\n", 0, span[0]) + 1
                    found[line] = min(span[0], found.get(line, span[0]))
                    left -= 1
                    end = self._source.find("\n", span[0])
                    at = max(at, view.key_at(end)) if end >= 0 else len(view.text)
                at = view.text.find(wanted, at)
        return [found[line] for line in sorted(found)[:limit]]

    def _searches(self, term: str) -> Iterator[tuple[Folded, str]]:
        """The forms of the text that differ from each other, each with what is looked for in it."""
        plain, looks = _wanted(term, Strength.COULD_BE), _wanted(term, Strength.LOOKS)
        has_scripts = bool(_SCRIPTS.search(self._source))
        marked = _MARKS[Markup.MARKDOWN].search(self._source)
        markups = [Markup.PLAIN, *([Markup.MARKDOWN] if marked else [])] if plain else []
        for markup in markups:
            yield self._view(Strength.COULD_BE, markup), plain
            if has_scripts:
                yield self._view(Strength.LOOKS, markup), looks
            elif looks != plain:
                yield self._view(Strength.COULD_BE, markup), looks
        if _SPELLS.search(term) or _SPELLS.search(self._source):
            for markup in markups:
                yield self._view(Strength.SPELLINGS, markup), _wanted(term, Strength.SPELLINGS)

    def _view(self, strength: Strength, markup: Markup) -> Folded:
        key = strength, markup
        if key not in self._views:
            self._views[key] = Folded(self._source, strength, markup, self._check)
        return self._views[key]

    def _agrees(self, view: Folded, span: tuple[int, int], term: str) -> bool:
        """Whether there is white space where the term has some; where not, whether it begins and ends with words."""
        words = self._source[slice(*span)]
        edges = (self._source[max(at - 1, 0) : at + 1] for at in span)
        if words.casefold() == term.casefold() or not any(map(_IN_WORD.fullmatch, edges)):
            return True
        return any(
            _joined(spaced, strength, view.markup) == _joined(term, strength, Markup.PLAIN)
            for spaced in dict.fromkeys((words, _NO_WIDTH.sub(" ", words)))
            for strength in dict.fromkeys((view.strength, Strength.LOOKS))
        )


def _wanted(text: str, strength: Strength = Strength.SAME, markup: Markup = Markup.PLAIN) -> str:
    """The folded text as it is looked for: without dashes at its ends, which the source may have between letters."""
    wanted = _END_DASHES.sub("", folded(text, strength, markup))
    return wanted.rstrip(".") or wanted if strength is Strength.SPELLINGS else wanted


def _doubt(words: str, term: str, markup: Markup) -> str:
    strength = Strength.COULD_BE
    if _wanted(words, strength, markup) != _wanted(term, strength):
        strength = Strength.SPELLINGS
        return SPELLED if _wanted(words, strength, markup) == _wanted(term, strength) else ALIKE
    if _joined(words, Strength.COULD_BE, markup) != _joined(term, Strength.COULD_BE, Markup.PLAIN):
        return SPACED
    same = folded(words, markup=markup).casefold() == folded(term).casefold()
    return "" if same else ACCENTS


def _joined(text: str, strength: Strength, markup: Markup) -> str:
    """With its white space, but not where it says nothing: at hyphens, and in scripts that have none between words."""
    return _SPACE_THERE.sub("", spelled(text, strength, markup)).replace("- ", "-").replace("-", "")


class _Tables(NamedTuple):
    """What each character is folded to, with the patterns that find them. `mark`: what may have to be composed."""

    signs: dict[str, str]
    sign: re.Pattern[str]
    mark: re.Pattern[str]
    wide: dict[str, str]
    widened: re.Pattern[str]


@cache
def _tables() -> _Tables:
    every = "".join(map(chr, [*range(0x80, 0xD800), *range(0xE000, 0x2FA20), *range(0xE0000, 0xE1000)]))
    mark = _any_of(regex.findall(r"[\p{M}\u1100-\u11ff]|\p{NFC_QC=N}", every))
    dropped = re.compile(f"[{IGNORED}{_POINTS}]")
    signs = dict.fromkeys(dropped.findall(every), "")
    signs |= {char: unicodedata.normalize("NFKC", char) for char in re.findall(f"[{_COMPATIBLE}]", every)}
    signs |= {char: str(unicodedata.decimal(char)) for char in re.findall(r"\d", every)}
    narrow = ((char, unicodedata.decomposition(char)) for char in map(chr, range(0xFFA1, 0xFFDD)))
    signs |= {char: chr(int(form.split()[1], 16)) for char, form in narrow if form}  # no parts of syllables
    signs |= _RADICALS | _SIGNS
    for char in [char for char, form in signs.items() if form and form != char]:
        form = "".join(_SIGNS.get(one, one) for one in dropped.sub("", signs[char]))
        signs[char] = form.lstrip()
    signs = {char: form for char, form in signs.items() if form != char}
    wide = dict[str, str]()
    for code in (*range(0xAA, 0x250), *range(0x370, 0x590), *range(0x622, 0x6D4), *range(0x1E00, 0x2000)):
        char = chr(code)
        bare = unicodedata.normalize("NFD", unicodedata.normalize("NFD", char).casefold())
        bare = "".join(_STROKES.get(one, one) for one in bare if unicodedata.category(one) != "Mn")
        wide[char] = _ARABIC_ALIKE.get(bare, bare)
    wide |= {chr(code): unicodedata.normalize("NFKC", chr(code)).casefold() for code in _RAISED} | _FRAMED
    wide |= {chr(code): "" for code in range(0x300, 0x370)} | {"ı": "i", "İ": "i"}
    wide = {char: form for char, form in wide.items() if form != char}
    return _Tables(signs, _any_of(signs), mark, wide, _any_of(wide))


def _any_of(chars: Iterable[str]) -> re.Pattern[str]:
    """One of these characters as a class, in which Python looks characters up at once. It would go through those above
    U+FFFF one after the other, so that the class has all of them, if any.
    """
    codes = sorted({min(ord(char), _ABOVE) for char in chars})
    ranges = list[list[int]]()
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    if ranges[-1][1] == _ABOVE:
        ranges[-1][1] = sys.maxunicode
    return re.compile("[" + "".join(f"{re.escape(chr(one))}-{re.escape(chr(to))}" for one, to in ranges) + "]")


_COMPOSED = regex.compile(rf"\P{{M}}\p{{M}}{{1,{_MAX_MARKS}}}|[\u1100-\u11ff]{{1,{_MAX_MARKS}}}|\p{{NFC_QC=N}}")
_LOOK = str.maketrans(LOOK_ALIKES)


class _Text:
    """A chunk of a text while it is folded; with `aligned`, where each of its characters comes from."""

    def __init__(self, text: str, *, aligned: bool) -> None:
        self.text = text
        self.starts = array("I", range(len(text))) if aligned else None
        self.ends = array("I", range(1, len(text) + 1)) if aligned else None

    def edit(self, pattern: "re.Pattern[str] | regex.Pattern[str]", form: "Callable[[re.Match[str]], str]") -> None:
        if self.starts is None or self.ends is None:
            self.text = pattern.sub(form, self.text)  # type: ignore[arg-type]
            return
        parts, starts, ends, at = list[str](), array("I"), array("I"), 0
        for match in pattern.finditer(self.text):
            start, end = match.span()
            new = form(match)  # type: ignore[arg-type]
            parts += [self.text[at:start], new]
            starts += self.starts[at:start] + array("I", [self.starts[start]] * len(new) if new else [])
            ends += self.ends[at:start] + array("I", [self.ends[end - 1]] * len(new) if new else [])
            at = end
        if at:
            self.text = "".join([*parts, self.text[at:]])
            self.starts, self.ends = starts + self.starts[at:], ends + self.ends[at:]


def _fold(chunk: str, strength: Strength, markup: Markup) -> str:
    text = _Text(chunk, aligned=False)
    _fold_letters(text, strength, markup)
    _fold_layout(text)
    return text.text


def _spell(chunk: str, strength: Strength, markup: Markup) -> str:
    text = _Text(chunk, aligned=False)
    _fold_letters(text, strength, markup)
    return _ENDS_LINE.sub("", text.text)


@lru_cache(maxsize=64)
def _aligned(chunk: str, strength: Strength, markup: Markup) -> tuple[array[int], array[int]]:
    text = _Text(chunk, aligned=True)
    _fold_letters(text, strength, markup)
    _fold_layout(text)
    assert text.starts is not None
    assert text.ends is not None
    return text.starts, text.ends


def _fold_letters(text: _Text, strength: Strength, markup: Markup) -> None:
    if markup is not Markup.PLAIN:
        text.edit(_MARKS[markup], _without_mark)
    if not text.text.isascii():
        tables = _tables()
        text.edit(tables.sign, lambda match: tables.signs.get(match[0], match[0]))
        if tables.mark.search(text.text):
            text.edit(_COMPOSED, lambda match: unicodedata.normalize("NFC", match[0]))
        if "²" in text.text or "³" in text.text:
            text.edit(_POWER, lambda match: _SQUARED[match[0]])
        if strength is Strength.SPELLINGS:
            text.edit(_SPELLING, lambda match: _SPELLINGS[match[0]])
        if strength is Strength.LOOKS:
            text.text = text.text.translate(_LARGE_ALIKE)
        if strength is not Strength.SAME:
            text.edit(tables.widened, lambda match: tables.wide.get(match[0], match[0]))
    elif "`" in text.text or "\x02" in text.text:
        text.text = text.text.replace("`", "'").replace("\x02", "-")
    if strength is Strength.SPELLINGS:
        text.edit(_UNDERSCORE, lambda _: " ")
        text.edit(_BESIDE_SIGNS, lambda _: "")
        text.edit(_APOSTROPHE, lambda _: "")
        text.edit(_SAYS_LITTLE, lambda _: "")
        text.edit(_DECIMAL_COMMA, lambda _: ".")
    if strength is not Strength.SAME:
        text.text = text.text.lower() if text.text.isascii() else _casefold(text.text)
    if strength is Strength.LOOKS and not text.text.isascii():
        text.text = _NEXT_TO_LATIN.sub(lambda match: _SMALL_ALIKE[match[0]], text.text).translate(_LOOK)


def _casefold(text: str) -> str:
    """Without capitals, and as long as before: what would get longer has been folded by then."""
    small = text.casefold()
    return small if len(small) == len(text) else text.lower()


def _fold_layout(text: _Text) -> None:
    text.edit(_GAP, lambda match: f"{match[1]}{_GAP_MARK}")
    if text.starts is not None:
        text.edit(_SPACES, lambda _: "")
    else:
        text.text = text.text.translate(_ASCII) if text.text.isascii() else "".join(text.text.split())
    if "-" in text.text:
        text.edit(_BROKEN, lambda _: "")


def _without_mark(match: re.Match[str]) -> str:
    if match["entity"]:
        return html.unescape(match[0])
    return " " if match["block"] else match["escaped"] or ""


def _chunks(source: str) -> Iterator[tuple[int, int]]:
    """Where the chunks of a text begin and end; no word and no number is cut if there is any white space."""
    start, size = 0, len(source)
    while start < size:
        end = size
        if size - start > 2 * _CHUNK:
            cut = _CUT.search(source, start + _CHUNK, start + 2 * _CHUNK)
            end = cut.start() if cut else _before_letter(source, start + 2 * _CHUNK)
        yield start, end
        start = end


def _before_letter(source: str, at: int) -> int:
    """A place shortly before that no mark follows."""
    for place in range(at, at - _MAX_MARKS, -1):
        if not (unicodedata.category(source[place]).startswith("M") or "\u1100" <= source[place] <= "\u11ff"):
            return place
    return at
