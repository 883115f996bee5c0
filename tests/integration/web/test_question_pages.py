"""A question of a model on the pages: what is asked, how it is answered, and that an answer approves nothing."""

import re

import pytest
from django.test import Client
from django.utils.html import escape

from runs.enums import GateKind, GateStatus, WorkStatus
from runs.models import Gate, Run, User
from tests import factories
from tests.integration.web.deciding import address

pytestmark = pytest.mark.django_db


def asked(run: Run) -> Gate:
    return factories.open_gate(run, GateKind.QUESTION)


def sent(client: Client, run: Run, **fields: str) -> int:
    gate = asked(run)
    return client.post(address(gate), {"digest": gate.digest, **fields}).status_code


def test_the_page_says_who_asks_what_and_what_may_be_answered(alice_client: Client) -> None:
    run = factories.question_gate()
    page = alice_client.get(f"/runs/{run.pk}/").text
    gate = " ".join(page.split('<article class="gate"')[1].split("</article>")[0].split())
    for words in (
        ">Which law applies to the notices?</h2>",
        "<li>step “Review the clauses”</li>",
        "<strong>Why:</strong> the AI gives no reason.",
        "Let the AI decide: It decides for itself, and says in its result what it decided.",
        'placeholder="Your own words, instead of a choice or to add to it (the AI sees them)"',
        'name="choice" value="German law"',
        'name="choice" value="None of these answers fits."',
        'name="choice" value="It differs from file to file."',
        'name="verb" value="answer"',
        ">Let the AI decide</button>",
        "Nothing is approved by them.",
    ):
        assert words in gate
    assert "An approval is bound to" not in gate
    assert "Which law applies to the notices?" in alice_client.get("/").text


def test_a_long_question_is_shown_whole_below_its_title_with_the_reason(alice_client: Client) -> None:
    run = factories.question_gate("Which law? " * 60, why="The lease is silent.")
    page = " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    assert re.search(r">(Which law\? ){21}Which la…</h2>", page)
    assert re.search(r'<p class="gate-cause">(Which law\? ?){60}</p>', page)
    assert "<strong>Why, in words of the AI:</strong> “The lease is silent.”" in page


def test_what_a_question_names_is_linked_to_its_source(alice_client: Client) -> None:
    run = factories.question_gate("Which law does clause 2 of the Büro lease mean?")
    page = " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    gate = page.split("<strong>Look it up:</strong>")[1].split("</p>")[0]
    assert re.search("[?&;][a-z]+=2#hit", gate)
    assert re.findall(">([^<]+)</a>", gate) == ["Büro lease, clause 2", "Büro lease"]


def test_a_clause_that_may_be_of_several_files_is_no_link(alice_client: Client) -> None:
    run = factories.question_gate("Does clause 2 of the Büro lease or of the Service agreement hold?")
    page = " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    gate = page.split("<strong>Look it up:</strong>")[1].split("</p>")[0]
    assert re.findall(">([^<]+)</a>", gate) == ["Büro lease", "Service agreement"]


def test_a_question_without_choices_offers_no_way_out_of_them(alice_client: Client) -> None:
    run = factories.question_gate(choices=[])
    assert 'name="choice"' not in alice_client.get(f"/runs/{run.pk}/").text


def test_an_answer_lets_the_work_go_on(alice_client: Client) -> None:
    run = factories.question_gate()
    assert sent(alice_client, run, verb="answer", choice="French law", reason="But ask me before you send it.") == 302
    gate = run.gates.get(kind=GateKind.QUESTION)
    assert (gate.status, gate.reason) == (GateStatus.ANSWERED, "French law\nBut ask me before you send it.")
    assert [work.status for work in run.work.open()] == [WorkStatus.READY]
    history = alice_client.get(f"/runs/{run.pk}/history/").text
    assert escape("answered the question of “Review the clauses”: French law") in history


def test_it_may_be_left_to_the_model(alice_client: Client) -> None:
    run = factories.question_gate()
    assert sent(alice_client, run, verb="delegate", choice="French law", reason="Either is fine.") == 302
    assert run.gates.get(kind=GateKind.QUESTION).reason == "Decide for yourself. Either is fine."


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({"verb": "answer"}, 422, "Write an answer or choose one, or let the AI decide."),
        ({"verb": "approve"}, 409, "Only a question can be answered, and nothing else can be done with it."),
        ({"verb": "answer", "choice": "x" * 201}, 422, ""),
    ],
)
def test_what_is_no_answer_changes_nothing(
    alice_client: Client, fields: dict[str, str], status: int, sentence: str
) -> None:
    run = factories.question_gate()
    gate = asked(run)
    answer = alice_client.post(address(gate), {"digest": gate.digest, "reason": "", **fields})
    assert (answer.status_code, sentence in answer.text) == (status, True)
    assert asked(run) == gate


def test_a_double_click_is_one_answer_and_another_person_comes_too_late(alice_client: Client, bob: User) -> None:
    run = factories.question_gate()
    factories.share(run, bob)
    gate = asked(run)
    bob_client = Client()
    bob_client.force_login(bob)
    form = {"digest": gate.digest, "verb": "answer", "reason": "German law"}
    assert [client.post(address(gate), form).status_code for client in (bob_client, bob_client, alice_client)] == [
        302,
        302,
        409,
    ]


def test_words_of_a_model_are_no_markup(alice_client: Client) -> None:
    run = factories.question_gate("<b>Now?</b>", ['"><script>alert(1)</script>'])
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert "<b>Now?</b>" not in page
    assert "<script>alert" not in page


def test_the_report_says_what_was_asked_and_answered(alice_client: Client) -> None:
    run = factories.question_gate()
    sent(alice_client, run, verb="answer", reason="German law")
    answer = alice_client.get(f"/runs/{run.pk}/report.md?part=protocol")
    report = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    assert "answered the question “Which law applies to the notices?”" in report
    assert "“German law”" in report
