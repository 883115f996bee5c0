"""The table of MCP servers: what tools each of them listed last."""

from __future__ import annotations

from django.db import models

from runs.mcp_client.tool_listing import ServerTool
from runs.models.fields import Column, ContractField
from runs.text.plural import pluralize


class ServerListing(models.Model):
    """`tools` as they were listed at `listed_at`; `left_out`: a sentence for each that cannot be used. `problem`: why
    the server could not be asked at `asked_at`, as a sentence; empty if it could. A row without that time is of one
    that was never asked. `wanted_at`: since when a person wants it to be asked again; whoever does so has until
    `asking_until` before another may.
    """

    name = models.CharField(max_length=40, unique=True)
    tools: Column[list[ServerTool]] = ContractField(list[ServerTool], default=list)
    left_out: Column[list[str]] = ContractField(list[str], default=list)
    problem = models.CharField(max_length=500, default="", blank=True)
    listed_at = models.DateTimeField(null=True, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)
    wanted_at = models.DateTimeField(null=True, blank=True)
    asking_until = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name}, {pluralize(len(self.tools), 'tool')}"
