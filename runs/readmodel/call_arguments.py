"""The arguments of a call that acts outside, as its gate shows them to the person who approves it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from runs.models import Gate
from runs.text.plural import pluralize

WHOLE_CHARACTERS, WHOLE_LINES = 700, 10
"""Values up to this size are shown whole."""
HEAD_CHARACTERS, HEAD_LINES = 300, 4
TAIL_CHARACTERS, TAIL_LINES = 200, 2
"""Of longer ones, what is shown of both ends."""


@dataclass(frozen=True)
class Argument:
    """An argument of a call: its name, its kind in words, and its value, a text as it is and all else as JSON."""

    name: str
    kind: str
    value: str

    @property
    def length(self) -> str:
        """How long it is, for people: they see at once that more is sent than they read."""
        characters = pluralize(len(self.value), "character")
        lines = self.value.count("\n") + 1
        return f"{characters} in {lines:,} lines" if lines > 1 else characters

    @property
    def head(self) -> str:
        return self._cut[0]

    @property
    def middle(self) -> str:
        """What is folded between head and tail; empty for a value that is shown whole."""
        return self._cut[1]

    @property
    def tail(self) -> str:
        return self._cut[2]

    @property
    def left_out(self) -> str:
        lines = self.middle.count("\n")
        return f"{pluralize(len(self.middle), 'character')}{f' in {pluralize(lines, "line")}' if lines else ''}"

    @cached_property
    def _cut(self) -> tuple[str, str, str]:
        value = self.value
        if len(value) <= WHOLE_CHARACTERS and value.count("\n") < WHOLE_LINES:
            return value, "", ""
        start = _end_of_lines(value[:HEAD_CHARACTERS], HEAD_LINES)
        end = len(value) - _end_of_lines(value[: -TAIL_CHARACTERS - 1 : -1], TAIL_LINES)
        end += value.startswith("\n", end)
        return value[:start], value[start:end], value[end:]


def _end_of_lines(text: str, lines: int) -> int:
    """The length of so many lines of the text."""
    return sum(map(len, text.splitlines(keepends=True)[:lines])) if text.count("\n") >= lines else len(text)


def arguments_of(gate: Gate) -> tuple[Argument, ...]:
    """What a call that acts outside is sent with, all of it."""
    given = gate.call["arguments"] if gate.call else {}
    return tuple(_argument(name, value) for name, value in given.items())


def _argument(name: str, value: object) -> Argument:
    match value:
        case str():
            return Argument(name, "text" if value else "empty text", value)
        case bool() | None:
            kind = "yes or no" if value is not None else "nothing"
        case int() | float():
            kind = "number"
        case list():
            kind = f"list of {len(value):,}"
        case _:
            kind = "object"
    return Argument(name, kind, json.dumps(value, ensure_ascii=False, indent=2))


def sent_in_lines(gate: Gate) -> Iterator[str]:
    """The same for a terminal. Long values are cut, and it is said where all of them are."""
    for one in arguments_of(gate):
        yield f"{one.name} ({one.kind}, {one.length}):"
        yield from (f"    {line}" for line in one.head.split("\n"))
        if one.middle:
            yield f"    … {one.left_out} more, which the page of the run shows …"
            yield from (f"    {line}" for line in one.tail.split("\n"))
