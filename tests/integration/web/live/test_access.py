"""Who may go on following: the same answer as page by page, by a fixed number of queries."""

from __future__ import annotations

import time

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.models import Run, User
from runs.people import accounts
from runs.people.permissions import can_see, who_can_see
from runs.web.live.access import SocketIdentity, standing
from runs.web.site.sessions import ends_at
from tests import factories

pytestmark = pytest.mark.django_db


def signed_in(person: User) -> tuple[Client, SocketIdentity]:
    client = Client()
    client.force_login(person)
    return client, SocketIdentity(client.session.session_key, person.pk)


def crowd(count: int) -> list[User]:
    return [factories.person(f"person-{number}") for number in range(count)]


@pytest.mark.parametrize("count", [1, 30])
def test_any_number_is_checked_by_three_queries(count: int, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = factories.executing()
    people = crowd(count)
    factories.share(run, *people)
    seats = {signed_in(person)[1] for person in people}
    with django_assert_num_queries(3):
        found = standing(run, seats)
    assert found.keys() == seats


def test_who_signed_out_was_taken_off_or_made_inactive_stands_no_more() -> None:
    run = factories.executing()
    stays, out, ended, off, inactive = people = crowd(5)
    factories.share(run, *people)
    clients = {person.pk: signed_in(person) for person in people}
    seats = [seat for _, seat in clients.values()]
    assert len(standing(run, seats)) == 5
    clients[out.pk][0].logout()
    accounts.sign_out_everywhere(ended)
    run.shares.filter(user=off).delete()
    inactive.is_active = False
    inactive.save()
    assert [one.person for one in standing(run, seats).values()] == [stays.pk]


def test_a_session_that_is_over_stands_no_more_and_others_say_when_they_end() -> None:
    run = factories.executing()
    client, seat = signed_in(run.owner)
    session = client.session
    began = session["pev_began"] = int(time.time())
    session.save()
    assert standing(run, [seat])[seat].ends == began + settings.SESSION_COOKIE_AGE
    session["pev_began"] = 1
    session.save()
    assert (ends_at(session, run.owner) or 0) < time.time()
    assert standing(run, [seat]) == {}


@pytest.mark.parametrize("data", ["", "rubbish", "e30"])
def test_rubbish_in_a_session_is_nobody(data: str) -> None:
    run = factories.executing()
    _, seat = signed_in(run.owner)
    Session.objects.filter(pk=seat.session_key).update(session_data=data)
    assert (
        standing(
            run, [seat, SocketIdentity("", None), SocketIdentity("unknown", run.owner_id), SocketIdentity(None, None)]
        )
        == {}
    )


def test_many_are_judged_as_each_alone() -> None:
    factories.executing()
    other = factories.executing()
    people = [factories.alice(), factories.bob(), factories.charlie(), factories.person("root", is_superuser=True)]
    people.append(factories.person("gone", is_superuser=True, is_active=False))
    factories.share(other, factories.charlie())
    for one in Run.objects.all():
        assert who_can_see(one, people) == {person.pk for person in people if can_see(person, one)}
