"""The page of the MCP servers: address, state and tools of each, and which runs may call them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.acts.call import terms_by_shape
from runs.engine.mcp_listings import want
from runs.enums import Effect
from runs.errors import InvalidInput
from runs.logs import about
from runs.mcp_client.server_config import ALL, ServerConfig, ServerTool
from runs.models import Run, ServerListing
from runs.web.site.posted_fields import PostedForm
from runs.web.site.requests import about_request, administrators_only

log = logging.getLogger(__name__)
MAX_RUNS = 1_000
"""Unfinished runs that are read, the newest first: no database searches their policies by an index."""
SHOWN_RUNS = 20


class ListAgainForm(PostedForm):
    """`server`: its name; it is asked for its tools again."""

    server = forms.ChoiceField(
        error_messages={"required": "Choose one of the buttons.", "invalid_choice": "This server no longer exists."}
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["server"].choices = [(name, name) for name in settings.MCP]  # type: ignore[attr-defined]


class Using(NamedTuple):
    """A run whose policy names a server."""

    pk: int
    title: str


@dataclass(frozen=True)
class ToolRow:
    """`set_by`: why the tool is assumed to do that. `notice`: what people read at each call; empty if it only reads."""

    name: str
    description: str
    effect: str
    set_by: str
    notice: str


@dataclass(frozen=True)
class ServerRow:
    name: str
    config: ServerConfig
    row: ServerListing | None
    runs: Sequence[Using]

    @property
    def transport(self) -> str:
        return "standard input and output" if self.config.command else "streamable HTTP"

    @property
    def place(self) -> str:
        """The name of the command, or the host: arguments, paths and queries may hold a secret (S5)."""
        if self.config.command:
            return PurePath(self.config.command).name
        host = urlsplit(self.config.url).netloc.rpartition("@")[2]
        return host or "an address that a variable of the environment names"

    @property
    def was_asked(self) -> bool:
        return self.row is not None and self.row.asked_at is not None

    @property
    def is_wanted(self) -> bool:
        return self.row is not None and self.row.wanted_at is not None

    @property
    def seconds(self) -> int:
        """Seconds since the server was requested to be asked."""
        since = self.row.wanted_at if self.row else None
        return max(0, round((timezone.now() - since).total_seconds())) if since else 0

    @property
    def state(self) -> str:
        """The status of its badge."""
        if not self.was_asked:
            return "pending"
        return "failed" if self.row and self.row.problem else "passed"

    @property
    def state_in_words(self) -> str:
        return {"pending": "never asked", "failed": "does not answer", "passed": "answers"}[self.state]

    @cached_property
    def tools(self) -> Sequence[ToolRow]:
        return [self._tool(tool) for tool in self.row.tools] if self.row else ()

    @property
    def left_out(self) -> Sequence[str]:
        return self.row.left_out if self.row else ()

    @property
    def more_runs(self) -> int:
        return max(0, len(self.runs) - SHOWN_RUNS)

    @property
    def shown_runs(self) -> Sequence[Using]:
        return self.runs[:SHOWN_RUNS]

    def _tool(self, tool: ServerTool) -> ToolRow:
        effect = self.config.effect_of(tool.name)
        if tool.name in self.config.effects:
            set_by = "set by the administrator for this tool"
        elif ALL in self.config.effects:
            set_by = "set by the administrator for all other tools"
        else:
            set_by = "not set, so it counts as acting outside"
        if tool.name in self.config.repeatable:
            set_by += "; may be called again after a crash"
        terms = terms_by_shape(tool, self.config.terms_of(tool.name))
        notice = f"{terms.does} {terms.undo}." if effect is Effect.ACTS else ""
        return ToolRow(tool.name, tool.description, effect.words, set_by, notice.strip())

    @property
    def unknown_tools(self) -> Sequence[str]:
        """Tools that only the file names. It may have misspelt them."""
        listed = {tool.name for tool in self.row.tools} if self.row and self.row.listed_at else set(self.config.tools)
        return sorted(set(self.config.tools) - listed)


class ServersPage:
    """Read by a number of queries that does not depend on how many servers or tools there are."""

    def __init__(self) -> None:
        rows = {row.name: row for row in ServerListing.objects.filter(name__in=settings.MCP)}
        using = _runs_by_server()
        self.servers = [
            ServerRow(name, config, rows.get(name), using.get(name, ()))
            for name, config in sorted(settings.MCP.items())
        ]

    @property
    def is_waiting(self) -> bool:
        """Whether a server will be asked, so that the page must be loaded again."""
        return any(one.is_wanted for one in self.servers)


def _runs_by_server() -> dict[str, list[Using]]:
    """The unfinished runs whose policies name each server, the newest first."""
    found: dict[str, list[Using]] = {}
    rows = Run.objects.unfinished().order_by("-pk").values_list("pk", "title", "policy__servers")
    for number, title, names in rows[:MAX_RUNS]:
        for name in names or ():
            found.setdefault(name, []).append(Using(number, title))
    return found


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
def servers_page(request: HttpRequest) -> HttpResponse:
    """Let a worker ask the server, which may take minutes."""
    if request.method != "POST":
        return render(request, "tool_servers/servers.html", {"page": ServersPage()})
    try:
        name = ListAgainForm(request.POST).checked()["server"]
    except InvalidInput as error:
        return render(request, "tool_servers/servers.html", {"page": ServersPage(), "problem": str(error)}, status=422)
    is_new = want(name)
    log.info(
        "MCP: %s %s",
        name,
        "will be listed" if is_new else "is waiting to be listed already",
        extra=about(**about_request(request)),
    )
    return redirect(f"{reverse('servers')}#server-{name}")
