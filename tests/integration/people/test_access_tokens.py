"""Access tokens: made within bounds, found as long as they and their person may be used, ended for good."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from runs.enums import AuditKind, TokenScope
from runs.errors import InvalidInput
from runs.models import AccessToken, AuditEntry, User
from runs.people import access_tokens, accounts
from tests import factories as made

pytestmark = pytest.mark.services


def test_only_the_hash_is_stored(alice: User) -> None:
    token = access_tokens.issue(alice, "  my   laptop ", 30)
    row = AccessToken.objects.get()
    assert (row.user, row.name, row.token_hash) == (alice, "my laptop", hashlib.sha256(token.encode()).hexdigest())
    assert timedelta(days=29) < row.expires_at - timezone.now() <= timedelta(days=30)
    assert token not in str(AccessToken.objects.values_list())
    assert access_tokens.usable_token(token) == row


@pytest.mark.parametrize(
    "token", ["", "pev_", "pev_" + "x" * 43, "x" * 47, "pev_" + "é" * 43, "pev_" + "x" * 1_000_000]
)
def test_nothing_else_is_a_token(alice: User, token: str) -> None:
    access_tokens.issue(alice, "laptop", 30)
    assert access_tokens.usable_token(token) is None


def test_what_has_not_the_form_of_one_asks_no_database(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert access_tokens.usable_token("Robert'); DROP TABLE runs_accesstoken;--") is None


@pytest.mark.parametrize("name", ["", "   ", "x" * 61])
def test_a_name_that_cannot_be_used_is_refused(alice: User, name: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        access_tokens.issue(alice, name, 30)


def test_two_that_work_have_two_names(alice: User, bob: User) -> None:
    access_tokens.issue(alice, "laptop", 30)
    access_tokens.issue(bob, "laptop", 30)
    with pytest.raises(InvalidInput, match="You have a token “laptop” already"):
        access_tokens.issue(alice, "laptop", 30)


@pytest.mark.parametrize("days", [0, -1, 31, 100_000])
def test_no_token_works_for_ever(alice: User, days: int) -> None:
    with pytest.raises(InvalidInput, match=r"^A token is made for 7, 30, 90 or 365 days\.$"):
        access_tokens.issue(alice, "laptop", days)


def test_there_are_so_many_of_one_person_and_those_that_ended_do_not_count(alice: User) -> None:
    for number in range(10):
        access_tokens.issue(alice, str(number), 7)
    with pytest.raises(InvalidInput, match="You have 10 tokens, and may have 10"):
        access_tokens.issue(alice, "one more", 7)
    access_tokens.revoke(alice, AccessToken.objects.earliest("pk").pk)
    access_tokens.issue(alice, "one more", 7)
    assert [row.name for row in access_tokens.of(alice)] == ["one more", *map(str, range(9, 0, -1))]


def test_an_expired_one_does_not_work(alice: User) -> None:
    token = access_tokens.issue(alice, "laptop", 7)
    AccessToken.objects.update(expires_at=timezone.now())
    assert access_tokens.usable_token(token) is None


def test_a_revoked_one_does_not_work_and_others_do(alice: User) -> None:
    first, second = access_tokens.issue(alice, "first", 7), access_tokens.issue(alice, "second", 7)
    access_tokens.revoke(alice, AccessToken.objects.get(name="first").pk)
    assert access_tokens.usable_token(first) is None
    assert access_tokens.usable_token(second) is not None


def test_nobody_revokes_those_of_others(alice: User, bob: User) -> None:
    token = access_tokens.issue(alice, "laptop", 7)
    assert access_tokens.revoke(bob, AccessToken.objects.get().pk) is None
    assert access_tokens.usable_token(token) is not None


def test_a_person_who_is_deactivated_has_none_afterwards_either(alice: User) -> None:
    token = access_tokens.issue(alice, "laptop", 7)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert access_tokens.usable_token(token) is None
    accounts.deactivate(alice)
    accounts.activate(alice)
    assert access_tokens.usable_token(token) is None


def test_signing_somebody_out_everywhere_ends_them_too(alice: User) -> None:
    token = access_tokens.issue(alice, "laptop", 7)
    accounts.sign_out_everywhere(alice)
    assert access_tokens.usable_token(token) is None


def test_a_use_is_noted_once_in_a_while(alice: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    token = access_tokens.issue(alice, "laptop", 7)
    with django_assert_num_queries(2):
        access_tokens.usable_token(token)
    noted = AccessToken.objects.get().last_used_at
    assert noted is not None
    with django_assert_num_queries(1):
        access_tokens.usable_token(token)
    earlier = noted - access_tokens.NOTED_EVERY
    AccessToken.objects.update(last_used_at=earlier)
    access_tokens.usable_token(token)
    now = AccessToken.objects.get().last_used_at
    assert now is not None
    assert now > earlier


def test_a_token_allows_what_was_chosen_and_without_a_choice_what_older_tokens_allow(alice: User) -> None:
    access_tokens.issue(alice, "old", 7)
    access_tokens.issue(alice, "new", 7, ["gates:read", "runs:read", "gates:read"])
    old, new = AccessToken.objects.order_by("pk")
    older = AccessToken.objects.create(user=alice, name="older", token_hash="x", expires_at=old.expires_at)
    older.refresh_from_db()
    assert {old.scopes, older.scopes} == {"runs:read runs:write gates:read"}
    assert new.scopes == "runs:read gates:read"
    assert [scope for scope in TokenScope if new.allows(scope)] == [TokenScope.RUNS_READ, TokenScope.GATES_READ]
    line = AuditEntry.objects.filter(kind=AuditKind.TOKEN_MADE).latest("number")
    assert line.details == {"name": "new", "days": 7, "scopes": "runs:read gates:read"}


@pytest.mark.parametrize(
    ("scopes", "api", "decides", "says"),
    [
        ([], True, True, "Choose at least one thing that the token allows"),
        (["runs:read", "runs:delete"], True, True, "There is no scope “runs:delete”. There are: runs:read, "),
        (["gates:decide"], True, False, "This installation has no tokens that allow “gates:decide”."),
        (["gates:decide"], False, True, "This installation has no tokens that allow “gates:decide”."),
        (["runs:read", "admin"], True, True, "Only administrators have tokens that allow “admin”."),
    ],
)
def test_scopes_that_cannot_be_granted_are_refused(
    alice: User, settings: Settings, scopes: list[str], api: bool, decides: bool, says: str
) -> None:
    settings.API, settings.API_DECIDES = api, decides
    with pytest.raises(InvalidInput) as refused:
        access_tokens.issue(alice, "laptop", 7, scopes)
    assert str(refused.value).startswith(says)
    assert not AccessToken.objects.exists()


def test_a_token_never_allows_more_than_its_person_and_the_installation_grant_now(db: None, settings: Settings) -> None:
    settings.API_DECIDES = True
    root = made.person("root", is_superuser=True)
    token = access_tokens.issue(root, "laptop", 7, TokenScope)

    def allowed() -> set[str]:
        row = access_tokens.usable_token(token)
        assert row is not None
        return {scope for scope in TokenScope if row.allows(scope)}

    assert allowed() == set(TokenScope)
    settings.API_DECIDES = False
    assert allowed() == set(TokenScope) - {"gates:decide"}
    User.objects.filter(pk=root.pk).update(is_superuser=False)
    assert allowed() == {"runs:read", "runs:write", "gates:read"}
    AccessToken.objects.update(scopes="runs:read later:word")
    assert allowed() == {"runs:read"}


@pytest.mark.parametrize("expires_in", [timedelta(seconds=-1), timedelta(0), timedelta(seconds=1)])
@pytest.mark.parametrize("revoked", [False, True])
def test_a_token_that_was_read_is_living_if_it_is_found_among_the_living(
    alice: User, expires_in: timedelta, *, revoked: bool
) -> None:
    access_tokens.issue(alice, "laptop", 30)
    now = timezone.now()
    AccessToken.objects.update(expires_at=now + expires_in, revoked_at=now if revoked else None)
    assert AccessToken.objects.get().is_living(now) is AccessToken.objects.living(now).exists()
