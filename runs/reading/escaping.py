"""How hostile text is put into a Markdown file: it stays words, and cannot become structure or HTML."""

import re
from functools import lru_cache

from markdown_it import MarkdownIt

_SPECIAL = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", ">": "&gt;"}
_AT_START = re.compile(r"([#+=-])|(\d{1,9})([.)])(?=\s|$)")
_IMAGE = "![", "&#33;["
"""What begins an image, and the same as a word before a link: opening a report fetches nothing from anywhere."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def line(text: object) -> str:
    """The text on one line, every character standing for itself."""
    return start(words(" ".join(str(text).split())))


def words(text: str) -> str:
    """Text inside of a line, every character standing for itself."""
    return _SPECIAL.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), text)


def start(escaped: str) -> str:
    """A line whose words are escaped, so that it begins neither heading nor list."""
    return _AT_START.sub(_with_backslash, escaped, count=1) if _AT_START.match(escaped) else escaped


def block(text: str, indent: str = "") -> list[str]:
    """Markdown by somebody else, as a quotation: its headings and fences end where it ends, its HTML is text, and its
    images are links.
    """
    rows = _TAG.sub("&lt;", text.replace("\0", "�")).splitlines()
    code = _lines_of_code("\n".join(rows))
    shown = (row if number in code else row.replace(*_IMAGE) for number, row in enumerate(rows))
    return [f"{indent}> {row}".rstrip() for row in shown] or [f"{indent}>"]


def _lines_of_code(text: str) -> set[int]:
    """The lines inside of fences: there `vec![1]` is no image, and an escape would be shown."""
    if _IMAGE[0] not in text:
        return set()
    fences = [token.map for token in _blocks().parse(text) if token.type == "fence" and token.map]
    return {number for first, end in fences for number in range(first + 1, end)}


@lru_cache(maxsize=1)
def _blocks() -> MarkdownIt:
    return MarkdownIt("commonmark").disable("inline")


def code(text: str) -> str:
    """A code span, on one line, whatever backticks are in it."""
    folded = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", folded)), default=0)
    fence = "`" * (longest + 1)
    room = " " if folded.startswith("`") or folded.endswith("`") else ""
    return f"{fence}{room}{folded}{room}{fence}"


def _with_backslash(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}"
