"""The tool calls of one attempt: which ones repeat an earlier one, and whether the attempt goes round in circles."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Sequence

from runs.contracts.ports import ToolResult, ToolUse
from runs.pev.delimiters import delimited
from runs.text.truncate import quoted

MAX_SAME = 3
"""Turns in a row with the same call and the same result, and nothing new between them, that count as a circle."""

MAX_WRITTEN = 20
LINE_CHARS = 160
"""Characters about earlier calls when a conversation begins again: paths of files, arguments and results."""
SERVED_CHARS = 1_500
"""Characters of a result of the service, which cannot be requested again."""


class CallHistory:
    """Every call that was carried out, in order: `@tool-1` is the first, unless there were some `before`."""

    def __init__(self, before: int = 0) -> None:
        self.before = before
        self.calls: list[tuple[ToolUse, ToolResult]] = []
        self._first: dict[str, int] = {}
        self._turns: Counter[str] = Counter()
        self._repeated: Counter[str] = Counter()
        self._served: set[int] = set()

    def answers(self, turn: Sequence[tuple[ToolUse, ToolResult]]) -> list[tuple[str, bool]]:
        """The result for the model of each call of its turn, and whether it is an error. A result that the model
        already has is not sent again; the journal has it under its number.
        """
        keys = [_key(use, result) for use, result in turn]
        if not self._first.keys() >= set(keys):
            self._turns = Counter(list(self._first))
        self._turns.update(set(keys))
        return [(self._told(key, use, result), result.is_error) for key, (use, result) in zip(keys, turn, strict=True)]

    def note(self, use: ToolUse, result: ToolResult) -> None:
        """Give a call of the service its number. The model already has its result, and it counts as something new."""
        self._turns = Counter(list(self._first))
        self.calls.append((use, result))
        self._served.add(self.last)

    @property
    def last(self) -> int:
        """The number of the newest call."""
        return self.before + len(self.calls)

    def _told(self, key: str, use: ToolUse, result: ToolResult) -> str:
        self.calls += [*result.within, (use, result)]
        number = self.last
        first = self._first.setdefault(key, number)
        if first == number:
            return delimited("tool", result.text, f"@tool-{number} {use.name}")
        self._repeated[use.name] += 1
        if result.is_error:
            return f"You have made this very call before, and it fails as in @tool-{first}. Do it otherwise, or go on."
        return (
            f"You have called {quoted(use.name)} with these arguments before, and the result is the same as in "
            f"@tool-{first}. Use that one, or go on."
        )

    def forget_results(self) -> None:
        """Send results again when they are asked for: a new conversation begins, and the model no longer sees the old
        one.
        """
        self._first.clear()
        self._turns.clear()

    def written_files(self, writing: Collection[str]) -> list[str]:
        """The first files that these tools wrote, by their paths as the model gave them."""
        paths = [use.input.get("path") for use, result in self.calls if use.name in writing and not result.is_error]
        return list(dict.fromkeys(quoted(str(path)) for path in paths))[:MAX_WRITTEN]

    def digest(self, limit: int) -> str:
        """A line for each of the newest calls, with a limit of characters: number, arguments, beginning of the
        result.
        """
        lines: list[str] = []
        for number, (use, result) in reversed(list(enumerate(self.calls, self.before + 1))):
            arguments = quoted(json.dumps(use.input, ensure_ascii=False), LINE_CHARS)
            shown = quoted(result.text, SERVED_CHARS if number in self._served else LINE_CHARS)
            beginning = f"{'error: ' if result.is_error else ''}{shown}"
            lines.append(f"@tool-{number} {quoted(use.name)} {arguments}: {beginning}")
            limit -= len(lines[-1]) + 1
            if limit < LINE_CHARS:  # which leaves room for the line that says so
                lines[-1] = f"(and {number} calls before these)"
                break
        return "\n".join(reversed(lines))

    @property
    def circling(self) -> bool:
        """Whether the same call gave the same result in MAX_SAME turns without anything new between them."""
        return any(turns >= MAX_SAME for turns in self._turns.values())

    @property
    def summary(self) -> str:
        """What the attempt did, for people: the tools that were called most, and how often that failed."""
        often = Counter(use.name for use, _ in self.calls).most_common(3)
        parts = [f"{quoted(name, 40)} {_times(count)}{self._in_vain(name)}" for name, count in often]
        return f"It called {', '.join(parts)}." if parts else ""

    def _in_vain(self, name: str) -> str:
        count = self._repeated[name]
        return f" ({count} of them with a result it had already)" if count else ""


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _key(use: ToolUse, result: ToolResult) -> str:
    """Equal for the same call with the same result. An empty argument counts as absent."""
    arguments = {name: value for name, value in use.input.items() if value not in ("", None)}
    whole = json.dumps([use.name, arguments, result.is_error, result.text], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()
