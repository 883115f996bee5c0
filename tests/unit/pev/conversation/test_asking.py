"""The dialogue for a valid answer: what is told, how often, and what ends it."""

import json
from typing import Any

import pytest

from runs.contracts.base import Confidence, Contract
from runs.contracts.ports import Reply
from runs.errors import ContractBroken
from runs.pev.conversation.asking import ask_for, unwrapped
from tests.unit.pev.scripted import Scripted, ask, gave, said, used


class Colour(Contract):
    name: str
    share: float = 1.0


RED = {"name": "red"}
NO_JSON = "The answer is not valid JSON: {}. Write one object, from {{ to }}, and nothing around it."


def test_a_valid_answer_is_taken_at_once() -> None:
    model = Scripted(gave(RED))
    assert ask_for(model, ask(), Colour).answer == Colour(name="red")
    assert model.asked == [ask()]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RED),
        f"  {json.dumps(RED)}\n\n",
        f"```json\n{json.dumps(RED)}\n```",
        f"```\n{json.dumps(RED)}\n```\n",
        f"``` JSON \n\n{json.dumps(RED)}\n\n```",
    ],
)
def test_space_and_one_code_fence_around_the_whole_answer_do_not_matter(text: str) -> None:
    assert ask_for(Scripted(said(text)), ask(), Colour).answer == Colour(name="red")


@pytest.mark.parametrize("text", ["``````", "```", "``` ```", "no fence", '```json {"name": "red"} ```'])
def test_what_is_no_code_fence_is_left_alone(text: str) -> None:
    assert unwrapped(text) == text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", NO_JSON.format("EOF while parsing a value at line 1 column 0")),
        ("Here you are: red.", NO_JSON.format("expected value at line 1 column 1")),
        (f"Sure! {json.dumps(RED)}", NO_JSON.format("expected value at line 1 column 1")),
        ("[]", "The answer has to be an object in { }."),
        ("{}", '`name` is missing. Right is, for example: "name": "..."'),
        ('{"name": true}', '`name` has to be a text in quotation marks. Right is, for example: "name": "..."'),
        ('{"name": "\\ud800"}', NO_JSON.format("unexpected end of hex escape at line 1 column 17")),
        (
            '{"name": "\ud800"}',
            "The answer cannot be used: Input should be a valid string, unable to parse raw data as a unicode string.",
        ),
        ("[" * 5_000, NO_JSON.format("recursion limit exceeded at line 1 column 202")),
    ],
)
def test_what_is_wrong_is_told_in_words_and_the_answer_is_taken_when_it_is_mended(text: str, error: str) -> None:
    model = Scripted(said(text), gave(RED))
    assert ask_for(model, ask(), Colour).answer == Colour(name="red")
    assert model.told == (
        f"Your answer cannot be used:\n- {error}\n"
        "Answer again with one JSON object that fixes exactly this and has the form that you were given."
    )


def test_a_conversation_only_grows() -> None:
    model = Scripted(said("no"), said("still no"), gave(RED))
    ask_for(model, ask(), Colour)
    first, second, third = (asked.messages for asked in model.asked)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [message["role"] for message in third] == ["user", "assistant", "user", "assistant", "user"]


def test_two_corrections_and_no_more() -> None:
    model = Scripted(said("no"))
    with pytest.raises(ContractBroken) as caught:
        ask_for(model, ask(), Colour)
    assert len(model.asked) == 3
    assert str(caught.value) == "The planner did not give a usable answer in 3 tries."
    assert caught.value.errors == (NO_JSON.format("expected ident at line 1 column 2"),)


def test_what_the_caller_finds_wrong_is_told_too() -> None:
    model = Scripted(gave({"name": "mauve"}), gave(RED))
    found, _ = ask_for(model, ask(), Colour, lambda colour: [] if colour.name == "red" else ["Mauve is no colour."])
    assert found == Colour(name="red")
    assert "- Mauve is no colour.\n" in model.told


def test_a_refusal_ends_it_at_once_with_the_words_of_the_model() -> None:
    model = Scripted(said("I will not do that.", "refusal"))
    with pytest.raises(ContractBroken) as caught:
        ask_for(model, ask(), Colour)
    assert (len(model.asked), str(caught.value), caught.value.errors) == (
        1,
        "The model refused to answer.",
        ("I will not do that.",),
    )


def test_a_refusal_counts_even_when_it_carries_a_valid_answer() -> None:
    with pytest.raises(ContractBroken, match="refused"):
        ask_for(Scripted(said(json.dumps(RED), "refusal")), ask(), Colour)


def test_a_question_that_is_too_long_ends_it_at_once() -> None:
    model = Scripted(said("", "model_context_window_exceeded"))
    with pytest.raises(ContractBroken, match=r"^The question was longer than the model can read.$"):
        ask_for(model, ask(), Colour)
    assert len(model.asked) == 1


def test_an_answer_that_was_cut_off_is_asked_for_again_shorter_even_if_it_parses() -> None:
    model = Scripted(said(json.dumps({"name": "re"}), "max_tokens"), gave(RED))
    assert ask_for(model, ask(), Colour).answer == Colour(name="red")
    assert "- The answer was cut off at the length limit. Answer again, much shorter.\n" in model.told


def test_empty_content_is_not_sent_back_as_an_empty_message() -> None:
    model = Scripted(Reply((), "end_turn", "scripted"), gave(RED))
    assert ask_for(model, ask(), Colour).answer == Colour(name="red")
    assert [message["role"] for message in model.asked[1].messages] == ["user", "user"]


def test_a_tool_call_nobody_offered_is_not_left_unanswered_in_the_conversation() -> None:
    model = Scripted(used("read_file"), gave(RED))
    assert ask_for(model, ask(), Colour).answer == Colour(name="red")
    assert [message["role"] for message in model.asked[1].messages] == ["user", "user"]


def test_the_answer_is_what_stands_behind_the_last_result_of_the_service() -> None:
    blocks: list[Any] = [
        {"type": "text", "text": "I will look."},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "text", "text": '{"name": '},
        {"type": "text", "text": '"red"}'},
    ]
    model = Scripted(Reply(tuple(blocks), "end_turn", "scripted"))
    assert ask_for(model, ask(), Colour).answer == Colour(name="red")


def test_thinking_is_sent_back_and_not_read_as_the_answer() -> None:
    thought: dict[str, Any] = {"type": "thinking", "thinking": '{"name": "blue"}', "signature": "s"}
    reply = Reply((thought, {"type": "text", "text": "hm"}), "end_turn", "scripted")
    model = Scripted(reply, gave(RED))
    assert ask_for(model, ask(), Colour).answer == Colour(name="red")
    assert model.asked[1].messages[1] == {"role": "assistant", "content": [thought, {"type": "text", "text": "hm"}]}


def test_the_first_three_errors_are_told_and_how_many_more_there_are() -> None:
    model = Scripted(gave({f"extra{n}": n for n in range(100)}), gave(RED))
    ask_for(model, ask(), Colour)
    assert model.told.count("\n- ") == 4
    assert "\n- More mistakes of this kind: 98. Look at the form of the answer again.\n" in model.told


class Sure(Contract):
    confidence: Confidence


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-0.1", "1.1", "null", '"sure"'])
def test_what_is_no_number_between_0_and_1_is_no_confidence(number: str) -> None:
    with pytest.raises(ContractBroken):
        ask_for(Scripted(said(f'{{"confidence": {number}}}')), ask(), Sure)
