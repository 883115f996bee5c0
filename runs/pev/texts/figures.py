"""Numbers as people write them in texts: with separators of thousands and the decimal marks of several countries."""

import re
from collections.abc import Iterator
from decimal import Decimal

MAX_DIGITS = 30
MAX_CHARACTERS = 80
_SPACES = " \u00a0\u202f\u2009"
_WHOLE = re.compile(
    rf"(?:(?<![\w.,])[-−])?(?<![0-9])(?:[0-9]{{1,3}}(?:[{_SPACES}][0-9]{{3}})+(?![0-9])(?:[.,][0-9]+)?"
    r"|[0-9]+(?:[.,'’][0-9]+)*)"
)
_ROUND_IT = re.compile(r"[^\w()]*(?:[A-Za-z]{1,3}[^\w()]*)?")
"""A currency sign or code; in brackets accountants mean less than nothing."""
_THOUSANDS = {".": ",", ",": "."}
"""By decimal mark what separates thousands, if not apostrophes or spaces do."""


def readings(text: str) -> dict[str, Decimal]:
    """The number by the decimal mark with which it can be read: 1,234 is 1.234 with a comma and 1234 with a point.

    Empty where the text is no number, or one of more than 30 digits.
    """
    match = _WHOLE.search(text) if len(text) <= MAX_CHARACTERS else None
    if match is None or not _ROUND_IT.fullmatch(text[: match.start()] + text[match.end() :].replace("+", "")):
        return {}
    return {mark: number for mark in _THOUSANDS if (number := _read(match[0], mark)) is not None}


def numbers_in(text: str) -> Iterator[Decimal]:
    """Every number in a text, without its sign, by each decimal mark with which it can be read."""
    for match in _WHOLE.finditer(text):
        if not text[match.start() - 1 : match.start()].isalnum():  # p23 is the name of a place
            yield from (abs(number) for mark in _THOUSANDS if (number := _read(match[0], mark)) is not None)


def whole_number(text: str, start: int, end: int) -> str:
    """The whole number that the characters from `start` to `end` are a part of: 1,046 where a pattern catches 046."""
    first = max(text.rfind("\n", 0, start) + 1, start - MAX_CHARACTERS)
    for match in _WHOLE.finditer(text, first, end + MAX_CHARACTERS):
        if match.start() <= start and end <= match.end():
            return match[0]
    return text[start:end]


def _read(written: str, mark: str) -> Decimal | None:
    whole, point, rest = written.lstrip("-−").partition(mark)
    separators = {character for character in whole if not character.isdigit()}
    first, *groups = re.split(r"[^0-9]", whole)
    if len(separators) > 1 or not separators <= {_THOUSANDS[mark], "'", "’", *_SPACES}:
        return None
    if (groups and not (first.strip("0") and len(first) <= 3)) or any(len(group) != 3 for group in groups):
        return None
    digits = "".join([first, *groups])
    if (point and not rest.isdecimal()) or len(digits + rest) > MAX_DIGITS:
        return None
    return Decimal(f"{'-' if written[0] in '-−' else ''}{digits}.{rest or '0'}").normalize()
