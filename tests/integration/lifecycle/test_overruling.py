"""Overruling a verdict: both judgements stay, nothing that ran changes, and what is accepted is not called verified."""

from __future__ import annotations

import pytest
from django.test import Client

from runs.enums import AuditKind, EventKind, ShareLevel
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.lifecycle.overruling import MAX_REASON, accepted_by, overrule
from runs.models import Attempt, AuditEntry, Overruling, Run, User
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def failed_attempt(run: Run) -> Attempt:
    found = Attempt.objects.of_run(run).filter(verdict__passed=False).order_by("-pk").first()
    assert found is not None
    return found


def unmet(attempt: Attempt) -> list[str]:
    return [one.label for one in attempt.verdict.results if not one.met]


def names_of(attempt: Attempt) -> list[str]:
    return accepted_by(attempt.verdict.results, attempt.overrulings.select_related("by"))


def test_both_judgements_stay_and_nothing_else_changes() -> None:
    run = made.finished_partial()
    attempt = failed_attempt(run)

    def state() -> list[object]:
        now, at = Run.objects.get(pk=run.pk), Attempt.objects.get(pk=attempt.pk)
        return [now.outcome, now.final, now.head_id, at.verdict.results, at.verdict.passed, at.status, at.step.status]

    before = state()
    for label in unmet(attempt):
        overrule(attempt.pk, run.owner, label, met=True, reason="I have read the contract.")
    assert state() == before
    assert names_of(Attempt.objects.get(pk=attempt.pk)) == ["alice"]


def test_it_is_an_event_and_a_line_of_the_audit_trail() -> None:
    run = made.finished_partial()
    attempt = failed_attempt(run)
    label = unmet(attempt)[0]
    overrule(attempt.pk, run.owner, label, met=True, reason="I have read the contract.")
    event = run.events.get(kind=EventKind.VERDICT_OVERRULED)
    assert (event.data["criterion"], event.data["met"], event.data["was"]) == (label, True, False)
    line = AuditEntry.objects.get(kind=AuditKind.OVERRULED)
    assert (line.by, line.run_number) == ("alice", run.pk)
    assert (line.details["before"], line.details["after"]) == ("not met", "met")
    assert "contract" not in str(line.details)


def test_a_met_criterion_is_overruled_too_and_the_verdict_can_hold_again() -> None:
    run = made.finished_succeeded()
    attempt = Attempt.objects.of_run(run).filter(verdict__passed=True).first()
    assert attempt is not None
    label = attempt.verdict.results[0].label
    overrule(attempt.pk, run.owner, label, met=False, reason="The date is wrong.")
    assert names_of(attempt) == []
    with pytest.raises(DecisionRefused, match="is not met already"):
        overrule(attempt.pk, run.owner, label, met=False, reason="Again.")
    overrule(attempt.pk, run.owner, label, met=True, reason="I was wrong.")
    assert [(row.was, row.met) for row in attempt.overrulings.all()] == [(True, False), (True, True)]
    assert names_of(attempt) == [], "it is verified, and nobody accepts it in place of that"


def test_a_result_with_one_unmet_criterion_left_is_not_accepted() -> None:
    run = made.finished_succeeded()
    attempt = Attempt.objects.of_run(run).filter(verdict__passed=True).first()
    assert attempt is not None
    results = [one.model_copy(update={"passed": False}) for one in attempt.verdict.results]
    first = Overruling(attempt=attempt, label=results[0].label, was=False, met=True, by=run.owner, reason="Yes.")
    assert accepted_by(results, [first]) == ([] if len(results) > 1 else ["alice"])


def test_who_may_only_look_or_not_even_that_overrules_nothing(charlie: User) -> None:
    run = made.finished_partial()
    attempt = failed_attempt(run)
    vera = made.person("vera")
    made.share(run, vera, level=ShareLevel.LOOK)
    for person in (vera, charlie):
        with pytest.raises(NotAllowed):
            overrule(attempt.pk, person, unmet(attempt)[0], met=True, reason="Yes.")
    assert not Overruling.objects.exists()


@pytest.mark.parametrize(
    ("label", "reason"), [("", "Yes."), ("C99", "Yes."), ("own", " \n"), ("own", "x" * (MAX_REASON + 1))]
)
def test_what_is_missing_is_refused(label: str, reason: str) -> None:
    run = made.finished_partial()
    attempt = failed_attempt(run)
    with pytest.raises((InvalidInput, DecisionRefused)):
        overrule(attempt.pk, run.owner, unmet(attempt)[0] if label == "own" else label, met=True, reason=reason)
    assert not Overruling.objects.exists()


def test_the_page_of_a_step_shows_both_and_who_accepts(client: Client) -> None:
    run = made.finished_partial()
    attempt = failed_attempt(run)
    client.force_login(run.owner)
    page = f"/runs/{run.pk}/steps/{attempt.step_id}/"
    assert "Overrule the verdict…" in client.get(page).text
    for label in unmet(attempt):
        sent = {"criterion": label, "answer": "met", "reason": "I have <b>read</b> it."}
        assert client.post(f"/runs/{run.pk}/attempts/{attempt.pk}/overrule/", sent).status_code == 302
    text = client.get(page).text
    assert "Accepted by alice</strong>, not verified: a person overruled the verdict." in text
    assert "the verdict says not met" in text
    assert "I have &lt;b&gt;read&lt;/b&gt; it." in text
    other = made.executing()
    assert client.post(f"/runs/{other.pk}/attempts/{attempt.pk}/overrule/", sent).status_code == 404
