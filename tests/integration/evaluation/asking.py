"""Asks models of Inspect as pevsite does, in a process of its own: `python -m tests.integration.evaluation.asking`.

Prints the replies as JSON. It needs Inspect, which the other tests do without.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from dataclasses import asdict
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.agent import AgentState, agent_bridge
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from runs.contracts.ports import Ask, Reply, ToolSpec
from runs.enums import Role
from runs.evaluation.inspect_task import messages_api
from runs.llm.client import Clients

_TOOL = ToolSpec("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


def main() -> None:
    """Two models answer: one that the role of the verifier names, and that of the evaluation."""
    replies: list[Reply] = []

    def ask(role: Role) -> Reply:
        messages: Any = ({"role": "user", "content": [{"type": "text", "text": "Begin."}]},)
        return Clients().ask(Ask(role, f"inspect-{role}", "You work.", messages, tools=(_TOOL,)))

    @solver
    def asking() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            async with agent_bridge(AgentState(messages=state.messages)), messages_api() as address:
                os.environ["ANTHROPIC_BASE_URL"] = address
                roles = (Role.EXECUTOR, Role.EXECUTOR, Role.VERIFIER)
                replies.extend([await asyncio.to_thread(ask, role) for role in roles])
            return state

        return solve

    outputs = [
        ModelOutput.for_tool_call("mockllm/main", "read_file", {"path": "notes.md"}),
        ModelOutput.from_content("mockllm/main", "It is done."),
    ]
    judging = [ModelOutput.from_content("mockllm/judge", "Not yet.")]
    for output in (*outputs, *judging):
        output.usage = ModelUsage(
            input_tokens=12, output_tokens=5, total_tokens=17
        )  # otherwise it downloads a tokenizer
    with tempfile.TemporaryDirectory() as logs:
        (log,) = evaluate(
            Task(dataset=MemoryDataset([Sample(input="Begin.")]), solver=asking()),
            model=get_model("mockllm/main", custom_outputs=outputs),
            model_roles={"verifier": get_model("mockllm/judge", custom_outputs=judging)},
            display="none",
            log_dir=logs,
        )
    assert log.status == "success", log.error and log.error.message
    print(json.dumps([asdict(reply) for reply in replies]))


if __name__ == "__main__":
    main()
