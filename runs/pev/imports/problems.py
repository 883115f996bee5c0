"""What is wrong with the form of an imported plan: sentences for people, from the errors of its validation."""

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import JsonValue, ValidationError

from runs.contracts.base import JsonObject
from runs.text.plural import pluralize
from runs.text.truncate import quoted

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
        return f"{where(plan, place[:-1])}: “{place[-1]}” is missing; {hint}."
    if kind == "extra_forbidden":
        same = (of_plan if len(place) == 1 else of_parts).get(str(place[-1]))
        hint = f"it means the same as “{same}”, keep one of them" if same else "there is no such field; remove it"
        return f"{where(plan, place[:-1])}: {_shown(str(place[-1]))} cannot be used: {hint}."
    known = cast("dict[str, object]", error.get("ctx", {}))
    message = _WRONG[kind].format(**known).replace("'", "") if kind in _WRONG else str(error["msg"])
    return f"{where(plan, place)}: {message}."


def where(plan: JsonValue, place: Place) -> str:
    """A place in words, such as `Step “review”, acceptance_criteria 2, check`."""
    parts, rest = ["The plan"], list(place)
    if len(rest) > 1 and rest[0] == "steps" and isinstance(rest[1], int):
        parts, rest = [_step_at(plan, rest[1])], rest[2:]
    for before, part in zip([None, *rest], rest, strict=False):
        if isinstance(part, int):
            parts[-1] += f" {part + 1}"
        elif before != "check" or part == "kind":
            parts.append(part if part.isidentifier() and len(part) <= 80 else _shown(part))
    return ", ".join(parts)


def _step_at(plan: JsonValue, index: int) -> str:
    steps = cast("list[JsonValue]", cast("JsonObject", plan)["steps"])
    step = steps[index]
    name = step.get("step_id", step.get("id")) if isinstance(step, dict) else None
    return f"Step {_shown(str(name))}" if isinstance(name, str | int) and str(name).strip() else f"Step {index + 1}"


def _shown(text: str) -> str:
    return quoted("".join(character if character.isprintable() else "�" for character in text[:400]))
