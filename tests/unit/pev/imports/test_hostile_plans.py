"""Whatever is imported is a plan or refused in words; what was exported is imported unchanged."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.enums import Complexity
from runs.errors import PlanRefused
from runs.pev.checks.file_exists import FileExists
from runs.pev.checks.matches import Matches
from runs.pev.checks.word_count import WordCount
from runs.pev.contracts import ContextItem, Criterion, PlanContract, PlannedAction, PlanStep
from runs.pev.imports.imported import MAX_BYTES, SYNONYMS, exported, plan_in
from runs.pev.tools.registry import TOOL_NAMES
from tests.unit.pev.imports.by_hand import by_hand, hand_step, refused
from tests.unit.pev.scripted import plan, step


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


@pytest.mark.slow
@given(PLANS)
def test_what_was_exported_is_imported_unchanged(found: PlanContract) -> None:
    assert plan_in(exported(found).encode()) == found
