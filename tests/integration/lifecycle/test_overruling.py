"""Overruling a verdict: both judgements stay, nothing that ran changes, and what is accepted is not called verified."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.test import Client, override_settings

from runs.enums import AuditKind, EventKind, GateKind, Missing, Outcome, ShareLevel, Verb
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.lifecycle.criteria_ledger import ledger_of
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.overruling import MAX_REASON, overrule
from runs.models import Attempt, AuditEntry, Overruling, Run, Step, User
from runs.pev.outcome import gaps_in, outcome_of, said_by_people
from runs.readmodel.run_view import RunReading, reading_of
from runs.reports.formats import FORMATS
from runs.reports.json_report import report_of
from runs.reports.outline import Part
from runs.reports.report_format import ReportInput
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]
REASON = "I have read the contract."


def failed_attempt(run: Run) -> Attempt:
    found = Attempt.objects.of_run(run).filter(verdict__passed=False).order_by("-pk").first()
    assert found is not None
    return found


def passed_attempt(run: Run) -> Attempt:
    found = Attempt.objects.of_run(run).filter(verdict__passed=True).order_by("pk").first()
    assert found is not None
    return found


def unmet(attempt: Attempt) -> list[str]:
    return [one.label for one in attempt.verdict.results if not one.met]


def say(attempt: Attempt, user: User, label: str, *, met: bool, reason: str = REASON) -> Overruling:
    """Overrule on a page that shows everything that was said until now."""
    newest = attempt.overrulings.last()
    return overrule(attempt.pk, user, label, met=met, reason=reason, seen=newest.pk if newest else 0)


def accept_all(run: Run, attempt: Attempt) -> None:
    for label in unmet(attempt):
        say(attempt, run.owner, label, met=True)


def accept_at_gate(run: Run, **changes: Any) -> Run:
    """Answer the gate of a step that did not pass, with the unmet criteria ticked as met."""
    gate = made.open_gate(run, GateKind.EXHAUSTED)
    assert gate.attempt is not None
    met = frozenset(unmet(gate.attempt))
    told: dict[str, Any] = {"verb": Verb.APPROVE, "met": met, "why_met": "It is on page 2."}
    decide(gate.pk, run.owner, Decision(digest=gate.digest, **(told | changes)))
    return Run.objects.get(pk=run.pk)


def fresh(run: Run) -> RunReading:
    return reading_of(Run.objects.get(pk=run.pk))


# ---- on the page of a step -------------------------------------------------------------------------------------------


def test_both_judgements_stay_and_nothing_else_changes() -> None:
    run = accept_at_gate(made.exhausted_gate(), met=frozenset())
    made.pass_notices(run)
    made.final_answer(run)
    attempt = failed_attempt(run)

    def state() -> list[object]:
        now, at = Run.objects.get(pk=run.pk), Attempt.objects.get(pk=attempt.pk)
        return [now.outcome, now.final, now.head_id, at.verdict.results, at.verdict.passed, at.status, at.step.status]

    before = state()
    accept_all(run, attempt)
    assert state() == before
    reading = fresh(run)
    assert next(step.by_people for step in reading.plan.steps if step.row.pk == attempt.step_id) == "accepted by alice"  # type: ignore[union-attr]
    assert reading.falls_short == "accepted by alice, not verified."
    assert "PARTIAL: accepted by alice, not verified." in reading.answer


def test_it_is_an_event_and_a_line_of_the_audit_trail() -> None:
    run = made.finished_partial()
    attempt = failed_attempt(run)
    label = unmet(attempt)[0]
    say(attempt, run.owner, label, met=True)
    event = run.events.get(kind=EventKind.VERDICT_OVERRULED)
    assert (event.data["criterion"], event.data["met"], event.data["was"]) == (label, True, False)
    line = AuditEntry.objects.get(kind=AuditKind.OVERRULED)
    assert (line.by, line.run_number) == ("alice", run.pk)
    assert (line.details["before"], line.details["after"]) == ("not met", "met")
    assert "contract" not in str(line.details)


def test_the_verdict_can_hold_again() -> None:
    run = made.finished_succeeded()
    attempt = passed_attempt(run)
    label = attempt.verdict.results[0].label
    say(attempt, run.owner, label, met=False, reason="The date is wrong.")
    assert [row.label for row in Overruling.objects.rejections()] == [label]
    with pytest.raises(DecisionRefused, match="is not met already"):
        say(attempt, run.owner, label, met=False, reason="Again.")
    say(attempt, run.owner, label, met=True, reason="I was wrong.")
    assert [(row.was, row.met) for row in attempt.overrulings.all()] == [(True, False), (True, True)]
    assert not Overruling.objects.in_force().exists()
    assert fresh(run).by_people == [], "it is verified, and no one accepts it in place of that"


def test_what_a_person_rejects_after_the_end_is_said_next_to_the_outcome() -> None:
    run = made.finished_succeeded()
    attempt = passed_attempt(run)
    text = attempt.verdict.results[0].text
    say(attempt, run.owner, attempt.verdict.results[0].label, met=False, reason="The date is wrong.")
    reading = fresh(run)
    assert (reading.run.outcome, reading.gaps) == (Outcome.SUCCEEDED, [])
    assert reading.by_people == [
        "1 criterion of 1 step was rejected by alice, against the verdict.",
        f"Step “{attempt.step.spec.name}”: alice rejects “{text.rstrip('.')}”, which its verdict found met: “The "
        "date is wrong”.",
    ]
    assert all(sentence in reading.answer for sentence in reading.by_people)
    assert text in str(report_of(reading).steps[0].attempts[0].verdict)


def test_what_a_person_rejects_before_the_end_is_an_open_point_and_is_not_kept_by_another_plan() -> None:
    run = made.executing(attempts=1, replans=1)
    made.pass_inventory(run)
    attempt = passed_attempt(run)
    say(attempt, run.owner, attempt.verdict.results[0].label, met=False, reason="A file is missing.")
    book = ledger_of(run, run.plans.newest())
    points = [point for point in gaps_in(book) if point.kind is Missing.REJECTED]
    assert [point.sentence for point in points] == [
        f"Step “{attempt.step.spec.name}”: alice rejects “{attempt.verdict.results[0].text.rstrip('.')}”, which its "
        "verdict found met: “A file is missing”."
    ]
    assert outcome_of(book) is not Outcome.SUCCEEDED
    made.fail_review(run)  # the only attempt
    made.propose(run, made.plan(made.inventory_step(), made.review_step()))
    again = Step.objects.get(plan=run.plans.newest(), key="inventory")
    assert again.reused_from is None


def test_who_may_only_look_or_not_even_that_overrules_nothing(charlie: User) -> None:
    run = made.finished_partial()
    attempt = failed_attempt(run)
    vera = made.person("vera")
    made.share(run, vera, level=ShareLevel.LOOK)
    for person in (vera, charlie):
        with pytest.raises(NotAllowed):
            say(attempt, person, unmet(attempt)[0], met=True)
    assert not Overruling.objects.exists()


def test_a_second_person_accepts_where_one_is_required_and_anyone_rejects(bob: User) -> None:
    run = made.finished_partial()
    run.policy = run.policy.changed(second_person=True)
    run.save(update_fields=["policy"])
    made.share(run, bob)
    failed, passed = failed_attempt(run), passed_attempt(run)
    open_label, met_label = unmet(failed)[0], passed.verdict.results[0].label
    with pytest.raises(NotAllowed, match="A second person has to accept this: you submitted the task"):
        say(failed, run.owner, open_label, met=True)
    say(failed, bob, open_label, met=True)
    say(passed, run.owner, met_label, met=False)
    say(passed, run.owner, met_label, met=True, reason="I was wrong.")  # one's own word
    say(passed, bob, met_label, met=False)
    with pytest.raises(NotAllowed):
        say(passed, run.owner, met_label, met=True)
    with override_settings(SECOND_PERSON="high_risk"):
        run.policy = run.policy.changed(second_person=False)
        run.save(update_fields=["policy"])
        Step.objects.filter(pk=failed.step_id).update(complexity="high")
        say(failed, run.owner, open_label, met=False)
        with pytest.raises(NotAllowed):
            say(failed, run.owner, open_label, met=True)


@pytest.mark.parametrize(
    ("label", "reason"), [("", "Yes."), ("C99", "Yes."), ("own", " \n"), ("own", "x" * (MAX_REASON + 1))]
)
def test_what_is_missing_is_refused(label: str, reason: str) -> None:
    run = made.finished_partial()
    attempt = failed_attempt(run)
    with pytest.raises((InvalidInput, DecisionRefused)):
        say(attempt, run.owner, unmet(attempt)[0] if label == "own" else label, met=True, reason=reason)
    assert not Overruling.objects.exists()


def test_the_page_shows_both_keeps_what_was_refused_and_takes_no_old_form(client: Client) -> None:
    run = made.finished_partial()
    attempt = failed_attempt(run)
    client.force_login(run.owner)
    page, address = f"/runs/{run.pk}/steps/{attempt.step_id}/", f"/runs/{run.pk}/attempts/{attempt.pk}/overrule/"
    assert "Overrule the verdict…" in client.get(page).text

    def send(**changes: Any) -> Any:
        label = unmet(attempt)[0]
        return client.post(
            address,
            {"criterion": label, "answer": "met", "reason": "I have <b>read</b> it.", "seen": "0"} | changes,
        )

    for changes, sentence in (
        ({"seen": "", "reason": "Kept words"}, "This form is not complete. Reload the page"),
        ({"answer": "perhaps", "reason": "Kept words"}, "Choose one of the buttons: it is met, or it is not met."),
        ({"criterion": "C99", "reason": "Kept words"}, "There is no such criterion in this verdict."),
    ):
        refused = send(**changes)
        assert (refused.status_code, sentence in refused.text) == (422 if "C99" not in str(changes) else 409, True)
        assert ">Kept words</textarea>" in refused.text
    assert send().status_code == 302
    assert send().status_code == 302, "the same form sent twice is one overruling"
    assert attempt.overrulings.count() == 1
    say(attempt, run.owner, unmet(attempt)[0], met=False, reason="On second thoughts, no.")
    old = send()
    assert (old.status_code, "since you opened this page" in old.text) == (409, True)
    say(attempt, run.owner, unmet(attempt)[0], met=True, reason="I have <b>read</b> it.")
    text = client.get(page).text
    assert "<strong>Accepted by alice</strong>, not verified" in text
    assert "I have &lt;b&gt;read&lt;/b&gt; it." in text
    assert "On second thoughts, no." in text
    other = made.executing()
    assert client.post(f"/runs/{other.pk}/attempts/{attempt.pk}/overrule/", {}).status_code == 404


# ---- at the gate of a step that did not pass -------------------------------------------------------------------------


def test_accepting_and_overruling_are_one_act_at_the_gate() -> None:
    run = made.exhausted_gate()
    attempt = failed_attempt(run)
    with pytest.raises(DecisionRefused, match="A decision about this result is open"):
        say(attempt, run.owner, unmet(attempt)[0], met=True)
    run = accept_at_gate(run)
    assert {(row.label, row.by.username, row.reason) for row in Overruling.objects.all()} == {
        (label, "alice", "It is on page 2.") for label in unmet(attempt)
    }
    step = next(entry for entry in ledger_of(run, run.plans.newest()).steps if entry.accepted_by)
    point = next(point for point in gaps_in(ledger_of(run, run.plans.newest())) if point.about == step.name)
    assert (point.accepted_by, point.unmet) == ("alice", ())
    assert point.sentence.startswith(f"Step “{step.name}” was accepted by alice, not verified, after 2 attempts.")
    assert point.sentence.endswith(": “It is on page 2”.")
    assert point.sentence.count("It is on page 2") == 1


def test_accepting_without_a_tick_leaves_the_criteria_unmet_and_names_who_did() -> None:
    run = accept_at_gate(made.exhausted_gate(), met=frozenset())
    book = ledger_of(run, run.plans.newest())
    assert said_by_people(book) == ["1 step was accepted with open points by alice."]
    point = next(point for point in gaps_in(book) if point.kind is Missing.STEP)
    assert (point.accepted_by, bool(point.unmet)) == ("", True)
    assert "was accepted with open points by alice after 2 attempts." in point.sentence


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"why_met": " "}, "Say why you overrule the verdict."),
        ({"met": frozenset({"C99"})}, "There is no such criterion in this verdict."),
        ({"verb": Verb.REJECT, "reason": "Again."}, "To choose “Try again”, take the ticks away."),
    ],
)
def test_a_tick_without_a_reason_for_nothing_or_with_another_answer_is_refused(
    changes: Mapping[str, Any], sentence: str
) -> None:
    run = made.exhausted_gate()
    with pytest.raises((InvalidInput, DecisionRefused), match=sentence):
        accept_at_gate(run, **changes)
    assert not Overruling.objects.exists()
    assert made.open_gate(run, GateKind.EXHAUSTED)


def test_nothing_is_ticked_at_a_gate_of_another_kind() -> None:
    run = made.step_gate()
    gate = made.open_gate(run)
    with pytest.raises(DecisionRefused, match="only where a step did not pass"):
        decide(gate.pk, run.owner, Decision(Verb.APPROVE, gate.digest, met=frozenset({"C1"}), why_met="Yes."))


def test_the_gate_offers_it_and_keeps_the_ticks_of_an_answer_that_was_refused(client: Client) -> None:
    run = made.exhausted_gate()
    gate = made.open_gate(run)
    assert gate.attempt is not None
    client.force_login(run.owner)
    assert 'name="why_met"' in client.get(f"/runs/{run.pk}/").text
    assert "overrule the verdict" in client.get(f"/runs/{run.pk}/steps/{gate.step_id}/").text
    sent = {"verb": "approve", "digest": gate.digest, "met": unmet(gate.attempt), "why_met": ""}
    refused = client.post(f"/runs/{run.pk}/gates/{gate.pk}/", sent)
    assert (refused.status_code, "Say why you overrule the verdict." in refused.text) == (422, True)
    assert refused.text.count(" checked>") == len(unmet(gate.attempt))
    assert client.post(f"/runs/{run.pk}/gates/{gate.pk}/", sent | {"why_met": "Page 2."}).status_code == 302
    assert Overruling.objects.count() == len(unmet(gate.attempt))


def test_gates_of_later_steps_say_what_they_rest_on(client: Client) -> None:
    run = made.step_gate()
    attempt = passed_attempt(run)
    say(attempt, run.owner, attempt.verdict.results[0].label, met=False)
    client.force_login(run.owner)
    page = client.get(f"/runs/{run.pk}/")
    assert f"“{attempt.step.spec.name}”</a>, rejected by alice" in page.text


# ---- wherever the verdict or the outcome is shown --------------------------------------------------------------------


def accepted_in_the_end() -> Run:
    run = made.finished_partial()
    accept_all(run, failed_attempt(run))
    return run


def rejected_in_the_end() -> Run:
    run = made.finished_succeeded()
    attempt = passed_attempt(run)
    say(attempt, run.owner, attempt.verdict.results[0].label, met=False)
    return run


@pytest.mark.parametrize(
    ("scene", "words"), [(accepted_in_the_end, "ccepted by alice"), (rejected_in_the_end, "ejected by alice")]
)
def test_every_page_and_every_report_says_who_and_why(scene: Callable[[], Run], words: str, client: Client) -> None:
    run = scene()
    client.force_login(run.owner)
    step = Overruling.objects.latest("pk").attempt.step_id
    for address in ("", "?view=table", "steps/", f"steps/{step}/", "report/"):
        assert words in client.get(f"/runs/{run.pk}/{address}").text, address
    assert "gainst the verdict" in client.get(f"/runs/{run.pk}/").text
    vera = made.person("vera")
    made.share(run, vera, level=ShareLevel.LOOK)
    client.force_login(vera)
    page = client.get(f"/runs/{run.pk}/steps/{step}/").text
    assert (words in page, "Overrule the verdict…" in page) == (True, False)
    reading = fresh(run)
    for name in ("markdown", "html"):
        text = FORMATS[name].write(ReportInput(reading, Part.ALL)).decode()
        assert words in text, name
        assert REASON in text, name
        assert "**alice** says that" in text or "alice</strong> says that" in text, name
    found = json.loads(report_of(reading).model_dump_json())
    assert found["judged_by_people"] == reading.by_people
    results = [
        one["overruled"]
        for plan in found["plans"]
        for step in plan["steps"]
        for attempt in step["attempts"]
        if attempt["verdict"]
        for one in attempt["verdict"]["results"]
        if one["overruled"]
    ]
    assert {(one["by"], one["reason"]) for one in results} == {("alice", REASON)}
