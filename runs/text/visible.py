"""What a text has that people do not see, or take for something else. Knows nothing of Django.

`marked` decides it for the whole product; `printable`, `visible_text`, `remarks` and `runs.text.visible` show it.

| marked | and ordinary where |
|---|---|
| control characters, line and paragraph separators, halves of surrogate pairs | a line feed, a tab, and CR before LF |
| overrides, embeddings and isolates of direction | |
| marks of direction (U+200E, U+200F, U+061C) | the text has letters that are written from right to left |
| characters of no width, tags, fillers: all that Unicode calls ignorable | |
| U+200C and U+200D | a letter of Arabic or an Indic script is before it, or U+200D joins two emoji |
| variation selectors | the character before it has variants: emoji, ideographs, Mongolian, signs |
| tags | they spell the flag of England, Scotland or Wales |
| more than eight marks on one letter | |
| words with letters of two alphabets, such as Latin and Cyrillic | Greek letters in units, formulas, names of genes |
| words of letters that all look like Latin ones | the text has other words in that alphabet |
| numbers with digits of two scripts | |

Letters of Chinese, Japanese, Korean, Arabic, Hebrew, Thai and Indic words stand next to Latin ones in ordinary texts.
Linear in the length of the text.

On a page, which is finished HTML of ours, what no one sees gets a sign in words next to it (`.odd` in `tokens.css`).
The character itself stays where it moves nothing, and browsers copy no sign: so what is copied is the same text.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import regex

from runs.text.ignorable import IGNORED
from runs.text.normalisation import LOOK_ALIKES
from runs.text.plural import list_with_and

MAX_NAMED = 8
"""Characters of one place that are named one by one. Of tags, ten times as many letters are shown."""

_CONTROL = "\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_ODD = re.compile(f"[{_CONTROL}{IGNORED}\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff\u2800]+")
_MARKS = regex.compile(r"(?<=\p{Mn}{8})\p{Mn}+")
_TOO_MANY_MARKS = re.compile("[\u0300-\u0fff\u135d-\u1fff\u20d0-\u20ff\u2de0-\ufe2f\U00010000-\U0010ffff]{9}")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_EMOJI = regex.compile(r"[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]")
_JOINED = regex.compile(
    "["
    + "".join(
        rf"\p{{scx={script}}}"
        for script in (
            *("Arabic", "Syriac", "Mandaic", "Mongolian", "Nko", "Phags_Pa", "Adlam", "Hanifi_Rohingya", "Sogdian"),
            *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam"),
            *("Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Balinese", "Javanese", "Sundanese", "Chakma"),
        )
    )
    + "--[\u200c\u200d]]",
    regex.V1,
)
"""Scripts whose letters join, or whose words have U+200C or U+200D between them."""
_VARIANTS = (
    ("\ufe0e\ufe0f", regex.compile(r"[\p{Emoji}\p{Sm}--[0-9#*]]", regex.V1)),
    ("\ufe00", regex.compile(r"[\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Sm}]")),
    ("\ufe00\ufe01", regex.compile("[\u3000-\u303f\uff01-\uff60]")),
    ("\u180b\u180c\u180d\u180e\u180f", regex.compile(r"\p{Script=Mongolian}")),
)
_KEYCAP = re.compile("[0-9#*]\ufe0f\u20e3")
_HAN, _JAMO = regex.compile(r"\p{Script=Han}"), re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
_FLAGS = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in code) for code in ("gbeng", "gbsct", "gbwls"))
_FLAG = re.compile(f"\U0001f3f4(?P<tags>(?:{_FLAGS})\U000e007f)")

_ALPHABETS = {
    "phonetic": r"[\u0250-\u02af\u1d00-\u1d7f\ua78c]",
    "full-width": r"[\uff21-\uff3a\uff41-\uff5a]",
    "mathematical": r"[\u2102\u210a-\u2112\u2115\u2119-\u211d\u212a\u212c-\u2131\u2133\u2134\U0001d400-\U0001d7cb]",
    "Roman numeral": r"[\u2160-\u217f]",
} | {
    script.replace("_", " "): rf"\p{{Script={script}}}"
    for script in (
        *("Latin", "Cyrillic", "Greek", "Armenian", "Georgian", "Cherokee", "Coptic", "Lisu", "Canadian_Aboriginal"),
        *("Deseret", "Osage", "Tifinagh", "Glagolitic", "Gothic", "Old_Italic", "Warang_Citi", "Runic", "Carian"),
    )
}
"""Alphabets that share shapes, so that a word of letters from two of them may be read as another word."""
_STYLED = ("phonetic", "full-width", "mathematical", "Roman numeral")
"""Other shapes of Latin letters. A word with only these is what it looks like."""
_ALPHABET = tuple((name, regex.compile(pattern)) for name, pattern in _ALPHABETS.items())
_OTHERS = re.compile(
    "[\u0250-\u02af\u0370-\u058f\u10a0-\u10ff\u13a0-\u167f\u16a0-\u16ff\u1c80-\u1cbf\u1d00-\u1d7f\u1f00-\u1fff\u2100-\u2188"
    "\u2c00-\u2dff\ua4d0-\ua4ff\ua640-\ua69f\ua78c\uab70-\uabbf\uff21-\uff5a\U00010000-\U0010ffff]"
)
_WORD = regex.compile(r"[\p{L}\p{M}\p{Nl}]+")
_LATIN = re.compile("[A-Za-z]")
_NUMBER = regex.compile(r"\p{Nd}{2,}")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_SMALL_UNLIKE = frozenset("\u0432\u043a\u043c\u043d\u0442\u03b2\u03b5\u03b6\u03bc\u03c4")
"""Small letters of which only the capitals look like Latin letters."""
_JOINT = frozenset(".@_/\\:-")
"""Characters inside addresses, paths and names."""
MIN_ALIKE = 4
"""Letters of a word that looks like a Latin one, in a text without Latin letters. Shorter words are often real ones."""
_NAMED = " ‹{}›"
_NAMES = {
    "\u200b": "zero width space",
    "\ufeff": "byte order mark",
    "\x1b": "escape",
    "\r": "carriage return",
    "\x08": "backspace",
    "\0": "null",
}


class VisiblePart(NamedTuple):
    """A part of a text. `sign`: what stands for it, or beside it if `is_word`; `why`: what it is, in words; both are
    empty for all that is read as it is meant.
    """

    text: str
    sign: str = ""
    why: str = ""
    is_word: bool = False


def is_plain(text: str) -> bool:
    """Whether nothing in a text has to be looked at more closely. Fast, and true for almost every text."""
    if text.isascii():
        return not _ODD.search(text)
    return not (_ODD.search(text) or _OTHERS.search(text) or _TOO_MANY_MARKS.search(text) or _OTHER_DIGIT.search(text))


def marked(text: str) -> Iterator[VisiblePart]:
    """The whole text in parts, those that people do not see or may misread with a sign and a reason."""
    at = 0
    for start, end, sign, why, is_word in sorted([*_unseen(text), *_mixed(text)]) if not is_plain(text) else ():
        if start < at or (is_word and text.startswith(_NAMED.format(sign), end)):
            continue
        if at < start:
            yield VisiblePart(text[at:start])
        yield VisiblePart(text[start:end], sign, why, is_word)
        at = end
    if at < len(text):
        yield VisiblePart(text[at:])


def printable(text: str) -> str:
    """The text with every character that a terminal would obey, or not show, written out as `\\u001b`.

    Line feeds and tabs stay. A text that is JSON stays the same JSON: such characters stand inside its strings only.
    """
    text = text.replace("\r\n", "\n")
    if not _ODD.search(text) and not _TOO_MANY_MARKS.search(text):
        return text
    parts, at = list[str](), 0
    for start, end, *_ in sorted(_unseen(text)):
        parts += [text[at:start], _escape(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def visible_text(text: str) -> str:
    """`printable`, with the alphabets of a word behind it: `p\u0430ypal ‹Latin + Cyrillic›`. No JSON afterwards."""
    text = text.replace("\r\n", "\n")
    if is_plain(text):
        return text
    return "".join(
        f"{part.text}{_NAMED.format(part.sign)}" if part.is_word else _escape(part.text) if part.sign else part.text
        for part in marked(text)
    )


def remarks(text: str) -> list[str]:
    """The remarks on a text, as sentences, each once."""
    found: dict[str, int] = {}
    for part in marked(text):
        if part.is_word:
            found[f"“{part.text[:60]}”: {part.why}."] = 1
        elif part.sign:
            for char in part.text:
                found[name_of(char)] = found.get(name_of(char), 0) + 1
    return [what if what.endswith(".") else f"{count:,} × {what}." for what, count in found.items()]


def name_of(char: str) -> str:
    """`U+202E right-to-left override`."""
    name = _NAMES.get(char) or unicodedata.name(char, "control character" if ord(char) < 0xA0 else "").lower()
    return f"U+{ord(char):04X} {name}".strip()


def _escape(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


type _Found = tuple[int, int, str, str, bool]


def _unseen(text: str) -> Iterator[_Found]:
    """The places of characters that are invisible, or that move others."""
    is_rtl: bool | None = None
    flags = {match.start("tags"): match.end() for match in _FLAG.finditer(text)} if "\U0001f3f4" in text else {}
    for match in _ODD.finditer(text):
        begin = at = match.start()
        while at < match.end():
            if at in flags:
                after = flags[at]
            elif text[at] in "\u200e\u200f\u061c":
                is_rtl = bool(_RIGHT_TO_LEFT.search(text)) if is_rtl is None else is_rtl
                after = at + 1 if is_rtl else at
            else:
                after = at + _is_ordinary(text, at)
            if after > at:
                if begin < at:
                    yield _sign_of(text, begin, at)
                begin = at = after
            else:
                at += 1
        if begin < at:
            yield _sign_of(text, begin, at)
    if _TOO_MANY_MARKS.search(text):
        for many in _MARKS.finditer(text):
            count = many.end() - many.start()
            yield many.start(), many.end(), f"{count:,} more marks", "marks that are stacked on one letter", False


def _is_ordinary(text: str, at: int) -> bool:
    """Whether an invisible character has its usual purpose at this place."""
    char, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if char == "\r":
        return after == "\n"
    if char == "\u2800":
        return "\u2800" < before <= "\u28ff" or "\u2800" < after <= "\u28ff"
    if char == "\u034f":
        return bool(before) and unicodedata.combining(before) > 0
    if char in "\u115f\u1160":
        return bool(_JAMO.match(before) or _JAMO.match(after))
    if char == "\u200d" and _EMOJI.match(before):
        return bool(_EMOJI.match(after))
    if char in "\u200c\u200d":
        return bool(_JOINED.match(before))
    if "\U000e0100" <= char <= "\U000e01ef":
        return bool(_HAN.match(before))
    if char == "\ufe0f" and _KEYCAP.match(text, at - 1 if at else 0):
        return True
    return any(char in selectors and base.match(before) for selectors, base in _VARIANTS)


def _sign_of(text: str, start: int, end: int) -> _Found:
    chars = text[start:end]
    said = "".join(chr(ord(char) - 0xE0000) for char in chars[: 10 * MAX_NAMED] if "\U000e0020" <= char <= "\U000e007e")
    if said:
        more = "…" if len(chars) > 10 * MAX_NAMED else ""
        return start, end, f"hidden “{said}{more}”", f"{len(chars):,} tag characters, which no one sees", False
    runs = [(char, len(list(same))) for char, same in groupby(chars[: 10 * MAX_NAMED])]
    named = [f"U+{ord(char):04X}{f' × {count}' if count > 1 else ''}" for char, count in runs[:MAX_NAMED]]
    left = len(chars) - sum(count for _, count in runs[:MAX_NAMED])
    if left:
        named.append(f"and {left:,} more")
    return start, end, " ".join(named), ", ".join(dict.fromkeys(map(name_of, chars[:MAX_NAMED]))), False


def _mixed(text: str) -> Iterator[_Found]:
    """The words that mix two alphabets, or use an alphabet that looks like another; also numbers."""
    if _OTHER_DIGIT.search(text):
        for match in _NUMBER.finditer(text):
            if len({ord(digit) - unicodedata.decimal(digit) for digit in match[0]}) > 1:
                yield match.start(), match.end(), "digits of two scripts", "digits of two scripts in one number", True
    if not _OTHERS.search(text):
        return
    alike, unlike = list[tuple[int, int, str]](), set[str]()
    for match in _WORD.finditer(text):
        word = match[0]
        if word.isascii() or not _OTHERS.search(word):
            continue
        names = dict.fromkeys(filter(None, map(alphabet_of, word)))
        if len(names) > 1 and not _is_usual_mixture(word, names):
            listed = sorted(names, key=lambda name: name != "Latin")
            yield *match.span(), " + ".join(listed), f"{list_with_and(listed)} letters in one word", True
        elif len(names) == 1 and (name := next(iter(names))) != "Latin" and name not in _STYLED:
            if all(map(looks_latin, word)):
                alike.append((*match.span(), name))
            else:
                unlike.add(name)
    has_latin = bool(_LATIN.search(text))
    for start, end, name in alike:
        before, after = text[max(0, start - 2) : start], text[end : end + 2]
        is_joined = bool(
            (len(before) == 2 and before[1] in _JOINT and _LATIN.match(before[0]))
            or (len(after) == 2 and after[0] in _JOINT and _LATIN.match(after[1]))
        )
        enough = (1 if name != "Greek" else 2) if has_latin else MIN_ALIKE
        if end - start >= enough and (is_joined or name not in unlike):
            yield start, end, f"all {name}", f"{name} letters that look like Latin ones", True


@lru_cache(maxsize=4096)
def alphabet_of(char: str) -> str:
    """The alphabet of a letter, if it shares shapes with other alphabets."""
    return next((name for name, pattern in _ALPHABET if pattern.match(char)), "")


def looks_latin(char: str) -> bool:
    """Whether a letter of another alphabet looks like a Latin one."""
    return char not in _SMALL_UNLIKE and (char in LOOK_ALIKES or char.lower() in LOOK_ALIKES)


def _is_usual_mixture(word: str, names: dict[str, None]) -> bool:
    """Greek letters in units, formulas and names of genes (`TNFα`, `kΩ`), and phonetic letters in a transcription."""
    latin = [char for char in word if alphabet_of(char) == "Latin"]
    others = [char for char in word if alphabet_of(char) not in {"", "Latin"}]
    if latin and not any(map(str.isascii, latin)) and set(names) & set(_STYLED):
        return True  # raised letters, as in a formula
    if set(names) == {"Latin", "Greek"}:
        is_gene = len(others) == 1 and others[0].islower() and all(map(str.isupper, latin))
        return is_gene or not any(map(looks_latin, others))
    return set(names) == {"Latin", "phonetic"} and not all(map(looks_latin, others))


MAX_SIGNS = 2_000
"""Elements that a page may get. Later characters are escaped, which takes a tenth of the room."""

_TOKEN = re.compile(r"""<!--.*?-->|<[a-zA-Z/!](?:[^<>"']|"[^"]*"|'[^']*')*>""", re.DOTALL)
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)")
_ATTRIBUTE = re.compile(r"""(\s(?:title|aria-label|alt|placeholder|label|data-said)=)("[^"]*"|'[^']*')""")
_VALUE = re.compile(r"""\svalue=("[^"]*"|'[^']*')""")
_IS_TYPED = re.compile(r"""^<input(?![^>]*\stype=["']?+(?!text|search|email|url))""")
_KEPT = frozenset({"script", "style", "textarea"})
"""Elements with texts that a browser does not show, or sends back unchanged."""
_WITHOUT_ELEMENTS = frozenset({"title", "option", "svg"})
_IS_NOTED = '<small class="odd-note">'
_IS_SIGNED = '<span class="odd"'
_GONE = re.compile("[\0\ud800-\udfff]")
"""Characters for which HTML has no reference."""


def make_visible(page: str) -> str:
    """The page or a part of it, with what people miss or may misread made visible. Applied twice it is the same."""
    if is_plain(page):
        return page
    return "".join(_Page().shown(page))


class _Page:
    def __init__(self) -> None:
        self._signs = 0
        self._typed = ""
        self._inside: list[str] = []

    def shown(self, page: str) -> Iterator[str]:
        at = 0
        for match in _TOKEN.finditer(page):
            yield self._text(page[at : match.start()])
            tag, note = self._tag(match[0])
            yield tag if page.startswith(_IS_NOTED, match.end()) else tag + note
            at = match.end()
        yield self._text(page[at:])

    def _tag(self, tag: str) -> tuple[str, str]:
        """The tag, with a remark after it. Remembers which element the next text is in."""
        named = _TAG.match(tag)
        if not named:
            return tag, ""
        name = named[1].lower()
        note = ""
        if self._inside and self._inside[-1] in _KEPT | {"signed"}:
            if tag.startswith("</") and name == self._inside[-1].replace("signed", "span"):
                note = self._note() if self._inside.pop() == "textarea" else ""
        elif tag.startswith("</"):
            if self._inside and self._inside[-1] == name:
                self._inside.pop()
        elif tag.startswith(_IS_SIGNED):
            self._inside.append("signed")
        elif name in _KEPT | _WITHOUT_ELEMENTS and not tag.endswith("/>"):
            self._inside.append(name)
        if is_plain(tag):
            return tag, note
        if _IS_TYPED.match(tag) and (value := _VALUE.search(tag)):
            note = _note_on(html.unescape(value[1][1:-1]))
        return _ATTRIBUTE.sub(_attribute, tag), note

    def _text(self, text: str) -> str:
        if is_plain(text):
            return text
        inside = self._inside[-1] if self._inside else ""
        if inside == "textarea":
            self._typed = html.unescape(text)
        if inside in _KEPT or inside == "signed":
            return text
        words = html.unescape(text)
        if inside or self._signs >= MAX_SIGNS:
            return html.escape(visible_text(words))
        return "".join(map(self._part, marked(words)))

    def _note(self) -> str:
        typed, self._typed = self._typed, ""
        return _note_on(typed)

    def _part(self, part: VisiblePart) -> str:
        if not part.sign:
            return html.escape(part.text)
        self._signs += 1
        if self._signs > MAX_SIGNS:
            return html.escape(visible_text(part.text))
        why, sign = html.escape(part.why), html.escape(part.sign)
        if part.is_word:
            return f'{_IS_SIGNED} title="{why}"><bdi>{html.escape(part.text)}</bdi><b>{sign}</b></span>'
        same = "".join(_reference(char) for char in _GONE.sub("", part.text))
        return f'{_IS_SIGNED} title="{why}"><b>{sign}</b><bdi class="unseen">{same}</bdi></span>'


def _reference(char: str) -> str:
    """A character by its number, and as it is if HTML gives its number another meaning."""
    return char if "\x7f" <= char <= "\x9f" else f"&#{ord(char)};"


def _attribute(match: re.Match[str]) -> str:
    quote = match[2][0]
    return f"{match[1]}{quote}{html.escape(visible_text(html.unescape(match[2][1:-1])))}{quote}"


def _note_on(typed: str) -> str:
    """The remark next to a field. In the field the characters stay unchanged, because it is sent back."""
    said = remarks(typed)
    if not said:
        return ""
    more = f" And {len(said) - 5} more." if len(said) > 5 else ""
    return f"{_IS_NOTED}{html.escape('In this field: ' + visible_text(' '.join(said[:5])))}{more}</small>"
