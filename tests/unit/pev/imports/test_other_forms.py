"""Plans as other tools keep them are read as ours; names are not mixed, and nothing unknown is dropped."""

import json
from typing import Any

import pytest

from runs.enums import About
from runs.errors import PlanRefused
from runs.pev.contracts import (
    ContextItem,
    Criterion,
    PlannedAction,
)
from runs.pev.imports.imported import GOAL, REACHED, exported, imported, plan_in
from runs.pev.imports.step_forms import DONE, PURPOSE
from tests.hostile.bounds import within
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


DUMPED_STEP = {
    "step_id": "1",
    "name": "Write the notices",
    "description": "Write what was found.",
    "actions": [{"tool": "write_file", "params": {"path": "LEGAL_NOTICES.md"}}],
    "acceptance_criteria": ["LEGAL_NOTICES.md created with detailed findings", "Every notice period is right"],
    "expected_outputs": ["LEGAL_NOTICES.md"],
    "dependencies": [],
    "estimated_complexity": "medium",
    "status": "pending",
    "feedback": [],
    "retry_count": 0,
}


def test_a_dumped_dataclass_without_its_state() -> None:
    dumped = {
        "goal": "Review the contracts",
        "context": {"folder": "contracts"},
        "steps": [DUMPED_STEP],
        "success_criteria": ["All documents reviewed with findings", "LEGAL_NOTICES.md created with findings"],
        "rollback_strategy": "Throw the copies away.",
    }
    found = imported(json.dumps(dumped).encode())
    (one,) = found.plan.steps
    assert (one.description, one.outputs) == ("Write what was found.", ["LEGAL_NOTICES.md"])
    assert [one.topic for one in one.acceptance_criteria] == [About.OUTPUT, About.SOURCES]
    assert [one.topic for one in found.plan.success_criteria] == [About.SOURCES, About.OUTPUT]
    assert "Left out, since it is the state of another run: status, retry_count (step 1)." in found.notes
    guess = "Guessed from its words: criterion 1 is about how the result looks, not about the sources (step 1)."
    assert guess in found.notes


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Der Bericht enthält eine Tabelle der Fristen", About.OUTPUT),
        ("Eine Zusammenfassung ist vorhanden", About.OUTPUT),
        ("Die Antwort hat höchstens 200 Wörter", About.OUTPUT),
        ("Es ist gültiges JSON", About.OUTPUT),
        ("Die Kündigungsfrist beträgt dreißig Tage", About.SOURCES),
        ("Der Vertrag hat eine Kündigungsfrist", About.SOURCES),
        ("The contract has a notice period", About.SOURCES),
        ("The summary has a section on risks", About.OUTPUT),
    ],
)
def test_what_a_criterion_is_about_is_guessed_in_two_languages(text: str, topic: About) -> None:
    given = {"objective": "Review", "steps": [{"id": 1, "description": "Review", "postconditions": [text]}]}
    (one,) = imported(json.dumps(given).encode()).plan.steps
    assert [criterion.topic for criterion in one.acceptance_criteria] == [topic]


def test_a_typed_plan_with_integers_and_a_complexity_of_the_whole() -> None:
    typed = {
        "goal": "Find the largest file",
        "steps": [
            {"step_id": 1, "description": "List the files", "expected_output": "A list", "dependencies": []},
            {"step_id": 2, "description": "Name the largest", "dependencies": [1], "tools_needed": ["glob", "read"]},
        ],
        "estimated_complexity": 7,
    }
    found = imported(json.dumps(typed).encode())
    assert [(one.step_id, one.dependencies) for one in found.plan.steps] == [("1", []), ("2", ["1"])]
    assert "Left out: the complexity of the whole plan (7)." in found.notes


def test_an_objective_with_postconditions_and_their_state() -> None:
    kept = {
        "objective": "Answer the question",
        "id": "p-1",
        "created_at": "2026-11-26T10:00:00Z",
        "steps": [{"id": "a", "description": "Read it", "status": "done", "evidence": "line 4", "attempts": 2}],
        "metadata": {"model": "m"},
        "postconditions": [{"description": "The answer is right", "satisfied": False, "evidence": None}],
    }
    found = imported(json.dumps(kept).encode())
    assert [one.step_id for one in found.plan.steps] == ["a"]
    assert found.plan.success_criteria == [Criterion(text="The answer is right")]
    said = "Left out, since it is the state of another run: "
    assert [note for note in found.notes if note.startswith(said)] == [
        f"{said}created_at, metadata, id.",
        f"{said}status, evidence, attempts (step a).",
        f"{said}satisfied.",
    ]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("report.md names every party", About.OUTPUT),
        ("A summary was created", About.OUTPUT),
        ("The summary contains a table", About.OUTPUT),
        ("The list has ten entries", About.OUTPUT),
        ("At most 300 words", About.OUTPUT),
        ("The output is valid JSON", About.OUTPUT),
        ("notes.txt was written", About.OUTPUT),
        ("The tenant has a right of first refusal", About.SOURCES),
        ("Every written notice is named", About.SOURCES),
        ("Each clause that contains a cap is named", About.SOURCES),
        ("The answer is right", About.SOURCES),
        ("Every deadline is right", About.SOURCES),
        ("All leases have been read", About.SOURCES),
    ],
)
def test_what_a_criterion_in_words_is_about_is_guessed(text: str, about: About) -> None:
    (one,) = read(by_hand(steps=[hand_step(acceptance_criteria=[text], expected_outputs=["out/report.md"])])).steps
    assert one.acceptance_criteria[0].topic is about


@pytest.mark.slow
def test_guesses_of_hostile_plans_are_bounded() -> None:
    criteria, outputs = [f"x{number} y" for number in range(20_000)], [f"o{number}.md" for number in range(20_000)]
    plan = {"goal": "g", "steps": [{"id": "a", "acceptance_criteria": criteria, "expected_outputs": outputs}]}
    with pytest.raises(PlanRefused):
        within(1, 100, "runs.pev.imports.imported.imported", json.dumps(plan).encode())


def test_what_a_criterion_says_itself_is_not_guessed() -> None:
    said = {"text": "The list has ten entries", "about": "sources"}
    (one,) = read(by_hand(steps=[hand_step(acceptance_criteria=[said])])).steps
    assert one.acceptance_criteria[0].topic is About.SOURCES


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


@pytest.mark.parametrize(
    ("plan", "step", "note"),
    [
        ({"estimated_complexity": 7}, {}, "Left out: the complexity of the whole plan (7)."),
        ({"estimated_complexity": "high"}, {}, "Left out: the complexity of the whole plan (high)."),
        ({"estimated_complexity": {"score": 7}}, {}, "Left out: the complexity of the whole plan (score: 7)."),
        ({"estimated_complexity": "x" * 90_000}, {}, f"Left out: the complexity of the whole plan ({'x' * 60})."),
        ({"estimated_complexity": None}, {}, ""),
        ({"rollback_strategy": ""}, {}, ""),
        ({"success_criteria": []}, {}, "It does not say what must hold in the end: that its goal is reached."),
        ({"plan_id": 4}, {}, "Left out, since it is the state of another run: plan_id."),
        ({"current_step": 0}, {}, "Left out, since it is the state of another run: current_step."),
        ({}, {"step_id": 1.0}, ""),
        ({}, {"max_retries": 3}, "Left out, since it is the state of another run: max_retries (step 1)."),
        ({}, {"started_at": None, "result": None, "error": None}, ""),
        ({}, {"acceptance_criteria": []}, "It has no criteria: its description is one (step 1)."),
        (
            {},
            {"acceptance_criteria": [{"id": "c1", "description": "It is right", "satisfied": True}]},
            "Left out, since it is the state of another run: satisfied, id (step 1).",
        ),
    ],
)
def test_what_tools_note_in_a_plan_keeps_it_from_nothing(plan: dict[str, Any], step: dict[str, Any], note: str) -> None:
    """What says nothing is left out without a note."""
    typed = {"goal": "Find it", "steps": [{"step_id": 1, "description": "Look", "tools_needed": []} | step]} | plan
    found = imported(json.dumps(typed).encode())
    assert [one.step_id for one in found.plan.steps] == ["1"]
    assert not note or note in found.notes
