"""Whose token is sent where: `login`, the variables, and what is refused."""

from __future__ import annotations

import io
import stat

import httpx2
import pytest

from pevsite.client import account
from tests.unit.client.fake_api import TOKEN, URL, FakeApi, problem


@pytest.fixture(autouse=True)
def _signed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PEVSITE_URL")
    monkeypatch.delenv("PEVSITE_TOKEN")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TOKEN}\n"))


def login(api: FakeApi, url: str, *options: str) -> int:
    api.on("GET /runs", {"runs": [], "next": None})
    return api.run("login", url, *options)


def sent_to(api: FakeApi) -> list[tuple[str, str]]:
    return [(str(one.url), one.headers["Authorization"]) for one in api.requests]


def test_a_token_that_works_is_stored_for_this_user_only(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert login(api, f"{URL}/") == 0
    assert stat.S_IMODE(account.path().stat().st_mode) == 0o600
    assert account.current(insecure=False) == account.Account(URL, TOKEN)
    assert sent_to(api) == [(f"{URL}/api/v1/runs?limit=1", f"Bearer {TOKEN}")]
    shown = capsys.readouterr()
    assert shown.out.startswith(f"The access token for {URL} works.")
    assert TOKEN not in shown.out + shown.err


def test_a_token_that_may_not_read_runs_works_too(api: FakeApi) -> None:
    api.on("GET /runs", problem(403, "This access token does not have the scope runs:read."))
    assert login(api, URL) == 0


def test_a_wrong_token_is_not_stored(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("GET /runs", problem(401, "This access token does not work."))
    assert login(api, URL) == 1
    assert not account.path().exists()
    said = f"This access token does not work. The page is {URL}/access-tokens/. Sign in with “manage.py login {URL}”.\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("typed", ["", "two words", "pev_\u00e4", "pev_\x1b[2J"])
def test_what_is_no_token_is_neither_sent_nor_shown(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert (login(api, URL), api.requests) == (2, [])
    assert capsys.readouterr().err == "This is no access token. Make one on the page “Access tokens”.\n"


@pytest.mark.parametrize(
    ("url", "options", "code"),
    [
        ("http://pevsite.example", (), 2),
        ("http://127.0.0.1.pevsite.example", (), 2),
        ("http://pevsite.example", ("--insecure",), 0),
        ("http://localhost:8000", (), 0),
        ("http://127.0.0.1:8000", (), 0),
        ("http://[::1]:8000", (), 0),
        ("https://me:secret@pevsite.example", (), 2),
        ("https://pevsite.example/runs/1", (), 2),
        ("https://pevsite.example:99999", (), 2),
        ("pevsite.example", (), 2),
        ("file:///etc/passwd", (), 2),
    ],
)
def test_a_token_travels_encrypted_or_on_this_machine(
    api: FakeApi, url: str, options: tuple[str, ...], code: int
) -> None:
    assert login(api, url, *options) == code
    assert bool(api.requests) is (code == 0)


def test_variables_come_before_what_is_stored(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    account.store(account.Account(URL, TOKEN))
    api.on("GET /gates", {"gates": []})
    assert api.run("gates") == 0
    monkeypatch.setenv("PEVSITE_TOKEN", "pev_other")
    assert api.run("gates") == 0
    monkeypatch.setenv("PEVSITE_URL", "https://other.example")
    assert api.run("gates") == 0
    assert sent_to(api) == [
        (f"{URL}/api/v1/gates", f"Bearer {TOKEN}"),
        (f"{URL}/api/v1/gates", "Bearer pev_other"),
        ("https://other.example/api/v1/gates", "Bearer pev_other"),
    ]


def test_a_stored_token_is_sent_to_its_server_only(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    account.store(account.Account(URL, TOKEN))
    monkeypatch.setenv("PEVSITE_URL", "https://other.example")
    assert (api.run("gates"), api.requests) == (2, [])
    assert capsys.readouterr().err.startswith("There is no access token for https://other.example.")


def test_a_redirect_is_not_followed(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    account.store(account.Account(URL, TOKEN))
    api.on("GET /gates", httpx2.Response(302, headers={"Location": "https://other.example/"}))
    assert api.run("gates") == 1
    assert len(api.requests) == 1
    assert "sends requests on to https://other.example/. Sign in at that address." in capsys.readouterr().err


def test_a_token_is_forgotten(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    account.store(account.Account(URL, TOKEN))
    assert (api.run("logout", "https://other.example"), account.path().exists()) == (1, True)
    said = f"No access token for https://other.example is stored in “{account.path()}”.\n"
    assert capsys.readouterr().err == said
    assert (api.run("logout", f"{URL}/"), account.path().exists()) == (0, False)
    assert capsys.readouterr().out.splitlines() == [
        f"The access token for {URL} is deleted from “{account.path()}”.",
        f"It still works where it was copied to. Revoke it at {URL}/access-tokens/",
    ]
    assert (api.run("logout"), api.requests) == (1, [])
    assert capsys.readouterr().err == f"No access token is stored in “{account.path()}”.\n"
