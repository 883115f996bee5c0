"""Regular expressions that come from outside: none of them may cost more time or memory than agreed.

RE2 compiles and searches them, in linear time and bounded memory. Linear can still be minutes: a pattern that has to be
followed in thousands of states costs microseconds for each byte. A search that may come to that is a guarded call.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from runs import isolation
from runs.errors import InvalidInput
from runs.text.re2_translation import TOO_MANY_REPEATS, in_re2
from runs.text.truncate import truncate

SECONDS = 2.0
MAX_CHARACTERS = 1_000
MAX_MEMORY = 4_000_000
"""Bytes for one compiled pattern and the states of its searches. A pattern that needs more is refused."""
MAX_COMPILED = 16
"""Compiled patterns that are kept, so that they come to 64 MB at most."""
MAX_STEPS = 50_000_000
"""Instructions of the pattern times bytes of the text: above that a search could take more than half a second in C."""


class TooSlow(InvalidInput):
    """The time or memory that a pattern or schema may use was used up; nothing is known about the text."""


class Budget:
    """Seconds of wall clock that several searches share."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = max(seconds, 0.0)
        self._end = time.monotonic() + self.seconds

    def left(self) -> float:
        """Seconds left, more than 0. Raises TooSlow when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TooSlow(self.used_up)
        return left

    @property
    def used_up(self) -> str:
        """That there is no time left, behind what was to be done. Who shares an allowance may get nothing of it."""
        return f"it took longer than {self.seconds:.2g} seconds" if self.seconds > 0 else "no time was left for it"


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern; `source` is what RE2 was given, options included."""

    source: str
    engine: Any


@lru_cache(maxsize=MAX_COMPILED)
def compiled(pattern: str, *, multiline: bool = False, ignore_case: bool = False) -> Pattern:
    """The compiled pattern. Raises InvalidInput with a part of a sentence that says what is wrong with it."""
    if len(pattern) > MAX_CHARACTERS:
        raise InvalidInput(f"it has {len(pattern)} characters and may have {MAX_CHARACTERS}")
    flags = "m" * multiline + "i" * ignore_case
    source = (f"(?{flags})" if flags else "") + in_re2(pattern)
    return Pattern(source, _engine(source))


def _engine(source: str) -> Any:
    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    try:
        return re2.compile(source.encode(), options)
    except UnicodeEncodeError as error:
        raise InvalidInput("it has half of a surrogate pair; write the character itself") from error
    except re2.error as error:
        raise InvalidInput(_in_words(error.args[0].decode(errors="replace"))) from error
    finally:
        re2.purge()  # it would keep 128 of its own


def found(pattern: Pattern, text: str, budget: Budget) -> bool:
    """Whether the pattern occurs. Raises TooSlow when the budget is used up."""
    return next(places(pattern, text, budget, limit=1), None) is not None


def places(pattern: Pattern, text: str, budget: Budget, *, limit: int, each_line_once: bool = False) -> Iterator[int]:
    """The offsets in characters at which the first `limit` matches begin; of those in one line only the first, if told.

    Raises TooSlow when the budget is used up.
    """
    for start, _ in spans(pattern, text, budget, limit=limit, each_line_once=each_line_once):
        yield start


def spans(
    pattern: Pattern, text: str, budget: Budget, *, limit: int, each_line_once: bool = False, group: int = 0
) -> Iterator[tuple[int, int]]:
    """Where the first `limit` matches, or what a group of the pattern has caught in them, begin and end, in characters.

    Raises TooSlow when the budget is used up.
    """
    data = text.encode(errors="surrogatepass")
    if pattern.engine.programsize * len(data) > MAX_STEPS:
        found = _guarded(pattern, data, budget, limit, each_line_once, group)
    else:
        found = _spans(pattern.engine, data, limit, each_line_once=each_line_once, group=group, budget=budget)
    offset = counted = 0
    for start, end in found:
        offset += len(data[counted:start].decode(errors="replace"))
        counted = start
        yield offset, offset + len(data[start:end].decode(errors="replace"))


def spans_in(data: bytes, *, source: str, limit: int, each_line_once: bool, group: int) -> bytes:
    """What a guarded process does: the offsets in bytes, as JSON."""
    found = _spans(_engine(source), data, limit, each_line_once=each_line_once, group=group)
    return json.dumps(list(found), separators=(",", ":")).encode()


def _guarded(
    pattern: Pattern, data: bytes, budget: Budget, limit: int, each_line_once: bool, group: int
) -> Iterator[tuple[int, int]]:
    left = budget.left()
    limits = isolation.Limits(megabytes=128, cpu_seconds=left, seconds=left, output=26 * limit + 2)
    try:
        found = isolation.run(
            f"{__name__}.{spans_in.__name__}",
            data,
            limits,
            source=pattern.source,
            limit=limit,
            each_line_once=each_line_once,
            group=group,
        )
    except isolation.TimedOut as error:
        raise TooSlow(budget.used_up) from error
    except isolation.ChildFailed as error:
        raise TooSlow(str(error)) from error
    yield from map(tuple, json.loads(found))


def _spans(
    engine: Any, data: bytes, limit: int, *, each_line_once: bool, group: int, budget: Budget | None = None
) -> Iterator[tuple[int, int]]:
    at = 0
    for _ in range(limit):
        if budget:
            budget.left()
        match = engine.search(data, at)
        if match is None:
            return
        start, end = match.span()
        yield match.span(group) if match.span(group)[0] >= 0 else (start, start)
        at = data.find(b"\n", start) + 1 if each_line_once else _after(data, start, end)
        if at > len(data) or (each_line_once and at in {0, len(data)}):
            return


def _after(data: bytes, start: int, end: int) -> int:
    """Where to search on: behind the match, and behind a whole character if it had no width."""
    if end > start:
        return end
    end += 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return end


def _in_words(problem: str) -> str:
    """RE2's own words, with what to do where that is not plain."""
    if problem.startswith("invalid repetition size"):
        return TOO_MANY_REPEATS
    if problem.startswith("pattern too large"):
        return "it is too large with its counted repeats written out; use + or * instead"
    return truncate(problem, 120)
