"""What is wrong with an answer: each mistake with its place and what is right, and a part in place of the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from runs.contracts.base import Contract
from runs.pev.contracts import PlanContract, StepOutput, VerifierAnswer
from runs.pev.conversation.examples import example_of
from runs.pev.conversation.mistakes import MAX_SHOWN, mistakes_in

PLAN: dict[str, Any] = example_of(PlanContract)
STEP: dict[str, Any] = PLAN["steps"][0]
REPORT: dict[str, Any] = example_of(StepOutput)
WRAPPED = (
    '{"goal": ..., "context": ..., "steps": [ your answer ], "success_criteria": ..., "rollback_strategy": ..., '
    '"answers": ...}'
)


def told(value: object, contract: type[Contract] = PlanContract) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value)
    with pytest.raises(ValidationError) as caught:
        contract.model_validate_json(text)
    return mistakes_in(text, contract, caught.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"status": "finished"},
            "`status` has to be 'done', 'blocked' or 'not_applicable'. Right is, for example: \"status\": \"done\"",
        ),
        ({"confidence": 95}, '`confidence` has to be 1 or less. Right is, for example: "confidence": 0.8'),
        ({"confidence": "sure"}, '`confidence` has to be a number. Right is, for example: "confidence": 0.8'),
        (
            {"criteria_met": ["all"]},
            "item 1 of `criteria_met` has to be an object in { }. Right is, for example: "
            '{"criterion": "C1", "met": true, "how": "..."}',
        ),
        (
            {"criteria_met": [{"criterion": "C1", "met": "maybe", "how": "x"}]},
            '`met` of item 1 of `criteria_met` has to be true or false. Right is, for example: "met": true',
        ),
        ({"notes": None}, '`notes` has to be a text in quotation marks. Right is, for example: "notes": "..."'),
        ({"files": ["a.md"]}, "`files` is not asked for; leave it out."),
    ],
)
def test_a_mistake_has_a_place_plain_words_and_an_example(change: dict[str, object], sentence: str) -> None:
    assert told({**REPORT, **change}, StepOutput) == [sentence]


def test_the_first_mistakes_are_told_and_how_many_more_there_are() -> None:
    sentences = told({"goal": 1, "context": 2, "steps": 3, "success_criteria": 4})
    assert sentences[-1] == "More mistakes of this kind: 2. Look at the form of the answer again."
    assert len(sentences) == MAX_SHOWN + 1


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        (STEP, f"You answered with one item of `steps`, not with the whole. Wrap it: {WRAPPED}"),
        (
            {"step_id": "1", "name": "Read", "tool": "read_file"},
            f"You answered with one item of `steps`, not with the whole. Wrap it: {WRAPPED}",
        ),
        ([STEP, STEP], f"You answered with the list `steps`, not with the whole. Wrap it: {WRAPPED}"),
        ({"plan": PLAN}, "Leave out “plan” around your answer: begin with what is inside it."),
    ],
)
def test_a_part_in_place_of_the_whole_is_told_as_that(given_: object, sentence: str) -> None:
    """As a model of half a billion parameters did three times: a bare step where a plan was asked for."""
    assert told(given_) == [sentence]


def test_one_judged_criterion_is_no_verdict() -> None:
    example: Any = example_of(VerifierAnswer)
    (sentence,) = told(example["criteria_results"][0], VerifierAnswer)
    assert sentence.startswith("You answered with one item of `criteria_results`, not with the whole. Wrap it: {")


@pytest.mark.parametrize("value", [{}, [], {"goal": "x"}, {"goal": "x", "step_id": "1", "name": "y"}, [1, STEP], "[[["])
def test_what_is_no_part_is_told_as_it_is(value: object) -> None:
    assert not any(sentence.startswith(("You answered", "Leave out")) for sentence in told(value))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.sampled_from(["done", "C1", "{le:g}"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PLAN, *STEP, "x", "{0}"]), inner, max_size=6)
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_is_answered_a_few_short_sentences_are_told(value: object) -> None:
    text = json.dumps(value)
    try:
        PlanContract.model_validate_json(text)
    except ValidationError as error:
        sentences = mistakes_in(text, PlanContract, error)
        assert 1 <= len(sentences) <= MAX_SHOWN + 1
        assert all(len(sentence) < 1_000 for sentence in sentences)
