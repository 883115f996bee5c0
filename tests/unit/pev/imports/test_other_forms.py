"""Plans as other tools keep them are read as ours; names are not mixed, and nothing unknown is dropped."""

import json

from runs.pev.contracts import (
    ContextItem,
    Criterion,
    PlannedAction,
)
from runs.pev.imports.imported import exported, imported, plan_in
from runs.pev.imports.plan_forms import GOAL, REACHED
from runs.pev.imports.step_forms import DONE, PURPOSE
from tests.unit.pev.imports.by_hand import by_hand, hand_step, read, refused
from tests.unit.pev.scripted import plan, step


def test_a_list_of_steps_as_langchain_keeps_it() -> None:
    found = imported(json.dumps({"input": "Who owns it?", "plan": ["Read the deeds", "Name the owner"]}).encode())
    assert [(one.step_id, one.name, one.description, one.dependencies) for one in found.plan.steps] == [
        ("1", "Read the deeds", "Read the deeds", []),
        ("2", "Name the owner", "Name the owner", ["1"]),
    ]
    assert [one.acceptance_criteria for one in found.plan.steps] == [[Criterion(text=DONE)]] * 2
    assert (found.plan.goal, found.plan.success_criteria) == ("Who owns it?", [Criterion(text=REACHED)])
    assert found.reason("plan.json") == (
        "Imported from “plan.json”. Read input as goal, plan as steps. Text is read as the description of a step "
        "(step 1, 2). It does not say how complex it is: medium (step 1, 2). It has no criteria: its description is "
        "one (step 1, 2). No step says what it depends on: each follows the one before. It does not say what must "
        "hold in the end: that its goal is reached."
    )
    assert read({"steps": ["One"]}).goal == read(["One"]).goal == GOAL


def test_tasks_as_crewai_keeps_them() -> None:
    research = {
        "description": "Read all leases.",
        "expected_output": "A list of ten points.",
        "agent": "researcher",
        "tools": ["read_file", "SerperDevTool"],
    }
    report = {
        "description": "Write the report.",
        "expected_output": "A report with a section for each point.",
        "agent": "writer",
        "context": ["research"],
        "output_file": "report.md",
    }
    found = read(
        {"goal": "Know", "agents": {"writer": {"role": "Writes"}}, "tasks": {"research": research, "w": report}}
    )
    assert found.context == [ContextItem(name="agents", value="writer:\n  role: Writes")]
    assert [(one.step_id, one.dependencies, one.outputs) for one in found.steps] == [
        ("research", [], []),
        ("w", ["research"], ["report.md"]),
    ]
    assert found.steps[0].description == (
        "Read all leases.\n\nExpected: A list of ten points.\n\nAgent: researcher\n\nActions:\n- Needs SerperDevTool"
    )
    assert found.steps[0].acceptance_criteria == [
        Criterion(text="The result is as expected: A list of ten points."),
    ]


def test_objective_steps_and_postconditions() -> None:
    steps = [
        {"step": 1, "action": "Read the leases", "tools_needed": "read_file", "postconditions": ["All are read."]},
        {"step": 2, "action": "write_file", "params": {"path": "a.md"}, "title": "Write", "depends_on": 1},
    ]
    value = {"objective": "Know", "title": "Leases", "steps": steps, "postconditions": "All are named."}
    found = read(value | {"preconditions": ["The leases are there."]})
    assert found == read({"plan": value, "preconditions": ["The leases are there."]})
    assert (found.goal, found.success_criteria) == ("Know", [Criterion(text="All are named.")])
    assert found.context == [
        ContextItem(name="title", value="Leases"),
        ContextItem(name="preconditions", value="- The leases are there."),
    ]
    first, second = found.steps
    assert (first.step_id, first.name, first.description) == ("1", "Read the leases", "Read the leases")
    assert (first.acceptance_criteria, first.actions) == (
        [Criterion(text="All are read.")],
        [PlannedAction(tool="read_file", purpose=PURPOSE)],
    )
    assert (second.name, second.dependencies) == ("Write", ["1"])
    assert second.actions == [PlannedAction(tool="write_file", purpose='with {"path": "a.md"}')]


def test_goals_and_a_list_of_tasks_as_autogpt_keeps_them() -> None:
    task = {"objective": "Find leases", "type": "research", "priority": 1, "ready_criteria": ["There are files."]}
    tasks = [task | {"acceptance_criteria": ["Ten are found."]}]
    found = read({"ai_name": "Lea", "ai_role": "A clerk", "ai_goals": ["Find", "Sort"], "task_list": tasks})
    assert (found.goal, [one.text for one in found.success_criteria]) == ("Find\nSort", ["Find", "Sort"])
    assert found.context == [ContextItem(name="ai_name", value="Lea"), ContextItem(name="ai_role", value="A clerk")]
    (step,) = found.steps
    assert step.description == "Find leases\n\nReady criteria:\n- There are files.\n\nType: research\n\nPriority: 1"
    assert step.acceptance_criteria == [Criterion(text="Ten are found.")]


def test_what_other_forms_may_lack_is_still_asked_for_in_our_own() -> None:
    assert refused({"steps": [{"id": 1, "name": "Read"}]}) == [
        "The plan: “goal” is missing; say what is to be reached.",
        "Step “1”: “acceptance_criteria” is missing; say at least one thing that must hold when the step is done.",
        "The plan: “success_criteria” is missing; say at least one thing that must hold in the end.",
    ]


def test_names_that_mean_the_same_are_not_mixed_and_nothing_unknown_is_dropped() -> None:
    assert refused(by_hand(objective="x", goals=["y"], plan={"goal": "z"}, success_conditions=["c"])) == [
        "The plan: “objective” cannot be used: it means the same as “goal”, keep one of them.",
        "The plan: “goals” cannot be used: there is no such field; remove it.",
        "The plan: “plan” cannot be used: it means the same as “steps”, keep one of them.",
        "The plan: “success_conditions” cannot be used: it means the same as “success_criteria”, keep one of them.",
    ]


def test_an_export_is_read_without_a_note() -> None:
    assert imported(exported(plan(step(), step("two", dependencies=["one"]))).encode()).notes == ()


def test_nothing_is_dropped_for_null() -> None:
    found = read(by_hand(context=None, rollback_strategy=None, steps=[hand_step(actions=None, expected_outputs=None)]))
    assert found == read(by_hand())


def test_a_byte_order_mark_is_no_part_of_a_plan() -> None:
    assert plan_in(b"\xef\xbb\xbf" + json.dumps(by_hand()).encode()) == read(by_hand())
