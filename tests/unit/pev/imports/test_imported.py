"""Plans from outside: which forms are taken and as what, what is refused in which words, and that nothing breaks."""

import json
from typing import Any

import pytest

from runs.enums import Complexity
from runs.pev.checks.file_exists import FileExists
from runs.pev.contracts import ContextItem, Criterion, PlanContract, PlannedAction, PlanStep
from runs.pev.imports.imported import ROLLBACK, imported
from runs.pev.imports.step_forms import PURPOSE
from tests.unit.pev.imports.by_hand import by_hand, hand_step, only_step, read, refused

# ---- what is taken ------------------------------------------------------------------------------------------------


def test_the_shortest_plan_says_what_was_left_out() -> None:
    assert read(by_hand()) == PlanContract(
        goal="Know the leases",
        context=[],
        steps=[
            PlanStep(
                step_id="1",
                name="Read",
                description="Read",
                actions=[],
                acceptance_criteria=[Criterion(text="All are read.")],
                expected_outputs=[],
                dependencies=[],
                estimated_complexity=Complexity.LOW,
            )
        ],
        success_criteria=[Criterion(text="Every lease is named.")],
        rollback_strategy=ROLLBACK,
    )


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (1, "low"),
        (3, "low"),
        (4, "medium"),
        (7, "medium"),
        (8, "high"),
        (10, "high"),
        (" High ", "high"),
        ("LOW", "low"),
        (7.0, "medium"),
        ("8", "high"),
        ("Hard", "high"),
        ("moderate", "medium"),
        ("hoch", "high"),
    ],
)
def test_complexity_is_a_number_or_a_word(given: Any, meant: str) -> None:
    assert only_step(complexity=given).estimated_complexity == meant


@pytest.mark.parametrize("given", [0, 11, -3, True, 2.5, "11", "²", "7.0", "urgent", "", [], {"low": 1}, 10**400])
def test_no_other_complexity_is_guessed(given: Any) -> None:
    assert refused(by_hand(steps=[hand_step(complexity=given)])) == [
        "Step “1”, estimated_complexity: it must be low, medium or high, or a whole number from 1 to 10."
    ]


def test_ids_are_numbers_or_text_in_dependencies_too() -> None:
    found = read(by_hand(steps=[hand_step(), hand_step(id=2, depends_on=[1]), hand_step(id="c", depends_on=["1", 2])]))
    assert [(one.step_id, one.dependencies) for one in found.steps] == [("1", []), ("2", ["1"]), ("c", ["1", "2"])]


@pytest.mark.parametrize(
    ("action", "tool", "purpose"),
    [
        ("read_file", "read_file", PURPOSE),
        ("read_file: the leases", "read_file", "the leases"),
        ("write_file – all\nof it", "write_file", "all\nof it"),
        ({"tool": "read_file", "purpose": "Read."}, "read_file", "Read."),
        ({"name": "read_file", "description": "Read."}, "read_file", "Read."),
        ({"action": "read_file", "parameters": {}}, "read_file", PURPOSE),
        ({"tool": "read_file", "params": {"path": "ü.md"}}, "read_file", 'with {"path": "ü.md"}'),
        ({"tool": "x", "purpose": "Go", "params": [1]}, "x", "Go (with [1])"),
    ],
)
def test_an_action_is_text_or_an_object_and_its_params_are_kept(action: Any, tool: str, purpose: str) -> None:
    assert only_step(actions=[action]).actions == [PlannedAction(tool=tool, purpose=purpose)]


def test_an_action_without_a_tool_is_said_in_the_description() -> None:
    found = only_step(actions=["Think hard", "read_file", "reads nothing"], description="Do it.")
    assert found.description == "Do it.\n\nActions:\n- Think hard\n- reads nothing"
    assert [action.tool for action in found.actions] == ["read_file"]


def test_context_may_be_an_object_and_criteria_may_have_checks() -> None:
    check = {"kind": "file_exists", "path": "a.md"}
    found = read(by_hand(context={"Client": "Ann"}, success_criteria=[{"criterion": "It is there.", "check": check}]))
    assert found.context == [ContextItem(name="Client", value="Ann")]
    assert found.success_criteria == [Criterion(text="It is there.", check=FileExists(kind="file_exists", path="a.md"))]


def test_context_may_be_nested_and_is_read_as_text() -> None:
    nested = {"name": "Ann", "flats": [1, {"rent": 9.5, "paid": True, "note": None}], "more": {}}
    found = read(by_hand(context={"Client": nested, "year": 2026}))
    assert found.context == [
        ContextItem(
            name="Client",
            value="name: Ann\nflats:\n  - 1\n  -\n    rent: 9.5\n    paid: true\n    note: none\nmore: none",
        ),
        ContextItem(name="year", value="2026"),
    ]
    assert read(by_hand(context=["plain", {"a": "b"}, {"c": 1, "d": 2}])).context == [
        ContextItem(name="context 1", value="plain"),
        ContextItem(name="a", value="b"),
        ContextItem(name="context 3", value="c: 1\nd: 2"),
    ]
    assert read(by_hand(context="All in one")).context == [ContextItem(name="context", value="All in one")]


def test_nested_context_that_is_too_long_is_refused_and_not_cut() -> None:
    assert refused(by_hand(context={"a": ["x" * 90] * 5_000})) == [
        "The plan, context 1, value: it may have 4,000 characters at most."
    ]


def test_complexity_that_is_not_given_is_medium_and_that_is_said() -> None:
    found = imported(json.dumps(by_hand(steps=[hand_step(complexity=...), hand_step(id=2, complexity=None)])).encode())
    assert [step.estimated_complexity for step in found.plan.steps] == [Complexity.MEDIUM] * 2
    assert "It does not say how complex it is: medium (step 1, 2)." in found.notes


@pytest.mark.parametrize(
    ("given", "paths", "words"),
    [
        ("out/report.md", ["out/report.md"], []),
        (["a.csv", "A list of all leases."], ["a.csv"], ["A list of all leases."]),
        ({"path": "a.md", "cited": False}, ["a.md"], []),
        ({"file": "a.md"}, ["a.md"], []),
        ({"format": "table"}, [], ["format: table"]),
        ("A table in notes.md", [], ["A table in notes.md"]),
        ("../a.md", [], ["../a.md"]),
        ("2.5", [], ["2.5"]),
        (None, [], []),
    ],
)
def test_an_expected_output_is_a_path_or_a_part_of_the_description(given: Any, paths: list[str], words: Any) -> None:
    found = only_step(description="Do it.", expected_output=given)
    assert found.outputs == paths
    assert found.description == "\n\n".join(["Do it.", *(f"Expected: {text}" for text in words)])
    assert found.acceptance_criteria == [Criterion(text="All are read.")]


def test_outputs_as_objects_say_whether_they_cite() -> None:
    found = only_step(expected_outputs=["a.md", {"path": "b.md", "cited": False}])
    assert [(output.path, output.cited) for output in found.expected_outputs] == [("a.md", True), ("b.md", False)]


def test_tools_that_are_needed_are_actions_and_unknown_ones_are_named() -> None:
    found = only_step(actions=["write_file: the list"], tools_needed=["read_file", "browser"], description="Do it.")
    assert [(action.tool, action.purpose) for action in found.actions] == [
        ("write_file", "the list"),
        ("read_file", PURPOSE),
    ]
    assert found.description == "Do it.\n\nActions:\n- Needs browser"


def test_a_plan_that_was_exported_keeps_the_tools_of_its_steps() -> None:
    plan = read(by_hand())
    allowed = plan.steps[0].model_copy(update={"tools": ["read_file", "write_file"]})
    exported = plan.model_copy(update={"steps": [allowed]})
    assert read(exported.model_dump(mode="json")) == exported


def test_a_plan_that_was_exported_keeps_the_agents_of_its_steps() -> None:
    plan = read(by_hand())
    exported = plan.model_copy(update={"steps": [plan.steps[0].model_copy(update={"agent": "writer"})]})
    assert read(exported.model_dump(mode="json")) == exported


def test_who_does_a_step_of_another_plan_is_said_in_its_description() -> None:
    assert only_step(task="Go", name="Go", agent="Researcher").description == "Go\n\nAgent: Researcher"
    assert only_step(task="Go", name="Go", agent="Researcher").agent == ""


@pytest.mark.parametrize(
    ("given", "patterns", "description"),
    [
        (["contracts/", "*.pdf"], ["contracts/", "*.pdf"], "Go"),
        ("a b.md", ["a b.md"], "Go"),
        (["what step 1 found", {"from": 1}], [], "Go\n\nInput: what step 1 found\n\nInput: from: 1"),
    ],
)
def test_inputs_are_patterns_or_a_part_of_the_description(given: Any, patterns: Any, description: str) -> None:
    found = only_step(task="Go", name="Go", inputs=given)
    assert (found.inputs, found.description) == (patterns, description)


@pytest.mark.slow
def test_very_many_inputs_are_refused_at_once() -> None:
    names = [str(number) for number in range(100_000)]
    assert refused({"steps": [{"task": "Go", "inputs": names}]}) == [
        "Step “1”, inputs: it may have 100 entries at most.",
    ]


# ---- what is refused ----------------------------------------------------------------------------------------------


def test_every_problem_is_told_with_its_step_and_what_to_do() -> None:
    second = {"step_id": "two", "title": "b", "acceptance_criteria": [], "colour": "new", "expected_outputs": "x.md"}
    first = hand_step(step_id="one", actions=["think", 7, {"tool": "read_file", "model": "best"}], dependencies=[True])
    assert refused(by_hand(colour=3, success_criteria=1, steps=[first, second, 5], goal="")) == [
        "The plan, goal: it is empty.",
        "Step “one”, actions 2: it must be an object.",
        "Step “one”, actions 3: “model” cannot be used: there is no such field; remove it.",
        "Step “one”, dependencies 1: it must be text.",
        "Step “one”: “id” cannot be used: it means the same as “step_id”, keep one of them.",
        "Step “two”, acceptance_criteria: it is empty.",
        "Step “two”, expected_outputs: it must be a list.",
        "Step “two”: “colour” cannot be used: there is no such field; remove it.",
        "Step 3: it must be an object.",
        "The plan, success_criteria: it must be a list.",
        "The plan: “colour” cannot be used: there is no such field; remove it.",
    ]


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ({}, "check: it needs a “kind”, such as file_exists."),
        ({"kind": "magic"}, "check: there is no such kind; there are file_exists, min_bytes, contains, matches, "),
        ("file_exists", "check: it must be an object with a “kind”."),
        ({"kind": "file_exists"}, "check: “path” is missing; add it."),
        ({"kind": "file_exists", "path": "a", "size": 1}, "check: “size” cannot be used: there is no such field"),
        ({"kind": "matches", "path": "a", "pattern": "x", "min": "many"}, "check, min: it must be a whole number."),
        ({"kind": "min_bytes", "path": "a", "min": 0}, "check, min: it must be at least 1."),
    ],
)
def test_what_is_wrong_with_a_check_is_told_where_it_stands(check: Any, sentence: str) -> None:
    (problem,) = refused(by_hand(success_criteria=["Fine.", {"text": "Checked.", "check": check}]))
    assert problem.startswith(f"The plan, success_criteria 2, {sentence}")


def test_a_step_without_an_id_is_named_by_its_place() -> None:
    assert refused(by_hand(steps=[hand_step(), hand_step(id=..., name=...)])) == [
        "Step 2: “step_id” is missing; give the step one, such as 1 or “review”.",
        "Step 2: “name” is missing; say in a few words what the step does.",
        "Step 2: “description” is missing; add it.",
    ]
