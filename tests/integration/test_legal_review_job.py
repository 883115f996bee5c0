"""The reference job “legal review”, with the plan of another tool: criteria in words, nothing that code could check."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from runs.enums import AttemptStatus, GateKind, Missing, Outcome
from runs.models import Attempt, Run
from runs.pev.imports.imported import imported
from tests.factories import Submit, drain, open_gate
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, block, report, step_of, told, verdict
from tests.integration.adversarial.holding import must_tell
from tests.reporting import as_json

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
DOCUMENTS = {
    "acme.md": b"# Service agreement of Acme\n\nPayment is due within a reasonable time.\n",
    "flat.md": b"# Lease of the flat\n\nNotice is three months.\n",
}


def planned(key: str, name: str, criterion: str, output: str, complexity: str, *after: str) -> dict[str, Any]:
    return {
        "step_id": key,
        "name": name,
        "description": f"{name}. Write {output}.",
        "actions": [{"tool": "read_file", "params": {"path": "."}}, {"tool": "write_file", "params": {"path": output}}],
        "acceptance_criteria": [criterion],
        "expected_outputs": [output],
        "dependencies": list(after),
        "estimated_complexity": complexity,
        "status": "pending",
        "feedback": [],
        "retry_count": 0,
    }


NOTICES_MADE = "LEGAL_NOTICES.md created with detailed findings"
REVIEWED = "All documents reviewed with findings"
PLAN = {
    "goal": "Review all legal documents and create comprehensive reports.",
    "context": {"folder": "."},
    "steps": [
        planned("scan", "Scan and categorise the documents", "categories.md has a category", "categories.md", "low"),
        planned(
            "review", "Deep review of each document", "review.md has a recommendation", "review.md", "high", "scan"
        ),
        planned("notices", "Generate LEGAL_NOTICES.md", NOTICES_MADE, "LEGAL_NOTICES.md", "medium", "review"),
        planned(
            "summary",
            "Generate REVIEW_SUMMARY.md",
            "REVIEW_SUMMARY.md created with status",
            "REVIEW_SUMMARY.md",
            "low",
            "notices",
        ),
    ],
    "success_criteria": [REVIEWED, NOTICES_MADE, "REVIEW_SUMMARY.md created with status"],
    "rollback_strategy": "Delete the reports.",
}
VAGUE = "- Vague payment terms: [“Payment is due within a reasonable time.”](acme.md#L3)"
SHORT = "- A short notice: [“Notice is three months.”](flat.md#L3). Recommendation: note the date."
WRITTEN = {
    "scan": "# Categories\n\nacme.md is a service agreement, flat.md a lease.\n",
    "review": f"# Review\n\n{VAGUE}. Recommendation: agree on thirty days.\n{SHORT}\n",
    "notices": "# Notices\n\nTo Acme: we ask for a day of payment.\n",
    "summary": "# Summary\n\nStatus: two documents are reviewed.\n",
}
WITHOUT = f"# Review\n\n{VAGUE}.\n{SHORT}\n"
LINES = {
    "categories.md": "acme.md is a service agreement",
    "review.md": "Recommendation: agree on thirty days",
    "LEGAL_NOTICES.md": "we ask for a day of payment",
    "REVIEW_SUMMARY.md": "Status: two documents are reviewed",
}
ANSWER = (
    "Both were reviewed: [“Payment is due within a reasonable time.”](acme.md#L3) is vague, and "
    "[“Notice is three months.”](flat.md#L3) is short. See LEGAL_NOTICES.md and REVIEW_SUMMARY.md."
)


@dataclass
class Lawyers:
    """A team that does the job. `reviews`: what the attempts at the review write; `careless`: the source and the quote
    by which everything is passed; `answer`: the final one.
    """

    reviews: list[str] = field(default_factory=lambda: [WITHOUT, WRITTEN["review"]])
    careless: tuple[str, str] | None = None
    answer: str = ANSWER

    def executor(self, request: Request, right: Answer) -> Answer:
        key = step_of(request)["step_id"]
        if request.tool_results:
            return Say(json.dumps(report(f"Done: {key}.")))
        critiques = sum(part.kind == "critique" for part in told(request))
        text = self.reviews[min(critiques, len(self.reviews) - 1)] if key == "review" else WRITTEN[key]
        path = step_of(request)["expected_outputs"][0]["path"]
        reads = [ToolUse("read_file", {"path": path}) for path in DOCUMENTS]
        return UseTools(*reads, ToolUse("write_file", {"path": path, "content": text}))

    def verifier(self, request: Request, right: Answer) -> Answer:
        judged = verdict([], "", "")
        for line in block(told(request), "criteria").splitlines():
            label, _, text = line.partition(": ")
            judged["criteria_results"] += self._judged(label, text, request)["criteria_results"]
        failed = [one for one in judged["criteria_results"] if not one["passed"]]
        if failed:
            judged |= {"overall_pass": False, "action": "retry", "severity": "major"}
            judged["feedback_for_executor"] = "Vague payment terms have no recommendation."
        return Say(json.dumps(judged))

    def _judged(self, label: str, text: str, request: Request) -> dict[str, Any]:
        if self.careless:
            return verdict([label], *self.careless)
        if text == REVIEWED:
            both = verdict([label], "", "")
            quotes = {
                "acme.md": "Payment is due within a reasonable time.",
                "flat.md": "Notice is three months.",
            }
            both["criteria_results"][0]["evidence"] = [
                {"source": path, "quote": quote, "statement": quote} for path, quote in quotes.items()
            ]
            return both
        path = next(path for path in LINES if path in text)
        shown = "\n".join(part.text for part in told(request) if part.kind == "document")
        return verdict([label], path, LINES[path], passed=LINES[path] in shown)


def review(api: FakeAnthropic, submitted: Submit, team: Lawyers) -> Run:
    said = Say(json.dumps({"answer": team.answer}))
    api.script(Team(executor=team.executor, verifier=team.verifier, synthesizer=lambda *_: said))
    plan = imported(json.dumps(PLAN).encode()).plan
    policy: dict[str, Any] = {"plan_approval": "never", "step_approval": "none", "sources_needed": True}
    run = submitted("Review all legal documents", files=DOCUMENTS, plan=plan, replans=0, exhausted="ask", **policy)
    drain(run)
    run.refresh_from_db()
    return run


def test_the_review_is_tried_again_until_every_issue_has_a_recommendation(
    api: FakeAnthropic, submitted: Submit
) -> None:
    run = review(api, submitted, Lawyers())
    assert (run.outcome, as_json(run)["gaps"]) == (Outcome.SUCCEEDED, [])
    tried = Attempt.objects.filter(step__plan__run=run, step__key="review").order_by("number")
    assert [attempt.status for attempt in tried] == [AttemptStatus.FAILED, AttemptStatus.PASSED]
    assert "Vague payment terms have no recommendation." in tried[0].verdict.feedback


def test_notices_are_not_proven_by_the_contracts(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """“Created with detailed findings” is about the file: what a contract says does not show that it was written."""
    run = review(api, submitted, Lawyers([WRITTEN["review"]], careless=("acme.md", "Payment is due")))
    assert run.outcome is None
    assert open_gate(run).kind == GateKind.EXHAUSTED
    must_tell(run, client, "no quote is from the result")


def test_a_document_that_is_left_out_is_an_open_point(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """The verifier passes “all documents” with the words of one."""

    class OneOfTwo(Lawyers):
        def _judged(self, label: str, text: str, request: Request) -> dict[str, Any]:
            found = super()._judged(label, text, request)
            if text == REVIEWED:
                del found["criteria_results"][0]["evidence"][1]
            return found

    only_acme = ANSWER.replace("[“Notice is three months.”](flat.md#L3) is short", "there is nothing else")
    run = review(
        api, submitted, OneOfTwo([f"# Review\n\n{VAGUE}. Recommendation: agree on thirty days.\n"], answer=only_acme)
    )
    points: Any = as_json(run)["open_points"]
    assert run.outcome == Outcome.PARTIAL
    assert [point["kind"] for point in points] == [Missing.DOUBT]
    must_tell(run, client, "1 of 2 files have evidence")
