"""The page of people: administrators invite, print links, sign out and deactivate; no one else finds it."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.enums import PersonRole, ShareLevel
from runs.lifecycle.sharing import share
from runs.models import AuditEntry, Link, User
from runs.people import second_person
from runs.people.accounts import groups_seen
from runs.people.permissions import can_see, is_administrator
from runs.people.roles import roles_of
from tests import factories as made

VERBS = ["link", "sign_out", "deactivate", "activate", "revoke", "roles", "reset"]


@pytest.fixture
def root(client: Client, db: None) -> Client:
    client.force_login(made.person("root", is_superuser=True))
    return client


def do(browser: Client, who: User, verb: str, **sent: list[str]) -> str:
    return browser.post(f"/people/{who.pk}/", {"verb": verb, **sent}, follow=True).text


def shown(text: str) -> str:
    """The path of the link on the page."""
    found = re.search(r"http://testserver(/sign-in/[\w-]+/)<", text)
    assert found
    return found[1]


def test_an_invitation_is_shown_once_and_signs_in(root: Client) -> None:
    answer = root.post("/people/", {"user": "dora", "roles": ["submitter"]})
    assert "no-store" in answer["Cache-Control"]
    assert "within seven days" in answer.text
    dora = User.objects.get(username="dora")
    assert (dora.has_usable_password(), roles_of(dora)) == (False, [PersonRole.SUBMITTER])
    link = shown(answer.text)
    assert "/sign-in/" not in root.get("/people/").text
    other = Client()
    other.post(link)
    assert other.session["_auth_user_id"] == str(dora.pk)


def test_an_administrator_can_be_invited(root: Client) -> None:
    root.post("/people/", {"user": "dora", "roles": ["administrator"]})
    assert is_administrator(User.objects.get(username="dora"))


def test_who_was_here_gets_a_short_link(root: Client, alice: User) -> None:
    Client().force_login(alice)
    page = do(root, alice, "link")
    assert "within ten minutes" in page
    assert Client().post(shown(page))["Location"] == "/"


@pytest.mark.parametrize("name", ["", "  ", "a b", "x" * 151, "root", "ROOT", "<script>x"])
def test_a_name_that_cannot_be_used_is_refused_in_words_and_kept(root: Client, name: str) -> None:
    answer = root.post("/people/", {"user": name, "roles": ["viewer"]})
    assert answer.status_code == 422
    assert "<strong>Not done.</strong>" in answer.text
    assert "<script>x" not in answer.text
    assert User.objects.count() == 1


def test_who_is_deactivated_is_out_and_stays_out(root: Client, alice: User) -> None:
    browser = Client()
    browser.force_login(alice)
    do(root, alice, "link")
    assert "alice is no longer active" in do(root, alice, "deactivate")
    assert browser.get("/").status_code == 302
    assert "alice is active again" in do(root, alice, "activate")
    assert browser.get("/").status_code == 302
    assert Link.objects.count() == 0


def test_someone_is_signed_out_everywhere_and_no_one_else_is(root: Client, alice: User) -> None:
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.force_login(alice)
    assert "alice is signed out everywhere" in do(root, alice, "sign_out")
    assert [browser.get("/").status_code for browser in browsers] == [302, 302]
    assert root.get("/").status_code == 200


def test_administrators_come_and_go_and_the_last_one_stays(root: Client, alice: User) -> None:
    me = User.objects.get(username="root")
    assert "“root” is the only administrator who can sign in" in do(root, me, "roles", roles=["viewer"])
    assert "“root” is the only administrator who can sign in" in do(root, me, "deactivate")
    do(root, alice, "roles", roles=["administrator"])
    do(root, me, "roles", roles=["viewer"])
    assert root.get("/people/").status_code == 404
    assert is_administrator(User.objects.get(pk=alice.pk))


@pytest.mark.parametrize("sent", [{}, {"verb": ""}, {"verb": "delete"}, {"verb": "\0"}])
def test_what_is_no_button_does_nothing(root: Client, alice: User, sent: dict[str, str]) -> None:
    answer = root.post(f"/people/{alice.pk}/", sent)
    assert (answer.status_code, "Choose one of the buttons." in answer.text) == (422, True)


def test_no_one_else_finds_it(alice_client: Client, alice: User, bob: User) -> None:
    before = list(User.objects.order_by("pk").values())
    refused = [
        alice_client.get("/people/"),
        alice_client.post("/people/", {"user": "eve"}),
        *(alice_client.post(f"/people/{who.pk}/", {"verb": verb}) for who in (alice, bob) for verb in VERBS),
    ]
    assert {answer.status_code for answer in refused} == {404}
    assert (list(User.objects.order_by("pk").values()), Link.objects.count()) == (before, 0)
    assert 'href="/people/"' not in alice_client.get("/").text


def test_what_is_done_is_logged_with_who_did_it_and_no_token_is(
    root: Client, alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    token = shown(do(root, alice, "link")).split("/")[-2]
    do(root, alice, "deactivate")
    lines = [record for record in caplog.records if record.name == "runs.web.people.people_pages"]
    who = {"user": "root", "address": "127.0.0.1"}
    assert [(record.getMessage(), vars(record)["about"]) for record in lines] == [
        ("people: a link for “alice”", who),
        ("people: deactivate of “alice”", who),
    ]
    assert token not in caplog.text


def test_the_list_costs_the_same_for_one_and_for_many(
    root: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for name in "abcdefgh":
        made.person(name)
    with django_assert_max_num_queries(6):
        root.get("/people/")


def test_groups_are_made_filled_and_deleted_and_the_trail_has_it(root: Client, alice: User, bob: User) -> None:
    for name, status in (("Legal  team", 302), ("legal team", 422), ("Viewer", 422), (" ", 422), ("x" * 81, 422)):
        assert root.post("/people/groups/", {"verb": "add", "name": name}).status_code == status
    team = Group.objects.get(name="Legal team")
    assert "The roles and groups of alice are changed." in do(
        root, alice, "roles", roles=["viewer"], teams=[str(team.pk)]
    )
    run = made.submitted(owner=bob, approvers=[made.charlie()])
    share(run.pk, bob, team, ShareLevel.LOOK)
    assert can_see(alice, run)
    root.post("/people/groups/", {"verb": "delete", "team": team.pk})
    assert (can_see(alice, run), Group.objects.filter(pk=team.pk).exists()) == (False, False)
    assert root.post("/people/groups/", {"verb": "delete", "team": team.pk}).status_code == 422
    kinds = AuditEntry.objects.order_by("number").values_list("kind", "by", "subject")
    assert [line for line in kinds if "group" in line[0]] == [
        ("group_made", "root", "Legal team"),
        ("group_deleted", "root", "Legal team"),
    ]


def test_a_role_is_no_group_to_delete_and_a_group_no_role(root: Client, alice: User) -> None:
    role = Group.objects.get(name=PersonRole.VIEWER)
    assert root.post("/people/groups/", {"verb": "delete", "team": role.pk}).status_code == 422
    answer = root.post(f"/people/{alice.pk}/", {"verb": "roles", "roles": ["viewer"], "teams": [role.pk]})
    assert (answer.status_code, roles_of(User.objects.get(pk=alice.pk))) == (
        422,
        [PersonRole.SUBMITTER, PersonRole.APPROVER],
    )


def test_a_form_that_is_outdated_overwrites_nothing_and_shows_what_is(root: Client, alice: User) -> None:
    seen, team = groups_seen(alice), Group.objects.create(name="Legal")
    assert f'name="seen" value="{seen}"' in root.get("/people/").text
    do(root, alice, "roles", roles=["viewer"], teams=[str(team.pk)], seen=[seen])
    answer = root.post(f"/people/{alice.pk}/", {"verb": "roles", "roles": ["administrator"], "seen": seen})
    assert (answer.status_code, roles_of(User.objects.get(pk=alice.pk))) == (409, [PersonRole.VIEWER])
    assert "have been changed since this page was loaded. They are now: Legal, viewer." in answer.text
    answer = root.post("/people/groups/", {"verb": "delete", "team": team.pk, "seen": "0"})
    assert (answer.status_code, "has 1 member now, and had 0 when" in answer.text) == (409, True)
    assert root.post("/people/groups/", {"verb": "delete", "team": team.pk, "seen": "1"}).status_code == 302


def test_what_takes_the_only_second_person_of_a_run_is_asked_about_first(root: Client, bob: User) -> None:
    run, team = made.awaiting_plan(second_person=True), Group.objects.create(name="Legal")
    sent = {"verb": "roles", "roles": ["viewer"], "teams": [str(team.pk)], "seen": groups_seen(bob)}
    for first in (sent, {"verb": "deactivate"}):
        answer = root.post(f"/people/{bob.pk}/", first)
        assert (answer.status_code, "No second person would be left for 1 run" in answer.text) == (409, True)
    assert second_person.has_one(run)
    assert f'<input type="hidden" name="teams" value="{team.pk}">' in root.post(f"/people/{bob.pk}/", sent).text
    assert root.post(f"/people/{bob.pk}/", {**sent, "confirmed": "on"}).status_code == 302
    assert (second_person.has_one(run), roles_of(User.objects.get(pk=bob.pk))) == (False, [PersonRole.VIEWER])


def test_many_people_come_in_pages_and_are_searched(root: Client) -> None:
    User.objects.bulk_create(User(username=f"user{number:03}") for number in range(150))
    first = root.get("/people/").text
    assert ("Page 1 of 2" in first, "user098" in first, "user149" in first) == (True, True, False)
    assert "user149" in root.get("/people/?page=2").text
    assert "user149" in root.get("/people/?page=x&q=er149").text
    found = root.get("/people/?q=er149").text
    assert ("user148" in found, "Everyone</a>" in found) == (False, True)
    assert root.get("/people/", {"q": "a\0" + "x" * 9_000, "page": "9" * 40}).status_code == 200
