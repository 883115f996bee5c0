"""The text of a link, and the words that it may quote."""

import html
import re

_MARKS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|`+|~~")
_QUOTATION = re.compile(r"(\r?\n)[ \t]*(?:>[ \t]?)+")
_QUOTES = ("“”", '""', "„“", "«»", "»«", "‘’", "''", "„”", "‹›")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def quotes_in(text: str) -> tuple[list[str], bool]:
    """The words that a link's text may quote, the likeliest first, and whether they stand in quotation marks."""
    written = html.unescape(_ESCAPED.sub(r"\1", _QUOTATION.sub(r"\1", text))).strip()
    bare = _MARKS.sub("", written).strip()
    found = [_unquoted(written), _unquoted(bare)]
    return list(dict.fromkeys(found)), _unquoted(bare) != bare


def words_of(link: str) -> str:
    """The text of a link, as it was written."""
    depth = at = 0
    while at < len(link):
        if link[at] == "\\":
            at += 1
        elif link[at] == "[":
            depth += 1
        elif link[at] == "]":
            depth -= 1
            if depth == 0:
                break
        at += 1
    return link[1:at]


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if len(text) > 2 and text[0] + text[-1] in _QUOTES else text
