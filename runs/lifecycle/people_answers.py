"""What a person said at a gate, as people read it: their own words first, then shortly what they are about."""

import re

from runs.contracts.feedback import Comment
from runs.models import Gate
from runs.text.truncate import quoted

_MAX_PLACE = 4_000
_BEGINNING = 60
"""Characters of a point that has no name of its own."""
_QUOTES = re.compile(r"On (point \d{1,6}|row \d{1,6} of [^“]{1,1000}) “(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Z]{1,4}-?\d{1,4}\b")
_LINK = re.compile(r"!?\[((?:\\.|[^\[\]\\])*+)\]\((?:<[^<>]*>?|[^()\s]*)\)?")
_MARKUP = re.compile(r"\*\*|`|\\(?=[!-/:-@\[-`{-~])")


def on_what(comment: Comment) -> str:
    """`on F3`, `on point 3, “…”`, `on row 2 of t.csv` or `on step 2 “Name”`, without markup; empty for the whole.

    A place that was stored ends where it was cut, perhaps within a link.
    """
    place = comment.place[:_MAX_PLACE]
    found = _QUOTES.match(place)
    if not found:
        return f"o{plain(place)[1:]}" if place else ""
    text = plain(found[2].removesuffix("”"))
    if name := _NAME.match(text):
        return f"on {name[0]}"
    return f"on {found[1]}" if found[1].startswith("row") else f"on {found[1]}, {quoted(text, _BEGINNING)}"


def said_at(gate: Gate) -> str:
    """All that was said with a decision; its `reason` has the same words, as models are told them."""
    return " · ".join(map(_with_subject, gate.comments)) or gate.reason


def _with_subject(comment: Comment) -> str:
    subject = on_what(comment)
    return f"{comment.text} ({subject})" if subject else comment.text


def plain(text: str) -> str:
    """The beginning of a Markdown text as it is read: links without their targets, no marks of bold or code."""
    text = text[:_MAX_PLACE]
    return _MARKUP.sub("", _LINK.sub(r"\1", text)).strip()
