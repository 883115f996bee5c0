"""What a gate shows: what is doubtful first, its folds, and why a button cannot be used."""

import json
import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from runs.enums import GateKind, GateStatus, StepApproval, StepMoment, Verb
from runs.evidence.results import RequestResult
from runs.lifecycle import plan_edits
from runs.lifecycle.approval.fingerprint import contract_of
from runs.models import Gate, Run, Verdict
from runs.pev.contracts import NOT_DONE, RequestAnswer
from runs.readmodel.gate_text import about
from tests import factories
from tests.html_forms import undescribed
from tests.integration.web.deciding import address, form, gate_of

pytestmark = pytest.mark.django_db


MADE: Mapping[str, tuple[Callable[[], Run], bool]] = {
    "plan": (factories.awaiting_plan, False),
    "plan of creative work": (lambda: factories.awaiting_plan(sources_needed=False), True),
    "second plan": (factories.awaiting_second_plan, False),
    "kept": (lambda: factories.keeping(9), False),
    "start": (factories.start_gate, False),
    "result without points": (lambda: factories.reporting("The lease is in order."), True),
    "uncited": (lambda: factories.reporting(factories.points(5)), False),
    "extra file": (lambda: factories.reporting("One table.", rows_csv="a\n1\n"), False),
    "nothing shown": (lambda: factories.reporting(""), False),
    "exhausted": (factories.exhausted_gate, False),
    "error": (factories.error_gate, False),
    "step error": (factories.step_error, False),
    "budget": (factories.budget_gate, True),
    "question": (factories.question_gate, True),
    "e-mail": (lambda: factories.tool_gate("mail__send", {"to": "bob@example.com"}), False),
}
"""Runs at gates, and whether their approving button is filled."""


@pytest.mark.parametrize("name", MADE)
@pytest.mark.slow
def test_no_button_is_filled_where_a_line_warns_or_nothing_is_shown(alice_client: Client, name: str) -> None:
    make, is_filled = MADE[name]
    page = alice_client.get(f"/runs/{make().pk}/").text
    told, button = page.partition("<article")[2].split('<form class="decide"')
    warned = 'data-mark="bad"' in told or 'data-mark="warn"' in told or 'data-tone="bad"' in told
    assert ('<button class="button primary"' in button) == is_filled
    assert not (is_filled and warned)


def test_an_exhausted_step_shows_first_what_was_not_met(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    text = " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    criterion = run.plans.get().steps.get(key="review").spec.acceptance_criteria[0].text
    lines = text[text.index('<ul class="gate-lines">') :]
    unmet = re.match(
        r'<ul class="gate-lines"><li data-mark="bad"><strong>Not met</strong> ([^<]*) '
        r'<a href="([^"]*)" data-source>Unsupported: no passage that was quoted [^<]*</a>',
        lines,
    )
    assert unmet
    assert unmet[1] == criterion
    assert alice_client.get(unescape(unmet[2])).status_code == 200
    assert lines.index("Unsupported") < lines.index('<div class="gate-lead prose"><p>Still two findings.')
    assert "did not pass in 2 attempts. Accept it with open points?</h2>" in text
    assert re.search(r"Another attempt gets your words and all of the critique\. Attempt 2 cost \$\d", lines)
    assert lines.count("Finding 2 names a problem") == lines.count("<strong>Attempts 1 and 2</strong>") == 1
    assert "“Draft the notices” goes on with what it wrote. The result will be marked as incomplete." in lines


def test_a_blocked_step_says_once_why_and_where_each_answer_leads(alice_client: Client) -> None:
    run = factories.blocked()
    gate = alice_client.get(f"/runs/{run.pk}/").text.split('<article class="gate"')[1].split("</article>")[0]
    text = " ".join(gate.split())
    assert "“Review the clauses” cannot be done. Go on without it?</h2>" in text
    assert text.count("schedules are missing") == 1
    assert [words for words in ("out of attempts", "confident", "Differs from the plan") if words in text] == []
    assert "<strong>Try again</strong> Another attempt gets your words" in text
    assert "<strong>Go on without this step</strong> “Draft the notices” goes on without it. The result will" in text
    assert "Give missing files</label>" in text


def test_a_critique_that_the_gate_tells_already_is_not_repeated(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    for verdict in Verdict.objects.filter(attempt__step__key="review"):
        asked = RequestResult(number=1, text="Delete F8.", status="not_met", feedback="F8 is still there.")
        failed = [f"- {one.label} ({one.text}): {one.feedback}" for one in verdict.results if not one.met]
        verdict.feedback = "\n".join([*failed, "- R1 (“Delete F8.”): F8 is still there."])
        verdict.requests = [asked]
        verdict.save()
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert re.findall(r"<strong>(Attempts? [^<]+)</strong>", page) == []


def test_why_a_criterion_was_not_judged_is_its_true_cause(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    verdict = Verdict.objects.get(attempt=gate_of(run).attempt_id)
    nobody = {"decided_by": "nobody", "passed": False, "supported": False}
    results = [one.model_copy(update=nobody) if one.decided_by != "check" else one for one in verdict.results]
    Verdict.objects.filter(pk=verdict.pk).update(results=results)
    assert "2 criteria, because a request was not met" in alice_client.get(f"/runs/{run.pk}/").text


def test_before_a_step_starts_the_page_says_what_is_about_to_happen(alice_client: Client) -> None:
    run = factories.start_gate()
    page = alice_client.get(f"/runs/{run.pk}/").text
    gate = undescribed(page.split('<article class="gate"')[1].split("</article>")[0])
    said = [
        "Start “Review the clauses”?</h2>",
        "<li>high-risk step</li><li>step 2 of 3</li><li>$",
        "Find vague terms, missing dates, amounts and parties, and placeholders.",
        "<strong>Uses search_files</strong> Find placeholders.",
        "<strong>May read</strong> all of your files · based on List the contracts and their parties",
        f"<strong>Writes</strong> <code>{factories.REVIEW}</code>",
        "Each finding quotes the clause it is about.",
        'value="approve">Start</button>',
        'value="reject" data-needs-words>Request changes</button>',
    ]
    assert [words for words in said if words not in gate] == []
    assert "Start “Review the clauses”?" in alice_client.get("/").text


def test_a_question_without_a_result_has_no_folds_to_fetch(alice_client: Client) -> None:
    for run in (factories.awaiting_plan(), factories.start_gate()):
        assert alice_client.get(f"{address(gate_of(run))}how/").status_code == 404


@pytest.mark.parametrize("part", ["criteria", "changes", "how"])
def test_a_fold_is_fetched_while_its_question_is_open(client: Client, alice_client: Client, part: str) -> None:
    run = factories.step_gate()
    place = f"{address(gate_of(run))}{part}/"
    assert alice_client.get(place).status_code == 200
    client.force_login(factories.charlie())
    assert client.get(place).status_code == 404
    assert alice_client.get(f"{address(gate_of(run))}nothing/").status_code == 404
    gate = gate_of(run)
    factories.decide(run, GateKind.STEP, Verb.APPROVE)
    assert alice_client.get(f"{address(gate)}{part}/").status_code == 404


def test_gate_history_report_and_json_show_one_fingerprint(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    shown = gate_of(run).digest[:12]
    digest = gate_of(run).digest
    alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert f"fingerprint {shown}." in alice_client.get(f"/runs/{run.pk}/history/?level=all").text
    assert digest in alice_client.get(f"/runs/{run.pk}/report/").text
    report = json.loads(alice_client.get(f"/runs/{run.pk}/report.json").getvalue())
    assert [plan["fingerprint"] for plan in report["plans"]] == [digest]


def test_an_error_before_there_is_a_plan_offers_try_again_and_stop_only(alice_client: Client) -> None:
    run = factories.error_gate()
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert buttons(page) == {"approve": False}
    assert ("no plan yet" in page, 'name="reason"' in page.split('<article class="gate"')[1]) == (False, False)
    assert alice_client.post(address(gate_of(run)), form(gate_of(run), "give_up")).status_code == 422
    alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert run.work.get().status == "ready"


def test_a_refused_key_is_named_with_who_mends_it_and_trying_again_is_no_default(alice_client: Client) -> None:
    run = factories.error_gate()
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert "The service refused the key</h2>" in page
    assert "<strong>What helps</strong> An administrator sets the right key in the environment of the server" in page
    assert "once the cause is gone." in page
    assert '<button class="button" name="verb" value="approve">Plan again</button>' in undescribed(page)
    told, fold = page.partition("<article")[2].split("<summary>The whole message</summary>")
    assert ("ANTHROPIC_API_KEY" in told, "Check ANTHROPIC_API_KEY." in fold) == (False, True)
    address = f"/runs/{run.pk}/#gate-{gate_of(run).pk}-title"
    assert f'href="{address}">The service refused the key. It waits for an administrator.</a>' in page
    Gate.objects.filter(pk=gate_of(run).pk).update(cause="overloaded_error")
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert ("There is no usable plan</h2>" in page, "What helps" in page) == (True, False)
    assert '<button class="button" name="verb" value="approve">Plan again</button>' in undescribed(page)


@pytest.mark.slow
def test_an_error_says_its_cause_first_then_what_was_tried_and_what_each_button_does(alice_client: Client) -> None:
    run = factories.step_error()
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert buttons(page) == {"approve": False, "reject": False}
    told = [
        "The service refuses this request (403)",
        "The executor (claude-sonnet-5-5) was asked 8 times, each time without an answer.",
        "Attempt 1 goes on from where it stopped.",
        "The planner gets your words and this error. It writes version 2 for approval.",
        "Stop the run</strong> in the menu",
    ]
    places = [page.find(sentence) for sentence in told]
    assert places == sorted(places)
    assert -1 not in places


def test_a_long_message_of_an_error_is_begun_and_stands_whole_in_a_fold(alice_client: Client) -> None:
    run = factories.step_error()
    long = "No plan was usable. " + "This step writes nowhere. " * 70
    Gate.objects.filter(pk=gate_of(run).pk).update(question=long.strip())
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert page.count(long.strip()) == 1
    assert page.index("The whole message") > page.index("Stop the run</strong>")
    Gate.objects.filter(pk=gate_of(run).pk).update(question="Short.")
    assert "The whole message" not in alice_client.get(f"/runs/{run.pk}/").text


def test_changes_requested_at_an_error_go_to_the_planner(alice_client: Client) -> None:
    run = factories.step_error()
    address_ = address(gate_of(run))
    alice_client.post(address_, form(gate_of(run), "reject", "Leave the service agreement out."))
    run.refresh_from_db()
    assert run.status == "planning"
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert "requested changes to the plan instead of trying “Review" in page
    report = json.loads(alice_client.get(f"/runs/{run.pk}/report.json").getvalue())
    [request] = report["requests"]
    assert (request["words"], request["about"]) == (
        "Leave the service agreement out.",
        "version 1 of the plan after an error in “Review the clauses”",
    )


def buttons(page: str) -> dict[str, bool]:
    """By what a button of a gate does, whether it cannot be used; the reason is there if so, without any script."""
    found = {}
    for verb, rest in re.findall(r'<button [^>]*name="verb" value="(approve|reject)"([^>]*)>', page):
        why = re.search(r' disabled aria-describedby="([^"]+)"', rest)
        assert not why or f'id="{why[1]}">' in page
        found[verb] = bool(why)
    return found


def test_without_revisions_left_changes_cannot_be_requested_and_it_is_said(alice_client: Client) -> None:
    run = factories.awaiting_plan(revisions=0)
    for place in ("", "plan/"):
        page = alice_client.get(f"/runs/{run.pk}/{place}").text
        assert buttons(page) == {"approve": False, "reject": True}
        assert "Its policy allows no revision. Approve this one, or stop the run" in page
    refused = alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "Shorter."))
    assert (refused.status_code, "Its policy allows no revision." in refused.text) == (409, True)


def test_what_only_needs_no_decision_cannot_be_edited_or_kept(alice_client: Client) -> None:
    run = factories.executing()
    page = alice_client.get(f"/runs/{run.pk}/plan/").text
    assert '<p class="hint" id="why-not-edit">A plan can be edited while it needs a decision; this one' in page
    stopped = factories.awaiting_plan()
    alice_client.post(f"/runs/{stopped.pk}/stop/")
    page = alice_client.get(f"/runs/{stopped.pk}/").text
    assert '<p class="hint" id="why-not-kept">No plan of this run was approved, so there is none to save.' in page
    assert "Save the plan as a template</button>" in page


@pytest.mark.slow
def test_it_takes_a_second_person_to_approve(client: Client) -> None:
    run = factories.awaiting_plan(second_person=True)
    client.force_login(factories.alice())
    for place in ("", "plan/"):
        assert buttons(client.get(f"/runs/{run.pk}/{place}").text) == {"approve": True, "reject": False}
    refused = client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert refused.status_code == 403
    assert "A second person has to approve this: you submitted the task." in refused.text
    why = "alice submitted the task, edited its plan or gave files for it, and may only choose “Request changes” or"
    page = " ".join(refused.text.split())
    assert (why in page, "No one else with whom the run is shared may approve" in page) == (True, False)
    run.shares.all().delete()
    page = " ".join(client.get(f"/runs/{run.pk}/").text.split())
    assert "No one else with whom the run is shared may approve:</strong> share it with someone for decisions" in page
    factories.share(run, factories.bob())
    assert gate_of(run).status == GateStatus.OPEN
    client.force_login(factories.bob())
    assert buttons(client.get(f"/runs/{run.pk}/").text) == {"approve": False, "reject": False}
    assert client.post(address(gate_of(run)), form(gate_of(run), "approve")).status_code == 302
    run.refresh_from_db()
    assert run.status == "executing"


def test_what_nobody_judged_is_not_said_to_be_unmet(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    verdict = Verdict.objects.get(attempt=gate_of(run).attempt_id)
    first = next(one for one in verdict.results if not one.met).model_copy(update={"decided_by": "check"})
    nobody = {"decided_by": "nobody", "passed": False, "supported": False}
    results = [first, *(one.model_copy(update=nobody) for one in verdict.results if one.label != first.label)]
    Verdict.objects.filter(pk=verdict.pk).update(results=results)
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert re.findall(r"<strong>Not met</strong> (.*?) <", page) == [first.text]
    assert f"<strong>Not judged</strong> {len(results) - 1} criteria, because a check had failed before" in page


def test_a_long_step_of_a_plan_gate_goes_on_with_a_click(alice_client: Client) -> None:
    first = "Write the list, with one row for each of the documents in the folder, and <b>say</b> who signed it."
    rest = "Name the files that cannot be read."
    steps = [factories.plan_step("a", "List", description=f"{first} {rest * 3}"), factories.plan_step("b", "Sum")]
    page = alice_client.get(f"/runs/{factories.awaiting_plan(factories.plan(*steps)).pk}/").text
    said = re.findall(r'<div class="gate-step-what">\s*(.*?)\s*</div>', page, re.DOTALL)
    shown, short = f'{escape(first)}<span class="opening-more"> …</span>', "Sum, for every file in the folder."
    assert said == [f'<details class="opening"><summary>{shown}</summary>{rest * 3}</details>', short]
    assert "<strong>Every step</strong> reads all your files</li>" in page
    assert "<strong>Not compared with your files:</strong> all results, so nothing checks" in page
    assert ("<strong>Writes:</strong>" in page, "<strong>Sends:</strong> nothing" in page) == (True, True)


def lines_of(client: Client, run: Run) -> list[str]:
    """What the lines of its gate say, without markup, each after its mark."""
    page = " ".join(client.get(f"/runs/{run.pk}/").text.split())
    lines = page[page.index('<ul class="gate-lines">') :].split("</ul>")[0]
    found = re.findall(r'<li data-mark="(.*?)">(.*?)</li>', lines)
    return [f"{mark} {unescape(re.sub('<.*?>', '', line))}" for mark, line in found]


def test_what_a_new_plan_takes_away_is_a_line_of_its_gate(alice_client: Client) -> None:
    run = factories.awaiting_second_plan()
    assert (
        "change Since version 1: 1 step removed: Draft the notices · 1 changed: Review the clauses (description) · "
        "1 added: List the deadlines · the goal above was not changed · alice requested changes to version 1"
    ) in lines_of(alice_client, run)
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert re.findall("<span data-less>(.*?)</span>", page) == ["1 step removed: Draft the notices"]


@pytest.mark.slow
def test_a_plan_without_a_hand_edit_says_so_first_and_approving_is_no_default(alice_client: Client) -> None:
    run, rank = factories.awaiting_plan(sources_needed=False), "Rank every finding by severity."
    planned = contract_of(run.plans.get())
    steps = [step.model_copy(update={"description": f"{step.description} {rank}"}) for step in planned.steps[:1]]
    edited = planned.model_copy(update={"steps": [*steps, *planned.steps[1:]]})
    plan_edits.edit(gate_of(run).pk, factories.alice(), gate_of(run).digest, edited)
    assert f"(description + “{rank}”) · alice edited version 1." in lines_of(alice_client, run)[0]
    approve = '<button class="button primary" name="verb" value="approve"'
    assert approve in alice_client.get(f"/runs/{run.pk}/").text
    factories.decide(run, GateKind.PLAN, Verb.REJECT, "Shorter.")
    factories.propose(run, planned, "alice requested changes to version 2")
    said = f"alice’s edit in version 2 is not in this plan: “{rank}”"
    assert lines_of(alice_client, run)[0] == f"bad {said}"
    assert f"! {said}" in about(gate_of(run))
    for place in ("", "plan/"):
        page = alice_client.get(f"/runs/{run.pk}/{place}").text
        assert approve not in page
        assert said in re.sub("<.*?>", "", page)


def test_a_request_that_nobody_answered_is_not_called_unmet_and_has_its_name(client: Client) -> None:
    run = factories.awaiting_second_plan()
    factories.share(run, factories.bob())
    client.force_login(factories.bob())
    assert lines_of(client, run)[0] == (
        "warn alice asked “Check the deadlines too, and leave the notices to me.” not judged: see the changes"
    )


def test_what_a_person_has_written_into_the_plan_after_asking_is_not_called_undone(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    factories.decide(run, GateKind.PLAN, Verb.REJECT, "Rank the findings.")
    refused = RequestAnswer(request=1, criterion=1, how=f"{NOT_DONE}: No rule reads it.")
    planned = factories.plan().model_copy(update={"answers": [refused]})
    factories.propose(run, planned, "alice requested changes to version 1")
    assert lines_of(alice_client, run)[0] == "bad alice asked “Rank the findings.” not done: No rule reads it"
    ranked = planned.steps[0].model_copy(update={"description": "Rank them."})
    edited = planned.model_copy(update={"steps": [ranked, *planned.steps[1:]]})
    plan_edits.edit(gate_of(run).pk, factories.alice(), gate_of(run).digest, edited)
    assert [line for line in lines_of(alice_client, run) if "alice asked" in line] == [
        "calm alice asked “Rank the findings.” alice edited the plan since (version 3)"
    ]
    factories.decide(run, GateKind.PLAN, Verb.REJECT, "Rank them by severity.")
    factories.propose(run, planned, "alice requested changes to version 3")
    assert "1 not done" in "".join(line for line in lines_of(alice_client, run) if "Asked earlier" in line)


@pytest.mark.slow
def test_at_the_last_attempt_it_is_said_that_a_request_leads_to_another(alice_client: Client) -> None:
    """As the lifecycle has it: what a person sends back is no failure, and another attempt starts."""
    page = alice_client.get(f"/runs/{factories.step_gate(attempts=2).pk}/").text
    assert "“Request changes” starts attempt 3: only failed attempts are limited, to 2." in page
    assert "<li>attempt 2 of 2</li>" in page
    run = factories.step_gate(attempts=3)
    assert "starts attempt" not in alice_client.get(f"/runs/{run.pk}/").text
    alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "Name the clause."))
    factories.pass_review(run)
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert "“Request changes” starts attempt 4: " in page
    assert "<li>attempt 3</li>" in page


def test_where_a_first_plan_comes_from_is_said_unless_it_was_written_for_this_request(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    planned = lines_of(alice_client, run)
    run.plans.update(reason="Version 2 of run 7, once more.")
    assert lines_of(alice_client, run) == ["calm Version 2 of run 7, once more.", *planned]


@pytest.mark.parametrize(
    ("policy", "follows", "mark"),
    [
        ({}, "You are asked before its result is kept.", "calm"),
        (
            {"step_moment": StepMoment.BEFORE},
            "You are asked before it starts. Its result is kept without another question.",
            "calm",
        ),
        (
            {"step_approval": StepApproval.NONE},
            "The policy asks no one before it starts. Its result is kept without another question.",
            "warn",
        ),
    ],
)
def test_what_follows_from_a_high_risk_step_is_said_and_only_one_without_a_gate_is_a_warning(
    alice_client: Client, policy: dict[str, Any], follows: str, mark: str
) -> None:
    run = factories.awaiting_plan(sources_needed=False, **policy)
    rated = "a mistake costs most here."
    assert f"{mark} High-risk step “Review the clauses”: {rated} {follows}" in lines_of(alice_client, run)
    filled = '<button class="button primary" name="verb" value="approve"' in alice_client.get(f"/runs/{run.pk}/").text
    assert filled == (mark == "calm")


def test_the_start_of_a_high_risk_step_is_a_warning_and_not_the_default(alice_client: Client) -> None:
    run = factories.start_gate(sources_needed=False)
    rated = "a mistake costs most here."
    said = f"warn High-risk step {rated} Its result is kept without another question."
    assert said in lines_of(alice_client, run)
    assert '<button class="button primary" name="verb"' not in alice_client.get(f"/runs/{run.pk}/").text


def test_a_plan_after_a_failure_says_why_in_a_line_of_its_own(alice_client: Client) -> None:
    said = "“Step 3” cannot go on as planned, so it is planned again. Critique of attempt 1: Not possible."
    assert f"warn Why another plan: {said}" in lines_of(alice_client, factories.keeping(2))
    lines = lines_of(alice_client, factories.awaiting_second_plan())
    assert [line for line in lines if "Why another plan" in line] == []


def test_all_files_that_a_plan_writes_are_named_by_folder_in_the_order_of_its_steps(alice_client: Client) -> None:
    paths = ["notes/10.md", "notes/9.md", "letter.md"]
    steps = [factories.plan_step(f"s{n}", f"Step {n}", expected_outputs=[path]) for n, path in enumerate(paths)]
    page = " ".join(alice_client.get(f"/runs/{factories.awaiting_plan(factories.plan(*steps)).pk}/").text.split())
    line = page[page.index("<strong>Writes:</strong>") :].partition("</li>")[0]
    assert re.sub("<.*?>", "", line).strip() == "Writes: notes/10.md, 9.md; letter.md"
