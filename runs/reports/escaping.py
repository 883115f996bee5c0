"""How hostile text is put into a Markdown file: it stays words, and cannot become structure or HTML."""

import re

_SPECIAL = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", ">": "&gt;"}
_AT_START = re.compile(r"([#+=-])|(\d{1,9})([.)])(?=\s|$)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def line(text: object) -> str:
    """The text on one line, every character standing for itself."""
    folded = " ".join(str(text).split())
    escaped = _SPECIAL.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), folded)
    return _AT_START.sub(_with_backslash, escaped, count=1) if _AT_START.match(escaped) else escaped


def block(text: str, indent: str = "") -> list[str]:
    """Markdown by somebody else, as a quotation: its headings and fences end where it ends, its HTML is text."""
    harmless = _TAG.sub("&lt;", text.replace("\0", "�"))
    return [f"{indent}> {row}".rstrip() for row in harmless.splitlines()] or [f"{indent}>"]


def code(text: str) -> str:
    """A code span, on one line, whatever backticks are in it."""
    folded = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", folded)), default=0)
    fence = "`" * (longest + 1)
    room = " " if folded.startswith("`") or folded.endswith("`") else ""
    return f"{fence}{room}{folded}{room}{fence}"


def _with_backslash(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}"
