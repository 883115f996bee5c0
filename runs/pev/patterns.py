"""Regular expressions that come from outside: none of them may cost more time or memory than agreed."""

import re
import time
from functools import lru_cache
from math import prod

import regex

from runs.errors import InvalidInput

SECONDS = 2.0
MAX_CHARACTERS = 1_000
MAX_REPEATS = 100_000
"""Counted repeats such as a{1000} are written out when a pattern is compiled, at about 1 kB each, and nested
ones multiply: a{2000000000} alone would take all memory before any time limit is looked at."""

_COUNT = re.compile(r"(.?)\{\s*([0-9]+)", re.DOTALL)
_VERBOSE = re.compile(r"(?<!\\)(?:\\\\)*\(\?[A-Za-z0-9-]*x")


class TooSlow(InvalidInput):
    """The time or memory that a pattern or schema may use was used up; nothing is known about the text."""


class Budget:
    """Seconds of wall clock that several searches share."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, more than 0. Raises TooSlow when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TooSlow(f"it took longer than {self._seconds:g} seconds")
        return left


@lru_cache(maxsize=256)
def compiled(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """The compiled pattern. Raises InvalidInput with a part of a sentence that says what is wrong with it."""
    if len(pattern) > MAX_CHARACTERS:
        raise InvalidInput(f"it has {len(pattern)} characters and may have {MAX_CHARACTERS}")
    if _VERBOSE.search(pattern):
        raise InvalidInput("the flag x is not supported; write the pattern without it")
    if _written_out(pattern) > MAX_REPEATS:
        raise InvalidInput(f"its counted repeats come to more than {MAX_REPEATS:,}; use + or * instead")
    try:
        return regex.compile(pattern, flags)
    except (regex.error, ValueError, OverflowError) as error:
        raise InvalidInput(str(error)) from error
    except RecursionError as error:
        raise InvalidInput("it is nested too deeply") from error


def search(pattern: regex.Pattern[str], text: str, budget: Budget, start: int = 0) -> regex.Match[str] | None:
    """The first match at or after the character `start`. Raises TooSlow when the budget is used up."""
    try:
        return pattern.search(text, start, timeout=budget.left())
    except TimeoutError as error:
        raise TooSlow("it took too long") from error
    except MemoryError as error:
        raise TooSlow("it took too much memory") from error


def _written_out(pattern: str) -> int:
    """At least the size of the pattern with its counted repeats written out. Counts of groups multiply."""
    found = [(before, int(count[:12])) for before, count in _COUNT.findall(pattern)]
    of_groups = prod(max(count, 1) for before, count in found if before == ")")
    return of_groups * (len(pattern) + sum(count for before, count in found if before != ")"))
