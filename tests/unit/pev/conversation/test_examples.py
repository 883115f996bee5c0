"""The example of a valid answer: it is one, it is short, and it comes before the schema."""

import json

import pytest

from runs.contracts.base import Contract, schema_for, schema_in_words
from runs.pev.contracts import PlanContract, StepOutput, SynthesizedAnswer, VerifierAnswer
from runs.pev.conversation.examples import example_at, example_of, form_of

ANSWERS = (PlanContract, StepOutput, VerifierAnswer, SynthesizedAnswer)


@pytest.mark.parametrize("contract", ANSWERS)
def test_the_example_is_a_valid_answer_with_every_field_and_short(contract: type[Contract]) -> None:
    example = example_of(contract)
    asked = [name for name in contract.model_fields if name != "left_out"]  # offline rules alone fill that in
    contract.model_validate_json(json.dumps(example))
    assert list(example) == asked
    assert len(json.dumps(example)) < 600


def test_the_example_of_a_report() -> None:
    assert example_of(StepOutput) == {
        "status": "done",
        "reasoning": "...",
        "findings": "...",
        "criteria_met": [{"criterion": "C1", "met": True, "how": "..."}],
        "confidence": 0.8,
        "notes": "...",
    }


@pytest.mark.parametrize("contract", ANSWERS)
def test_a_prompt_shows_the_example_and_without_a_format_the_whole_schema_after_it(contract: type[Contract]) -> None:
    text = f"{form_of(contract)}{schema_in_words(schema_for(contract))}"
    heading, example, between, schema, end = text.split("\n")
    assert (heading, between, end) == ("The form of your answer, with your own values in it:", "Its schema:", "")
    assert (json.loads(example), json.loads(schema)) == (example_of(contract), schema_for(contract))


@pytest.mark.parametrize(
    ("location", "value"),
    [
        (("steps", 7, "acceptance_criteria", 0, "about"), "output"),
        (("steps", 7), example_of(PlanContract)["steps"][0]),  # type: ignore[index]
        (("nowhere", 1, "text"), None),
        (("steps", 1, "dependencies", 0), None),
        (("goal", "text"), None),
    ],
)
def test_the_part_at_a_place(location: tuple[int | str, ...], value: object) -> None:
    assert example_at(PlanContract, location) == value
