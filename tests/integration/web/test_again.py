"""A finished run is run again: with what it found before, without, with one step done again, or with changes."""

from __future__ import annotations

import html
import re
import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from runs.enums import GateKind, Outcome
from runs.models import Draft, Run, User
from runs.store import trees
from tests import factories
from tests.factories import Submit, drain, finish, open_gate, reused
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, looking, reads
from tests.integration.source import without_layout

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


LOOKS = looking(one=[reads("notes.md")])
POLICY: dict[str, Any] = {"attempt_seconds": 630, "time_limit": 5_430}
"""Of the first run. The form has whole minutes, which these are not."""


@pytest.fixture(scope="module")
def finished(rows_of_module: None, service: FakeAnthropic) -> Run:
    """Each test has it as it was made, see `rows_of_module`."""
    service.reset()
    service.script(Team(executor=LOOKS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_BASE_URL", service.url)
        alice = factories.alice()
        run = finish(factories.submit_as(alice, "First this.\nThen that.", **POLICY), alice)
    assert service.violations == []
    return run


@pytest.fixture
def first(finished: Run, team: Team) -> Run:
    """The finished run, with the team that carried it out."""
    team.executor = LOOKS
    return Run.objects.get(pk=finished.pk)


def again(client: Client, run: Run, user: Any, **fields: Any) -> Run:
    client.force_login(user)
    page = client.get(f"/runs/{run.pk}/again/").text
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found
    answers = [client.post(f"/runs/{run.pk}/again/", {"token": found[1], **fields}) for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"], "a double click makes one run"
    return Run.objects.latest("pk")


@pytest.mark.slow
def test_it_waits_for_approval_of_the_same_plan_and_takes_results_over(
    first: Run, team: Team, client: Client, alice: User
) -> None:
    run = again(client, first, alice)
    assert open_gate(run).kind == GateKind.PLAN
    assert run.plans.get().reason == f"Version 1 of run {first.pk}, once more."
    assert (run.inputs, run.request) == (first.inputs, first.request)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert reused(run) == ["one", "two"]
    assert "planner" not in team.seen
    assert "executor" not in team.seen


@pytest.mark.slow
def test_without_reuse_everything_is_done(first: Run, client: Client, alice: User) -> None:
    assert reused(finish(again(client, first, alice, all="on"), alice)) == []


@pytest.mark.slow
def test_one_step_is_done_again(first: Run, team: Team, client: Client, alice: User) -> None:
    run = finish(again(client, first, alice, redo=["one", "no step of this plan"]), alice)
    assert (run.policy.without_reuse, reused(run)) == (("one",), ["two"])


@pytest.mark.slow
def test_the_page_of_a_reused_step_leads_there(first: Run, client: Client, alice: User) -> None:
    run = finish(again(client, first, alice), alice)
    step = run.plans.get().steps.get(key="two")
    assert f'href="/runs/{run.pk}/again/?redo=two"' in client.get(f"/runs/{run.pk}/steps/{step.pk}/").text
    assert 'value="two" checked' in client.get(f"/runs/{run.pk}/again/?redo=two").text


@pytest.mark.slow
def test_before_it_starts_the_page_says_what_is_reused_and_why_not_the_rest(
    first: Run, client: Client, alice: User
) -> None:
    client.force_login(alice)
    place = f"/runs/{first.pk}/again/"
    assert "2 of 2 reused" in client.get(place).text
    assert "runs again: you asked for it" in client.get(f"{place}?redo=one").text
    looked = client.post(place, {"look": "on", "all": "on"}).text
    assert "0 of 2 reused" in looked
    assert "runs again: results are not reused" in looked
    assert Run.objects.count() == 1


def test_a_run_under_way_is_not_run_again(team: Team, submitted: Submit, client: Client, alice: User) -> None:
    run = submitted()
    drain(run)
    client.force_login(alice)
    assert client.post(f"/runs/{run.pk}/again/")["Location"] == f"/runs/{run.pk}/"
    assert Run.objects.latest("pk") == run


def test_others_find_nothing(first: Run, client: Client, bob: User) -> None:
    client.force_login(bob)
    assert client.post(f"/runs/{first.pk}/again/").status_code == 404


# ---- with other files, request or policy


def sent_by(page: str) -> dict[str, Any]:
    """What a browser without scripts would post of the form of a new run, pressing no button."""
    found: dict[str, Any] = {}
    form = page[page.index('id="new-run"') :]
    for tag in re.findall(r"<input [^>]*>", form):
        given = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        kind = given.get("type", "text")
        if "name" in given and kind != "file" and (kind not in {"checkbox", "radio"} or re.search(r"\schecked", tag)):
            found.setdefault(given["name"], html.unescape(given.get("value", "on" if kind == "checkbox" else "")))
    for name, options in re.findall(r'<select name="(\w+)"[^>]*>(.*?)</select>', form, re.S):
        chosen = re.search(r'<option value="([^"]*)"[^>]* selected', options)
        found[name] = chosen[1] if chosen else re.findall(r'value="([^"]*)"', options)[0]
    words = re.search(r'<textarea name="request"[^>]*>\s*(.*?)</textarea>', form, re.S)
    assert words
    return found | {"request": html.unescape(words[1])}


def told(page: str) -> str:
    """What it says of reuse, as words."""
    found = re.search(r'<div id="reuse" role="status">(.*?)</div>', page, re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", found[1] if found else page).split())


@pytest.fixture
def place(first: Run, client: Client, alice: User) -> str:
    client.force_login(alice)
    return f"/runs/{first.pk}/again/with/"


@pytest.mark.slow
def test_the_form_is_filled_as_the_run_was_and_says_that_all_of_it_would_be_reused(
    first: Run, client: Client, place: str
) -> None:
    assert f'href="{place}"' in client.get(f"/runs/{first.pk}/again/").text
    page = client.get(place).text
    assert told(page) == "2 of 2 reused : Do one, Do two"
    assert '<span class="path">notes.md</span>' in page
    assert f'<option value="same" selected data-no-sources>Version 1 of the plan of run {first.pk}</option>' in page
    assert Draft.objects.count() == 0, "looking makes no draft"
    assert "2 of 2 reused" in client.post(place, sent_by(page) | {"look": "on"}).text
    assert Run.objects.count() == 1


@pytest.mark.slow
def test_sent_as_it_is_it_is_the_same_task_whose_results_are_reused(
    first: Run, client: Client, alice: User, place: str
) -> None:
    sent = sent_by(client.get(place).text)
    answers = [client.post(place, sent) for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"], "a double click makes one run"
    run = Run.objects.latest("pk")
    assert (run.request, run.inputs, run.policy) == (first.request, first.inputs, first.policy)
    assert run.plans.get().reason == f"Version 1 of the plan of run {first.pk}."
    assert reused(finish(run, alice)) == ["one", "two"]
    assert Draft.objects.count() == 0


@pytest.mark.slow
def test_a_file_that_takes_the_place_of_another_is_named_as_the_reason(
    first: Run, client: Client, alice: User, place: str
) -> None:
    sent = sent_by(client.get(place).text)
    looked = client.post(
        place, sent | {"look": "on", "files": [SimpleUploadedFile("notes.md", b"Other notes.\n")]}
    ).text
    assert told(looked) == (
        "0 of 2 reused Do one again because notes.md changed Do two again because “Do one” runs again before it"
    )
    assert Run.objects.count() == 1
    client.post(place, sent_by(looked))
    run = Run.objects.latest("pk")
    assert run.pk != first.pk
    assert trees.files_of(run.inputs)["notes.md"].size == 13
    assert reused(finish(run, alice)) == ["two"], "step one came to the same, and step two has not read it"


@pytest.mark.slow
def test_files_are_added_and_removed_in_a_draft_that_begins_with_those_of_the_run(
    first: Run, client: Client, place: str
) -> None:
    sent = sent_by(client.get(place).text)
    draft = f"/runs/drafts/{sent['token']}/"
    added = {"files": [SimpleUploadedFile("sales.csv", b"1")], "paths": ["sales.csv"], "run": first.pk}
    answer = client.post(draft, added, headers={"Accept": "application/json"}).json()
    assert (answer["files"], 'name="begun"' in answer["html"]) == (2, True)
    live = client.post(place, sent | {"begun": "on"}, headers={"HX-Request": "true"}).text
    assert told(live) == "0 of 2 reused Do one, Do two again because sales.csv is new"
    page = client.post(draft, sent | {"begun": "on", "remove": "notes.md", "request": "Otherwise"}).text
    assert "Run it again with changes" in page
    assert told(page).endswith("again because the request changed; sales.csv is new, notes.md is gone")
    client.post(place, sent_by(page))
    run = Run.objects.latest("pk")
    assert (run.request, list(trees.files_of(run.inputs))) == ("Otherwise", ["sales.csv"])


def test_files_that_are_gone_with_their_draft_are_not_those_of_the_run_again(
    first: Run, client: Client, place: str
) -> None:
    sent = sent_by(client.get(place).text) | {"begun": "on", "has_draft": "on"}
    answer = client.post(place, sent)
    assert answer.status_code == 422
    assert "The files of this form are gone" in answer.text
    assert Run.objects.get() == first


def test_the_same_words_with_other_ends_of_lines_are_the_same_request(client: Client, place: str) -> None:
    sent = sent_by(client.get(place).text)
    assert told(client.post(place, sent | {"request": "First this.\r\nThen that.\r\n", "look": "on"}).text).startswith(
        "2 of 2 reused"
    )


def test_a_policy_in_seconds_stays_what_it_was(client: Client, place: str) -> None:
    client.post(place, sent_by(client.get(place).text) | {"attempts": "2"})
    made = Run.objects.latest("pk").policy
    assert (made.attempt_seconds, made.time_limit, made.attempts) == (630, 5_430, 2)


def test_what_cannot_be_foretold_is_said(client: Client, place: str) -> None:
    sent = sent_by(client.get(place).text)
    assert told(client.post(place, sent | {"look": "on", "template": ""}).text) == (
        "Known once the planner has written the plan: results that fit its steps are reused."
    )
    wrong = client.post(place, sent | {"attempts": "99"}, headers={"HX-Request": "true"}).text
    assert told(wrong) == "Not known yet. Attempts per step: Ensure this value is less than or equal to 10."
    assert told(client.post(place, sent | {"look": "on", "rounds": "5"}).text).endswith(
        "again because the policy changed: rounds"
    )


@pytest.mark.slow
@pytest.mark.exhaustive
def test_what_was_carried_out_again_on_purpose_is_not_so_again(client: Client, first: Run, alice: User) -> None:
    run = finish(again(client, first, alice, redo=["one"]), alice)
    sent = sent_by(client.get(f"/runs/{run.pk}/again/with/").text)
    client.post(f"/runs/{run.pk}/again/with/", sent)
    assert Run.objects.latest("pk").policy.without_reuse == ()


def test_a_run_under_way_or_of_somebody_else_gives_no_form(
    team: Team, submitted: Submit, client: Client, alice: User, bob: User
) -> None:
    run = submitted()
    client.force_login(alice)
    assert client.get(f"/runs/{run.pk}/again/with/")["Location"] == f"/runs/{run.pk}/"
    client.force_login(bob)
    assert client.get(f"/runs/{run.pk}/again/with/").status_code == 404


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_form_that_was_left_is_continued_as_the_one_that_it_is(first: Run, client: Client, alice: User) -> None:
    client.force_login(alice)
    token, place = uuid.uuid4(), f"/runs/{first.pk}/again/with/"
    files = [SimpleUploadedFile("more.md", b"More.")]
    client.post(f"/runs/drafts/{token}/", {"run": first.pk, "files": files, "paths": ["more.md"]})
    assert f'href="{place}?draft={token}">Continue</a>' in client.get("/runs/new/").text
    assert "more.md" in client.get(f"{place}?draft={token}").text


# ---- files of the same name, and a form that was left


@pytest.fixture
def foldered(team: Team, submitted: Submit, client: Client, alice: User) -> Run:
    """A finished run whose only file lies in a folder, and was read."""
    team.executor = looking(one=[reads("in/notes.md")])
    client.force_login(alice)
    return finish(submitted(files={"in/notes.md": b"Old notes.\n"}), alice)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_file_without_its_folder_replaces_the_old_one_and_the_page_says_so(
    foldered: Run, client: Client, alice: User
) -> None:
    place = f"/runs/{foldered.pk}/again/with/"
    sent = sent_by(client.get(place).text)
    page = client.post(place, sent | {"files": [SimpleUploadedFile("notes.md", b"Other notes.\n")]})
    assert (page.status_code, Run.objects.latest("pk")) == (422, foldered), "it is said before anything is started"
    assert "“notes.md” replaces in/notes.md. Look at the list of files, then start the run." in page.text
    assert "Your “notes.md” replaces in/notes.md." in page.text
    assert "1 file, 13 bytes" in page.text
    assert told(client.post(place, sent_by(page.text) | {"look": "on"}).text).startswith(
        "0 of 2 reused Do one again because in/notes.md changed"
    )
    assert client.post(place, sent_by(page.text)).status_code == 302
    run = Run.objects.latest("pk")
    assert {path: info.size for path, info in trees.files_of(run.inputs).items()} == {"in/notes.md": 13}


@pytest.mark.slow
@pytest.mark.exhaustive
def test_both_are_kept_by_a_button_and_the_old_one_can_be_put_back(foldered: Run, client: Client) -> None:
    token = uuid.uuid4()
    place, fields = f"/runs/drafts/{token}/", {"run": foldered.pk}
    added = {"files": [SimpleUploadedFile("notes.md", b"New.")], "paths": ["notes.md"], **fields}
    json = {"Accept": "application/json"}
    assert client.post(place, added, headers=json).json()["files"] == 1
    both = client.post(place, {"keep_both": "in/notes.md", **fields}, headers=json).json()
    assert (both["files"], "Keep both" in both["html"]) == (2, False)
    gone = client.post(place, {"remove": "in/notes.md", **fields}, headers=json).json()
    assert (gone["files"], 'aria-label="Put back in/notes.md"' in gone["html"]) == (1, True)
    assert client.post(place, {"put_back": "in/notes.md", **fields}, headers=json).json()["files"] == 2
    wrong = client.post(place, {"put_back": "other.md", **fields}, headers=json)
    assert (wrong.status_code, wrong.json()["errors"][0].startswith("The files have changed since")) == (422, True)


@pytest.mark.slow
def test_which_of_two_is_replaced_is_asked_and_nothing_starts_before(
    team: Team, submitted: Submit, client: Client, alice: User
) -> None:
    run = finish(submitted(files={"a/notes.md": b"A", "b/notes.md": b"B"}), alice)
    client.force_login(alice)
    place = f"/runs/{run.pk}/again/with/"
    sent = sent_by(client.get(place).text)
    page = client.post(place, sent | {"look": "on", "files": [SimpleUploadedFile("notes.md", b"New.")]}).text
    assert "Which file does it replace?" in page
    refused = client.post(place, sent_by(page))
    assert (refused.status_code, Run.objects.latest("pk")) == (422, run)
    assert "Say in the list of files what “notes.md” replaces: a/notes.md or b/notes.md" in refused.text
    answer = client.post(f"/runs/drafts/{sent['token']}/", sent_by(page) | {"replace": "notes.md//b/notes.md"}).text
    assert "Your “notes.md” replaces b/notes.md." in answer
    assert client.post(place, sent_by(answer)).status_code == 302
    assert list(trees.files_of(Run.objects.latest("pk").inputs)) == ["a/notes.md", "b/notes.md"]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_form_that_was_left_is_found_again_until_it_is_thrown_away(first: Run, client: Client, place: str) -> None:
    sent = sent_by(client.get(place).text)
    draft = f"/runs/drafts/{sent['token']}/"
    client.post(draft, {"run": first.pk, "files": [SimpleUploadedFile("more.md", b"1")], "paths": ["more.md"]})
    page = client.get(place).text
    assert (sent_by(page)["token"], '<span class="path">more.md</span>' in page) == (sent["token"], True)
    assert client.post(draft, {"run": first.pk, "discard": "on"})["Location"] == place
    afresh = client.get(place).text
    assert (sent_by(afresh)["token"] != sent["token"], "more.md" in afresh) == (True, False)


# ---- what the gate that follows says


def lines_of(page: str) -> list[str]:
    """What the gate of the plan says of the run before, as words."""
    found = re.findall(r'<li data-mark="\w+" class="gate-(?:again|reuse)">(.*?)</li>', page, re.S)
    return [" ".join(html.unescape(re.sub(r"<[^>]+>", "", line)).split()) for line in found]


@pytest.mark.slow
def test_the_gate_says_what_changed_and_what_is_reused(first: Run, client: Client, place: str) -> None:
    sent = sent_by(client.get(place).text)
    files = [SimpleUploadedFile("notes.md", b"Other notes.\n"), SimpleUploadedFile("sales.csv", b"1")]
    page = client.post(place, sent | {"look": "on", "files": files, "budget": "9"}).text
    client.post(place, sent_by(page) | {"budget": "9"})
    run = Run.objects.latest("pk")
    drain(run)
    assert lines_of(client.get(f"/runs/{run.pk}/").text) == [
        f"Changed since run {first.pk} notes.md · added sales.csv · policy (budget)",
        "0 of 2 reused · run again: Do one because notes.md changed, sales.csv is new · "
        "Do two because sales.csv is new",
    ]


@pytest.mark.slow
def test_a_run_that_is_run_again_as_it_was_says_so_at_its_gate(first: Run, client: Client, alice: User) -> None:
    run = again(client, first, alice, redo=["two"])
    assert lines_of(client.get(f"/runs/{run.pk}/").text) == [
        f"As in run {first.pk} the same request, files and policy",
        "1 of 2 reused · run again: Do two because you asked for it",
    ]


@pytest.mark.slow
def test_names_of_files_that_are_gone_are_for_those_who_may_see_the_run_before(
    first: Run, client: Client, place: str, bob: User
) -> None:
    sent = sent_by(client.get(place).text)
    draft = f"/runs/drafts/{sent['token']}/"
    added = [SimpleUploadedFile("other.md", b"1")]
    client.post(draft, {"run": first.pk, "remove": "notes.md", "files": added, "paths": ["other.md"]})
    client.post(place, sent_by(client.get(place).text) | {"approvers": [bob.pk]})
    run = Run.objects.latest("pk")
    drain(run)
    client.force_login(bob)
    assert lines_of(client.get(f"/runs/{run.pk}/").text) == [
        f"Changed since run {first.pk} added other.md · removed 1 file",
        "0 of 2 reused · all run again",
    ]
    factories.share(first, bob)
    assert lines_of(client.get(f"/runs/{run.pk}/").text)[0].endswith("removed notes.md")


def test_without_the_run_before_the_gate_says_nothing_of_it(first: Run, client: Client, alice: User) -> None:
    run = again(client, first, alice)
    first.delete()
    assert lines_of(client.get(f"/runs/{run.pk}/").text) == []


@pytest.mark.slow
@pytest.mark.exhaustive
def test_files_of_another_folder_are_offered_to_replace_those_of_their_names(
    team: Team, submitted: Submit, client: Client, alice: User
) -> None:
    run = finish(submitted(files={"old/a.md": b"A", "old/b.md": b"B"}), alice)
    client.force_login(alice)
    draft, fields = f"/runs/drafts/{uuid.uuid4()}/", {"run": run.pk}
    files = [SimpleUploadedFile(name, b"New.") for name in ("a.md", "b.md")]
    json = {"Accept": "application/json"}
    sent = client.post(draft, {"files": files, "paths": ["new/a.md", "new/b.md"], **fields}, headers=json).json()
    assert (sent["files"], "Replace all 2" in without_layout(sent["html"])) == (4, True)
    answer = client.post(draft, {"replace_alike": "on", **fields}, headers=json).json()
    assert (answer["files"], "Your “new/a.md” replaces old/a.md." in answer["html"]) == (2, True)
