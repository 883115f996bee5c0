"""D3 with an agent: an attempt that a kill interrupts goes on as it began, whatever has become of its agent since."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import rows, write
from tests.factories.agents import WRITER, played_plan
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, looking, plan, reads
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.machine import Nursery
from tests.integration.engine.test_kill_everywhere import KILLED, asked, begin, broken, facts, undisturbed

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
OPUS = "claude-opus-5-5"
DEFINITION = {
    "purpose": "Writes notices.",
    "instructions": "Name the clause.",
    "model": OPUS,
    "effort": "high",
    "tools": ["read_file", "write_file"],
}
OTHER = json.dumps(DEFINITION | {"instructions": "Write in verse.", "model": "", "tools": []})
OF_THE_ATTEMPT = ("attempts", "verdicts", "tool calls", "replies")


@pytest.fixture(scope="module")
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        server.script(Team(plan=plan(played_plan()["steps"][0]), executor=looking(one=[reads("notes.md")])))
        yield server
    assert server.violations == []


@pytest.fixture
def nursery(tmp_path: Path, installation: Installation, api: FakeAnthropic) -> Iterator[Nursery]:
    """Saved as `attempt`: the step with the agent is about to be carried out."""
    nursery = Nursery(tmp_path / "nursery", installation, api, {"PEV_MAX_LOSSES": "1000"})
    assert nursery.send(Errand("submit"))[1] == 0
    columns = "name, definition, changed_by_id, changed_at"
    values = f"SELECT '{WRITER}', '{json.dumps(DEFINITION)}', min(id), CURRENT_TIMESTAMP FROM runs_user"
    write(nursery.data, f"INSERT INTO runs_agent ({columns}) {values}")
    assert nursery.send(Errand("plan"))[1] == 0
    nursery.save("attempt")
    yield nursery
    nursery.close()


@pytest.mark.parametrize(
    "meanwhile", ["DELETE FROM runs_agent", f"UPDATE runs_agent SET definition = '{OTHER}'"], ids=["gone", "changed"]
)
def test_killed_at_every_boundary(nursery: Nursery, api: FakeAnthropic, meanwhile: str) -> None:
    course = undisturbed(nursery, api, "attempt", "attempt")
    for number, boundary in enumerate(course.crossed, 1):
        begin(nursery, api, "attempt")
        assert nursery.send(Errand("attempt", kill_at=number))[1] == KILLED, boundary
        write(nursery.data, meanwhile)
        assert nursery.send(Errand("attempt"))[1] == 0, boundary
        found = facts(nursery.data)
        assert {name: found[name] for name in OF_THE_ATTEMPT} == {name: course.facts[name] for name in OF_THE_ATTEMPT}
        in_flight = int(boundary.startswith("before ") and "modelcall" in boundary)
        assert asked(api) == (course.questions, in_flight), boundary
        assert broken(nursery.data) == [], boundary
        kept = rows(nursery.data, "SELECT agent FROM runs_attempt WHERE agent IS NOT NULL")
        assert [json.loads(row[0]) if isinstance(row[0], str) else row[0] for row in kept] == [DEFINITION], boundary
