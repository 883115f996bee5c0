"""Calls of MCP servers for one attempt, and the listing of what their tools are."""

import threading
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.tasks import task
from django.utils import timezone

from runs import history
from runs.engine.database import database
from runs.engine.recording import Recording
from runs.errors import InvalidInput
from runs.models import ServerListing
from runs.pev.delimiters import delimited
from runs.pev.policy import Policy
from runs.pev.ports import Acting, ToolResult, ToolSpec, ToolUse
from runs.reading import servers as reading
from runs.servers.client import Connection
from runs.servers.listing import Listing

FRESH = timedelta(minutes=10)
"""So old may a listing be that a plan is made with: who writes a server changes it now and then."""
ASKING = timedelta(minutes=3)
"""As long as nobody else asks a server: connecting and listing take a minute each at most, unless its own limit is
longer. Then, or if the process has ended, another asks it again, which does no harm.
"""
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
        self._specs = database.call(lambda: reading.server_specs(self._policy))

    def specs(self) -> list[ToolSpec]:
        return self._specs

    def acting(self, name: str) -> Acting | None:
        return reading.acting(name)

    def call(self, use: ToolUse) -> ToolResult:
        try:
            return self._called(use)
        except InvalidInput as error:
            return ToolResult(str(error)[: self._limit], is_error=True)

    def _called(self, use: ToolUse) -> ToolResult:
        """A tool is called as it was when the plan was approved: one that has changed is listed anew, so that the
        approval does not hold any more.
        """
        server, tool = reading.server_of(use.name), reading.tool_of(use.name)
        connection = self._connection(server)
        now = connection.tools()
        known = database.call(lambda: reading.listed([server]).get(use.name))
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
            self._connections[server] = Connection(config, self._keep_going)
        return self._connections[server]

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


def run_servers(recording: Recording, result_chars: int) -> RunServers | None:
    """Those that the policy names; None for none."""
    return RunServers(recording, result_chars) if recording.item.run.policy.servers and settings.MCP else None


def list_stale(policy: Policy, keep_going: Callable[[], None]) -> None:
    """Ask the servers of the policy again that were not asked for a while. Not within a transaction: it may take a
    minute for each.
    """
    since = timezone.now() - FRESH
    rows = ServerListing.objects.filter(problem="", asked_at__gte=since).values_list("name", flat=True)
    fresh = database.call(lambda: set(rows))
    for name in policy.servers:
        if name in settings.MCP and name not in fresh:
            ask(name, keep_going)


def ask(name: str, keep_going: Callable[[], None] = lambda: None) -> None:
    """List the tools of a server now; what goes wrong is its problem."""
    with Connection(settings.MCP[name], keep_going) as connection:
        try:
            listing = connection.tools()
        except InvalidInput as error:
            problem = str(error)
            database.call(lambda: _keep(name, {"problem": problem[:500]}))
            return
    database.call(lambda: keep(name, listing))


def keep(name: str, listing: Listing) -> None:
    found = {"tools": list(listing.tools), "left_out": list(listing.problems), "listed_at": timezone.now()}
    _keep(name, {**found, "problem": ""})


def _keep(name: str, values: dict[str, object]) -> None:
    defaults = {**values, "asked_at": timezone.now(), "wanted_at": None, "asking_until": None}
    ServerListing.objects.update_or_create(name=name, defaults=defaults)


def want(name: str) -> bool:
    """Have a worker ask the server for its tools; False if one has been told to already. Raises KeyError for a server
    that is not configured.
    """
    settings.MCP[name]
    with history.writing():
        ServerListing.objects.get_or_create(name=name)
        is_new = ServerListing.objects.filter(name=name, wanted_at=None).update(wanted_at=timezone.now()) == 1
        transaction.on_commit(list_wanted.enqueue)
    return is_new


@task
def list_wanted() -> None:
    """Ask the servers that people want to be asked, one after the other. A second call at once has nothing to do."""
    if not _listing.acquire(blocking=False):
        return
    try:
        while (name := database.call(_taken)) is not None:
            ask(name)
    finally:
        _listing.release()


def refresh() -> None:
    """Notify workers if a server is to be asked, and nobody does."""
    if settings.MCP and not _listing.locked() and _wanted().exists():
        list_wanted.enqueue()


def _wanted() -> QuerySet[ServerListing]:
    nobody_asks = Q(asking_until=None) | Q(asking_until__lt=timezone.now())
    return ServerListing.objects.filter(nobody_asks, name__in=settings.MCP, wanted_at__isnull=False)


def _taken() -> str | None:
    """The name of one that this process asks from now on."""
    for name in _wanted().order_by("wanted_at").values_list("name", flat=True):
        if _wanted().filter(name=name).update(asking_until=timezone.now() + ASKING) == 1:
            return name
    return None


_listing = threading.Lock()
