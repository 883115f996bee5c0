"""The tools of MCP servers as they were listed last: what models may call of them, and what that does."""

from collections.abc import Iterable, Mapping

from django.conf import settings

from runs.contracts.ports import Acting, ToolSpec
from runs.enums import Effect
from runs.mcp_client.server_config import SEPARATOR
from runs.mcp_client.tool_listing import ServerTool
from runs.models import ServerListing
from runs.pev.policy import Policy


def listed(names: Iterable[str]) -> Mapping[str, ServerTool]:
    """The tools of these servers, as far as they are still configured, by the name that models call them by."""
    known = sorted(set(names) & settings.MCP.keys())
    rows = ServerListing.objects.filter(name__in=known).order_by("name") if known else ()
    return {f"{row.name}{SEPARATOR}{tool.name}": tool for row in rows for tool in row.tools}


def server_specs(policy: Policy) -> list[ToolSpec]:
    """What models are told of the tools of the servers that the policy names."""
    return [
        ToolSpec(name, f"{tool.description}\n(A tool of the MCP server {server_of(name)}.)", tool.schema, effect(name))
        for name, tool in sorted(listed(policy.servers).items())
    ]


def is_of_a_server(name: str) -> bool:
    return SEPARATOR in name


def server_of(name: str) -> str:
    return name.partition(SEPARATOR)[0]


def tool_of(name: str) -> str:
    return name.partition(SEPARATOR)[2]


def effect(name: str) -> Effect:
    """What calls of such a tool do; where its server is not configured any more, the worst."""
    config = settings.MCP.get(server_of(name))
    return config.effect_of(tool_of(name)) if config else Effect.ACTS


def acting(name: str) -> Acting | None:
    """How a call is to be dealt with that acts outside; None for one that reads."""
    if effect(name) is not Effect.ACTS:
        return None
    config = settings.MCP.get(server_of(name))
    return Acting(repeatable=config is not None and tool_of(name) in config.repeatable)


def bound(policy: Policy) -> object:
    """What an approval is bound to: the tools with all that is said of them, and what each does."""
    tools = listed(policy.servers)
    return [[name, tool.description, tool.schema, effect(name), acting(name)] for name, tool in sorted(tools.items())]
