"""`manage.py people`: invitations, links, and the end of what somebody is signed in to."""

import io

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from pevsite.installation import data_option
from runs.models import Link, User
from runs.people.permissions import is_administrator
from runs.people.roles import NEW_PEOPLE, roles_of

pytestmark = pytest.mark.django_db


def people(*arguments: str) -> str:
    printed = io.StringIO()
    call_command("people", *arguments, stdout=printed)
    return printed.getvalue().strip()


def refusal(*arguments: str) -> str:
    with pytest.raises(CommandError) as refused:
        people(*arguments)
    return str(refused.value)


def test_an_invitation_adds_a_person_without_a_password_and_signs_in_on_the_site_that_was_named(
    client: Client,
) -> None:
    link = people("invite", "charlie", "--base", "http://testserver/")
    charlie = User.objects.get()
    assert (charlie.username, charlie.has_usable_password(), roles_of(charlie)) == ("charlie", False, [*NEW_PEOPLE])
    assert link.startswith("http://testserver/sign-in/")
    client.post(link)
    assert client.session["_auth_user_id"] == str(charlie.pk)


def test_an_invitation_lasts_seven_days_and_a_link_ten_minutes(alice: User) -> None:
    people("invite", "alice")
    people("link", "alice")
    now = timezone.now()
    left = [round((link.expires_at - now).total_seconds() / 60) for link in Link.objects.order_by("pk")]
    assert left == [7 * 24 * 60, 10]


@pytest.mark.slow
def test_who_has_been_here_is_given_links_and_not_invited(alice: User) -> None:
    people("invite", "alice")  # again: the first invitation got lost
    User.objects.update(last_login=timezone.now())
    assert refusal("invite", "Alice") == refusal("invite", "alice")
    assert refusal("invite", "alice") == "There is a “alice” already: print a link for them, or activate them."


def test_a_name_that_cannot_be_one_is_refused(db: None) -> None:
    assert refusal("invite", "a b") == (
        "“a b” cannot be a user name: Enter a valid username. This value may contain only letters, numbers, and "
        "@/./+/-/_ characters."
    )
    assert User.objects.count() == 0


@pytest.mark.parametrize("action", ["invite", "link", "deactivate"])
def test_bytes_that_are_no_text_are_a_sentence(db: None, action: str) -> None:
    assert refusal(action, "x\udcff").startswith(("“x?” cannot be", "There is no user “x?”; there are: no one yet."))


def test_who_is_not_there_is_named_with_those_who_are(alice: User, bob: User) -> None:
    assert refusal("deactivate", "charlie") == (
        "There is no user “charlie”; there are: alice, bob. Add them: manage.py people invite NAME"
    )


def test_at_most_twenty_of_those_who_are_there_are_named(db: None) -> None:
    User.objects.bulk_create(User(username=f"user{number:02}") for number in range(21))
    assert ", user19. Add them" in refusal("deactivate", "charlie")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_everybody_is_listed(alice: User) -> None:
    people("invite", "root", "--roles", "administrator")
    people("deactivate", "alice")
    assert people("list").splitlines() == [
        "alice                    not active, submitter, approver last signed in: never",
        "root                     active, administrator      last signed in: never",
    ]


@pytest.mark.slow
def test_who_is_inactive_gets_no_link_until_they_are_active(alice: User) -> None:
    people("deactivate", "alice")
    assert refusal("link", "alice") == "“alice” is not active and cannot sign in."
    said = f"“alice” is active. A link: manage.py people link alice{data_option(settings.DATA_DIR)}"
    assert people("activate", "alice") == said
    assert "/sign-in/" in people("link", "alice")


def test_signing_out_ends_a_session(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert (
        people("signout", "alice") == "“alice” is signed out everywhere; unused links and access tokens have ended too."
    )
    assert client.get("/").status_code == 302


@pytest.mark.slow
def test_administrators_are_made_and_the_last_one_stays(alice: User) -> None:
    assert people("roles", "alice", "--roles", "administrator") == "“alice” is now: administrator."
    assert refusal("roles", "alice", "--roles", "viewer") == (
        "“alice” is the only administrator who can sign in. Make another person an administrator first."
    )
    people("invite", "root", "--roles", "administrator")
    assert people("roles", "alice", "--roles", "viewer", "approver") == "“alice” is now: viewer, approver."
    assert is_administrator(User.objects.get(username="alice")) is False
