"""Addresses for mail: confirmed by a link, used to set a new password, told of changes. All goes through the outbox."""

from __future__ import annotations

import re
from datetime import time
from email.message import Message

import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from runs.enums import Digest, NoticeKind
from runs.logs import without_tokens
from runs.models import Delivery, Notice, User
from runs.notices import deliveries
from runs.people import accounts, outbox
from runs.web.people.sign_in_pages import link_for
from tests import factories
from tests.fakes.smtp_server import SmtpServer
from tests.integration.notices.receiver import asked, choose, send, with_mail
from tests.integration.web.test_sign_in_methods import make_old

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]

PASSWORD, OTHER = "correct horse battery staple", "wrong staple battery horse"
LINK = re.compile(r"^(https://\S+/account/\S+)$", re.MULTILINE)
SITE = "https://pevsite.example.org"


@pytest.fixture(autouse=True)
def _no_limits_of_other_tests() -> None:
    cache.clear()


@pytest.fixture
def browser(client: Client, alice: User) -> Client:
    """Alice has just signed in."""
    client.post(link_for(alice))
    return client


def text_of(mail: Message) -> str:
    content = mail.get_payload(decode=True)
    assert isinstance(content, bytes)
    return content.decode().replace("\r\n", "\n")


def link_in(smtp: SmtpServer, address: str) -> str:
    """The path of the link in the last mail, which went to this address."""
    people, mail = smtp.received[-1]
    assert people == [address]
    (link,) = LINK.findall(text_of(mail))
    assert link.startswith(f"{SITE}/account/")
    return str(link).removeprefix(SITE)


def ask(client: Client, address: str) -> tuple[int, str]:
    answer = client.post("/account/password/reset/", {"email": address})
    return answer.status_code, answer.get("Location", "")


def test_an_address_is_confirmed_by_a_link_to_the_public_address(
    browser: Client, alice: User, smtp: SmtpServer, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    given = {"action_add": "", "email": "alice@example.org"}
    assert browser.post("/account/email/", given, headers={"host": "evil.example"}).status_code == 302
    assert "not confirmed" in browser.get("/account/email/").text
    assert send() == 1
    path = link_in(smtp, "alice@example.org")
    assert "evil.example" not in text_of(smtp.received[0][1])
    assert EmailAddress.objects.get().verified is False
    page = Client().get(path)
    assert "Is this your address?" in page.text
    assert EmailAddress.objects.get().verified is False, "a preview confirms nothing"
    Client().post(path)
    assert EmailAddress.objects.get().verified is True
    assert "This link no longer works" in Client().get(path).text
    assert "alice@example.org" in browser.get("/account/notices/").text


def test_a_look_at_a_link_of_somebody_else_signs_no_one_out(browser: Client, bob: User, smtp: SmtpServer) -> None:
    with_mail(bob, verified=False)
    outbox.tell(bob, NoticeKind.EMAIL_ADDED, occurrence="1", address="bob@example.org")
    send()
    assert browser.get(link_in(smtp, "bob@example.org")).status_code == 200
    assert browser.get("/").status_code == 200


def test_a_forgotten_password_is_set_again_once(client: Client, alice: User, smtp: SmtpServer) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    with_mail(alice)
    other = Client()
    other.post("/sign-in/", {"login": "alice", "password": PASSWORD})
    assert ask(client, "Alice@Example.org") == (302, "/account/password/reset/sent/")
    assert send() == 1
    path = link_in(smtp, "Alice@Example.org".lower())
    form = client.get(path)["Location"]
    new = {"password1": OTHER, "password2": OTHER}
    assert client.post(form, new)["Location"] == "/account/password/reset/done/"
    alice.refresh_from_db()
    assert alice.check_password(OTHER)
    assert other.get("/").status_code == 302, "sessions of before have ended"
    assert "This link no longer works" in Client().get(path).text
    assert send() == 1
    assert smtp.subjects[-1] == "Your account: your password was set again by mail"


def test_nothing_tells_whether_someone_has_an_address(client: Client, alice: User, bob: User, smtp: SmtpServer) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    with_mail(alice, verified=False)
    with_mail(bob)
    gone = factories.person("dora", is_active=False)
    gone.set_password(PASSWORD)
    gone.save()
    with_mail(gone)
    smtp.stop()
    for address in ("alice@example.org", "bob@example.org", "dora@example.org", "nobody@example.org"):
        assert ask(client, address) == (302, "/account/password/reset/sent/")
    assert not Notice.objects.exists(), "not confirmed, no password, not active, unknown"
    EmailAddress.objects.update(verified=True)
    assert ask(client, "alice@example.org") == (302, "/account/password/reset/sent/")
    assert Notice.objects.get().user == alice


def test_no_link_is_stored_or_logged(client: Client, alice: User, smtp: SmtpServer) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    with_mail(alice)
    ask(client, "alice@example.org")
    send()
    path = link_in(smtp, "alice@example.org")
    rows = [str(row) for table in (Notice, Delivery) for row in table.objects.values_list()]
    assert path.split("-", 1)[1].strip("/") not in "".join(rows)
    assert without_tokens(f"GET {path} 500") == "GET /account/password/reset/… 500"
    assert without_tokens("/account/email/MQ:1abc:x-y_z/") == "/account/email/…"


def test_a_reset_that_is_no_longer_needed_is_not_sent(client: Client, alice: User, smtp: SmtpServer) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    with_mail(alice)
    ask(client, "alice@example.org")
    deliveries.plan()
    accounts.reset_sign_in(alice)
    assert send() == 0
    assert Delivery.objects.get().problem == "The link is no longer needed."


def test_a_change_of_how_one_signs_in_is_told_by_mail_also_in_quiet_hours(
    browser: Client, alice: User, smtp: SmtpServer
) -> None:
    with_mail(alice)
    choose(alice, quiet_from=time(0), quiet_until=time.max, digest=Digest.DAILY)
    asked()
    assert (send(), Delivery.objects.count()) == (0, 1), "a decision waits for the morning"
    browser.post("/account/password/new/", {"password1": PASSWORD, "password2": PASSWORD})
    assert send() == 1
    assert smtp.subjects == ["Your account: a password was set"]
    body = text_of(smtp.received[0][1])
    assert f"{SITE}/account/methods/" in body
    assert "tell your administrator" in body


def test_an_address_that_is_removed_is_told_if_it_was_confirmed(browser: Client, alice: User, smtp: SmtpServer) -> None:
    with_mail(alice)
    EmailAddress.objects.create(user=alice, email="other@example.org", verified=False, primary=False)
    for address in ("other@example.org", "alice@example.org"):
        browser.post("/account/email/", {"action_remove": "", "email": address})
    assert not EmailAddress.objects.exists()
    assert send() == 1
    (people, mail) = smtp.received[0]
    assert (people, mail["Subject"]) == (
        ["alice@example.org"],
        "Your account: the e-mail address alice@example.org was removed",
    )


def test_addresses_need_a_recent_sign_in(alice_client: Client, smtp: SmtpServer) -> None:
    make_old(alice_client)
    answer = alice_client.post("/account/email/", {"action_add": "", "email": "thief@example.org"})
    assert answer.status_code == 302
    assert not EmailAddress.objects.exists()


def test_without_a_mail_server_there_are_no_such_pages(browser: Client, client: Client) -> None:
    for path in ("/account/email/", "/account/email/x/", "/account/password/reset/", "/account/password/reset/1-x/"):
        assert browser.get(path).status_code == 404
    assert "/account/email/" not in browser.get("/account/methods/").text
    assert "Forgotten?" not in Client().get("/sign-in/").text


def test_the_sign_in_offers_it_where_mail_is_sent(smtp: SmtpServer) -> None:
    assert 'href="/account/password/reset/"' in Client().get("/sign-in/").text
    assert "Forgotten password" in Client().get("/account/password/reset/").text
