"""What people see about an imported plan: a note for each thing that was read as something else, and a sentence
for each error that keeps the plan from being read.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from pydantic import JsonValue, ValidationError

from runs.contracts.base import JsonObject
from runs.text.plural import pluralize
from runs.text.truncate import quoted

MAX_NAMED = 5
"""Steps that a note names."""
MAX_TEXT = 10_000
"""Characters of nested values that are written out: no field may have as many, so what is longer is refused."""
NOTHING: tuple[JsonValue, ...] = (None, "", [], {})
"""What says nothing, so that leaving it out drops nothing."""


class ConversionNotes:
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
        found = [f"{what}{_steps_in_words(steps)}." for what, steps in self._steps.items()]
        return (*([f"Read {names}."] if names else []), *found)


def _steps_in_words(steps: list[str]) -> str:
    more = f" and {len(steps) - MAX_NAMED} more" if len(steps) > MAX_NAMED else ""
    return f" (step {', '.join(steps[:MAX_NAMED])}{more})" if steps else ""


def value_in_words(value: JsonValue) -> str:
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


def with_contract_names(
    value: JsonObject, synonyms: Mapping[str, str], notes: ConversionNotes | None = None
) -> JsonObject:
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


def without_state(value: JsonObject, notes: ConversionNotes, *more: str) -> JsonObject:
    """The object without what says how far another run of it had come; that it is left out is noted."""
    left_out = [name for name in (*STATE, *more) if name in value]
    if said := [name for name in left_out if value[name] not in NOTHING]:
        notes.add(f"Left out, since it is the state of another run: {', '.join(said)}")
    return {name: part for name, part in value.items() if name not in left_out}


def each_of(made: JsonObject, name: str, read: Callable[[JsonValue], JsonValue]) -> None:
    listed = made.get(name)
    if isinstance(listed, list):
        made[name] = [read(item) for item in listed]


SHOWN_PROBLEMS = 30

type Place = tuple[int | str, ...]

_LACKING = {
    "goal": "say what is to be reached",
    "steps": "list at least one step",
    "success_criteria": "say at least one thing that must hold in the end",
    "step_id": "give the step one, such as 1 or “review”",
    "name": "say in a few words what the step does",
    "acceptance_criteria": "say at least one thing that must hold when the step is done",
    "tool": "name one, or write the whole action as plain text",
}
_NUMBER = "it must be a whole number"
_WRONG = {
    "string_type": "it must be text",
    "string_too_short": "it is empty",
    "string_too_long": "it may have {max_length:,} characters at most",
    "string_pattern_mismatch": "it may have 60 letters, digits, dots, hyphens and underscores, a letter or digit first",
    "list_type": "it must be a list",
    "too_short": "it is empty",
    "too_long": "it may have {max_length:,} entries at most",
    "enum": "it must be low, medium or high, or a whole number from 1 to 10",
    "int_type": _NUMBER,
    "int_parsing": _NUMBER,
    "int_parsing_size": _NUMBER,
    "int_from_float": _NUMBER,
    "finite_number": _NUMBER,
    "greater_than_equal": "it must be at least {ge:,}",
    "less_than_equal": "it must be at most {le:,}",
    "model_type": "it must be an object",
    "model_attributes_type": "it must be an object with a “kind”",
    "union_tag_not_found": "it needs a “kind”, such as file_exists",
    "union_tag_invalid": "there is no such kind; there are {expected_tags}",
}


def problems_of(
    made: JsonValue, error: ValidationError, of_plan: Mapping[str, str], of_parts: Mapping[str, str]
) -> list[str]:
    """A sentence for each error. `of_plan`, `of_parts`: what other plans call the fields of the contract."""
    found = [cast("JsonObject", item) for item in error.errors(include_url=False, include_input=False)]
    return shortened([_sentence(made, item, of_plan, of_parts) for item in found])


def shortened(problems: Sequence[str]) -> list[str]:
    """The first of many problems, and how many more there are."""
    more = len(problems) - SHOWN_PROBLEMS
    return [*problems[:SHOWN_PROBLEMS], *([f"And {pluralize(more, 'more problem')} of the kind."] if more > 0 else [])]


def _sentence(plan: JsonValue, error: JsonObject, of_plan: Mapping[str, str], of_parts: Mapping[str, str]) -> str:
    """What is wrong, where, and what to do; from one error of Pydantic."""
    kind, place = str(error["type"]), cast("Place", error["loc"])
    if kind == "missing":
        hint = _LACKING.get(str(place[-1]), "add it")
        return f"{place_in_words(plan, place[:-1])}: “{place[-1]}” is missing; {hint}."
    if kind == "extra_forbidden":
        same = (of_plan if len(place) == 1 else of_parts).get(str(place[-1]))
        hint = f"it means the same as “{same}”, keep one of them" if same else "there is no such field; remove it"
        return f"{place_in_words(plan, place[:-1])}: {_printable(str(place[-1]))} cannot be used: {hint}."
    known = cast("dict[str, object]", error.get("ctx", {}))
    message = _WRONG[kind].format(**known).replace("'", "") if kind in _WRONG else str(error["msg"])
    return f"{place_in_words(plan, place)}: {message}."


def place_in_words(plan: JsonValue, place: Place) -> str:
    """A place in words, such as `Step “review”, acceptance_criteria 2, check`."""
    parts, rest = ["The plan"], list(place)
    if len(rest) > 1 and rest[0] == "steps" and isinstance(rest[1], int):
        step = cast("list[JsonValue]", cast("JsonObject", plan)["steps"])[rest[1]]
        name = step.get("step_id", step.get("id")) if isinstance(step, dict) else None
        is_named = isinstance(name, str | int) and bool(str(name).strip())
        parts, rest = [f"Step {_printable(str(name)) if is_named else rest[1] + 1}"], rest[2:]
    for before, part in zip([None, *rest], rest, strict=False):
        if isinstance(part, int):
            parts[-1] += f" {part + 1}"
        elif before != "check" or part == "kind":
            parts.append(part if part.isidentifier() and len(part) <= 80 else _printable(part))
    return ", ".join(parts)


def _printable(text: str) -> str:
    return quoted("".join(character if character.isprintable() else "�" for character in text[:400]))
