"""Notices are sent by mail: once, later if the server is away, never to people who may not see the run any more."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from runs.enums import Digest, GateStatus, NoticeChannel, NoticeKind, ShareLevel, Verb
from runs.lifecycle.assignments import hand_on
from runs.lifecycle.gate_decisions import cancel, decide
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.sharing import open_to_all, share
from runs.models import Delivery, Gate, Notice, Run
from runs.notices import deliveries
from runs.notices.browser import became_due
from runs.notices.channels.registry import CHANNELS
from runs.people import accounts
from runs.people.outbox import announce
from tests import factories
from tests.fakes.smtp_server import SmtpServer
from tests.integration.notices.receiver import asked, choose, pass_time, send, states, with_mail

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def problem() -> str:
    return str(Delivery.objects.latest("id").problem)


def test_a_decision_is_announced_with_title_and_link_alone(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    run = asked()
    assert send() == 1
    (people, mail) = smtp.received[0]
    assert (people, mail["To"], mail["From"]) == (["alice@example.org"], "alice@example.org", "pevsite@example.org")
    assert mail["Subject"] == f"Needs your decision: {run.title}"
    assert str(mail.get_payload()).replace("\r\n", "\n") == (
        f"Needs your decision: {run.title}\nhttps://pevsite.example.org/runs/{run.pk}/\n\n-- \n"
        "Which notices you get: https://pevsite.example.org/account/notices/\n"
    )
    assert states() == [("sent", 1)]


def test_a_title_makes_no_header(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    asked(title="Offers\r\nBcc: eve@example.org\r\n\r\nHello")
    assert send() == 1
    people, mail = smtp.received[0]
    assert (people, mail["Bcc"]) == (["alice@example.org"], None)
    assert "Offers" in mail["Subject"]


def test_the_end_of_the_time_is_by_the_clock_of_the_person(smtp: SmtpServer) -> None:
    person = with_mail(factories.person("dora", time_zone="Europe/Berlin"))
    run = asked(person)
    announce(NoticeKind.DECISION_DUE, [person], run, run.gates.get(), datetime(2030, 7, 1, 12, tzinfo=UTC))
    send()
    assert "Until 2030-07-01 14:00 CEST" in str(smtp.received[0][1].get_payload())


def test_an_installation_may_send_the_question_too(smtp: SmtpServer, settings: Settings) -> None:
    settings.NOTICE_CONTENT = "question"
    with_mail(factories.alice())
    run = asked()
    send()
    assert run.gates.get().question in smtp.received[0][1].get_payload()


def test_people_without_a_confirmed_address_and_installations_without_mail_plan_nothing(
    smtp: SmtpServer, settings: Settings
) -> None:
    with_mail(factories.alice(), verified=False)
    asked()
    assert (send(), states()) == (0, [])
    settings.MAILERS = {}
    with_mail(factories.bob())
    asked(factories.bob())
    assert (send(), states()) == (0, [])
    assert not Notice.objects.filter(planned_at=None).exists()


def test_a_mail_server_that_is_down_for_an_hour_loses_nothing_and_sends_each_once(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    with_mail(factories.bob())
    smtp.stop()
    first = asked(factories.bob())
    assert send() == 0
    assert [tries for _, tries in states()] == [1, 1], "the second is not tried, and counts as tried"
    assert problem().startswith("The mail server could not be reached: ")
    assert send() == 0, "it waits before the next attempt"
    second = asked()
    for _ in range(4):  # after 1, 5, 15 and 60 minutes
        send()
        pass_time()
    smtp.start()
    send()
    pass_time()
    send()
    assert sorted(mail["To"] for _, mail in smtp.received) == [*["alice@example.org"] * 2, "bob@example.org"]
    assert set(smtp.subjects) == {f"Needs your decision: {first.title}", f"Needs your decision: {second.title}"}
    assert {status for status, _ in states()} == {"sent"}


def test_each_attempt_has_the_same_id_so_that_a_second_delivery_is_known(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    asked()
    deliveries.plan()
    batch = deliveries.claim(CHANNELS[NoticeChannel.EMAIL])
    assert batch is not None
    Delivery.objects.update(lease_until=timezone.now() - timedelta(seconds=1))  # its process was killed
    send()
    assert smtp.received[0][1]["Message-ID"] == f"<{batch.key}@example.org>"


def test_it_is_given_up_after_three_days_and_an_administrator_can_have_it_tried_again(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    smtp.answer = "451 try later"
    asked()
    waits = []
    for _ in range(len(deliveries.MINUTES_BETWEEN_TRIES)):
        before = timezone.now()
        send()
        waits.append(round((Delivery.objects.get().due_at - before).total_seconds() / 60))
        pass_time()
    assert waits == list(deliveries.MINUTES_BETWEEN_TRIES)
    assert timedelta(days=2, hours=20) < timedelta(minutes=sum(waits)) <= timedelta(days=3)
    assert states() == [("waiting", 16)]
    send()
    assert states() == [("failed", 17)]
    assert problem() == "The mail server answered 451: try later"
    smtp.answer = "250 OK"
    assert send() == 0
    assert deliveries.try_again() == 1
    assert (send(), states()) == (1, [("sent", 1)])


def test_an_address_that_the_server_refuses_is_not_tried_again(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    smtp.refuse = "550 no such person"
    asked()
    send()
    assert states() == [("failed", 1)]
    assert problem() == "The mail server refused the address: no such person"


def test_what_has_become_needless_is_not_sent(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    with_mail(factories.bob())
    run, other = asked(factories.bob()), asked(factories.bob())
    deliveries.plan()
    gate = run.gates.get()
    decide(gate.pk, factories.alice(), Decision(Verb.APPROVE, gate.digest))
    other.shares.all().delete()
    assert send() == 1
    assert smtp.subjects == [f"Needs your decision: {other.title}"]
    assert [status for status, _ in states()].count("skipped") == 3
    assert "The person may no longer see the run." in Delivery.objects.values_list("problem", flat=True)
    assert "The decision was made, or is no longer needed." in Delivery.objects.values_list("problem", flat=True)


def test_who_is_asked_no_longer_gets_no_more_even_where_they_still_see_the_run(smtp: SmtpServer) -> None:
    bob, legal = with_mail(factories.bob()), Group.objects.create(name="Legal")
    bob.groups.add(legal)
    run, handed_on = asked(), asked()
    for one in (run, handed_on):
        share(one.pk, factories.alice(), legal, ShareLevel.DECIDE)
        open_to_all(one.pk, factories.alice(), is_open=True)
        hand_on(one.gates.get().pk, factories.alice(), bob, factories.alice().pk)
        hand_on(one.gates.get().pk, bob, factories.alice(), bob.pk)
    Gate.objects.filter(run=run).update(assigned_to=bob)
    announce(NoticeKind.DECISION_DUE, [bob], run, run.gates.get(), timezone.now())
    Notice.objects.filter(run=handed_on).exclude(kind=NoticeKind.ASSIGNED).delete()
    deliveries.plan()
    bob.groups.remove(legal)
    assert send() == 0
    assert sorted(Delivery.objects.values_list("notice__kind", "problem")) == [
        ("assigned", "The decision is the turn of someone else now."),
        ("assigned", "The decision no longer waits for this person."),
        ("decision_due", "The decision no longer waits for this person."),
        ("decision_needed", "The decision no longer waits for this person."),
    ]


def test_the_queries_for_a_message_do_not_grow_with_its_notices(smtp: SmtpServer) -> None:
    counts = []
    for number in (2, 12):
        person = with_mail(factories.person(f"person{number}"))
        choose(person, digest=Digest.DAILY)
        runs = [asked(person) for _ in range(number)]
        deliveries.plan()
        decide(runs[0].gates.get().pk, person, Decision(Verb.APPROVE, runs[0].gates.get().digest))
        pass_time()
        with CaptureQueriesContext(connection) as queries:
            assert deliveries.send_due(CHANNELS[NoticeChannel.EMAIL]) == 1
        counts.append(len(queries))
    assert (counts[0], [status for status, _ in states()].count("sent")) == (counts[1], 12)


def test_a_person_who_was_deactivated_gets_nothing(smtp: SmtpServer) -> None:
    with_mail(factories.bob())
    asked(factories.bob())
    deliveries.plan()
    accounts.deactivate(factories.bob())
    assert (send(), states(), problem()) == (0, [("skipped", 0)], "The person is not active.")


def test_what_is_due_at_once_becomes_one_message(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    choose(factories.alice(), digest=Digest.DAILY)
    runs = [asked(title=f"Task {n}") for n in range(3)]
    assert (send(), states()) == (0, [("waiting", 0)] * 3)
    due = set(Delivery.objects.values_list("due_at", flat=True))
    assert len(due) == 1
    pass_time()
    assert send() == 1
    assert smtp.subjects == ["Needs your decision: Task 0, and 2 more notices"]
    body = smtp.received[0][1].get_payload()
    assert [f"/runs/{run.pk}/" in body for run in runs] == [True, True, True]


def test_a_decision_that_is_assigned_is_said_once_in_a_message(smtp: SmtpServer) -> None:
    bob = with_mail(factories.bob())
    run, other = asked(bob, title="One"), asked(bob, title="Two")
    hand_on(run.gates.get().pk, factories.alice(), bob, factories.alice().pk)
    begun = timezone.now() - timedelta(minutes=1)
    found = [(one.run, one.kind) for one in became_due(bob, begun, timezone.now())]
    assert found == [(other, NoticeKind.DECISION_NEEDED), (run, NoticeKind.ASSIGNED)]
    assert send() == 1
    assert smtp.subjects == ["Needs your decision: Two, and 1 more notice"]
    assert "Needs your decision: One" not in smtp.received[0][1].get_payload()
    assert states() == [("sent", 1)] * 3


def test_the_same_message_is_tried_again_and_later_notices_are_another(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    asked(title="One"), asked(title="Two")
    smtp.answer = "451 try later"
    send()
    asked(title="Three")
    smtp.answer = "250 OK"
    pass_time()
    assert send() == 2
    assert sorted(smtp.subjects) == ["Needs your decision: One, and 1 more notice", "Needs your decision: Three"]


def test_kinds_that_a_person_does_not_want_are_not_sent(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    choose(factories.alice(), channels={NoticeKind.DECISION_NEEDED: ()})
    run = asked()
    cancel(run.pk, factories.alice())
    send()
    assert smtp.subjects == [f"Finished: {run.title}"]


def test_old_notices_are_deleted_unless_they_wait_or_their_decision_does(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    runs = [asked() for _ in range(3)]
    deliveries.plan()
    old = timezone.now() - deliveries.KEPT - timedelta(days=1)
    Notice.objects.update(created_at=old)
    Delivery.objects.exclude(notice__run=runs[0]).delete()
    Gate.objects.exclude(run=runs[1]).update(status=GateStatus.WITHDRAWN, withdrawn_at=timezone.now())
    deliveries.forget_old()
    assert set(Notice.objects.values_list("run", flat=True)) == {runs[0].pk, runs[1].pk}, "it waits, or is asked still"
    assert Delivery.objects.get().notice.run == runs[0]


@pytest.mark.django_db(transaction=True)
def test_two_engines_send_each_message_once(smtp: SmtpServer) -> None:
    people = [with_mail(factories.person(f"person{n}")) for n in range(8)]
    run = asked(*people)
    ready = threading.Barrier(2)
    problems: list[BaseException] = []

    def engine() -> None:
        try:
            ready.wait()
            send()
        except BaseException as error:
            problems.append(error)
        finally:
            connection.close()

    engines = [threading.Thread(target=engine) for _ in range(2)]
    for one in engines:
        one.start()
    for one in engines:
        one.join()
    assert problems == []
    assert sorted(mail["To"] for _, mail in smtp.received) == [f"person{n}@example.org" for n in range(8)]
    assert states() == [("sent", 1)] * 8
    assert Run.objects.get() == run
