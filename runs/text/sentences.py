"""Where lines and sentences end.

| ends a sentence | does not |
|---|---|
| `.` `!` `?` `…` before a space and no small letter, closing marks included | `p. 5`, `12. März`, `e.g. this` |
| `。` `！` `？` | |
| a heading, an empty line, a page break, the beginning of a list item or a row of a table | the end of a line |
| | an abbreviation such as `Art. 5`, `No. 7`, `Dr. Weber`, `Ltd. Co` |

Parts of sentences end at a semicolon, too; heads of texts at a colon and at the end of a line.

Linear in the length of the text.
"""

from collections.abc import Iterator
from heapq import merge

import regex

_PIECE = 250_000  # characters that are split at once, to bound the memory


def lines_in(text: str) -> Iterator[str]:
    """`text.split("\\n")` without a last empty line, piece by piece: a list of all lines takes many times the
    memory.
    """
    rest = list[str]()
    for start in range(0, len(text), _PIECE):
        first, *lines = text[start : start + _PIECE].split("\n")
        rest.append(first)
        if lines:
            yield "".join(rest)
            yield from lines[:-1]
            rest = lines[-1:]
    if any(rest):
        yield "".join(rest)


REACH = 600
"""Characters before and after a place in which the ends of its sentence are searched for."""
_END = regex.compile(
    r"(?m:^)#{1,6}[^\S\n][^\n]*\n|(?<!\b\w)(?<!\b\d\d)[.!?…][\"”’»)\]*_]*\s+(?=[^\s\p{Ll}])|[。！？]+[」』”’)]*"
    r"|\f|\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[-*•+–]\s|\d{1,3}[.)]\s|#{1,6}\s|\|))"
)
_SEMICOLON = regex.compile(r";[\"”’»)\]*_]*\s+(?=[^\s\p{Ll}])")
_MARKS = regex.compile(r"(?<=[.!?…;][\"”’»)\]*_]{0,3})\s+|(?<=[。！？；])")
_HEAD_END = regex.compile(r"(?<=:)\s|\n")
_ABBREVIATIONS = """
abs art arts bzw ca cf cl co corp dr etc fig hr inc incl jr lit ltd mr mrs ms nr no nos para paras pp prof resp sec sect
sr st str vgl vs zit ziff
"""
_SHORT = frozenset(_ABBREVIATIONS.split())
"""Abbreviations after which a sentence goes on with a capital or a figure."""
_LAST_WORD = regex.compile(r"\p{L}{1,6}\Z")


def sentence_ends(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Where the next sentence begins, for each sentence that ends between these places."""
    for match in _END.finditer(text, start, len(text) if end is None else end):
        word = _LAST_WORD.search(text, max(start, match.start() - 6), match.start())
        if not (word and match[0][0] == "." and word[0].casefold() in _SHORT):
            yield match.end()


def sentences_in(text: str) -> Iterator[str]:
    """The sentences of a text, in order, without surrounding space."""
    start = 0
    for end in [*sentence_ends(text), len(text)]:
        if sentence := text[start:end].strip():
            yield sentence
        start = end


def part_ends(text: str) -> Iterator[int]:
    """Where the next sentence begins, or the next part of one, after a semicolon that no small letter follows."""
    return merge(sentence_ends(text), (match.end() for match in _SEMICOLON.finditer(text)))


def parts_in(text: str) -> Iterator[str]:
    """The text between the marks at which a sentence or a part of it may end, even before a small letter."""
    return (part for part in _MARKS.split(text) if part)


def first_sentence(text: str) -> str:
    """The first sentence of a text, up to the first colon or the end of a line in it; for titles."""
    text = text.strip()
    return _HEAD_END.split(text[: next(sentence_ends(text), None)], maxsplit=1)[0].rstrip()


def sentence_around(text: str, start: int, end: int, reach: int = REACH) -> tuple[int, int]:
    """The sentences that have these characters, without the space around them, up to `reach` more on either side."""
    first, last = max(0, start - reach), min(len(text), end + reach)
    begin, finish = first, last
    for place in sentence_ends(text, first, last):
        if place <= start:
            begin = place
        elif place >= end:
            finish = place
            break
    if begin == first > 0:  # too long: whole words of it
        match = regex.compile(r"\s").search(text, begin, start)
        begin = min(start, match.end() if match else start)
    if finish == last < len(text):
        at = max(text.rfind(space, end, finish) for space in " \n")
        finish = max(end, at if at >= 0 else end)
    words = text[begin:finish]
    return begin + len(words) - len(words.lstrip()), finish - len(words) + len(words.rstrip())


_EACH = regex.compile(
    r"\b(?:(?<!\bnot\s)(?:each|every)|(?<!\b(?:not|at|after|above)\s)all(?!\s+in\s+all\b)"
    r"|jede[mnrs]?|alle[mnrs]?|sämtliche[mnr]?|chaque|tous|toutes)\b",
    regex.IGNORECASE,
)
_IN_ALL = regex.compile(r"\bin all(?=\s*(?:[.,;:)]|$))", regex.IGNORECASE)


def says_each(text: str) -> bool:
    """True for "every contract", "in all of them" and "jede Datei"; not for "not at all" and "three in all"."""
    return _EACH.search(_IN_ALL.sub("", text)) is not None
