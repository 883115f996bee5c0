"""Runs a session of the Agent SDK: starts its program, asks it for a report or a plan, and ends it.

The program has only the tools of its work, no key, no one's settings, and a temporary home.
"""

import asyncio
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import anyio
import claude_agent_sdk
from anyio.abc import TaskGroup
from anyio.from_thread import start_blocking_portal
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    HookInput,
    HookMatcher,
    ResultMessage,
)
from claude_agent_sdk.types import SyncHookJSONOutput
from mcp.server import Server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

from runs.agent_sdk import launcher
from runs.agent_sdk.dialogue import Session, SessionTask, of_plan, of_step
from runs.agent_sdk.gateway import Gateway, Pending, serving
from runs.agent_sdk.wire import PREFIX, SERVER
from runs.contracts.ports import Model, Toolbox, ToolSpec
from runs.enums import CHANGES_NOTHING
from runs.errors import ContractBroken, ModelError
from runs.pev.contracts import StepOutput
from runs.pev.imports.imported import Imported
from runs.pev.planner import PlanBrief
from runs.pev.step_brief import StepBrief

MAX_SILENCE = 60.0
"""Seconds without a question, call or message after which the program counts as hanging."""
_CALL = "claudecode/toolUseId"
"""The field with the model's call id in what the program sends to a tool server."""
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",  # the engine repeats calls, and the journal has each try
    "API_TIMEOUT_MS": "3600000",  # the ports have their own deadlines
    "MCP_TOOL_TIMEOUT": "3600000",
    "CLAUDE_CODE_SDK_MCP_TOOL_IDLE_TIMEOUT": "3600000",
    "MAX_MCP_OUTPUT_TOKENS": "1000000",  # results are limited already, and must be as in the journal
}


class ThreadBridge:
    """Transfers calls from the session's event loop to the thread of the attempt, one after the other.

    Database connections and the watch over calls belong to the worker's thread, so the ports must be used there.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    async def do[Value](self, call: Callable[[], Value]) -> Value:
        """Returns or raises what `call` does in the thread that runs `serve`. May be awaited in any event loop."""
        future = Future[Value]()
        self._jobs.put(partial(_carried_out, call, future))
        return await asyncio.wrap_future(future)

    def serve(self) -> None:
        """Runs calls until `close` is called."""
        while job := self._jobs.get():
            job()

    def close(self) -> None:
        self._jobs.put(None)


def _carried_out[Value](call: Callable[[], Value], future: Future[Value]) -> None:
    if not future.set_running_or_notify_cancel():
        return  # the session has ended
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)


def execute(model: Model, tools: Toolbox, brief: StepBrief) -> StepOutput:
    """Like `pev.executor.execute`, with the loop of the Agent SDK.

    Also raises ModelError if its program does not run.
    """
    return _outcome(model, tools, of_step(brief, tools.specs()))


def make_plan(model: Model, brief: PlanBrief, tools: Toolbox) -> Imported:
    """Like `pev.planner.make_plan`, with the Agent SDK in plan mode. Raises like `execute`."""
    return _outcome(model, tools, of_plan(brief, tools.specs()))


def _outcome[Output](model: Model, tools: Toolbox, errand: SessionTask[Output]) -> Output:
    desk = ThreadBridge()
    session = SdkSession(Session(model, tools, errand), errand, desk)
    with start_blocking_portal() as portal:
        output = portal.start_task_soon(session.output)
        output.add_done_callback(lambda _: desk.close())
        desk.serve()
        return output.result()


class SdkSession[Output]:
    """A session. It ends with the first failure of a port, whatever the program makes of it, and raises that error."""

    def __init__(self, dialogue: Session[Output], errand: SessionTask[Output], desk: ThreadBridge) -> None:
        self._dialogue = dialogue
        self._errand = errand
        self._desk = desk
        self._failure: Exception | None = None
        self._failed = anyio.Event()
        self._busy = 0
        self._heard = time.monotonic()

    async def output(self) -> Output:
        """Returns the output of the session. Raises like `execute`."""
        output: Output | None = None
        with tempfile.TemporaryDirectory(prefix="pevsite-agent-", ignore_cleanup_errors=True) as home:
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch, group.cancel_scope, Path(home))
                async with serving(partial(self._asked, group)) as gateway:
                    with self._failures():
                        output = await self._talk(self._options(Path(home), gateway))
                group.cancel_scope.cancel()
        if self._failure is not None:
            raise self._failure
        assert output is not None  # there is either an output or a failure
        return output

    async def _talk(self, options: ClaudeAgentOptions) -> Output:
        output: Output | str = ""
        async with ClaudeSDKClient(options) as client:
            await client.query(self._prompt())
            while isinstance(output, str):
                async for message in client.receive_response():
                    self._heard = time.monotonic()
                    if isinstance(message, ResultMessage) and message.is_error:
                        self._dialogue.output()  # reports a question that was too long for the model
                        why = "; ".join(message.errors or [message.result or message.subtype])
                        raise ContractBroken("The agent's program ended its work.", (why[:500],))
                output = self._dialogue.output()
                if isinstance(output, str):
                    await client.query(output)
        assert not isinstance(output, str)  # the loop has ended
        return output

    async def _prompt(self) -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": self._dialogue.prompt}}

    async def _asked(self, group: TaskGroup, body: object) -> Pending:
        """Asks in a task of the session, so that the question ends with it."""
        pending = Pending()
        group.start_soon(self._ask, body, pending)
        return pending

    async def _ask(self, body: object, pending: Pending) -> None:
        with self._failures(), self._at_work():
            pending.reply, pending.number = await self._desk.do(partial(self._dialogue.ask, body))
            pending.done.set()

    async def _call(self, _: object, params: CallToolRequestParams) -> CallToolResult:
        use_id = str((params.meta or {}).get(_CALL, ""))
        if not self._dialogue.has_called(use_id):
            return _result("This call is not one of the model's. Nothing was done.", is_error=True)
        with self._failures(), self._at_work():
            done = await self._desk.do(partial(self._dialogue.call, use_id))
            return _result(done.text, is_error=done.is_error)
        return _result("The work has ended.", is_error=True)

    async def _list(self, *_: object) -> ListToolsResult:
        return ListToolsResult(tools=[_tool(spec) for spec in self._dialogue.first.tools])

    async def _allowed(self, given: HookInput, *_: object) -> SyncHookJSONOutput:
        """Refuses all tools that are not ours, in addition to `tools`, whatever the program brings itself."""
        if given.get("tool_name") in self._names:
            return {}
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "This work has no such tool.",
            }
        }

    @property
    def _names(self) -> list[str]:
        return [f"{PREFIX}{spec.name}" for spec in self._dialogue.first.tools]

    def _options(self, home: Path, gateway: Gateway) -> ClaudeAgentOptions:
        folder = home / "empty"
        folder.mkdir()
        server = Server(SERVER, version="1", on_list_tools=self._list, on_call_tool=self._call)
        return ClaudeAgentOptions(
            model=self._dialogue.first.model,
            system_prompt=self._dialogue.first.instructions,
            verbatim_prompts=True,  # `@file` and `/command` in documents have no effect
            mcp_servers={SERVER: {"type": "sdk", "name": SERVER, "instance": server}},
            strict_mcp_config=True,
            tools=[],
            skills=[],
            setting_sources=[],
            allowed_tools=self._names,
            permission_mode=self._errand.mode,
            hooks={"PreToolUse": [HookMatcher(hooks=[self._allowed])]},
            cwd=folder,
            cli_path=_launcher(home),
            env=environment(home, gateway),
            extra_args={"no-session-persistence": None},  # contents of documents are not written to the disk
            max_buffer_size=64 * 1024 * 1024,
        )

    async def _watch(self, scope: anyio.CancelScope, home: Path) -> None:
        """Ends the session when something has failed or the program hangs."""
        while not self._failed.is_set():
            with anyio.move_on_after(MAX_SILENCE / 10):
                await self._failed.wait()
            if not self._busy and time.monotonic() - self._heard > MAX_SILENCE:
                sentence = f"The agent's program did nothing for {MAX_SILENCE:.0f} seconds."
                self._fail(ModelError(sentence, kind="agent_program", retriable=True))
        (home / launcher.STOP).touch()
        scope.cancel()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (ClaudeSDKError, OSError) as error:
            sentence = f"The agent's program does not run: {type(error).__name__}."
            self._fail(ModelError(sentence, kind="agent_program", retriable=True))
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._failure = self._failure or error
        self._failed.set()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            self._heard = time.monotonic()


def environment(home: Path, gateway: Gateway) -> dict[str, str]:
    """Returns the environment of the program. The SDK passes on the variables of this process, including keys, so each
    is emptied.
    """
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    own = {"HOME": str(home), "ANTHROPIC_BASE_URL": gateway.address, "ANTHROPIC_API_KEY": gateway.secret}
    return dict.fromkeys(os.environ, "") | kept | own | _QUIET


def program() -> str | None:
    """Returns the path of the agent's program, or None."""
    bundled = Path(claude_agent_sdk.__file__).with_name("_bundled") / "claude"
    return str(bundled) if bundled.exists() else shutil.which("claude")


def _launcher(home: Path) -> Path:
    """Writes a script that starts the agent's program through the launcher, for the SDK to run instead."""
    its = program()
    if its is None:
        sentence = "The program of the Agent SDK is not installed: this system's package of claude-agent-sdk has none."
        raise ModelError(sentence, kind="agent_program", retriable=False)
    words = shlex.join([sys.executable, "-I", launcher.__file__, str(home), its])
    script = home / "start"
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o700)
    return script


def _tool(spec: ToolSpec) -> Tool:
    """Converts a tool. In plan mode the program allows only tools that change nothing."""
    changes_nothing = ToolAnnotations(read_only_hint=spec.effect in CHANGES_NOTHING)
    return Tool(
        name=spec.name, description=spec.description, input_schema=spec.input_schema, annotations=changes_nothing
    )


def _result(text: str, *, is_error: bool) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)
