"""The process that is killed: one that has everything loaded and forks a child for each errand.

A child does what a worker does, in one thread on a real database, and ends itself with SIGKILL at the boundary it
was told. Run as a module: an errand a line comes in (JSON of `Errand`); out go the boundaries that the child has
crossed, a line each, then `ended` with its exit status, or the negative number of the signal.
"""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any

import django
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import connection

LOOP = os.environ.get("PEV_TEST_EXECUTOR", "messages")
"""The executor of runs that name none: the whole suite can be run with another."""
_WRITES = re.compile(r'(?:INSERT INTO|UPDATE|DELETE FROM) "(?:runs_)?(\w+)"(?: \(([^)]*)\))?')
_KIND = {"modelcall": "role", "toolcall": "name", "gate": "kind"}
"""Of tables with entries of several kinds: the column that names it."""


@dataclass(frozen=True)
class Errand:
    """What a child does: `submit` a run, `reject` what waits, `answer` the question that is open, if one is, perform
    the run's work of one kind, or all: `drain`, also after answering what is asked, until `answers` were given.

    `policy` changes that of the run that is submitted; the agents it names as `subagents` are added first. The child
    ends itself at the boundary with the number `kill_at`, counted from 1, at the first whose name matches `kill_on`, or
    when a function named `kill_in` is called; or it is killed from outside after so many seconds.
    """

    name: str
    kill_at: int = 0
    kill_on: str = ""
    kill_in: str = ""
    kill_after: float = 0.0
    answers: int = 0
    policy: Mapping[str, Any] = field(default_factory=dict)


class Boundaries:
    """The moments directly before and after each write becomes permanent, and before a blob gets its name.

    A name has the tables that the transaction writes: `before toolcall:write_file + event`. Where `kill_on` matches
    `writing toolcall:write_file`, the process ends before the first statement that writes it.
    """

    def __init__(self, errand: Errand) -> None:
        self._errand = errand
        self._crossed = 0
        self._written: dict[str, None] = {}

    def cross(self, name: str) -> None:
        self._crossed += 1
        os.write(1, f"{name}\n".encode())
        if self._crossed == self._errand.kill_at or (self._errand.kill_on and re.match(self._errand.kill_on, name)):
            os.kill(os.getpid(), signal.SIGKILL)

    def execute(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """An execute wrapper of Django: remembers what a transaction writes. Without one, the write is a commit."""
        written = _WRITES.match(sql)
        if written is None:
            return execute(sql, params, many, context)
        name = _entry(written[1], written[2], params)
        if self._errand.kill_on and re.match(self._errand.kill_on, f"writing {name}"):
            os.kill(os.getpid(), signal.SIGKILL)
        self._written[name] = None
        if context["connection"].in_atomic_block:
            return execute(sql, params, many, context)
        with self.around():
            return execute(sql, params, many, context)

    @contextmanager
    def around(self) -> Iterator[None]:
        name = " + ".join(self._written)
        if name:
            self.cross(f"before {name}")
        yield
        if name:
            self.cross(f"after {name}")
        self._written.clear()

    def rename(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook of Python, which is told of its compiled modules too."""
        if event == "os.rename" and "blobs" in Path(os.fsdecode(arguments[1])).parts:
            self.cross("before a blob gets its name")

    def call(self, code: CodeType, _: int) -> object:
        """What `sys.monitoring` calls once for each function."""
        if code.co_qualname == self._errand.kill_in:
            os.kill(os.getpid(), signal.SIGKILL)
        return sys.monitoring.DISABLE

    def watch(self) -> None:
        if self._errand.kill_in:
            tool, started = sys.monitoring.DEBUGGER_ID, sys.monitoring.events.PY_START
            sys.monitoring.use_tool_id(tool, __name__)
            sys.monitoring.register_callback(tool, started, self.call)
            sys.monitoring.set_events(tool, started)
        commit, rollback = connection.commit, connection.rollback

        def committing() -> None:
            with self.around():
                commit()

        def rolling_back() -> None:
            self._written.clear()
            rollback()

        connection.commit, connection.rollback = committing, rolling_back  # type: ignore[method-assign]
        connection.execute_wrappers.append(self.execute)
        sys.addaudithook(self.rename)


def _entry(table: str, columns: str | None, params: Any) -> str:
    """The name of a table, with the kind of the row that is inserted where the table has several."""
    kind = _KIND.get(table)
    if kind is None or columns is None:
        return table
    value = params[columns.replace('"', "").split(", ").index(kind)]
    return f"{table}:{value[0] if isinstance(value, list) else value}"  # a list: PostgreSQL inserts by columns


def submit(changes: Mapping[str, Any]) -> None:
    """One run of the administrator's whose plan needs no approval. `changes` are those of its policy."""
    # models can be imported only when Django is set up
    from runs.enums import ApprovalPolicy
    from runs.lifecycle import available_agents
    from runs.people.accounts import first_administrator
    from runs.pev.policy import Policy
    from runs.submission.intake import Upload
    from runs.submission.submit import Submission
    from runs.submission.submit import submit as submit_run
    from tests.factories import MODELS
    from tests.factories.agents import defined

    owner = first_administrator()
    for name in changes.get("subagents", ()):
        available_agents.add_agent(
            owner, name, defined(model="claude-opus-5-5", effort="high", tools=["read_file", "write_file"])
        )
    policy = Policy.model_validate(
        {
            "models": MODELS,
            "plan_approval": ApprovalPolicy.NEVER,
            "executor": LOOP,
            "servers": list(settings.MCP),
            "service_tools": sorted(settings.SERVICE_TOOLS),
            "service_uses": 20,
            "service_uses_in_run": 40,
            "web": settings.WEB,
            "min_document_bytes": 0,  # the fakes write a line and read nothing
            "sources_needed": False,
            **changes,
        }
    )
    files = [Upload("notes.md", ContentFile(b"Some notes.\nMore of them.\n"))]
    submit_run(owner, Submission("Do the work", files, policy, uuid.uuid4()))


def reject(errand: Errand) -> None:
    """A person requests changes where the run waits."""
    # models can be imported only when Django is set up
    from runs.enums import Verb
    from runs.models import Run
    from tests.factories import answer

    run = Run.objects.get()
    Boundaries(errand).watch()
    answer(run, run.owner, Verb.REJECT, "Name the severity")


def answer_question(errand: Errand) -> None:
    """A person answers what a model has asked, or approves a call, unless they have done so."""
    # models can be imported only when Django is set up
    from runs.models import Run

    run = Run.objects.get()
    Boundaries(errand).watch()
    _answer_open_gate(run)


def _answer_open_gate(run: Any) -> None:
    """If there is one."""
    # models can be imported only when Django is set up
    from runs.enums import GateKind, Verb
    from tests.factories import answer

    gate = run.gates.open().first()
    if gate is not None:
        asks = gate.kind == GateKind.QUESTION
        answer(run, run.owner, *((Verb.ANSWER, "German law") if asks else (Verb.APPROVE, "")))


def work(errand: Errand) -> None:
    """What a worker does after a start. Leases of the dead are over: nobody waits for that here."""
    # models can be imported only when Django is set up
    from runs.engine import recording
    from runs.engine.perform import perform
    from runs.models import Run, WorkItem
    from tests.factories import drain

    if errand.kill_after:  # on a busy machine such blows fall into one tool call again and again
        recording.MAX_TOOL_TRIES = 1_000
    WorkItem.objects.filter(status="leased").update(lease_until=datetime(2000, 1, 1, tzinfo=UTC))
    Boundaries(errand).watch()
    if errand.name == "drain":
        run = Run.objects.get()
        drain(run)
        while run.gates.filter(decided_at__isnull=False).count() < errand.answers:
            _answer_open_gate(run)
            drain(run)
        return
    for item in WorkItem.objects.filter(kind=errand.name).exclude(status="done"):
        perform(item.pk)


def _fork(errand: Errand) -> int:
    child = os.fork()
    if not child:
        if errand.name == "submit":
            submit(errand.policy)
        elif errand.name == "reject":
            reject(errand)
        elif errand.name == "answer":
            answer_question(errand)
        else:
            work(errand)
        os._exit(0)
    if errand.kill_after:
        time.sleep(errand.kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _warm_up() -> None:
    """What each child would pay for again: imports, the types of the client, its certificates. No socket is opened."""
    # models can be imported only when Django is set up
    from runs.engine.recording import clients
    from runs.enums import Role
    from runs.llm.model_servers import server_for
    from tests import factories  # noqa: F401
    from tests.fakes.anthropic_frames import warm_up

    warm_up()
    clients()._clients._client(server_for(Role.EXECUTOR, os.environ))
    _read_a_reply()
    if settings.MCP:
        for name in ("anyio.from_thread", "mcp.client.stdio", "mcp.client.streamable_http"):
            import_module(name)
    gc.freeze()  # or each child would copy the pages of all objects by looking at them


def _read_a_reply() -> None:
    """The client makes the types of a stream when it reads the first: half the time of a child."""
    # with Django set up, as all that imports the product
    import anthropic
    import httpx2

    from tests.fakes.anthropic_delivery import Delivery
    from tests.fakes.anthropic_frames import frames, message

    use = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}
    delivery = Delivery(({"type": "text", "text": "Reading."}, use), "tool_use")
    sent = b"".join(frames(message("msg_1", "any", delivery, {"input_tokens": 1}), delivery, {}))
    said = httpx2.MockTransport(
        lambda request: httpx2.Response(200, content=sent, headers={"content-type": "text/event-stream"})
    )
    with (
        httpx2.Client(transport=said) as transport,
        anthropic.Anthropic(api_key="none", http_client=transport).messages.stream(
            model="any", max_tokens=1, messages=[{"role": "user", "content": "Read."}]
        ) as stream,
    ):
        stream.get_final_message()


def main() -> None:
    django.setup()
    if sys.argv[1:] == ["submit"]:
        submit({})
        return
    _warm_up()
    for line in sys.stdin:
        print("ended", _fork(Errand(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
