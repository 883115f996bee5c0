"""Jobs as people word them, done well and done badly: only what is right ends as succeeded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind, Missing, Outcome
from runs.models import Run
from tests.factories import Submit, drain, open_gate
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, plan, reads, report, step, told, verdict
from tests.integration.adversarial.holding import must_tell
from tests.integration.engine.test_fetching import Web, web
from tests.reporting import as_json

__all__ = ["web"]
pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2"]), pytest.mark.slow]
DENSITY = (
    "Compute the population density (people per square kilometre) of Singapore: look up its population (latest year "
    "available), look up its land area in km², divide population by area. Cite a source address for both."
)
POPULATION = "<!doctype html><h1>Singapore</h1><p>In 2024 the population was 5,450,000.</p>"
AREA = "<!doctype html><h1>Singapore</h1><p>Its land area is 720.2 km².</p>"
SUM = "5,450,000 / 720.2 = 7,567.34"


@dataclass
class LookUp:
    """The look-up job. What its executor writes and what its synthesizer answers stand for `{population}` and `{area}`,
    the addresses of the two pages; `about`: what its criteria speak of.
    """

    api: FakeAnthropic
    submitted: Submit
    web: Web

    def run(self, written: str, answered: str, about: str) -> Run:
        addresses = {
            "population": self.web.put("/population", POPULATION, "text/html"),
            "area": self.web.put("/area", AREA, "text/html"),
        }
        looks = [
            *(ToolUse("fetch_page", {"address": address}) for address in addresses.values()),
            ToolUse("calculate", {"expression": "5450000 / 720.2", "decimals": 2}),
        ]
        writes = ToolUse("write_file", {"path": "answer.md", "content": written.format(**addresses)})

        def executor(request: Request, right: Answer) -> Answer:
            turns: list[Answer] = [
                UseTools(*looks),
                UseTools(writes),
                Say(json.dumps(report("The density is computed."))),
            ]
            return turns[len(request.messages) // 2]

        def verifier(request: Request, right: Answer) -> Answer:
            """It quotes what the calculator said for everything: that is true, whatever the result says."""
            final = any(part.kind == "subject" and part.text.startswith("The whole") for part in told(request))
            source = "@step-look-up/tool-3" if final else "@tool-3"
            return Say(json.dumps(verdict(labels_of(request), source, SUM, SUM)))

        look_up = step("look-up", outputs=("answer.md",)) | {"tools": ["fetch_page", "calculate", "write_file"]}
        look_up["acceptance_criteria"][1] |= {"about": about, "text": "answer.md gives the density with its sources"}
        planned = plan(look_up)
        planned["success_criteria"] = [{"text": "The answer gives the density of Singapore", "about": about}]
        told_in_the_end = Say(json.dumps({"answer": answered.format(**addresses)}))
        self.api.script(
            Team(plan=planned, executor=executor, verifier=verifier, synthesizer=lambda *_: told_in_the_end)
        )
        policy: dict[str, Any] = {"web": "*", "sources_needed": about == "sources", "plan_approval": "never"}
        run = self.submitted(DENSITY, files={}, **policy)
        drain(run)
        return run


@pytest.fixture
def look_up(api: FakeAnthropic, submitted: Submit, web: Web, settings: Any) -> LookUp:
    settings.WEB = "*"
    return LookUp(api, submitted, web)


RIGHT = f"""The density is 7,567 people per km²: {SUM}.

Population 5,450,000 in 2024: {{population}}
Area 720.2 km²: {{area}}
"""
WRONG = RIGHT.replace("7,567 people", "8,437 people")


CITED = RIGHT.replace("in 2024: {population}", "in 2024: [“the population was 5,450,000”]({population})")


def test_what_is_quoted_of_a_page_that_was_read_is_looked_up(look_up: LookUp, client: Client) -> None:
    right = look_up.run(CITED, CITED, "sources")
    assert (right.outcome, as_json(right)["gaps"]) == (Outcome.SUCCEEDED, [])
    wrong = look_up.run(RIGHT, CITED.replace("the population was", "the people counted were"), "sources")
    assert wrong.outcome == Outcome.PARTIAL
    must_tell(wrong, client, "“the people counted were 5,450,000” does not occur in http")


@pytest.mark.parametrize("about", ["sources", "output"])
def test_a_density_that_is_right_succeeds(look_up: LookUp, about: str) -> None:
    run = look_up.run(RIGHT, RIGHT, about)
    assert as_json(run)["gaps"] == []
    assert run.outcome == Outcome.SUCCEEDED


@pytest.mark.parametrize("about", ["sources", "output"])
@pytest.mark.parametrize(
    ("written", "answered", "figure"),
    [
        (WRONG, RIGHT, "8,437 (answer.md, line 1)"),
        (RIGHT, WRONG, "8,437 (the result, line 1)"),
        (RIGHT, RIGHT.replace("{area}", "https://statistics.example/area"), "https://statistics.example/area (the res"),
        (RIGHT, f"{RIGHT}\nIn 2019 it was 7,866.\n", "7,866 (the result, line 6)"),
    ],
    ids=["wrong in the file", "wrong in the answer", "an address that was never read", "a figure of no page"],
)
def test_a_density_that_is_wrong_does_not(
    look_up: LookUp, client: Client, written: str, answered: str, figure: str, about: str
) -> None:
    run = look_up.run(written, answered, about)
    assert run.outcome == Outcome.PARTIAL
    report: Any = as_json(run)
    assert [point["kind"] for point in report["open_points"]] == [Missing.UNTRACED]
    must_tell(run, client, figure)


LARGEST = (
    "For each of these three files, check that it exists, measure its size in bytes and report the largest one. "
    "Produce a summary with paths, sizes and the winner."
)
SIZED = {"a/one.txt": b"1" * 1_201, "a/two.txt": b"2" * 3_407, "three.txt": b"3" * 2_113}
SUMMARY = """a/one.txt exists: 1,201 bytes
a/two.txt exists: 3,407 bytes
three.txt exists: 2,113 bytes

The largest file is a/two.txt.
"""


LISTED = "1201\ta/one.txt\n3407\ta/two.txt\n2113\tthree.txt"


def largest_of(api: FakeAnthropic, submitted: Submit, written: str, *, opens: bool = True, quoted: str = LISTED) -> Run:
    """The job “three files”. Its verifier passes everything with what it has `quoted` of the list. `opens`: the
    files are read, too, and not only listed.
    """

    def executor(request: Request, right: Answer) -> Answer:
        turns: list[Answer] = [
            UseTools(ToolUse("list_files", {}), *(reads(path) for path in SIZED if opens)),
            UseTools(ToolUse("write_file", {"path": "summary.md", "content": written})),
            Say(json.dumps(report("The sizes are compared."))),
        ]
        return turns[len(request.messages) // 2]

    def verifier(request: Request, right: Answer) -> Answer:
        final = any(part.kind == "subject" and part.text.startswith("The whole") for part in told(request))
        winner = next(line for line in written.splitlines() if line.startswith("The largest"))
        found = verdict(labels_of(request), "@tool-1", quoted, winner)
        return right if final else Say(json.dumps(found))

    reading = ["read_file"] if opens else []
    sizes = step("sizes", outputs=("summary.md",)) | {"tools": ["list_files", "write_file", *reading]}
    items = {"kind": "covers", "path": "summary.md", "items": list(SIZED)}
    winner = {"kind": "contains", "path": "summary.md", "text": "The largest file is"}
    sizes["acceptance_criteria"] = [
        {"text": "summary.md names each of the three files", "about": "output", "check": items},
        {"text": "summary.md names the winner", "about": "output", "check": winner},
        {"text": "The largest file is named with its size", "about": "sources"},
    ]
    api.script(
        Team(
            plan=plan(sizes),
            executor=executor,
            verifier=verifier,
            synthesizer=lambda *_: Say(json.dumps({"answer": written})),
        )
    )
    run = submitted(LARGEST, files=SIZED, plan_approval="never", attempts=1, sources_needed=True)
    drain(run)
    return run


@pytest.mark.parametrize("opens", [True, False], ids=["opened", "listed"])
def test_the_largest_of_three_files_succeeds(api: FakeAnthropic, submitted: Submit, opens: bool) -> None:
    """A step that may only list the files is about their names and sizes: nobody has to read them."""
    run = largest_of(api, submitted, SUMMARY, opens=opens)
    assert as_json(run)["gaps"] == []
    assert run.outcome == Outcome.SUCCEEDED


def test_a_size_that_no_tool_showed_is_an_open_point(api: FakeAnthropic, submitted: Submit) -> None:
    run = largest_of(api, submitted, SUMMARY.replace("2,113", "2,999"))
    report: Any = as_json(run)
    assert run.outcome == Outcome.PARTIAL
    assert [point["kind"] for point in report["open_points"]] == [Missing.UNTRACED]
    assert "2,999 bytes (summary.md, line 3)" in report["open_points"][0]["sentence"]


def test_two_of_three_files_are_not_accepted(api: FakeAnthropic, submitted: Submit) -> None:
    run = largest_of(api, submitted, SUMMARY.replace("three.txt exists: 2,113 bytes\n", ""))
    gate = open_gate(run)
    assert gate.kind == GateKind.EXHAUSTED


def test_the_size_of_another_file_is_no_evidence_for_a_winner(api: FakeAnthropic, submitted: Submit) -> None:
    """A statement that names a file needs a quote that names it, or is from it."""
    run = largest_of(api, submitted, SUMMARY.replace("is a/two.txt", "is three.txt"), quoted="3407\ta/two.txt")
    gate = open_gate(run)
    assert gate.kind == GateKind.STEP


def test_the_size_of_the_winner_alone_does_not_prove_that_it_won(api: FakeAnthropic, submitted: Submit) -> None:
    run = largest_of(api, submitted, SUMMARY.replace("is a/two.txt", "is three.txt"), quoted="2113\tthree.txt")
    gate = open_gate(run)
    assert gate.kind == GateKind.STEP
    assert gate.attempt is not None
    assert "1 of 3 files have evidence" in {one.sample for one in gate.attempt.verdict.results}
