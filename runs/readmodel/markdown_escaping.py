"""How hostile text is put into a Markdown file: it stays words, and cannot become structure or HTML."""

import re

_SPECIAL = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", ">": "&gt;"}
_AT_START = re.compile(r"([#+=-])|(\d{1,9})([.)])(?=\s|$)")


def line(text: object) -> str:
    """The text on one line, every character standing for itself."""
    return start(words(" ".join(str(text).split())))


def words(text: str) -> str:
    """Text inside of a line, every character standing for itself."""
    return _SPECIAL.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), text)


def start(escaped: str) -> str:
    """A line whose words are escaped, so that it begins neither heading nor list."""
    match = _AT_START.match(escaped)
    if not match:
        return escaped
    mark = f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}"
    return mark + escaped[match.end() :]


def code(text: str) -> str:
    """A code span, on one line, whatever backticks are in it."""
    folded = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", folded)), default=0)
    fence = "`" * (longest + 1)
    room = " " if folded.startswith("`") or folded.endswith("`") else ""
    return f"{fence}{room}{folded}{room}{fence}"
