"""Who gets what at the addresses that are no pages: sockets and MCP, for every role and what may stand for a person.

Like `test_access`, an address, a method or a tool that no rule names fails here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.views import View
from pytest_django import Settings

from pevsite.asgi import application
from runs.enums import AuditKind, PersonRole, ShareLevel
from runs.models import AccessToken, AuditEntry, Run, User
from runs.web.live.consumer import websocket_urlpatterns
from runs.web.mcp.tools import TOOLS
from runs.web.site import addresses
from tests import factories as made
from tests.integration.web.mcp.asking import LIST, REVIEW, post, talk, text, token_of
from tests.integration.web.talking import Socket

pytestmark = pytest.mark.django_db(transaction=True)

SOCKETS = {"ws/runs/<int:run_id>/": {"owner", "approver", "viewer", "administrator"}, "": set[str]()}
"""Who may open one; no one at all other addresses."""
MCP = {f"{who}'s token" for who in ("owner", "approver", "viewer", "outsider", "staff", "administrator")}
"""Who is answered there: sessions and tokens that have ended are nothing."""
SEES = {f"{who}'s token" for who in ("owner", "approver", "viewer", "administrator")}
HIDDEN, NOT_ALLOWED = "There is no run", "Your role does not allow you to submit tasks."
RULES: Mapping[str, tuple[dict[str, Any], set[str]]] = {
    "list_templates": ({}, MCP),
    "submit_run": (REVIEW, MCP - {"viewer's token"}),
    "list_runs": ({}, MCP),
    "run_status": ({"run": 0}, SEES),
    "wait_for_run": ({"run": 0, "seconds": 1}, SEES),
    "read_report": ({"run": 0}, SEES),
    "list_files": ({"run": 0}, SEES),
    "read_file": ({"run": 0, "path": ""}, SEES),
}
"""What each tool is called with, and whose programs it answers about a run of Alice."""


@pytest.fixture
def people() -> dict[str, User]:
    return {
        "owner": made.alice(),
        "approver": made.bob(),
        "outsider": made.charlie(),
        "viewer": made.person("vera", roles=[PersonRole.VIEWER]),
        "administrator": made.person("root", is_superuser=True),
        "deactivated": made.person("gone", is_superuser=True),
        "staff": made.person("staff", is_staff=True),
    }


@pytest.fixture
def run(people: dict[str, User]) -> Run:
    run = made.awaiting_plan()
    made.share(run, people["viewer"], level=ShareLevel.LOOK)
    return run


def headers(people: Mapping[str, User]) -> dict[str, dict[str, str]]:
    """What each of them sends: the cookie of a session, or a token. Those of one person are deactivated then."""
    sent = {"nobody": dict[str, str]()}
    for name, person in people.items():
        client = Client()
        client.force_login(person)
        sent[name] = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
        sent[f"{name}'s token"] = {"Authorization": f"Bearer {token_of(person)}"}
    for ending in ("revoked_at", "expires_at"):
        sent[ending] = {"Authorization": f"Bearer {token_of(people['owner'], ending)}"}
        AccessToken.objects.filter(name=ending).update(**{ending: timezone.now()})
    User.objects.filter(username="gone").update(is_active=False)
    return sent


def test_every_protocol_and_layer_of_the_site_is_known() -> None:
    """What lies in front of the pages may have addresses of its own: these are `/mcp`, and files for everybody."""
    layers, layer = list[str](), application.application_mapping["http"]
    while layer is not None:
        layers.append(type(layer).__name__)
        layer = next((getattr(layer, name) for name in ("_app", "_pages", "application") if hasattr(layer, name)), None)
    assert (sorted(application.application_mapping), layers) == (
        ["http", "websocket"],
        ["WithHeaders", "WithMcp", "WithEventStreams", "StaticFiles", "PagesHandler"],
    )
    assert [str(entry.pattern) for entry in websocket_urlpatterns] == list(SOCKETS)


@pytest.mark.slow
def test_sockets_open_for_those_whom_the_rules_name(people: dict[str, User], run: Run) -> None:
    async def connects(sent: dict[str, str], address: str) -> bool:
        given = {"Host": "testserver", "Origin": "http://testserver", **sent}
        listed = [(name.lower().encode(), value.encode()) for name, value in given.items()]
        socket = Socket(application, address, headers=listed)
        connected, _ = await socket.connect()
        await socket.disconnect()
        return bool(connected)

    asked = headers(people)
    for route, address in (
        ("ws/runs/<int:run_id>/", f"/ws/runs/{run.pk}/"),
        ("", f"/ws/runs/{run.pk + 4_711}/"),
        ("", "/ws/runs/0/"),
        ("", f"/ws/runs/{10**30}/"),
        ("", f"/ws/runs/{run.pk}"),
        ("", "/ws/other/"),
        ("", "/mcp"),
        ("", "/"),
    ):
        opened = {who for who, sent in asked.items() if asyncio.run(connects(sent, address))}
        assert (address, opened) == (address, SOCKETS[route])
    assert {line.by for line in refusals() if line.run_number == run.pk} == {"charlie", "staff"}
    assert {(line.channel, line.through, line.subject) for line in refusals()} == {
        ("page", "An unknown program", "socket of a run")
    }


@pytest.mark.slow
@pytest.mark.parametrize("method", View.http_method_names)
def test_messages_are_taken_from_those_whom_the_rules_name(
    people: dict[str, User], settings: Settings, method: str
) -> None:
    settings.MCP_SERVER = True
    found = {}
    for who, sent in headers(people).items():
        answer = post(LIST if method == "post" else b"", method=method.upper(), **sent)
        found[who] = answer.status_code
        assert "access-control-allow-origin" not in answer.headers
        assert answer.headers.get("allow") == (None if method == "post" else "POST")
    assert found == {who: (200 if who in MCP else 401) if method == "post" else 405 for who in found}


@pytest.mark.slow
@pytest.mark.parametrize("tool", RULES)
def test_tools_answer_those_whom_the_rules_name(
    people: dict[str, User], run: Run, settings: Settings, tool: str
) -> None:
    settings.MCP_SERVER = True
    arguments, allowed = RULES[tool]
    of_run = {"run": run.pk, "path": sorted(run.inputs.changes)[0]}
    given = {name: of_run.get(name, value) for name, value in arguments.items()}
    answers = {}
    for who in sorted(MCP):
        token = token_of(people[who.removesuffix("'s token")])
        result = talk(token, lambda client: client.call_tool(tool, given))
        answers[who] = text(result)
        assert refused(answers[who]) is result.is_error, answers[who]
    assert {who for who, said in answers.items() if not refused(said)} == allowed
    if tool == "list_runs":
        assert {who for who, said in answers.items() if run.title in said} == SEES
    assert {line.by for line in refusals()} == {people[who.removesuffix("'s token")].username for who in MCP - allowed}
    assert {(line.channel, line.through, line.subject) for line in refusals()} <= {
        ("program", "access token “laptop”", f"tool {tool}")
    }


def refusals() -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(kind=AuditKind.REQUEST_REFUSED))


def refused(said: str) -> bool:
    return HIDDEN in said or NOT_ALLOWED in said


def test_every_tool_has_a_rule_and_every_rule_a_tool() -> None:
    assert sorted(TOOLS) == sorted(RULES)
    assert addresses.MCP_PATH == "/mcp"
