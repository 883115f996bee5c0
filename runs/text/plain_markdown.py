"""Markdown as people read it in one line or paragraph: without markup, where it is not rendered."""

import re
from urllib.parse import unquote

_MAX_PLAIN = 4_000
_LINK = re.compile(r"!?\[((?:\\.|[^\[\]\\])*+)\]\((?:<[^<>]*>?|[^()\s]*)\)?")
_LINK_WITH_TARGET = re.compile(r"!?\[((?:\\.|[^\[\]\\])*+)\]\((?:<([^<>]*)>|([^()\s]*))\)")
_LINE_MARK = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?")
_MARKUP = re.compile(r"\*\*|`|\\(?=[!-/:-@\[-`{-~])")
_ESCAPED = re.compile(r"\\(?=[<>])")
_PAIRED = re.compile(r"\*\*(?=\S)([^*\n]{0,2000}[^*\s])\*\*|`([^`\n]{1,2000})`")
"""Bold words and code. Two stars by themselves stay, because patterns of paths have them, as in contracts/**/*.md."""


def plain(text: str) -> str:
    """The beginning of a Markdown text without markup: links without targets, no bold, no code."""
    text = text[:_MAX_PLAIN]
    return _MARKUP.sub("", _LINK.sub(r"\1", text)).strip()


def plain_line(line: str) -> str:
    """The beginning of a line of Markdown without markup and without the mark of a heading, item, quote or row."""
    return " · ".join(cell.strip() for cell in plain(_LINE_MARK.sub("", line, count=1)).strip("| ").split(" | "))


def without_markup(text: str) -> str:
    """A whole text without the targets of links, the marks of bold words and code, and the backslashes that keep angle
    brackets from being tags. All else stays, such as the brackets of a pattern.
    """
    return _ESCAPED.sub("", _PAIRED.sub(_content, _LINK_WITH_TARGET.sub(r"\1", text)))


def readable(line: str) -> str:
    """A line of Markdown in which a link is its words with its target in brackets, decoded, and nothing is bold."""
    return _ESCAPED.sub("", _PAIRED.sub(_content, _LINK_WITH_TARGET.sub(_words_and_target, line)))


def _content(match: re.Match[str]) -> str:
    return match[1] or match[2]


def _words_and_target(match: re.Match[str]) -> str:
    return f"{match[1]} ({unquote(match[2] or match[3])})"
