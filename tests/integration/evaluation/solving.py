"""Runs a suite as a task of Inspect: `python -m tests.integration.evaluation.solving SUITE LOGS`.

SUITE is the folder of the suite, and LOGS one for Inspect's logs. Each role has a model of its own, and a team answers
for all of them. Prints as JSON which roles each model has played, and the scores. It needs Inspect, which the other
tests do without.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import Any

from inspect_ai import eval as evaluate
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall

from runs.evaluation.inspect_task import ROLES, pevsite_suite
from tests.fakes.anthropic_answers import Request, Say, UseTools
from tests.fakes.team import Team, plan, step

ANSWER = "There are three notes about rent."
_TEAM = Team(plan=plan(step("one")), synthesizer=lambda request, right: Say(json.dumps({"answer": ANSWER})))


def main(suite: str, logs: str) -> None:
    played: dict[str, set[str]] = defaultdict(set)

    def model(name: str) -> Any:
        def answer(messages: list[ChatMessage], tools: object, choice: object, config: object) -> ModelOutput:
            request = request_of(messages)
            played[name].add(request.system.splitlines()[0].removeprefix("# Your role: "))
            return output_of(name, request)

        return get_model(f"mockllm/{name}", custom_outputs=answer)

    (log,) = evaluate(
        pevsite_suite(suite),
        model=model("main"),
        model_roles={role: model(role) for role in ROLES},
        display="none",
        log_dir=logs,
    )
    assert log.status == "success", log.error and log.error.message
    (sample,) = log.samples or []
    scores = {name: (score.value, score.explanation) for name, score in (sample.scores or {}).items()}
    print(json.dumps({"played": {name: sorted(roles) for name, roles in played.items()}, "scores": scores}))


def request_of(messages: list[ChatMessage]) -> Request:
    """What Inspect has made of the question, in the form of the Messages API."""
    system = "\n".join(one.text for one in messages if one.role == "system")
    talk: list[dict[str, Any]] = []
    for one in messages:
        if isinstance(one, ChatMessageTool):
            content = [{"type": "tool_result", "tool_use_id": one.tool_call_id, "content": one.text}]
            talk.append({"role": "user", "content": content})
        elif one.role != "system":
            talk.append({"role": one.role, "content": [{"type": "text", "text": one.text}]})
    return Request(0, "", system, talk, [], None, {}, {})


def output_of(name: str, request: Request) -> ModelOutput:
    """The answer of the team, as a model of Inspect gives it."""
    answer = _TEAM(request)
    match answer:
        case Say(text):
            output = ModelOutput.from_content(f"mockllm/{name}", text)
        case UseTools():
            calls = [ToolCall(f"call_{n}", use.name, dict(use.input)) for n, use in enumerate(answer.tools, 1)]
            message = ChatMessageAssistant(content="", tool_calls=calls)
            output = ModelOutput.from_message(message, stop_reason="tool_calls")
        case _:
            raise AssertionError(f"a model of Inspect cannot answer {answer}")
    output.usage = ModelUsage(input_tokens=12, output_tokens=5, total_tokens=17)  # otherwise it downloads a tokenizer
    return output


if __name__ == "__main__":
    main(*sys.argv[1:])
