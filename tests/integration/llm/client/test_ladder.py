"""Over real HTTP, a structured answer is asked for as the server can take it, and comes out of the client as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from runs.contracts.base import schema_for
from runs.contracts.ports import Ask
from runs.llm.capabilities import Probed, use_probed
from runs.llm.client import Clients
from runs.llm.model_servers import ModelServer
from runs.pev.contracts import StepOutput
from runs.pev.conversation.asking import corrected, read
from tests.fakes.anthropic_answers import Answer, Overrun, Say, Think, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_servers import FORCING, LLAMA_CPP, VLLM, Dialect, served
from tests.fakes.team import report
from tests.integration.llm.client.serving import TOOL, Seen, question

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
MODEL = "qwen3-4b"
REPORT = report("Found it.")


@pytest.fixture(autouse=True)
def nothing_probed() -> Iterator[None]:
    yield
    use_probed({})


def structured(**changes: Any) -> Ask:
    return question(model=MODEL, schema=schema_for(StepOutput), schema_name="step_output", **changes)


def speaking(api: FakeAnthropic, dialect: Dialect, *answers: Answer) -> None:
    """The server honours what the dialect says, which is known of it; the model behind it answers in turn."""
    left = iter(answers)
    api.script(served(dialect, lambda _: next(left)))
    shown = Probed(format=dialect.format, forced_tool=dialect.forced_tool, no_tools=dialect.no_tools)
    use_probed({(ModelServer(api.url).address, MODEL): shown})


def says(value: Any) -> Say:
    return Say(json.dumps(value))


def test_the_format_is_asked_for_where_it_is_honoured(api: FakeAnthropic, clients: Clients) -> None:
    speaking(api, VLLM, says(REPORT))
    reply = clients.ask(structured(tools=(TOOL,)))
    [sent] = api.requests
    assert (sent.output_format, sent.tool_names, "tool_choice" in sent.body) == (
        schema_for(StepOutput),
        ["read_file"],
        False,
    )
    assert json.loads(reply.text) == REPORT


def test_a_tool_is_demanded_where_only_that_is_honoured_and_its_input_is_the_answer(
    api: FakeAnthropic, clients: Clients
) -> None:
    speaking(api, FORCING, says(REPORT))
    seen = Seen()
    reply = clients.ask(structured(), draft=seen)
    [(kind, tool, words)] = seen.blocks
    assert (kind, tool, json.loads(words)) == ("text", "", REPORT), "an answer, not the call of a tool"
    [sent] = api.requests
    assert sent.output_format is None
    assert [(tool["name"], tool["input_schema"]) for tool in sent.tools] == [("step_output", schema_for(StepOutput))]
    assert sent.body["tool_choice"] == {"type": "tool", "name": "step_output"}
    assert reply.content == ({"type": "text", "text": json.dumps(REPORT)},)
    assert (reply.stop_reason, reply.tool_uses) == ("end_turn", ())
    assert read(reply, StepOutput, structured()) == ((StepOutput.model_validate(REPORT), ()), [])


def test_an_answer_that_is_corrected_is_asked_for_again_in_a_conversation_that_the_api_takes(
    api: FakeAnthropic, clients: Clients
) -> None:
    speaking(api, FORCING, says({"status": "done"}), says(REPORT))
    ask = structured()
    first = clients.ask(ask)
    second = clients.ask(corrected(ask, first, ["findings: Field required"]))
    assert json.loads(second.text) == REPORT
    assert [message["role"] for message in api.requests[1].messages] == ["user", "assistant", "user"]
    assert api.requests[1].messages[1]["content"] == [{"type": "text", "text": '{"status": "done"}'}]


def test_beside_tools_the_answer_is_one_more_and_demanded_only_at_the_end(api: FakeAnthropic, clients: Clients) -> None:
    call = UseTools(ToolUse("read_file", {"path": "a"}), text="Let me look.")
    speaking(api, FORCING, call, says(REPORT))
    ask = structured(tools=(TOOL,))
    first = clients.ask(ask)
    assert ([use.name for use in first.tool_uses], first.stop_reason) == (["read_file"], "tool_use")
    second = clients.ask(replace(after(ask, first.content), last_round=True))
    assert [request.tool_names for request in api.requests] == [["read_file", "step_output"]] * 2
    assert "tool_choice" not in api.requests[0].body
    assert api.requests[1].body["tool_choice"] == {"type": "tool", "name": "step_output"}
    assert (json.loads(second.text), second.stop_reason) == (REPORT, "end_turn")


def test_an_answer_in_an_earlier_round_is_one_too(api: FakeAnthropic, clients: Clients) -> None:
    speaking(api, FORCING, Think(UseTools(ToolUse("step_output", REPORT), text="I am done:")))
    reply = clients.ask(structured(tools=(TOOL,)))
    assert [block["type"] for block in reply.content] == ["thinking", "text"]
    assert (json.loads(reply.text), reply.stop_reason, reply.tool_uses) == (REPORT, "end_turn", ())


def test_an_answer_beside_other_calls_was_given_without_their_results_and_goes(
    api: FakeAnthropic, clients: Clients
) -> None:
    speaking(api, FORCING, UseTools(ToolUse("read_file", {"path": "a"}), ToolUse("step_output", REPORT)), says(REPORT))
    ask = structured(tools=(TOOL,))
    first = clients.ask(ask)
    assert [(use.name, use.input) for use in first.tool_uses] == [("read_file", {"path": "a"})]
    assert (first.stop_reason, first.text) == ("tool_use", "")
    clients.ask(after(ask, first.content))


def test_an_answer_that_was_cut_off_stays_cut_off(api: FakeAnthropic, clients: Clients) -> None:
    speaking(api, FORCING)
    api.replies(Overrun('{"status": "do'))
    assert clients.ask(structured()).stop_reason == "max_tokens"


def test_where_nothing_is_honoured_the_prompt_alone_asks(api: FakeAnthropic, clients: Clients) -> None:
    speaking(api, LLAMA_CPP, says(REPORT), says(REPORT))
    api.dialect = LLAMA_CPP
    ask = structured()
    for asked in (ask, replace(ask, tools=(TOOL,), last_round=True)):
        assert json.loads(clients.ask(asked).text) == REPORT
    assert [sorted(request.body) for request in api.requests] == [
        ["max_tokens", "messages", "model", "stream", "system"]
    ] * 2


def test_a_call_of_a_tool_that_was_not_offered_stays_a_call(api: FakeAnthropic, clients: Clients) -> None:
    speaking(api, LLAMA_CPP, UseTools(ToolUse("step_output", REPORT)))
    reply = clients.ask(structured(tools=(TOOL,)))
    assert [use.name for use in reply.tool_uses] == ["step_output"]


def test_no_tool_is_forced_on_a_model_that_refuses_it(api: FakeAnthropic, clients: Clients) -> None:
    """The fake answers 400 for it, as the API does."""
    api.script(lambda _: says(REPORT))
    for model in ("claude-opus-5-5", "claude-sonnet-5-5"):
        for last_round in (False, True):
            clients.ask(replace(structured(tools=(TOOL,), last_round=last_round), model=model))
    assert {request.body.get("tool_choice", {"type": "none"})["type"] for request in api.requests} == {"none"}


def after(ask: Ask, content: tuple[Any, ...]) -> Ask:
    """The conversation with what was said and a result for each call."""
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": "Hello."}
        for block in content
        if block["type"] == "tool_use"
    ]
    said: Any = ({"role": "assistant", "content": list(content)}, {"role": "user", "content": results})
    return replace(ask, messages=(*ask.messages, *said))
