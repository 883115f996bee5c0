"""An answer that came as the input of a tool is text, as if it had come so."""

from typing import Any

import pytest

from runs.llm.request import answered
from tests.fakes.echoes import KEY

THOUGHT: Any = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
TEXT: Any = {"type": "text", "text": "Here it is:"}


def call(name: str = "plan", **values: Any) -> Any:
    return {"type": "tool_use", "id": "t", "name": name, "input": values}


def text(words: str) -> Any:
    return {"type": "text", "text": words}


def test_the_answer_is_all_of_the_text_and_ends_the_turn() -> None:
    assert answered([THOUGHT, TEXT, call(goal="Grüße")], "tool_use", "plan") == (
        (THOUGHT, text('{"goal": "Grüße"}')),
        "end_turn",
    )


@pytest.mark.parametrize("stop_reason", ["max_tokens", "refusal", "model_context_window_exceeded", "end_turn"])
def test_every_other_reason_to_stop_stays(stop_reason: str) -> None:
    assert answered([call(goal="x")], stop_reason, "plan")[1] == stop_reason


def test_of_two_answers_the_first_counts() -> None:
    assert answered([call(goal="one"), call(goal="two")], "tool_use", "plan")[0] == (text('{"goal": "one"}'),)


def test_what_is_no_answer_stays_as_it_came() -> None:
    for content in ([], [TEXT], [call("read_file", path="a")], [call(name="")]):
        assert answered(content, "tool_use", "plan") == (tuple(content), "tool_use")
        assert answered(content, "tool_use", "") == (tuple(content), "tool_use")


def test_an_input_that_is_no_object_is_text_too_and_is_refused_as_any_other() -> None:
    assert answered([{"type": "tool_use", "id": "t", "name": "plan"}], "tool_use", "plan")[0] == (text("null"),)


def test_a_key_that_was_cut_into_two_values_is_whole_in_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    pieces = [KEY[at : at + 10] for at in range(0, len(KEY), 10)]
    content, _ = answered([call(pieces=pieces)], "tool_use", "plan")
    assert "(redacted)" in str(content[0]["text"])
