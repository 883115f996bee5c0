"""Answers that are nearly right, as a model of 1.5 billion parameters gave them, and what must still be refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from runs.pev.contracts import PlanContract, StepOutput, VerifierAnswer
from runs.pev.conversation.generous import Read, read_json
from tests.fakes.team import output_criterion, plan, report, step, verdict

TAG = "500d2c1af58e01a8"
CRITERION = output_criterion("It says so")
LEFT_OUT = "A check{} that does not say what it looks for was left out: its criterion is reviewed."


def read(value: dict[str, Any]) -> Read[PlanContract]:
    return read_json(json.dumps(value), PlanContract, lambda: {TAG})


def with_step(**changes: Any) -> dict[str, Any]:
    return plan({**step("one"), **changes})


REPAIRED: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "a pattern among other things": (
        {"inputs": [{"pattern": "lease.txt", "files": ["lease.txt"]}]},
        {"inputs": ["lease.txt"]},
        ["An object was read as its text “lease.txt”."],
    ),
    "a path and what stands there": (
        {"inputs": [{"path": "lease.txt", "content": "The rent is 2,400."}]},
        {"inputs": ["lease.txt"]},
        ["An object was read as its text “lease.txt”."],
    ),
    "a text and what goes with it": (
        {"description": {"text": "Read it.", "why": "To know."}},
        {"description": "Read it."},
        ["An object was read as its text “Read it.”."],
    ),
    "one text, not a list": (
        {"inputs": "lease.txt"},
        {"inputs": ["lease.txt"]},
        ["What stands alone was read as a list of one."],
    ),
    "no list at all": ({"inputs": None}, {"inputs": []}, ["What is null was read as empty."]),
    "the tag of a delimiter": (
        {"inputs": [f"{TAG}/lease.txt", f"<files-{TAG}>/b.txt"]},
        {"inputs": ["lease.txt", "b.txt"]},
        ["The mark of a list was removed in front of a path."],
    ),
    "more about an output": (
        {"expected_outputs": [{"path": "a.md", "format": "markdown", "size": 3}]},
        {"expected_outputs": ["a.md"]},
        ["Left out, since there is no such field: “size”.", "Left out, since there is no such field: “format”."],
    ),
    "the name of a check": (
        {"acceptance_criteria": [{**CRITERION, "check": "contains"}]},
        {"acceptance_criteria": [CRITERION]},
        [LEFT_OUT.format(" “contains”")],
    ),
    "the kind of a check alone": (
        {"acceptance_criteria": [{**CRITERION, "check": {"kind": "contains"}}]},
        {"acceptance_criteria": [CRITERION]},
        [LEFT_OUT.format(" “contains”")],
    ),
    "a check with half of what it needs": (
        {"acceptance_criteria": [{**CRITERION, "check": {"kind": "contains", "path": "a.md"}}]},
        {"acceptance_criteria": [CRITERION]},
        [LEFT_OUT.format(" “contains”")],
    ),
    "an empty check": (
        {"acceptance_criteria": [{**CRITERION, "check": {}}]},
        {"acceptance_criteria": [CRITERION]},
        [LEFT_OUT.format("")],
    ),
    "numbers of steps": ({"step_id": 1}, {"step_id": "1"}, ["A number was read as text."]),
}


@pytest.mark.parametrize(("given", "meant", "notes"), REPAIRED.values(), ids=REPAIRED)
def test_what_can_only_be_meant_in_one_way_is_read_so(
    given: dict[str, Any], meant: dict[str, Any], notes: list[str]
) -> None:
    answer, said = read(with_step(**given))
    assert (answer, sorted(said)) == (PlanContract.model_validate(with_step(**meant)), sorted(notes))


@pytest.mark.parametrize(
    "changes",
    [
        {"name": {"title": "Read", "text": "Write"}},
        {"name": {"one": "Read", "two": "Write"}},
        {"description": ["Read.", "Write."]},
        {"name": True},
        {"estimated_complexity": "hard"},
        {"acceptance_criteria": [{**CRITERION, "check": {"kind": "word_count", "path": "a.md", "min": "many"}}]},
        {"acceptance_criteria": [{**CRITERION, "check": {"kind": "shell", "command": "rm -rf /"}}]},
        {"acceptance_criteria": [{**CRITERION, "check": {"kind": "word_count", "path": "a.md", "maximum": 200}}]},
        {"acceptance_criteria": [{**CRITERION, "check": {"kind": "contains", "path": "a.md", "negate": True}}]},
        {"acceptance_criteria": []},
        {"expected_outputs": [{"file": "a.md"}]},
        {"name": "half of a \ud800 character"},
    ],
    ids=str,
)
def test_what_would_have_to_be_guessed_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        read(with_step(**changes))


def test_a_folder_that_looks_like_a_tag_stays() -> None:
    other = "0123456789abcdef"
    assert read(with_step(inputs=[f"{other}/a.txt"])).answer.steps[0].inputs == [f"{other}/a.txt"]


def test_reports_and_verdicts_are_read_in_the_same_way() -> None:
    given = {**report("Found it."), "findings": {"text": "Found it."}, "files_written": ["a.md"]}
    assert read_json(json.dumps(given), StepOutput, set).answer == StepOutput.model_validate(report("Found it."))
    right = verdict(["C1"], "lease.txt", "The rent is 2,400.")
    source = {"path": "lease.txt", "line": 1}
    [judged] = right["criteria_results"]
    given = {**right, "criteria_results": [{**judged, "evidence": [{**judged["evidence"][0], "source": source}]}]}
    assert read_json(json.dumps(given), VerifierAnswer, set).answer == VerifierAnswer.model_validate(right)


def test_a_hostile_answer_is_not_repaired_for_ever() -> None:
    with pytest.raises(ValidationError):
        read({**plan(step("one")), **{f"field {number}": number for number in range(501)}})


def test_a_check_where_none_is_asked_for_is_left_out_like_any_field() -> None:
    right = verdict(["C1"], "lease.txt", "The rent is 2,400.")
    given = {**right, "criteria_results": [{**right["criteria_results"][0], "check": None}]}
    assert read_json(json.dumps(given), VerifierAnswer, set).answer == VerifierAnswer.model_validate(right)
