"""The address of the MCP server: a token that works opens it, and nothing else does."""

from __future__ import annotations

import json
import time

import pytest
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache
from django.test import Client as Browser
from mcp import Client
from pydantic import SecretStr
from pytest_django import Settings

from runs.enums import AuditChannel, AuditKind, GateStatus
from runs.models import AuditEntry, Run, User
from runs.people.identity_provider import IdentityProvider
from runs.readmodel.representations import Reader
from runs.web.mcp import looking
from runs.web.site.admission import token_in
from runs.web.site.throttle import MAX_WRONG
from tests import factories as made
from tests.integration.web.deciding import address, form, gate_of
from tests.integration.web.mcp.asking import LIST, Era, call, post, refusal, talk

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_token_opens_it(token: str) -> None:
    answer = post(LIST, Authorization=f"Bearer {token}")
    assert (answer.status_code, "tools" in answer.json()["result"]) == (200, True)
    assert post(LIST, Authorization=f"bearer {token}").status_code == 200
    assert "no-store" in answer.headers.get("cache-control", "no-store")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_clients_of_before_and_of_now_see_the_same(token: str, era: Era) -> None:
    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert talk(token, names, era=era) == [
        "list_templates",
        "submit_run",
        "list_runs",
        "run_status",
        "wait_for_run",
        "read_report",
        "list_files",
        "read_file",
    ]


def test_where_it_is_off_there_is_one_sentence(token: str, settings: Settings) -> None:
    settings.MCP_SERVER = False
    answer = post(LIST, Authorization=f"Bearer {token}")
    assert answer.status_code == 404
    assert answer.text.startswith("This installation is no MCP server.")


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", "Bearer ", "Basic YWxpY2U6", "Bearer pev_" + "x" * 43, "Bearer " + "x" * 60_000, "Token {}", "{}"],
)
def test_without_one_that_works_nothing_is_said(token: str, given: str) -> None:
    answer = post(LIST, Authorization=given.format(token))
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="pevsite"')
    assert "access token" in answer.text
    assert token not in answer.text


def test_without_a_header_it_says_what_is_needed() -> None:
    answer = post(LIST)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="pevsite"')
    assert answer.text.startswith("This needs an access token")


def test_a_token_in_the_address_is_none(token: str) -> None:
    assert post(LIST, path=f"/mcp?access_token={token}").status_code == 401


def test_of_two_headers_neither_counts() -> None:
    assert token_in([b"Bearer pev_a"]) == "pev_a"
    assert token_in([b"Bearer pev_a", b"Bearer pev_b"]) == ""


def test_after_many_that_do_not_work_one_waits_and_a_token_that_works_is_taken(
    token: str, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = [post(LIST, Authorization="Bearer pev_" + "x" * 43) for _ in range(MAX_WRONG + 5)]
    assert [answer.status_code for answer in wrong] == [401] * MAX_WRONG + [429] * 5
    assert 1 <= int(wrong[-1].headers["retry-after"]) <= 60
    assert wrong[-1].text == (
        "Tokens that do not work came too often from here. "
        f"Wait {wrong[-1].headers['retry-after']} seconds. One that works is taken at once.\n"
    )
    assert caplog.text.count("refused: an access token") == MAX_WRONG + 1
    lines = AuditEntry.objects.filter(kind=AuditKind.SIGN_IN_REFUSED)
    assert {(line.channel, bool(line.address)) for line in lines} == {(AuditChannel.PROGRAM, True)}
    assert post(LIST, Authorization=f"Bearer {token}").status_code == 200


def test_a_token_comes_so_often_in_a_minute(token: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.API_RATE = 2
    monkeypatch.setattr(time, "time", lambda: 1_800_000_015.0)  # of one minute, whatever the machine does meanwhile
    answers = [post(LIST, Authorization=f"Bearer {token}") for _ in range(3)]
    cache.clear()
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].headers["retry-after"] == "45"
    assert answers[-1].text == "This token has made 2 requests in a minute. Wait 45 seconds.\n"


def test_a_token_decides_nothing_on_the_pages(token: str) -> None:
    gate = gate_of(made.awaiting_plan())
    answer = Browser().post(address(gate), form(gate, "approve"), headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer["Location"].startswith("/sign-in/")) == (302, True)
    gate.refresh_from_db()
    assert gate.status == GateStatus.OPEN


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://testserver:81"}, 403),
        ({"Host": "evil.example"}, 400),
        ({"Host": "testserver@evil.example"}, 400),
        ({"Origin": "http://testserver"}, 200),
    ],
)
def test_other_sites_in_a_browser_and_names_that_are_not_ours(token: str, headers: dict[str, str], status: int) -> None:
    assert post(LIST, Authorization=f"Bearer {token}", **headers).status_code == status


def test_with_tls_it_is_for_https_alone(token: str, settings: Settings) -> None:
    settings.TLS = True
    assert post(LIST, Authorization=f"Bearer {token}").status_code == 403
    assert post(LIST, Authorization=f"Bearer {token}", X_Forwarded_Proto="http").status_code == 403
    assert post(LIST, Authorization=f"Bearer {token}", X_Forwarded_Proto="https").status_code == 200


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "application/json"),
        (b"\xff\xfe\0", "application/json"),
        (b"[" * 200_000, "application/json"),
        (b'{"a":' * 100_000, "application/json"),
        (b"[" + LIST + b"," + LIST + b"]", "application/json"),
        (b"9" * 100_000, "application/json"),
        (LIST, "text/plain"),
        (LIST, "application/x-www-form-urlencoded"),
        (LIST, "multipart/form-data; boundary=x"),
        (LIST.replace(b"2.0", b"1.0"), "application/json"),
        (json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x" * 100_000}).encode(), "application/json"),
    ],
)
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28", "1900-01-01"])
def test_what_is_no_message_is_refused(token: str, body: bytes, kind: str, version: str) -> None:
    answer = post(body, Authorization=f"Bearer {token}", Content_Type=kind, MCP_Protocol_Version=version)
    assert (400 <= answer.status_code < 500) or "error" in answer.json()
    assert "result" not in answer.text[:200]
    assert "Traceback" not in answer.text


def test_a_message_has_its_largest_size(token: str) -> None:
    answer = post(b" " * 4_000_001, Authorization=f"Bearer {token}")
    assert answer.status_code == 413


def test_what_goes_wrong_inside_is_not_told(
    token: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = made.awaiting_plan()

    def broken(_reader: Reader, _run: Run) -> None:
        raise RuntimeError("the secret of the database")

    monkeypatch.setattr(looking, "status_of", broken)
    said = refusal(call(token, "run_status", run=run.pk))
    assert said == "Something went wrong on the server, and was logged there. Nothing else is known."
    assert "the secret of the database" in caplog.text
    assert token not in caplog.text


def test_half_a_character_is_no_text(token: str) -> None:
    arguments = '{"request": "Review \\ud800 it.", "no_files": true}'
    called = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "submit_run", "arguments": %s}}'
    for version in ("2025-06-18", "2026-07-28"):
        body = (called % arguments).encode()
        answer = post(body, Authorization=f"Bearer {token}", MCP_Protocol_Version=version)
        assert answer.status_code in {200, 400}
        assert Run.objects.count() == 0


def test_a_person_who_must_add_a_second_factor_is_told_so(token: str, settings: Settings) -> None:
    settings.SECOND_FACTOR = "everyone"
    answer = post(LIST, Authorization=f"Bearer {token}")
    assert (answer.status_code, "must add a passkey or an authenticator app first" in answer.text) == (403, True)


def test_a_program_acts_for_a_person_whose_identity_provider_asks_for_a_second_factor(
    token: str, settings: Settings
) -> None:
    settings.SECOND_FACTOR = "everyone"
    settings.IDENTITY_PROVIDER = IdentityProvider("https://login.example", "pevsite", SecretStr("none"))
    SocialAccount.objects.create(user=User.objects.get(username="alice"), provider="https://login.example", uid="s-1")
    assert post(LIST, Authorization=f"Bearer {token}").status_code == 403
    settings.IDENTITY_PROVIDER = settings.IDENTITY_PROVIDER._replace(has_second_factor=True)
    assert post(LIST, Authorization=f"Bearer {token}").status_code == 200
