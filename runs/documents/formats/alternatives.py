"""The alternatives of one mail, such as its text and its HTML: whether they say the same, and what to show if not."""

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from runs.documents.formats.mails import Line
from runs.text.normalisation import caseless

MAX_WORDS = 6
"""Of the first difference, in a caution."""
_NO_WORDS = re.compile(
    r"^[ \t]*o[ \t]{2,}|\[(?:cid|image|bild|inline image)\b[^\]\n]{0,300}\]"
    r"|<?\b(?:https?|ftp|mailto|tel|cid):[^\s<>]{1,4000}>?",
    re.IGNORECASE | re.MULTILINE,
)
"""What only one of the alternatives may spell out: bullets of Outlook, names of pictures, addresses of links."""
_HYPHEN_AT_END = re.compile(r"(?<=\w-)[ \t]*\n[ \t]*(?=\w)")
"""Mail programs break lines behind a hyphen, and put none into words."""
_WORD = re.compile(r"(?<!\w)[-−–](?=[€$£¥]?\d)|[€$£¥₹%‰]|\d+(?:[.,:'’]\d+)*|[^\W\d_]+")
"""Words and figures, with the signs that change what a figure says."""


class Alternative(NamedTuple):
    """`name`: what people call it, such as “HTML”."""

    name: str
    lines: Sequence[Line]


def put_together(shown: Alternative, others: Sequence[Alternative]) -> tuple[list[Line], list[str]]:
    """The lines of the alternative that is shown, and behind them all of each other one that says something else; and
    cautions that say so.
    """
    lines, cautions = list(shown.lines), list[str]()
    known = [_words(shown.lines)]
    for other in others:
        words = _words(other.lines)
        if not words or words in known:
            continue
        ours, theirs = _difference(known[0], words)
        known.append(words)
        lines += [Line(""), Line(f"[The {other.name} of this mail says something else:]"), Line(""), *other.lines]
        cautions.append(
            f"The {other.name} of the mail says something else than its {shown.name}: {theirs} instead of {ours}. "
            "Both were read."
        )
    return lines, cautions


def _words(lines: Sequence[Line]) -> list[str]:
    """In their order, as people see them: without what is hidden, and however it is spelt."""
    text = "\n".join(f"{line.label} {_visible(line)}" for line in lines)
    return _WORD.findall(caseless(_HYPHEN_AT_END.sub("", _NO_WORDS.sub(" ", text))))


def _visible(line: Line) -> str:
    text = line.text
    for start, end in sorted(line.hidden, reverse=True):
        text = text[:start] + text[end:]
    return text


def _difference(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, str]:
    """The words from the first difference on, in both."""
    pairs = enumerate(zip_longest(ours, theirs))
    at = next(at for at, (one, other) in pairs if one != other)
    return _excerpt(ours[at:]), _excerpt(theirs[at:])


def _excerpt(words: Sequence[str]) -> str:
    more = " …" if len(words) > MAX_WORDS else ""
    return f"“{' '.join(word[:30] for word in words[:MAX_WORDS])}{more}”" if words else "nothing"
