"""Which programs may send long bodies, and with which address requests are logged and recorded."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.cache import cache
from django.test import override_settings
from twisted.internet.address import IPv4Address, UNIXAddress
from twisted.web.http_headers import Headers

from runs.enums import TokenScope
from runs.models import AuditEntry
from runs.people import access_tokens
from runs.web.server.http_requests import Request
from runs.web.site import throttle
from runs.web.site.problems import Refused
from tests import databases
from tests import factories as made
from tests.browser.site import Site
from tests.installation import Installation
from tests.integration.web.api.asking import Program
from tests.integration.web.mcp.asking import LIST, post
from tests.integration.web.site.visitor import Visitor


@pytest.mark.parametrize(("tls", "address"), [("on", "192.0.2.7"), ("off", "127.0.0.1")])
@pytest.mark.slow
@pytest.mark.exhaustive
def test_refused_links_are_logged_with_the_address_that_can_be_trusted(
    tmp_path: Path, installation: Installation, tls: str, address: str
) -> None:
    """In the log, and in the audit trail as well: pages and programs."""
    data = installation.copy(tmp_path / "data")
    site = Site(data, delay=0, PEV_TLS=tls, PEV_MCP_SERVER="on")
    try:
        site.start()
        claimed = {"X-Forwarded-For": "198.51.100.6, 192.0.2.7", "X-Forwarded-Proto": "https"}
        assert Visitor(site.port).send("GET", "/sign-in/a-token-of-nobody/", None, **claimed)[0] == 302
        origin = f"http{'s' if tls == 'on' else ''}://127.0.0.1:{site.port}"
        wrong = {"Authorization": f"Bearer pev_{'x' * 43}", "Origin": origin}
        assert Visitor(site.port).send("POST", "/mcp", b"", **claimed, **wrong)[0] == 401
        (line,) = [line for line in site.log.read_text().splitlines() if "a sign-in link that does not work" in line]
    finally:
        site.kill()
    assert line.partition("refused: ")[2] == (f"a sign-in link that does not work, or not any more address={address}")
    sql = "SELECT channel, address FROM runs_auditentry WHERE kind = 'sign_in_refused' ORDER BY number"
    assert databases.rows(data, sql) == [("page", address), ("program", address)]


def refusal(uri: bytes, headers: dict[str, list[str]], peer: object, method: bytes = b"POST") -> Refused | None:
    """Why a long body with these headers is not taken."""
    request = Request.__new__(Request)
    transport = SimpleNamespace(getPeer=lambda: peer)
    request.__dict__.update(transport=transport, method=method, uri=uri, requestHeaders=Headers(headers))
    try:
        request._check_sender()
    except Refused as error:
        return error
    return None


@pytest.mark.django_db
@pytest.mark.parametrize("uri", [b"/api/v1/runs", b"/mcp"])
def test_a_long_body_needs_what_a_short_one_needs(uri: bytes) -> None:
    """The same rule, with its status, headers, count and line in the audit trail."""
    peer = IPv4Address("TCP", "192.0.2.9", 1)
    alice = access_tokens.issue(made.alice(), "ci", 7)
    right, wrong = ({"authorization": [f"Bearer {token}"]} for token in (alice, "pev_" + "x" * 43))
    with override_settings(MCP_SERVER=True):
        without, refused = refusal(uri, {}, peer), refusal(uri, wrong, peer)
        challenge = {"WWW-Authenticate": 'Bearer realm="pevsite"'}
        assert [(one.status, one.headers) for one in (without, refused) if one] == [(401, challenge)] * 2
        assert [(line.kind, line.channel, line.address) for line in AuditEntry.objects.all()][-1] == (
            "sign_in_refused",
            "program",
            "192.0.2.9",
        )
        late = [refusal(uri, wrong, peer) for _ in range(throttle.MAX_WRONG)][-1]
        assert late
        assert (late.status, list(late.headers)) == (429, ["Retry-After"])
        assert refusal(uri, right, peer) is None
        assert refusal(uri, right, UNIXAddress(None)) is None
        with override_settings(SECOND_FACTOR="everyone"):
            lacking = refusal(uri, right, peer)
    assert lacking
    assert (lacking.status, str(lacking)[:40]) == (403, "The person of this token must add a pass")


@pytest.mark.django_db
def test_a_long_body_needs_the_scope_of_its_operation() -> None:
    alice = made.alice()
    reads, writes = (
        {"authorization": [f"Bearer {access_tokens.issue(alice, scope, 7, [scope])}"]}
        for scope in (TokenScope.RUNS_READ, TokenScope.RUNS_WRITE)
    )
    refused = refusal(b"/api/v1/uploads?a=b", reads, None)
    assert refused
    assert (refused.status, refused.headers, str(refused)) == (
        403,
        {"WWW-Authenticate": 'Bearer realm="pevsite", error="insufficient_scope", scope="runs:write"'},
        "This access token does not allow “runs:write”. Make one that does on the page “Access tokens”.",
    )
    assert refusal(b"/api/v1/uploads?a=b", writes, None) is None
    assert refusal(b"/api/v1/runs", reads, None, b"GET") is None
    assert refusal(b"/api/v1/nothing", reads, None) is None, "the operations find out what is there"
    with override_settings(MCP_SERVER=True):
        assert refusal(b"/mcp", reads, None) is None, "the message says what it asks for"
        asks = {"authorization": [f"Bearer {access_tokens.issue(alice, 'gates', 7, [TokenScope.GATES_READ])}"]}
        refused = refusal(b"/mcp", asks, None)
        assert refused
        assert (refused.status, str(refused)[:46]) == (403, "This access token does not allow “runs:read”. ")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("uri", [b"/api/v1/runs", b"/mcp"])
def test_a_long_body_of_a_token_that_has_come_too_often_is_not_read(
    uri: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests to the REST API and over MCP count together. Asking counts nothing: the operation does."""
    cache.clear()
    monkeypatch.setattr(time, "time", lambda: 1_800_000_015.0)  # of one minute, whatever the machine does meanwhile
    token = access_tokens.issue(made.alice(), "ci", 7)
    headers = {"authorization": [f"Bearer {token}"]}
    with override_settings(MCP_SERVER=True, API_RATE=2):
        for send in (lambda: Program(token).get("/runs"), lambda: post(LIST, Authorization=f"Bearer {token}")):
            assert refusal(uri, headers, None) is None
            assert send().status_code == 200
        refused = refusal(uri, headers, None)
    cache.clear()
    assert refused
    assert (refused.status, refused.headers) == (429, {"Retry-After": "45"})
    assert str(refused) == "This token has made 2 requests in a minute. Wait 45 seconds."
