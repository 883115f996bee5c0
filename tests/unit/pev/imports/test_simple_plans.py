"""What the importer makes of a simple plan: the guesses are said, and settled steps stay as they are."""

from __future__ import annotations

from typing import Any

from runs.enums import About, Complexity
from runs.pev.contracts import PlanContract, SimplePlan
from runs.pev.imports.simple_plans import IN_ORDER, NO_RISK, simple_plan, whole_plan
from tests.fakes.team import plan, step

READ = {"name": "Read", "description": "Read a.txt.", "criteria": ["The rent is 2,400"], "files": ["rents.md"]}
COMPARE = {"name": "Compare", "description": "Compare.", "criteria": ["out.md names it"], "files": ["out.md"]}


def simple(*steps: dict[str, Any], **more: Any) -> SimplePlan:
    given = {"goal": "Compare.", "steps": steps, "success_criteria": ["It is named"], **more}
    return SimplePlan.model_validate(given)


def whole(given: SimplePlan, *paths: str, **more: Any) -> tuple[PlanContract, list[str]]:
    made = whole_plan(given, paths, **more)
    return made.plan, list(made.notes)


def test_what_is_guessed_is_said() -> None:
    made, notes = whole(simple(READ, COMPARE), "a.txt", "data.txt")
    assert [(one.step_id, one.inputs, one.dependencies) for one in made.steps] == [
        ("1", ["a.txt"], []),
        ("2", [], ["1"]),
    ]
    assert {one.estimated_complexity for one in made.steps} == {Complexity.MEDIUM}
    assert [one.acceptance_criteria[0].about for one in made.steps] == [About.SOURCES, About.OUTPUT]
    assert notes == [
        "Guessed from its words: criterion 1 is about how the result looks, not about the sources (step 2).",
        NO_RISK,
        "Guessed from its description: step 1 reads a.txt.",
        IN_ORDER,
    ]


def test_steps_depend_on_what_they_name() -> None:
    made, notes = whole(simple(READ, COMPARE, {**COMPARE, "files": ["b.md"], "after": [1]}))
    assert [one.dependencies for one in made.steps] == [[], [], ["1"]]
    assert IN_ORDER not in notes


def test_a_number_that_is_no_step_is_left_for_the_planner_to_hear_of() -> None:
    made, _ = whole(simple(READ, {**COMPARE, "after": [7]}))
    assert made.steps[1].dependencies == ["7"]


def test_settled_steps_stay_and_count() -> None:
    kept = [PlanContract.model_validate(plan(step("3"))).steps[0]]
    answers = [{"request": 1, "step": 2, "how": "It compares."}]
    made, _ = whole(simple(COMPARE, {**COMPARE, "files": ["b.md"]}, answers=answers), kept=kept)
    assert made.steps[0] == kept[0]
    assert [(one.step_id, one.dependencies) for one in made.steps[1:]] == [("2", ["3"]), ("step-3", ["2"])]
    assert [(one.request, one.step_id) for one in made.answers] == [(1, "2")]


def test_of_creative_work_nothing_is_about_the_sources() -> None:
    made, _ = whole(simple(READ), sources_needed=False)
    assert [one.about for one in made.steps[0].acceptance_criteria] == [About.OUTPUT]


def test_the_version_before_is_shown_in_the_same_form() -> None:
    given = PlanContract.model_validate(plan(step("one"), step("two", "one")))
    assert [(one.name, one.files, one.after) for one in simple_plan(given).steps] == [
        ("Do one", ["one.md"], []),
        ("Do two", ["two.md"], [1]),
    ]
