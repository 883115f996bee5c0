"""Characters that act on a screen instead of being read: escape sequences, reordering, hidden text."""

import re

REORDERING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""As a character class: they make a text read as another one (`exe.txt` for `txt.exe`)."""
_CONTROL = "\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_HIDDEN = "\ufff9-\ufffb\U000e0000-\U000e007f"
_ACTING = re.compile(f"[{_CONTROL}{_HIDDEN}{REORDERING}]")


def printable(text: str) -> str:
    """The text with every character that a terminal would obey, or not show, written out as `\\u001b`.

    Line feeds and tabs stay. A text that is JSON stays the same JSON: such characters stand inside its strings only.
    """
    return _ACTING.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
