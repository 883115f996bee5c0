"""`manage.py signin_link`: a link for somebody, who is added only when that is asked for."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from runs.models import User

pytestmark = pytest.mark.django_db


def link_for(*arguments: str) -> str:
    printed = io.StringIO()
    call_command("signin_link", *arguments, stdout=printed)
    return printed.getvalue().strip()


def test_the_link_signs_in_on_the_site_that_was_named(client: Client, alice: User) -> None:
    link = link_for("alice", "--base", "http://testserver/")
    assert link.startswith("http://testserver/sign-in/")
    client.post(link)
    assert client.session["_auth_user_id"] == str(alice.pk)


def test_who_is_added_has_no_password() -> None:
    link_for("charlie", "--create")
    charlie = User.objects.get()
    assert (charlie.username, charlie.has_usable_password()) == ("charlie", False)


def test_who_is_unknown_is_not_added_unasked(alice: User, bob: User) -> None:
    with pytest.raises(CommandError) as refused:
        link_for("charlie")
    assert (
        str(refused.value)
        == "There is no user “charlie”; there are: alice, bob. Add them: manage.py people invite NAME"
    )
    assert list(User.objects.order_by("username")) == [alice, bob]


def test_who_is_not_active_gets_no_link(alice: User) -> None:
    alice.is_active = False
    alice.save()
    with pytest.raises(CommandError) as refused:
        link_for("alice")
    assert str(refused.value) == "“alice” is not active and cannot sign in."
