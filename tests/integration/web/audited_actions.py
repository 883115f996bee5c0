"""Actions that the audit trail records: each posts, or fetches, as a browser of Alice, who is an administrator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pydantic import SecretStr
from pytest_django import Settings

from runs.enums import About, AuditKind, CalibrationStatus, DeliveryStatus, GateKind, NoticeKind, PersonRole
from runs.mcp_client.server_config import ServerConfig
from runs.models import Attempt, AuditEntry, Delivery, Notice, Overruling, Process, Run, Template, User
from runs.people.identity_provider import IdentityProvider
from runs.submission.run_templates import save
from runs.web.people.sign_in_pages import link_for
from tests import factories as made
from tests.factories.agents import agent
from tests.factories.calibrations import stored_calibration
from tests.fakes.identity_provider import CLIENT, SECRET, providing
from tests.html_forms import sent_of
from tests.integration.lifecycle.old import long_ago
from tests.integration.web.deciding import address, form, gate_of
from tests.integration.web.test_sign_in_methods import PASSWORD, set_up_app

ADDRESS = "203.0.113.7"
WORDS = "Please add the annexes of Müller & Söhne."
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
RUN = "runs/<int:run_id>/"


class Browser(Client):
    """Knows which kinds of lines were written while it asked for which route."""

    def __init__(self) -> None:
        super().__init__(REMOTE_ADDR=ADDRESS, headers={"User-Agent": AGENT})
        self.written = defaultdict[str, set[str]](set)

    def request(self, **request: Any) -> Any:
        before = AuditEntry.objects.count()
        answer = super().request(**request)
        lines = AuditEntry.objects.filter(number__gt=before)
        self.written[answer.resolver_match.route] |= set(lines.values_list("kind", flat=True))
        return answer


class Scene:
    """Alice has signed in with a link."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        settings.MCP_SERVER = True
        settings.MCP = {"wiki": ServerConfig.model_validate({"url": "https://wiki.example/mcp"})}
        self.alice, self.bob = made.alice(), made.bob()
        User.objects.filter(pk=self.alice.pk).update(is_superuser=True, is_staff=True)
        self.alice.refresh_from_db()
        self.browser = Browser()
        self.link = link_for(self.alice)
        self.post(self.link)

    def get(self, path: str) -> Any:
        answer = self.browser.get(path)
        assert answer.status_code == 200, answer.content[:500]
        return answer

    def post(self, path: str, given: Any = None, status: int = 0) -> Any:
        answer = self.browser.post(path, given)
        assert answer.status_code in ({status} if status else {200, 302}), answer.content[:500]
        return answer

    def send(self, path: str, form_id: str, **changes: str) -> None:
        """Post a form of a page as a browser fills it."""
        sent = sent_of(self.get(path).text, form_id).copy()
        for name, value in changes.items():
            sent[name.replace("__", "-")] = value
        answer = self.browser.post(
            path.partition("?")[0], sent.urlencode(), content_type="application/x-www-form-urlencoded"
        )
        assert answer.status_code == 302, answer.content[:500]

    def manage(self, run: Run, **given: str) -> None:
        self.post(f"/runs/{run.pk}/manage/", given)

    def person(self, verb: str, **more: list[str]) -> None:
        self.post(f"/people/{self.bob.pk}/", {"verb": verb, **more})


@dataclass(frozen=True)
class Audited:
    """An action that requests this route and thereby writes a line of this kind."""

    kind: AuditKind
    route: str
    act: Callable[[Scene], object]
    by: str = "alice"
    """Whom the line names; empty where it is not known who it is."""

    def __str__(self) -> str:
        return f"{self.kind} by {self.route}"


def decide(scene: Scene) -> None:
    gate = gate_of(made.awaiting_plan())
    scene.post(address(gate), form(gate, "reject", WORDS))


def decide_together(scene: Scene) -> None:
    gate = gate_of(made.awaiting_plan(made.plan(made.plan_step("list", "List the parties"))))
    scene.post("/decisions/", {"gate": f"{gate.pk}:{gate.digest}"})


def decide_on_plan_page(scene: Scene) -> None:
    gate = gate_of(made.awaiting_plan())
    scene.post(f"/runs/{gate.run_id}/plan/", {"gate": str(gate.pk), **form(gate, "approve")})


def give_files(scene: Scene) -> None:
    gate = gate_of(made.awaiting_plan(made.plan(made.plan_step("s1", "Compare", inputs=["annex-b.md"]))))
    scene.post(f"{address(gate)}files/", {"files": SimpleUploadedFile("annex-b.md", b"40 euros")})


def raise_limit(scene: Scene) -> None:
    gate = gate_of(made.budget_gate())
    scene.post(address(gate), {**form(gate, "approve"), "budget": "5"})


def edit_plan(scene: Scene) -> None:
    run = made.awaiting_plan()
    scene.send(f"/runs/{run.pk}/plan/edit/?step=0", "plan-editor", steps__0__name="List them", do="save")


def change_topic(scene: Scene) -> None:
    about = made.criterion("Every party is named", about=About.SOURCES)
    run = made.awaiting_plan(made.plan(made.plan_step("review", "Review", acceptance_criteria=[about])))
    gate = made.open_gate(run, GateKind.PLAN)
    clicked = {"gate": str(gate.pk), "digest": gate.digest, "step": "review", "number": "1"}
    scene.post(f"/runs/{run.pk}/plan/about/", clicked)


def overrule(scene: Scene) -> None:
    run = made.finished_partial()
    attempt = Attempt.objects.of_run(run).filter(verdict__passed=False).latest("pk")
    label = next(one.label for one in attempt.verdict.results if not one.met)
    sent = {"criterion": label, "answer": "met", "reason": WORDS, "seen": "0"}
    scene.post(f"/runs/{run.pk}/attempts/{attempt.pk}/overrule/", sent)


def keep_case(scene: Scene) -> str:
    """The address of the page on which it was kept."""
    overrule(scene)
    row = Overruling.objects.latest("pk")
    page = f"/runs/{row.attempt.step.plan.run_id}/overrulings/{row.pk}/case/"
    scene.post(page, {"verb": "keep", "seen": scene.get(page).context["seen"]})
    return page


def take_case_back(scene: Scene) -> None:
    scene.post(keep_case(scene), {"verb": "take_back"})


def assign(scene: Scene) -> None:
    run = made.awaiting_plan()
    made.share(run, scene.bob)
    gate = gate_of(run)
    sent = {"to": str(scene.bob.pk), "seen": str(gate.assigned_to_id or "")}
    scene.post(f"/decisions/{gate.pk}/assign/", sent)


def archive(scene: Scene) -> None:
    run = made.stopped()
    scene.manage(run, verb="archive")
    scene.manage(run, verb="restore")


def share(scene: Scene) -> None:
    run = made.awaiting_plan()
    for given in ({"verb": "share", "level": "look"}, {"verb": "remove"}):
        scene.post(f"/runs/{run.pk}/people/", {"who": f"user-{made.charlie().pk}", **given})


def pause(scene: Scene) -> None:
    run = made.executing()
    for _ in range(2):
        run.refresh_from_db()
        scene.post(f"/runs/{run.pk}/pause/", {"paused": "" if run.paused else "1"})


def submit(scene: Scene) -> None:
    scene.send("/runs/new/", "new-run", request="Count to ten.", no_files="on")


def submit_again(scene: Scene) -> None:
    run = made.finished_succeeded()
    scene.send(f"/runs/{run.pk}/again/with/", "new-run")


def of_finished(path: str, **given: str) -> Callable[[Scene], object]:
    """Fetches, or posts what is given, at a page of a finished run."""

    def act(scene: Scene) -> None:
        run = made.finished_succeeded()
        place = f"/runs/{run.pk}/{path.format(path=next(iter(run.inputs.changes)))}"
        if given:
            scene.post(place, given)
        else:
            scene.get(place)

    return act


def of_template(path: str, **given: str) -> Callable[[Scene], object]:
    def act(scene: Scene) -> None:
        template = save(scene.alice, made.finished_succeeded(), "Hers")
        scene.post(f"/templates/{template.pk}/{path}/", given)
        assert Template.objects.filter(pk=template.pk).exists() == (path != "delete")

    return act


def delete_run(scene: Scene) -> None:
    scene.post(f"/runs/{long_ago(made.finished_succeeded()).pk}/delete/")


def refuse_page(scene: Scene) -> None:
    """Bob may decide in the run, and cannot delete it."""
    run = made.awaiting_plan()
    User.objects.filter(pk=scene.alice.pk).update(is_superuser=False, is_staff=False)
    Run.objects.filter(pk=run.pk).update(owner=scene.bob)
    made.share(run, scene.alice)
    scene.post(f"/runs/{run.pk}/delete/", status=403)


def refuse_password(scene: Scene) -> None:
    scene.browser.logout()
    scene.post("/sign-in/", {"login": "alice", "password": "wrong"})


def sign_in_with_password(scene: Scene) -> None:
    scene.alice.set_password(PASSWORD)
    scene.alice.save()
    scene.browser.logout()
    scene.post("/sign-in/", {"login": "alice", "password": PASSWORD})


def set_password(scene: Scene) -> None:
    scene.post("/account/password/new/", {"password1": PASSWORD, "password2": PASSWORD})


def change_password(scene: Scene) -> None:
    set_password(scene)
    other = f"{PASSWORD} and more"
    scene.post("/account/password/", {"oldpassword": PASSWORD, "password1": other, "password2": other}, status=302)


def sign_in_at_provider(scene: Scene, *, connects: bool) -> None:
    with providing() as fake:
        groups = {"staff": frozenset({PersonRole.VIEWER})}
        scene.settings.IDENTITY_PROVIDER = IdentityProvider(
            fake.url, CLIENT, SecretStr(SECRET), "Example", roles_of_groups=groups
        )
        fake.know("s-1", preferred_username="dora", groups=["staff"])
        if not connects:
            scene.browser.logout()
        place = "/account/provider/connect/" if connects else "/sign-in/provider/"
        scene.browser.get(fake.let_in(scene.post(place).context["address"], "s-1"))


def remove_app(scene: Scene) -> None:
    set_up_app(scene.browser)
    scene.post("/account/methods/totp/deactivate/")


def make_codes(scene: Scene) -> None:
    set_up_app(scene.browser)
    scene.post("/account/methods/recovery-codes/generate/")


def add_address(scene: Scene) -> None:
    with_mail(scene)
    scene.post("/account/email/", {"action_add": "", "email": "alice@example.org"}, status=302)


def confirm_address(scene: Scene) -> None:
    with_mail(scene)
    row = EmailAddress.objects.create(user=scene.alice, email="alice@example.org")
    scene.post(f"/account/email/{EmailConfirmationHMAC(row).key}/")


def with_mail(scene: Scene) -> None:
    scene.settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.dummy.EmailBackend"}}


def other_session(scene: Scene) -> int:
    other = Client()
    other.post(link_for(scene.alice))
    others = UserSession.objects.exclude(session_key=scene.browser.session.session_key)
    return int(others.get(user=scene.alice).pk)


def end_other_sessions(scene: Scene) -> None:
    other_session(scene)
    scene.post("/account/sessions/")


def make_and_delete_group(scene: Scene) -> None:
    scene.post("/people/groups/", {"verb": "add", "name": "Lawyers"})
    scene.post("/people/groups/", {"verb": "delete", "team": str(Group.objects.get(name="Lawyers").pk)})


def change_agent(scene: Scene) -> None:
    seen = agent("contracts").changed_at.isoformat()
    sent = {"purpose": "Writes.", "instructions": "Write well.", "seen": seen}
    scene.post("/agents/contracts/", sent, status=302)


def drain_process(scene: Scene) -> None:
    now = timezone.now()
    row = Process.objects.create(
        name="a", owner="a", serves=True, threads=1, messages=False, started_at=now, seen_at=now
    )
    scene.post("/status/", {"verb": "drain", "of": str(row.pk)}, status=302)


def start_calibration(scene: Scene) -> None:
    chosen = {"kinds": ["stub"], "languages": ["en"], "seed": "1"}
    fields = {"verb": "start", "verifier": "claude-haiku-5-5", "size": "5", **chosen}
    scene.post("/status/calibrations/", fields, status=302)


def stop_calibration(scene: Scene) -> None:
    row = stored_calibration(judged=1, status=CalibrationStatus.RUNNING)
    scene.post(f"/status/calibrations/{row.pk}/", {"verb": "stop"}, status=302)


def send_again(scene: Scene) -> None:
    notice = Notice.objects.create(user=scene.bob, kind=NoticeKind.TEST, key="1")
    now = timezone.now()
    Delivery.objects.create(notice=notice, channel="email", status=DeliveryStatus.FAILED, due_at=now, ended_at=now)
    scene.post("/status/notices/", {"verb": "retry_all"})


def _of_person(kind: AuditKind, verb: str, **more: list[str]) -> Audited:
    return Audited(kind, "people/<int:person_id>/", lambda scene: scene.person(verb, **more))


def _actions() -> Iterator[Audited]:
    kind = AuditKind
    yield Audited(kind.SUBMITTED, "runs/new/", submit)
    yield Audited(kind.SUBMITTED, "runs/sample/<slug:name>/", lambda scene: scene.post("/runs/sample/contracts/"))
    yield Audited(kind.SUBMITTED, f"{RUN}again/with/", submit_again)
    yield Audited(kind.SUBMITTED, f"{RUN}again/", of_finished("again/", token=""))
    yield Audited(kind.DECIDED, f"{RUN}gates/<int:gate_id>/", decide)
    yield Audited(kind.DECIDED, f"{RUN}gates/<int:gate_id>/files/", give_files)
    yield Audited(kind.DECIDED, f"{RUN}plan/", decide_on_plan_page)
    yield Audited(kind.DECIDED, "decisions/", decide_together)
    yield Audited(kind.LIMIT_RAISED, f"{RUN}gates/<int:gate_id>/", raise_limit)
    yield Audited(kind.ASSIGNED, "decisions/<int:gate_id>/assign/", assign)
    yield Audited(kind.PLAN_EDITED, f"{RUN}plan/edit/", edit_plan)
    yield Audited(kind.PLAN_EDITED, f"{RUN}plan/about/", change_topic)
    yield Audited(kind.OVERRULED, f"{RUN}attempts/<int:attempt_id>/overrule/", overrule)
    yield Audited(kind.CASE_KEPT, f"{RUN}overrulings/<int:overruling_id>/case/", keep_case)
    yield Audited(kind.CASE_DELETED, f"{RUN}overrulings/<int:overruling_id>/case/", take_case_back)
    yield Audited(kind.STOPPED, f"{RUN}stop/", lambda scene: scene.post(f"/runs/{made.executing().pk}/stop/"))
    yield Audited(kind.PAUSED, f"{RUN}pause/", pause)
    yield Audited(kind.RESUMED, f"{RUN}pause/", pause)
    yield Audited(kind.SHARED, f"{RUN}people/", share)
    yield Audited(kind.UNSHARED, f"{RUN}people/", share)
    yield Audited(
        kind.RENAMED, f"{RUN}manage/", lambda scene: scene.manage(made.executing(), verb="rename", title="Another")
    )
    yield Audited(kind.ARCHIVED, f"{RUN}manage/", archive)
    yield Audited(kind.UNARCHIVED, f"{RUN}manage/", archive)
    yield Audited(kind.RUN_DELETED, f"{RUN}delete/", delete_run)
    yield Audited(kind.REPORT_NAMED, f"{RUN}report/", of_finished("report/", client="Müller"))
    yield Audited(kind.REPORT_EXPORTED, f"{RUN}report.<report_format:report_format>", of_finished("report.md"))
    yield Audited(kind.REPORT_EXPORTED, f"{RUN}files.zip", of_finished("files.zip"))
    yield Audited(kind.FILE_DOWNLOADED, f"{RUN}files/<path:path>", of_finished("files/{path}?download=1"))
    yield Audited(kind.FILE_DOWNLOADED, f"{RUN}plans/<int:version>.json", of_finished("plans/1.json"))
    yield Audited(
        kind.FILE_DOWNLOADED, f"{RUN}evaluation-task/", of_finished("evaluation-task/", name="notes", request=WORDS)
    )
    yield Audited(kind.AUDIT_EXPORTED, f"{RUN}audit.<audit_suffix:suffix>", of_finished("audit.csv"))
    yield Audited(kind.AUDIT_EXPORTED, "audit.<audit_suffix:suffix>", lambda scene: scene.get("/audit.json"))
    yield Audited(kind.TEMPLATE_SAVED, f"{RUN}template/", of_finished("template/", name="Müller"))
    yield Audited(kind.TEMPLATE_CHANGED, "templates/<int:template_id>/rename/", of_template("rename", name="Müller"))
    yield Audited(
        kind.TEMPLATE_CHANGED,
        "templates/<int:template_id>/letterhead/",
        of_template("letterhead", organisation="Müller"),
    )
    yield Audited(kind.TEMPLATE_DELETED, "templates/<int:template_id>/delete/", of_template("delete"))
    yield Audited(kind.REQUEST_REFUSED, f"{RUN}delete/", refuse_page)
    yield Audited(kind.INVITED, "people/", lambda scene: scene.post("/people/", {"user": "dora", "roles": ["viewer"]}))
    yield _of_person(kind.LINK_MADE, "link")
    yield _of_person(kind.ROLE_CHANGED, "roles", roles=["administrator"])
    yield _of_person(kind.DEACTIVATED, "deactivate")
    yield _of_person(kind.ACTIVATED, "activate")
    yield _of_person(kind.SIGN_IN_RESET, "reset")
    yield _of_person(kind.SIGNED_OUT_EVERYWHERE, "sign_out")
    yield _of_person(kind.TOKEN_REVOKED, "revoke")
    yield Audited(kind.GROUP_MADE, "people/groups/", make_and_delete_group)
    yield Audited(kind.GROUP_DELETED, "people/groups/", make_and_delete_group)
    yield Audited(kind.SIGNED_IN, "sign-in/<path:token>/", lambda scene: None)
    yield Audited(kind.SIGNED_IN, "sign-in/", sign_in_with_password)
    yield Audited(
        kind.SIGNED_IN,
        "sign-in/provider/callback/",
        lambda scene: sign_in_at_provider(scene, connects=False),
        by="dora",
    )
    yield Audited(kind.SIGN_IN_REFUSED, "sign-in/", refuse_password, by="")
    yield Audited(kind.SIGNED_OUT, "sign-out/", lambda scene: scene.post("/sign-out/"))
    yield Audited(
        kind.SESSION_ENDED,
        "account/sessions/<int:session_id>/end/",
        lambda scene: scene.post(f"/account/sessions/{other_session(scene)}/end/"),
    )
    yield Audited(kind.SESSION_ENDED, "account/sessions/", end_other_sessions)
    yield Audited(kind.PASSWORD_CHANGED, "account/password/new/", set_password)
    yield Audited(kind.PASSWORD_CHANGED, "account/password/", change_password)
    yield Audited(kind.FACTOR_ADDED, "account/methods/totp/activate/", lambda scene: set_up_app(scene.browser))
    yield Audited(kind.FACTOR_ADDED, "account/methods/recovery-codes/generate/", make_codes)
    yield Audited(
        kind.FACTOR_ADDED, "sign-in/provider/callback/", lambda scene: sign_in_at_provider(scene, connects=True)
    )
    yield Audited(kind.FACTOR_REMOVED, "account/methods/totp/deactivate/", remove_app)
    yield Audited(
        kind.TOKEN_MADE,
        "access-tokens/",
        lambda scene: scene.post("/access-tokens/", {"name": "laptop", "days": "30", "scopes": "runs:read"}),
    )
    yield Audited(
        kind.TOKEN_REVOKED,
        "access-tokens/<int:token_id>/revoke/",
        lambda scene: scene.post(f"/access-tokens/{made.access_token(scene.alice)}/revoke/"),
    )
    yield Audited(kind.SETTING_CHANGED, "account/email/", add_address)
    yield Audited(kind.SETTING_CHANGED, "account/email/<str:key>/", confirm_address)
    yield Audited(
        kind.SETTING_CHANGED,
        "account/notices/",
        lambda scene: scene.post("/account/notices/", {"verb": "remove_chat"}),
    )
    yield Audited(
        kind.SETTING_CHANGED,
        "agents/new/",
        lambda scene: scene.post("/agents/new/", {"name": "writer", "purpose": "Writes.", "instructions": "Write."}),
    )
    yield Audited(kind.SETTING_CHANGED, "agents/<slug:name>/", change_agent)
    yield Audited(
        kind.SETTING_CHANGED,
        "agents/<slug:name>/delete/",
        lambda scene: scene.post(f"/agents/{agent('contracts').name}/delete/"),
    )
    yield Audited(kind.OPERATED, "status/", drain_process)
    yield Audited(kind.OPERATED, "status/notices/", send_again)
    yield Audited(kind.OPERATED, "status/calibrations/", start_calibration)
    yield Audited(kind.OPERATED, "status/calibrations/<int:calibration_id>/", stop_calibration)
    yield Audited(
        kind.OPERATED, "status/servers/", lambda scene: scene.post("/status/servers/", {"server": "wiki"}, status=302)
    )


ACTIONS = tuple(_actions())
SAME_AS = {
    "runs/sample/finished/": "runs/sample/<slug:name>/",
    "sign-in/provider/": "sign-in/provider/callback/",
    "account/provider/connect/": "sign-in/provider/callback/",
    "account/provider/disconnect/": "account/methods/totp/deactivate/",
    "account/methods/authenticate/": "sign-in/",
    "account/methods/webauthn/login/": "sign-in/",
    "account/methods/webauthn/add/": "account/methods/totp/activate/",
    "account/methods/webauthn/keys/<int:pk>/remove/": "account/methods/totp/deactivate/",
    "account/password/reset/(?P<uidb36>[0-9a-z]{1,13})-(?P<key>[^/]{1,200})/": "account/password/new/",
}
"""Addresses whose changes are recorded by the same signal, or by the same function, as those of another one."""
NO_LINE = {
    "account/again/": "a person shows again who they are; a wrong password is recorded",
    "account/methods/reauthenticate/": "the same with a code",
    "account/methods/webauthn/reauthenticate/": "the same with a passkey",
    "account/methods/webauthn/keys/<int:pk>/edit/": "the name of one's own passkey",
    "account/methods/recovery-codes/download/": "one's own codes are only shown",
    "account/methods/webauthn/": "leads to another page",
    "account/password/reset/done/": "only shows a sentence",
    "account/password/reset/sent/": "only shows a sentence",
    "account/password/reset/": "anyone may ask for the mail; the new password is recorded",
    "account/time-zone/": "how one's own pages show times",
    "decisions/<int:gate_id>/snooze/": "one's own list hides a decision for hours; others see it",
    "runs/drafts/<uuid:draft>/": "nothing is submitted yet",
    "tour/": "whether one's own pages show the tour",
}
"""Addresses that change something which no one answers for, with the reason."""
