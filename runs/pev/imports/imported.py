"""Plans as JSON from outside: written by hand, taken from elsewhere, or exported by pevsite before.

Beyond the contract the forms of other planners are taken (`plan_forms`): plans of objective, steps and postconditions,
tasks with an expected output, mere lists of steps; steps as text or as an object by id; criteria as text; nested
context; integers as ids; complexity as a number, 1 to 3 low, 4 to 7 medium, 8 to 10 high, or not at all, which is
medium. An action may be text that begins with a tool (“read_file: the leases”), or an object with `params`, which are
added to its purpose. Text that names no tool, and what the contract has no field for but is known to be said of a step
or plan, becomes a part of its description or context. Each is turned into one that a person sees before anything runs,
with a note of what was read as what. The state of another run (status, retries, evidence, the complexity of a whole
plan) is left out, which a note says. What a criterion in words is about is guessed, which a note says too. Everything
else is refused, nothing is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue, ValidationError

from runs.contracts.base import JsonObject
from runs.documents.content import text_of
from runs.errors import InvalidInput, PlanRefused
from runs.pev.contracts import PlanContract
from runs.pev.imports.notes import Notes
from runs.pev.imports.plan_forms import SYNONYMS, plan_of
from runs.pev.imports.problems import Place, problems_of, where
from runs.pev.imports.step_forms import NO_TOOL, STEP_SYNONYMS
from runs.text.json_schemas import parsed

MAX_BYTES = 1_000_000
MAX_STEPS = 500
MAX_LEVELS = 40
"""A plan is a form's field: parsed in the request, kept in a row and shown on one page. Nobody approves 500 steps."""


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
    notes = Notes()
    plan = _validated(plan_of(value, notes, MAX_STEPS))
    if any(action.tool == NO_TOOL for step in plan.steps for action in step.actions):
        whole = plan.model_dump(mode="json")
        plan = _validated(whole | {"steps": [_with_description(step) for step in whole["steps"]]})
    return Imported(plan, notes.sentences)


def exported(plan: PlanContract) -> str:
    """JSON to read and to keep; `plan_in` gives the same plan back."""
    return plan.model_dump_json(indent=2) + "\n"


def _validated(made: JsonValue) -> PlanContract:
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
        return f"{where(plan, place)}: a text has a NUL character or half of a character; remove it."
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    parts = ((key, part) for key, part in inner if isinstance(part, dict | list | str))
    return next(filter(None, (_unfit_part(plan, part, (*place, key)) for key, part in parts)), "")


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
