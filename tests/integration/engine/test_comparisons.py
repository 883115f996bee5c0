"""Checks that compare a step's result with the files as they were given, over the whole loop."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.enums import Outcome, Provenance
from runs.models import User, Verdict
from tests.factories import Submit, answer, drain, finish
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, report, step

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
RAW = b"id,name\n1,Ann\n2,Bob\n2,Bob\n"
CLEAN = "id,name\n1,Ann\n2,Bob\n"
CHECKS: list[dict[str, Any]] = [
    {"kind": "quotes_occur", "path": "report.md"},
    {"kind": "covers", "path": "report.md", "source": "raw.csv", "column": "name"},
    {
        "kind": "count",
        "path": "report.md",
        "figure": r"(\d+) duplicates?",
        "terms": [{"path": "raw.csv", "of": "rows"}, {"path": "@result/raw.csv", "of": "rows", "minus": True}],
    },
    {"kind": "absent", "path": "raw.csv", "terms": ["Cid"]},
]


def cleaning() -> dict[str, Any]:
    one = step("one", outputs=("report.md", "raw.csv"))
    criteria = [{"text": f"It is so: {check['kind']}", "about": "sources", "check": check} for check in CHECKS]
    return plan(one | {"acceptance_criteria": criteria})


def executor(*reads: ToolUse, said: str) -> Any:
    def play(request: Request, right: Answer) -> Answer:
        if request.tool_results or "raw.csv" not in json.dumps(request.messages):
            return Say(json.dumps(report("1 duplicate was removed.")))
        written = {"report.md": said, "raw.csv": CLEAN}
        return UseTools(*reads, *(ToolUse("write_file", {"path": p, "content": text}) for p, text in written.items()))

    return play


def results(run_id: int) -> list[tuple[bool, Provenance | None, str]]:
    verdict = Verdict.objects.filter(attempt__step__plan__run=run_id).order_by("-pk").first()
    assert verdict is not None
    found = [item for result in verdict.results for item in result.evidence if result.label.startswith("C")]
    return [(item.verified, item.provenance, item.sentence) for item in found]


READ = ToolUse("read_file", {"path": "raw.csv"})
REPORT = "# Cleaned\n\n1 duplicate was removed: “2,Bob 2,Bob” in raw.csv. Kept are Ann and Bob. No Cid, as said.\n"


def test_a_result_that_agrees_with_what_was_given(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    report_md = REPORT.replace("2,Bob 2,Bob", "1,Ann 2,Bob 2,Bob")
    api.script(Team(plan=cleaning(), executor=executor(READ, said=report_md)))
    run = finish(submitted(files={"raw.csv": RAW}, sources_needed=True), alice)
    assert results(run.pk) == [
        (
            True,
            Provenance.GIVEN,
            "report.md has 1 quoted passage, each found in the source named next to it: raw.csv",
        ),
        (True, Provenance.GIVEN, "report.md has 2 of 2 dealt with"),
        (True, Provenance.GIVEN, "report.md says 1, line 3: 1 = 3 rows of raw.csv - 2 rows of @result/raw.csv"),
        (True, Provenance.GIVEN, "“Cid” occurs nowhere in raw.csv (which was read whole)"),
    ]
    assert run.outcome == Outcome.SUCCEEDED


def test_a_result_that_does_not_and_a_file_that_nobody_read(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    said = "# Cleaned\n\n2 duplicates were removed: “1,Ann and so on” in raw.csv. Kept is Ann.\n"
    api.script(Team(plan=cleaning(), executor=executor(said=said)))
    run = submitted(files={"raw.csv": RAW}, sources_needed=True, attempts=1, replans=0)
    drain(run)
    answer(run, alice)
    drain(run)
    assert [(held, sentence) for held, _, sentence in results(run.pk)] == [
        (
            False,
            "report.md has 1 quoted passage, of which 1 cannot be found: line 3: “1,Ann and so on” does not occur in "
            "raw.csv",
        ),
        (False, "report.md has 1 of 2 dealt with; missing: “Bob”"),
        (False, "report.md says 2, line 3; but 1 = 3 rows of raw.csv - 2 rows of @result/raw.csv"),
        (False, "Nothing is known to be absent from what was not read whole: raw.csv"),
    ]
