"""The page on which a person chooses their notices, and that of administrators about what could not be sent."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from runs.enums import AuditKind, DeliveryStatus, Digest, NoticeChannel, NoticeKind
from runs.lifecycle.gate_decisions import cancel
from runs.models import AuditEntry, Delivery, Notice, NoticeSettings, User
from runs.notices import deliveries
from runs.notices.browser import became_due
from runs.people.outbox import tell
from runs.pev.decision_limits import parse_installation
from runs.web.operations.setup_findings import Finding, findings
from tests import factories
from tests.integration.notices.receiver import asked, choose, with_mail

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]

SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]{44}")
HOOK = "https://hooks.example/alice?key=a-secret-of-alice"


@pytest.fixture(autouse=True)
def on(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://pevsite.example.org"
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    settings.WEBHOOKS = "hooks.example"
    settings.CHAT_SERVICES = frozenset({"ntfys"})


def say(browser: Client, verb: str, **fields: Any) -> Any:
    return browser.post("/account/notices/", {"verb": verb, **fields})


def test_what_a_person_chooses_is_kept_and_shown(alice: User, alice_client: Client) -> None:
    ticks = ["decision_needed:email", "decision_needed:webhook", "run_ended:chat"]
    times = {"digest": "daily", "daily_at": "07:30", "quiet_from": "22:00", "quiet_until": "06:00"}
    assert say(alice_client, "save", wanted=ticks, **times).status_code == 302
    row = NoticeSettings.objects.get(user=alice)
    assert row.channels == {
        NoticeKind.DECISION_NEEDED: (NoticeChannel.EMAIL, NoticeChannel.WEBHOOK),
        NoticeKind.DECISION_DUE: (),
        NoticeKind.ASSIGNED: (),
        NoticeKind.RUN_ENDED: (NoticeChannel.CHAT,),
    }
    assert (row.digest, row.daily_at, row.quiet_from, row.quiet_until) == (
        *(Digest.DAILY, time(7, 30)),
        *(time(22), time(6)),
    )
    page = alice_client.get("/account/notices/").text
    assert re.findall(r'value="(\w+:\w+)" checked', page) == ticks
    assert [f'value="{text}"' in page for text in ("07:30", "22:00", "06:00")] == [True, True, True]
    assert '<option value="daily" selected>' in page
    assert AuditEntry.objects.get(kind=AuditKind.SETTING_CHANGED).subject == "notices"


def test_a_channel_that_is_off_now_keeps_its_ticks(alice: User, alice_client: Client, settings: Settings) -> None:
    say(alice_client, "save", wanted=["run_ended:chat"])
    settings.CHAT_SERVICES = frozenset()
    say(alice_client, "save", wanted=["run_ended:email"])
    row = NoticeSettings.objects.get(user=alice)
    assert row.channels[NoticeKind.RUN_ENDED] == (NoticeChannel.EMAIL, NoticeChannel.CHAT)


@pytest.mark.parametrize(
    ("verb", "fields", "says"),
    [
        ("save", {"quiet_from": "22:00"}, "Give both times of the quiet hours, or none."),
        ("save", {"quiet_from": "22:00", "quiet_until": "22:00"}, "begin and end at the same time"),
        ("save", {"quiet_from": "25:00"}, "Give times as hours and minutes"),
        ("save", {"wanted": ["everything:email"]}, "Choose one of the boxes."),
        ("save", {"wanted": ["account:email"]}, "Choose one of the boxes."),
        ("save", {"digest": "x" * 5_000}, "Choose when notices are sent."),
        ("webhook", {"webhook_address": "https://169.254.169.254/"}, "sends nothing to 169.254.169.254"),
        ("webhook", {"webhook_address": ""}, "It begins with https://."),
        ("chat", {"chat_address": "file:///etc/passwd"}, "Addresses must begin with ntfys://."),
        ("test", {}, "no address yet"),
        ("delete", {}, "Choose one of the buttons."),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(
    alice_client: Client, verb: str, fields: dict[str, Any], says: str
) -> None:
    answer = say(alice_client, verb, **fields)
    assert answer.status_code == 422
    assert says in answer.text
    assert not NoticeSettings.objects.exists()


def test_the_secret_of_a_webhook_is_shown_once_and_its_address_never_again(alice: User, alice_client: Client) -> None:
    answer = say(alice_client, "webhook", webhook_address=HOOK)
    (secret,) = set(SECRET.findall(answer.text))
    row = NoticeSettings.objects.get(user=alice)
    assert (row.webhook_address, row.webhook_secret) == (HOOK, secret)
    page = alice_client.get("/account/notices/").text
    assert ("hooks.example" in page, "a-secret-of-alice" in page, SECRET.search(page)) == (True, False, None)
    assert "a-secret" not in str(list(AuditEntry.objects.values_list()))
    say(alice_client, "remove_webhook")
    row.refresh_from_db()
    assert (row.webhook_address, row.webhook_secret) == ("", "")


def test_the_address_of_a_chat_is_not_shown_again(alice: User, alice_client: Client) -> None:
    assert say(alice_client, "chat", chat_address="ntfys://ntfy.example/a-secret-of-alice").status_code == 302
    page = alice_client.get("/account/notices/").text
    assert ("ntfys://" in page, "a-secret-of-alice" in page, "ntfy.example" in page) == (True, False, False)
    say(alice_client, "remove_chat")
    assert NoticeSettings.objects.get(user=alice).chat_address == ""


def test_a_test_goes_through_the_outbox_and_once_a_minute(alice: User, alice_client: Client) -> None:
    with_mail(alice)
    assert say(alice_client, "test").status_code == 302
    assert Notice.objects.get(user=alice).kind == NoticeKind.TEST
    assert deliveries.plan() == 1
    assert Delivery.objects.get().channel == NoticeChannel.EMAIL
    assert "Wait a minute" in say(alice_client, "test").text
    assert Notice.objects.count() == 1


def test_without_a_channel_the_page_says_so(alice_client: Client, settings: Settings) -> None:
    settings.MAILERS, settings.WEBHOOKS, settings.CHAT_SERVICES = {}, "", frozenset()
    page = alice_client.get("/account/notices/").text
    said = "This installation sends notices nowhere else." in page
    assert (said, "PEV_SMTP_HOST" in page, "decision_needed:browser" in page) == (True, False, True)


# ---- in the browser -----------------------------------------------------------------------------------------------


def news(browser: Client, since: object = "") -> Any:
    return browser.get("/account/notices/new/", {"since": str(since)}, headers={"HX-Request": "true"}).json()


def test_an_open_page_gets_titles_and_paths_of_what_is_new(alice_client: Client, settings: Settings) -> None:
    settings.NOTICE_CONTENT = "question"
    at_first = news(alice_client)
    assert at_first["notices"] == []
    run = asked(title="Contracts\nof May")
    found = news(alice_client, at_first["now"])
    row = Notice.objects.get(run=run)
    expected = {"id": row.pk, "title": "Needs your decision: Contracts of May", "path": f"/runs/{run.pk}/"}
    assert found["notices"] == [expected]
    assert news(alice_client, found["now"])["notices"] == [expected], "again within a minute, with the same id"
    Notice.objects.update(created_at=timezone.now() - timedelta(seconds=90))
    assert news(alice_client, found["now"])["notices"] == []
    assert Delivery.objects.count() == 0


@pytest.mark.parametrize(
    "since", ["yesterday", "2026-13-01T00:00Z", "2026-01-01T00:00:00", "0001-01-01T00:00Z", "9999-12-31T00:00Z"]
)
def test_a_page_that_asks_for_what_cannot_be_gets_an_answer(alice_client: Client, since: str) -> None:
    assert news(alice_client, since)["notices"] == []


NOON = datetime(2030, 7, 1, 12, tzinfo=UTC)
NIGHT: dict[str, Any] = {"quiet_from": time(11), "quiet_until": time(13)}


@pytest.mark.parametrize(
    ("fields", "written", "asked_at", "is_shown"),
    [
        ({}, 0, 1, True),
        ({}, -10, 1, False),  # a page was asking all the time
        (NIGHT, 0, 1, False),
        (NIGHT, 0, 61, True),  # when they are over
        (NIGHT, 0, 90, False),  # and not again
        ({"digest": Digest.HOURLY}, 1, 30, False),
        ({"digest": Digest.HOURLY}, 1, 61, True),
        ({"digest": Digest.DAILY, "daily_at": time(8)}, 1, 20 * 60 + 1, True),
        ({"channels": {NoticeKind.DECISION_NEEDED: (NoticeChannel.EMAIL,)}}, 0, 1, False),
        ({"channels": {NoticeKind.RUN_ENDED: ()}}, 0, 1, True),
    ],
)
def test_what_a_person_has_chosen_holds_in_the_browser_too(
    alice: User, fields: dict[str, Any], written: int, asked_at: int, *, is_shown: bool
) -> None:
    """Minutes after noon, by a page that asked five minutes before."""
    choose(alice, **fields)
    asked()
    Notice.objects.update(created_at=NOON + timedelta(minutes=written))
    now = NOON + timedelta(minutes=asked_at)
    assert bool(became_due(alice, now - timedelta(minutes=5), now)) == is_shown


def test_what_is_outdated_private_or_about_an_account_is_not_shown_in_the_browser(alice: User, bob: User) -> None:
    begun = timezone.now() - timedelta(minutes=1)
    decided, unshared, still = asked(bob), asked(bob), asked(bob)
    cancel(decided.pk, alice)
    unshared.shares.all().delete()
    for kind in (NoticeKind.ACCOUNT, NoticeKind.EMAIL_ADDED, NoticeKind.PASSWORD_RESET):
        tell(bob, kind, occurrence="1", address="bob@example.org")
    found = became_due(bob, begun, timezone.now())
    assert {(one.run, one.kind) for one in found} == {(decided, "run_ended"), (still, "decision_needed")}


def test_title_and_icon_say_that_decisions_are_needed_unless_a_person_does_not_want_it_or_it_is_quiet(
    alice: User, alice_client: Client
) -> None:
    asked()

    def title() -> str:
        found = re.search(r"<title>([^·]*)", alice_client.get("/").text)
        return " ".join(found[1].split()) if found else ""

    assert title() == "(1) Needs your decision"
    choose(alice, channels={NoticeKind.DECISION_NEEDED: (NoticeChannel.EMAIL,)})
    assert title() == "Needs your decision"
    choose(alice, channels={}, quiet_from=time(0), quiet_until=time.max)
    assert title() == "Needs your decision"


@pytest.fixture
def root_client(client: Client) -> Client:
    client.force_login(factories.person("root", is_superuser=True))
    return client


def failed(problem: str = "The mail server answered 451: try later") -> Delivery:
    with_mail(factories.alice())
    asked(title="A title of Alice")
    deliveries.plan()
    Delivery.objects.update(status=DeliveryStatus.FAILED, tries=17, problem=problem, ended_at=timezone.now())
    return Delivery.objects.get()


def test_administrators_see_what_failed_with_the_words_of_the_server_and_try_again(root_client: Client) -> None:
    row = failed()
    page = root_client.get("/status/notices/").text
    assert "The mail server answered 451: try later" in page
    assert "E-mail to alice" in page
    assert ("A title of Alice" in page, "alice@example.org" in page) == (False, False)
    assert root_client.post("/status/notices/", {"verb": "retry", "of": row.pk}).status_code == 302
    row.refresh_from_db()
    assert (row.status, row.tries) == (DeliveryStatus.WAITING, 0)
    assert "changed in the meantime" in root_client.post("/status/notices/", {"verb": "retry_all"}, follow=True).text
    assert root_client.post("/status/notices/", {"verb": "retry"}).status_code == 422


def test_the_status_counts_what_failed(root_client: Client) -> None:
    assert Finding("Notices", "People may have them sent: E-mail, Chat, Webhook.") in list(findings())
    failed()
    text = "1 notice could not be sent. See the page Notices of the status."
    assert Finding("Notices", text, is_wrong=True) in list(findings())


def test_people_see_the_time_limits_of_the_installation(alice_client: Client, settings: Settings) -> None:
    assert "This installation has limits" not in alice_client.get("/runs/new/").text
    settings.DECISION_LIMITS = parse_installation("tool: end 8, stop")
    text = (
        "No policy of a run allows decisions to wait longer than PEV_DECISION_LIMITS says, in hours: tool: end 8, stop."
    )
    assert Finding("Decisions", text) in list(findings())
    said = "This installation has limits, in hours: tool: end 8, stop. Yours count where they are earlier."
    assert said in alice_client.get("/runs/new/").text


def test_it_is_the_page_of_administrators_alone(alice_client: Client) -> None:
    row = failed()
    assert alice_client.get("/status/notices/").status_code == 404
    assert alice_client.post("/status/notices/", {"verb": "retry", "of": row.pk}).status_code == 404
    row.refresh_from_db()
    assert row.status == DeliveryStatus.FAILED
