"""The page of a plan: any version against any other, and comments on its parts that go as one request."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind, GateStatus, PlanStatus, Verb
from runs.models import Gate, Run
from tests import factories


def place(run: Run) -> str:
    return f"/runs/{run.pk}/plan/"


def sent(gate: Gate, verb: str, **comments: str) -> dict[str, str]:
    typed = {name.replace("_", "-"): text for name, text in comments.items()}
    return {"gate": str(gate.pk), "digest": gate.digest, "verb": verb, **typed}


def changed(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<li class="change" data-kind="(\w+)".*?<strong>(.*?)</strong>', page, re.DOTALL)


def test_any_version_stands_against_any_other(alice_client: Client) -> None:
    run = factories.awaiting_second_plan()
    page = alice_client.get(place(run)).text
    assert changed(page) == [
        ("removed", "<del>Draft the notices</del>"),
        ("changed", "Review the clauses"),
        ("added", "List the deadlines"),
    ]
    assert "Check the deadlines too, and leave the notices to me." in page
    first = alice_client.get(place(run) + "?version=1").text
    assert (changed(first), "Draft the notices" in first) == ([], True)
    back = alice_client.get(place(run) + "?version=1&against=2").text
    assert [kind for kind, _ in changed(back)] == ["removed", "changed", "added"]
    assert changed(alice_client.get(place(run) + "?against=0").text) == []


@pytest.mark.parametrize("query", ["?version=9", "?version=x", "?version=0", "?against=-1", "?against=" + "9" * 40])
def test_a_version_that_is_not_there_is_not_found(alice_client: Client, query: str) -> None:
    assert alice_client.get(place(factories.awaiting_plan()) + query).status_code == 404


def test_comments_go_as_one_request_with_their_places(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    gate = factories.open_gate(run, GateKind.PLAN)
    assert 'name="comment-2-1"' in alice_client.get(place(run)).text
    given = sent(gate, "reject", comment_2_1="Name the <b>amounts</b>.", comment_3_0="In English.", comment_0_1="All.")
    answer = alice_client.post(place(run), {**given, "comment-9-9": "nowhere", "reason": ""})
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/")
    gate.refresh_from_db()
    assert [(one.request, one.words) for one in gate.asked] == [
        (1, "On step 2 “Review the clauses”, criterion 1: Name the <b>amounts</b>."),
        (2, "On step 3 “Draft the notices”: In English."),
        (3, "On success criterion 1: All."),
    ]
    factories.propose(run, factories.plan(factories.inventory_step(), factories.review_step()))
    page = alice_client.get(place(run)).text
    removed = page[page.index('data-kind="removed"') : page.index("Its criteria")]
    assert "In English." in removed, "beside the change that it led to"
    assert "Name the &lt;b&gt;amounts&lt;/b&gt;." in page


@pytest.mark.slow
def test_what_is_refused_is_said_and_every_comment_is_kept(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    gate = factories.open_gate(run, GateKind.PLAN)
    approval = alice_client.post(place(run), sent(gate, "approve", comment_1_1="But <this>."))
    assert approval.status_code == 422
    assert "An approval sends no comments." in approval.text
    assert ">But &lt;this&gt;.</textarea>" in approval.text
    empty = alice_client.post(place(run), sent(gate, "reject", comment_1_1="  "))
    assert (empty.status_code, "Say what should be different" in empty.text) == (422, True)
    long = alice_client.post(place(run), sent(gate, "reject", comment_1_1="x" * 19_000, comment_1_2="y" * 2_000))
    assert (
        long.status_code,
        "Everything you wrote together is too long by 1,000 characters; 20,000 fit." in long.text,
    ) == (422, True)
    gate.refresh_from_db()
    assert gate.status == GateStatus.OPEN
    factories.decide(run, GateKind.PLAN, Verb.APPROVE)
    late = alice_client.post(place(run), sent(gate, "reject", comment_2_0="Too late?"))
    assert late.status_code == 409
    assert "Already decided: alice approved it at" in late.text
    assert '<blockquote class="quote">Too late?</blockquote>' in late.text


def test_a_plan_is_approved_on_its_page(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(place(run), sent(factories.open_gate(run, GateKind.PLAN), "approve"))
    assert answer.status_code == 302
    assert run.plans.get().status == PlanStatus.APPROVED
    page = alice_client.get(place(run)).text
    assert ('name="comment-1-0"' in page, "/plan/edit/" in page) == (False, False)


def test_a_run_without_a_plan_says_so(alice_client: Client) -> None:
    assert "There is no plan yet" in alice_client.get(place(factories.planning())).text


def test_nobody_else_reads_or_answers(charlie_client: Client) -> None:
    run = factories.awaiting_plan()
    gate = factories.open_gate(run, GateKind.PLAN)
    assert charlie_client.get(place(run)).status_code == 404
    assert charlie_client.post(place(run), sent(gate, "approve")).status_code == 404


@pytest.mark.parametrize("count", [2, 40])
def test_the_page_costs_the_same_for_few_steps_and_for_many(
    alice_client: Client, count: int, django_assert_num_queries: Any
) -> None:
    steps = [factories.plan_step(f"s{n}", f"Step {n}") for n in range(count)]
    run = factories.awaiting_plan(factories.plan(*steps), max_steps=60)
    factories.decide(run, GateKind.PLAN, Verb.REJECT, "Again.")
    factories.propose(run, factories.plan(*steps[1:], factories.plan_step("new", "Another one")))
    with django_assert_num_queries(18):
        page = alice_client.get(place(run))
    assert len(page.content) < 150_000


def test_the_part_that_a_page_asks_for_is_what_the_page_has_and_nobodys_own(
    alice_client: Client,
) -> None:
    run = factories.awaiting_plan()
    bob_client = Client()
    bob_client.force_login(factories.bob())
    part, hers, his = (
        re.sub(r'(data-ago>|name="opening" value=)[^<\s]*', r"\1", browser.get(place(run) + query).text)  # and the time
        for browser, query in ((alice_client, "?part=plan"), (alice_client, ""), (bob_client, ""))
    )
    assert part.startswith('<div id="run-plan"')
    assert (part in hers, part in his) == (True, True)
    assert "csrfmiddlewaretoken" not in part
    assert alice_client.get(place(run) + "?part=other").status_code == 404
    assert alice_client.get(place(run) + "?part=plan&version=99").status_code == 404


def test_what_is_asked_for_less_than_was_agreed_stands_there(alice_client: Client) -> None:
    page = alice_client.get(place(factories.replanned())).text
    assert "This version differs from what was agreed, in" in page
    assert "Estimate by step and role" in page
    assert "Step “Draft the notices” had to write notices/kestrel-systems.md; no step does so any more." in page


def test_what_the_tools_of_a_step_do_beyond_its_files_is_said_before_anything_runs(
    alice_client: Client, settings: Any
) -> None:
    settings.COMMANDS = {"tests": ("pytest", "-q")}
    step = factories.inventory_step().model_copy(update={"tools": ["write_file", "run_command"]})
    run = factories.awaiting_plan(factories.plan(step))
    gate = alice_client.get(f"/runs/{run.pk}/").text
    assert f"<strong>Runs tests (pytest -q)</strong> in “{step.name}”" in gate
    page = alice_client.get(f"/runs/{run.pk}/plan/").text
    assert "<li>may use write_file, run_command</li><li><strong>runs tests (pytest -q)</strong></li>" in page
