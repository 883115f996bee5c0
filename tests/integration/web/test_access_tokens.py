"""The page of access tokens: of each person alone, shown once; administrators end those of others where people are."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries, Settings

from runs.models import AccessToken, User
from runs.people import access_tokens
from tests import factories as made

TOKEN = re.compile(r"pev_[A-Za-z0-9_-]{43}")


@pytest.fixture(autouse=True)
def on(settings: Settings) -> None:
    settings.MCP_SERVER = True


def make(browser: Client, name: str = "laptop", days: str = "30") -> str:
    return browser.post("/access-tokens/", {"name": name, "days": days, "scopes": ["runs:read"]}).text


def boxes(page: str) -> dict[str, bool]:
    """The scopes that the page offers, and whether each is chosen."""
    return {scope: bool(checked) for scope, checked in re.findall(r'name="scopes" value="([^"]+)"( checked)?', page)}


def test_a_token_is_shown_once_and_works(alice: User, alice_client: Client) -> None:
    answer = alice_client.post(
        "/access-tokens/", {"name": "laptop", "days": "30", "scopes": ["gates:read", "runs:read"]}
    )
    assert "no-store" in answer["Cache-Control"]
    (token,) = set(TOKEN.findall(answer.text))
    row = access_tokens.usable_token(token)
    assert row is not None
    assert (row.user, row.name, row.scopes) == (alice, "laptop", "runs:read gates:read")
    later = alice_client.get("/access-tokens/").text
    assert ("laptop" in later, TOKEN.search(later)) == (True, None)
    allows = later[later.index("allows <code") :]
    assert re.findall(r"<code title=.*?>(.*?)</code>", allows) == ["runs:read", "gates:read"]


@pytest.mark.parametrize("mcp", [True, False])
@pytest.mark.parametrize("api", [True, False])
def test_the_page_is_there_where_programs_can_use_a_token_and_says_how(
    alice_client: Client, settings: Settings, mcp: bool, api: bool
) -> None:
    settings.MCP_SERVER, settings.API = mcp, api
    assert ('href="/access-tokens/"' in alice_client.get("/account/methods/").text) is (mcp or api)
    off = "Access for programs is turned off on this installation."
    assert (off in alice_client.get("/access-tokens/").text) is not (mcp or api)
    answer = alice_client.post("/access-tokens/", {"name": "laptop", "days": "30", "scopes": "runs:read"})
    assert (answer.status_code, AccessToken.objects.count()) == ((200, 1) if mcp or api else (422, 0))
    assert ('"url": "http://testserver/mcp"' in answer.text) is mcp
    assert ('curl --header "Authorization: Bearer pev_' in answer.text) is api
    assert ("http://testserver/api/v1/" in answer.text) is api


def test_scopes_are_offered_to_those_who_may_grant_them_and_shown_as_without_effect_later(
    client: Client, alice: User, settings: Settings
) -> None:
    client.force_login(alice)
    usual = {"runs:read": True, "runs:write": True, "gates:read": True}
    assert boxes(client.get("/access-tokens/").text) == usual
    settings.API_DECIDES = True
    assert boxes(client.get("/access-tokens/").text) == usual | {"gates:decide": False}
    root = made.person("root", is_superuser=True)
    client.force_login(root)
    assert boxes(client.get("/access-tokens/").text) == usual | {"gates:decide": False, "admin": False}
    access_tokens.issue(root, "laptop", 30, ["gates:decide", "admin"])
    assert "(not now)" not in client.get("/access-tokens/").text
    User.objects.filter(pk=root.pk).update(is_superuser=False)
    page = client.get("/access-tokens/").text
    assert re.findall(r"<code title=.*?>(.*?)</code>( \(not now\))?", page) == [
        ("gates:decide", ""),
        ("admin", " (not now)"),
    ]


@pytest.mark.parametrize(
    ("name", "days", "scopes", "says"),
    [
        ("", "90", "gates:read", "Give the token a name"),
        ("x" * 61, "90", "gates:read", "60 are allowed"),
        ("laptop", "31", "gates:read", "Choose one of the lifetimes."),
        ("laptop", "", "gates:read", "Choose a lifetime."),
        ("laptop", "x" * 10_000, "gates:read", "Choose one of the lifetimes."),
        ("<script>alert(1)</script>" * 3, "90", "gates:read", "60 are allowed"),
        ("laptop", "90", "", "Choose at least one thing that the token allows"),
        ("laptop", "90", "gates:read runs:delete", "Choose from the list what the token allows."),
        ("laptop", "90", "gates:read gates:decide", "This installation has no tokens that allow “gates:decide”."),
        ("laptop", "90", "gates:read admin", "Only administrators have tokens that allow “admin”."),
    ],
)
def test_what_cannot_be_made_is_refused_in_words_and_all_that_was_filled_in_is_kept(
    alice_client: Client, name: str, days: str, scopes: str, says: str
) -> None:
    answer = alice_client.post("/access-tokens/", {"name": name, "days": days, "scopes": scopes.split()})
    assert answer.status_code == 422
    assert says in answer.text
    assert f'value="{escape(name)}"' in answer.text
    assert ('<option value="90" selected>' in answer.text) is (days == "90")
    assert boxes(answer.text) == {"runs:read": False, "runs:write": False, "gates:read": bool(scopes)}
    assert "<script>alert" not in answer.text
    assert AccessToken.objects.count() == 0


def test_a_name_is_no_markup_and_null_characters_are_left_out(alice_client: Client) -> None:
    page = make(alice_client, "<b>la\0ptop</b>")
    assert "&lt;b&gt;laptop&lt;/b&gt;" in page
    assert AccessToken.objects.get().name == "<b>laptop</b>"


def test_one_is_revoked_and_stays_on_the_list_as_ended(alice_client: Client) -> None:
    (token,) = set(TOKEN.findall(make(alice_client)))
    row = AccessToken.objects.get()
    answer = alice_client.post(f"/access-tokens/{row.pk}/revoke/", follow=True)
    assert "The access token “laptop” is revoked" in answer.text
    assert ('<h2 id="ended-title">Ended</h2>' in answer.text, "None. No program acts for you." in answer.text) == (
        True,
        True,
    )
    assert access_tokens.usable_token(token) is None


def test_nobody_sees_or_revokes_those_of_others(alice: User, alice_client: Client, charlie_client: Client) -> None:
    token = access_tokens.issue(alice, "laptop", 30)
    row = AccessToken.objects.get()
    assert "laptop" not in charlie_client.get("/access-tokens/").text
    assert charlie_client.post(f"/access-tokens/{row.pk}/revoke/").status_code == 404
    assert Client().post(f"/access-tokens/{row.pk}/revoke/").status_code == 302
    assert access_tokens.usable_token(token) is not None


def test_an_administrator_ends_those_of_others(client: Client, alice: User, bob: User) -> None:
    client.force_login(made.person("root", is_superuser=True))
    hers, his = access_tokens.issue(alice, "laptop", 30), access_tokens.issue(bob, "desk", 30)
    access_tokens.issue(alice, "phone", 30)
    page = client.get("/people/").text
    assert "2 access tokens" in page
    assert "1 access token<" in page
    answer = client.post(f"/people/{alice.pk}/", {"verb": "revoke"}, follow=True)
    assert "The access tokens of alice have ended: no program acts for them." in answer.text
    assert access_tokens.usable_token(hers) is None
    assert access_tokens.usable_token(his) is not None
    assert "Revoke access tokens" in answer.text


def test_the_list_of_people_takes_one_query_for_all_tokens(
    client: Client, alice: User, bob: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(made.person("root", is_superuser=True))
    access_tokens.issue(alice, "laptop", 30)
    with django_assert_num_queries(6):
        client.get("/people/")
    for number in range(3):
        access_tokens.issue(bob, str(number), 30)
    with django_assert_num_queries(6):
        client.get("/people/")


def test_neither_the_log_nor_an_address_has_a_token(alice_client: Client, caplog: pytest.LogCaptureFixture) -> None:
    (token,) = set(TOKEN.findall(make(alice_client)))
    alice_client.post(f"/access-tokens/{AccessToken.objects.get().pk}/revoke/")
    assert "an access token was made" in caplog.text
    assert token not in caplog.text
