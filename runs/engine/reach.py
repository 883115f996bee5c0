"""What a run reaches beyond its own files: people, commands, web pages and MCP servers. Each class is a port of pev."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from runs.contracts.ports import Acting, Answer, CommandResult, Original, Page, ToolResult, ToolSpec, ToolUse
from runs.engine.database import database
from runs.engine.mcp_listings import keep, list_stale
from runs.engine.recording import Deadline, RecordedTools, Recording, clients
from runs.engine.web_page_texts import text_of_page
from runs.enums import GateStatus
from runs.errors import AnswerAwaited, InvalidInput
from runs.http_client import http_fetch
from runs.isolation import sandbox
from runs.lifecycle import toolset
from runs.lifecycle.gates.question_gate import DELEGATED, asked_in, question_digest
from runs.lifecycle.toolset import command_lines, view_of_commands
from runs.mcp_client.mcp_connection import McpConnection
from runs.models import ToolCall
from runs.pev.delimiters import delimited
from runs.pev.read_set import ReadTracker
from runs.pev.tools.fetch_page import FetchPage
from runs.pev.tools.run_command import RunCommand
from runs.store import blobs, journal
from runs.store.trees import Overlay
from runs.text.domains import sites
from runs.text.plural import pluralize


class RunPeople:
    """Questions to people: implements `contracts.ports.People` over gates.

    Asking again after a crash is safe: a question that was answered is not asked twice.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def ask(self, question: str, choices: Sequence[str], why: str) -> Answer:
        return database.call(lambda: self._answer(question, choices, why))

    def _answer(self, question: str, choices: Sequence[str], why: str) -> Answer:
        run = self._recording.item.run
        digest = question_digest(question)
        asked = asked_in(run)
        gate = asked.filter(digest=digest, status=GateStatus.ANSWERED).select_related("decided_by").first()
        if gate and gate.request and gate.decided_by:
            words = gate.reason.removeprefix(DELEGATED).strip()
            return Answer(gate.request, gate.decided_by.get_username(), words, gate.reason.startswith(DELEGATED))
        if asked.exclude(digest=digest).count() >= run.policy.questions:
            allowed = pluralize(run.policy.questions, "question")
            raise InvalidInput(
                f"The policy of this run allows {allowed} to people. Decide yourself, and say in your report what you "
                "decided and what a person should look at."
            )
        raise AnswerAwaited(question, choices, why)


class TreeCommands:
    """Commands on the files of an attempt, which are written into a sandbox: implements `contracts.ports.Commands`.

    What a command changes there is thrown away. `keep_going` raises to break a command off.
    """

    def __init__(self, overlay: Overlay, keep_going: Callable[[], None]) -> None:
        self._overlay = overlay
        self._keep_going = keep_going

    @property
    def known(self) -> Mapping[str, str]:
        return command_lines()

    def run(self, name: str) -> CommandResult:
        argv = settings.COMMANDS.get(name)
        if argv is None:
            raise InvalidInput(f"There is no command “{name[:60]}”; there are {', '.join(sorted(settings.COMMANDS))}.")

        def fill(folder: Path) -> None:
            for path, info in self._overlay.files().items():
                target = folder / path  # paths of trees leave no folder (S1)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(blobs.read(info.sha256))
                self._keep_going()

        limits = sandbox.CommandLimits(seconds=settings.COMMAND_SECONDS, files_megabytes=settings.COMMAND_FILES_MB)
        ended = sandbox.run(argv, fill, limits, view_of_commands(), keep_going=self._keep_going)
        output = ended.output.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
        return CommandResult(ended.status, output, ended.why)


def commands_for(recording: Recording, overlay: Overlay) -> TreeCommands | None:
    """The commands that an executor may run on these files; None if the installation or the policy allows none."""
    may = settings.COMMANDS and recording.item.run.policy.commands
    return TreeCommands(overlay, recording.lease.check) if may else None


def checking(
    recording: Recording, overlay: Overlay, deadline: Deadline | None = None, looks: ReadTracker | None = None
) -> Callable[[str], ToolResult] | None:
    """A function that runs a command for a check. Criteria that name the same command share its result.

    The result is recorded like a tool call, so that after a crash the same result decides.
    """
    commands = commands_for(recording, overlay)
    if commands is None:
        return None
    tools = RecordedTools(_CheckTools(commands), overlay, recording, deadline, looks, journal.CHECKS)

    @cache
    def run(name: str) -> ToolResult:
        return tools.run(ToolUse(journal.check_id(name), RunCommand.name, {"command": name}))

    return run


class _CheckTools:
    """A toolbox that runs commands for checks. A command that did not succeed is an error."""

    def __init__(self, commands: TreeCommands) -> None:
        self._commands = commands

    def specs(self) -> Sequence[ToolSpec]:
        return ()

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        return ()

    def acting(self, use: ToolUse) -> Acting | None:
        return None

    def run(self, use: ToolUse) -> ToolResult:
        try:
            return RunCommand.model_validate(use.input).checked(self._commands)
        except InvalidInput as error:
            return ToolResult(str(error), is_error=True)


class WebPages:
    """Pages of the web for one attempt: implements `contracts.ports.Pages`.

    A page is fetched once, so that all parts of it which are read are from the same version.
    """

    def __init__(self, recording: Recording) -> None:
        self._run = recording.item.run
        self._keep_going: Callable[[], None] = recording.lease.check
        self._read: dict[str, Page] = {}

    def read(self, address: str) -> Page:
        if address not in self._read:
            # Every call counts that gave a page, including calls that read another part of the same page.
            most = self._run.policy.web_pages
            calls = ToolCall.objects.filter(run=self._run, name=FetchPage.name, is_error=False)
            if database.call(calls.count) >= most:
                raise InvalidInput(f"The policy of this run allows {most:,} pages of the web, and they are used up.")
            replies = clients().replies
            self._read[address] = (
                replies.page(address, lambda: self._fetched(address)) if replies else self._fetched(address)
            )
        return self._read[address]

    def _fetched(self, address: str) -> Page:
        found = http_fetch.fetch(address, self._check_site, self._keep_going)
        return Page(found.address, datetime.now(UTC), text_of_page(found))

    def _check_site(self, host: str) -> None:
        chosen, allowed = sites(self._run.policy.web), sites(settings.WEB)
        if not chosen.has(host):
            raise InvalidInput(f"This run may not read {host}. It may read {chosen.words or 'no site'}.")
        if not allowed.has(host):
            raise InvalidInput(f"This installation may not read {host}. It may read {allowed.words or 'no site'}.")


def web_pages(recording: Recording) -> WebPages | None:
    """The pages that models may read; None if the installation or the policy allows no sites."""
    return WebPages(recording) if settings.WEB and recording.item.run.policy.web else None


_TOOL_CHANGED = (
    "{server} has changed its tool {tool} since it was listed, or does not have it any more. Nothing was sent; a "
    "person is asked about the plan before it can be called again."
)


class RunServers:
    """Calls of MCP servers for one attempt: implements `contracts.ports.Servers`. `close` ends the connections."""

    def __init__(self, recording: Recording, result_chars: int) -> None:
        self._item = recording.item
        self._policy = recording.item.run.policy
        self._keep_going: Callable[[], None] = recording.lease.check
        self._limit = result_chars
        self._connections: dict[str, McpConnection] = {}
        self._specs = database.call(lambda: toolset.server_specs(self._policy))

    def specs(self) -> list[ToolSpec]:
        return self._specs

    def acting(self, name: str) -> Acting | None:
        return toolset.acting_of(name)

    def call(self, use: ToolUse) -> ToolResult:
        try:
            if replies := clients().replies:
                place = database.call(lambda: self._place_of(use))
                return replies.result(use, place, lambda: self._call_if_unchanged(use))
            return self._call_if_unchanged(use)
        except InvalidInput as error:
            return ToolResult(str(error)[: self._limit], is_error=True)

    def _place_of(self, use: ToolUse) -> list[object]:
        """Of which attempt at which task the call is, and how many equal ones the attempt has made before."""
        run, attempt = self._item.run, self._item.attempt
        before = ToolCall.objects.filter(attempt=attempt, name=use.name).values_list("arguments", flat=True)
        equal = sum(given == use.input for given in before)
        return [run.request, run.inputs.digest, attempt and attempt.step.key, attempt and attempt.number, equal]

    def _call_if_unchanged(self, use: ToolUse) -> ToolResult:
        """Call a tool, if it is still what it was when the plan was approved.

        If it has changed, the new listing is stored, so that the approval does not hold any more (G1).
        """
        server, tool = toolset.server_of(use.name), toolset.tool_of(use.name)
        config = settings.MCP.get(server)
        if config is None:
            raise InvalidInput(f"There is no MCP server {server} any more.")
        if server not in self._connections:
            self._connections[server] = McpConnection(config, self._keep_going, server)
        connection = self._connections[server]
        now = connection.tools()
        known = database.call(lambda: toolset.server_tools([server]).get(use.name))
        if known is None or known not in now.tools:
            database.call(lambda: keep(server, now))
            raise InvalidInput(_TOOL_CHANGED.format(server=server, tool=tool))
        try:
            text, is_error = connection.call(tool, use.input)
        except InvalidInput as error:
            unknown = " Whether it was carried out is not known." if self.acting(use.name) else ""
            raise InvalidInput(f"{error}{unknown}") from error
        head = f"{server}: {tool}, called on {timezone.now():%Y-%m-%d}"  # the journal has the time of day
        body = delimited("result", text[: self._limit], server)
        cut = f"\n(cut: it has {len(text):,} characters)" if len(text) > self._limit else ""
        return ToolResult(f"{head}\n{body}{cut}", is_error=is_error)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


def run_servers(recording: Recording, result_chars: int) -> RunServers | None:
    """The servers that the policy names; None if there are none."""
    return RunServers(recording, result_chars) if recording.item.run.policy.servers and settings.MCP else None


def list_servers(recording: Recording) -> None:
    """Ask the servers that the policy names for their tools, unless it is known what they offer now."""
    list_stale(recording.item.run.policy, recording.lease.check, clients().replies)
