"""Plans as JSON from outside: written by hand, taken from elsewhere, or exported by pevsite before.

Beyond the contract these forms are taken, each turned into one that a person sees before anything runs:
criteria as text; an object as context; integers as ids; complexity as a number, 1 to 3 low, 4 to 7 medium, 8 to 10
high, or as a word with capitals; `id`, `title`, `depends_on`, `complexity` for the names of the contract. An action may
be text that begins with a tool (“read_file: the leases”), or an object with `params`, which are added to its purpose.
Text that names no tool becomes a part of the step's description. Everything else is refused, nothing is dropped.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from pydantic import JsonValue, ValidationError

from runs.enums import Complexity
from runs.errors import InvalidInput, PlanRefused
from runs.pev.contracts import JsonObject, PlanContract
from runs.pev.evidence import quoted
from runs.pev.paths import text_of
from runs.pev.schemas import parsed
from runs.pev.tools import TOOL_NAMES

MAX_BYTES = 1_000_000
MAX_STEPS = 500
MAX_LEVELS = 40
SHOWN_PROBLEMS = 30
"""A plan is a form's field: parsed in the request, kept in a row and shown on one page. Nobody approves 500 steps."""
ROLLBACK = "The plan says nothing of it. Steps work on a copy of the files, and only verified results are kept."
PURPOSE = "As the description of the step says."

_NO_TOOL = "\0"
"""Cannot come from outside: NUL characters are refused."""

type _Place = tuple[int | str, ...]

_PLAN = {"title": "goal"}
_STEP = {"id": "step_id", "title": "name", "depends_on": "dependencies", "complexity": "estimated_complexity"}
_ACTION = {"name": "tool", "action": "tool", "description": "purpose", "parameters": "params"}
_CRITERION = {"criterion": "text", "description": "text"}
_CHECK = {"least": "min", "most": "max"}
"""What version 0.1 called the bounds of a check; its exports can still be imported."""
_SYNONYMS = {**_ACTION, **_CRITERION, **_PLAN, **_STEP}
_BEGINS_WITH_TOOL = re.compile(rf"\s*({'|'.join(sorted(TOOL_NAMES))})\b[\s:–—-]*(.*)", re.DOTALL)


def plan_in(data: bytes) -> PlanContract:
    """The plan in a JSON file. Raises PlanRefused with everything that is wrong with its form.

    Whether such a plan can be run is another question: `planner.problems_in`.
    """
    if len(data) > MAX_BYTES:
        raise PlanRefused([f"The plan has {len(data):,} bytes; {MAX_BYTES:,} are allowed."])
    text = text_of(data)
    if text is None:
        raise PlanRefused(["The plan is not a text file; export it as JSON in UTF-8."])
    try:
        value = parsed(text, once=True)
    except InvalidInput as error:
        raise PlanRefused([f"The plan is not valid JSON: {error}."]) from error
    return plan_from(value)


def plan_from(value: JsonValue) -> PlanContract:
    """The same for a JSON value that has been read already."""
    problem = _unfit(value)
    if problem:
        raise PlanRefused([problem])
    plan = _validated(_plan(value))
    if not any(action.tool == _NO_TOOL for step in plan.steps for action in step.actions):
        return plan
    whole = plan.model_dump(mode="json")
    return _validated(whole | {"steps": [_with_description(step) for step in whole["steps"]]})


def exported(plan: PlanContract) -> str:
    """JSON to read and to keep; `plan_in` gives the same plan back."""
    return plan.model_dump_json(indent=2) + "\n"


def shortened(problems: Sequence[str]) -> list[str]:
    """The first of many problems, and how many more there are."""
    more = len(problems) - SHOWN_PROBLEMS
    return [*problems[:SHOWN_PROBLEMS], *([f"And {more:,} more problems of the kind."] if more > 0 else [])]


def _validated(made: JsonValue) -> PlanContract:
    try:
        return PlanContract.model_validate(made)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise PlanRefused(shortened([_sentence(made, cast("JsonObject", item)) for item in found])) from error


def _with_description(step: JsonObject) -> JsonObject:
    """The step with its actions that name no tool as lines of its description."""
    actions = cast("list[JsonObject]", step["actions"])
    lines = [f"- {action['purpose']}" for action in actions if action["tool"] == _NO_TOOL]
    if not lines:
        return step
    kept: list[JsonValue] = [action for action in actions if action["tool"] != _NO_TOOL]
    return step | {"actions": kept, "description": "\n".join([f"{step['description']}\n\nActions:", *lines])}


def _unfit(value: JsonValue) -> str:
    """What forbids a closer look: too many steps, too deep, characters that no database keeps."""
    steps = value.get("steps") if isinstance(value, dict) else None
    if isinstance(steps, list) and len(steps) > MAX_STEPS:
        return f"The plan has {len(steps):,} steps; at most {MAX_STEPS} can be imported."
    return _unfit_part(value, value, ())


def _unfit_part(plan: JsonValue, value: JsonValue, place: _Place) -> str:
    if len(place) > MAX_LEVELS:
        return f"The plan is nested more than {MAX_LEVELS} levels deep; write deep values as text."
    texts = value if isinstance(value, dict) else [value] if isinstance(value, str) else []
    if any("\0" in text or not _is_unicode(text) for text in texts):
        return f"{_where(plan, place)}: a text has a NUL character or half of a character; remove it."
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    parts = ((key, part) for key, part in inner if isinstance(part, dict | list | str))
    return next(filter(None, (_unfit_part(plan, part, (*place, key)) for key, part in parts)), "")


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _plan(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    made = _named(value, _PLAN, {"context": [], "rollback_strategy": ROLLBACK})
    context = made["context"]
    if isinstance(context, dict):
        made["context"] = [{"name": name, "value": value} for name, value in context.items()]
    _each(made, "steps", _step)
    _each(made, "success_criteria", _criterion)
    return made


def _step(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    made = _named(value, _STEP, {"actions": [], "expected_outputs": [], "dependencies": []})
    if made.get("description") is None and "name" in made:
        made["description"] = made["name"]
    for name, read in (("step_id", _id), ("estimated_complexity", _complexity)):
        if name in made:
            made[name] = read(made[name])
    for name, read in (("dependencies", _id), ("actions", _action), ("acceptance_criteria", _criterion)):
        _each(made, name, read)
    return made


def _named(value: JsonObject, synonyms: Mapping[str, str], defaults: JsonObject) -> JsonObject:
    """The object under the contract's names. Of two names for one thing the second stays, to be refused."""
    made = dict(value)
    for given, name in synonyms.items():
        if given in made and name not in made:
            made[name] = made.pop(given)
    return made | {name: default for name, default in defaults.items() if made.get(name) is None}


def _each(made: JsonObject, name: str, read: Callable[[JsonValue], JsonValue]) -> None:
    listed = made.get(name)
    if isinstance(listed, list):
        made[name] = [read(item) for item in listed]


def _criterion(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, dict):
        return value
    made = _named(value, _CRITERION, {})
    if isinstance(check := made.get("check"), dict):
        made["check"] = _named(check, _CHECK, {})
    return made


def _id(value: JsonValue) -> JsonValue:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _complexity(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value.strip().lower()
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10:
        return (Complexity.LOW if value <= 3 else Complexity.MEDIUM if value <= 7 else Complexity.HIGH).value
    return value


def _action(value: JsonValue) -> JsonValue:
    """An action of the contract; text that begins with no tool is marked, so that the others keep their numbers."""
    if isinstance(value, str):
        found = _BEGINS_WITH_TOOL.fullmatch(value)
        return {"tool": found[1], "purpose": found[2] or PURPOSE} if found else {"tool": _NO_TOOL, "purpose": value}
    if not isinstance(value, dict):
        return value
    made = _named(value, _ACTION, {})
    params, purpose = made.pop("params", None), made.get("purpose")
    if params not in (None, {}):
        details = f"with {json.dumps(params, ensure_ascii=False)}"
        made["purpose"] = f"{purpose} ({details})" if isinstance(purpose, str) else purpose or details
    return {"purpose": PURPOSE} | {name: item for name, item in made.items() if (name, item) != ("purpose", None)}


_LACKING = {
    "goal": "say what is to be reached",
    "steps": "list at least one step",
    "success_criteria": "say at least one thing that must hold in the end",
    "step_id": "give the step one, such as 1 or “review”",
    "name": "say in a few words what the step does",
    "acceptance_criteria": "say at least one thing that must hold when the step is done",
    "estimated_complexity": "say low, medium or high, or a whole number from 1 to 10",
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


def _sentence(plan: JsonValue, error: JsonObject) -> str:
    """What is wrong, where, and what to do; from one error of Pydantic."""
    kind, place = str(error["type"]), cast("_Place", error["loc"])
    if kind == "missing":
        hint = _LACKING.get(str(place[-1]), "add it")
        return f"{_where(plan, place[:-1])}: “{place[-1]}” is missing; {hint}."
    if kind == "extra_forbidden":
        same = _SYNONYMS.get(str(place[-1]))
        hint = f"it means the same as “{same}”, keep one of them" if same else "there is no such field; remove it"
        return f"{_where(plan, place[:-1])}: {_shown(str(place[-1]))} cannot be used: {hint}."
    known = cast("dict[str, object]", error.get("ctx", {}))
    message = _WRONG[kind].format(**known).replace("'", "") if kind in _WRONG else str(error["msg"])
    return f"{_where(plan, place)}: {message}."


def _where(plan: JsonValue, place: _Place) -> str:
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
