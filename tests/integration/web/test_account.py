"""Signing in and out."""

import pytest
from django.template.loader import render_to_string
from django.test import Client

from runs.models import User
from runs.web.signin import link_for


def test_a_link_signs_in_and_leaves_the_token_behind(client: Client, alice: User) -> None:
    answer = client.get(link_for(alice))
    assert (answer.status_code, answer["Location"], answer["Referrer-Policy"]) == (302, "/", "no-referrer")
    assert "no-store" in answer["Cache-Control"]
    assert client.get("/").status_code == 200


def test_a_link_works_once(client: Client, alice: User) -> None:
    link = link_for(alice)
    client.get(link)
    other = Client()
    answer = other.get(link, follow=True)
    assert answer.status_code == 410
    assert "This link no longer works" in answer.text
    assert "_auth_user_id" not in other.session


def test_a_preview_of_the_link_does_not_use_it_up(client: Client, alice: User) -> None:
    link = link_for(alice)
    assert client.head(link).status_code == 405
    assert client.get(link)["Location"] == "/"


def test_a_used_link_leads_those_who_are_signed_in_to_the_inbox(client: Client, alice: User) -> None:
    link = link_for(alice)
    client.get(link)
    assert client.get(link)["Location"] == "/"


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("/runs/new/", "/runs/new/"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_only_pages_of_this_site_follow_a_sign_in(client: Client, alice: User, wanted: str, place: str) -> None:
    assert client.get(link_for(alice), {"next": wanted})["Location"] == place


def test_the_page_that_was_wanted_is_remembered(client: Client, alice: User) -> None:
    asked = client.get("/runs/new/")
    client.get(asked["Location"])
    assert client.get(link_for(alice))["Location"] == "/runs/new/"


def test_the_sign_in_page_says_how_to_get_a_link(client: Client, db: None) -> None:
    answer = client.get("/sign-in/")
    assert answer.status_code == 200
    assert "manage.py signin_link USER --base http://testserver" in answer.text


def test_a_page_that_refreshes_itself_goes_to_the_sign_in_page_whole(client: Client, db: None) -> None:
    answer = client.get("/sign-in/?next=/", headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == "/sign-in/"


def test_signing_out_takes_a_post(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert client.get("/")["Location"] == "/sign-in/?next=/"


def test_a_form_without_its_token_changes_nothing_and_says_so(alice: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    answer = strict.post("/sign-out/")
    assert answer.status_code == 403
    assert "reload the page and try again" in answer.text
    assert strict.get("/").status_code == 200


def test_what_is_not_there_is_a_page_of_the_product(client: Client, alice: User) -> None:
    client.force_login(alice)
    answer = client.get("/nowhere/")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.text


def test_an_error_of_the_server_is_a_page_without_any_context() -> None:
    text = render_to_string("500.html")
    assert "Something went wrong on the server" in text
    assert "Sign out" not in text


@pytest.mark.parametrize("page", ["400.html", "403.html", "404.html"])
def test_the_other_refusals_say_what_to_do(page: str) -> None:
    assert "To the inbox" in render_to_string(page)


def test_signing_in_and_out_is_logged_and_no_token_is(
    client: Client, alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    link = link_for(alice)
    client.get(link)
    client.post("/sign-out/")
    client.get(link)
    lines = [record for record in caplog.records if record.name == "runs.web.views.account"]
    assert [(record.levelname, record.getMessage(), vars(record).get("about")) for record in lines] == [
        ("INFO", "signed in", {"user": "alice"}),
        ("INFO", "signed out", {"user": "alice"}),
        ("WARNING", "refused: a sign-in link that does not work, or not any more", None),
    ]
    assert link.split("/")[-2] not in caplog.text
