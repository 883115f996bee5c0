"""Who gets what: every address by every method, for every role and whatever else may stand for a person (S4).

The addresses are those of the URL configuration. One that is new fails here until the table says who may have it, and a
rule for one that is gone fails too. What is no page, sockets and MCP, is in `test_access_elsewhere`.
"""

from __future__ import annotations

import itertools
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.utils import timezone
from django.views import View

from runs.enums import PersonRole, ShareLevel
from runs.models import Attempt, DeletedRun, Event, Gate, Link, Run, Template, User
from runs.people import access_tokens
from runs.submission import submission_drafts
from runs.submission.run_templates import save
from tests import factories as made
from tests.factories.agents import agent
from tests.factories.calibrations import stored_calibration
from tests.factories.evaluations import stored_evaluation
from tests.hostile.fuzzing.surface import addresses

pytestmark = pytest.mark.django_db
type Statuses = tuple[int, int, int, int, int]

ROLES = ("nobody", "owner", "approver", "outsider", "administrator")
STAND_INS = {
    "deactivated": "nobody",
    "owner's token": "nobody",
    "administrator's token": "nobody",
    "staff": "outsider",
    "outsider with the owner's token": "outsider",
}
"""What else a browser or a program may come with, and the role that it is no more than: tokens are for `/mcp` alone."""
METHODS = View.http_method_names


@dataclass(frozen=True)
class Row:
    """The statuses for each role; with `sent` posted. `methods` are exceptions.

    A method that is nowhere is no method of this address, and is refused before anybody is looked at.
    """

    get: Statuses | None = None
    post: Statuses | None = None
    sent: Mapping[str, str] = field(default_factory=dict)
    open: bool = False
    """Whether those who have not signed in reach it."""
    methods: Mapping[str, Statuses] = field(default_factory=dict)

    def of(self, method: str, who: str) -> int:
        refused: Statuses = (405 if self.open else 302, 405, 405, 405, 405)
        return (self.takes(method) or refused)[ROLES.index(STAND_INS.get(who, who))]

    def takes(self, method: str) -> Statuses | None:
        known = {"get": self.get, "head": self.get, "post": self.post}
        return self.methods.get(method) or known.get(method)


SEEN: Statuses = (302, 200, 200, 404, 200)
"""What everybody may look at who may see the run."""
DONE: Statuses = (302, 302, 302, 404, 302)
"""What everybody may do who may see the run: it leads to another page."""
MINE: Statuses = (302, 200, 200, 200, 200)
"""A page of one's own."""
ADMINISTERED: Statuses = (302, 404, 404, 404, 200)


def administered(status: int, **others: int) -> Row:
    """A page of Django's administration, which looks at few methods by themselves: nothing for everybody else."""
    statuses = {method: others.get(method, status) for method in METHODS}
    return Row(methods={method: (302, 404, 404, 404, each) for method, each in statuses.items()})


def of_allauth(otherwise: int = 405, **others: int) -> Row:
    """A page of allauth for everyone who has signed in."""
    methods = {method: (302, *(status,) * 4) for method, status in by_method(otherwise, **others).items()}
    return Row(get=MINE if others.get("get") == 200 else None, methods=methods)


def entrance(**others: int) -> Row:
    """A page of allauth for those who have not signed in."""
    methods = {method: (status, 302, 302, 302, 302) for method, status in by_method(405, **others).items()}
    return Row(methods=methods, open=True)


def by_method(otherwise: int, **others: int) -> dict[str, int]:
    """The statuses of a view of allauth, which answers OPTIONS and takes PUT like POST."""
    known = dict.fromkeys(METHODS, otherwise) | others
    if "get" in others:
        known |= {"head": others["get"], "options": 200}
    if "post" in others:
        known["put"] = others.get("put", others["post"])
    return known


NO_MAIL = Row(methods=dict.fromkeys(METHODS, (404,) * 5), open=True)
"""A page that installations have which send mail; the others have no such page for anyone."""
OF_ROWS = {
    "": administered(200),
    "add/": administered(403),
    "<path:object_id>/history/": administered(200),
    "<path:object_id>/delete/": administered(403),
    "<path:object_id>/change/": administered(200, post=403),
    "<path:object_id>/": administered(302, trace=405),
}
"""Rows are looked at there, and changed nowhere."""
LISTED = ("run", "workitem", "gate", "modelcall", "toolcall", "event", "deletedrun", "accesstoken", "user")
READ_ONLY = dict.fromkeys(("post", "put", "patch", "delete", "trace"), 405)
TABLE = {
    "": Row(get=MINE),
    "decisions/": Row(post=(302,) * 5),
    "decisions/<int:gate_id>/snooze/": Row(post=DONE, sent={"hours": "1"}),
    "decisions/<int:gate_id>/assign/": Row(post=DONE, sent={"to": "me"}),
    "account/time-zone/": Row(get=MINE, post=(302,) * 5),
    "next/": Row(get=(302,) * 5),
    "tour/": Row(post=(302,) * 5, sent={"do": "closed"}),
    "sign-in/": entrance(get=200, post=200),
    "sign-in/again/": Row(get=MINE),
    "account/inactive/": Row(get=(200,) * 5, methods={"options": (200,) * 5}, open=True),
    "account/again/": of_allauth(302),  # they have no password
    "account/password/": of_allauth(302),
    "account/password/new/": of_allauth(get=200, post=200),
    "account/notices/": Row(get=MINE, post=(302,) * 5, sent={"verb": "remove_chat"}),
    "account/notices/new/": Row(get=MINE),
    "account/email/": of_allauth(404),
    "account/email/<str:key>/": NO_MAIL,
    "account/password/reset/": NO_MAIL,
    "account/password/reset/sent/": NO_MAIL,
    "account/password/reset/done/": NO_MAIL,
    "account/password/reset/(?P<uidb36>[0-9a-z]{1,13})-(?P<key>[^/]{1,200})/": NO_MAIL,
    "account/sessions/": of_allauth(get=200, post=302),
    "account/sessions/<int:session_id>/end/": Row(post=(302, 302, 404, 404, 404)),
    "account/methods/": of_allauth(get=200),
    "account/methods/authenticate/": of_allauth(302),
    "account/methods/reauthenticate/": of_allauth(302),
    "account/methods/recovery-codes/": of_allauth(get=404),
    "account/methods/recovery-codes/generate/": of_allauth(get=200, post=200),
    "account/methods/recovery-codes/download/": of_allauth(404),
    "account/methods/totp/activate/": of_allauth(get=200, post=200),
    "account/methods/totp/deactivate/": of_allauth(404),
    "account/methods/webauthn/": of_allauth(302, trace=405),
    "account/methods/webauthn/add/": of_allauth(get=200, post=200),
    "account/methods/webauthn/login/": entrance(get=302, post=302),
    "account/methods/webauthn/reauthenticate/": of_allauth(302),
    "account/methods/webauthn/keys/<int:pk>/edit/": of_allauth(get=404, post=404),  # they have none
    "account/methods/webauthn/keys/<int:pk>/remove/": of_allauth(get=404, post=404, delete=404, put=405),
    "sign-in/provider/": Row(post=(404,) * 5, open=True),  # without a provider in the settings
    "sign-in/provider/callback/": Row(get=(404,) * 5, open=True),
    "account/provider/connect/": Row(get=(302, 404, 404, 404, 404), post=(302, 404, 404, 404, 404)),
    "account/provider/disconnect/": Row(get=(302, 404, 404, 404, 404), post=(302, 404, 404, 404, 404)),
    "sign-in/<path:token>/": Row(get=(302,) * 5, post=(302,) * 5, open=True),
    "healthz": Row(get=(200,) * 5, open=True),
    "readyz": Row(get=(200,) * 5, open=True),
    "metricsz": Row(get=(404,) * 5, open=True),  # without a token in the settings
    "sign-out/": Row(post=(302,) * 5, open=True),
    "access-tokens/": Row(get=MINE, post=(302, 422, 422, 422, 422)),  # without a name
    "access-tokens/<int:token_id>/revoke/": Row(post=(302, 302, 404, 404, 404)),
    "people/": Row(get=ADMINISTERED, post=ADMINISTERED, sent={"user": "dora", "roles": "viewer"}),
    "people/groups/": Row(
        get=(302, 404, 404, 404, 302), post=(302, 404, 404, 404, 302), sent={"verb": "add", "name": "Legal"}
    ),
    "people/<int:person_id>/": Row(
        get=(302, 404, 404, 404, 302), post=(302, 404, 404, 404, 302), sent={"verb": "deactivate"}
    ),
    "audit/": Row(get=ADMINISTERED),
    "evaluations/": Row(get=ADMINISTERED),
    "evaluations/<int:number>/": Row(get=ADMINISTERED),
    "audit.<audit_suffix:suffix>": Row(get=ADMINISTERED),
    "agents/": Row(get=ADMINISTERED),
    "agents/new/": Row(
        get=ADMINISTERED,
        post=(302, 404, 404, 404, 302),
        sent={"name": "writer", "purpose": "Writes.", "instructions": "Write well."},
    ),
    "agents/<slug:name>/": Row(get=ADMINISTERED, post=(302, 404, 404, 404, 422)),
    "agents/<slug:name>/delete/": Row(get=ADMINISTERED, post=(302, 404, 404, 404, 302)),
    "status/": Row(get=ADMINISTERED, post=(302, 404, 404, 404, 422)),
    "status/notices/": Row(get=ADMINISTERED, post=(302, 404, 404, 404, 302), sent={"verb": "retry_all"}),
    "status/calibrations/": Row(get=ADMINISTERED, post=(302, 404, 404, 404, 422)),
    "status/calibrations/<int:calibration_id>/": Row(
        get=ADMINISTERED, post=(302, 404, 404, 404, 302), sent={"verb": "stop"}
    ),
    "status/servers/": Row(get=ADMINISTERED, post=(302, 404, 404, 404, 422)),
    "metrics/": Row(get=MINE),
    "help/": Row(get=MINE),
    "help/glossary/": Row(get=MINE),
    "runs/new/": Row(get=MINE, post=(302, 422, 422, 422, 422)),
    "runs/drafts/<uuid:draft>/": Row(
        get=(302, 200, 404, 404, 404), post=(302, 200, 404, 404, 404), sent={"remove": "a.md"}
    ),
    "runs/sample/<slug:name>/": Row(post=(302,) * 5),
    "runs/sample/finished/": Row(post=(302,) * 5),
    "runs/<int:run_id>/": Row(get=SEEN),
    **{f"runs/<int:run_id>/{tab}/": Row(get=SEEN) for tab in ("steps", "files", "history", "cost")},
    "runs/<int:run_id>/audit/": Row(get=SEEN),
    "runs/<int:run_id>/audit.<audit_suffix:suffix>": Row(get=SEEN),
    "runs/<int:run_id>/history/calls/<int:work_id>/": Row(get=SEEN),
    "runs/<int:run_id>/plan/": Row(get=SEEN, post=SEEN),
    "runs/<int:run_id>/plan/edit/": Row(get=SEEN, post=SEEN),
    "runs/<int:run_id>/plan/about/": Row(post=DONE, sent={"gate": "1"}),
    "runs/<int:run_id>/again/": Row(get=SEEN, post=DONE),
    "runs/<int:run_id>/again/with/": Row(get=SEEN, post=(302, 422, 422, 404, 422)),
    "runs/<int:run_id>/stop/": Row(post=DONE),
    "runs/<int:run_id>/attempts/<int:attempt_id>/overrule/": Row(
        post=(302, 404, 404, 404, 404)  # no attempt of this run
    ),
    "runs/<int:run_id>/overrulings/<int:overruling_id>/case/": Row(
        get=(302, 404, 404, 404, 404),
        post=(302, 404, 404, 404, 404),  # no overruling of this run
    ),
    "runs/<int:run_id>/pause/": Row(post=DONE, sent={"paused": "1"}),
    "runs/<int:run_id>/manage/": Row(
        get=SEEN, post=(302, 302, 403, 404, 302), sent={"verb": "rename", "title": "Other"}
    ),
    "runs/<int:run_id>/delete/": Row(get=SEEN, post=(302, 302, 403, 404, 302)),
    "runs/<int:run_id>/people/": Row(
        get=SEEN, post=(302, 302, 403, 404, 302), sent={"verb": "share", "who": "user-{charlie}", "level": "look"}
    ),
    "runs/<int:run_id>/gates/<int:gate_id>/": Row(post=DONE, sent={"verb": "approve", "digest": "{digest}"}),
    "runs/<int:run_id>/gates/<int:gate_id>/files/": Row(post=(302, 422, 422, 404, 422)),  # no file is chosen
    "runs/<int:run_id>/gates/<int:gate_id>/<slug:part>/": Row(get=(302, 404, 404, 404, 404)),  # a plan has none
    "runs/<int:run_id>/steps/<int:step_id>/": Row(get=SEEN),
    "runs/<int:run_id>/files/<path:path>": Row(get=SEEN),
    "runs/<int:run_id>/texts/<str:place>/": Row(get=SEEN),
    "runs/<int:run_id>/plans/<int:version>.json": Row(get=SEEN),
    "runs/<int:run_id>/template/": Row(get=SEEN, post=DONE, sent={"name": "Notes"}),
    "runs/<int:run_id>/evaluation-task/": Row(get=SEEN, post=SEEN, sent={"name": "notes", "request": "Do it"}),
    "templates/": Row(get=MINE),
    "templates/<slug:key>/": Row(get=(302, 200, 404, 404, 404)),
    "templates/<int:template_id>/rename/": Row(post=(302, 302, 404, 404, 404), sent={"name": "Other"}),
    "templates/<int:template_id>/letterhead/": Row(post=(302, 302, 404, 404, 404), sent={"organisation": "Acme"}),
    "templates/<int:template_id>/delete/": Row(get=(302, 200, 404, 404, 404), post=(302, 302, 404, 404, 404)),
    "runs/new/estimate/": Row(get=MINE),
    "runs/<int:run_id>/report/": Row(get=SEEN, post=(302, 302, 403, 404, 302), sent={"client": "Acme"}),
    "runs/<int:run_id>/report/<report_format:report_format>/": Row(get=SEEN),
    "runs/<int:run_id>/report.<report_format:report_format>": Row(get=SEEN),
    "runs/<int:run_id>/files.zip": Row(get=SEEN),
    "api/openapi.json": Row(get=(200,) * 5, open=True),
    "api/docs/": Row(get=MINE),
    "admin/login/": Row(methods=dict.fromkeys(set(METHODS) - {"trace"}, (302,) * 5), open=True),
    "admin/logout/": Row(post=(302,) * 5, open=True),
    "admin/": administered(200),
    "admin/password_change/": administered(404),
    "admin/password_change/done/": administered(404),
    "admin/autocomplete/": administered(403, options=200, **READ_ONLY),
    "admin/jsi18n/": administered(200, **READ_ONLY),
    "admin/r/<path:content_type_id>/<path:object_id>/": administered(404),
    **{f"admin/runs/{rows}/{end}": row for rows in LISTED for end, row in OF_ROWS.items()},
    "admin/(?P<app_label>runs)/": administered(404),
    "admin/(?P<url>.*)": administered(404),
}
"""By the route."""
FINISHED = ("again/", "again/with/", "template/", "evaluation-task/", "run_id>/delete/", "<str:place>/")
"""The ends of addresses that are about a finished run; others are about one that waits for its plan to be approved."""


ADDRESSES = {one.route: one for one in addresses()}


@dataclass(frozen=True)
class World:
    """Runs of Alice in which Bob may decide: one waits, one is finished."""

    waiting: Run
    finished: Run
    values: Mapping[str, str]
    sessions: Mapping[str, str]
    tokens: Mapping[str, str]

    def browser(self, who: str, **options: Any) -> Client:
        if who in self.tokens:
            options["headers"] = {"Authorization": f"Bearer {self.tokens[who]}"}
        client = Client(**options)
        if who in self.sessions:
            client.cookies["sessionid"] = self.sessions[who]
        return client

    def address(self, route: str, **changes: object) -> str:
        run = self.finished if route.endswith(FINISHED) else self.waiting
        if route.startswith("admin/runs/"):
            rows = apps.get_model("runs", route.split("/")[2])
            changes = {"object_id": rows._default_manager.values_list("pk", flat=True)[0], **changes}
        values = {**self.values, "run_id": run.pk, **changes}
        return ADDRESSES[route].path({name: str(value) for name, value in values.items()})

    def sent(self, row: Row) -> dict[str, str]:
        return {name: text.format(**self.values) for name, text in row.sent.items()}


@pytest.fixture(scope="module")
def world(rows_of_module: None) -> World:
    waiting, finished = made.awaiting_plan(), made.finished_succeeded()
    agent("contracts")
    deleted_run(finished.pk + 1_000)
    made.share(finished, made.bob())
    gate = Gate.objects.open().get(run=waiting)
    plan = waiting.plans.get()
    values = {
        "charlie": made.charlie().pk,
        "digest": gate.digest,
        "gate_id": gate.pk,
        "overruling_id": 1,
        "step_id": plan.steps.earliest("position").pk,
        "work_id": waiting.work.earliest("pk").pk,
        "version": plan.version,
        "path": sorted(waiting.inputs.changes)[0],
        "place": "answer",
        "report_format": "pdf",
        "suffix": "csv",
        "attempt_id": Attempt.objects.of_run(finished).latest("pk").pk,
        "part": "criteria",
        "template_id": (hers := save(made.alice(), finished, "Hers").pk),
        "key": hers,
        "uidb36": "1",
        "person_id": made.charlie().pk,
        "token_id": made.access_token(made.alice()),
        "session_id": UserSession.objects.create(user=made.alice(), ip="192.0.2.1", session_key="hers").pk,
        "pk": 1,
        "token": "x" * 43,
        "draft": submission_drafts.begin_with(made.alice(), uuid.uuid4(), finished).token,
        "name": "contracts",
        "number": stored_evaluation(),
        "calibration_id": stored_calibration().pk,
        "object_id": waiting.pk,
        "content_type_id": 1,
        "app_label": "runs",
        "url": "nowhere/",
    }
    vera = made.person("vera", roles=[PersonRole.VIEWER])
    for run in (waiting, finished):
        made.share(run, vera, level=ShareLevel.LOOK)
    root = made.person("root", is_superuser=True)
    people = {
        "viewer": vera,
        "owner": made.alice(),
        "approver": made.bob(),
        "outsider": made.charlie(),
        "administrator": root,
        "deactivated": (gone := made.person("gone", is_superuser=True)),
        "staff": made.person("staff", is_staff=True),
        "outsider with the owner's token": made.charlie(),
    }
    sessions = {}
    for who, person in people.items():
        client = Client()
        client.force_login(person)
        sessions[who] = client.cookies["sessionid"].value
    User.objects.filter(pk=gone.pk).update(is_active=False)  # what else deactivating does, ending sessions, is not done
    of_owner = access_tokens.issue(made.alice(), "program", 7)
    tokens = {
        "owner's token": of_owner,
        "outsider with the owner's token": of_owner,
        "administrator's token": access_tokens.issue(root, "program", 7),
    }
    return World(waiting, finished, {name: str(value) for name, value in values.items()}, sessions, tokens)


def deleted_run(number: int) -> None:
    """What is left of a run of Alice that was deleted."""
    ended = {"outcome": "succeeded", "submitted_at": timezone.now(), "finished_at": timezone.now()}
    DeletedRun.objects.create(
        number=number, title="Notes", owner=made.alice(), calls=0, cost_usd=0, files=0, bytes=0, **ended
    )


@contextmanager
def undone() -> Iterator[None]:
    """What is done inside has not been done for the next one."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    cache.clear()  # where sign-ins are counted


def statuses(world: World, route: str, method: str, people: Sequence[str]) -> tuple[int, ...]:
    """The status for each of them. Whatever the answer is, its headers tell the browser what not to do."""
    found, row = [], TABLE[route]
    for who in people:
        with undone():
            sent = {"data": world.sent(row)} if method == "post" else {}
            answer = getattr(world.browser(who), method)(world.address(route), **sent)
        assert (method, route, who, missing_headers(answer)) == (method, route, who, [])
        found.append(answer.status_code)
    return tuple(found)


OF_BYTES = {
    *("application/json", "application/octet-stream", "application/zip", "application/pdf"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
"""Types that have no encoding, or always the same."""


def missing_headers(answer: Any) -> list[str]:
    """What the headers of an answer do not say, although every answer of the pages has to."""
    policy, kind = answer["Content-Security-Policy"], answer["Content-Type"].replace('"', "")
    said = {
        "no plug-ins": "object-src 'none'" in policy or "default-src 'none'" in policy,
        "no other base": "base-uri 'none'" in policy,
        "no frame": "frame-ancestors 'none'" in policy,
        "no script without a nonce": "'unsafe" not in policy,
        "no guessing of types": answer["X-Content-Type-Options"] == "nosniff",
        "no address to other sites": answer["Referrer-Policy"] in {"same-origin", "strict-origin"},
        "nothing for other sites": "Access-Control-Allow-Origin" not in answer,
        "cookies for this site alone": all(
            cookie["samesite"] == "Lax" and cookie["httponly"] for cookie in answer.cookies.values() if cookie.value
        ),
        "which encoding": kind in OF_BYTES or kind.endswith("; charset=utf-8"),
    }
    return [name for name, is_said in said.items() if not is_said]


def test_every_address_has_a_row_and_every_row_an_address() -> None:
    assert sorted(ADDRESSES) == sorted(TABLE)


def expected(method: str, people: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, ...]]:
    return {route: tuple(TABLE[route].of(method, who) for who in people[route]) for route in people}


@pytest.mark.slow(every_case=True)
@pytest.mark.parametrize("method", ["get", "post"])
def test_everybody_gets_what_the_table_says(world: World, method: str) -> None:
    """Stand-ins ask where an address takes the method; elsewhere each role is refused, whatever it comes with."""
    everybody = [*ROLES, *STAND_INS]
    people = {route: everybody if row.takes(method) else ROLES for route, row in TABLE.items()}
    found = {route: statuses(world, route, method, people[route]) for route in TABLE}
    assert found == expected(method, people)


@pytest.mark.slow(every_case=True)
@pytest.mark.exhaustive
@pytest.mark.parametrize("method", METHODS)
def test_everybody_gets_that_by_every_method(world: World, method: str) -> None:
    people = {route: [*ROLES, *STAND_INS] for route in TABLE}
    assert {route: statuses(world, route, method, people[route]) for route in TABLE} == expected(method, people)


SUBMITTING = {
    *("runs/new/", "runs/new/estimate/", "runs/drafts/<uuid:draft>/", "runs/sample/<slug:name>/"),
    *("runs/sample/finished/", "runs/<int:run_id>/again/", "runs/<int:run_id>/again/with/"),
}
"""What only people may do who may submit."""
DECIDING = {
    *(f"runs/<int:run_id>/{end}/" for end in ("plan", "plan/edit", "plan/about", "stop", "pause")),
    *(f"runs/<int:run_id>/gates/<int:gate_id>/{end}" for end in ("", "files/")),
    "runs/<int:run_id>/attempts/<int:attempt_id>/overrule/",
}
"""What is posted to decide in a run."""


@pytest.mark.slow(every_case=True)
@pytest.mark.parametrize("method", ["get", "post"])
def test_who_may_only_look_sees_what_an_approver_sees_and_decides_and_submits_nothing(
    world: World, method: str
) -> None:
    refused = SUBMITTING | (DECIDING if method == "post" else {"runs/<int:run_id>/plan/edit/"})
    wanted, found = {}, {}
    for route, row in TABLE.items():
        if row.takes(method):
            wanted[route] = (403,) if route in refused else (row.of(method, "approver"),)
            found[route] = statuses(world, route, method, ["viewer"])
    assert found == wanted


def test_what_is_not_found_has_the_same_headers(world: World) -> None:
    for role in ROLES:
        assert missing_headers(world.browser(role).get("/nowhere/")) == []


def test_nobody_signs_in_at_the_administration_or_sets_a_password_there(world: World) -> None:
    for page in ("/admin/password_change/", "/admin/password_change/done/"):
        assert world.browser("administrator").get(page).status_code == 404
    for role in ROLES:
        answer = world.browser(role).post("/admin/login/", {"username": "root", "password": ""})
        assert (answer.status_code, answer["Location"]) == (302, "/sign-in/")


@pytest.mark.slow
def test_runs_that_are_not_there_and_parts_of_another_run_are_not_found(world: World) -> None:
    """Alice is in both runs, so that it is the address that does not fit; an administrator sees all there is."""
    found = set()
    for route in (route for route in TABLE if "<int:run_id>" in route):
        parts = [world.finished.pk] if re.search("gate_id|step_id|work_id", route) else []
        for run_id, role in itertools.product([0, 10**18, *parts], ["owner", "administrator"]):
            for method in (method for method in ("get", "post") if getattr(TABLE[route], method)):
                status = getattr(world.browser(role), method)(world.address(route, run_id=run_id)).status_code
                found.add((route, run_id, method, role) if status != 404 else ())
    assert found == {()}


@pytest.mark.slow
def test_another_site_can_post_nothing_in_anybodys_name(world: World) -> None:
    def rows() -> list[Any]:
        counted = [model.objects.count() for model in (Run, Event, Template, Link)]
        return [counted, list(User.objects.order_by("pk").values_list("username", "is_active", "password"))]

    before = rows()
    headers = {"Origin": "https://evil.example"}
    for route, role in itertools.product(TABLE, ("owner", "administrator")):
        if TABLE[route].post:
            client = world.browser(role, enforce_csrf_checks=True)
            answer = client.post(world.address(route), world.sent(TABLE[route]), headers=headers)
            assert (route, answer.status_code) == (route, 403)
    assert rows() == before
    still_in = [world.browser(role).get("/").status_code for role in ("owner", "administrator")]
    assert still_in == [200, 200], "and nobody was signed out"
