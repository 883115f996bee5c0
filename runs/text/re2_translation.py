"""Regular expressions as people and models write them, put into the form that RE2 takes, or refused in words.

RE2 has no look-around and no back-references, which is why it searches in linear time. Classes mean what they mean in
Python: digits, letters and spaces of all scripts, where RE2 knows those of ASCII. Only \\b stays as it is in RE2.
"""

from collections.abc import Iterator
from string import hexdigits

from runs.errors import InvalidInput

TOO_MANY_REPEATS = "its counted repeats come to more than 1,000; use + or * instead"
_LETTERS = r"\p{L}\p{M}\p{N}_"
_NO_LETTERS = r"\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\x{203f}\x{2040}\x{2054}\p{S}\p{Z}"
_SPACES = r"\t-\r\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_NO_SPACES = (
    r"\x00-\x08\x0e-\x1f\x21-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}"
    r"\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff}"
)
_CLASSES = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": _LETTERS,
    "W": _NO_LETTERS,
    "s": _SPACES,
    "S": _NO_SPACES,
    "h": r"\t\p{Zs}",
}
_NEGATED = {"W": f"[^{_LETTERS}]", "S": f"[^{_SPACES}]"}  # outside of a class the shorter form will do
_HEX = {"u": 4, "U": 8}
_GROUPS = {
    "?=": "look-ahead (?=…)",
    "?!": "look-ahead (?!…)",
    "?<=": "look-behind (?<=…)",
    "?<!": "look-behind (?<!…)",
    "?P=": "a back-reference (?P=…)",
    "?>": "an atomic group (?>…)",
    "?(": "a condition (?(…)…)",
    "?#": "a comment (?#…)",
}


def in_re2(pattern: str) -> str:
    """The pattern for RE2. Raises InvalidInput with a part of a sentence for what RE2 lacks or takes otherwise."""
    tokens = list(_tokens(pattern))
    if any(written in {r"\b", r"\B"} for written, _ in tokens):
        _refuse_unseen_letters([written for written, _ in tokens])
    return "".join(meant for _, meant in tokens)


def _tokens(pattern: str) -> Iterator[tuple[str, str]]:
    """Each part as it is written and as RE2 takes it; a class is one part."""
    at = 0
    while at < len(pattern):
        written = pattern[at]
        meant = written
        if written == "\\":
            written, meant = _escape(pattern, at, in_class=False)
        elif written == "[":
            written, meant = _class(pattern, at)
        elif written == "(":
            _refuse_group(pattern[at + 1 : at + 40])
        elif written == "{":
            meant = _count(pattern[at + 1 : at + 40].partition("}")[0])
        yield written, meant
        at += len(written)


def _count(bounds: str) -> str:
    """The brace before the bounds of a repeat. RE2 would take {,3} and counts of many digits for mere text."""
    least, comma, most = bounds.partition(",")
    if not all(digits.isdecimal() for digits in (least, most) if digits):
        return "{"
    if len(least) > 4 or len(most) > 4:
        raise InvalidInput(TOO_MANY_REPEATS)
    return "{0" if comma and most and not least else "{"


def _escape(pattern: str, at: int, *, in_class: bool) -> tuple[str, str]:
    """The escape that begins there, as it is written and as RE2 takes it."""
    kind = pattern[at + 1 : at + 2]
    written = pattern[at : at + 2]
    if kind in _CLASSES:
        members = _CLASSES[kind]
        return written, members if in_class else _NEGATED.get(kind, f"[{members}]")
    if digits := _HEX.get(kind):
        code = pattern[at + 2 : at + 2 + digits]
        if len(code) == digits and all(digit in hexdigits for digit in code):
            return written + code, rf"\x{{{code}}}"
    if kind == "b" and in_class:
        return written, r"\x08"
    if kind == "Z":
        return written, r"\z"
    if kind in {"1", "2", "3", "4", "5", "6", "7", "8", "9", "k", "g"}:
        raise InvalidInput(f"a back-reference {written} is not supported; write out what it stands for")
    if kind in {"C", "Q", "E"}:  # RE2 has them, and nobody else means the same by them
        raise InvalidInput(f"{written} is not supported; write the pattern without it")
    return written, written


def _class(pattern: str, start: int) -> tuple[str, str]:
    """The class [...] that begins there, as it is written and as RE2 takes it."""
    at = start + 1 + (pattern[start + 1 : start + 2] == "^")
    meant = [pattern[start:at]]
    first = True  # as the first member ] stands for itself
    while at < len(pattern) and (first or pattern[at] != "]"):
        if pattern[at] == "\\":
            written, member = _escape(pattern, at, in_class=True)
        elif pattern[at : at + 2] == "[:" and (end := pattern.find(":]", at)) > 0:
            written = member = pattern[at : end + 2]
        else:
            written = member = pattern[at]
        meant.append(member)
        at, first = at + len(written), False
    return pattern[start : at + 1], "".join(meant) + pattern[at : at + 1]


def _refuse_group(after: str) -> None:
    for sign, name in _GROUPS.items():
        if after.startswith(sign):
            raise InvalidInput(f"{name} is not supported; write the pattern without it")
    if after.startswith("?") and "x" in after[1:].partition(":")[0].partition(")")[0].partition("<")[0]:
        raise InvalidInput("the flag x is not supported; write the pattern without it")


def _refuse_unseen_letters(written: list[str]) -> None:
    """RE2's \\b takes letters such as ä for spaces, so that it matches neither before nor after one at an edge."""
    for before, letter, after in zip(["", *written], written, [*written[1:], ""], strict=False):
        if letter.isalpha() and not letter.isascii() and not (before.isalnum() and after.isalnum()):
            raise InvalidInput(
                rf"\b and \B know the letters a to z only and take no notice of “{letter}”; "
                r"write (?:^|\W) or (?:\W|$) in their place"
            )
