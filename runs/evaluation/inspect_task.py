"""A suite as a task of Inspect: its tasks are samples, runs of pevsite solve them, and the properties are scorers.

    inspect eval runs/evaluation/inspect_task.py -T suite=./suite --model anthropic/claude-sonnet-5-5

Inspect calls this file. It runs `evaluate` in a process of its own, and needs nothing of pevsite but its command line,
so that Inspect may be installed in another environment. The process asks Inspect's models, through a Messages API on
this machine that lives as long as the sample: a model that `--model-role verifier=…` names answers as the verifier, and
`planner` and `executor` in the same way; the model of the evaluation answers as all others.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
import yaml
from anthropic import AsyncAnthropic
from anthropic.types import Message
from inspect_ai import Task, task
from inspect_ai.agent import AgentState, agent_bridge
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

ROLES = ("planner", "executor", "verifier")
_PREFIX = "inspect-"
_KEY = "not-needed"
_ANSWER_SECONDS = 3_600.0
"""Longer than pevsite waits for an answer. Without a limit of its own the library refuses to ask for a long one."""
_PING_SECONDS = 15.0
_MAX_TASK_BYTES = 200_000
_DELTAS = {"text": ("text_delta", "text", "text"), "thinking": ("thinking_delta", "thinking", "thinking")}
_WITHOUT_MODEL = frozenset({"none", "none/none"})
_CHECKOUT = Path(__file__).parents[2] / "manage.py"
_COMMAND = [sys.executable, str(_CHECKOUT)] if _CHECKOUT.is_file() else ["pevsite"]


@task
def pevsite_suite(suite: str = "reference", program: str = "") -> Task:
    """The tasks of a suite: a folder, or the name of one that ships. `program`: the command line of pevsite, by default
    that of this copy. Without a model (`--model none`), the service of the installation answers.
    """
    folder = Path(suite)
    if not folder.is_dir():
        folder = Path(__file__).parents[1] / "suites" / suite
    samples = [
        Sample(id=file.parent.name, input=_request_of(file), metadata={"suite": suite})
        for file in sorted(folder.glob("*/task.yaml"))
    ]
    return Task(
        dataset=MemoryDataset(samples, name=folder.name),
        solver=pevsite_run(str(folder.resolve()), program),
        scorer=[all_properties(), share_of_properties()],
    )


def _request_of(file: Path) -> str:
    """What the viewer shows as the input: the name of the folder for a task that cannot be used. `evaluate` reads the
    task itself, and says what is wrong with it.
    """
    name = file.parent.name
    if file.is_symlink() or file.parent.is_symlink() or not file.is_file():
        return name
    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_TASK_BYTES + 1)
        value = {} if len(data) > _MAX_TASK_BYTES else yaml.load(data, yaml.BaseLoader)  # noqa: S506  # no objects
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return name
    request, sample = (value.get("request"), value.get("sample")) if isinstance(value, dict) else (None, None)
    # Lists and mappings are not made into text, because aliases in them can mean gigabytes.
    if isinstance(request, str) and request:
        return request
    return f"The sample “{sample}”" if isinstance(sample, str) and sample else name


@solver
def pevsite_run(folder: str, program: str = "") -> Solver:
    """Runs one task of the suite with `evaluate`, in an installation that is thrown away."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if str(state.model) in _WITHOUT_MODEL:
            result = await _evaluated(folder, str(state.sample_id), program, {})
        else:
            async with (
                agent_bridge(AgentState(messages=state.messages), forward_generation_config=True),
                messages_api() as address,
            ):
                variables = {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": _KEY}
                variables |= {f"PEV_MODEL_{role.upper()}": _PREFIX + role for role in ROLES}
                result = await _evaluated(folder, str(state.sample_id), program, variables)
        (judged,) = result["runs"]
        state.metadata["run"] = judged
        state.output = ModelOutput.from_content(str(state.model), judged["why_not"] or str(judged["outcome"]))
        return state

    return solve


async def _evaluated(folder: str, name: str, program: str, variables: dict[str, str]) -> Any:
    """The result of `evaluate` as JSON. Raises RuntimeError with what it has printed if there is none."""
    command = [program] if program else _COMMAND
    with tempfile.TemporaryDirectory(prefix="pevsite-inspect-") as data:
        options = ["evaluate", folder, "--task", name, "--json", "--data-dir", data]
        process = await asyncio.create_subprocess_exec(
            *command,
            *options,
            env={**os.environ, **variables},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            said, problems = await process.communicate()
        finally:
            if process.returncode is None:  # the sample was cancelled
                process.kill()
    try:
        return json.loads(said)
    except ValueError as error:
        raise RuntimeError(problems.decode(errors="replace")[-2_000:]) from error


@scorer(metrics=[accuracy(), stderr()])
def all_properties() -> Scorer:
    """Correct if the run has every property that is expected. The explanation says what was found."""

    async def score(state: TaskState, target: Target) -> Score:
        run = state.metadata["run"]
        if run["left_out"]:
            return Score.unscored(explanation=run["why_not"])
        properties = run["properties"]
        lines = [f"{'✓' if one['held'] else '✗'} {one['name']}: {one['found']}" for one in properties]
        held = not run["why_not"] and all(one["held"] for one in properties)
        return Score(value="C" if held else "I", answer=run["outcome"], explanation="\n".join(lines) or run["why_not"])

    return score


@scorer(metrics=[mean(), stderr()])
def share_of_properties() -> Scorer:
    """The share of the expected properties that the run has."""

    async def score(state: TaskState, target: Target) -> Score:
        run = state.metadata["run"]
        if run["left_out"]:
            return Score.unscored(explanation=run["why_not"])
        properties = run["properties"]
        held = sum(one["held"] for one in properties)
        return Score(value=held / len(properties) if properties else 0.0, metadata={"properties": properties})

    return score


@asynccontextmanager
async def messages_api() -> AsyncIterator[str]:
    """The address of a Messages API that Inspect's models answer. It has to be opened inside a bridge of Inspect, which
    takes the questions of the library to its models.
    """
    client = AsyncAnthropic(api_key=_KEY, timeout=_ANSWER_SECONDS)

    async def answer(request: Request) -> StreamingResponse:
        asked = await request.json()
        asked.pop("stream", None)
        asking = client.messages.create(**asked | {"model": _model_for(asked["model"])})
        return StreamingResponse(answer_to(asking, asked["model"]), media_type="text/event-stream")

    app = Starlette(routes=[Route("/v1/messages", answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    try:
        while not server.started:
            await asyncio.sleep(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await serving
        await client.close()


def _model_for(name: str) -> str:
    """The name by which the bridge finds the model of a role, or that of the evaluation for a role without one."""
    role = name.removeprefix(_PREFIX)
    return "inspect" if get_model(role=role) is get_model() else f"inspect/{role}"


async def answer_to(
    asking: Coroutine[Any, Any, Message], model: str, ping_seconds: float = _PING_SECONDS
) -> AsyncIterator[bytes]:
    """The events of a stream: pings until the answer is there, because pevsite ends a call that sends nothing for two
    minutes; then the answer under the name by which pevsite has asked, or why there is none.
    """
    answering = asyncio.create_task(asking)
    try:
        while not (await asyncio.wait({answering}, timeout=ping_seconds))[0]:
            yield _event("ping")
        message = answering.result()
    except Exception as error:  # whatever a model of Inspect raises
        yield _event("error", error={"type": "api_error", "message": f"{type(error).__name__}: {error}"})
        return
    finally:
        answering.cancel()  # pevsite has hung up
    for event in events_of(message.model_dump(mode="json", exclude_none=True) | {"model": model}):
        yield event


def events_of(message: dict[str, Any]) -> Iterator[bytes]:
    """A whole message as the events of a stream."""
    usage = message["usage"]
    begun = message | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage | {"output_tokens": 0}}
    yield _event("message_start", message=begun)
    for index, block in enumerate(message["content"]):
        kind = block["type"]
        if kind == "tool_use":
            empty, delta = (
                block | {"input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            )
        elif kind in _DELTAS:
            name, source, field = _DELTAS[kind]
            empty, delta = block | {source: ""}, {"type": name, field: block[source]}
        else:
            empty, delta = block, None
        yield _event("content_block_start", index=index, content_block=empty)
        if delta:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage={"output_tokens": usage["output_tokens"]})
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
