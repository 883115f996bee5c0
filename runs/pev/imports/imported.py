"""Plans as JSON from outside: written by hand, taken from elsewhere, or exported by pevsite before.

Beyond the contract these forms of other planners are read:

* plans of objective, steps and postconditions, tasks with an expected output, and mere lists of steps;
* steps as text or as an object by id, criteria as text, nested context, integers as ids;
* complexity as a number (1 to 3 low, 4 to 7 medium, 8 to 10 high), or none, which is medium;
* an action as text that begins with a tool (“read_file: the leases”), or as an object with `params`, which are added to
  its purpose. Text that names no tool becomes a part of the description.

Fields that are known to describe a step or a plan become part of its description or context. The state of another run
(status, retries, evidence, the complexity of a whole plan) is left out, and what a criterion in words is about is
guessed. A note says each of these to the person, who sees the plan before anything runs. Everything else is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from pydantic import JsonValue, ValidationError

from runs.contracts.base import JsonObject
from runs.documents.content import text_of
from runs.errors import InvalidInput, PlanRefused
from runs.pev.contracts import PlanContract
from runs.pev.imports.notes import (
    NOTHING,
    ConversionNotes,
    Place,
    place_in_words,
    problems_of,
    value_in_words,
    with_contract_names,
    without_state,
)
from runs.pev.imports.step_forms import DEPENDENCIES, NO_TOOL, STEP_SYNONYMS, is_other, paths_of, read_criteria, step_of
from runs.text.json_schemas import parsed

ROLLBACK = "The plan says nothing of it. Steps work on a copy of the files, and only verified results are kept."
GOAL = "What the request asks for, reached by the steps of this plan."
REACHED = "The goal of the plan is reached."
MAX_NOTED = 60
"""Characters of a value that a note repeats."""
SYNONYMS = {
    "objective": "goal",
    "input": "goal",
    "title": "goal",
    "plan": "steps",
    "tasks": "steps",
    "task_list": "steps",
    "postconditions": "success_criteria",
    "success_conditions": "success_criteria",
    "ai_goals": "goals",
    "rollback": "rollback_strategy",
}
"""What other plans call the fields of the whole."""
_OTHER = frozenset(SYNONYMS.keys() - {"title", "rollback"} | {"goals"})
"""A plan with one of these is not in the form of the contract: it may lack what that asks for."""
_TO_CONTEXT = (
    *("title", "name", "description", "preconditions", "constraints", "assumptions", "background", "notes", "inputs"),
    *("ai_name", "ai_role", "agents", "process", "past_steps", "response"),
)
"""What other plans say of the whole, and the contract has no field for."""


def plan_of(value: JsonValue, notes: ConversionNotes, max_steps: int) -> JsonValue:
    """The plan in the form of the contract, as far as it can be put into that; the rest is left, to be refused.

    Raises PlanRefused for too many steps, before they are read.
    """
    value = _unwrap(value)
    if not isinstance(value, dict):
        return value
    value = without_state(value, notes, "id", "plan_id")
    # Each step has its own complexity; that of a whole plan decides nothing.
    if (complexity := value.pop("estimated_complexity", None)) not in NOTHING:
        notes.add(f"Left out: the complexity of the whole plan ({value_in_words(complexity)[:MAX_NOTED]})")
    made = with_contract_names(value, SYNONYMS, notes)
    _goals(made, notes)
    _context(made, notes)
    if made.get("rollback_strategy") in NOTHING:
        made["rollback_strategy"] = ROLLBACK
    if _steps(made, notes, max_steps, other=not _OTHER.isdisjoint(value)):
        if made.get("goal") is None:
            made["goal"] = GOAL
            notes.add("It names no goal: that is what the request asks for")
        if made.get("success_criteria") in NOTHING:
            made["success_criteria"] = [REACHED]
            notes.add("It does not say what must hold in the end: that its goal is reached")
    steps = made.get("steps")
    outputs = [path for step in (steps if isinstance(steps, list) else ()) for path in paths_of(step)]
    read_criteria(made, "success_criteria", outputs, notes)
    return made


def _unwrap(value: JsonValue) -> JsonValue:
    """Without objects that only hold a plan; what stands beside it is of the plan. A list is one of steps."""
    while isinstance(value, dict) and isinstance(inner := value.get("plan"), dict):
        beside = {name: part for name, part in value.items() if name != "plan"}
        if beside.keys() & inner.keys():
            break
        value = beside | inner
    return {"steps": value} if isinstance(value, list) and value else value


def _goals(made: JsonObject, notes: ConversionNotes) -> None:
    """A list of goals is the goal, and the success criteria if the plan has no others."""
    goals = made.get("goals")
    listed = goals if isinstance(goals, list) else [goals]
    texts = [text for text in listed if isinstance(text, str)]
    lacking = [name for name in ("goal", "success_criteria") if made.get(name) is None]
    if not texts or len(texts) != len(listed) or not lacking:
        return
    del made["goals"]
    if "goal" in lacking:
        made["goal"] = "\n".join(texts)
    if "success_criteria" in lacking:
        made["success_criteria"] = list(texts)
    notes.add(f"The goals are read as {' and '.join(lacking)}")


def _context(made: JsonObject, notes: ConversionNotes) -> None:
    context = made.get("context")
    if isinstance(context, str):
        context = {"context": context}
    if isinstance(context, dict):
        context = [{"name": name, "value": value} for name, value in context.items()]
    if not isinstance(context, list | None):
        return
    items = list(context or [])
    for name in (name for name in _TO_CONTEXT if name in made):
        value = made.pop(name)
        if value not in NOTHING:
            items.append({"name": name, "value": value})
            notes.add(f"Its {name} is read as context")
    made["context"] = [_context_item(item, number, notes) for number, item in enumerate(items, 1)]


def _context_item(item: JsonValue, number: int, notes: ConversionNotes) -> JsonValue:
    if not isinstance(item, dict):
        item = {"name": f"context {number}", "value": item}
    elif item.keys().isdisjoint({"name", "value"}):
        ((name, value),) = item.items() if len(item) == 1 else [(f"context {number}", item)]
        item = {"name": name, "value": value}
    value = item.get("value", "")
    if isinstance(value, dict | list):
        notes.add("Nested context is read as text")
    return item if isinstance(value, str) else item | {"value": value_in_words(value)}


def _steps(made: JsonObject, notes: ConversionNotes, max_steps: int, *, other: bool) -> bool:
    """Reads the steps; whether the plan or one of them is in an `other` form than the contract's."""
    steps = made.get("steps")
    if not isinstance(steps, dict | list):
        return other
    if len(steps) > max_steps:
        raise PlanRefused([f"The plan has {len(steps):,} steps; at most {max_steps} can be imported."])
    if isinstance(steps, dict):
        notes.add("The names of the steps are their ids")
        steps = [_with_key(key, step) for key, step in steps.items()]
    other = other or any(map(is_other, steps))
    ordered = other and not any(isinstance(step, dict) and not DEPENDENCIES.isdisjoint(step) for step in steps)
    made["steps"] = read = [step_of(step, number, notes, other=other) for number, step in enumerate(steps, 1)]
    notes.step = ""
    found = [step for step in read if isinstance(step, dict)]
    if ordered and len(found) > 1 and not any(step["dependencies"] for step in found):
        for before, step in pairwise(found):
            step["dependencies"] = [before.get("step_id")]
        notes.add("No step says what it depends on: each follows the one before")
    return other


def _with_key(key: str, step: JsonValue) -> JsonValue:
    if isinstance(step, str):
        return {"step_id": key, "instruction": step}
    if not isinstance(step, dict):
        return step
    return {"step_id": key} | {name: part for name, part in step.items() if (name, part) != ("id", key)}


MAX_BYTES = 1_000_000  # of a plan as JSON
MAX_STEPS = 500
MAX_LEVELS = 40
"""A plan is a form's field: parsed in the request, kept in a row and shown on one page. No one approves 500 steps."""


@dataclass(frozen=True)
class Imported:
    """A plan from outside, and a sentence for each thing that was read as another."""

    plan: PlanContract
    notes: Sequence[str]

    def reason(self, name: str) -> str:
        """Where version 1 of a plan comes from, for those who are asked about it."""
        return " ".join([f"Imported from “{name}”.", *self.notes])


def imported(data: bytes) -> Imported:
    """The plan in a JSON file. Raises PlanRefused with everything that is wrong with its form.

    Whether such a plan can be run is another question: `soundness.problems_in`.
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
    return imported_value(value)


def plan_in(data: bytes) -> PlanContract:
    """The same without the notes."""
    return imported(data).plan


def plan_from(value: JsonValue) -> PlanContract:
    """The same for a JSON value that has been read already."""
    return imported_value(value).plan


def imported_value(value: JsonValue) -> Imported:
    """What is in a JSON value that has been read already. Raises PlanRefused."""
    problem = _unfit_part(value, value, ())
    if problem:
        raise PlanRefused([problem])
    notes = ConversionNotes()
    plan = _validate(plan_of(value, notes, MAX_STEPS))
    if any(action.tool == NO_TOOL for step in plan.steps for action in step.actions):
        whole = plan.model_dump(mode="json")
        plan = _validate(whole | {"steps": [_with_description(step) for step in whole["steps"]]})
    return Imported(plan, notes.sentences)


def exported(plan: PlanContract) -> str:
    """JSON to read and to keep; `plan_in` gives the same plan back."""
    return plan.model_dump_json(indent=2) + "\n"


def _validate(made: JsonValue) -> PlanContract:
    try:
        return PlanContract.model_validate(made)
    except ValidationError as error:
        raise PlanRefused(problems_of(made, error, SYNONYMS, STEP_SYNONYMS)) from error


def _with_description(step: JsonObject) -> JsonObject:
    """The step with its actions that name no tool as lines of its description."""
    actions = cast("list[JsonObject]", step["actions"])
    lines = [f"- {action['purpose']}" for action in actions if action["tool"] == NO_TOOL]
    if not lines:
        return step
    kept: list[JsonValue] = [action for action in actions if action["tool"] != NO_TOOL]
    return step | {"actions": kept, "description": "\n".join([f"{step['description']}\n\nActions:", *lines])}


def _unfit_part(plan: JsonValue, value: JsonValue, place: Place) -> str:
    if len(place) > MAX_LEVELS:
        return f"The plan is nested more than {MAX_LEVELS} levels deep; write deep values as text."
    texts = value if isinstance(value, dict) else [value] if isinstance(value, str) else []
    if any("\0" in text or not _is_unicode(text) for text in texts):
        return f"{place_in_words(plan, place)}: a text has a NUL character or half of a character; remove it."
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    parts = ((key, part) for key, part in inner if isinstance(part, dict | list | str))
    return next(filter(None, (_unfit_part(plan, part, (*place, key)) for key, part in parts)), "")


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
