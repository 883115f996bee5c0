"""What a person asks for with a rejection, from the gate to the report: met, not met, not provable, or open (T7)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from runs.contracts.feedback import Comment
from runs.enums import AttemptStatus, GateKind, Outcome, StepApproval, StepMoment, StepStatus, Verb
from runs.evidence.results import RequestResult
from runs.lifecycle.change_requests import ChangeRequest
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Attempt, Gate, Run, Step, User
from runs.readmodel.gate_text import about
from runs.readmodel.run_view import reading_of
from runs.readmodel.status_words import about_request
from runs.readmodel.verified_texts import SaidText, said_text
from runs.submission.submit import again
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.fakes.anthropic_answers import Answer, Say, ToolUse, UseTools
from tests.fakes.anthropic_answers import Request as Asked
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, answering, asked_in, labels_of, plan, report, step, told, verdict
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
WORDS = "Name the severity of each point"
FIRST = "# Findings\n\n- The term is open.\n- The cap is missing.\n"
NAMED = "# Findings\n\n- The term is open. Severity: high.\n- The cap is missing. Severity: low.\n"
PASTED = f"{FIRST}\n{WORDS}\n"


class Writer:
    """A team whose only step writes one text after the other, and whose verifier passes all with one quote."""

    def __init__(self, api: FakeAnthropic, *texts: str, quote: dict[str, str], **of_step: Any) -> None:
        self.texts = texts
        self._quote = quote
        wanted = plan(step("one", outputs=("findings.md",), **of_step))
        self.team = Team(plan=wanted, executor=self._write, verifier=self._pass)
        api.script(self.team)

    def _write(self, request: Asked, right: Answer) -> Answer:
        if request.tool_results:
            return Say(json.dumps(report("Two points.")))
        number = sum(part.kind in {"person", "critique"} for part in told(request))
        text = self.texts[min(number, len(self.texts) - 1)]
        return UseTools(ToolUse("write_file", {"path": "findings.md", "content": text}))

    def _pass(self, request: Asked, right: Answer) -> Answer:
        """Lazy: a line of the document for each criterion, and `quote` for each request."""
        judged = verdict(labels_of(request), "findings.md", "# Findings")
        if any(part.text.startswith("The whole task") for part in told(request)):
            return right
        for one in judged["criteria_results"]:
            if one["criterion"].startswith("R"):
                one["evidence"] = [self._quote]
        return Say(json.dumps(judged))


def rejected(submitted: Submit, alice: User, words: str = WORDS, **policy: Any) -> Run:
    """The first result was looked at by Alice, who asked for something else; what follows has been done."""
    run = submitted(**policy)
    drain(run)
    answer(run, alice)
    drain(run)
    answer(run, alice, Verb.REJECT, words)
    drain(run)
    return Run.objects.get(pk=run.pk)


def statuses(run: Run) -> list[tuple[int, str, list[tuple[int, str]]]]:
    attempts = Attempt.objects.filter(step__plan__run=run).select_related("verdict").order_by("pk")
    return [(a.number, a.status, [(one.number, one.status) for one in a.verdict.requests]) for a in attempts]


def only(run: Run) -> ChangeRequest:
    (request,) = reading_of(Run.objects.get(pk=run.pk)).requests
    return request


def judged(run: Run) -> RequestResult:
    result = only(run).result
    assert result is not None
    return result


@pytest.mark.slow
def test_the_request_pasted_into_the_file_does_not_pass(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    """As in the product before: a lazy verifier would pass five of five, with the pasted line as evidence."""
    Writer(api, FIRST, PASTED, quote={"source": "findings.md", "quote": WORDS}, complexity="high")
    run = rejected(submitted, alice, attempts=2, replans=0)
    assert statuses(run)[:2] == [(1, "rejected", []), (2, "failed", [(1, "not_met")])]
    assert "It is not met by being written down: do what it asks for." in judged(run).feedback
    assert [(gate.kind, gate.status) for gate in Gate.objects.filter(step__isnull=False).order_by("pk")][1:] == [
        (GateKind.EXHAUSTED, "open")
    ]
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    assert page.index("<strong>alice asked</strong>") < page.index("<strong>Attempt 3</strong>"), "failing first"
    answer(run, alice)
    ended = finish(run, alice)
    assert (ended.outcome, only(run).state) == (Outcome.PARTIAL, "not met")
    data: Any = as_json(ended)
    assert [(one["number"], one["status"], one["by"]) for one in data["requests"]] == [(1, "not_met", "alice")]
    assert any(gap.startswith(f"Request 1 of alice is not met: “{WORDS}”.") for gap in data["gaps"])
    client.force_login(alice)
    page = client.get(f"/runs/{ended.pk}/").text
    assert "<strong>Open point</strong> Request 1 of alice is not met" in page
    assert "<strong>alice asked</strong>" not in page  # it is the open point


def test_an_unchanged_line_proves_nothing_and_the_person_is_asked_again(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    quote = {"source": "findings.md", "quote": "- The term is open."}
    Writer(api, FIRST, f"{FIRST}- A third one.\n", quote=quote, complexity="high")
    run = rejected(submitted, alice, step_approval=StepApproval.HIGH)
    assert statuses(run) == [(1, "rejected", []), (2, "passed", [(1, "not_provable")])]
    gate = open_gate(run)
    assert (gate.kind, only(run).state) == (GateKind.STEP, "not provable: nothing that changed shows it")
    assert gate.question.startswith("“Do one” has passed verification, but nothing plainly proves that what was asked")
    answer(run, alice)
    ended = finish(run, alice)
    assert (ended.outcome, only(run).status) == (Outcome.SUCCEEDED, "not_provable"), "the person has seen it"


@pytest.mark.slow
@pytest.mark.parametrize(("how", "outcome"), [("person", Outcome.SUCCEEDED), ("--approve-all", Outcome.PARTIAL)])
def test_a_new_line_about_something_else_is_shown_to_a_person(
    api: FakeAnthropic, submitted: Submit, alice: User, how: str, outcome: Outcome
) -> None:
    quote = {"source": "findings.md", "quote": "- Thank you."}
    Writer(api, FIRST, f"{FIRST}- Thank you.\n", quote=quote, complexity="high")
    run = rejected(submitted, alice)
    assert (open_gate(run).kind, about_request(only(run).gate)) == (GateKind.STEP, "attempt 1 at “Do one”")
    state = "met, but look at it yourself: it shares no word with what was asked for (findings.md, line 5)"
    assert only(run).state == state
    answer(run, alice, how=how)
    ended = finish(run, alice)
    data: Any = as_json(ended)
    assert (ended.outcome, data["requests"][0]["doubtful"]) == (outcome, True)
    assert data["gaps"] == (
        []
        if how == "person"
        else [f"No one checked whether request 1 of alice is met; its proof is doubtful: “{WORDS}”."]
    )


def test_what_nobody_can_prove_opens_a_gate_where_the_policy_asks_for_none(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    """An exhausted gate asks first; its answer is a request too."""
    quote = {"source": "@output", "quote": "Two points."}
    writer = Writer(api, "TODO\n", f"{FIRST}- More.\n", quote=quote)
    writer.team.plan["steps"][0]["acceptance_criteria"].append(
        {"text": "No placeholder", "about": "output", "check": {"kind": "no_placeholders", "path": "findings.md"}}
    )
    run = rejected(submitted, alice, attempts=1, replans=0, step_approval=StepApproval.NONE)
    assert (open_gate(run).kind, about_request(only(run).gate)) == (GateKind.STEP, "attempt 1 at “Do one”")
    assert Step.objects.get(plan__run=run).unproved is True
    answer(run, alice)
    assert Step.objects.get(plan__run=run).status == StepStatus.PASSED


@pytest.mark.slow
def test_a_result_kept_by_approve_all_was_seen_by_nobody(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    Writer(api, FIRST, f"{FIRST}- More.\n", quote={"source": "findings.md", "quote": "# Findings"}, complexity="high")
    run = rejected(submitted, alice)
    answer(run, alice, how="--approve-all")
    ended = finish(run, alice)
    assert (ended.outcome, reading_of(ended).gaps) == (
        Outcome.PARTIAL,
        [f"No one checked whether request 1 of alice is met, which is not provable: “{WORDS}”."],
    )


@pytest.mark.slow
def test_points_that_are_sent_back_together_are_judged_one_by_one(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    """Judged as one, all but the first would have stayed open, and ended as open points."""
    writer = Writer(api, FIRST, NAMED, quote={"source": "findings.md", "quote": "Severity: high."}, complexity="high")
    run = submitted()
    drain(run)
    answer(run, alice)
    drain(run)
    gate = open_gate(run)
    points = (("On point 1", "Name its severity"), ("On point 2", "Name the severity of the cap"))
    said = tuple(Comment(place=place, text=text) for place, text in points)
    decide(gate.pk, alice, Decision(Verb.REJECT, gate.digest, comments=said))
    drain(run)
    assert statuses(run) == [(1, "rejected", []), (2, "passed", [(1, "met"), (2, "met")])]
    words = [one.words for one in said]
    for role in ("executor", "verifier"):
        assert [part.text for part in told(writer.team.seen[role][-1]) if part.kind == "person"] == words
    answer(run, alice)
    ended = finish(run, alice)
    assert ended.outcome == Outcome.SUCCEEDED
    decided = next(line for line in as_markdown(ended).splitlines() if "requested changes to" in line)
    assert decided.endswith(": request R1, request R2.")
    assert [said_text(run, f"request-{number}") for number in (1, 2, 3)] == [
        SaidText("Request 1", words[0]),
        SaidText("Request 2", words[1]),
        None,
    ]


@pytest.mark.slow
def test_an_honest_change_meets_the_request(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    Writer(api, FIRST, NAMED, quote={"source": "findings.md", "quote": "Severity: high."}, complexity="high")
    run = rejected(submitted, alice)
    assert (open_gate(run).kind, only(run).state) == (GateKind.STEP, "met (findings.md, line 3)")
    answer(run, alice)
    ended = finish(run, alice)
    data: Any = as_json(ended)
    assert (ended.outcome, data["gaps"]) == (Outcome.SUCCEEDED, [])
    assert [(one["words"], one["status"], one["where"]) for one in data["requests"]] == [
        (WORDS, "met", "findings.md, line 3")
    ]


def test_a_removal_is_proved_by_the_difference(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    without = FIRST.replace("- The cap is missing.\n", "")
    writer = Writer(
        api, FIRST, without, quote={"source": "@diff", "quote": "-- The cap is missing."}, complexity="high"
    )
    run = rejected(submitted, alice, "Remove the paragraph about the cap")
    assert only(run).state == "met (“- The cap is missing.” stood in attempt 1 and is gone)"
    diff = next(part for part in told(writer.team.seen["verifier"][-1]) if part.kind == "diff")
    assert (diff.name, diff.text) == (
        "@diff for R1",
        "--- findings.md, attempt 1\n+++ findings.md, now\n-- The cap is missing.",
    )


def test_what_a_verifier_denies_goes_back_to_the_executor(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    writer = Writer(api, FIRST, f"{FIRST}- More.\n", NAMED, quote={"source": "findings.md", "quote": "Severity: low"})
    writer.team.plan["steps"][0]["estimated_complexity"] = "high"
    lazy = writer.team.verifier
    assert lazy is not None

    def honest(request: Asked, right: Answer) -> Answer:
        found = lazy(request, right)
        document = next((part.text for part in told(request) if part.name == "findings.md"), "Severity")
        if "Severity" in document or not isinstance(found, Say):
            return found
        judged = json.loads(found.text)
        for one in judged["criteria_results"]:
            if one["criterion"] == "R1":
                one |= {"passed": False, "evidence": [], "feedback": "No severity is named."}
        return Say(json.dumps(judged | {"feedback_for_executor": "Name them."}))

    writer.team.verifier = honest
    run = rejected(submitted, alice)
    assert statuses(run) == [
        (1, "rejected", []),
        (2, "failed", [(1, "not_met")]),
        (3, "passed", [(1, "met")]),
    ]
    told_last = [part for part in told(writer.team.seen["executor"][-1]) if part.kind in {"person", "critique"}]
    assert [(part.kind, part.name) for part in told_last] == [
        ("person", "request 1: alice on attempt 1"),
        ("critique", "attempt 2"),
    ]


@pytest.mark.slow
def test_a_request_outlives_its_plan(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    """It is judged in the next version too, at the same step, against the result that was rejected."""
    writer = Writer(api, FIRST, PASTED, NAMED, quote={"source": "findings.md", "quote": "Severity: high."})
    writer.team.plan["steps"][0]["estimated_complexity"] = "high"
    run = rejected(submitted, alice, attempts=1, replans=1)
    found = list(
        Attempt.objects.filter(step__plan__run=run).order_by("pk").values_list("step__plan__version", "status")
    )
    assert found[:2] == [(1, AttemptStatus.REJECTED), (1, AttemptStatus.FAILED)]
    answers = run.plans.latest("version").header.answers
    assert [(one.request, one.step_id, one.criterion) for one in answers] == [(1, "one", 1)]
    writer.texts = (FIRST, NAMED)
    answer(run, alice)
    drain(run)
    request = only(run)
    assert request.step is not None
    assert request.attempt is not None
    assert (request.step.plan.version, request.step.key, request.attempt.number) == (2, "one", 1)
    assert (statuses(run)[2], request.state) == ((1, "passed", [(1, "met")]), "met (findings.md, line 3)")
    diff = next(part for part in told(writer.team.seen["verifier"][-1]) if part.kind == "diff")
    assert diff.text.splitlines()[2] == "-- The term is open.", "what the rejected attempt of version 1 said"


@pytest.mark.slow
def test_a_planner_answers_each_request_and_is_refused_where_it_leaves_one_out(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    def planner(request: Asked, right: Answer) -> Answer:
        if not asked_in(request) or len(team.seen["planner"]) > 2:
            return right
        assert isinstance(right, Say)
        return Say(json.dumps(json.loads(right.text) | {"answers": []}))

    team = Team(planner=planner)
    api.script(team)
    run = submitted()
    drain(run)
    answer(run, alice, Verb.REJECT, "Two steps, please.")
    drain(run)
    said = json.dumps(team.seen["planner"][-1].messages)
    assert "Request 1 is answered nowhere: name in `answers` the step or criterion that meets it." in said
    asked = only(run)
    assert (asked.number, about_request(asked.gate)) == (1, "version 1 of the plan")
    assert asked.state == "answered by the plan"
    assert asked.planned == ["step “Do one”, criterion 1: It is asked for there."]
    answer(run, alice)
    finish(run, alice)
    assert only(run).state == "met"


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_planner_answers_who_refused_a_start(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    """The same plan again would not be another one: it is told to the planner, and its second is asked about anew."""
    first, second = (plan(step("one") | {"name": name}) for name in ("Do one", "Do one with the landlord"))

    def planner(request: Asked, right: Answer) -> Answer:
        return Say(json.dumps(answering(request, second if asked_in(request) else first)))

    team = Team(planner=planner)
    api.script(team)
    run = submitted(step_approval=StepApproval.ALL, step_moment=StepMoment.BEFORE, replans=0)
    drain(run)
    answer(run, alice)
    answer(run, alice, Verb.REJECT, "Ask the landlord first.")
    drain(run)
    assert "Ask the landlord first." in team.seen["planner"][-1].last_text
    assert (about_request(only(run).gate), only(run).state) == ("the start of “Do one”", "answered by the plan")
    answer(run, alice)
    assert open_gate(run).question == "Start “Do one with the landlord”? It is a low-risk step."
    ended = finish(run, alice)
    assert (ended.outcome, only(ended).state, len(team.seen["executor"])) == (Outcome.SUCCEEDED, "met", 2)


def test_numbers_follow_the_decisions(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    Writer(api, FIRST, NAMED, quote={"source": "findings.md", "quote": "Severity: high."}, complexity="high")
    run = submitted()
    drain(run)
    for words in ("Shorter.", "Name the source."):
        answer(run, alice, Verb.REJECT, words)
        drain(run)
    answer(run, alice)
    drain(run)
    answer(run, alice, Verb.REJECT, WORDS)
    found = reading_of(Run.objects.get(pk=run.pk)).requests
    assert [(one.number, one.words, one.gate.kind) for one in found] == [
        (1, "Shorter.", GateKind.PLAN),
        (2, "Name the source.", GateKind.PLAN),
        (3, WORDS, GateKind.STEP),
    ]


@pytest.mark.slow
def test_a_plan_of_another_run_answers_nobody_here(team: Team, submitted: Submit, alice: User) -> None:
    run = submitted()
    drain(run)
    answer(run, alice, Verb.REJECT, "Two steps, please.")
    drain(run)
    ended = finish(run, alice)
    assert ended.plans.latest("version").header.answers != []
    assert again(ended, alice, ended.submission.__class__(int=7)).plans.get().header.answers == []


@pytest.mark.slow
@pytest.mark.exhaustive
def test_gate_report_and_terminal_tell_the_same(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    Writer(api, FIRST, NAMED, quote={"source": "findings.md", "quote": "Severity: high."}, complexity="high")
    run = rejected(submitted, alice)
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    assert "met (findings.md, line 3)" in page
    assert "<strong>alice asked</strong>" in page
    assert f"request 1 of alice, met (findings.md, line 3): “{WORDS}”" in about(open_gate(run))
    assert f"- **met** R1: “{WORDS}”\n" in as_markdown(run)
    assert ": met (findings.md, line 3).\n" in as_markdown(run)
    answer(run, alice)
    ended = finish(run, alice)
    report_page = client.get(f"/runs/{ended.pk}/report/").text
    assert "met (findings.md, line 3)" in report_page
