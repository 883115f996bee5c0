"""Whole plans in the forms of others, put into that of the contract. What was read as what is noted for people."""

from itertools import pairwise

from pydantic import JsonValue

from runs.contracts.base import JsonObject
from runs.errors import PlanRefused
from runs.pev.imports.notes import NOTHING, Notes, named, without_state, written
from runs.pev.imports.step_forms import DEPENDENCIES, is_other, paths_of, read_criteria, step_of

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


def plan_of(value: JsonValue, notes: Notes, max_steps: int) -> JsonValue:
    """The plan in the form of the contract, as far as it can be put into that; the rest is left, to be refused.

    Raises PlanRefused for too many steps, before they are read.
    """
    value = _unwrapped(value)
    if not isinstance(value, dict):
        return value
    value = without_state(value, notes, "id", "plan_id")
    _complexity(value, notes)
    made = named(value, SYNONYMS, notes)
    _goals(made, notes)
    _context(made, notes)
    if made.get("rollback_strategy") in NOTHING:
        made["rollback_strategy"] = ROLLBACK
    if _steps(made, notes, max_steps, other=not _OTHER.isdisjoint(value)):
        _reached(made, notes)
    steps = made.get("steps")
    outputs = [path for step in (steps if isinstance(steps, list) else ()) for path in paths_of(step)]
    read_criteria(made, "success_criteria", outputs, notes)
    return made


def _complexity(value: JsonObject, notes: Notes) -> None:
    """Each step has its own; that of a whole plan says nothing that anybody decides by."""
    if (complexity := value.pop("estimated_complexity", None)) not in NOTHING:
        notes.add(f"Left out: the complexity of the whole plan ({written(complexity)[:MAX_NOTED]})")


def _unwrapped(value: JsonValue) -> JsonValue:
    """Without objects that only hold a plan; what stands beside it is of the plan. A list is one of steps."""
    while isinstance(value, dict) and isinstance(inner := value.get("plan"), dict):
        beside = {name: part for name, part in value.items() if name != "plan"}
        if beside.keys() & inner.keys():
            break
        value = beside | inner
    return {"steps": value} if isinstance(value, list) and value else value


def _goals(made: JsonObject, notes: Notes) -> None:
    """A list of goals says what is to be reached, and what must hold in the end, where nothing else says it."""
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


def _reached(made: JsonObject, notes: Notes) -> None:
    if made.get("goal") is None:
        made["goal"] = GOAL
        notes.add("It names no goal: that is what the request asks for")
    if made.get("success_criteria") in NOTHING:
        made["success_criteria"] = [REACHED]
        notes.add("It does not say what must hold in the end: that its goal is reached")


def _context(made: JsonObject, notes: Notes) -> None:
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


def _context_item(item: JsonValue, number: int, notes: Notes) -> JsonValue:
    if not isinstance(item, dict):
        item = {"name": f"context {number}", "value": item}
    elif item.keys().isdisjoint({"name", "value"}):
        ((name, value),) = item.items() if len(item) == 1 else [(f"context {number}", item)]
        item = {"name": name, "value": value}
    value = item.get("value", "")
    if isinstance(value, dict | list):
        notes.add("Nested context is read as text")
    return item if isinstance(value, str) else item | {"value": written(value)}


def _steps(made: JsonObject, notes: Notes, max_steps: int, *, other: bool) -> bool:
    """Reads the steps; whether the plan or one of them is in an `other` form than the contract's."""
    steps = made.get("steps")
    if not isinstance(steps, dict | list):
        return other
    if len(steps) > max_steps:
        raise PlanRefused([f"The plan has {len(steps):,} steps; at most {max_steps} can be imported."])
    if isinstance(steps, dict):
        notes.add("The names of the steps are their ids")
        steps = [_keyed(key, step) for key, step in steps.items()]
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


def _keyed(key: str, step: JsonValue) -> JsonValue:
    if isinstance(step, str):
        return {"step_id": key, "instruction": step}
    if not isinstance(step, dict):
        return step
    return {"step_id": key} | {name: part for name, part in step.items() if (name, part) != ("id", key)}
