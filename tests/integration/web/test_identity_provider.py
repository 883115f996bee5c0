"""Signing in through an OpenID Connect provider: who gets in, as whom, and with which roles."""

from __future__ import annotations

import itertools
import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import jwt
import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.test import Client
from pydantic import SecretStr
from pytest_django import Settings

from runs.enums import AuditKind, PersonRole
from runs.models import AuditEntry, Notice, User
from runs.people import accounts, provider_accounts
from runs.people.identity_provider import IdentityProvider
from runs.people.permissions import is_administrator
from runs.people.roles import roles_of
from runs.web.live.access import SocketIdentity, standing
from runs.web.people.sign_in_pages import link_for
from runs.web.site.headers import PLACE
from tests import factories
from tests.fakes.identity_provider import (
    CLIENT,
    SECRET,
    Claims,
    FakeIdentityProvider,
    is_pair,
    parameters,
    private_key,
    providing,
    published,
    signed,
)

pytestmark = [pytest.mark.django_db, pytest.mark.services, pytest.mark.allow_hosts(["127.0.0.1"])]
GROUPS = {
    "staff": frozenset({PersonRole.SUBMITTER, PersonRole.APPROVER}),
    "admins": frozenset({PersonRole.ADMINISTRATOR}),
}


@pytest.fixture
def provider(settings: Settings) -> Iterator[FakeIdentityProvider]:
    with providing() as fake:
        use(settings, fake)
        yield fake


def use(settings: Settings, fake: FakeIdentityProvider, **changes: Any) -> None:
    """The settings of an installation whose people sign in there."""
    known = {"name": "Example", "roles_of_groups": GROUPS, **changes}
    settings.IDENTITY_PROVIDER = IdentityProvider(fake.url, CLIENT, SecretStr(SECRET), **known)


def leave(client: Client, page: str = "/sign-in/provider/", **sent: str) -> str:
    """The address of the provider to which a button leads."""
    answer = client.post(page, sent)
    assert answer.status_code == 200, answer.text
    return str(answer.context["address"])


def come_back(client: Client, fake: FakeIdentityProvider, subject: str, **sent: str) -> Any:
    return client.get(fake.let_in(leave(client, **sent), subject))


def sign_in(client: Client, fake: FakeIdentityProvider, subject: str) -> User | None:
    """Who is signed in after this person has signed in at the provider."""
    come_back(client, fake, subject)
    return person_of(client)


def person_of(client: Client) -> User | None:
    return User.objects.filter(pk=client.session.get("_auth_user_id", 0)).first()


def test_the_first_sign_in_adds_a_person_and_leads_to_the_page_that_was_wanted(
    client: Client, provider: FakeIdentityProvider
) -> None:
    provider.know("s-1", preferred_username="dora", email="dora@example.org", groups=["staff"])
    answer = come_back(client, provider, "s-1", next="/runs/new/")
    assert (answer.status_code, answer["Location"]) == (302, "/runs/new/")
    dora = person_of(client)
    assert dora is not None
    assert (dora.username, dora.email, dora.has_usable_password(), is_administrator(dora)) == ("dora", "", False, False)
    assert client.get("/").status_code == 200
    assert sign_in(Client(), provider, "s-1") == dora
    assert (SocialAccount.objects.get().uid, SocialToken.objects.count()) == ("s-1", 0)


def test_the_address_has_a_state_a_nonce_and_a_challenge_and_leads_back_to_the_host_that_was_asked(
    client: Client, provider: FakeIdentityProvider, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["pev.example"]
    provider.know("s-1", groups=["staff"])
    answer = client.post("/sign-in/provider/", headers={"Host": "pev.example"})
    asked = parameters(answer.context["address"])
    assert asked["redirect_uri"] == "http://pev.example/sign-in/provider/callback/"
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert min(len(asked[name]) for name in ("state", "nonce", "code_challenge")) >= 16
    client.get(provider.let_in(answer.context["address"], "s-1"), headers={"Host": "pev.example"})
    sent = provider.asked["/oauth2/token"]
    assert is_pair(asked["code_challenge"], sent["code_verifier"])
    assert (sent["client_id"], sent["client_secret"], sent["redirect_uri"]) == (CLIENT, SECRET, asked["redirect_uri"])
    assert SECRET not in answer.context["address"]


def test_it_leads_back_to_the_public_address_where_there_is_one(
    client: Client, provider: FakeIdentityProvider, settings: Settings
) -> None:
    settings.PUBLIC_URL = "https://pev.example"
    assert parameters(leave(client))["redirect_uri"] == "https://pev.example/sign-in/provider/callback/"


def test_without_a_provider_there_is_no_button_and_no_address(client: Client, alice: User) -> None:
    assert "Sign in with your organisation" not in client.get("/sign-in/").text
    assert client.post("/sign-in/provider/").status_code == 404
    assert client.get("/sign-in/provider/callback/?code=1&state=1").status_code == 404
    client.force_login(alice)
    assert "/account/provider/" not in client.get("/account/methods/").text
    assert client.post("/account/provider/connect/").status_code == 404


def test_a_script_gets_the_address_and_a_browser_without_one_a_page_that_leads_there(
    client: Client, provider: FakeIdentityProvider
) -> None:
    assert '<button class="button primary">Sign in with Example</button>' in client.get("/sign-in/").text
    answer = client.post("/sign-in/provider/", headers={"X-Requested-With": "XMLHttpRequest"})
    assert (answer.status_code, answer[PLACE].startswith(f"{provider.url}/oauth2/authorize?")) == (204, True)
    page = client.post("/sign-in/provider/")
    assert f'content="0; url={provider.url}/oauth2/authorize?' in page.text


def test_groups_give_roles_and_take_them_at_each_sign_in(client: Client, provider: FakeIdentityProvider) -> None:
    factories.person("root", roles=[PersonRole.ADMINISTRATOR])
    expected = (
        (["admins", "others"], [PersonRole.ADMINISTRATOR]),
        (["staff"], [PersonRole.SUBMITTER, PersonRole.APPROVER]),
        (["staff", "admins"], [PersonRole.SUBMITTER, PersonRole.APPROVER, PersonRole.ADMINISTRATOR]),
    )
    for groups, roles in expected:
        provider.know("s-1", preferred_username="dora", groups=groups)
        dora = sign_in(Client(), provider, "s-1")
        assert dora is not None
        assert roles_of(dora) == roles
    accounts.set_roles(User.objects.get(username="dora"), [PersonRole.VIEWER])
    assert roles_of(sign_in(client, provider, "s-1") or User()) == expected[-1][1], "the provider decides"
    lines = AuditEntry.objects.filter(kind=AuditKind.ROLE_CHANGED, subject="dora").values_list("channel", "by")
    assert list(lines) == [("provider", ""), ("provider", ""), ("provider", ""), ("system", ""), ("provider", "")]


def test_without_groups_in_the_settings_roles_are_given_here(
    client: Client, provider: FakeIdentityProvider, settings: Settings
) -> None:
    use(settings, provider, roles_of_groups={}, default_role=PersonRole.SUBMITTER)
    provider.know("s-1", preferred_username="dora", groups=["admins"])
    dora = sign_in(client, provider, "s-1")
    assert dora is not None
    assert roles_of(dora) == [PersonRole.SUBMITTER]
    accounts.set_roles(dora, [PersonRole.APPROVER])
    assert roles_of(sign_in(Client(), provider, "s-1") or User()) == [PersonRole.APPROVER]


def test_who_has_no_group_any_more_loses_the_role_and_does_not_get_in(
    client: Client, provider: FakeIdentityProvider
) -> None:
    factories.person("root", roles=[PersonRole.ADMINISTRATOR])
    provider.know("s-1", preferred_username="dora", groups=["admins"])
    sign_in(client, provider, "s-1")
    provider.know("s-1", preferred_username="dora", groups=[])
    answer = come_back(Client(), provider, "s-1")
    assert (answer.status_code, "it gives you no role in this installation" in answer.text) == (403, True)
    assert roles_of(User.objects.get(username="dora")) == [PersonRole.VIEWER]


def test_the_last_administrator_stays_one_whatever_the_provider_says(
    client: Client, provider: FakeIdentityProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.know("s-1", preferred_username="dora", groups=["admins"])
    sign_in(client, provider, "s-1")
    provider.know("s-1", preferred_username="dora", groups=["staff"])
    dora = sign_in(Client(), provider, "s-1")
    assert dora is not None
    assert is_administrator(dora)
    assert "the provider's roles of “dora” are not set" in caplog.text


@pytest.mark.parametrize(("role", "status"), [(None, 403), (PersonRole.SUBMITTER, 302)])
def test_people_without_a_group_get_in_only_with_a_default_role(
    client: Client, provider: FakeIdentityProvider, settings: Settings, role: PersonRole | None, status: int
) -> None:
    use(settings, provider, default_role=role)
    provider.know("s-1", preferred_username="dora", groups=["others"])
    assert come_back(client, provider, "s-1").status_code == status
    assert User.objects.filter(username="dora").exists() is (status == 302)


@pytest.mark.parametrize(
    "groups",
    [None, 7, "others", {"staff": True}, [["staff"], 1, None, {"a": 1}], [f"group {n}" for n in range(10_000)]],
)
def test_groups_of_any_shape_give_no_role(client: Client, provider: FakeIdentityProvider, groups: object) -> None:
    provider.know("s-1", preferred_username="dora", groups=groups)
    assert come_back(client, provider, "s-1").status_code == 403
    assert not User.objects.exists()


def test_one_of_ten_thousand_groups_and_a_single_name_count(client: Client, provider: FakeIdentityProvider) -> None:
    for subject, groups in (("s-1", [*(f"group {n}" for n in range(10_000)), "staff"]), ("s-2", "staff")):
        provider.know(subject, groups=groups)
        assert sign_in(Client(), provider, subject) is not None
    assert {tuple(row.extra_data) for row in SocialAccount.objects.all()} == {("name", "roles", "signed_in_at")}


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "alice"}, r"alice\d+"),
        ({"preferred_username": "ALICE"}, r"alice\d+"),
        ({"preferred_username": "alice@example.org"}, r"alice\d+"),
        ({"email": "alice@example.org"}, "person"),
        ({"preferred_username": "\u202ealice\u200b"}, r"alice\d+"),
        ({"preferred_username": "аlice"}, "lice"),  # the first letter is Cyrillic
        ({"preferred_username": "d" * 100_000}, "d{150}"),
        ({"preferred_username": "\x00\x1b[31m<b>dora</b>\n"}, "31mbdorab"),
        ({"preferred_username": ["dora"], "name": "Dora Müller"}, "dora_muller"),
        ({"preferred_username": "李"}, "person"),
        ({}, "person"),
    ],
)
def test_names_of_any_shape_become_a_name_of_their_own(
    client: Client, provider: FakeIdentityProvider, alice: User, claims: Claims, name: str
) -> None:
    provider.know("s-1", groups=["staff"], **claims)
    dora = sign_in(client, provider, "s-1")
    assert dora is not None
    assert (bool(re.fullmatch(name, dora.username)), dora == alice) == (True, False), dora.username
    assert SocialAccount.objects.get().extra_data["name"].isprintable()


def test_a_person_is_the_subject_whatever_their_address_is(client: Client, provider: FakeIdentityProvider) -> None:
    provider.know("s-1", preferred_username="dora", email="dora@example.org", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    provider.know("s-1", preferred_username="dora.meyer", email="other@example.org", groups=["staff"])
    provider.know("s-2", preferred_username="dora", email="dora@example.org", groups=["staff"])
    assert sign_in(Client(), provider, "s-1") == dora
    other = sign_in(Client(), provider, "s-2")
    assert other is not None
    assert other != dora


def test_the_same_subject_of_another_provider_is_another_person(
    client: Client, provider: FakeIdentityProvider, settings: Settings
) -> None:
    provider.know("s-1", preferred_username="dora", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    with providing() as second:
        use(settings, second)
        second.know("s-1", preferred_username="eve", groups=["staff"])
        assert sign_in(Client(), second, "s-1") != dora


def test_an_address_connects_nobody_with_an_account(
    client: Client, provider: FakeIdentityProvider, alice: User
) -> None:
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    provider.know("s-1", preferred_username="alice", email="alice@example.org", email_verified=True, groups=["staff"])
    assert sign_in(client, provider, "s-1") != alice
    assert not SocialAccount.objects.filter(user=alice).exists()


def test_a_person_connects_their_account_after_a_recent_sign_in(
    client: Client, provider: FakeIdentityProvider, alice: User
) -> None:
    provider.know("s-1", groups=["staff"])
    client.post(link_for(alice))
    make_old(client)
    asked = client.post("/account/provider/connect/")
    assert (asked.status_code, asked["Location"]) == (302, "/sign-in/again/?next=%2Faccount%2Fprovider%2Fconnect%2F")
    client.post(link_for(alice))
    answer = client.get(provider.let_in(leave(client, "/account/provider/connect/"), "s-1"))
    assert answer["Location"] == "/account/methods/"
    assert "You can sign in with Example." in client.get("/account/methods/").text
    assert sign_in(Client(), provider, "s-1") == alice


def make_old(client: Client) -> None:
    session = client.session
    session["pev_began"] -= 3_600
    if session.get("pev_proven"):
        session["pev_proven"] -= 3_600
    session.save()


def test_an_account_of_somebody_else_is_not_connected_and_a_second_one_neither(
    client: Client, provider: FakeIdentityProvider, alice: User
) -> None:
    provider.know("s-1", preferred_username="dora", groups=["staff"])
    dora = sign_in(Client(), provider, "s-1")
    client.post(link_for(alice))
    client.get(provider.let_in(leave(client, "/account/provider/connect/"), "s-1"))
    assert "belongs to somebody else here" in client.get("/account/methods/").text
    assert [row.user for row in SocialAccount.objects.all()] == [dora]
    for subject, status in (("s-2", 302), ("s-3", 409)):
        assert client.get(provider.let_in(leave(client, "/account/provider/connect/"), subject)).status_code == status
    assert list(SocialAccount.objects.filter(user=alice).values_list("uid", flat=True)) == ["s-2"]


def test_a_connection_is_removed_only_if_another_way_to_sign_in_is_left(
    client: Client, provider: FakeIdentityProvider
) -> None:
    provider.know("s-1", preferred_username="dora", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    assert dora is not None
    client.post("/account/provider/disconnect/")
    assert "Add a passkey or set a password first" in client.get("/account/methods/").text
    assert SocialAccount.objects.count() == 1
    dora.set_password("correct horse battery staple")
    dora.save()
    client.post(link_for(dora))
    client.post("/account/provider/disconnect/")
    assert SocialAccount.objects.count() == 0
    assert [notice.about for notice in Notice.objects.filter(user=dora)] == ["the sign-in provider was disconnected"]


def test_who_was_deactivated_does_not_get_in_and_gets_no_role(client: Client, provider: FakeIdentityProvider) -> None:
    provider.know("s-1", preferred_username="dora", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    assert dora is not None
    accounts.deactivate(dora)
    assert client.get("/").status_code == 302
    provider.know("s-1", preferred_username="dora", groups=["admins"])
    browser = Client()
    answer = come_back(browser, provider, "s-1")
    assert answer["Location"] == "/account/inactive/"
    assert "Your account is not active" in browser.get("/account/inactive/").text
    assert (person_of(browser), is_administrator(User.objects.get())) == (None, False)
    accounts.activate(dora)
    assert not is_administrator(User.objects.get())


def test_a_reset_ends_the_connection_too(client: Client, provider: FakeIdentityProvider) -> None:
    provider.know("s-1", preferred_username="dora", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    assert dora is not None
    accounts.reset_sign_in(dora)
    assert client.get("/").status_code == 302
    assert sign_in(Client(), provider, "s-1") != dora


def test_a_change_that_needs_a_recent_sign_in_asks_again_at_the_provider(
    client: Client, provider: FakeIdentityProvider
) -> None:
    provider.know("s-1", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    make_old(client)
    asked = client.get("/account/methods/totp/activate/")
    assert asked["Location"] == "/sign-in/again/?next=%2Faccount%2Fmethods%2Ftotp%2Factivate%2F"
    page = client.get(asked["Location"])
    assert "Sign in again with Example" in page.text
    address = leave(client, next="/account/methods/totp/activate/")
    assert {"prompt": "login", "max_age": "0"}.items() <= parameters(address).items()
    answer = client.get(provider.let_in(address, "s-1"))
    assert answer["Location"] == "/account/methods/totp/activate/"
    assert client.get(answer["Location"]).status_code == 200
    assert person_of(client) == dora


def changing(changes: Claims) -> Callable[[Claims], str]:
    return lambda claims: signed({**claims, **changes})


def test_a_sign_in_that_the_provider_remembered_is_not_recent(client: Client, provider: FakeIdentityProvider) -> None:
    provider.know("s-1", groups=["staff"])
    remembered: Claims = {"auth_time": time.time() - 86_400}
    for claim, status in ((remembered, 302), ({"auth_time": None}, 302), ({}, 200)):
        provider.make_token = changing(claim)
        browser = Client()
        come_back(browser, provider, "s-1")
        assert browser.get("/account/methods/totp/activate/").status_code == status


def test_signing_in_again_takes_the_same_person_who_was_really_asked(
    client: Client, provider: FakeIdentityProvider
) -> None:
    provider.know("s-1", preferred_username="dora", groups=["staff"])
    provider.know("s-2", preferred_username="eve", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    sign_in(Client(), provider, "s-2")
    answer = client.get(provider.let_in(leave(client), "s-2"))
    assert (answer.status_code, "chose another account" in answer.text) == (403, True)
    provider.make_token = lambda claims: signed({**claims, "auth_time": time.time() - 86_400})
    answer = client.get(provider.let_in(leave(client), "s-1"))
    assert (answer.status_code, "without having signed in again there" in answer.text) == (403, True)
    assert person_of(client) == dora


@pytest.mark.parametrize(("asks_for_one", "place"), [(False, "/account/methods/?needed"), (True, None)])
def test_a_second_factor_of_the_provider_counts_only_by_setting(
    client: Client, provider: FakeIdentityProvider, settings: Settings, asks_for_one: bool, place: str | None
) -> None:
    settings.SECOND_FACTOR = "everyone"
    use(settings, provider, has_second_factor=asks_for_one)
    provider.know("s-1", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    assert dora is not None
    assert client.get("/").get("Location") == place
    by_link = Client()
    by_link.post(link_for(dora))
    assert by_link.get("/")["Location"] == "/account/methods/?needed", "the link proves no second factor"
    dora.set_password("correct horse battery staple")
    dora.save()
    by_password = Client()
    by_password.post("/sign-in/", {"login": dora.username, "password": "correct horse battery staple"})
    assert by_password.get("/")["Location"] == "/account/methods/?needed"


def test_the_factor_of_the_provider_counts_for_sockets_of_that_session_alone_and_for_programs(
    client: Client, provider: FakeIdentityProvider, settings: Settings
) -> None:
    provider.know("s-1", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    assert dora is not None
    run = factories.executing()
    factories.share(run, dora)
    by_link = Client()
    by_link.post(link_for(dora))
    seats = [SocketIdentity(browser.session.session_key, None) for browser in (client, by_link)]
    settings.SECOND_FACTOR = "everyone"
    assert (set(standing(run, seats)), provider_accounts.proves_second_factor(dora)) == (set(), False)
    use(settings, provider, has_second_factor=True)
    assert (set(standing(run, seats)), provider_accounts.proves_second_factor(dora)) == ({seats[0]}, True)


def test_a_code_is_asked_for_after_the_provider_of_those_who_have_an_app(
    client: Client, provider: FakeIdentityProvider
) -> None:
    provider.know("s-1", groups=["staff"])
    dora = sign_in(client, provider, "s-1")
    Authenticator.objects.create(user=dora, type="totp", data={"secret": "x"})
    browser = Client()
    assert come_back(browser, provider, "s-1")["Location"] == "/account/methods/authenticate/"
    assert person_of(browser) is None


def none(claims: Claims) -> str:
    return jwt.encode(claims, "", "none")


def by_another_key(claims: Claims) -> str:
    return jwt.encode(claims, private_key(1), "RS256", {"kid": "ours"})


def by_the_public_key(claims: Claims) -> str:
    """The attack that takes the published key for a shared secret."""
    return jwt.encode(claims, str(published(private_key())), "HS256", {"kid": "ours"})


HOSTILE: dict[str, Callable[[Claims], str]] = {
    "another issuer": lambda claims: signed({**claims, "iss": "https://elsewhere.example"}),
    "another audience": lambda claims: signed({**claims, "aud": "another-program"}),
    "several audiences": lambda claims: signed({**claims, "aud": [CLIENT, "another-program"]}),
    "another party": lambda claims: signed({**claims, "azp": "another-program"}),
    "another nonce": lambda claims: signed({**claims, "nonce": "0" * 64}),
    "no nonce": lambda claims: signed({name: value for name, value in claims.items() if name != "nonce"}),
    "expired": lambda claims: signed({**claims, "exp": time.time() - 3_600}),
    "from the future": lambda claims: signed({**claims, "iat": time.time() + 3_600}),
    "no expiry": lambda claims: signed({name: value for name, value in claims.items() if name != "exp"}),
    "no signature": none,
    "another key": by_another_key,
    "a shared secret": by_the_public_key,
    "a subject that is a list": lambda claims: jwt.api_jws.encode(b'{"sub": ["s-1"]}', private_key(), "RS256"),
    "another person than the userinfo": lambda claims: signed({**claims, "sub": "s-2"}),
    "no token": lambda claims: "",
    "a text": lambda claims: "a.b.c",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_token_that_does_not_hold_signs_nobody_in(
    client: Client, provider: FakeIdentityProvider, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    provider.know("s-1", preferred_username="dora", groups=["staff"])
    provider.make_token = HOSTILE[kind]
    answer = come_back(client, provider, "s-1")
    assert (answer.status_code, "does not prove who you are" in answer.text) == (502, True)
    assert (person_of(client), User.objects.count(), SocialAccount.objects.count()) == (None, 0, 0)
    assert [record.levelno for record in caplog.records if "identity provider" in record.message] == [logging.WARNING]
    assert SECRET not in caplog.text + answer.text


@pytest.mark.parametrize("subject", ["", "s" * 192, "s-1\x00", "s-1\u202e", "ß"])
def test_a_subject_that_cannot_be_stored_signs_nobody_in(
    client: Client, provider: FakeIdentityProvider, subject: str
) -> None:
    provider.make_token = changing({"sub": subject, "groups": ["staff"]})
    provider.answers["/userinfo"] = 200, json.dumps({"sub": subject}).encode()
    assert (come_back(client, provider, "s-1").status_code, User.objects.count()) == (502, 0)


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/.well-known/openid-configuration", 503, b"{}"),
        ("/.well-known/openid-configuration", 200, b"<html>"),
        ("/.well-known/openid-configuration", 200, b"[" * 100_000),
        ("/.well-known/openid-configuration", 302, b""),
        ("/.well-known/openid-configuration", 200, b" " * 1_000_001),
    ],
)
def test_a_provider_that_cannot_be_used_is_a_page_before_anything_begins(
    client: Client, provider: FakeIdentityProvider, path: str, status: int, body: bytes
) -> None:
    provider.answers[path] = status, body
    answer = client.post("/sign-in/provider/")
    assert (answer.status_code, "the log of the server names the reason" in answer.text) == (502, True)


ADDRESSES = ["http://elsewhere.example/token", "ftp://127.0.0.1/", "javascript:alert(1)", 7]


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("issuer", "https://elsewhere.example"),
        *itertools.product(["authorization_endpoint", "token_endpoint", "jwks_uri"], ADDRESSES),
    ],
)
def test_a_configuration_of_another_issuer_or_with_addresses_without_https_is_not_used(
    client: Client, provider: FakeIdentityProvider, name: str, address: object
) -> None:
    path = "/.well-known/openid-configuration"
    told = httpx2.get(f"{provider.url}{path}").json()
    provider.answers[path] = 200, json.dumps({**told, name: address}).encode()
    assert client.post("/sign-in/provider/").status_code == 502


@pytest.mark.parametrize(
    ("path", "status", "body", "logged"),
    [
        ("/oauth2/token", 400, b'{"error": "invalid_client"}', "/oauth2/token answers with 400 invalid_client"),
        ("/oauth2/token", 400, b'{"error": "<script>\\n"}', "/oauth2/token answers with 400"),
        ("/oauth2/token", 200, b"{}", "its answer has no ID token"),
        ("/oauth2/token", 200, b'{"id_token": "a.b.c", "expires_in": "soon"}', "its ID token does not hold"),
        ("/jwks", 200, b'{"keys": []}', "its ID token does not hold"),
        ("/jwks", 200, b'{"keys": [7]}', "its ID token does not hold"),
        ("/jwks", 500, b"", "/jwks answers with 500"),
        ("/userinfo", 401, b"{}", "/userinfo answers with 401"),
        ("/userinfo", 200, b"null", "/userinfo answers with something other than an object"),
    ],
)
def test_a_provider_that_fails_on_the_way_back_is_a_page_and_a_line_in_the_log(
    client: Client,
    provider: FakeIdentityProvider,
    caplog: pytest.LogCaptureFixture,
    path: str,
    status: int,
    body: bytes,
    logged: str,
) -> None:
    provider.know("s-1", groups=["staff"])
    provider.answers[path] = status, body
    answer = come_back(client, provider, "s-1")
    assert (answer.status_code, person_of(client)) == (502, None)
    assert logged in caplog.text
    assert "<script>" not in caplog.text


def test_a_provider_that_is_away_is_a_page(client: Client, settings: Settings, db: None) -> None:
    with providing() as gone:
        use(settings, gone)
    answer = client.post("/sign-in/provider/")
    assert (answer.status_code, "The sign-in with Example does not work at the moment" in answer.text) == (502, True)


def test_a_sign_in_that_was_cancelled_there_is_a_page(client: Client, provider: FakeIdentityProvider) -> None:
    answer = client.get(provider.deny(leave(client)))
    assert (answer.status_code, "was cancelled" in answer.text) == (403, True)


def test_an_error_of_the_provider_is_a_page_without_its_words(
    client: Client, provider: FakeIdentityProvider, caplog: pytest.LogCaptureFixture
) -> None:
    state = parameters(leave(client))["state"]
    words = {"state": state, "error": "server_error", "error_description": "Call 555-0100"}
    answer = client.get("/sign-in/provider/callback/", words)
    assert (answer.status_code, "555-0100" in answer.text + caplog.text) == (502, False)


def test_an_answer_of_another_browser_or_a_second_time_signs_nobody_in(
    client: Client, provider: FakeIdentityProvider
) -> None:
    provider.know("s-1", groups=["staff"])
    back = provider.let_in(leave(client), "s-1")
    thief = Client()
    for browser, status in ((thief, 400), (client, 302), (client, 400)):
        assert browser.get(back).status_code == status
    assert person_of(thief) is None


def test_a_code_that_was_issued_for_another_session_signs_nobody_in(
    client: Client, provider: FakeIdentityProvider
) -> None:
    """A stolen code is put into a sign-in of one's own."""
    provider.know("s-1", groups=["staff"])
    stolen = parameters(provider.let_in(leave(Client()), "s-1"))["code"]
    state = parameters(leave(client))["state"]
    assert client.get("/sign-in/provider/callback/", {"code": stolen, "state": state}).status_code == 502
    assert person_of(client) is None


@pytest.mark.parametrize("query", ["", "?code=1", "?state=1", "?code=1&state=%00", "?error=access_denied&state=x"])
def test_an_answer_without_a_beginning_is_a_page(client: Client, provider: FakeIdentityProvider, query: str) -> None:
    answer = client.get(f"/sign-in/provider/callback/{query}")
    assert (answer.status_code, "It was begun more than ten minutes ago" in answer.text) == (400, True)


def test_after_many_answers_that_do_not_work_one_waits(client: Client, provider: FakeIdentityProvider) -> None:
    found = [client.get("/sign-in/provider/callback/?code=1&state=1").status_code for _ in range(21)]
    assert (set(found[:20]), found[20]) == ({400}, 429)


def test_the_address_that_begins_a_sign_in_cannot_be_given_more_to_ask_for(
    client: Client, provider: FakeIdentityProvider
) -> None:
    plain = parameters(leave(client))
    more = parameters(leave(client, "/sign-in/provider/?scope=admin&auth_params=prompt%3Dnone&process=connect"))
    assert set(more["scope"].split()) == set(plain["scope"].split()) == {"openid", "profile"}
    assert "prompt" not in more
