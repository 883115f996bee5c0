"""How long decisions took: one's own for oneself, sums for administrators, and nothing about a single other person."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone

from runs.accounting.decision_pace import DecisionPace, own_pace, pace_of_all
from runs.models import Gate, User
from runs.web.gates import page_opening
from tests import factories
from tests.integration.web.deciding import address, form, gate_of

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(days=365)


def decided(by: User, seconds: float | None, *, minutes: int = 10, days: int = 1) -> None:
    run = factories.awaiting_plan()
    at = timezone.now() - timedelta(days=days)
    Gate.objects.filter(run=run).update(
        status="approved",
        decided_by=by,
        decided_how="person",
        decided_at=at,
        opened_at=at - timedelta(minutes=minutes),
        seconds_on_page=seconds,
    )


def test_ones_own_are_counted_over_thirty_days() -> None:
    alice, bob = factories.alice(), factories.bob()
    assert own_pace(alice) is None
    for seconds in (2, 4.9, 5, 60, None):
        decided(alice, seconds)
    decided(alice, 1, days=31)
    decided(bob, 1)
    assert own_pace(alice) == DecisionPace(decisions=5, timed=4, quick=2, read_ms=4_950, waited_ms=600_000)


def test_what_a_limit_decided_is_nobodys() -> None:
    run = factories.awaiting_plan()
    Gate.objects.filter(run=run).update(
        status="stopped", decided_how="time limit", decided_at=timezone.now(), reason="Because."
    )
    assert own_pace(factories.alice()) is None
    assert pace_of_all(LONG_AGO) is None


@pytest.mark.parametrize(("people", "each", "shown"), [(3, 4, True), (2, 6, False), (3, 3, False), (1, 20, False)])
def test_sums_are_over_several_people_and_decisions_or_not_shown(people: int, each: int, shown: bool) -> None:
    for number in range(people):
        for _ in range(each):
            decided(factories.person(f"p{number}"), 3)
    found = pace_of_all(LONG_AGO)
    assert (found is not None) is shown
    if found:
        assert (found.decisions, found.quick) == (people * each, people * each)


def test_an_administrator_sees_sums_and_never_those_of_one_person(client: Client) -> None:
    for number in range(3):
        for _ in range(4):
            decided(factories.person(f"p{number}"), 3)
    client.force_login(factories.person("root", is_superuser=True))
    assert "Decided in under five seconds" in client.get("/metrics/").text
    assert "Decided in under five seconds" not in client.get("/metrics/?person=alice").text
    client.force_login(factories.alice())
    assert "Decided in under five seconds" not in client.get("/metrics/").text


def test_the_inbox_shows_ones_own_and_nobody_elses(alice_client: Client) -> None:
    decided(factories.bob(), 1)
    assert "Only you see this" not in alice_client.get("/").text
    decided(factories.alice(), 2, minutes=3)
    page = " ".join(alice_client.get("/").text.split())
    said = "you made 1 decision, half of them within 3 min 0 s of the question and 2.0 s of opening its page. 1 of 1"
    assert said in page


# ---- when the page was opened -------------------------------------------------------------------------------------


def signed(run: int, person: int, seconds: float, salt: str = "runs.page_opening") -> str:
    return signing.dumps([run, person, timezone.now().timestamp() - seconds], salt=salt)


def asked_since(seconds: float) -> Gate:
    """A gate that was asked so long ago."""
    gate = gate_of(factories.awaiting_plan())
    Gate.objects.filter(pk=gate.pk).update(opened_at=timezone.now() - timedelta(seconds=seconds))
    return gate


@pytest.mark.parametrize(
    ("open_for", "asked_for", "seconds"),
    [(90, 1_000, 90), (1_000, 90, 90)],
    ids=["the page was opened at the question", "the question came while the page was open"],
)
def test_the_time_with_the_question_is_stored_with_the_decision(
    alice: User, alice_client: Client, open_for: float, asked_for: float, seconds: float
) -> None:
    gate = asked_since(asked_for)
    opening = signed(gate.run_id, alice.pk, open_for)
    alice_client.post(address(gate), {**form(gate, "approve"), "opening": opening})
    gate.refresh_from_db()
    assert gate.status == "approved"
    assert gate.seconds_on_page is not None
    assert seconds <= gate.seconds_on_page < seconds + 60


@pytest.mark.parametrize("path", ["", "plan/"])
def test_each_person_has_the_time_of_their_own_page_and_shared_parts_have_none(
    alice: User, bob: User, path: str
) -> None:
    gate = asked_since(1_000)
    address_of_page, found = f"/runs/{gate.run_id}/{path}", list[str]()
    for person in (alice, bob, alice):
        client = Client()
        client.force_login(person)
        (first, *others) = set(re.findall(r'name="opening" value="([^"]+)"', client.get(address_of_page).text))
        assert others == []
        found.append(first)
        part = client.get(address_of_page, {"part": "plan" if path else "gates"})
        assert (part.status_code, 'name="opening"' in part.text) == (200, False)
    people = [signing.loads(text, salt="runs.page_opening")[1] for text in found]
    assert people == [alice.pk, bob.pk, alice.pk]
    assert page_opening.seconds_on_page(found[0], gate, bob) is None


@pytest.mark.parametrize(
    "forged",
    ["", "x", "a:b:c", "\x00", "9" * 5_000, "other run", "other person", "other salt", "too old", "text", "of before"],
)
def test_a_forged_time_is_none_and_keeps_no_one_from_deciding(
    alice: User, bob: User, alice_client: Client, forged: str
) -> None:
    gate, other = asked_since(1_000), asked_since(1_000)
    made = {
        "other run": signed(other.run_id, alice.pk, 90),
        "other person": signed(gate.run_id, bob.pk, 90),
        "other salt": signed(gate.run_id, alice.pk, 90, salt="else"),
        "too old": signed(gate.run_id, alice.pk, 31 * 86_400),
        "text": signed(gate.run_id, alice.pk, 90) + "x",
        "of before": signing.dumps([gate.pk, timezone.now().timestamp() - 90], salt="runs.page_opening"),
    }
    alice_client.post(address(gate), {**form(gate, "approve"), "opening": made.get(forged, forged)})
    gate.refresh_from_db()
    assert (gate.status, gate.seconds_on_page) == ("approved", None)
