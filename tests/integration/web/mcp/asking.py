"""Programs that ask over MCP, with the official client: in this process, or a server over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from pevsite.asgi import application
from runs.models import User
from runs.models.people import DEFAULT_SCOPES
from runs.people import access_tokens
from tests import factories as made

type Era = Literal["legacy", "auto"]
HERE = "http://testserver"
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
"""A message by hand."""
REVIEW: dict[str, Any] = {
    "request": "Review the lease.",
    "template": "document-review",
    "files": [{"path": "contracts/lease.md", "text": made.LEASE}],
}
"""What a program submits."""


def token_of(person: User, name: str = "laptop", scopes: Iterable[str] = DEFAULT_SCOPES) -> str:
    return access_tokens.issue(person, name, 7, scopes)


def talk[Value](
    token: str, what: Callable[[Client], Awaitable[Value]], *, site: str = HERE, era: Era = "auto"
) -> Value:
    """What a program does with one client: `legacy` begins with a handshake, as clients did before 2026."""

    async def all_of_it() -> Value:
        headers = {"Authorization": f"Bearer {token}"}
        transport = httpx2.ASGITransport(app=application) if site == HERE else None
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, transport=transport, trust_env=False) as http,
            Client(
                streamable_http_client(f"{site}/mcp", http_client=http), read_timeout_seconds=60, mode=era
            ) as client,
        ):
            return await what(client)

    return asyncio.run(all_of_it())


def call(token: str, name: str, *, site: str = HERE, **arguments: Any) -> CallToolResult:
    """One call of one tool."""

    async def calling(client: Client) -> CallToolResult:
        return await client.call_tool(name, arguments)

    return talk(token, calling, site=site)


def fields(result: CallToolResult) -> dict[str, Any]:
    """What a tool that did its work has answered."""
    assert not result.is_error, text(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def refusal(result: CallToolResult) -> str:
    """The sentence of one that did not."""
    assert result.is_error, text(result)
    assert result.structured_content is None
    return text(result)


def text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


def post(body: bytes = b"", *, method: str = "POST", path: str = "/mcp", **headers: str) -> httpx2.Response:
    """One request by hand; underscores in names of headers are hyphens."""

    async def posting() -> httpx2.Response:
        given = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        transport = httpx2.ASGITransport(app=application)
        async with httpx2.AsyncClient(transport=transport, base_url=HERE, trust_env=False) as http:
            return await http.request(method, path, content=body, headers=given)

    return asyncio.run(posting())
