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
    assert "Also sent 1 Priority high" in words
    assert "Account not named by the administrator (server mail, tool send)" in words
    assert ">Send</button>" in page
    assert ">Don’t send</button>" in page
    assert 'placeholder="Reason (the AI sees it)"' in page
    assert '"subject"' not in page


def test_the_arguments_as_json_are_fetched_from_a_fold(alice_client: Client) -> None:
    run = factories.tool_gate("mail__send", MAIL)
    part = alice_client.get(f"{address(gate_of(run))}json/")
    assert json.loads(unescape(strip_tags(part.text))) == MAIL


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
    run.policy = run.policy.changed(second_person=True)
    run.save(update_fields=["policy"])
    words = words_of(alice_client.get(f"/runs/{run.pk}/").text)
    assert "alice submitted the task and may only choose “Don’t send” or stop the run." in words
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
    shown += ["U+202E", "U+200B", "Latin + Cyrillic", "U+D800", str(10**40), "argument 199", "A.b", "empty list"]
    assert [text for text in shown if text not in words] == []
    assert "Look closely" in words
    assert page.count("<dt>") < 500
    assert page.count("<li>") < 500
