"""Answering gates over HTTP: once, bound to what was shown, with a clear sentence for what cannot be done."""

import json
import re

import pytest
from django.test import Client

from runs.enums import GateKind, GateStatus, Outcome, PlanStatus, RunStatus, StepStatus, Verb
from runs.lifecycle.gates import current_digest
from runs.models import Gate, Run, Verdict
from tests import factories

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def form(gate: Gate, verb: str, reason: str = "") -> dict[str, str]:
    return {"verb": verb, "digest": gate.digest, "reason": reason}


def address(gate: Gate) -> str:
    return f"/runs/{gate.run_id}/gates/{gate.pk}/"


def gate_of(run: Run) -> Gate:
    return run.gates.get(status=GateStatus.OPEN)


def test_approving_redirects_back_and_starts_the_run(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/runs/{run.pk}/#run-gates")
    run.refresh_from_db()
    assert run.status == RunStatus.EXECUTING


def test_with_htmx_the_regions_come_back(alice_client: Client) -> None:
    gate = gate_of(factories.awaiting_plan())
    answer = alice_client.post(address(gate), form(gate, "approve"), headers=HTMX)
    assert answer.status_code == 200
    assert 'id="run-gates" class="stack" hx-swap-oob="outerMorph"' in answer.content.decode()
    assert "<strong>alice</strong> approved version 1 of the plan" in answer.content.decode()


def test_a_rejection_takes_the_words_to_the_planner(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "Leave the notices to me."))
    run.refresh_from_db()
    assert run.status == RunStatus.PLANNING
    assert run.plans.get().status == PlanStatus.REJECTED
    assert run.gates.get().reason == "Leave the notices to me."


def test_a_rejection_without_words_is_refused(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "  "))
    assert answer.status_code == 422
    assert "Say what should be different" in answer.content.decode()
    assert gate_of(run).status == GateStatus.OPEN


@pytest.mark.parametrize("verb", ["", "yes", "APPROVE"])
def test_an_unknown_verb_keeps_the_words(alice_client: Client, verb: str) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), verb, "My words."))
    assert answer.status_code == 422
    assert "My words.</textarea>" in answer.content.decode()
    assert gate_of(run).status == GateStatus.OPEN


def test_words_without_end_are_refused(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "x" * 20_001))
    assert answer.status_code == 422
    assert "20,000 fit" in answer.content.decode()


def test_a_stale_page_is_refused_with_the_words_kept(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(
        address(gate_of(run)), form(gate_of(run), "approve", "Looks good.") | {"digest": "0" * 64}
    )
    assert answer.status_code == 409
    assert "has changed since this page was loaded" in answer.content.decode()
    assert "Looks good." in answer.content.decode()
    assert gate_of(run).status == GateStatus.OPEN


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_whoever_comes_second_learns_who_decided_and_keeps_the_words(
    alice_client: Client, headers: dict[str, str]
) -> None:
    run = factories.awaiting_plan()
    gate = factories.decide(run, GateKind.PLAN, Verb.APPROVE, by=factories.bob())
    answer = alice_client.post(address(gate), form(gate, "reject", "Not like this."), headers=headers)
    assert answer.status_code == 409
    assert "Already decided: bob approved it at" in answer.content.decode()
    assert "Not like this." in answer.content.decode()
    gate.refresh_from_db()
    assert (gate.status, gate.reason) == (GateStatus.APPROVED, "")


def test_a_double_click_is_harmless(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    gate = gate_of(run)
    first, second = (alice_client.post(address(gate), form(gate, "approve")) for _ in range(2))
    assert (first.status_code, second.status_code) == (302, 302)
    assert run.gates.count() == 1
    assert run.events.filter(kind="gate_decided").count() == 1


def test_stop_at_a_gate(alice_client: Client) -> None:
    run = factories.step_gate()
    alice_client.post(address(gate_of(run)), form(gate_of(run), "stop"))
    run.refresh_from_db()
    assert run.outcome == Outcome.CANCELLED


def test_a_step_is_approved_by_the_approver(client: Client) -> None:
    run = factories.step_gate()
    client.force_login(factories.bob())
    client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert run.plans.get().steps.get(key="review").status == StepStatus.PASSED


def test_a_rejected_step_is_tried_again_with_the_words(alice_client: Client) -> None:
    run = factories.step_gate()
    alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "Quote the annex too."))
    assert "Quote the annex too." in alice_client.get(f"/runs/{run.pk}/").text
    page = alice_client.get(f"/runs/{run.pk}/steps/").text
    assert "was given the critique of attempt 2" in page


def test_an_exhausted_step_shows_first_what_was_not_met(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    text = " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    criterion = run.plans.get().steps.get(key="review").spec.acceptance_criteria[0].text
    unmet = f'<strong>Not met</strong> {criterion} <span class="faint">Unsupported: no quote of the verifier'
    lines = text[text.index('<ul class="gate-lines">') :]
    assert lines.startswith(f'<ul class="gate-lines"> <li data-mark="bad">{unmet}')
    assert "<strong>Attempt 1</strong>" in lines


REPORT = "Three points need attention in two documents.\n\n" + "\n".join(
    f"- F{number}: clause {number} names no date" for number in (1, 2, 3)
)


def test_points_that_are_sent_back_become_requests_and_the_others_stay(alice_client: Client) -> None:
    run = factories.reporting(REPORT)
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert [f'name="back" value="{number}"' in page for number in (1, 2, 3, 4)] == [True, True, True, False]
    gate = gate_of(run)
    sent = form(gate, "reject", "Be brief.") | {"back": ["2", "3"], "note-2": "Quote the clause."}
    assert alice_client.post(address(gate), sent).status_code == 302
    gate.refresh_from_db()
    assert [(one.request, one.words) for one in gate.comments] == [
        (1, "Be brief."),
        (2, "On point 2 “F2: clause 2 names no date”: Quote the clause."),
        (
            3,
            "On point 3 “F3: clause 3 names no date”: This is not right yet. Look at it again and change it.",
        ),
    ]
    page = alice_client.get(f"/runs/{run.pk}/steps/").text
    assert "Quote the clause." in page
    history = alice_client.get(f"/runs/{run.pk}/history/").text
    said = "Be brief. · Quote the clause. (on F2) · This is not right yet. Look at it again and change it. (on F3)"
    assert [said in text for text in (page, history, alice_client.get(f"/runs/{run.pk}/").text)] == [True, True, True]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verb": "approve", "back": ["2"]}, "1 point is ticked to be sent back."),
        ({"verb": "reject", "back": ["4"]}, "This result has no point 4."),
        ({"verb": "reject", "back": ["0", "-1", "x", "1e3", "²", "99999"]}, "Say what should be different"),
        ({"verb": "reject", "back": ["1", "2", "3"], **{f"note-{n}": "x" * 9_000 for n in (1, 2, 3)}}, ""),
    ],
)
def test_points_that_cannot_be_sent_back_are_said_and_kept(
    alice_client: Client, change: dict[str, object], says: str
) -> None:
    gate = gate_of(factories.reporting(REPORT))
    answer = alice_client.post(address(gate), form(gate, "reject") | change)
    gate.refresh_from_db()
    if says:
        assert (answer.status_code, gate.status) == (422, GateStatus.OPEN)
        assert says in answer.text
        assert ("checked" in answer.text) is (change["back"] == ["2"])
    else:
        assert [len(one.text) for one in gate.comments] == [2_000] * 3


ROWS = "| Clause | Risk |\n|---|---|\n| 4.2 <img src=x> | *high* |\n| 7.1 | low |\n"


def test_rows_of_tables_are_sent_back_with_their_cells(alice_client: Client) -> None:
    csv = "Party,Amount\n<script>alert(1)</script>,=1+1\nKestrel,3\n"
    run = factories.reporting(f"Two tables.\n\n{ROWS}\nThe end.", rows_csv=csv)
    page = alice_client.get(f"/runs/{run.pk}/").text
    fold = page.split(f'id="gate-{gate_of(run).pk}-points"')[1].split("</details>")[0]
    assert '<summary>Points <span class="count">4</span>' in fold
    assert [name in fold for name in ('<th scope="col">Clause</th>', "<em>high</em>", "Kestrel</td>")] == [True] * 3
    assert [f'name="back" value="{number}"' in fold for number in (1, 2, 3, 4, 5)] == [True] * 4 + [False]
    assert 'Send back<span class="visually-hidden"> row 1 of rows.csv</span>' in fold
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in fold
    assert ("<script" in fold, "<img" in fold) == (False, False)
    gate = gate_of(run)
    sent = form(gate, "reject") | {"back": ["1", "4"], "note-4": "Look at the annex."}
    assert alice_client.post(address(gate), sent).status_code == 302
    gate.refresh_from_db()
    assert [(one.request, one.words) for one in gate.comments] == [
        (
            1,
            "On row 1 of table 1 of the report “Clause: 4.2 <img src=x>; Risk: *high*”: "
            "This is not right yet. Look at it again and change it.",
        ),
        (2, "On row 2 of rows.csv “Party: Kestrel; Amount: 3”: Look at the annex."),
    ]


def test_thousands_of_rows_are_cut_and_that_is_said(alice_client: Client) -> None:
    run = factories.reporting("One table.", rows_csv="a,b\n" + "1,2\n" * 5_000)
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert page.count('name="back"') == 500
    assert "Further rows stand in the file: 500 can be sent back one by one." in page


def test_a_report_stands_on_the_page_once(alice_client: Client) -> None:
    run = factories.reporting(f"{REPORT}\n\n## Remarks\n\nThe annex is missing.")
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert [page.count(words) for words in ("Three points need", "F2: clause 2", "The annex is")] == [1, 1, 0]
    rest = alice_client.get(f"{address(gate_of(run))}report/").text
    assert [rest.count(words) for words in ("Three points need", "F2: clause 2", "The annex is")] == [0, 0, 1]


def test_before_a_step_starts_the_page_says_what_is_about_to_happen(alice_client: Client) -> None:
    run = factories.start_gate()
    page = alice_client.get(f"/runs/{run.pk}/").text
    gate = page.split('<article class="gate"')[1].split("</article>")[0]
    said = [
        "Start “Review the clauses”?</h2>",
        "<li>high-risk step</li><li>step 2 of 3</li><li>$",
        "Find vague terms, missing dates, amounts and parties, and placeholders.",
        "<strong>Uses search_files</strong> Find placeholders.",
        "<strong>May read</strong> all of your files · rests on List the contracts and their parties",
        f"<strong>Writes</strong> <code>{factories.REVIEW}</code>",
        "Each finding quotes the clause it is about.",
        'value="approve">Start</button>',
        'value="reject" data-needs-words>Request changes</button>',
    ]
    assert [words for words in said if words not in gate] == []
    assert "Start “Review the clauses”?" in alice_client.get("/").text


def test_the_owner_is_told_that_somebody_else_has_to_let_it_start(alice_client: Client) -> None:
    run = factories.start_gate()
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(second_person=True))
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert answer.status_code == 409, "the policy is part of what the answer is bound to"
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert (answer.status_code, "A second person has to approve this" in answer.text) == (403, True)


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("approve", "approved the start of “Review the clauses”"),
        ("reject", "asked for another plan instead of the start of “Review the clauses”"),
    ],
)
def test_the_page_names_who_decided_about_a_start(alice_client: Client, verb: str, said: str) -> None:
    run = factories.start_gate()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), verb, "Mind the annex."), headers=HTMX)
    assert (answer.status_code, f"<strong>alice</strong> {said}" in answer.text) == (200, True)
    history = alice_client.get(f"/runs/{run.pk}/history/?level=all").text
    assert f"{'approved' if verb == 'approve' else 'asked for another plan instead of'} the start of" in history


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


def test_who_is_signed_out_is_told_at_the_button(client: Client) -> None:
    gate = gate_of(factories.awaiting_plan())
    sent = client.post(address(gate), form(gate, "reject", "My words."), headers=HTMX)
    assert (sent.status_code, sent.text) == (401, "You are signed out.")
    assert client.post(address(gate), form(gate, "reject", "My words.")).status_code == 302


def test_gate_history_report_and_json_show_one_fingerprint(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    shown = gate_of(run).digest[:12]
    digest = gate_of(run).digest
    alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert f"fingerprint {shown}." in alice_client.get(f"/runs/{run.pk}/history/?level=all").text
    assert digest in alice_client.get(f"/runs/{run.pk}/report/").text
    report = json.loads(alice_client.get(f"/runs/{run.pk}/report.json").getvalue())
    assert [plan["fingerprint"] for plan in report["plans"]] == [digest]


def test_an_exhausted_step_is_accepted_with_issues(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert run.plans.get().steps.get(key="review").status == StepStatus.ACCEPTED


def test_an_error_before_there_is_a_plan_offers_try_again_and_stop_only(alice_client: Client) -> None:
    run = factories.error_gate()
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert "Plan again</button>" in page
    assert buttons(page) == {"approve": False, "reject": True}
    assert "There is no plan yet that could be changed." in page
    assert alice_client.post(address(gate_of(run)), form(gate_of(run), "give_up")).status_code == 422
    alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert run.work.get().status == "ready"


def test_a_gate_of_another_run_is_not_found(alice_client: Client) -> None:
    mine, other = factories.awaiting_plan(), factories.awaiting_plan()
    answer = alice_client.post(f"/runs/{mine.pk}/gates/{gate_of(other).pk}/", form(gate_of(other), "approve"))
    assert answer.status_code == 404
    assert gate_of(other).status == GateStatus.OPEN


def test_words_of_people_are_escaped(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    page = alice_client.post(
        address(gate_of(run)), form(gate_of(run), "?", "</textarea><script>x</script>")
    ).content.decode()
    assert "<script>x" not in page


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
    assert '<p class="hint" id="why-not-kept">No plan of this run was approved, so there is none to keep.' in page
    assert "Save the plan as a template</button>" in page


def test_it_takes_a_second_person_to_approve(client: Client) -> None:
    run = factories.awaiting_plan()
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(second_person=True))
    run.refresh_from_db()
    gate = gate_of(run)
    Gate.objects.filter(pk=gate.pk).update(digest=current_digest(gate_of(run)))
    client.force_login(factories.alice())
    for place in ("", "plan/"):
        assert buttons(client.get(f"/runs/{run.pk}/{place}").text) == {"approve": True, "reject": False}
    refused = client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert refused.status_code == 403
    assert "A second person has to approve this: you submitted the task." in refused.text
    assert "alice submitted the task and may only request changes" in refused.text
    assert gate_of(run).status == GateStatus.OPEN
    client.force_login(factories.bob())
    assert buttons(client.get(f"/runs/{run.pk}/").text) == {"approve": False, "reject": False}
    assert client.post(address(gate_of(run)), form(gate_of(run), "approve")).status_code == 302
    run.refresh_from_db()
    assert run.status == "executing"


def test_a_refused_decision_is_logged_with_what_it_is_about(
    alice_client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    gate = gate_of(factories.awaiting_plan())
    alice_client.post(address(gate), form(gate, "approve") | {"digest": "0" * 64})
    (line,) = [record for record in caplog.records if record.name == "runs.web.views.gates"]
    assert line.getMessage() == "refused: a decision, DecisionRefused"
    who = {"user": "alice", "address": "127.0.0.1"}
    assert vars(line)["about"] == {"run": gate.run_id, "gate": gate.pk, **who}


def test_what_nobody_judged_is_not_said_to_be_unmet(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    verdict = Verdict.objects.get(attempt=gate_of(run).attempt_id)
    first = next(one for one in verdict.results if not one.met)
    nobody = {"decided_by": "nobody", "passed": False, "supported": False}
    results = [first, *(one.model_copy(update=nobody) for one in verdict.results if one != first)]
    Verdict.objects.filter(pk=verdict.pk).update(results=results)
    page = alice_client.get(f"/runs/{run.pk}/").content.decode()
    assert re.findall(r"<strong>Not met</strong> (.*?) <", page) == [first.text]
    assert f"<strong>Not judged</strong> {len(results) - 1} criteria, because a check had failed before" in page
