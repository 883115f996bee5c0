"""What the importer makes of a simple plan: the guesses are said, and settled steps stay as they are."""

from __future__ import annotations

from typing import Any

from runs.enums import About, Complexity
from runs.pev.contracts import PlanContract, SimplePlan
from runs.pev.imports.simple_plans import IN_ORDER, NO_COMPLEXITY, simple_plan, whole_plan
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
        NO_COMPLEXITY,
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


def test_guessed_inputs_are_left_out_where_they_would_mean_other_files() -> None:
    read = {**READ, "description": "Read lease[1].txt."}
    assert whole(simple(read), "lease[1].txt", "lease1.txt")[0].steps[0].inputs == []
    names = [f"f{number}.txt" for number in range(150)]
    assert whole(simple({**READ, "description": f"Read {' '.join(names)}."}), *names)[0].steps[0].inputs == []


def test_ids_of_new_steps_are_free() -> None:
    kept = PlanContract.model_validate(plan(step("2"), step("step-3"), step("3", "2"))).steps
    made, _ = whole(simple(COMPARE, {**COMPARE, "files": ["b.md"]}), kept=kept)
    assert [one.step_id for one in made.steps] == ["2", "step-3", "3", "4", "5"]
    assert made.steps[3].dependencies == ["step-3", "3"]


def test_the_version_before_counts_its_settled_steps_first() -> None:
    before = PlanContract.model_validate(plan(step("one"), step("two", "one"), step("three", "one")))
    shown = simple_plan(before, [before.steps[0], before.steps[2]])
    assert [(one.name, one.after) for one in shown.steps] == [("Do one", []), ("Do three", [1]), ("Do two", [1])]
