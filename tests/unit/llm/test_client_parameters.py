"""A request has what every server understands, and of the rest only what its model is known to take."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from runs.contracts.base import schema_for
from runs.contracts.ports import Ask, ToolSpec
from runs.enums import Role
from runs.llm.capabilities import capability
from runs.llm.request import parameters as parameters_for
from runs.pev.contracts import PlanContract, StepOutput, SynthesizedAnswer, VerifierAnswer
from tests.fakes.anthropic_rules import request_error

CLAUDE = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-4-6", "claude-haiku-4-5"]
LOCAL = ["qwen3-4b", "claude-next", "offline-planner", "my-claude-opus-5-5"]
TOOL = ToolSpec("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
CALL: Any = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read_file", "input": {}}]}
RESULT: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "Hello."}]}
HELLO: Any = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}


def ask(model: str, **changes: Any) -> Ask:
    values: dict[str, Any] = {"role": Role.EXECUTOR, "model": model, "system": "Be brief.", "messages": (HELLO,)}
    return Ask(**{**values, **changes})


def parameters(asked: Ask) -> dict[str, Any]:
    return parameters_for(asked, capability(asked.model))


@pytest.mark.parametrize("model", CLAUDE + LOCAL)
@pytest.mark.parametrize("contract", [PlanContract, StepOutput, VerifierAnswer, SynthesizedAnswer])
def test_the_api_takes_every_request(model: str, contract: Any) -> None:
    for last_round, effort in product((False, True), ("low", "medium", "high")):
        sent = parameters(ask(model, schema=schema_for(contract), tools=(TOOL,), last_round=last_round, effort=effort))
        assert request_error({**sent, "stream": True}) is None


@pytest.mark.parametrize("model", LOCAL)
def test_an_unknown_model_gets_no_optional_parameter(model: str) -> None:
    sent = parameters(ask(model, schema={"type": "object"}, tools=(TOOL,), stable=(0, 1)))
    assert sorted(sent) == ["max_tokens", "messages", "model", "system", "tools"]


@pytest.mark.parametrize("model", LOCAL)
def test_where_tools_cannot_be_forbidden_a_last_round_has_none_unless_the_conversation_needs_them(model: str) -> None:
    last = ask(model, schema={"type": "object"}, tools=(TOOL,), last_round=True)
    assert sorted(parameters(last)) == ["max_tokens", "messages", "model", "system"]
    sent = parameters(replace(last, messages=(HELLO, CALL, RESULT)))
    assert ([tool["name"] for tool in sent["tools"]], "tool_choice" in sent) == (["read_file"], False)


@pytest.mark.parametrize("model", CLAUDE[:4])
def test_claude_is_asked_for_the_format_effort_and_thinking(model: str) -> None:
    schema = schema_for(StepOutput)
    sent = parameters(ask(model, schema=schema, effort="high"))
    assert sent["output_config"] == {"format": {"type": "json_schema", "schema": schema}, "effort": "high"}
    assert sent["thinking"] == {"type": "adaptive", "display": "summarized"}


def test_a_model_without_effort_and_adaptive_thinking_is_asked_for_neither() -> None:
    sent = parameters(ask("claude-haiku-4-5", schema={"type": "object"}))
    assert sorted(sent["output_config"]) == ["format"]
    assert "thinking" not in sent


@pytest.mark.parametrize("model", CLAUDE + LOCAL)
def test_nothing_is_sent_that_is_gone_or_forced(model: str) -> None:
    sent = parameters(ask(model, tools=(TOOL,), last_round=True))
    assert not {"temperature", "top_p", "top_k"} & sent.keys()
    assert sent.get("tool_choice", {"type": "none"}) == {"type": "none"}


def test_only_the_last_round_forbids_tools_and_only_where_there_are_some() -> None:
    assert "tool_choice" not in parameters(ask("claude-opus-5-5", tools=(TOOL,)))
    assert parameters(ask("claude-opus-5-5", tools=(TOOL,), last_round=True))["tool_choice"] == {"type": "none"}
    assert "tool_choice" not in parameters(ask("claude-opus-5-5", last_round=True))


def test_the_same_question_is_the_same_bytes() -> None:
    assert parameters(ask("claude-opus-5-5", tools=(TOOL,))) == parameters(ask("claude-opus-5-5", tools=(TOOL,)))


def test_the_conversation_is_sent_as_it_is() -> None:
    sent = parameters(ask("qwen3-4b", messages=(HELLO, HELLO), max_tokens=77))
    assert (sent["messages"], sent["max_tokens"]) == ([HELLO, HELLO], 77)
    assert sent["system"] == [{"type": "text", "text": "Be brief."}]
