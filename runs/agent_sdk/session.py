"""A session of the Agent SDK: its program is started, asked for a step's report or for a plan, and ended.

The program has no tools but those of its work, no key, nobody's settings, and a home of its own that goes with it.
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
"""Seconds in which the program neither asks, nor calls, nor says anything: then it hangs."""
_CALL = "claudecode/toolUseId"
"""Under which the program names the call of the model in what it sends to a server of tools."""
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",  # the engine tries again, and the journal has each try
    "API_TIMEOUT_MS": "3600000",  # the ports have deadlines of their own
    "MCP_TOOL_TIMEOUT": "3600000",
    "CLAUDE_CODE_SDK_MCP_TOOL_IDLE_TIMEOUT": "3600000",
    "MAX_MCP_OUTPUT_TOKENS": "1000000",  # results are bounded, and told as the journal has them
}


class ThreadBridge:
    """Carries calls from the event loop of the session to the thread of the attempt, one after the other.

    Connections to the database and the watch over calls belong to the thread of the worker, so the ports stay there.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    async def do[Value](self, call: Callable[[], Value]) -> Value:
        """Returns or raises what `call` does in the thread that is in `serve`. May be awaited in any event loop."""
        future = Future[Value]()
        self._jobs.put(partial(_carried_out, call, future))
        return await asyncio.wrap_future(future)

    def serve(self) -> None:
        """Until `close` is called."""
        while job := self._jobs.get():
            job()

    def close(self) -> None:
        self._jobs.put(None)


def _carried_out[Value](call: Callable[[], Value], future: Future[Value]) -> None:
    if not future.set_running_or_notify_cancel():
        return  # the session has ended since
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)


def execute(model: Model, tools: Toolbox, brief: StepBrief) -> StepOutput:
    """As `pev.executor.execute`, with the loop of the Agent SDK.

    Raises also ModelError where its program does not run.
    """
    return _outcome(model, tools, of_step(brief, tools.specs()))


def make_plan(model: Model, brief: PlanBrief, tools: Toolbox) -> Imported:
    """As `pev.planner.make_plan`, with the program of the Agent SDK in its plan mode. Raises as `execute`."""
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
    """Ends with the first failure of a port, whatever the program makes of it, and raises that."""

    def __init__(self, dialogue: Session[Output], errand: SessionTask[Output], desk: ThreadBridge) -> None:
        self._dialogue = dialogue
        self._errand = errand
        self._desk = desk
        self._failure: Exception | None = None
        self._failed = anyio.Event()
        self._busy = 0
        self._heard = time.monotonic()

    async def output(self) -> Output:
        """What the session was for. Raises as `execute`."""
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
                await self._listen(client)
                output = self._dialogue.output()
                if isinstance(output, str):
                    await client.query(output)
        assert not isinstance(output, str)  # the loop has ended
        return output

    async def _listen(self, client: ClaudeSDKClient) -> None:
        """Until the program has said all that it has to say to what it was asked."""
        async for message in client.receive_response():
            self._heard = time.monotonic()
            if isinstance(message, ResultMessage) and message.is_error:
                self._dialogue.output()  # what was too long for the model has a sentence of its own
                raise ContractBroken("The agent's program ended its work.", (_why(message),))

    async def _prompt(self) -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": self._dialogue.prompt}}

    async def _asked(self, group: TaskGroup, body: object) -> Pending:
        """Questions are asked in the session's own tasks, so that they end with it."""
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
        """A second lock beside `tools`: nothing that is not ours is called, whatever the program has by itself."""
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
            verbatim_prompts=True,  # no `@file` or `/command` in a document does anything
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
            extra_args={"no-session-persistence": None},  # what documents say is not left on the disk
            max_buffer_size=64 * 1024 * 1024,
        )

    async def _watch(self, scope: anyio.CancelScope, home: Path) -> None:
        """Ends the session when something has failed, or the program hangs."""
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
    """All that the program's process knows. The SDK hands on what this process has, keys among it: each is emptied."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    own = {"HOME": str(home), "ANTHROPIC_BASE_URL": gateway.address, "ANTHROPIC_API_KEY": gateway.secret}
    return dict.fromkeys(os.environ, "") | kept | own | _QUIET


def program() -> str | None:
    """Where the agent's program lies; None where there is none."""
    bundled = Path(claude_agent_sdk.__file__).with_name("_bundled") / "claude"
    return str(bundled) if bundled.exists() else shutil.which("claude")


def _launcher(home: Path) -> Path:
    """A program that starts the agent's, which the SDK can be given as if it were that."""
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
    """In plan mode the program lets only those be called that change nothing."""
    changes_nothing = ToolAnnotations(read_only_hint=spec.effect in CHANGES_NOTHING)
    return Tool(
        name=spec.name, description=spec.description, input_schema=spec.input_schema, annotations=changes_nothing
    )


def _why(message: ResultMessage) -> str:
    return "; ".join(message.errors or [message.result or message.subtype])[:500]


def _result(text: str, *, is_error: bool) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)
