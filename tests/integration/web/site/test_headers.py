"""Headers of answers: nothing is kept by caches, cookies belong to this host, scripts are told where to go."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client

from runs.models import Run
from runs.web.site.headers import WithHeaders, no_store
from tests import factories

ROOT = Path(__file__).resolve().parents[4]
BACKGROUND = {"X-Requested-With": "XMLHttpRequest"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    ["/", "/runs/new/", "/metrics/", "/templates/", "/runs/{}/", "/runs/{}/report/", "/runs/{}/report.md", "/nowhere/"],
)
def test_pages_behind_the_sign_in_are_kept_by_no_cache(path: str, alice_client: Client) -> None:
    run = factories.step_gate()
    assert "no-store" in alice_client.get(path.format(run.pk))["Cache-Control"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/sign-in/", "/nowhere/"])
def test_neither_are_those_before_it(path: str, client: Client) -> None:
    assert "no-store" in client.get(path)["Cache-Control"]


def test_a_view_may_say_otherwise() -> None:
    given = HttpResponse(headers={"Cache-Control": "public"})
    assert no_store(lambda _: given)(HttpRequest())["Cache-Control"] == "public"


@pytest.mark.parametrize("seconds", [0, 31_536_000])
def test_an_answer_without_headers_gets_those_of_pages(seconds: int, settings: Any) -> None:
    settings.SECURE_HSTS_SECONDS = seconds
    sent: list[dict[str, Any]] = []

    async def bare(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"X-Content-Type-Options", b"nosniff")]})

    async def keep(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(WithHeaders(bare)({}, None, keep))
    headers = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    assert len(sent[0]["headers"]) == len(headers)
    assert headers.get("strict-transport-security", "") == (f"max-age={seconds}" if seconds else "")
    assert headers["content-security-policy"] == "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"


def test_a_script_is_told_where_to_go_and_the_message_waits_for_the_page(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    sent = alice_client.post(f"/runs/{run.pk}/manage/", {"verb": "rename", "title": "Leases"}, headers=BACKGROUND)
    assert (sent.status_code, sent.content, sent.headers["X-Location"]) == (204, b"", f"/runs/{run.pk}/")
    assert "Location" not in sent.headers
    assert Run.objects.get().title == "Leases"
    assert "Leases" in alice_client.get(sent.headers["X-Location"]).text.partition('id="messages"')[2][:400]


def test_an_ordinary_form_is_led_there_as_ever(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    sent = alice_client.post(f"/runs/{run.pk}/manage/", {"verb": "rename", "title": "Leases"})
    assert (sent.status_code, sent.headers["Location"]) == (302, f"/runs/{run.pk}/")
    assert "X-Location" not in sent.headers


@pytest.mark.django_db
def test_whoever_is_signed_out_is_told_so_and_not_led_away(client: Client) -> None:
    sent = client.post("/runs/1/manage/", {"verb": "archive"}, headers=BACKGROUND)
    assert (sent.status_code, sent.text) == (401, "You are signed out.")


@pytest.mark.slow
def test_with_tls_cookies_belong_to_this_host_alone(tmp_path: Path) -> None:
    program = "from pevsite.settings import *; print(SESSION_COOKIE_NAME, CSRF_COOKIE_NAME, WANTED_COOKIE_NAME)"
    environ = {**os.environ, "PEV_TLS": "on", "PEV_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=240, check=True
    )
    assert done.stdout.split() == ["__Host-sessionid", "__Host-csrftoken", "__Host-pev_next"]
