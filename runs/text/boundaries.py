"""Whether words that were found in a text are whole there. “5 days” is in “15 days”, and “valid” in “invalid”; both say
something else.
"""

import re

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_REACH = 12
"""Characters on either side that decide."""
_WITHIN = frozenset(".,'’/:")
"""Between two digits they are a part of the number, or of the date or time."""
_SIGNS = frozenset("-−±<>≤≥")
_GROUP_BEFORE = re.compile(r"(?<!\d)\d{1,3}[ \xa0\u2009\u202f]?\Z")
_GROUP_AFTER = re.compile(r"[ \xa0\u2009\u202f]?\d{3}(?!\d)")
"""The parts of 1 000."""


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether a passage begins and ends neither inside a number nor inside a word of a script that has capitals: only
    those surely put spaces between words.
    """
    return not (_cuts(text, start) or _cuts(text, end))


def _cuts(text: str, at: int) -> bool:
    before = _UNSEEN.sub("", text[max(at - _REACH, 0) : at])
    after = _UNSEEN.sub("", text[at : at + _REACH])
    if not before or not after:
        return False
    left, right = before[-1], after[0]
    if _has_case(left) and _has_case(right):
        return not (left.islower() and right.isupper())  # so words are joined where a PDF file leaves out a space
    if left.isdecimal() and (right.isdecimal() or _has_case(right)):
        return True
    if left in _WITHIN and before[-2:-1].isdecimal() and right.isdecimal():
        return True
    if left.isdecimal() and right in _WITHIN and after[1:2].isdecimal():
        return True
    if left in _SIGNS and right.isdecimal():
        return not before[-2:-1].isalnum()  # 20 of 10-20 is a number
    is_at_space = left.isspace() is not right.isspace()
    return is_at_space and bool(_GROUP_BEFORE.search(before) and _GROUP_AFTER.match(after))


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()
