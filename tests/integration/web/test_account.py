"""Signing in and out."""

import re
from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.test import Client
from pytest_django import Settings

import pevsite
from runs.logs import JsonFormatter, LineFormatter
from runs.models import User
from runs.web.people.sign_in_pages import link_for
from runs.web.site.throttle import MAX_WRONG
from tests import factories


def test_a_link_shows_a_button_and_the_button_signs_in_and_leaves_the_token_behind(client: Client, alice: User) -> None:
    link = link_for(alice)
    page = client.get(link)
    assert (page.status_code, page["Referrer-Policy"]) == (200, "strict-origin")
    assert "no-store" in page["Cache-Control"]
    assert "Sign in as alice" in page.text
    assert "_auth_user_id" not in client.session
    answer = client.post(link)
    assert (answer.status_code, answer["Location"], answer["Referrer-Policy"]) == (302, "/", "strict-origin")
    assert client.get("/").status_code == 200


def test_a_link_works_once(client: Client, alice: User) -> None:
    link = link_for(alice)
    client.post(link)
    other = Client()
    for answer in (other.get(link, follow=True), other.post(link, follow=True)):
        assert answer.status_code == 410
        assert "This link no longer works" in answer.text
    assert "_auth_user_id" not in other.session


def test_looks_and_previews_of_a_link_do_not_use_it_up(client: Client, alice: User) -> None:
    link = link_for(alice)
    assert [client.head(link).status_code, client.get(link).status_code, client.get(link).status_code] == [200] * 3
    assert client.post(link)["Location"] == "/"


def test_a_link_of_the_version_before_is_refused_in_words(client: Client, db: None) -> None:
    old = "/sign-in/MQ/d5x2kq-8b1a2c3d4e5f60718293a4b5c6d7e8f9/"
    for answer in (client.get(old, follow=True), client.post(old, follow=True)):
        assert (answer.status_code, "This link no longer works" in answer.text) == (410, True)


def test_a_used_link_leads_those_who_are_signed_in_to_the_inbox(client: Client, alice: User) -> None:
    link = link_for(alice)
    client.post(link)
    assert [client.get(link)["Location"], client.post(link)["Location"]] == ["/", "/"]


def test_after_many_links_that_do_not_work_one_waits_and_a_link_that_works_signs_in(
    client: Client, alice: User
) -> None:
    wrong = [client.get("/sign-in/x/"), *(client.post("/sign-in/x/") for _ in range(MAX_WRONG))]
    assert {answer.status_code for answer in wrong[:MAX_WRONG]} == {302}
    last = wrong[MAX_WRONG]
    assert (last.status_code, last["Referrer-Policy"]) == (429, "strict-origin")
    assert f"Before you try anything else, wait {last['Retry-After']}" in last.text
    assert client.get("/sign-in/x/", REMOTE_ADDR="192.0.2.8").status_code == 302
    link = link_for(alice)
    assert (client.get(link).status_code, client.post(link)["Location"]) == (200, "/")


def test_somebody_elses_link_asks_before_it_replaces_a_session(client: Client, alice: User, charlie: User) -> None:
    client.force_login(alice)
    link = link_for(charlie)
    page = client.get(link).text
    assert "You are signed in as alice." in page
    assert "Sign out alice and sign in as charlie" in page
    assert client.session["_auth_user_id"] == str(alice.pk)


def test_another_site_cannot_press_the_button(alice: User, charlie: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    link = link_for(charlie)
    assert strict.post(link).status_code == 403
    assert strict.session["_auth_user_id"] == str(alice.pk)
    page = strict.get(link)
    token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[-1]
    assert strict.post(link, {"csrfmiddlewaretoken": token})["Location"] == "/"
    assert strict.session["_auth_user_id"] == str(charlie.pk)


def test_whoever_signs_in_gets_a_session_of_their_own(client: Client, alice: User) -> None:
    client.force_login(alice)
    before = client.session.session_key or ""
    client.post(link_for(alice))
    assert client.session.session_key != before
    assert not client.session.exists(before)


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("/runs/new/", "/runs/new/"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("/\\elsewhere.example/", "/"),
        ("\\\\elsewhere.example/", "/"),
        ("/\t/elsewhere.example/", "/"),
        ("http:///elsewhere.example/", "/"),
        ("http://testserver@elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_only_pages_of_this_site_follow_a_sign_in(client: Client, alice: User, wanted: str, place: str) -> None:
    assert client.post(link_for(alice), query_params={"next": wanted})["Location"] == place


def test_the_page_that_was_wanted_is_remembered(client: Client, alice: User) -> None:
    asked = client.get("/runs/new/")
    client.get(asked["Location"])
    assert client.post(link_for(alice))["Location"] == "/runs/new/"


def test_the_sign_in_page_says_how_to_get_a_link(client: Client, db: None, settings: Settings) -> None:
    answer = client.get("/sign-in/")
    assert answer.status_code == 200
    assert "manage.py people link USER --base http://testserver --data-dir FOLDER</pre>" in answer.text
    assert str(settings.DATA_DIR) not in answer.text, "where it lies is nothing for those who have not signed in"
    settings.DATA_DIR = Path(pevsite.__file__).parent.parent / ".data"
    assert "manage.py people link USER --base http://testserver</pre>" in client.get("/sign-in/").text


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
    assert "Page not found" in answer.text


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
    client.post(link)
    client.post("/sign-out/")
    client.get(link)
    lines = [
        record
        for record in caplog.records
        if record.name in {"runs.web.people.sign_in", "runs.web.people.sign_in_pages", "runs.web.site.throttle"}
    ]
    assert [(record.levelname, record.getMessage(), vars(record).get("about")) for record in lines] == [
        ("INFO", "signed in", {"user": "alice", "address": "127.0.0.1"}),
        ("INFO", "signed out", {"user": "alice", "address": "127.0.0.1"}),
        ("WARNING", "refused: a sign-in link that does not work, or not any more", {"address": "127.0.0.1"}),
    ]
    assert link.split("/")[-2] not in caplog.text


def test_a_token_is_in_no_line_that_django_writes_of_a_refused_page(
    alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    link = link_for(alice)
    Client(enforce_csrf_checks=True).post(link)
    Client().put(link)
    lines = [form.format(record) for record in caplog.records for form in (LineFormatter(), JsonFormatter())]
    assert len([line for line in lines if "/sign-in/…" in line]) == 4
    assert [line for line in lines if link.split("/")[-2] in line] == []


def test_refused_access_is_logged_with_name_and_address_and_not_with_the_address_of_the_page(
    client: Client, charlie: User, caplog: pytest.LogCaptureFixture
) -> None:
    run = factories.executing()
    client.force_login(charlie)
    client.get(f"/runs/{run.pk}/")
    client.get("/admin/")
    lines = [record for record in caplog.records if record.name == "runs.web.site.sessions"]
    who = {"user": "charlie", "address": "127.0.0.1"}
    assert [(record.getMessage(), vars(record)["about"]) for record in lines] == [
        ("refused: GET of the page “run” with 404", {**who, "run": run.pk}),
        ("refused: GET of the page “admin:index” with 404", who),
    ]
