"""Every kind of line is recorded by a real action: who did it, from where, through what, and no secret."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connections
from django.test import AsyncClient, Client
from pytest_django import Settings

from runs.enums import AuditKind
from runs.lifecycle.assignments import hand_on
from runs.models import Attempt, AuditEntry, Run, User
from runs.operations.settings_audit import record_changed_settings
from runs.people import access_tokens
from runs.store import audit_trail
from runs.store.audit_trail import AuditCheck
from runs.web.people import sign_in_audit
from runs.web.people.sign_in_pages import link_for
from tests import factories as made
from tests.html_forms import sent_of
from tests.integration.lifecycle.old import long_ago
from tests.integration.web.deciding import address, form, gate_of
from tests.integration.web.test_sign_in_methods import PASSWORD, set_up_app

pytestmark = [pytest.mark.django_db, pytest.mark.services]
WORDS = "Please add the annexes of Müller & Söhne."
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


class Scene:
    """Alice, who is an administrator, in a browser in which she has signed in with a link."""

    def __init__(self) -> None:
        self.alice, self.bob = made.alice(), made.bob()
        User.objects.filter(pk=self.alice.pk).update(is_superuser=True, is_staff=True)
        self.alice.refresh_from_db()
        self.browser = Client(REMOTE_ADDR="203.0.113.7", headers={"User-Agent": AGENT})
        self.link = link_for(self.alice)
        self.post(self.link)

    def post(self, path: str, given: object = None) -> None:
        answer = self.browser.post(path, given)
        assert answer.status_code in {200, 302}, answer.content[:500]

    def manage(self, run: Run, **given: str) -> None:
        self.post(f"/runs/{run.pk}/manage/", given)

    def person(self, verb: str, **more: list[str]) -> None:
        self.post(f"/people/{self.bob.pk}/", {"verb": verb, **more})


def decide(scene: Scene) -> None:
    gate = gate_of(made.awaiting_plan())
    scene.post(address(gate), form(gate, "reject", WORDS))


def edit_plan(scene: Scene) -> None:
    run = made.awaiting_plan()
    place = f"/runs/{run.pk}/plan/edit/"
    sent = sent_of(scene.browser.get(f"{place}?step=0").text, "plan-editor").copy()

    sent["steps-0-name"], sent["do"] = "List them", "save"
    answer = scene.browser.post(place, sent.urlencode(), content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 302


def archive(scene: Scene) -> None:
    run = made.stopped()
    scene.manage(run, verb="archive")
    scene.manage(run, verb="restore")


def share(scene: Scene) -> None:
    run = made.awaiting_plan()
    charlie = made.charlie()
    for given in ({"verb": "share", "level": "look"}, {"verb": "remove"}):
        scene.post(f"/runs/{run.pk}/people/", {"who": f"user-{charlie.pk}", **given})


def pause(scene: Scene) -> None:
    run = made.executing()
    for _ in range(2):
        run.refresh_from_db()
        scene.post(f"/runs/{run.pk}/pause/", {"paused": "" if run.paused else "1"})


def export(scene: Scene) -> None:
    run = made.finished_succeeded()
    assert scene.browser.get(f"/runs/{run.pk}/report.md").status_code == 200


def download(scene: Scene) -> None:
    run = made.finished_succeeded()
    path = next(iter(run.inputs.changes))
    assert scene.browser.get(f"/runs/{run.pk}/files/{path}?download=1").status_code == 200


def refused(scene: Scene) -> None:
    Client(REMOTE_ADDR="203.0.113.7").post("/sign-in/", {"login": "alice", "password": "wrong"})


def set_password(scene: Scene) -> None:
    scene.post("/account/password/new/", {"password1": PASSWORD, "password2": PASSWORD})


def remove_factor(scene: Scene) -> None:
    set_up_app(scene.browser)
    scene.post("/account/methods/totp/deactivate/")


def end_session(scene: Scene) -> None:
    other = Client()
    other.post(link_for(scene.alice))
    session = UserSession.objects.exclude(session_key=scene.browser.session.session_key).get(user=scene.alice)
    scene.post(f"/account/sessions/{session.pk}/end/")


def make_token(scene: Scene) -> None:
    scene.post("/access-tokens/", {"name": "laptop", "days": "30"})


def revoke_token(scene: Scene) -> None:
    scene.post(f"/access-tokens/{made.access_token(scene.alice)}/revoke/")


def change_setting(scene: Scene) -> None:
    record_changed_settings("serve")


def overrule(scene: Scene) -> None:
    run = made.finished_partial()
    attempt = Attempt.objects.of_run(run).filter(verdict__passed=False).latest("pk")
    label = next(one.label for one in attempt.verdict.results if not one.met)
    sent = {"criterion": label, "answer": "met", "reason": WORDS}
    scene.post(f"/runs/{run.pk}/attempts/{attempt.pk}/overrule/", sent)


def make_and_delete_group(scene: Scene) -> None:
    scene.post("/people/groups/", {"verb": "add", "name": "Lawyers"})
    scene.post("/people/groups/", {"verb": "delete", "team": str(Group.objects.get(name="Lawyers").pk)})


def assign(scene: Scene) -> None:
    gate = gate_of(made.awaiting_plan())
    hand_on(gate.pk, scene.alice, scene.bob, gate.assigned_to_id)


ACTIONS: dict[AuditKind, Callable[[Scene], object]] = {
    AuditKind.SUBMITTED: lambda scene: made.submit_as(scene.alice),
    AuditKind.DECIDED: decide,
    AuditKind.ASSIGNED: assign,
    AuditKind.PLAN_EDITED: edit_plan,
    AuditKind.OVERRULED: overrule,
    AuditKind.STOPPED: lambda scene: scene.post(f"/runs/{made.executing().pk}/stop/"),
    AuditKind.PAUSED: pause,
    AuditKind.RESUMED: pause,
    AuditKind.SHARED: share,
    AuditKind.UNSHARED: share,
    AuditKind.RENAMED: lambda scene: scene.manage(made.executing(), verb="rename", title="Another"),
    AuditKind.ARCHIVED: archive,
    AuditKind.UNARCHIVED: archive,
    AuditKind.RUN_DELETED: lambda scene: scene.post(f"/runs/{long_ago(made.finished_succeeded()).pk}/delete/"),
    AuditKind.REPORT_EXPORTED: export,
    AuditKind.FILE_DOWNLOADED: download,
    AuditKind.INVITED: lambda scene: scene.post("/people/", {"user": "dora", "roles": ["viewer"]}),
    AuditKind.LINK_MADE: lambda scene: scene.person("link"),
    AuditKind.ROLE_CHANGED: lambda scene: scene.person("roles", roles=["administrator"]),
    AuditKind.GROUP_MADE: make_and_delete_group,
    AuditKind.GROUP_DELETED: make_and_delete_group,
    AuditKind.DEACTIVATED: lambda scene: scene.person("deactivate"),
    AuditKind.ACTIVATED: lambda scene: scene.person("activate"),
    AuditKind.SIGN_IN_RESET: lambda scene: scene.person("reset"),
    AuditKind.SIGNED_IN: lambda scene: None,
    AuditKind.SIGN_IN_REFUSED: refused,
    AuditKind.SIGNED_OUT: lambda scene: scene.post("/sign-out/"),
    AuditKind.SIGNED_OUT_EVERYWHERE: lambda scene: scene.person("sign_out"),
    AuditKind.SESSION_ENDED: end_session,
    AuditKind.PASSWORD_CHANGED: set_password,
    AuditKind.FACTOR_ADDED: lambda scene: set_up_app(scene.browser),
    AuditKind.FACTOR_REMOVED: remove_factor,
    AuditKind.TOKEN_MADE: make_token,
    AuditKind.TOKEN_REVOKED: revoke_token,
    AuditKind.SETTING_CHANGED: change_setting,
}
ELSEWHERE = {AuditKind.BACKED_UP, AuditKind.BACKUP_RESTORED}
"""By processes: test_backup.py."""
NOT_BY_REQUESTS = {AuditKind.SUBMITTED, AuditKind.ASSIGNED, AuditKind.SETTING_CHANGED}
NO_PERSON = {AuditKind.SIGN_IN_REFUSED, AuditKind.SETTING_CHANGED}


def test_every_kind_is_in_the_table() -> None:
    assert ACTIONS.keys() | ELSEWHERE == set(AuditKind)


@pytest.mark.parametrize("kind", ACTIONS)
def test_an_action_is_recorded(kind: AuditKind, settings: Settings) -> None:
    settings.MCP_SERVER = True
    scene = Scene()
    ACTIONS[kind](scene)
    line = AuditEntry.objects.filter(kind=kind).last()
    assert line is not None
    if kind not in NO_PERSON:
        assert (line.by_id, line.by) == (scene.alice.pk, "alice")
    if kind not in NOT_BY_REQUESTS:
        assert (line.address, line.channel) == ("203.0.113.7", "page")
        assert line.through in {"Firefox on Linux", "An unknown program"}
    check = AuditCheck()
    assert list(audit_trail.problems(check)) == []
    assert check.lines == AuditEntry.objects.count()
    said = json.dumps(list(AuditEntry.objects.values("through", "subject", "details", "digest", "by", "address")))
    for secret in secrets_of(scene):
        assert secret not in said


def secrets_of(scene: Scene) -> list[str]:
    """What no line may contain: links, passwords, keys, codes, words of people and contents of files."""
    found = [scene.link.split("/")[-2], PASSWORD, "test-key-of-nobody", WORDS, "Müller", "pev_", made.INVENTORY_TEXT]
    for row in Authenticator.objects.all():
        found += [str(value) for value in row.data.values() if len(str(value)) > 10]
    return found


def test_a_decision_names_its_gate_and_the_fingerprint_and_not_the_words() -> None:
    scene = Scene()
    run = made.awaiting_plan()
    gate = gate_of(run)
    scene.post(address(gate), form(gate, "reject", WORDS))
    line = AuditEntry.objects.get(kind=AuditKind.DECIDED)
    assert (line.run_number, line.subject, line.digest) == (run.pk, "plan version 1", gate.digest)
    assert line.details == {
        "gate": gate.pk,
        "gate_kind": "plan",
        "decision": "rejected",
        "how": "person",
        "words": audit_trail.digest_of_words(WORDS),
        "version": 1,
    }


def test_the_lines_of_a_run_stay_when_it_is_deleted() -> None:
    scene = Scene()
    run = long_ago(made.finished_succeeded())
    before = list(AuditEntry.objects.filter(run_number=run.pk).values())
    assert before
    scene.post(f"/runs/{run.pk}/delete/")
    assert not Run.objects.filter(pk=run.pk).exists()
    assert list(AuditEntry.objects.filter(run_number=run.pk).values())[: len(before)] == before
    assert AuditEntry.objects.filter(run_number=run.pk).count() == len(before) + 1


def test_the_lines_of_a_person_stay_when_they_are_deleted() -> None:
    dora = made.person("dora")
    access_tokens.issue(dora, "laptop", 30)
    number = dora.pk
    dora.delete()
    assert AuditEntry.objects.filter(by_id=number, by="dora", kind=AuditKind.TOKEN_MADE).count() == 1


def test_a_command_is_recorded_with_its_name_and_no_person() -> None:
    call_command("people", "invite", "dora", stdout=StringIO())
    line = AuditEntry.objects.get(kind=AuditKind.INVITED)
    assert (line.by_id, line.by, line.channel, line.subject) == (None, "", "terminal", "dora")
    assert line.through.startswith("people, by ")


def test_of_many_refusals_few_become_lines() -> None:
    for _ in range(1_000):
        sign_in_audit.refused("password", "203.0.113.7", now=0)
    counts = [details["count"] for details in AuditEntry.objects.values_list("details", flat=True)]
    assert counts == [1, 2, 3, 4, 5, 10, 20, 40, 80, 160, 320, 640]
    sign_in_audit.refused("password", "203.0.113.7", now=3_600)
    assert AuditEntry.objects.count() == len(counts) + 1


def test_refusals_from_many_addresses_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_audit, "MAX_REFUSALS", 10)
    for number in range(100):
        sign_in_audit.refused("link", f"203.0.113.{number}", now=0)
    assert AuditEntry.objects.count() == 10 + 3  # and at 20, 40 and 80


@pytest.mark.parametrize(("typed", "subject"), [("ALICE", "alice"), ("correct horse battery", ""), ("a\0b", "")])
def test_what_was_typed_as_a_name_is_recorded_only_if_it_is_one(alice: User, typed: str, subject: str) -> None:
    sign_in_audit.refused("password", "203.0.113.7", typed)
    assert AuditEntry.objects.get().subject == subject


def test_settings_are_compared_with_the_last_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEV_KEEP_DAYS", "30")
    monkeypatch.setenv("PEV_METRICS_TOKEN", "hidden-" * 5)
    record_changed_settings("serve")
    first = AuditEntry.objects.count()
    record_changed_settings("serve")
    assert AuditEntry.objects.count() == first, "nothing has changed"
    monkeypatch.setenv("PEV_KEEP_DAYS", "60")
    monkeypatch.setenv("PEV_METRICS_TOKEN", "other-" * 5)
    record_changed_settings("serve")
    days, token = AuditEntry.objects.all()[first:]
    changed = {line.details["name"]: line.details for line in (days, token)}
    assert changed["PEV_KEEP_DAYS"] == {"name": "PEV_KEEP_DAYS", "before": "30", "after": "60"}
    secret = changed["PEV_METRICS_TOKEN"]
    assert secret["before"] != secret["after"]
    assert all(text.startswith("a secret, ") for text in (secret["before"], secret["after"]))
    assert "hidden" not in json.dumps(list(AuditEntry.objects.values_list("details", flat=True)))
    monkeypatch.delenv("PEV_KEEP_DAYS")
    record_changed_settings("serve")
    assert AuditEntry.objects.last().details["after"] == "not set"  # type: ignore[union-attr]


def test_every_decision_of_a_whole_run_has_its_line() -> None:
    run = made.finished_succeeded()
    decided = set(run.gates.exclude(decided_by=None).values_list("pk", flat=True))
    lines = AuditEntry.objects.filter(run_number=run.pk, kind=AuditKind.DECIDED)
    assert {line.details["gate"] for line in lines} == decided != set()


@pytest.mark.django_db(transaction=True)
def test_a_page_is_served_and_recorded_in_the_event_loop_too(alice: User) -> None:
    """There the session must not be read before a line needs it, and the line has the same origin."""

    async def export(run: Run) -> int:
        browser = AsyncClient()
        await browser.aforce_login(alice)
        status = (await browser.get(f"/runs/{run.pk}/report.md")).status_code
        await sync_to_async(connections.close_all)()  # those of the thread that has served the page
        return status

    run = made.finished_succeeded()
    assert asyncio.run(export(run)) == 200
    line = AuditEntry.objects.get(kind=AuditKind.REPORT_EXPORTED)
    assert (line.by, line.address, line.channel, line.run_number) == ("alice", "127.0.0.1", "page", run.pk)
