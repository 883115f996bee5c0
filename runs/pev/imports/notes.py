"""What was read as what in an imported plan: names, and values written out in lines for people."""

import json
from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from runs.contracts.base import JsonObject

MAX_NAMED = 5
"""Steps that a note names."""
MAX_TEXT = 10_000
"""Characters of nested values that are written out: no field may have as many, so what is longer is refused."""
NOTHING: tuple[JsonValue, ...] = (None, "", [], {})
"""What says nothing, so that leaving it out drops nothing."""


class Notes:
    """What was read as what: names in one sentence, all else in one for each kind, with the steps it happened in."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._steps: dict[str, list[str]] = {}
        self.step = ""

    def renamed(self, given: str, name: str) -> None:
        self._names.setdefault(given, name)

    def add(self, what: str) -> None:
        steps = self._steps.setdefault(what, [])
        if self.step and self.step not in steps:
            steps.append(self.step)

    @property
    def sentences(self) -> tuple[str, ...]:
        names = ", ".join(f"{given} as {name}" for given, name in self._names.items())
        found = [f"{what}{_listed(steps)}." for what, steps in self._steps.items()]
        return (*([f"Read {names}."] if names else []), *found)


def _listed(steps: list[str]) -> str:
    more = f" and {len(steps) - MAX_NAMED} more" if len(steps) > MAX_NAMED else ""
    return f" (step {', '.join(steps[:MAX_NAMED])}{more})" if steps else ""


def written(value: JsonValue) -> str:
    """A value in lines for people; of one that is too long for any field the beginning, which is too long as well."""
    lines, size = list[str](), 0
    for line in _lines(value, ""):
        lines.append(line)
        size += len(line)
        if size > MAX_TEXT:
            break
    return "\n".join(lines)


def _lines(value: JsonValue, indent: str) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        pairs = value.items() if isinstance(value, dict) else [("-", part) for part in value]
        for name, part in pairs:
            mark = f"{indent}{name}" if isinstance(value, list) else f"{indent}{name}:"
            if isinstance(part, dict | list) and part:
                yield mark
                yield from _lines(part, f"{indent}  ")
            else:
                yield f"{mark} {_scalar(part)}"
    else:
        yield f"{indent}{_scalar(value)}"


def _scalar(value: JsonValue) -> str:
    if value in NOTHING:
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


def named(value: JsonObject, synonyms: Mapping[str, str], notes: Notes | None = None) -> JsonObject:
    """The object under the contract's names. Of two names for one thing the second stays, to be refused."""
    made = dict(value)
    for given, name in synonyms.items():
        if given in made and made.get(name) is None:
            made[name] = made.pop(given)
            if notes:
                notes.renamed(given, name)
    return made


STATE = (
    *("status", "feedback", "retry_count", "max_retries", "evidence", "satisfied", "result", "error", "current_step"),
    *("created_at", "updated_at", "started_at", "completed_at", "finished_at", "completed", "progress"),
    *("attempts", "attempt_count", "version", "metadata"),
)
"""What other tools note in a plan while they carry it out, or about the plan itself."""


def without_state(value: JsonObject, notes: Notes, *more: str) -> JsonObject:
    """The object without what says how far another run of it had come; that it is left out is noted."""
    left_out = [name for name in (*STATE, *more) if name in value]
    if said := [name for name in left_out if value[name] not in NOTHING]:
        notes.add(f"Left out, since it is the state of another run: {', '.join(said)}")
    return {name: part for name, part in value.items() if name not in left_out}


def each_of(made: JsonObject, name: str, read: Callable[[JsonValue], JsonValue]) -> None:
    listed = made.get(name)
    if isinstance(listed, list):
        made[name] = [read(item) for item in listed]
