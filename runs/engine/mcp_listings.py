"""Lists the tools of MCP servers: before a plan that may name them, and when an administrator wants it.

Pages import this module. So it imports nothing of the client of models, which would take a second.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.tasks import task
from django.utils import timezone

from runs.engine.database import database
from runs.enums import AuditKind
from runs.errors import InvalidInput
from runs.mcp_client.mcp_connection import McpConnection
from runs.mcp_client.server_config import Listing
from runs.models import ServerListing
from runs.pev.policy import Policy
from runs.store import audit_trail, event_log

if TYPE_CHECKING:
    from runs.llm.replies import RecordedReplies

FRESH = timedelta(minutes=10)
"""The greatest age of a listing with which a plan is made. Servers may change their tools at any time."""
ASKING = timedelta(minutes=3)
"""How long other processes leave a server to the process that asks it. Connecting and listing take at most a
minute each, unless the server has a longer limit of its own; then it may be asked twice, which does no harm.
"""


def list_stale(policy: Policy, keep_going: Callable[[], None], replies: RecordedReplies | None) -> None:
    """List the servers of the policy again whose listing is not FRESH. `replies`: recorded listings, in an evaluation.

    Must not be called within a transaction, since each server may take a minute.
    """
    since = timezone.now() - FRESH
    rows = ServerListing.objects.filter(problem="", asked_at__gte=since).values_list("name", flat=True)
    fresh = database.call(lambda: set(rows))
    for name in policy.servers:
        if name in settings.MCP and name not in fresh:
            ask(name, keep_going, replies)


def ask(name: str, keep_going: Callable[[], None] = lambda: None, replies: RecordedReplies | None = None) -> None:
    """List the tools of a server now. An error is stored as the problem of its listing."""
    with McpConnection(settings.MCP[name], keep_going, name) as connection:
        try:
            listing = replies.listing(name, connection.tools) if replies else connection.tools()
        except InvalidInput as error:
            problem = str(error)
            database.call(lambda: _store(name, {"problem": problem[:500]}))
            return
    database.call(lambda: keep(name, listing))


def keep(name: str, listing: Listing) -> None:
    found = {"tools": list(listing.tools), "left_out": list(listing.problems), "listed_at": timezone.now()}
    _store(name, {**found, "problem": ""})


def _store(name: str, values: dict[str, object]) -> None:
    defaults = {**values, "asked_at": timezone.now(), "wanted_at": None, "asking_until": None}
    ServerListing.objects.update_or_create(name=name, defaults=defaults)


def want(name: str) -> bool:
    """Have a worker list the tools of a server. False if one will do so anyway.

    Raises KeyError for a server that is not configured.
    """
    settings.MCP[name]
    with event_log.writing():
        ServerListing.objects.get_or_create(name=name)
        is_new = ServerListing.objects.filter(name=name, wanted_at=None).update(wanted_at=timezone.now()) == 1
        transaction.on_commit(list_wanted.enqueue)
        if is_new:
            audit_trail.record(AuditKind.OPERATED, subject=f"MCP server {name}", name="tools listed again")
    return is_new


@task
def list_wanted() -> None:
    """List the servers that people want to be listed, one after the other. Returns at once if another call does so."""
    if not _listing.acquire(blocking=False):
        return
    try:
        while (name := database.call(_claim_wanted)) is not None:
            ask(name)
    finally:
        _listing.release()


def refresh() -> None:
    """Notify workers if a server has to be listed and no worker is doing it."""
    if settings.MCP and not _listing.locked() and _wanted().exists():
        list_wanted.enqueue()


def _wanted() -> QuerySet[ServerListing]:
    nobody_asks = Q(asking_until=None) | Q(asking_until__lt=timezone.now())
    return ServerListing.objects.filter(nobody_asks, name__in=settings.MCP, wanted_at__isnull=False)


def _claim_wanted() -> str | None:
    """Claim a server for this process, and return its name."""
    for name in _wanted().order_by("wanted_at").values_list("name", flat=True):
        # The UPDATE repeats the condition, so that only one process claims the server.
        if _wanted().filter(name=name).update(asking_until=timezone.now() + ASKING) == 1:
            return name
    return None


_listing = threading.Lock()
"""Held while this process lists servers: one after the other, however many notifications arrive."""
