"""Calls of MCP servers for one attempt."""

from collections.abc import Callable

from django.conf import settings
from django.utils import timezone

from runs.contracts.ports import Acting, ToolResult, ToolSpec, ToolUse
from runs.engine.database import database
from runs.engine.mcp_listings import keep
from runs.engine.recording import Recording
from runs.errors import InvalidInput
from runs.lifecycle import toolset
from runs.mcp_client.mcp_connection import Connection
from runs.pev.delimiters import delimited

_CHANGED = (
    "{server} has changed its tool {tool} since it was listed, or does not have it any more. Nothing was sent; a "
    "person is asked about the plan before it can be called again."
)


class RunServers:
    """Implements `pev.ports.Servers`; `close` ends what it has connected to."""

    def __init__(self, recording: Recording, result_chars: int) -> None:
        self._policy = recording.item.run.policy
        self._keep_going: Callable[[], None] = recording.lease.check
        self._limit = result_chars
        self._connections: dict[str, Connection] = {}
        self._specs = database.call(lambda: toolset.server_specs(self._policy))

    def specs(self) -> list[ToolSpec]:
        return self._specs

    def acting(self, name: str) -> Acting | None:
        return toolset.acting_of(name)

    def call(self, use: ToolUse) -> ToolResult:
        try:
            return self._called(use)
        except InvalidInput as error:
            return ToolResult(str(error)[: self._limit], is_error=True)

    def _called(self, use: ToolUse) -> ToolResult:
        """A tool is called as it was when the plan was approved: one that has changed is listed anew, so that the
        approval does not hold any more.
        """
        server, tool = toolset.server_of(use.name), toolset.tool_of(use.name)
        connection = self._connection(server)
        now = connection.tools()
        known = database.call(lambda: toolset.server_tools([server]).get(use.name))
        if known is None or known not in now.tools:
            database.call(lambda: keep(server, now))
            raise InvalidInput(_CHANGED.format(server=server, tool=tool))
        try:
            text, is_error = connection.call(tool, use.input)
        except InvalidInput as error:
            unknown = " Whether it was carried out is not known." if self.acting(use.name) else ""
            raise InvalidInput(f"{error}{unknown}") from error
        head = f"{server}: {tool}, called on {timezone.now():%Y-%m-%d}"  # the time of day stands in the journal
        body = delimited("result", text[: self._limit], server)
        cut = f"\n(cut: it has {len(text):,} characters)" if len(text) > self._limit else ""
        return ToolResult(f"{head}\n{body}{cut}", is_error=is_error)

    def _connection(self, server: str) -> Connection:
        config = settings.MCP.get(server)
        if config is None:
            raise InvalidInput(f"There is no MCP server {server} any more.")
        if server not in self._connections:
            self._connections[server] = Connection(config, self._keep_going, server)
        return self._connections[server]

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


def run_servers(recording: Recording, result_chars: int) -> RunServers | None:
    """Those that the policy names; None for none."""
    return RunServers(recording, result_chars) if recording.item.run.policy.servers and settings.MCP else None
