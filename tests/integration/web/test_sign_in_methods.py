"""Passwords, codes of an app and recovery codes; signing in again before a change; sessions of one's own."""

import base64
import hashlib
import hmac
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from runs.models import User
from runs.people import accounts
from runs.web.live.access import SocketIdentity, standing
from runs.web.people.sign_in_pages import link_for
from runs.web.site.sessions import SessionStore
from tests import factories

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def _no_failures_of_other_tests() -> None:
    cache.clear()


@pytest.fixture
def with_password(alice: User) -> User:
    alice.set_password(PASSWORD)
    alice.save()
    return alice


def sign_in(client: Client, password: str = PASSWORD, **more: str) -> str:
    answer = client.post("/sign-in/", {"login": "alice", "password": password, **more})
    return answer.get("Location", str(answer.status_code))


def code(secret: str, at: float | None = None) -> str:
    """The code of an authenticator app (RFC 6238)."""
    counter = int((time.time() if at is None else at) // 30).to_bytes(8, "big")
    mac = hmac.digest(base64.b32decode(secret), counter, hashlib.sha1)
    start = mac[-1] & 15
    return f"{(int.from_bytes(mac[start : start + 4]) & 0x7FFFFFFF) % 1_000_000:06}"


def set_up_app(client: Client) -> str:
    """Sets up an app, and returns its secret."""
    page = client.get("/account/methods/totp/activate/")
    secret = str(page.context["form"].secret)
    assert client.post("/account/methods/totp/activate/", {"code": code(secret)}).status_code == 302
    return secret


def test_a_password_signs_in_and_leads_to_the_page_that_was_wanted(client: Client, with_password: User) -> None:
    assert sign_in(client, next="/runs/new/") == "/runs/new/"
    assert client.get("/").context["user"] == with_password
    assert sign_in(Client(), next="https://elsewhere.example/") == "/"


@pytest.mark.parametrize("name", ["alice", "nobody"])
def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(
    client: Client, with_password: User, name: str
) -> None:
    answer = client.post("/sign-in/", {"login": name, "password": "wrong horse"})
    assert (answer.status_code, "The username and/or password you specified are not correct." in answer.text) == (
        200,
        True,
    )
    assert "_auth_user_id" not in client.session


def test_nobody_without_a_password_signs_in_with_an_empty_one(client: Client, alice: User) -> None:
    for password in ("", " ", alice.password, "!"):
        assert sign_in(client, password) == "200"


def test_after_five_wrong_passwords_a_name_waits_also_with_the_right_one(client: Client, with_password: User) -> None:
    for _ in range(5):
        sign_in(client, "wrong horse")
    assert sign_in(client) == "200"
    assert "Too many failed login attempts" in client.post("/sign-in/", {"login": "alice", "password": PASSWORD}).text
    assert client.post(link_for(with_password))["Location"] == "/", "a link still works"


def test_nobody_signs_up(client: Client, db: None) -> None:
    assert [client.get(page).status_code for page in ("/account/signup/", "/signup/")] == [404, 404]
    assert "Sign up" not in client.get("/sign-in/").text


def test_a_link_is_not_enough_for_those_who_have_an_app(client: Client, alice: User) -> None:
    client.post(link_for(alice))
    secret = set_up_app(client)
    other = Client()
    assert (
        other.post(link_for(alice), query_params={"next": "/runs/new/"})["Location"] == "/account/methods/authenticate/"
    )
    assert other.get("/")["Location"] == "/sign-in/?next=/"
    assert other.post("/account/methods/authenticate/", {"code": "000000"}).status_code == 200
    Authenticator.objects.filter(user=alice).update(last_used_at=None)
    cache.clear()  # a code works once
    answer = other.post("/account/methods/authenticate/", {"code": code(secret)})
    assert (answer.status_code, answer["Location"]) == (302, "/runs/new/")
    assert other.get("/").status_code == 200


def test_a_recovery_code_replaces_the_app_once(client: Client, alice: User) -> None:
    client.post(link_for(alice))
    set_up_app(client)
    codes = Authenticator.objects.get(user=alice, type="recovery_codes").wrap().get_unused_codes()
    for expected in (302, 200):
        other = Client()
        other.post(link_for(alice))
        assert other.post("/account/methods/authenticate/", {"code": codes[0]}).status_code == expected


def test_what_decides_who_gets_in_needs_a_recent_sign_in(client: Client, with_password: User) -> None:
    sign_in(client)
    assert client.get("/account/methods/totp/activate/").status_code == 200
    make_old(client)
    asked = client.get("/account/methods/totp/activate/")
    assert asked["Location"] == "/account/again/?next=%2Faccount%2Fmethods%2Ftotp%2Factivate%2F"
    answer = client.post(asked["Location"], {"password": "wrong horse"})
    assert answer.status_code == 200
    answer = client.post(asked["Location"], {"password": PASSWORD})
    assert answer["Location"] == "/account/methods/totp/activate/"
    assert client.get(answer["Location"]).status_code == 200


def test_those_who_have_only_links_need_a_new_one_and_it_leads_back(client: Client, alice: User) -> None:
    client.post(link_for(alice))
    make_old(client)
    asked = client.get("/account/methods/webauthn/add/")
    assert asked["Location"] == "/sign-in/again/?next=%2Faccount%2Fmethods%2Fwebauthn%2Fadd%2F"
    page = client.get(asked["Location"])
    assert "people link alice" in page.text
    answer = client.post(link_for(alice))
    assert answer["Location"] == "/account/methods/webauthn/add/"
    assert client.get(answer["Location"]).status_code == 200


def make_old(client: Client) -> None:
    session = client.session
    session["pev_began"] -= 3_600
    session.save()


def test_a_person_sees_and_ends_their_own_sessions_and_nobody_elses(client: Client, alice: User, charlie: User) -> None:
    other, stranger = Client(headers={"User-Agent": FIREFOX}), Client()
    for browser, person in ((client, alice), (other, alice), (stranger, charlie)):
        browser.post(link_for(person))
    page = client.get("/account/sessions/").text
    assert "Firefox on Linux" in page
    of_other = UserSession.objects.get(session_key=other.session.session_key)
    assert stranger.post(f"/account/sessions/{of_other.pk}/end/").status_code == 404
    assert other.get("/").status_code == 200
    assert client.post(f"/account/sessions/{of_other.pk}/end/")["Location"] == "/account/sessions/"
    assert [browser.get("/").status_code for browser in (client, other, stranger)] == [200, 302, 200]


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"


def test_nobody_renames_or_removes_a_passkey_of_somebody_else(client: Client, alice: User, charlie: User) -> None:
    key = Authenticator.objects.create(user=alice, type="webauthn", data={"name": "Laptop", "credential": {}})
    client.post(link_for(charlie))
    for page in ("edit", "remove"):
        address = f"/account/methods/webauthn/keys/{key.pk}/{page}/"
        assert [client.get(address).status_code, client.post(address, {"name": "x"}).status_code] == [404, 404]
    assert str(Authenticator.objects.get()) == "Laptop"


def test_all_other_sessions_end_together(client: Client, alice: User) -> None:
    others = [Client(), Client()]
    for browser in (client, *others):
        browser.post(link_for(alice))
    client.post("/account/sessions/")
    assert [browser.get("/").status_code for browser in (client, *others)] == [200, 302, 302]


def test_a_changed_password_ends_the_other_sessions(client: Client, with_password: User) -> None:
    other = Client()
    for browser in (client, other):
        sign_in(browser)
    new = "another horse and another staple"
    client.post("/account/password/", {"oldpassword": PASSWORD, "password1": new, "password2": new})
    assert [browser.get("/").status_code for browser in (client, other)] == [200, 302]


@pytest.mark.parametrize(
    ("password", "words"),
    [("short horse", "at least 12 characters"), ("1qaz2wsx3edc", "too common")],
)
def test_a_password_that_is_easily_guessed_is_refused(client: Client, alice: User, password: str, words: str) -> None:
    client.post(link_for(alice))
    answer = client.post("/account/password/new/", {"password1": password, "password2": password})
    assert (answer.status_code, words in answer.text) == (200, True)


@pytest.mark.parametrize(("who", "place"), [("everyone", "/account/methods/?needed"), ("administrators", None)])
def test_a_second_factor_can_be_required(
    client: Client, alice: User, settings: Settings, who: str, place: str | None
) -> None:
    client.post(link_for(alice))
    settings.SECOND_FACTOR = who
    assert client.get("/").get("Location") == place
    root = factories.person("root", is_superuser=True)
    browser = Client()
    browser.post(link_for(root))
    assert browser.get("/")["Location"] == "/account/methods/?needed"
    assert "Add a passkey or an authenticator app to go on." in browser.get("/account/methods/?needed").text
    set_up_app(browser)
    assert browser.get("/").status_code == 200


def test_an_administrator_helps_those_who_have_lost_their_device(client: Client, with_password: User) -> None:
    sign_in(client)
    set_up_app(client)
    accounts.reset_sign_in(with_password)
    assert client.get("/").status_code == 302
    assert sign_in(Client()) == "200"
    assert Client().post(link_for(with_password))["Location"] == "/"


def test_a_session_that_began_before_all_were_ended_is_over(client: Client, alice: User) -> None:
    client.post(link_for(alice))
    before = dict(client.session.items())
    accounts.sign_out_everywhere(alice)
    # One that was being made at that moment is stored after the others were deleted.
    for began, status in ((before["pev_began"], 302), (before["pev_began"] + 60, 200)):
        late = SessionStore()
        late.update({**before, "pev_began": began})
        late.save(must_create=True)
        browser = Client()
        browser.cookies["sessionid"] = late.session_key or ""
        assert browser.get("/").status_code == status


def test_the_port_of_the_host_does_not_begin_the_count_again(client: Client, with_password: User) -> None:
    for port in range(5):
        client.post("/sign-in/", {"login": "Alice", "password": "wrong"}, headers={"Host": f"testserver:{8000 + port}"})
    assert sign_in(client) == "200"


def test_a_sign_in_that_waits_for_a_code_can_be_given_up(client: Client, alice: User) -> None:
    client.post(link_for(alice))
    set_up_app(client)
    other = Client()
    other.post(link_for(alice))
    assert other.get("/sign-in/")["Location"] == "/account/methods/authenticate/"
    assert other.post("/sign-out/")["Location"] == "/sign-in/"
    assert other.get("/sign-in/").status_code == 200


def test_a_code_is_not_asked_for_after_a_reset(client: Client, alice: User) -> None:
    client.post(link_for(alice))
    set_up_app(client)
    other = Client()
    other.post(link_for(alice))
    accounts.reset_sign_in(alice)
    assert other.get("/sign-in/").status_code == 200


UNREADABLE = ["", "x", "9" * 5_000, "[" * 100_000]
"""The last two are JSON, and more than Python reads."""


@pytest.mark.parametrize("answer", UNREADABLE)
def test_a_passkey_that_cannot_be_read_is_not_added(client: Client, alice: User, answer: str) -> None:
    client.post(link_for(alice))
    client.get("/account/methods/webauthn/add/")
    sent = client.post("/account/methods/webauthn/add/", {"name": "Laptop", "credential": answer})
    assert (sent.status_code, list(sent.context["form"].errors)) == (200, ["credential"])
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize(
    "answer", [*UNREADABLE, "[]", "{}", '{"id": "AA"}', '{"id": "AA", "rawId": 1, "response": {}}']
)
def test_an_answer_that_is_no_passkey_signs_nobody_in(client: Client, db: None, answer: str) -> None:
    client.get("/account/methods/webauthn/login/", headers={"Accept": "application/json"})
    sent = client.post("/account/methods/webauthn/login/", {"credential": answer})
    assert (sent.status_code, sent["Location"]) == (302, "/sign-in/")
    assert "_auth_user_id" not in client.session


def test_a_new_password_is_not_kept_while_a_person_signs_in_again(client: Client, alice: User) -> None:
    client.post(link_for(alice))
    make_old(client)
    sent = client.post("/account/password/new/", {"password1": PASSWORD, "password2": PASSWORD})
    assert sent["Location"] == "/account/password/new/"
    assert client.get("/account/password/new/")["Location"].startswith("/sign-in/again/")
    assert PASSWORD not in str(dict(client.session.items()))


def test_a_new_password_is_taken_after_the_old_one_was_asked_for_again(client: Client, with_password: User) -> None:
    sign_in(client)
    make_old(client)
    again = client.get("/account/password/")["Location"]
    assert client.post(again, {"password": PASSWORD})["Location"] == "/account/password/"
    new = "another horse and another staple"
    client.post("/account/password/", {"oldpassword": PASSWORD, "password1": new, "password2": new})
    assert sign_in(Client(), new) == "/"


def test_sessions_that_have_run_out_are_forgotten(client: Client, alice: User) -> None:
    client.post(link_for(alice))
    other = Client()
    other.post(link_for(alice))
    Session.objects.filter(session_key=other.session.session_key).update(expire_date="2020-01-01T00:00:00Z")
    accounts.forget_ended_sessions()
    assert [Session.objects.count(), UserSession.objects.count()] == [1, 1]
    assert client.get("/").status_code == 200


def test_without_a_required_factor_there_is_no_socket(alice: User, settings: Settings) -> None:
    run = factories.executing()
    client = Client()
    client.force_login(alice)
    seat = SocketIdentity(client.session.session_key, None)
    assert len(standing(run, [seat])) == 1
    settings.SECOND_FACTOR = "everyone"
    assert standing(run, [seat]) == {}
