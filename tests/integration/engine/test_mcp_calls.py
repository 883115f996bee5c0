"""The client of MCP servers, against servers of the official library and ones that hang, flood and die."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client import session, stdio

from runs.enums import Effect
from runs.errors import InvalidInput, LeaseLost
from runs.mcp_client import mcp_connection
from runs.mcp_client.mcp_connection import McpConnection
from runs.mcp_client.server_config import CallTerms, ServerConfig, read_servers
from tests.fakes import mcp_tickets

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
TICKETS = mcp_tickets.__file__


def config(mode: str = "", log: Path | None = None, **more: object) -> ServerConfig:
    """A server of the official library."""
    env = {"MODE": mode, **({"LOG": str(log)} if log else {})}
    return ServerConfig.model_validate({"command": sys.executable, "args": [TICKETS], "env": env} | more)


def plain(mode: str = "", log: Path | None = None, *arguments: str, **more: object) -> ServerConfig:
    """The same tickets, for tests in which it does not matter which library the server uses."""
    return config(mode, log, args=["-I", "-S", TICKETS, "--plain", *arguments], **more)


def code(text: str) -> ServerConfig:
    return ServerConfig(command=sys.executable, args=("-I", "-S", "-c", text), seconds=1)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever does not answer is given up soon, and is not given long to end by itself."""
    monkeypatch.setattr(mcp_connection, "CONNECT_SECONDS", 1.0)
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 1.0)
    monkeypatch.setattr(stdio, "PROCESS_TERMINATION_TIMEOUT", 0.1)


@pytest.fixture
def url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {**os.environ, "PORT": str(port)}
    process = subprocess.Popen([sys.executable, TICKETS], env=environ, stderr=subprocess.DEVNULL)
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait()


def tried(connection: McpConnection) -> None:
    assert [tool.name for tool in connection.tools().tools] == ["create", "search"]
    assert connection.call("search", {"words": "door"}) == ("Ticket 7: the door is broken since 2026-03-01", False)
    text, is_error = connection.call("search", {"word": "door"})
    assert is_error
    assert "words" in text


@pytest.mark.slow
def test_over_standard_input_and_output() -> None:
    with McpConnection(config()) as connection:
        tried(connection)


@pytest.mark.slow
def test_over_http(url: str) -> None:
    with McpConnection(ServerConfig(url=url)) as connection:
        tried(connection)


@pytest.mark.slow
def test_its_process_ends_with_the_connection() -> None:
    def running() -> list[bytes]:
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        return [line for line in lines if b"tickets-to-end" in line]

    with McpConnection(plain("", None, "tickets-to-end")) as connection:
        assert [tool.name for tool in connection.tools().tools] == ["create", "search"]
        assert len(running()) == 2  # the server, and what hands on what it says
    assert running() == []


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "text",
    [
        "raise SystemExit(3)",
        "import time; time.sleep(100)",
        "print('x' * 20_000_000)",
        "while True: print('{}', flush=True)",
        'while True: print(\'{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\', flush=True)',
        "import os; os.close(1); os.close(0)",
    ],
)
def test_a_server_that_is_none_is_said_to_be_so(text: str) -> None:
    with (
        McpConnection(code(text)) as connection,
        pytest.raises(InvalidInput, match="The server did not list its tools"),
    ):
        connection.tools()


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("mode", ["die", "hang", "flood"])
def test_a_call_that_breaks_off_is_an_error_in_words_and_the_next_one_works(mode: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with McpConnection(plain(mode, log, seconds=3)) as connection:
        with pytest.raises(InvalidInput, match="The server did not answer the call of create"):
            connection.call("create", {"title": "Door"})
        assert connection.call("search", {"words": "door"})[1] is False
    assert log.read_text().splitlines() == ["create Door", "search door"]


@pytest.mark.slow
def test_too_large_a_result_is_refused() -> None:
    with McpConnection(config("large", seconds=10)) as connection, pytest.raises(InvalidInput):
        connection.call("search", {"words": "door"})


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_it_is_broken_off_with_the_work() -> None:
    calls = iter([None] * 3)

    def lost() -> None:
        if next(calls, 1):
            raise LeaseLost("gone")

    with McpConnection(plain("hang"), lost) as connection, pytest.raises(LeaseLost):
        connection.call("create", {"title": "Door"})


@pytest.mark.slow
def test_no_key_of_this_process_is_handed_on_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("TICKETS_TOKEN", "t-1")
    program = """
import os
from mcp.server.mcpserver import MCPServer
server = MCPServer("env")
@server.tool()
def env() -> str:
    return repr(sorted(name for name in os.environ if name in ("ANTHROPIC_API_KEY", "TOKEN"))) + os.environ["TOKEN"]
server.run()
"""
    given = ServerConfig(command=sys.executable, args=("-c", program), env={"TOKEN": "${TICKETS_TOKEN}"})
    with McpConnection(given) as connection:
        assert connection.call("env", {}) == ("['TOKEN']t-1", False)
    monkeypatch.delenv("TICKETS_TOKEN")
    with McpConnection(given) as connection, pytest.raises(InvalidInput, match="TICKETS_TOKEN is not set"):
        connection.tools()


@pytest.mark.slow
def test_hostile_tools_are_left_out() -> None:
    program = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("many")
def plain(a: str) -> str:
    return a
for name in ["good", "with space", "x" * 100, "\\u202eevil"]:
    server.add_tool(plain, name=name, description="d" * 9_000)
server.run()
"""
    with McpConnection(ServerConfig(command=sys.executable, args=("-c", program))) as connection:
        found = connection.tools()
    assert [(tool.name, len(tool.description)) for tool in found.tools] == [("good", 2_000)]
    assert len(found.problems) == 3


@pytest.mark.slow
def test_a_tool_that_breaks_the_rules_costs_none_of_the_others() -> None:
    with McpConnection(plain("odd")) as connection:
        found = connection.tools()
        said = connection.call("search", {"words": "door"})
    assert [tool.name for tool in found.tools] == ["create", "search", "untyped"]
    assert found.tools[2].schema == {"type": "object", "properties": {"a": {"type": "string"}}}
    assert [problem.partition(" is left out: ")[0] for problem in found.problems] == [
        "any",
        "filter",
        "typed",
        "nothing",
        "“”",
    ]
    assert said == (
        "[resource, ticket:7]\nThe door is broken since 2026-03-01\n"
        "[link to Photo of the door, ticket:7/photo: its content is not included]\n"
        "[image, image/png, about 3 bytes: left out, since it is no text]\n"
        "[hologram: left out, since it is no text]\n"
        '{"status": "open"}',
        False,
    )


@pytest.mark.slow
@pytest.mark.exhaustive
def test_structured_results_of_the_official_library_are_said_once_and_errors_are_kept() -> None:
    program = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("typed")
@server.tool()
def names(count: int) -> list[str]:
    return [f"name {number}" for number in range(count)]
@server.tool()
def fails() -> dict[str, int]:
    raise ValueError("no such ticket")
server.run()
"""
    with McpConnection(ServerConfig(command=sys.executable, args=("-c", program))) as connection:
        assert connection.call("names", {"count": 2}) == ("name 0\nname 1", False)
        assert connection.call("names", {"count": 0}) == ('{"result": []}', False)
        text, is_error = connection.call("fails", {})
    assert is_error
    assert "fails" in text


def test_the_file_says_what_each_tool_does(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(
        '{"mcpServers": {"tickets": {"command": "x", "effects": {"search": "reads"}}, "wiki": {"url": "https://w.example/mcp",'
        ' "effects": {"*": "reads", "edit": "acts"}, "account": "me",'
        ' "tools": {"edit": {"does": "Changes a page.", "can_be_undone": true}}}}}'
    )
    found = read_servers(str(file))
    effects = [found["tickets"].effect_of("search"), found["tickets"].effect_of("create")]
    effects += [found["wiki"].effect_of("read"), found["wiki"].effect_of("edit")]
    assert effects == [Effect.READS_OUTSIDE, Effect.ACTS, Effect.READS_OUTSIDE, Effect.ACTS]
    terms = [found["tickets"].terms_of("create"), found["wiki"].terms_of("edit"), found["wiki"].terms_of("read")]
    assert terms == [CallTerms(), CallTerms("me", "Changes a page.", can_be_undone=True), CallTerms("me")]
    assert read_servers("") == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "its beginning"),
        ("[]", "its beginning"),
        ('{"mcpServers": {"a": {}}}', "either a command or a url"),
        ('{"mcpServers": {"a": {"command": "x", "url": "https://x"}}}', "either a command or a url"),
        ('{"mcpServers": {"a": {"url": "ftp://x"}}}', "begin with https"),
        ('{"mcpServers": {"a": {"command": "x", "efects": {}}}}', "efects"),
        ('{"mcpServers": {"a": {"command": "x", "effects": {"b": "harmless"}}}}', "reads"),
        ('{"mcpServers": {"A__b": {"command": "x"}}}', "names a server"),
        ('{"mcpServers": {"a": {"command": "x", "seconds": 0}}}', "seconds"),
        ('{"mcpServers": {"a": {"command": "x", "account": "a\\nb"}}}', "a.account: it has to be one line of 1 to 120"),
        ('{"mcpServers": {"a": {"command": "x", "tools": {"b": {"does": " "}}}}}', "one line of 1 to 200 characters"),
        ('{"mcpServers": {"a": {"command": "x", "tools": {"b": {"can_be_undone": "no"}}}}}', "has to be true or false"),
        ('{"mcpServers": {"a": {"command": "x", "tools": {"b": {"undo": true}}}}}', "tools.b.undo"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=sentence):
        read_servers(str(file))
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_servers(str(tmp_path / "none.json"))
