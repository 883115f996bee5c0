"""People and their ways in: links work once and for a while, and what was ended does not come back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test import Client
from django.utils import timezone

from runs.enums import LinkKind, PersonRole
from runs.errors import InvalidInput
from runs.models import Link, User
from runs.people import accounts
from runs.people.permissions import is_administrator
from runs.people.roles import NEW_PEOPLE
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]

ENDS = [accounts.deactivate, accounts.sign_out_everywhere]


def test_of_a_token_only_the_hash_is_stored(alice: User) -> None:
    token = accounts.issue(alice, LinkKind.SIGN_IN)
    link = Link.objects.get()
    assert (len(token), link.token_hash) == (43, hashlib.sha256(token.encode()).hexdigest())
    assert token not in str(Link.objects.values())


@pytest.mark.parametrize(
    ("kind", "lifetime"),
    [(LinkKind.SIGN_IN, timedelta(minutes=10)), (LinkKind.INVITATION, timedelta(days=7))],
)
def test_a_link_lives_as_long_as_its_kind(alice: User, kind: LinkKind, lifetime: timedelta) -> None:
    token = accounts.issue(alice, kind)
    link = Link.objects.get()
    assert abs(link.expires_at - timezone.now() - lifetime) < timedelta(minutes=1)
    Link.objects.update(expires_at=timezone.now())
    assert (accounts.person_of(token), accounts.consume(token)) == (None, None)


def test_a_look_uses_nothing_up_and_the_use_is_the_only_one(alice: User) -> None:
    token = accounts.issue(alice, LinkKind.SIGN_IN)
    assert (accounts.person_of(token), accounts.person_of(token)) == (alice, alice)
    assert (accounts.consume(token), accounts.consume(token), accounts.person_of(token)) == (alice, None, None)


def test_a_sign_in_ends_the_other_links_of_the_person_and_nobody_elses(alice: User, bob: User) -> None:
    invitation, other = accounts.issue(alice, LinkKind.INVITATION), accounts.issue(bob, LinkKind.SIGN_IN)
    accounts.consume(accounts.issue(alice, LinkKind.SIGN_IN))
    assert (accounts.person_of(invitation), accounts.person_of(other)) == (None, bob)


@pytest.mark.parametrize("token", ["", "x", "ü\x00", "\ud800", "A" * 100_000])
def test_what_is_no_token_signs_nobody_in(db: None, token: str) -> None:
    assert (accounts.person_of(token), accounts.consume(token)) == (None, None)


def test_spent_links_are_cleared_away_with_the_next_one(alice: User) -> None:
    accounts.consume(accounts.issue(alice, LinkKind.SIGN_IN))
    accounts.issue(alice, LinkKind.SIGN_IN)
    assert Link.objects.filter(used_at__isnull=False).count() == 0


@pytest.mark.django_db(transaction=True)
def test_of_many_who_use_a_link_at_once_one_is_let_in() -> None:
    token = accounts.issue(made.alice(), LinkKind.SIGN_IN)
    together = Barrier(8, timeout=30)

    def when_all_have_read(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if sql.startswith("SELECT") and "runs_link" in sql:
            together.wait()
        return found

    def use(_: int) -> bool:
        try:
            with connection.execute_wrapper(when_all_have_read):
                return accounts.consume(token) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(use, range(8))) == [False] * 7 + [True]


@pytest.mark.parametrize("end", ENDS)
def test_what_ends_ends_at_once_and_does_not_come_back(
    client: Client, alice: User, end: Callable[[User], None]
) -> None:
    made.person("root", is_superuser=True)
    client.post(f"/sign-in/{accounts.issue(alice, LinkKind.SIGN_IN)}/")
    cookie = client.cookies["sessionid"].value
    link = accounts.issue(alice, LinkKind.INVITATION)
    assert client.get("/").status_code == 200
    end(alice)
    accounts.activate(alice)
    assert client.get("/")["Location"] == "/sign-in/?next=/"
    client.cookies["sessionid"] = cookie
    assert client.get("/")["Location"] == "/sign-in/?next=/"
    assert (accounts.person_of(link), accounts.consume(link)) == (None, None)
    assert client.post(f"/sign-in/{accounts.issue(alice, LinkKind.SIGN_IN)}/")["Location"] == "/"


def test_who_is_inactive_is_not_let_in_by_a_link_of_before(alice: User) -> None:
    token = accounts.issue(alice, LinkKind.SIGN_IN)
    User.objects.update(is_active=False)  # by whatever else than the functions that also end links
    assert (accounts.person_of(token), accounts.consume(token)) == (None, None)


def test_the_last_administrator_can_be_signed_out_and_neither_be_made_inactive_nor_less() -> None:
    root = made.person("root", is_superuser=True)
    made.person("gone", is_superuser=True, is_active=False)
    accounts.sign_out_everywhere(root)
    for change in (accounts.deactivate, lambda person: accounts.set_roles(person, NEW_PEOPLE)):
        with pytest.raises(InvalidInput, match="is the only administrator who can sign in"):
            change(root)
    root.refresh_from_db()
    assert (root.is_active, is_administrator(root)) == (True, True)


def test_of_two_processes_that_start_at_once_both_find_the_first_administrator(monkeypatch: pytest.MonkeyPatch) -> None:
    invite = accounts.invite

    def too_late(name: str, roles: Collection[PersonRole]) -> User:
        invite(name, roles)  # the other process
        raise IntegrityError("UNIQUE constraint failed: runs_user.username")

    monkeypatch.setattr(accounts, "invite", too_late)
    assert accounts.first_administrator() == User.objects.get()
