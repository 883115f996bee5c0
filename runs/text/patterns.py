"""Regular expressions from outside: none of them may take more time or memory than agreed. They are translated for RE2,
or refused in words. RE2 has no look-around and no back-references, which is why it is linear.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from string import hexdigits
from typing import Any

import re2

from runs import isolation
from runs.errors import InvalidInput
from runs.text.truncate import truncate

TOO_MANY_REPEATS = "its counted repeats come to more than 1,000; use + or * instead"
_LETTERS = r"\p{L}\p{M}\p{N}_"
_NO_LETTERS = r"\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\x{203f}\x{2040}\x{2054}\p{S}\p{Z}"
_SPACES = r"\t-\r\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_NO_SPACES = (
    r"\x00-\x08\x0e-\x1f\x21-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}"
    r"\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff}"
)
_CLASSES = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": _LETTERS,
    "W": _NO_LETTERS,
    "s": _SPACES,
    "S": _NO_SPACES,
    "h": r"\t\p{Zs}",
}
_NEGATED = {"W": f"[^{_LETTERS}]", "S": f"[^{_SPACES}]"}  # outside of a class the shorter form will do
_HEX = {"u": 4, "U": 8}
_GROUPS = {
    "?=": "look-ahead (?=…)",
    "?!": "look-ahead (?!…)",
    "?<=": "look-behind (?<=…)",
    "?<!": "look-behind (?<!…)",
    "?P=": "a back-reference (?P=…)",
    "?>": "an atomic group (?>…)",
    "?(": "a condition (?(…)…)",
    "?#": "a comment (?#…)",
}


def in_re2(pattern: str) -> str:
    """The pattern for RE2. Raises InvalidInput with a part of a sentence for what RE2 lacks or takes otherwise."""
    tokens = list(_tokens(pattern))
    if any(written in {r"\b", r"\B"} for written, _ in tokens):
        # RE2's \b takes letters such as ä for spaces, so it does not match next to one.
        letters = [written for written, _ in tokens]
        for before, letter, after in zip(["", *letters], letters, [*letters[1:], ""], strict=False):
            if letter.isalpha() and not letter.isascii() and not (before.isalnum() and after.isalnum()):
                raise InvalidInput(
                    rf"\b and \B know the letters a to z only and take no notice of “{letter}”; "
                    r"write (?:^|\W) or (?:\W|$) in their place"
                )
    return "".join(meant for _, meant in tokens)


def _tokens(pattern: str) -> Iterator[tuple[str, str]]:
    """Each part as it is written and as RE2 takes it. A character class is one part."""
    at = 0
    while at < len(pattern):
        written = pattern[at]
        meant = written
        if written == "\\":
            written, meant = _escape(pattern, at, in_class=False)
        elif written == "[":
            written, meant = _class(pattern, at)
        elif written == "(":
            after = pattern[at + 1 : at + 40]
            for sign, name in _GROUPS.items():
                if after.startswith(sign):
                    raise InvalidInput(f"{name} is not supported; write the pattern without it")
            if after.startswith("?") and "x" in after[1:].partition(":")[0].partition(")")[0].partition("<")[0]:
                raise InvalidInput("the flag x is not supported; write the pattern without it")
        elif written == "{":
            meant = _count(pattern[at + 1 : at + 40].partition("}")[0])
        yield written, meant
        at += len(written)


def _count(bounds: str) -> str:
    """The brace before the bounds of a repeat. RE2 would read {,3} and counts of many digits as text."""
    least, comma, most = bounds.partition(",")
    if not all(digits.isdecimal() for digits in (least, most) if digits):
        return "{"
    if len(least) > 4 or len(most) > 4:
        raise InvalidInput(TOO_MANY_REPEATS)
    return "{0" if comma and most and not least else "{"


def _escape(pattern: str, at: int, *, in_class: bool) -> tuple[str, str]:
    """The escape that begins there, as it is written and as RE2 takes it."""
    kind = pattern[at + 1 : at + 2]
    written = pattern[at : at + 2]
    if kind in _CLASSES:
        members = _CLASSES[kind]
        return written, members if in_class else _NEGATED.get(kind, f"[{members}]")
    if digits := _HEX.get(kind):
        code = pattern[at + 2 : at + 2 + digits]
        if len(code) == digits and all(digit in hexdigits for digit in code):
            return written + code, rf"\x{{{code}}}"
    if kind == "b" and in_class:
        return written, r"\x08"
    if kind == "Z":
        return written, r"\z"
    if kind in {"1", "2", "3", "4", "5", "6", "7", "8", "9", "k", "g"}:
        raise InvalidInput(f"a back-reference {written} is not supported; write out what it stands for")
    if kind in {"C", "Q", "E"}:  # RE2 has them, and no other engine means the same by them
        raise InvalidInput(f"{written} is not supported; write the pattern without it")
    return written, written


def _class(pattern: str, start: int) -> tuple[str, str]:
    """The class [...] that begins there, as it is written and as RE2 takes it."""
    at = start + 1 + (pattern[start + 1 : start + 2] == "^")
    meant = [pattern[start:at]]
    first = True  # as the first member ] stands for itself
    while at < len(pattern) and (first or pattern[at] != "]"):
        if pattern[at] == "\\":
            written, member = _escape(pattern, at, in_class=True)
        elif pattern[at : at + 2] == "[:" and (end := pattern.find(":]", at)) > 0:
            written = member = pattern[at : end + 2]
        else:
            written = member = pattern[at]
        meant.append(member)
        at, first = at + len(written), False
    return pattern[start : at + 1], "".join(meant) + pattern[at : at + 1]


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
        """The end of a sentence: there is no time left. A check that shares an allowance may get none of it."""
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
        found = _isolated(pattern, data, budget, limit, each_line_once, group)
    else:
        found = _spans(pattern.engine, data, limit, each_line_once=each_line_once, group=group, budget=budget)
    offset = counted = 0
    for start, end in found:
        offset += len(data[counted:start].decode(errors="replace"))
        counted = start
        yield offset, offset + len(data[start:end].decode(errors="replace"))


def spans_in(data: bytes, *, source: str, limit: int, each_line_once: bool, group: int) -> bytes:
    """Returns the offsets in bytes as JSON. It runs in an isolated process."""
    found = _spans(_engine(source), data, limit, each_line_once=each_line_once, group=group)
    return json.dumps(list(found), separators=(",", ":")).encode()


def _isolated(
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
    """Where to continue the search: after the match, or after a whole character if it had no width."""
    if end > start:
        return end
    end += 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return end


def _in_words(problem: str) -> str:
    """RE2's own message, with what to do if that is not obvious."""
    if problem.startswith("invalid repetition size"):
        return TOO_MANY_REPEATS
    if problem.startswith("pattern too large"):
        return "it is too large with its counted repeats written out; use + or * instead"
    return truncate(problem, 120)
