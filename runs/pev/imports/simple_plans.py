"""The simple plan of a small model, made into a whole one by the importer that reads plans of people."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import cast

from pydantic import JsonValue

from runs.contracts.base import JsonObject
from runs.enums import Complexity
from runs.evidence.source_names import Paths
from runs.pev.contracts import Criterion, PlanContract, PlanStep, SimplePlan
from runs.pev.imports.imported import Imported, imported_value
from runs.pev.imports.notes import MAX_NAMED
from runs.pev.soundness import without_sources
from runs.text.patterns import Budget

NAMES_SECONDS = 5.0  # for finding the files that a description names
MAX_INPUTS = 100
NO_COMPLEXITY = "A simple plan does not say how complex its steps are: medium."
IN_ORDER = "No step says what it depends on: each follows the one before."


def whole_plan(
    simple: SimplePlan, given: Iterable[str] = (), kept: Sequence[PlanStep] = (), *, sources_needed: bool = True
) -> Imported:
    """The plan, and a sentence for each thing that was guessed. Raises PlanRefused.

    `given`: the paths of the files of the task, of which a step deals with those that its description names. `kept`:
    the settled steps of the version before. They come first and stay as they are, and the numbers in the simple plan
    count them.
    """
    keys, notes = _keys(simple, kept), [NO_COMPLEXITY]
    is_ordered = not any(step.after for step in simple.steps)
    steps, paths = list[JsonValue](), Paths(given)
    for number, step in enumerate(simple.steps, 1 + len(kept)):
        before = step.after
        if is_ordered:
            before = [number - 1] if steps else _last(kept)
        inputs = list(dict.fromkeys(paths.named_in(step.description, Budget(NAMES_SECONDS))))
        if len(inputs) > MAX_INPUTS or any("[" in path or "*" in path or "?" in path for path in inputs):
            inputs = []  # as patterns they would mean other files
        if inputs:
            more = f" and {len(inputs) - MAX_NAMED} more" if len(inputs) > MAX_NAMED else ""
            named = ", ".join(inputs[:MAX_NAMED])
            notes.append(f"Guessed from its description: step {keys[number]} reads {named}{more}.")
        steps.append(
            {
                "step_id": keys[number],
                "name": step.name,
                "description": step.description,
                "inputs": cast("list[JsonValue]", inputs),
                "estimated_complexity": Complexity.MEDIUM.value,
                "acceptance_criteria": list(step.criteria),
                "expected_outputs": list(step.files),
                "dependencies": [_key(one, keys) for one in before],
            }
        )
    if is_ordered and len(steps) > 1:
        notes.append(IN_ORDER)
    value: JsonObject = {"goal": simple.goal, "steps": steps, "success_criteria": list(simple.success_criteria)}
    made = imported_value(value)
    plan = made.plan if sources_needed else without_sources(made.plan)[0]
    whole = _with_topics(plan).model_dump(mode="json")
    whole["steps"] = [*(step.model_dump(mode="json") for step in kept), *whole["steps"]]
    whole["answers"] = [
        {"request": answer.request, "step_id": _key(answer.step, keys), "how": answer.how} for answer in simple.answers
    ]
    return Imported(PlanContract.model_validate(whole), [*made.notes, *notes])


def simple_plan(plan: PlanContract, kept: Sequence[PlanStep] = ()) -> SimplePlan:
    """A plan in the simple form, as a model is shown the version before: the `kept` steps come first, as `whole_plan`
    counts them.
    """
    steps = sorted(plan.steps, key=lambda step: step not in kept)
    numbers = {step.step_id: number for number, step in enumerate(steps, 1)}
    return SimplePlan.model_validate(
        {
            "goal": plan.goal,
            "steps": [
                {
                    "name": step.name,
                    "description": step.description,
                    "criteria": [criterion.text for criterion in step.acceptance_criteria],
                    "files": step.outputs,
                    "after": [numbers[name] for name in step.dependencies],
                }
                for step in steps
            ],
            "success_criteria": [criterion.text for criterion in plan.success_criteria],
        }
    )


def _last(kept: Sequence[PlanStep]) -> list[int]:
    """The numbers of the settled steps that no other settled step rests on."""
    needed = {name for step in kept for name in step.dependencies}
    return [number for number, step in enumerate(kept, 1) if step.step_id not in needed][:MAX_INPUTS]


def _keys(simple: SimplePlan, kept: Sequence[PlanStep]) -> dict[int, str]:
    """The id of each step by its number; a new one has its number as its id, unless a kept one has that."""
    keys = {number: step.step_id for number, step in enumerate(kept, 1)}
    taken = set(keys.values())
    for number in range(1 + len(kept), 1 + len(kept) + len(simple.steps)):
        keys[number] = next(name for name in _names(number) if name not in taken)
        taken.add(keys[number])
    return keys


def _names(number: int) -> Iterator[str]:
    yield str(number)
    yield from (f"step-{number}{'-again' * times}" for times in count())


def _key(number: int, keys: dict[int, str]) -> str:
    """The id of a step. If there is no such step, its number: the plan is then refused."""
    return keys.get(number, str(number))


def _with_topics(plan: PlanContract) -> PlanContract:
    """The plan with a topic at every criterion: "sources", where its words do not say."""

    def said(criteria: Sequence[Criterion]) -> list[Criterion]:
        return [criterion.model_copy(update={"about": criterion.topic}) for criterion in criteria]

    steps = [step.model_copy(update={"acceptance_criteria": said(step.acceptance_criteria)}) for step in plan.steps]
    return plan.model_copy(update={"steps": steps, "success_criteria": said(plan.success_criteria)})
