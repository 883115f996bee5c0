"""A text with both ends shown and its middle folded, so that a long one pushes nothing else out of view (G7)."""

from dataclasses import dataclass
from functools import cached_property

from runs.text.plural import pluralize

WHOLE_CHARACTERS, WHOLE_LINES = 1_200, 16
"""Texts up to this size are shown whole."""
HEAD_CHARACTERS, HEAD_LINES = 400, 5
TAIL_CHARACTERS, TAIL_LINES = 200, 2
"""The parts at both ends of a longer text that are shown."""


@dataclass(frozen=True)
class Excerpt:
    text: str

    @property
    def length(self) -> str:
        """The length in words. It tells people at once that more is sent than what they see."""
        characters = pluralize(len(self.text), "character")
        lines = self.text.count("\n") + 1
        return f"{characters} in {lines:,} lines" if lines > 1 else characters

    @property
    def head(self) -> str:
        return self._cut[0]

    @property
    def middle(self) -> str:
        """The folded part between head and tail; empty if the text is shown whole."""
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
        text = self.text
        if len(text) <= WHOLE_CHARACTERS and text.count("\n") < WHOLE_LINES:
            return text, "", ""
        start = _end_of_lines(text[:HEAD_CHARACTERS], HEAD_LINES)
        end = len(text) - _end_of_lines(text[: -TAIL_CHARACTERS - 1 : -1], TAIL_LINES)
        end += text.startswith("\n", end)
        return text[:start], text[start:end], text[end:]


def _end_of_lines(text: str, lines: int) -> int:
    """The length of so many lines of the text."""
    return sum(map(len, text.splitlines(keepends=True)[:lines])) if text.count("\n") >= lines else len(text)
