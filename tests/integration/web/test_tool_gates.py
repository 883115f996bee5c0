"""The gate of a call that acts outside: an e-mail is shown as an e-mail, and a hostile call safely and whole."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from runs.enums import GateKind, GateStatus, Verb
from runs.readmodel.status_words import decided
from tests import factories
from tests.integration.web.deciding import address, form, gate_of

pytestmark = pytest.mark.django_db

MAIL: dict[str, Any] = {
    "to": ["bob@example.com", "ann@example.com"],
    "subject": "Invoice 5",
    "body": "Dear Bob,\n\nplease pay.",
    "attachments": [{"filename": "invoice.pdf"}],
    "priority": "high",
}


def gate_on(client: Client, name: str, arguments: dict[str, Any]) -> str:
    run = factories.tool_gate(name, arguments)
    return client.get(f"/runs/{run.pk}/").text.split('<article class="gate"')[1].split("</article>")[0]


def words_of(page: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", page)).split())


def test_an_email_is_shown_as_an_email(alice_client: Client) -> None:
    page = gate_on(alice_client, "mail__send", MAIL)
    words = words_of(page)
    assert "Send this e-mail?" in words
    assert "To 2 bob@example.com ann@example.com Subject Invoice 5 Attachments Filename invoice.pdf" in words
    assert "<pre>\nDear Bob,\n\nplease pay.</pre>" in page
    assert words.index("Other fields sent along Priority high") < words.index("Dear Bob"), "long texts come last"
    assert "Cannot be undone" in words
    assert "In whose name: unknown. The administrator has not said which account “mail” uses." in words
    assert [button in words for button in ("Send Don’t send", "Don’t send: Nothing leaves the run.")] == [True, True]
    assert 'placeholder="Reason (with “Don’t send” the AI sees it, with “Send” it is only stored)"' in page
    assert '"subject"' not in page


def test_the_arguments_as_json_are_fetched_from_a_fold(alice_client: Client) -> None:
    run = factories.tool_gate("mail__send", MAIL)
    part = alice_client.get(f"{address(gate_of(run))}json/")
    said, _, arguments = unescape(strip_tags(part.text)).partition("{")
    assert " ".join(said.split()) == "MCP server mail, tool send"
    assert json.loads("{" + arguments) == MAIL


def test_the_page_says_why_and_whether_the_plan_names_the_tool(alice_client: Client) -> None:
    run = factories.tool_gate("mail__send", MAIL, purpose="Remind Bob.", why="Invoice 5 is late.\nNo one was told.")
    words = words_of(alice_client.get(f"/runs/{run.pk}/").text)
    assert "Why, in words of the AI: “Invoice 5 is late. No one was told.”" in words
    assert "Named in the approved plan: step “Review the clauses”: Remind Bob." in words
    words = words_of(gate_on(alice_client, "mail__send", MAIL))
    assert "Why: the AI gives no reason" in words
    assert "Not named in the approved plan: step “Review the clauses” does not mention it" in words


def test_only_administrators_are_told_what_they_can_do(alice_client: Client, admin_client: Client) -> None:
    run = factories.tool_gate("mail__send", MAIL)
    hint = (
        "For administrators: say whose account “mail” uses (account) and whether “send” can be undone (can_be_undone)"
    )
    assert hint not in words_of(alice_client.get(f"/runs/{run.pk}/").text)
    assert hint in words_of(admin_client.get(f"/runs/{run.pk}/").text)


def test_an_attachment_that_is_a_file_of_the_run_is_a_link(alice_client: Client) -> None:
    page = gate_on(alice_client, "mail__send", MAIL | {"attachments": ["Service agreement.md", "other.pdf"]})
    assert re.search(r'<a href="/runs/\d+/files/contracts/Service%20agreement.md" data-source>Open ', page)
    assert "not a file of this run, so it cannot be opened here" in words_of(page)


def test_a_call_that_cannot_be_undone_is_confirmed_where_it_is_said_again(alice_client: Client) -> None:
    """The dialog needs no script, and the safe answer needs no dialog."""
    page = " ".join(gate_on(alice_client, "bank__pay", {"amount": "1.000", "currency": "EUR", "to": "Bob"}).split())
    before, _, dialog = page.partition('role="dialog"')
    assert 'name="verb" value="approve"' not in before
    assert 'name="verb" value="reject"' in before
    for words in (
        "“1.000” is ambiguous: it can be read as 1 EUR or as 1,000 EUR",
        ">Bob</bdi>",
        'name="verb" value="approve">Pay now</button>',
    ):
        assert words in dialog


def test_a_call_that_can_be_undone_is_approved_with_one_click(alice_client: Client) -> None:
    page = " ".join(gate_on(alice_client, "mail__create_draft", MAIL).split())
    assert 'name="verb" value="approve"' in page.partition('role="dialog"')[0]


def test_addresses_are_read_from_left_to_right(alice_client: Client) -> None:
    page = gate_on(alice_client, "mail__send", MAIL | {"to": "שלום@example.com", "subject": "שלום"})
    assert '<bdi class="act-words" dir="ltr">שלום@example.com</bdi>' in page
    assert '<bdi class="act-words">שלום</bdi>' in page


def test_inbox_and_head_of_the_run_ask_the_same(alice_client: Client) -> None:
    run = factories.tool_gate("mail__send", MAIL)
    assert "Send this e-mail?" in alice_client.get("/").text
    page = alice_client.get(f"/runs/{run.pk}/history/").text
    assert "Send this e-mail?" in page


def test_a_refusal_is_declined_and_asks_for_no_changes(alice_client: Client) -> None:
    run = factories.tool_gate("mail__send", MAIL)
    gate = gate_of(run)
    assert alice_client.post(address(gate), form(gate, "reject")).status_code in {200, 302}
    late = alice_client.post(address(gate), form(gate, "approve")).text
    assert "Already decided: alice declined it at" in late
    gate.refresh_from_db()
    assert (gate.status, decided(gate)) == (GateStatus.REJECTED, "declined")


def test_the_person_who_needs_a_second_one_may_refuse(alice_client: Client) -> None:
    run = factories.tool_gate("mail__send", MAIL)
    run.gates.open().update(second_person=True)
    words = words_of(alice_client.get(f"/runs/{run.pk}/").text)
    assert (
        "alice submitted the task, edited its plan or gave files for it, and may only choose “Don’t send” or stop the "
        "run." in words
    )
    factories.decide(run, GateKind.TOOL, Verb.REJECT)


HOSTILE: dict[str, Any] = {
    "to": {"$gt": ""},
    "subject": 5,
    "body": ["<script>alert(1)</script>", "\u202eevil\u202c", "zero\u200bwidth"],
    "<img src=x onerror=alert(2)>": "</pre></details><form action='//evil'>",
    "p\u0430ypal": "\ud800 half a pair",
    "huge": "x" * 30_000 + "the end of it",
    "lines": "\n".join(f"line {number}" for number in range(2_000)),
    "deep": 0,
    "many": [f"entry {number}" for number in range(1_000)],
    "blank": "\n\n\n",
    "big": 10**40,
    "__proto__": {"a.b": {"c": []}},
    **{f"argument {number}": number for number in range(200)},
}


def test_a_hostile_call_is_shown_safely_and_whole(alice_client: Client) -> None:
    deep: Any = "the bottom"
    for _ in range(200):
        deep = {"in": [deep]}
    page = gate_on(alice_client, "mail__send", HOSTILE | {"deep": deep})
    words = words_of(page)
    assert "Carry out “send” on mail?" in words, "its types are not those of an e-mail"
    assert [tag for tag in ("<script", "<img", "evil'>") if tag in page] == []
    assert page.count("<form") == page.count('method="post"'), "only forms of ours"
    shown = ["alert(1)", "onerror=alert(2)", "action='//evil'", "the end of it", "the bottom", "line 1999", "entry 999"]
    shown += ["U+202E", "U+200B", "Latin + Cyrillic", "U+D800", str(10**40), "argument 199", "a.b", "empty list"]
    assert [text for text in shown if text not in words] == []
    assert "Look closely" in words
    assert page.count("<dt>") < 500
    assert page.count("<li>") < 500
