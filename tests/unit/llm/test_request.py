"""An answer that came as the input of a tool is text, as if it had come so."""

from typing import Any

import pytest

from runs.contracts.ports import Ask, ByService, ToolSpec
from runs.enums import Effect, Role
from runs.llm.capabilities import capability
from runs.llm.request import answered, parameters
from runs.pev.conversation.asking import user
from runs.text.domains import sites
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


def sent(*tools: ToolSpec, **changes: Any) -> dict[str, Any]:
    schema: Any = {"type": "object"}
    ask = Ask(Role.EXECUTOR, "claude-sonnet-5-5", "s", (user("u"),), schema=schema, tools=tools, **changes)
    return parameters(ask, capability("claude-sonnet-5-5"))


def by_service(name: str, listed: str = "*") -> ToolSpec:
    return ToolSpec(name, "For people.", {}, Effect.READS_WEB, ByService(3, 12, sites(listed)))


def test_a_tool_of_the_service_is_named_by_its_version_with_its_limits() -> None:
    ours = ToolSpec("read_file", "Reads.", {"type": "object"})
    served = (by_service("web_fetch", "a.org"), by_service("web_search"))
    assert sent(by_service("code_execution"), ours, *served)["tools"] == [
        {"type": "code_execution_20260521", "name": "code_execution"},
        {"name": "read_file", "description": "Reads.", "input_schema": {"type": "object"}},
        {
            "type": "web_fetch_20260318",
            "name": "web_fetch",
            "allowed_callers": ["direct"],
            "max_uses": 3,
            "allowed_domains": ["a.org"],
            "max_content_tokens": 10_000,
        },
        {"type": "web_search_20260318", "name": "web_search", "allowed_callers": ["direct"], "max_uses": 3},
    ]
    blocked = sent(by_service("web_search", "* -a.org"))["tools"][0]
    assert (blocked["blocked_domains"], "allowed_domains" in blocked) == (["a.org"], False)


def test_where_searches_are_cited_no_format_is_asked_for() -> None:
    """The two exclude each other. The form of the answer stands in the prompt in any case."""
    assert "format" in sent(by_service("web_fetch"))["output_config"]
    assert "format" not in sent(by_service("web_search"))["output_config"]


def test_in_the_last_round_the_tools_stay_and_none_may_be_used() -> None:
    last = sent(by_service("web_search"), last_round=True)
    assert (last["tool_choice"], last["tools"]) == ({"type": "none"}, sent(by_service("web_search"))["tools"])
