"""Who gets what: every address by every method as nobody, owner, approver, outsider and administrator (S4).

The addresses are those of the URL configuration. One that is new fails here until the table says who may have it.
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
from django.db import transaction
from django.test import Client

from runs.lifecycle import drafts
from runs.lifecycle.state import reset_memory
from runs.lifecycle.templates import save
from runs.models import Event, Gate, Link, Run, Template, User
from runs.trees import reset_cache
from tests import factories as made
from tests.factories.agents import agent
from tests.hostile.fuzzing.surface import addresses

pytestmark = pytest.mark.django_db
type Statuses = tuple[int, int, int, int, int]

ROLES = ("nobody", "owner", "approver", "outsider", "administrator")


@dataclass(frozen=True)
class Row:
    """The statuses for each role; with `sent` posted. A method that is None is no method of this address."""

    get: Statuses | None = None
    post: Statuses | None = None
    sent: Mapping[str, str] = field(default_factory=dict)
    open: bool = False
    """Whether those who have not signed in reach it."""

    def of(self, method: str) -> tuple[int, ...]:
        """For each role in `asking(method)`."""
        return self._known(method) or (405 if self.open else 302, 405)

    def asking(self, method: str) -> Sequence[str]:
        """What is no method of this address is refused before anybody is looked at: one who may all is enough."""
        return ROLES if self._known(method) else ("nobody", "owner")

    def _known(self, method: str) -> Statuses | None:
        return {"get": self.get, "post": self.post}.get(method)


SEEN: Statuses = (302, 200, 200, 404, 200)
"""What everybody may look at who may see the run."""
DONE: Statuses = (302, 302, 302, 404, 302)
"""What everybody may do who may see the run: it leads to another page."""
MINE: Statuses = (302, 200, 200, 200, 200)
"""A page of one's own."""
ADMINISTERED: Statuses = (302, 404, 404, 404, 200)

TABLE = {
    "": Row(get=MINE),
    "sign-in/": Row(get=(200, 302, 302, 302, 302), open=True),
    "sign-in/<path:token>/": Row(get=(302,) * 5, post=(302,) * 5, open=True),
    "healthz": Row(get=(200,) * 5, open=True),
    "readyz": Row(get=(200,) * 5, open=True),
    "metricsz": Row(get=(404,) * 5, open=True),  # without a token in the settings
    "sign-out/": Row(post=(302,) * 5),
    "access-tokens/": Row(get=MINE, post=(302, 422, 422, 422, 422)),  # nothing asks over MCP where it is off
    "access-tokens/<int:token_id>/revoke/": Row(post=(302, 302, 404, 404, 404)),
    "people/": Row(get=ADMINISTERED, post=ADMINISTERED, sent={"user": "dora"}),
    "people/<int:person_id>/": Row(post=(302, 404, 404, 404, 302), sent={"verb": "deactivate"}),
    "agents/": Row(get=ADMINISTERED),
    "agents/new/": Row(
        get=ADMINISTERED,
        post=(302, 404, 404, 404, 302),
        sent={"name": "writer", "purpose": "Writes.", "instructions": "Write well."},
    ),
    "agents/<slug:name>/": Row(get=ADMINISTERED, post=(302, 404, 404, 404, 422)),
    "agents/<slug:name>/delete/": Row(get=ADMINISTERED, post=(302, 404, 404, 404, 302)),
    "status/": Row(get=ADMINISTERED, post=(302, 404, 404, 404, 422)),
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
    "runs/<int:run_id>/history/calls/<int:work_id>/": Row(get=SEEN),
    "runs/<int:run_id>/plan/": Row(get=SEEN, post=SEEN),
    "runs/<int:run_id>/plan/edit/": Row(get=SEEN, post=SEEN),
    "runs/<int:run_id>/plan/about/": Row(post=DONE, sent={"gate": "1"}),
    "runs/<int:run_id>/again/": Row(get=SEEN, post=DONE),
    "runs/<int:run_id>/again/with/": Row(get=SEEN, post=(302, 422, 422, 404, 422)),
    "runs/<int:run_id>/stop/": Row(post=DONE),
    "runs/<int:run_id>/pause/": Row(post=DONE, sent={"paused": "1"}),
    "runs/<int:run_id>/manage/": Row(
        get=SEEN, post=(302, 302, 403, 404, 302), sent={"verb": "rename", "title": "Other"}
    ),
    "runs/<int:run_id>/delete/": Row(get=SEEN, post=(302, 302, 403, 404, 302)),
    "runs/<int:run_id>/people/": Row(
        get=SEEN, post=(302, 302, 403, 404, 302), sent={"verb": "add", "person": "{charlie}"}
    ),
    "runs/<int:run_id>/gates/<int:gate_id>/": Row(post=DONE, sent={"verb": "approve", "digest": "{digest}"}),
    "runs/<int:run_id>/gates/<int:gate_id>/<slug:part>/": Row(get=(302, 404, 404, 404, 404)),  # a plan has none
    "runs/<int:run_id>/steps/<int:step_id>/": Row(get=SEEN),
    "runs/<int:run_id>/files/<path:path>": Row(get=SEEN),
    "runs/<int:run_id>/texts/<str:place>/": Row(get=SEEN),
    "runs/<int:run_id>/plans/<int:version>.json": Row(get=SEEN),
    "runs/<int:run_id>/template/": Row(get=SEEN, post=DONE, sent={"name": "Notes"}),
    "templates/": Row(get=MINE),
    "templates/<slug:key>/": Row(get=(302, 200, 404, 404, 404)),
    "templates/<int:template_id>/rename/": Row(post=(302, 302, 404, 404, 404), sent={"name": "Other"}),
    "templates/<int:template_id>/delete/": Row(get=(302, 200, 404, 404, 404), post=(302, 302, 404, 404, 404)),
    "runs/new/estimate/": Row(get=MINE),
    "runs/<int:run_id>/report/": Row(get=SEEN),
    "runs/<int:run_id>/report/pdf/": Row(get=SEEN),
    "runs/<int:run_id>/report/docx/": Row(get=SEEN),
    "runs/<int:run_id>/report.md": Row(get=SEEN),
    "runs/<int:run_id>/report.html": Row(get=SEEN),
    "runs/<int:run_id>/report.json": Row(get=SEEN),
    "runs/<int:run_id>/report.pdf": Row(get=SEEN),
    "runs/<int:run_id>/report.docx": Row(get=SEEN),
    "runs/<int:run_id>/files.zip": Row(get=SEEN),
    "admin/logout/": Row(post=(302,) * 5),
}
"""By the route. What is under `admin/`, and not here, is for administrators alone."""
FINISHED = ("again/", "again/with/", "template/", "run_id>/delete/", "<str:place>/")
"""The ends of addresses that are about a finished run; others are about one that waits for its plan to be approved."""


ADDRESSES = {one.route: one for one in addresses()}
PAGES = [route for route in ADDRESSES if not route.startswith("admin/") or route in TABLE]
ADMIN_PAGES = [route for route in ADDRESSES if route not in [*PAGES, "admin/login/"]]


@dataclass(frozen=True)
class World:
    """Runs of Alice in which Bob may decide: one waits, one is finished."""

    waiting: Run
    finished: Run
    values: Mapping[str, str]
    sessions: Mapping[str, str]

    def browser(self, role: str, **options: Any) -> Client:
        client = Client(**options)
        if role in self.sessions:
            client.cookies["sessionid"] = self.sessions[role]
        return client

    def address(self, route: str, **changes: object) -> str:
        run = self.finished if route.endswith(FINISHED) else self.waiting
        values = {**self.values, "run_id": str(run.pk), **{name: str(value) for name, value in changes.items()}}
        return ADDRESSES[route].path(values)

    def sent(self, row: Row) -> dict[str, str]:
        return {name: text.format(**self.values) for name, text in row.sent.items()}


@pytest.fixture(scope="module")
def world(rows_of_module: None) -> World:
    waiting, finished = made.awaiting_plan(), made.finished_succeeded()
    agent("contracts")
    finished.approvers.add(made.bob())
    gate = Gate.objects.open().get(run=waiting)
    plan = waiting.plans.get()
    values = {
        "charlie": made.charlie().pk,
        "digest": gate.digest,
        "gate_id": gate.pk,
        "step_id": plan.steps.earliest("position").pk,
        "work_id": waiting.work.earliest("pk").pk,
        "version": plan.version,
        "path": sorted(waiting.inputs.changes)[0],
        "place": "answer",
        "part": "criteria",
        "template_id": (hers := save(made.alice(), finished, "Hers").pk),
        "key": hers,
        "person_id": made.charlie().pk,
        "token_id": made.access_token(made.alice()),
        "token": "x" * 43,
        "draft": drafts.begin_with(made.alice(), uuid.uuid4(), finished).token,
        "name": "contracts",
        "object_id": waiting.pk,
        "content_type_id": 1,
        "app_label": "runs",
        "url": "nowhere/",
    }
    sessions = {}
    people = (made.alice(), made.bob(), made.charlie(), made.person("root", is_superuser=True))
    for role, person in zip(ROLES[1:], people, strict=True):
        client = Client()
        client.force_login(person)
        sessions[role] = client.cookies["sessionid"].value
    return World(waiting, finished, {name: str(value) for name, value in values.items()}, sessions)


@contextmanager
def undone() -> Iterator[None]:
    """What is done inside has not been done for the next one."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    reset_memory()
    reset_cache()


def statuses(world: World, route: str, method: str, row: Row, roles: Sequence[str] = ROLES) -> tuple[int, ...]:
    """The status for each role. Whatever the answer is, its headers tell the browser what not to do."""
    found = []
    for role in roles:
        with undone():
            sent = {"data": world.sent(row)} if method == "post" else {}
            answer = getattr(world.browser(role), method)(world.address(route), **sent)
        assert (method, route, role, missing_headers(answer)) == (method, route, role, [])
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
    assert sorted(set(PAGES)) == sorted(TABLE)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["get", "post"])
def test_everybody_gets_what_the_table_says(world: World, method: str) -> None:
    found = {route: statuses(world, route, method, row, row.asking(method)) for route, row in TABLE.items()}
    assert found == {route: row.of(method) for route, row in TABLE.items()}


@pytest.mark.slow
def test_head_gives_nobody_more_than_get(world: World) -> None:
    """Those who may have nothing, everything of their own, and nothing of hers."""
    roles = ("nobody", "owner", "outsider")
    found = {route: statuses(world, route, "head", row, roles) for route, row in TABLE.items()}
    told = {route: row.get or (405 if row.open else 302, 405, 405, 405, 405) for route, row in TABLE.items()}
    assert found == {route: tuple(by_role[ROLES.index(role)] for role in roles) for route, by_role in told.items()}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "trace"])
def test_other_methods_are_refused_everywhere(world: World, method: str) -> None:
    found = {route: statuses(world, route, method, row, row.asking(method)) for route, row in TABLE.items()}
    assert found == {route: row.of(method) for route, row in TABLE.items()}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["get", "post"])
def test_the_administration_is_there_for_administrators_alone(world: World, method: str) -> None:
    """All others have the same there, which is nothing: of them the owner may do most elsewhere."""
    roles = ("nobody", "owner", "administrator")
    found = {route: statuses(world, route, method, Row(), roles) for route in ADMIN_PAGES}
    assert len(found) > 40
    assert {one[:2] for one in found.values()} == {(302, 404)}
    assert {route: one[2] for route, one in found.items() if one[2] >= 500} == {}


def test_what_is_not_found_has_the_same_headers(world: World) -> None:
    for role in ROLES:
        assert missing_headers(world.browser(role).get("/nowhere/")) == []


def test_nobody_signs_in_with_a_password_or_sets_one(world: World) -> None:
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
