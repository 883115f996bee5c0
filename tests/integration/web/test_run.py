"""The page of a run: who sees it, what it says in each state, and its controls."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.engine import claim
from runs.enums import GateKind, RunStatus, Verb, WorkKind
from runs.events.kinds import Note
from runs.lifecycle.gates import error_gate
from runs.models import Run, Step
from runs.web.frame.run_frame import RunFrame
from runs.web.live.news import news
from tests import factories
from tests.factories import recorded
from tests.factories.parts import committing, open_work

pytestmark = pytest.mark.django_db
QUERIES = {"": 23, "plan/": 18, "steps/": 23, "files/": 20, "history/": 22, "cost/": 22}


def step_page_of(client: Client, run: Run, key: str) -> str:
    return page_of(client, run, f"steps/{Step.objects.get(plan__run=run, key=key).pk}/")


def page_of(client: Client, run: Run, tab: str = "") -> str:
    answer = client.get(f"/runs/{run.pk}/{tab}")
    assert answer.status_code == 200
    return answer.text


def test_who_may_not_see_it_gets_404(client: Client) -> None:
    run = factories.executing()
    client.force_login(factories.charlie())
    for where in ("", "plan/", "steps/", "files/", "history/", "cost/", "pause/", "stop/", "gates/1/", "steps/1/"):
        address = f"/runs/{run.pk}/{where}"
        answer = client.post(address) if where in {"pause/", "stop/", "gates/1/"} else client.get(address)
        assert (where, answer.status_code) == (where, 404)


def test_owner_and_approver_see_it_and_the_signed_out_sign_in(client: Client) -> None:
    run = factories.executing()
    assert client.get(f"/runs/{run.pk}/").status_code == 302
    client.force_login(factories.bob())
    assert client.get(f"/runs/{run.pk}/").status_code == 200


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (factories.planning, "The planner writes a plan."),
        (factories.awaiting_plan, "Approve this plan?"),
        (factories.executing, "Working on “List the contracts and their parties”."),
        (factories.step_gate, "Accept “Review the clauses”?"),
        (factories.exhausted_gate, "Accept with open points"),
        (factories.blocked, "<strong>Why it cannot be done, in the words of the AI:</strong>"),
        (factories.error_gate, "service (api.anthropic.com) refused the API key (401)."),
        (factories.replanned, "1 reused, 1 new"),
        (factories.finished_succeeded, "evidence that the server verified"),
        (factories.finished_partial, "<h2>PARTIAL: this is not all that was asked for.</h2>"),
        (factories.stopped, "A person stopped the run."),
    ],
)
def test_each_state_says_what_it_is(alice_client: Client, make: Callable[[], Run], says: str) -> None:
    assert says in page_of(alice_client, make())


def test_a_long_answer_is_cut_until_all_of_it_is_asked_for(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    assert "Show all of the answer" not in page_of(alice_client, run)
    Run.objects.filter(pk=run.pk).update(answer="A line.\n" * 30)
    assert "Show all of the answer" in page_of(alice_client, run)


def test_a_failed_attempt_says_who_got_its_critique(alice_client: Client) -> None:
    run = factories.failed_attempt()
    assert "given to attempt 2" in step_page_of(alice_client, run, "review")
    assert "It was given the critique of attempt 1" in page_of(alice_client, run, "steps/")


def test_a_plan_gate_says_what_is_approved_and_what_it_costs(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    page = page_of(alice_client, run)
    assert "typical figures for steps of this risk" in page
    assert "<code>review/inventory.md</code>" in page
    assert run.gates.get().digest[:12] in page
    whole = page_of(alice_client, run, "plan/")
    assert "review/inventory.md exists" in whole
    assert "The contracts themselves are never changed" in whole


def test_a_second_version_says_why_and_what_changed(alice_client: Client) -> None:
    page = page_of(alice_client, factories.awaiting_second_plan())
    assert "<strong>Since version 1:</strong>" in page
    assert "Check the deadlines too, and leave the notices to me." in page
    changed = re.findall(r'<li class="change" data-kind="(\w+)".*?<strong>(.*?)</strong>', page, re.DOTALL)
    assert changed == [
        ("removed", "<del>Draft the notices</del>"),
        ("changed", "Review the clauses"),
        ("added", "List the deadlines"),
    ]
    assert "missing dates<del>,</del><ins> and</ins> amounts<del> and parties</del>, and" in page


def test_a_failed_attempt_shows_evidence_deviations_and_who_was_overruled(alice_client: Client) -> None:
    page = step_page_of(alice_client, factories.failed_attempt(), "review")
    assert " not verified: “dealt with as promptly as possible” does not occur in" in page
    assert "Unplanned file: review/scratch.txt." in page
    assert "The plan named the tool search_files; it was not used." in page
    assert "its own results or their evidence say otherwise" in page
    assert "was given the critique of attempt 1" in page
    assert "&amp;start=" in page


def test_texts_of_models_are_escaped(alice_client: Client) -> None:
    nasty = factories.plan(factories.plan_step("x", "<script>alert(1)</script>", description="<img src=x onerror=y>"))
    page = page_of(alice_client, factories.awaiting_plan(nasty))
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "style=" not in page
    assert "onclick" not in page


@pytest.mark.slow
@pytest.mark.parametrize(("tab", "queries"), QUERIES.items())
def test_the_number_of_queries_does_not_grow_with_steps(
    alice_client: Client, django_assert_num_queries: DjangoAssertNumQueries, tab: str, queries: int
) -> None:
    for run in (factories.many_steps(2), factories.many_steps(4)):
        with django_assert_num_queries(queries):
            page_of(alice_client, run, tab)


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow_with_results_that_are_kept(
    alice_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for run in (factories.keeping(1), factories.keeping(3)):
        with django_assert_num_queries(QUERIES["steps/"] - 1):
            page_of(alice_client, run, "steps/")


def test_two_hundred_steps_are_fine(alice_client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    steps = [factories.plan_step(f"s{n}", f"Step {n}") for n in range(200)]
    run = factories.executing(factories.plan(*steps), max_steps=500)
    assert "0 of 200 steps" in page_of(alice_client, run)


def test_an_event_of_a_kind_that_is_not_known_breaks_neither_page_nor_socket(alice_client: Client) -> None:
    run = factories.planning()
    newest = recorded(run.pk, Note(text="Something."))
    run.events.filter(seq=newest).update(kind="teleported", data={"to": "Mars"})
    assert "teleported." in page_of(alice_client, run, "history/")
    assert f'"seq":{newest}' in news(Run.objects.get(pk=run.pk), "history", newest - 1, {}).text


def test_pause_and_resume(alice_client: Client) -> None:
    run = factories.executing()
    assert alice_client.post(f"/runs/{run.pk}/pause/", {"paused": "1"}).status_code == 302
    run.refresh_from_db()
    assert run.paused
    assert "nothing new starts" in page_of(alice_client, run)
    alice_client.post(f"/runs/{run.pk}/pause/", {"paused": "0"})
    run.refresh_from_db()
    assert not run.paused


def test_pausing_twice_is_said_and_changes_nothing(alice_client: Client) -> None:
    run = factories.executing()
    alice_client.post(f"/runs/{run.pk}/pause/", {"paused": "1"})
    answer = alice_client.post(f"/runs/{run.pk}/pause/", {"paused": "1"}, follow=True)
    assert "already in that state" in answer.text


def test_with_htmx_pausing_brings_the_head(alice_client: Client) -> None:
    run = factories.executing()
    answer = alice_client.post(f"/runs/{run.pk}/pause/", {"paused": "1"}, headers={"HX-Request": "true"})
    assert 'id="run-state"' in answer.text
    assert "Resume" in answer.text


def test_stop(alice_client: Client) -> None:
    run = factories.executing()
    alice_client.post(f"/runs/{run.pk}/stop/", {"reason": "Wrong\0 folder."})
    run.refresh_from_db()
    assert (run.status, run.outcome) == (RunStatus.FINISHED, "cancelled")
    again = alice_client.post(f"/runs/{run.pk}/stop/", follow=True)
    assert "already finished" in again.text


def test_reading_changes_nothing(alice_client: Client) -> None:
    run = factories.executing()
    answers = [alice_client.get(f"/runs/{run.pk}/{place}").status_code for place in ("pause/", "stop/", "gates/1/")]
    assert answers == [405, 405, 405]


def test_costs_are_compared_as_soon_as_a_step_was_tried(alice_client: Client) -> None:
    assert "Estimate against actual" not in page_of(alice_client, factories.awaiting_plan(), "cost/")
    page = page_of(alice_client, factories.failed_attempt(), "cost/")
    assert "Estimate against actual" in page
    assert "By role and model" in page
    assert "spent, no budget was set." in page


@pytest.mark.slow
def test_a_long_plan_is_compared_by_step_and_role(alice_client: Client) -> None:
    page = page_of(alice_client, factories.many_steps(41), "cost/")
    assert ">Step 41<" in page
    assert "Synthesizer" in page


def test_the_estimate_at_the_gate_is_shown_by_step_and_role(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    stored = run.plans.get().estimate
    assert stored is not None
    estimate: Any = stored.model_dump(mode="json")
    estimate["steps"][0]["roles"][0]["basis"] = {"measured": 1, "default": 0, "min": 12, "max": 12}
    run.plans.update(estimate=estimate)
    page = page_of(alice_client, run)
    assert "Cost by step and role" in page
    assert page.count(">default</td>") == 9
    assert ">12 earlier runs</td>" in page
    assert ">in part 12 earlier runs</td>" in page, "the sum for the executor"


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        "report/",
        "people/",
        "manage/",
        "delete/",
        "template/",
        "files/contracts/Service agreement.md",
        "texts/request-1/",
    ],
)
def test_title_and_icon_of_every_page_follow_a_run_that_is_not_over(alice_client: Client, place: str) -> None:
    run = factories.awaiting_plan()
    factories.decide(run, GateKind.PLAN, Verb.REJECT, "Name the severity.")
    factories.propose(run)
    page = alice_client.get(f"/runs/{run.pk}/{place}").text
    seen = Run.objects.get(pk=run.pk).event_count
    assert f'hx-ws:connect="/ws/runs/{run.pk}/" data-seen="{seen}"' in page
    assert "<title>Needs a decision · " in page
    over = factories.finished_succeeded()
    if place != "texts/request-1/":
        assert "hx-ws:connect" not in alice_client.get(f"/runs/{over.pk}/{place}").text


def test_the_title_and_icon_of_pages_about_a_finished_run_tell_its_outcome(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    for place in ("again/", "again/with/", "delete/", "template/"):
        page = alice_client.get(f"/runs/{run.pk}/{place}").text
        assert "<title>Succeeded · " in page
        assert re.findall(r'<link rel="icon" [^>]*?href="[^"]*icons/(\w+)', page) == ["good"]


def test_what_a_question_holds_up_is_not_said_to_be_worked_on(alice_client: Client) -> None:
    run = factories.executing()
    lease = claim.claim(open_work(run, WorkKind.ATTEMPT).pk)
    assert lease is not None
    with committing(lease) as mine:
        error_gate.ask(mine, "The service refused the key (401).", reset=False)
    assert (RunFrame(run).question, RunFrame(run).sentence) == ("An error stopped the work.", "")
    assert "Working on" not in page_of(alice_client, run)
