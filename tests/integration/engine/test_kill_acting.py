"""D3 for calls that act outside: wherever kill -9 hits, nothing is sent that nobody let go, or twice unasked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import rows
from tests.fakes.anthropic_answers import ToolUse
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, looking, plan, step
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.machine import Nursery
from tests.integration.engine.test_kill_everywhere import broken, killed_everywhere
from tests.integration.engine.test_servers import TICKETS

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
CREATE = ToolUse("tickets__create", {"title": "The door is broken"})
PLAN = plan(step("one") | {"tools": ["write_file", "tickets__create"]})


@pytest.fixture(scope="module")
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        server.script(Team(plan=PLAN, executor=looking(one=[CREATE])))
        yield server
    assert server.violations == []


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "calls"


def nursery_with(folder: Path, installation: Installation, api: FakeAnthropic, log: Path, *repeatable: str) -> Nursery:
    """A run whose step waits for its call to be let go."""
    server = {"command": sys.executable, "args": [TICKETS], "env": {"LOG": str(log)}, "repeatable": repeatable}
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"tickets": server}}))
    nursery = Nursery(folder / "nursery", installation, api, {"PEV_MCP": str(file), "PEV_MAX_LOSSES": "1000"})
    assert [nursery.send(Errand(name))[1] for name in ("submit", "drain")] == [0, 0]
    nursery.save("waiting")
    return nursery


def sent(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_nothing_is_sent_before_a_person_has_let_it_go(
    tmp_path: Path, installation: Installation, api: FakeAnthropic, log: Path
) -> None:
    nursery = nursery_with(tmp_path, installation, api, log, "create")
    killed_everywhere(nursery, api, "answer", "waiting")
    assert sent(log) == 0
    nursery.save("let go")
    course = killed_everywhere(nursery, api, "attempt", "let go")
    assert [row[2] for row in course.facts["tool calls"]] == ["tickets__create", "write_file"]
    assert [row[:2] for row in course.facts["gates"]] == [["tool", "approved"]]
    nursery.close()


def test_what_may_have_been_sent_is_sent_again_only_when_a_person_says_so(
    tmp_path: Path, installation: Installation, api: FakeAnthropic, log: Path
) -> None:
    nursery = nursery_with(tmp_path, installation, api, log)
    assert nursery.send(Errand("answer"))[1] == 0
    nursery.save("let go")
    crossed, status = nursery.send(Errand("attempt"))
    assert (status, sent(log)) == (0, 1)
    for number, boundary in enumerate(crossed, 1):
        nursery.restore("let go")
        log.unlink(missing_ok=True)
        nursery.send(Errand("attempt", kill_at=number))
        before = sent(log)
        assert nursery.send(Errand("attempt"))[1] == 0
        gates = rows(nursery.data, "SELECT kind, status FROM runs_gate WHERE status = 'open'")
        (marked,) = rows(nursery.data, "SELECT count(*) FROM runs_gate WHERE sent_at IS NOT NULL")
        done = rows(nursery.data, "SELECT count(*) FROM runs_toolcall WHERE name = 'tickets__create'")
        assert sent(log) <= 1, boundary
        assert (sent(log) == 1 and done == [(1,)]) or (gates == [("tool", "open")] and sent(log) == before), boundary
        assert marked == (1,), boundary
        assert broken(nursery.data) == [], boundary
    nursery.close()
