"""The known shapes: which calls have one, their question and buttons, and that nothing of a call is left out."""

from __future__ import annotations

from typing import Any

import pytest

from runs.acts.call import MAX_OTHERS, Call
from runs.acts.registry import SHAPES
from runs.acts.shape import Remark
from runs.mcp_client.server_config import CallTerms

MAIL = {"to": ["bob@example.com"], "subject": "Invoice 5", "body": "Dear Bob,\n\nplease pay."}
MESSAGE = {"channel": "#general", "text": "Lunch?"}
TICKET = {"title": "The door is broken", "description": "Since March.", "labels": ["door"]}
EVENT = {"summary": "Review", "start": "2026-12-01T09:00:00+01:00", "end": "2026-12-01T10:00:00+01:00"}
REQUEST = {"url": "https://example.com/a", "method": "DELETE", "headers": {"Accept": "*/*"}}
PAYMENT = {"amount": 5, "iban": "DE02120300000000202051"}
FILE = {"path": "/srv/a.txt", "content": "Hello\nworld"}
UNKNOWN = "The administrator has not said which account “office” uses."


def call(tool: str, arguments: dict[str, Any], schema: dict[str, Any] | None = None, **more: Any) -> Call:
    return Call("office", tool, arguments, schema or {}, **more)


@pytest.mark.parametrize(
    ("tool", "arguments", "shape", "question", "buttons"),
    [
        ("send", MAIL, "email", "Send this e-mail?", ("Send", "Don’t send")),
        ("create_draft", MAIL, "email", "Save this draft of an e-mail?", ("Save", "Don’t save")),
        ("postMessage", MESSAGE, "chat_message", "Send this message?", ("Send", "Don’t send")),
        ("create_issue", TICKET, "ticket", "Create this ticket?", ("Create", "Don’t create")),
        ("updateIssue", TICKET, "ticket", "Change this ticket?", ("Change", "Don’t change")),
        ("ticket", TICKET, "ticket", "Submit this ticket?", ("Submit", "Don’t submit")),
        ("add-event", EVENT, "calendar_event", "Create this calendar event?", ("Create", "Don’t create")),
        ("reschedule", EVENT, "calendar_event", "Change this calendar event?", ("Change", "Don’t change")),
        ("fetch", REQUEST, "http_request", "Delete data at example.com?", ("Delete", "Don’t delete")),
        ("write_file", FILE, "file_change", "Write this file?", ("Write", "Don’t write")),
        ("upload", FILE, "file_change", "Upload this file?", ("Upload", "Don’t upload")),
        ("append", FILE, "file_change", "Add to this file?", ("Add", "Don’t add")),
        (
            "transfer",
            {"card": "1", "points": 5},
            "",
            "Carry out “transfer” on office?",
            ("Carry out", "Don’t carry out"),
        ),
        ("transfer", PAYMENT, "payment", "Make this payment?", ("Pay", "Don’t pay")),
        ("request_payment", PAYMENT, "payment", "Ask for this payment?", ("Ask", "Don’t ask")),
        ("prepare_payment", PAYMENT, "payment", "Prepare this payment?", ("Prepare", "Don’t prepare")),
        # Nothing in its name says that it pays.
        ("add", PAYMENT, "payment", "Carry out “add” on office?", ("Carry out", "Don’t carry out")),
        (
            "cancel_payment",
            PAYMENT,
            "payment",
            "Carry out “cancel_payment” on office?",
            ("Carry out", "Don’t carry out"),
        ),
        (
            "update_or_delete",
            TICKET,
            "ticket",
            "Carry out “update_or_delete” on office?",
            ("Carry out", "Don’t carry out"),
        ),
        # The name says that it does something else than its arguments suggest.
        (
            "delete_event",
            EVENT,
            "calendar_event",
            "Carry out “delete_event” on office?",
            ("Carry out", "Don’t carry out"),
        ),
        ("cancelMail", MAIL, "email", "Carry out “cancelMail” on office?", ("Carry out", "Don’t carry out")),
    ],
)
def test_question_and_buttons_name_what_is_done(
    tool: str, arguments: dict[str, Any], shape: str, question: str, buttons: tuple[str, str]
) -> None:
    words = call(tool, arguments).wording
    assert (call(tool, arguments).shape, words.question, (words.yes, words.no)) == (shape, question, buttons)


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"toRecipients": [{"address": "a@x"}], "Subject": "s", "bodyText": "t"}, "email"),
        ({"bcc": "a@x", "subject_line": "s", "html": "<p>t</p>"}, "email"),
        ({"message": {"subject": "s", "body": {"content": "t"}, "toRecipients": ["a@x"]}, "save": True}, "email"),
        ({"to": "+491", "body": "t"}, "chat_message"),
        ({"channel_id": 5, "content": "t", "thread_ts": "1.2"}, "chat_message"),
        ({"summary": "t", "description": "d", "projectKey": "A", "issueType": "Bug"}, "ticket"),
        ({"title": "t", "starts_at": 5, "duration_minutes": 30, "invitees": ["a@x"]}, "calendar_event"),
        ({"webhook_url": "https://x", "json": {"a": 1}}, "http_request"),
        ({"channels": "C1", "filename": "a.txt", "content": "t"}, "file_change"),
        # Near misses, and values of a type that makes them something else.
        ({"title": "t", "content": "c"}, ""),
        ({"title": "t", "body": "b", "labels": [], "head": "a", "base": "main"}, ""),
        ({"to": "a@x", "subject": "s"}, ""),
        ({"to": 5, "subject": {"$gt": ""}, "body": ["t"]}, ""),
        ({"path": "/a", "content": {"a": 1}}, ""),
        ({"start": 1, "end": 2}, ""),
        ({"url": "https://x"}, ""),
        ({}, ""),
    ],
)
def test_a_shape_is_recognised_by_names_and_types(arguments: dict[str, Any], shape: str) -> None:
    assert call("do", arguments).shape == shape


@pytest.mark.parametrize(
    ("schema", "shape"),
    [
        ({"type": "string"}, "email"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "email"),
        ({"type": ["string", "null"]}, "email"),
        ({"$ref": "#/$defs/a"}, "email"),
        ({"type": "number"}, ""),
        ({"oneOf": [{"type": "boolean"}, {"type": "integer"}]}, ""),
    ],
)
def test_the_type_in_the_schema_has_to_fit_too(schema: dict[str, Any], shape: str) -> None:
    assert call("send", MAIL, {"properties": {"subject": schema}}).shape == shape


def test_what_only_the_schema_names_tells_a_ticket_from_a_page() -> None:
    page = {"title": "t", "description": "d"}
    assert call("create", page).shape == ""
    assert call("create", page, {"properties": {"assignee": {"type": "string"}}}).shape == "ticket"


def test_an_email_shows_its_fields_in_order_and_the_rest_below() -> None:
    one = call("send", {"importance": "high", "body": "Hi\nBob", **MAIL, "cc": "ann@example.com", "attachments": ["a"]})
    assert [fact.label for fact in one.fields] == ["To", "Cc", "Subject", "Attachments", "Text"]
    assert [(fact.label, fact.words) for fact in one.others] == [("Importance", "high")]
    assert one.fields[-1].excerpt
    assert one.fields[-1].excerpt.text == MAIL["body"]


def test_two_arguments_of_one_meaning_are_told_apart_by_their_names() -> None:
    one = call("send", MAIL | {"email": "eve@example.com"})
    assert [(fact.label, fact.name) for fact in one.fields if fact.label == "To"] == [("To", "to"), ("To", "email")]


def test_a_call_that_may_have_been_carried_out_asks_so() -> None:
    assert call("send", MAIL, again=True).wording.question == "Send this e-mail again?"


@pytest.mark.parametrize(
    ("terms", "lines"),
    [
        (CallTerms(), ["! Cannot be undone", "! In whose name: unknown. " + UNKNOWN]),
        (
            CallTerms("office@example.com", "Sends a letter.", can_be_undone=False),
            ["Sends a letter.", "! Cannot be undone", "In the name of: office@example.com"],
        ),
        (CallTerms("me", "", can_be_undone=True), ["Can be undone", "In the name of: me"]),
    ],
)
def test_account_and_undoing_are_said_before_the_arguments(terms: CallTerms, lines: list[str]) -> None:
    expected = [*lines, "Tool: send of the server office", "To:", "    - bob@example.com"]
    assert list(call("send", MAIL, terms=terms).lines())[: len(expected)] == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("send", MAIL, "Cannot be undone"),
        ("post", MESSAGE, "Cannot be undone"),
        ("transfer", PAYMENT, "Cannot be undone"),
        ("fetch", REQUEST, "Cannot be undone"),
        ("create_draft", MAIL, "Not known whether it can be undone"),
        ("create_issue", TICKET, "Not known whether it can be undone"),
        ("add", EVENT, "Not known whether it can be undone"),
        ("write", FILE, "Not known whether it can be undone"),
        ("do", {"a": 1}, "Not known whether it can be undone"),
    ],
)
def test_what_leaves_cannot_be_undone_unless_an_administrator_says_so(
    tool: str, arguments: dict[str, Any], words: str
) -> None:
    assert call(tool, arguments).undo.subject == words
    assert call(tool, arguments, terms=CallTerms(can_be_undone=True)).undo == Remark("good", "Can be undone")


def test_long_texts_come_after_all_that_is_short() -> None:
    one = call("send", {"body": "line\n" * 400, "importance": "high", "to": "a@x", "subject": "s"})
    assert [fact.label for fact in one.short_fields] == ["To", "Subject"]
    assert [fact.label for fact in one.texts] == ["Text"]


def test_many_arguments_are_all_there() -> None:
    many = {f"a{number}": f"value {number}" for number in range(MAX_OTHERS + 50)}
    last = call("do", many).others[-1]
    assert (len(call("do", many).others), last.label) == (MAX_OTHERS + 1, "50 more arguments")
    assert last.excerpt
    assert [name for name in list(many)[MAX_OTHERS:] if f'"{name}": "{many[name]}"' not in last.excerpt.text] == []


def test_what_is_hidden_is_named_wherever_it_is() -> None:
    nested = {"a": [{"b\u202ec": ["p\u0430ypal"]}], "d": "zero\u200bwidth"}
    assert call("do", nested).hidden == [
        "“A” hides a character that turns the order of letters round.",
        "“A”: “p\u0430ypal” has Latin and Cyrillic letters in one word, and imitates “paypal”.",
        "“D” contains 1 character that cannot be seen; the marks below say where.",
    ]
    wrapped = {"message": MAIL | {"subject": "a\u200bb"}, "sa\u200bve": True}
    assert [said.partition("” ")[0] for said in call("send", wrapped).hidden] == ["“Subject", "“sa\u200bve"]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.name))
def test_every_shape_is_complete(shape: Any) -> None:
    labels = [field.label for field in shape.fields]
    assert len(labels) == len(set(labels))
    assert frozenset().union(*shape.needs) <= set(labels)
    for words in shape.wordings:
        assert words.question.endswith("?")
        assert words.no == f"Don’t {words.yes.lower()}"
        assert words.doing
