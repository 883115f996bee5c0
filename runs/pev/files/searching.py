"""Searching many files for the lines in which a pattern begins, in bounded time."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from runs.pev.files.paths import text_of
from runs.pev.ports import Shown
from runs.pev.texts.patterns import Budget, Pattern, places


@dataclass(frozen=True)
class Hit:
    """A line in which a match begins, or a piece of it where it is not `whole`; the file has so many `lines`."""

    path: str
    line: int
    text: str
    whole: bool
    lines: int

    def shown(self, sha256: str, start: int, end: int) -> Shown:
        last = self.line if self.whole else self.line - 1
        return Shown(self.path, sha256, start, end, self.line, last, self.lines)


def hits_in(
    names: Iterable[str], read: Callable[[str], bytes], wanted: Pattern, budget: Budget, *, limit: int, chars: int
) -> Iterator[Hit]:
    """The lines of text files in which a match begins: of one file up to `limit`, of one line so many characters.

    Raises TooSlow when the budget is used up.
    """
    for path in names:
        budget.left()
        text = text_of(read(path)) or ""
        counted, line, lines = 0, 1, 0
        for at in places(wanted, text, budget, limit=limit, each_line_once=True) if text else ():
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line += text.count("\n", counted, start)
            lines = lines or text.count("\n") + (text[-1] != "\n")
            yield Hit(path, line, _around(text, start, end, at, chars), end - start <= chars, lines)
            counted = start


def _around(text: str, start: int, end: int, at: int, limit: int) -> str:
    """The line from `start` to `end`, or so many characters of it around `at`."""
    if end - start <= limit:
        return text[start:end].rstrip("\r")
    first = max(start, min(at - limit // 3, end - limit))
    return f"{'…' if first > start else ''}{text[first : first + limit]}{'…' if first + limit < end else ''}"
