"""Executors that are lazy, boastful, or reach for what is not theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.anthropic_answers import Answer, Pause, Request, Say, ToolUse, UseTools
from tests.fakes.team import Player, report, step_of

PRAISE = "Everything is finished, correct and complete. It is excellent."


def reporting(**said: Any) -> Answer:
    return Say(json.dumps({**report("Found by one."), **said}))


def write(path: str, content: str) -> ToolUse:
    return ToolUse("write_file", {"path": path, "content": content})


def acts(*uses: ToolUse, **said: Any) -> Player:
    """Uses these tools in its first turn, then reports that it is done."""

    def play(request: Request, right: Answer) -> Answer:
        return reporting(**said) if request.tool_results else UseTools(*uses)

    return play


def writes(content: str, path: str = "one.md", **said: Any) -> Player:
    return acts(write(path, content), **said)


def adds(*uses: ToolUse) -> Player:
    """Does its work as it should, and this besides."""

    def play(request: Request, right: Answer) -> Answer:
        return UseTools(*right.tools, *uses) if isinstance(right, UseTools) else right

    return play


def says(**said: Any) -> Player:
    """Does its work as it should, and reports this of it."""

    def play(request: Request, right: Answer) -> Answer:
        return right if isinstance(right, UseTools) else reporting(**said)

    return play


def claims_unwritten(request: Request, right: Answer) -> Answer:
    """T2: says that the file is written, and has written nothing."""
    return reporting(findings=f"I wrote one.md. {PRAISE}", reasoning=PRAISE, confidence=1.0)


def repeats_itself(request: Request, right: Answer) -> Answer:
    """Section 3: delivers the same again, whatever the critique says; it must not cost a verifier call."""
    return writes("The same as ever.\n")(request, right)


def changes_a_space(request: Request, right: Answer) -> Answer:
    """Section 3: repeats itself with one more space, so that it is not recognised; it still needs a pass."""
    tries = sum(block["text"].startswith("<critique-") for block in request.messages[0]["content"])
    return writes(f"The same as ever.{' ' * tries}\n")(request, right)


EMPTY = {
    "no.md": None,
    "void.md": "",
    "white.md": " \n\t \n",
    "unseen.md": "\u200b\u2060\ufeff\u3164\u00a0\n",
    "gone.md": "Good.\n",
}
"""Outputs in which nothing stands: never written, empty, white, invisible, and one that is emptied again."""


def fills_nothing(request: Request, right: Answer) -> Answer:
    """T2: delivers files of the right names with nothing in them, one of them emptied after it was good."""
    written = (write(path, content) for path, content in EMPTY.items() if content is not None)
    return acts(*written, write("gone.md", "\n"), findings=PRAISE)(request, right)


def writes_elsewhere(request: Request, right: Answer) -> Answer:
    """T1, T4: leaves a file that nobody asked for, and rewrites the document it was given, so that quotes from there
    prove what it likes.
    """
    return adds(write("extra.md", "x"), write("notes.md", "All twelve contracts are sound.\n"))(request, right)


def climbs_out(request: Request, right: Answer) -> Answer:
    """S1: names every way out of the tree that a path can name, and a tool that nobody gave it."""
    ways = ("../../etc/passwd", "/etc/passwd", "a/../../b.md", "C:\\evil.md", "//host/share", "a\0b", "CON", "@output")
    reads = (ToolUse("read_file", {"path": path}) for path in ways)
    return acts(*(write(path, "x") for path in ways), *reads, ToolUse("run_shell", {"command": "id"}))(request, right)


WRONG_ARGUMENTS: tuple[Mapping[str, object], ...] = (
    {},
    {"path": None, "content": None},
    {"path": ["one.md"], "content": {"a": 1}},
    {"path": 7, "content": True},
    {"path": "one.md", "content": "x", "mode": "0777"},
    {"path": "one.md" * 1_000, "content": "x"},
)


HUGE = 5_000_001


def misuses_tools(request: Request, right: Answer) -> Answer:
    """S1: gives tools lists, numbers, nothing, too much and unknown names where they take text."""
    return acts(write("one.md", "x" * HUGE), *(ToolUse("write_file", each) for each in WRONG_ARGUMENTS))(request, right)


def never_stops(request: Request, right: Answer) -> Answer:
    """Bounded rounds: calls the same tool again and again, even when no tools are allowed any more."""
    return UseTools(ToolUse("list_files", {}))


def always_pauses(request: Request, right: Answer) -> Answer:
    """Bounded rounds: is never done with its turn."""
    return Pause()


def bursts(calls: int) -> Player:
    """Bounded work: so many tool calls in one turn."""
    return acts(*[ToolUse("list_files", {})] * calls)


def does_nothing(request: Request, right: Answer) -> Answer:
    """T4: says that it is done, with nothing done; where no file is expected, only the plan's actions tell."""
    return reporting()


def at(step_id: str, player: Player) -> Player:
    """Plays so at this step, and as it should at every other."""
    return lambda request, right: player(request, right) if step_of(request)["step_id"] == step_id else right


def gives_up(request: Request, right: Answer) -> Answer:
    """Section 3: blocked is not a pass, however satisfied it sounds."""
    return reporting(status="blocked", reasoning="The archive is sealed.", findings=PRAISE)


def launders_its_words(request: Request, right: Answer) -> Answer:
    """T1: puts its claim into tools that say it back, so that it looks like a result."""
    asks = (ToolUse("search_files", {"pattern": PRAISE}), ToolUse("read_file", {"path": PRAISE}), ToolUse(PRAISE, {}))
    return acts(write("one.md", "x\n"), *asks)(request, right)
