"""Numbers as Word writes them: 4, iv, D, fourth, 04."""

from collections.abc import Callable, Mapping
from functools import partial

from runs.text.number_words import ENGLISH, ENGLISH_TENS
from runs.text.plural import ordinal

MAX_NUMBER = 32_767
"""The highest that Word numbers to."""
_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")),
    *((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_MAX_ROMAN = 4_999
_MAX_LETTERS = 780
"""Beyond it a letter would stand there more than thirty times."""
_TENS = ("", "ten", *ENGLISH_TENS)
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_FOOTNOTE_SIGNS = "*†‡§"


def written(number: int, style: str) -> str:
    """A number in a style of Word's (`numFmt`); in one that is not known here, in digits."""
    if style.startswith("0"):  # of the form "001, 002, 003, ..."
        return f"{number:0{min(len(style.partition(',')[0]), 9)}}"
    write = _STYLES.get(style)
    return write(number) if write and number >= 0 else str(number)


def _roman(number: int) -> str:
    if number > _MAX_ROMAN:
        return str(number)
    found = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        found += sign * times
    return found


def _letters(number: int) -> str:
    """After z comes aa, then bb."""
    if not 1 <= number <= _MAX_LETTERS:
        return str(number) if number else ""
    times, letter = divmod(number - 1, 26)
    return chr(ord("A") + letter) * (times + 1)


def _words(number: int) -> str:
    if number >= 1_000:
        return str(number)
    hundreds, rest = divmod(number, 100)
    words = [f"{ENGLISH[hundreds]} hundred"] if hundreds else []
    if rest >= 20:
        tens, ones = divmod(rest, 10)
        words.append(_TENS[tens] + (f"-{ENGLISH[ones]}" if ones else ""))
    elif rest or not hundreds:
        words.append(ENGLISH[rest])
    return " ".join(words)


def ordinal_words(number: int) -> str:
    if number >= 1_000:
        return ordinal(number)
    words = _words(number)
    at = max(words.rfind("-"), words.rfind(" ")) + 1
    last = words[at:]
    ending = _ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return words[:at] + ending


def _repeated(signs: str, number: int) -> str:
    times, sign = divmod(number - 1, len(signs))
    return signs[sign] * min(times + 1, 30) if number else ""


def _circled(number: int) -> str:
    return _CIRCLED[number - 1] if 1 <= number <= len(_CIRCLED) else str(number)


_STYLES: Mapping[str, Callable[[int], str]] = {
    "none": lambda number: "",
    "decimalZero": lambda number: f"{number:02}",
    "upperRoman": _roman,
    "lowerRoman": lambda number: _roman(number).lower(),
    "upperLetter": _letters,
    "lowerLetter": lambda number: _letters(number).lower(),
    "ordinal": ordinal,
    "cardinalText": lambda number: _words(number).capitalize(),
    "ordinalText": lambda number: ordinal_words(number).capitalize(),
    "decimalEnclosedParen": lambda number: f"({number})",
    "decimalEnclosedFullstop": lambda number: f"{number}.",
    "decimalEnclosedCircle": _circled,
    "numberInDash": lambda number: f"- {number} -",
    "hex": lambda number: f"{number:X}",
    "chicago": partial(_repeated, _FOOTNOTE_SIGNS),
}
