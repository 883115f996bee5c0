"""Texts cut to a length, without cutting a character in two.

What a reader sees as one character can be several in Python: a letter with its accents, a flag, an emoji with a skin
colour, a family. No cut is made inside such a group (a grapheme cluster of Unicode).

| call | result |
|---|---|
| `truncate("a long sentence", 8)` | `a long…`: at most 8 characters, the ellipsis included |
| `truncate_line("a \\n long sentence", 8)` | the same, on one line |
| `truncate_path("contracts/2026/lease.txt", 16)` | `contrac…ease.txt` |
| `cut_after("a long sentence", 8)` | `a long s …`: 8 characters, and an ellipsis |
| `quoted("a \\n long sentence", 8)` | `“a long s…”`: the same on one line, in quotation marks |

The time is linear in the characters before the cut.
"""

import re

import regex

ELLIPSIS = "…"
_MAX_CLUSTER = 64
"""Code points. Normal texts have at most 30 marks on a letter (Unicode Standard Annex 15); a longer group is cut."""
_CLUSTER = regex.compile(r"[\ud800-\udbff][\udc00-\udfff]|\X")
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Two of these make a flag."""
_WORD = re.compile(r"\S+")  # white space as in str.split, which differs from that of regex


def truncate(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis: at most `limit` characters."""
    if len(text) <= limit:
        return text
    return f"{text[: boundary(text, limit - 1)].rstrip()}{ELLIPSIS}"


def truncate_line(text: str, limit: int) -> str:
    """The text on one line, each run of white space as one space, and truncated to at most `limit` characters."""
    words: list[str] = []
    length = -1
    for match in _WORD.finditer(text):
        word = text[match.start() : min(match.end(), match.start() + limit + 1)]
        words.append(word)
        length += 1 + len(word)
        if length > limit:
            break
    return truncate(" ".join(words), limit)


def truncate_path(path: str, limit: int) -> str:
    """The path, or its beginning and its end with an ellipsis between them: the name of a file stands at the end."""
    if len(path) <= limit:
        return path
    head = (limit - 1) // 2
    tail = len(path) - (limit - 1 - head)
    end = boundary(path, tail)
    if end < tail:  # the group of characters that the limit would cut is left out
        end = _CLUSTER.match(path, end).end()  # type: ignore[union-attr]
    return f"{path[: boundary(path, head)]}{ELLIPSIS}{path[end:]}"


def cut_after(text: str, limit: int, mark: str = f" {ELLIPSIS}") -> str:
    """The text, or its first `limit` characters followed by the mark."""
    return text if len(text) <= limit else f"{text[: boundary(text, limit)]}{mark}"


def quoted(text: str, limit: int = 80) -> str:
    """The text on one line in quotation marks, cut after `limit` characters."""
    near = " ".join(text[: 4 * limit].split())
    is_cut = len(text) > 4 * limit and len(near) <= limit
    return in_quotes(cut_after(near, limit, ELLIPSIS) + (ELLIPSIS if is_cut else ""))


def in_quotes(text: str) -> str:
    """The text in quotation marks: in single ones, if it begins or ends with double ones itself."""
    return f"‘{text}’" if text.startswith(("“", '"')) or text.endswith(("”", '"')) else f"“{text}”"


def boundary(text: str, at: int) -> int:
    """The last place up to `at` where no group of characters is cut in two."""
    around = text[max(at - 1, 0) : at + 1]
    if not 0 < at < len(text) or (around.isascii() and around != "\r\n"):
        return min(max(at, 0), len(text))
    start = max(0, at - _MAX_CLUSTER)
    before = text[:start]
    start -= (len(before) - len(before.rstrip(_FLAG_LETTERS))) % 2
    last = start
    for cluster in _CLUSTER.finditer(text[start : at + 1]):  # of the whole text, regex would look back at all flags
        last = start + (cluster.start() if start + cluster.end() > at else cluster.end())
    return at if last == start > 0 else last
