"""D3 for what a model's service does itself: wherever kill -9 hits, each search is asked and paid for once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.databases import rows
from tests.documents.pdfs import line, pages_of
from tests.fakes.anthropic_answers import Answer, Request, Served
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_serving import found, pdf_page, results, said, use
from tests.fakes.team import Player, Team, plan, report, step
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.machine import Nursery
from tests.integration.engine.test_kill_everywhere import (
    KILLED,
    asked,
    begin,
    facts,
    killed_everywhere,
    undisturbed,
)

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
CITY = "https://statistics.example/singapore"
WRITE: dict[str, Any] = {
    "type": "tool_use",
    "id": "toolu_1",
    "name": "write_file",
    "input": {"path": "one.md", "content": "Found by one.\n"},
}
FOUND = found(CITY, "Facts")


def search(number: int) -> dict[str, Any]:
    return use(f"srvtoolu_{number}", "web_search", query=f"question {number}")


def executor(request: Request, right: Answer) -> Answer:
    """Searches beside a call of ours, then into a pause, then twice in one reply, and cites what came before."""
    match sum(message["role"] == "assistant" for message in request.messages):
        case 0:
            return Served((search(1), WRITE), "tool_use")
        case 1:
            return Served((results("srvtoolu_1", FOUND), said("So.", (CITY, "5,450,000")), search(2)), "pause_turn")
        case _:
            last = said(json.dumps(report("Found by one.")), (CITY, "720.2 square kilometres"))
            return Served((results("srvtoolu_2", FOUND), search(3), results("srvtoolu_3", FOUND), last))


@pytest.fixture(scope="module")
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server
    assert server.violations == []


def team(player: Player, *tools: str) -> Team:
    return Team(plan=plan(step("one") | {"tools": [*tools, "write_file"]}), executor=player)


@pytest.fixture(autouse=True)
def usual_team(api: FakeAnthropic) -> None:
    """Who answers, unless a test says otherwise."""
    api.script(team(executor, "web_search"))


@pytest.fixture(scope="module")
def nursery(
    tmp_path_factory: pytest.TempPathFactory, installation: Installation, api: FakeAnthropic
) -> Iterator[Nursery]:
    variables = {
        "http_proxy": api.url,  # the fake stands in for Anthropic's own service
        "ANTHROPIC_BASE_URL": "http://api.anthropic.com",
        "PEV_WEB": "*",
        "PEV_SERVICE_TOOLS": "web_search web_fetch",
        "PEV_MAX_LOSSES": "1000",
    }
    nursery = Nursery(tmp_path_factory.mktemp("nursery"), installation, api, variables)
    for errand, name, tools in (
        ("submit", "planned", ["web_search"]),
        ("submit with few searches", "few", ["web_search"]),
        ("submit", "pages", ["web_fetch", "web_search"]),
    ):
        api.script(team(executor, *tools))
        nursery.restore("new")
        assert [nursery.send(Errand(one))[1] for one in (errand, "plan")] == [0, 0]
        nursery.save(name)
    yield nursery
    nursery.close()


def searches(data: Path) -> list[Any]:
    return rows(data, "SELECT role, web_searches FROM runs_modelcall WHERE web_searches > 0")


def test_wherever_it_is_killed_the_calls_of_the_service_are_the_same(nursery: Nursery, api: FakeAnthropic) -> None:
    course = killed_everywhere(nursery, api, "attempt", "planned")
    made = [(row[1], row[2], json.loads(row[3]).get("query")) for row in course.facts["tool calls"]]
    assert made == [
        (1, "write_file", None),
        (2, "web_search", "question 1"),
        (3, "web_search", "question 2"),
        (4, "web_search", "question 3"),
        (5, "web_search", "question 1"),
    ]
    assert searches(nursery.data) == [("executor", 1), ("executor", 2)]
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "passed"]]


def test_each_worker_dies_of_what_it_has_written_down(nursery: Nursery, api: FakeAnthropic) -> None:
    """A reply is committed with the first of its calls, so that there are fewer boundaries than rows."""
    course = undisturbed(nursery, api, "attempt", "planned")
    begin(nursery, api, "planned")
    kills = 0
    while nursery.send(Errand("attempt", kill_on="after .*(modelcall|toolcall)"))[1] == KILLED:
        kills += 1
    assert kills == 3 + 1 + 2 + 1, "replies of the executor, our call, what follows the first of a reply, the verdict"
    assert facts(nursery.data) == course.facts
    assert asked(api) == (course.questions, 0)


def test_wherever_it_is_killed_the_attempt_goes_on_without_what_the_run_has_used_up(
    nursery: Nursery, api: FakeAnthropic
) -> None:
    """Each reply may search once and makes one search beside a call of ours, until the tool is not offered any more."""

    def searching(request: Request, right: Answer) -> Answer:
        turns = sum(message["role"] == "assistant" for message in request.messages)
        if "web_search" not in request.tool_names:
            return Served((said(json.dumps(report("Found by one."))),))
        write = WRITE | {"id": f"toolu_{turns}"}
        return Served((search(turns), results(f"srvtoolu_{turns}", FOUND), said("So."), write), "tool_use")

    api.script(team(searching, "web_search"))
    course = killed_everywhere(nursery, api, "attempt", "few")
    assert [row[2] for row in course.facts["tool calls"]] == ["web_search", "write_file"] * 2
    assert [row[4:6] for row in course.facts["work"] if row[0] == "attempt"] == [[None, '{"web_search": 3}']]
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "passed"]]


def test_wherever_it_is_killed_a_pdf_file_is_fetched_once_and_its_text_is_the_same(
    nursery: Nursery, api: FakeAnthropic
) -> None:
    address, data = "https://statistics.example/report.pdf", pages_of([line("It has 5,450,000 inhabitants.")])

    def fetching(request: Request, right: Answer) -> Answer:
        if not any(message["role"] == "assistant" for message in request.messages):
            read = (use("srvtoolu_1", "web_fetch", url=address), pdf_page("srvtoolu_1", address, data))
            return Served((search(2), results("srvtoolu_2", FOUND), *read, said("So."), WRITE), "tool_use")
        return Served((said(json.dumps(report("Found by one."))),))

    api.script(team(fetching, "web_fetch", "web_search"))
    course = killed_everywhere(nursery, api, "attempt", "pages")
    assert [row[2] for row in course.facts["tool calls"]] == ["web_search", "web_fetch", "write_file"]
    assert "It has 5,450,000 inhabitants." in course.facts["tool calls"][1][4]
    assert rows(nursery.data, "SELECT count(*) FROM runs_modelcall WHERE web_fetches > 0") == [(1,)]
