"""What a new plan no longer asks for is listed: steps, criteria, checks, outputs."""

from typing import Any

import pytest

from runs.pev.contracts import PlanContract
from runs.pev.plans.relaxing import relaxed_criteria
from runs.pev.tools.registry import tools_of
from tests.fakes.team import plan, step

WORDS = {"kind": "word_count", "path": "one.md", "min": 100, "max": 200}
AGREED = plan(step("one"), step("two", "one"))


def changed(**criterion: Any) -> dict[str, Any]:
    """The agreed plan, with the judged criterion of step one changed."""
    one = step("one")
    one["acceptance_criteria"][1] |= criterion
    return plan(one, step("two", "one"))


def lost(now: dict[str, Any], agreed: dict[str, Any] = AGREED, passed: tuple[str, ...] = ()) -> list[str]:
    before = PlanContract.model_validate(agreed)
    kept = [one for one in before.steps if one.step_id in passed]
    return relaxed_criteria(before, PlanContract.model_validate(now), kept, tools_of)


def test_the_same_plan_asks_for_the_same() -> None:
    assert lost(AGREED) == []


def test_further_steps_and_criteria_are_no_weakening() -> None:
    assert lost(plan(*AGREED["steps"], step("three"))) == []


def test_a_dropped_step_takes_its_criteria_and_its_file_with_it() -> None:
    assert lost(plan(step("one"))) == [
        "Step “Do two” had to meet “two.md exists”; the new plan does not ask for it.",
        "Step “Do two” had to meet “two says what was found”; the new plan does not ask for it.",
        "Step “Do two” had to write two.md; no step does so any more.",
    ]


def test_a_command_that_is_run_as_a_check_has_to_be_agreed() -> None:
    command = {"kind": "command", "command": "tests"}
    whole = AGREED | {"success_criteria": [*AGREED["success_criteria"], {"text": "They pass", "check": command}]}
    sentence = "The command tests is run as a check, which was not agreed."
    assert lost(whole) == [sentence]
    assert lost(whole, agreed=whole) == []
    one = step("one")
    one["acceptance_criteria"].append({"text": "They pass", "about": "output", "check": command})
    assert lost(plan(one, step("two", "one"))) == [sentence]


@pytest.mark.parametrize(
    ("before", "now", "sentences"),
    [
        ("", "", []),
        ("writer", "writer", []),
        ("", "writer", ["Step “Do one” names the agent writer, which was not agreed."]),
        ("writer", "judge", ["Step “Do one” names the agent judge, which was not agreed."]),
        ("writer", "", ["Step “Do one” had to be done by the agent writer; the new plan names none."]),
    ],
)
def test_another_agent_has_to_be_agreed(before: str, now: str, sentences: list[str]) -> None:
    agreed = plan(step("one") | {"agent": before}, step("two", "one"))
    assert lost(plan(step("one") | {"agent": now}, step("two", "one")), agreed=agreed) == sentences


def test_a_new_step_may_have_an_agent_that_was_agreed_for_another() -> None:
    agreed = plan(step("one") | {"agent": "writer"})
    assert lost(plan(*agreed["steps"], step("two") | {"agent": "writer"}), agreed=agreed) == []
    assert lost(plan(*agreed["steps"], step("two") | {"agent": "judge"}), agreed=agreed) == [
        "Step “Do two” names the agent judge, which was not agreed."
    ]


def test_what_a_step_has_passed_with_may_be_left_out() -> None:
    assert lost(plan(step("two")), passed=("one",)) == []


def test_a_renamed_step_that_asks_for_the_same_is_no_weakening() -> None:
    moved = step("two", "one") | {"step_id": "zwei", "name": "Zwei"}
    assert lost(plan(step("one"), moved)) == []


def test_a_criterion_may_move_to_the_step_that_writes_the_file_it_names() -> None:
    both = step("both", outputs=("one.md", "two.md"))
    both["acceptance_criteria"] = step("one")["acceptance_criteria"]
    both["acceptance_criteria"][1] |= {"text": "One.md says what was found"}
    one = step("one") | {"acceptance_criteria": both["acceptance_criteria"]}
    assert lost(plan(one, step("two")), agreed=plan(both)) == []


def test_a_judged_criterion_may_not_move_to_a_step_with_other_files() -> None:
    easy = step("easy") | {"acceptance_criteria": step("one")["acceptance_criteria"]}
    one = step("one") | {"acceptance_criteria": step("one")["acceptance_criteria"][:1]}
    assert lost(plan(one, step("two", "one"), easy)) == [
        "Step “Do one” had to meet “one says what was found”; now step “Do easy” has to, which writes other files."
    ]


def test_a_step_that_writes_more_may_take_over_the_criteria() -> None:
    both = step("both", outputs=("one.md", "two.md"))
    both["acceptance_criteria"] += step("one")["acceptance_criteria"] + step("two")["acceptance_criteria"]
    assert lost(plan(both)) == []


def test_a_criterion_that_is_worded_anew_is_listed() -> None:
    assert lost(changed(text="one says something")) == [
        "Step “Do one” had to meet “one says what was found”; the new plan does not ask for it."
    ]


def test_capitals_spaces_and_a_full_stop_are_not_the_wording() -> None:
    assert lost(changed(text="One  says what WAS found.")) == []


def test_a_success_criterion_may_not_hide_in_a_step() -> None:
    hidden = changed(text="The answer names the result")
    now = hidden | {"success_criteria": [{"text": "There is an answer", "check": None}]}
    assert "The task had to meet “The answer names the result”; the new plan does not ask for it." in lost(now)


@pytest.mark.parametrize(
    ("before", "now", "less"),
    [
        (WORDS, None, True),
        (None, WORDS, True),
        (WORDS, WORDS, False),
        (WORDS, WORDS | {"min": 150, "max": 150}, False),
        (WORDS, WORDS | {"min": 99}, True),
        (WORDS, WORDS | {"max": 201}, True),
        (WORDS, WORDS | {"path": "two.md"}, True),
        (WORDS, {"kind": "file_exists", "path": "one.md"}, True),
        ({"kind": "min_bytes", "path": "a", "min": 5}, {"kind": "min_bytes", "path": "a", "min": 6}, False),
        ({"kind": "min_bytes", "path": "a", "min": 5}, {"kind": "min_bytes", "path": "a", "min": 4}, True),
        (
            {"kind": "matches", "path": "a", "pattern": "x", "min": 2},
            {"kind": "matches", "path": "a", "pattern": "x|y", "min": 2},
            True,
        ),
        (
            {"kind": "csv_columns", "path": "a", "columns": ["x"]},
            {"kind": "csv_columns", "path": "a", "columns": ["x", "y"]},
            False,
        ),
        (
            {"kind": "csv_columns", "path": "a", "columns": ["x", "y"]},
            {"kind": "csv_columns", "path": "a", "columns": ["x"]},
            True,
        ),
        (
            {"kind": "covers", "path": "a", "items": ["x"], "files": "b/"},
            {"kind": "covers", "path": "a", "items": ["x", "y"], "files": "b/"},
            False,
        ),
        (
            {"kind": "covers", "path": "a", "items": ["x"], "files": "b/"},
            {"kind": "covers", "path": "a", "items": ["x"], "files": "b/c.md"},
            True,
        ),
        (
            {"kind": "absent", "path": "a", "terms": ["cap"]},
            {"kind": "absent", "path": "a", "terms": ["limit", "cap"]},
            False,
        ),
        (
            {"kind": "absent", "path": "a", "terms": ["limit", "cap"]},
            {"kind": "absent", "path": "a", "terms": ["cap"]},
            True,
        ),
        (
            {"kind": "quotes_occur", "path": "a.csv", "column": "x", "source_column": "y"},
            {"kind": "quotes_occur", "path": "a.csv", "column": "z", "source_column": "y"},
            True,
        ),
    ],
)
def test_a_check_may_become_stricter_only(before: Any, now: Any, less: bool) -> None:
    sentence = (
        "Step “Do one” had to meet “one says what was found”; the new plan checks it less strictly, or otherwise."
    )
    assert lost(changed(check=now), changed(check=before)) == ([sentence] if less else [])


def given_tools(key: str, *tools: str) -> dict[str, Any]:
    return step(key) | {"tools": list(tools)}


@pytest.mark.parametrize(
    ("agreed", "now", "sentence"),
    [
        (given_tools("one", "read_file"), given_tools("one", "read_file"), ""),
        (given_tools("one"), given_tools("one", "read_file"), ""),
        (given_tools("one"), given_tools("one", "shell"), "Step “Do one” may use shell, which was not agreed."),
        (given_tools("one", "shell"), given_tools("one", "shell", "glob", "mail"), "Step “Do one” may use glob, mail,"),
        (
            given_tools("one", "glob"),
            given_tools("one"),
            "Step “Do one” may use ask_person, calculate, comment_",
        ),
        (given_tools("one", "shell"), given_tools("new", "shell") | {"expected_outputs": ["one.md"]}, ""),
        (given_tools("one"), given_tools("new", "shell"), "Step “Do new” may use shell, which was not agreed."),
    ],
)
def test_a_tool_that_nobody_agreed_to(agreed: dict[str, Any], now: dict[str, Any], sentence: str) -> None:
    found = [one for one in lost(plan(now), plan(agreed)) if "may use" in one]
    assert [one[: len(sentence)] for one in found] == ([sentence] if sentence else [])
