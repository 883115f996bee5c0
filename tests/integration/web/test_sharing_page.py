"""The page on which a run is shared."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from runs.enums import PersonRole, ShareLevel
from runs.models import Run, Share, User
from tests import factories


def address(run: Run) -> str:
    return f"/runs/{run.pk}/people/"


def test_the_owner_adds_and_removes(alice_client: Client, charlie: User) -> None:
    run = factories.awaiting_plan()
    page = alice_client.post(
        address(run), {"verb": "share", "who": f"user-{charlie.pk}", "level": "decide"}, follow=True
    ).text
    assert "charlie may look at this run and decide in it." in page
    page = alice_client.post(address(run), {"verb": "remove", "who": f"user-{factories.bob().pk}"}, follow=True).text
    assert "The run is no longer shared with bob." in page
    assert factories.shared_with(run) == [charlie]
    assert "alice, charlie" in alice_client.get(f"/runs/{run.pk}/").text


def test_an_approver_sees_who_may_decide_and_changes_nothing(client: Client, charlie: User) -> None:
    run = factories.awaiting_plan()
    client.force_login(factories.bob())
    page = client.get(address(run)).text
    assert "Only alice or an administrator can change this." in page
    assert ("charlie" in page, 'name="verb"' in page) == (False, False)
    refused = client.post(address(run), {"verb": "share", "who": f"user-{charlie.pk}", "level": "decide"})
    assert refused.status_code == 403
    assert "Only the person who submitted the task or an administrator can share" in refused.text
    assert factories.shared_with(run) == [factories.bob()]


def test_no_one_else_finds_it(charlie_client: Client, charlie: User) -> None:
    run = factories.awaiting_plan()
    answers = [
        charlie_client.get(address(run)),
        charlie_client.post(address(run), {"verb": "share", "who": f"user-{charlie.pk}", "level": "decide"}),
    ]
    assert [answer.status_code for answer in answers] == [404, 404]


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({}, "Choose one of the buttons."),
        ({"verb": "own"}, "Choose one of the buttons."),
        ({"verb": "share"}, "Choose a person or a group."),
        *(
            ({"verb": "share", "who": who}, "This person or group no longer exists.")
            for who in ("user-0", "user-" + "9" * 40, "user-x", "x", "staff-1", "user", "group-1-1", "group-²")
        ),
        ({"verb": "share", "who": "user-ALICE", "level": "own"}, "Choose whether they may look"),
    ],
)
def test_what_cannot_be_done_is_said(alice_client: Client, sent: dict[str, str], problem: str) -> None:
    sent = {name: value.replace("ALICE", str(factories.alice().pk)) for name, value in sent.items()}
    answer = alice_client.post(address(factories.awaiting_plan()), sent)
    assert (answer.status_code, problem in answer.text) == (422, True)


def test_it_says_that_no_one_can_approve_where_a_second_person_has_to(alice_client: Client, settings: Settings) -> None:
    run, lacking = factories.awaiting_plan(), "Apart from administrators, no one can yet"
    assert lacking not in alice_client.get(address(run)).text
    settings.SECOND_PERSON = "high_risk"
    assert lacking not in alice_client.get(address(run)).text
    run.shares.all().delete()
    assert lacking in alice_client.get(address(run)).text


def test_it_costs_the_same_for_one_and_for_many(
    alice_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    run = factories.awaiting_plan()
    factories.share(run, *(factories.person(name) for name in "abcd"))
    for name in "efgh":
        factories.person(name)
    with django_assert_max_num_queries(12):
        alice_client.get(address(run))


def test_many_shares_come_in_pages_and_people_are_searched(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    names = [f"user{number:03}" for number in range(120)]
    people = User.objects.bulk_create(User(username=name) for name in names)
    Share.objects.bulk_create(Share(run=run, user=one) for one in people[:60])
    first = alice_client.get(address(run)).text
    assert ("Page 1 of 2" in first, ">user000<" in first, ">user059<" in first) == (True, True, False)
    assert ("There are more than these: search for part of a name." in first, "user108</option>" in first) == (
        True,
        True,
    )
    assert ("user111</option>" in first, len(first) < 100_000) == (False, True)
    assert ">user059<" in alice_client.get(address(run), {"page": "2"}).text
    assert ">user059<" in alice_client.get(address(run), {"q": "ER059", "page": "x"}).text
    found = alice_client.get(address(run), {"who": "r119\0"}).text
    assert ("user119</option>" in found, "user118" in found) == (True, False)
    assert "No one else fits “user000”" in alice_client.get(address(run), {"who": "user000"}).text


@pytest.mark.parametrize("verb", ["share", "remove"])
def test_a_page_that_is_outdated_overwrites_nothing(alice_client: Client, charlie: User, verb: str) -> None:
    run = factories.awaiting_plan()
    who = {"who": f"user-{charlie.pk}", "verb": verb, "level": "decide"}
    factories.share(run, charlie, level=ShareLevel.LOOK)
    for seen, now in (("none", "may look now"), ("decide", "may look now")):
        answer = alice_client.post(address(run), {**who, "seen": seen})
        assert (answer.status_code, f"changed since the page was loaded: charlie {now}" in answer.text) == (409, True)
    run.shares.filter(user=charlie).delete()
    answer = alice_client.post(address(run), {**who, "seen": "look"})
    assert (answer.status_code, "charlie has no share in the run now" in answer.text) == (409, True)
    assert factories.shared_with(run) == [factories.bob()]


def test_a_run_is_opened_for_all_to_look_at(alice_client: Client, charlie_client: Client) -> None:
    run = factories.awaiting_plan()
    assert charlie_client.get(f"/runs/{run.pk}/").status_code == 404
    assert (
        "Everyone who can sign in here may look" in alice_client.post(address(run), {"verb": "open"}, follow=True).text
    )
    page = charlie_client.get(f"/runs/{run.pk}/").text
    assert "You may look at this run, but not decide in it." in page
    gate = factories.open_gate(run)
    sent = {"verb": "approve", "digest": gate.digest}
    assert charlie_client.post(f"/runs/{run.pk}/gates/{gate.pk}/", sent).status_code == 403
    alice_client.post(address(run), {"verb": "close"})
    assert charlie_client.get(f"/runs/{run.pk}/").status_code == 404


@pytest.mark.parametrize(
    ("run", "tab", "offered"),
    [
        (factories.awaiting_plan, "", ["decide-row", "/pause/", "plan/edit/", "stop-run"]),
        (factories.awaiting_plan, "?part=gates", ["decide-row", "plan/edit/"]),
        (factories.awaiting_plan, "?part=controls", ["/pause/"]),
        (factories.awaiting_plan, "plan/?part=plan", ["plan-answer", "plan/edit/"]),
        (factories.exhausted_gate, "?part=gates", ["decide-row", 'class="give"']),
        (factories.finished_succeeded, "?part=controls", ["/again/"]),
    ],
)
def test_buttons_are_only_for_people_who_may_use_them(
    alice_client: Client, run: Callable[[], Run], tab: str, offered: list[str]
) -> None:
    """What is rendered is kept for all who have the same rights."""
    made, viewer, looking = run(), factories.person("vera", roles=[PersonRole.VIEWER]), Client()
    factories.share(made, viewer, level=ShareLevel.LOOK)
    looking.force_login(viewer)
    for _ in range(2):
        shown, other = (browser.get(f"/runs/{made.pk}/{tab}").text for browser in (alice_client, looking))
        assert [word for word in offered if word not in shown] == []
        main = other.partition("<main")[2] or other
        assert ([word for word in offered if word in main], 'method="post"' in main) == ([], False)
