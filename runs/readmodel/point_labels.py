"""What an item of a report begins with: the id that it carries, and the kind that it names."""

import re

_ID = r"[A-Z]{1,4}[-.]?\d{1,4}(?:\.\d{1,3}){0,2}"
_MARKED_ID = re.compile(rf"(\*\*|__|`|\[|\()?({_ID})(\*\*|__|`|\]|\))?")
_CLOSING = {"**": "**", "__": "__", "`": "`", "[": "]", "(": ")", "": ")"}
_BEHIND = re.compile(r"\s*[:–—|]\s*|\.\s+|\s+-\s+")
_PLACE = re.compile(r"\s{1,9}(?=\([^\n]{1,300}?, line \d)")
_KIND = re.compile(r"(\*\*|__)([^*_\n]{1,40}?)(:?)\1(\s*[:–—]\s*|\s+-\s+)?")


def is_id(text: str) -> bool:
    """Whether this is an id such as F12, marked or not, and nothing else."""
    return re.fullmatch(_ID, text.strip("*_` ")) is not None


def labelled(text: str) -> tuple[str, str]:
    """The id with which an item begins, such as F12, and what stands behind it; no id where words may go on, as in
    “Q3 was good”.
    """
    match = _MARKED_ID.match(text)
    if not match:
        return "", text
    opened, closed, rest = match[1] or "", match[3] or "", text[match.end() :]
    behind = _BEHIND.match(rest)
    if closed and (closed != _CLOSING[opened] or not (behind or rest[:1].isspace())):
        return "", text
    if not closed:
        behind = behind or (None if opened else _PLACE.match(rest))
        if not behind or opened not in ("", "**", "__"):
            return "", text
    left = (rest[behind.end() :] if behind else rest).strip()
    return (match[2], f"{'' if closed else opened}{left}") if left else ("", text)


def kind_of(text: str) -> tuple[str, str]:
    """The bold label with which an item begins and what stands behind it; none where a sentence goes on in bold."""
    match = _KIND.match(text)
    rest = text[match.end() :].strip() if match and (match[3] or match[4]) else ""
    return (match[2].strip(), rest) if match and rest else ("", text)
