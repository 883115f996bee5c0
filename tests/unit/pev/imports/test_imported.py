"""Plans from outside: which forms are taken and as what, what is refused in which words, and that nothing breaks."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.enums import Complexity
from runs.errors import PlanRefused
from runs.pev.contracts import (
    ContextItem,
    Criterion,
    FileExists,
    Matches,
    PlanContract,
    PlannedAction,
    PlanStep,
    WordCount,
)
from runs.pev.imports.imported import MAX_BYTES, exported, imported, plan_in
from runs.pev.imports.plan_forms import GOAL, REACHED, ROLLBACK, SYNONYMS
from runs.pev.imports.step_forms import DONE, PURPOSE
from runs.pev.tools import TOOL_NAMES
from tests.unit.pev.scripted import plan, step


def by_hand(**changes: Any) -> dict[str, Any]:
    """The shortest plan that a person would write."""
    values = {"goal": "Know the leases", "steps": [hand_step()], "success_criteria": ["Every lease is named."]}
    return values | changes


def hand_step(**changes: Any) -> dict[str, Any]:
    values = {"id": 1, "name": "Read", "acceptance_criteria": ["All are read."], "complexity": 2}
    return {name: value for name, value in (values | changes).items() if value is not ...}


def read(value: Any) -> PlanContract:
    return plan_in(json.dumps(value).encode())


def only_step(**changes: Any) -> PlanStep:
    return read(by_hand(steps=[hand_step(**changes)])).steps[0]


def refused(value: Any) -> list[str]:
    with pytest.raises(PlanRefused) as caught:
        plan_in(value if isinstance(value, bytes) else json.dumps(value).encode())
    assert str(caught.value) == "\n".join(caught.value.problems)
    return list(caught.value.problems)


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
    ],
)
def test_complexity_is_a_number_or_a_word(given: Any, meant: str) -> None:
    assert only_step(complexity=given).estimated_complexity == meant


@pytest.mark.parametrize("given", [0, 11, -3, True, 2.0, "7", "hoch", [], {"low": 1}, 10**400])
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


def test_very_many_inputs_are_refused_at_once() -> None:
    names = [str(number) for number in range(100_000)]
    assert refused({"steps": [{"task": "Go", "inputs": names}]}) == [
        "Step “1”, inputs: it may have 100 entries at most.",
    ]


# ---- plans of other planners --------------------------------------------------------------------------------------


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


# ---- what is refused ----------------------------------------------------------------------------------------------


def test_every_problem_is_told_with_its_step_and_what_to_do() -> None:
    second = {"step_id": "two", "title": "b", "acceptance_criteria": [], "status": "new", "expected_outputs": "x.md"}
    first = hand_step(step_id="one", actions=["think", 7, {"tool": "read_file", "model": "best"}], dependencies=[True])
    assert refused(by_hand(version=3, success_criteria=1, steps=[first, second, 5], goal="")) == [
        "The plan, goal: it is empty.",
        "Step “one”, actions 2: it must be an object.",
        "Step “one”, actions 3: “model” cannot be used: there is no such field; remove it.",
        "Step “one”, dependencies 1: it must be text.",
        "Step “one”: “id” cannot be used: it means the same as “step_id”, keep one of them.",
        "Step “two”, acceptance_criteria: it is empty.",
        "Step “two”, expected_outputs: it must be a list.",
        "Step “two”: “status” cannot be used: there is no such field; remove it.",
        "Step 3: it must be an object.",
        "The plan, success_criteria: it must be a list.",
        "The plan: “version” cannot be used: there is no such field; remove it.",
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


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The plan is not valid JSON: Expecting value, line 1, column 1."),
        (b"{", "The plan is not valid JSON: Expecting property name enclosed in double quotes, line 1, column 2."),
        (b"\xff\xfe{}", "The plan is not a text file; export it as JSON in UTF-8."),
        (b'{"goal": NaN}', "The plan is not valid JSON: NaN is not JSON."),
        (b'{"goal": "a", "goal": "b"}', "The plan is not valid JSON: the name “goal” is given twice in one object."),
        (b'{"goal": %s}' % (b"1" * 5_000), "The plan is not valid JSON: a number in it has more than 1,000 digits."),
        (b"[" * 300_000, "The plan is not valid JSON: it is nested too deeply."),
        (b'{"a":' * 60 + b"1" + b"}" * 60, "The plan is nested more than 40 levels deep; write deep values as text."),
        (b" " * (MAX_BYTES + 1), "The plan has 1,000,001 bytes; 1,000,000 are allowed."),
        (b"[]", "The plan: it must be an object."),
        (b'{"steps": [%s0]}' % (b"0," * 500), "The plan has 501 steps; at most 500 can be imported."),
        (rb'{"goal": "\u0000"}', "The plan, goal: a text has a NUL character or half of a character; remove it."),
        (rb'{"\ud800": 1}', "The plan: a text has a NUL character or half of a character; remove it."),
        (
            rb'{"steps": [{"id": "\ud800\u202e"}]}',
            "Step “��”, id: a text has a NUL character or half of a character; remove it.",
        ),
    ],
)
def test_hostile_files_are_one_sentence(data: bytes, sentence: str) -> None:
    assert refused(data) == [sentence]


def test_of_very_many_problems_the_first_are_told() -> None:
    found = refused(by_hand(steps=[hand_step(name="") for _ in range(100)]))
    assert len(found) == 31
    assert found[-1] == "And 170 more problems of the kind."


# ---- arbitrary JSON -----------------------------------------------------------------------------------------------

NAMES = st.sampled_from(
    [
        *PlanContract.model_fields,
        *PlanStep.model_fields,
        *SYNONYMS,
        "id",
        "text",
        "check",
        "expected_output",
        "agent",
        "",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["low", "matches", "1"])
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6), max_leaves=25
)


def check_read(data: bytes) -> None:
    """Either a plan that comes back unchanged when it is exported, or problems that a page can show."""
    try:
        found = plan_in(data)
    except PlanRefused as error:
        problems = error.problems
    else:
        assert plan_in(exported(found).encode()) == found
        return
    assert "\n".join(problems).encode()


@given(JSON)
def test_arbitrary_json_is_a_plan_or_refused_in_words(value: Any) -> None:
    check_read(json.dumps(value).encode())


@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:\\u0d8\n 1e-', max_size=60).map(str.encode))
def test_arbitrary_bytes_are_refused_in_words(data: bytes) -> None:
    check_read(data)


@given(st.data())
def test_a_plan_with_anything_anywhere_is_a_plan_or_refused_in_words(data: st.DataObject) -> None:
    whole: Any = json.loads(exported(plan(step(), step("two", dependencies=["one"]))))
    holder = whole
    while True:
        key = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
        inside = holder[key]
        if not inside or not isinstance(inside, dict | list) or data.draw(st.booleans()):
            break
        holder = inside
    holder[key] = data.draw(JSON)
    check_read(json.dumps(whole).encode())


# ---- export and import --------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30).filter(str.strip)
PATHS = st.text("ab/. é", min_size=1, max_size=12).filter(str.strip)
CHECKS = (
    st.builds(FileExists, kind=st.just("file_exists"), path=PATHS)
    | st.builds(Matches, kind=st.just("matches"), path=PATHS, pattern=TEXT, min=st.integers(1, 100_000))
    | st.builds(WordCount, kind=st.just("word_count"), path=PATHS, min=st.integers(0, 9))
)
CRITERIA = st.lists(st.builds(Criterion, text=TEXT, check=st.none() | CHECKS), min_size=1, max_size=2)
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,9}", fullmatch=True)
ACTIONS = st.builds(PlannedAction, tool=TEXT | st.sampled_from(sorted(TOOL_NAMES)), purpose=TEXT)
STEPS = st.builds(
    PlanStep,
    step_id=IDS,
    name=TEXT,
    description=TEXT,
    actions=st.lists(ACTIONS, max_size=2),
    acceptance_criteria=CRITERIA,
    expected_outputs=st.lists(PATHS, max_size=2),
    dependencies=st.lists(IDS, max_size=2),
    estimated_complexity=st.sampled_from(Complexity),
)
PLANS = st.builds(
    PlanContract,
    goal=TEXT,
    context=st.lists(st.builds(ContextItem, name=TEXT, value=TEXT), max_size=2),
    steps=st.lists(STEPS, min_size=1, max_size=3),
    success_criteria=CRITERIA,
    rollback_strategy=TEXT,
)


@given(PLANS)
def test_what_was_exported_is_imported_unchanged(found: PlanContract) -> None:
    assert plan_in(exported(found).encode()) == found
