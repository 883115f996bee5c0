"""What people are told before they read the fields of a call: where it goes, what it replaces, how much is paid."""

from __future__ import annotations

from typing import Any

import pytest

from runs.acts.call import Call, terms_by_shape
from runs.acts.shape import Remark
from runs.mcp_client.server_config import CallTerms, ServerTool

PAYMENT = {"amount": 1200.5, "currency": "EUR", "to": "Bob", "iban": "DE02 1203 0000 0000 2020 51", "from": "DE1"}
EVENT = {"summary": "Review", "start": "2026-12-01", "end": "2026-12-02", "attendees": ["bob@example.com"]}
FILE = {"path": "/srv/a.txt", "content": "Hello"}


def remarks_on(tool: str, arguments: dict[str, Any], schema: dict[str, Any] | None = None) -> list[str]:
    """The remarks of the shape, as lines of a terminal."""
    lines = list(Call("office", tool, arguments, schema or {}).lines())
    end = next(at for at, line in enumerate(lines) if "undone" in line)
    return lines[:end]


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ({"purpose": "Rent"}, "Pays: 1,200.50 EUR"),
        ({"amount": 1200, "purpose": "Rent"}, "Pays: 1,200 EUR"),
        ({"amount": "1200.505"}, "Pays: 1,200.505 EUR"),
        ({"amount": {"value": "5.5", "currency": "USD"}, "currency": ""}, "Pays: 5.50 USD"),
        ({"currency": ""}, "! Pays: 1,200.50 (no currency given)"),
        ({"amount": "much"}, "! Amount: it cannot be read as a number: see below"),
        ({"amount": 1e300}, "! Amount: it cannot be read as a number: see below"),
        ({"schedule": "monthly"}, "! Pays: 1,200.50 EUR, monthly, without an end that the call names"),
        (
            {"schedule": {"every": "month", "limits": {"times": 12}}},
            "! Pays: 1,200.50 EUR, every month, 12 times, 14,406.00 EUR in total",
        ),
        ({"amount": "1.000"}, "! Pays: “1.000” is ambiguous: it can be read as 1 EUR or as 1,000 EUR"),
        ({"amount": "1,000"}, "! Pays: “1,000” is ambiguous: it can be read as 1 EUR or as 1,000 EUR"),
        ({"amount": "1.200,50"}, "Pays: 1,200.50 EUR"),
        ({"amount": 1.0}, "Pays: 1 EUR"),
        ({"amount": "5 EUR", "currency": ""}, "Pays: 5 EUR"),
        (
            {"amount": "5 USD"},
            "! Pays: not known in which currency: the amount is “5 USD”, the currency “EUR”",
        ),
        (
            {"times": "1.000"},
            "! Pays: 1,200.50 EUR, again and again, “1.000” is ambiguous: it can be read as 1 times or as 1,000 times",
        ),
        ({"times": 3}, "! Pays: 1,200.50 EUR, again and again, 3 times, 3,601.50 EUR in total"),
    ],
)
def test_a_payment_says_how_much_and_how_often(arguments: dict[str, Any], first: str) -> None:
    assert remarks_on("transfer", PAYMENT | arguments)[0] == first


def test_a_payment_says_what_it_does_not_know() -> None:
    assert remarks_on("transfer", {"amount": 5, "currency": "EUR", "iban": "DE03 1203 0000 0000 2020 51"})[1:] == [
        "! To whom: no name is given, only an account",
        "! Wrong account number: its check digits do not fit: it is mistyped or made up",
        "! From which account: unknown; the call does not say",
        "! Purpose: none is given",
    ]
    assert remarks_on("transfer", PAYMENT | {"purpose": "Rent"})[1:] == []


def test_an_amount_in_cents_is_called_that() -> None:
    schema = {"properties": {"amount": {"type": "integer", "description": "In the smallest currency unit."}}}
    (first, *_) = remarks_on("pay", PAYMENT | {"amount": 120050}, schema)
    assert first == "Pays: 120,050 EUR, in the smallest unit, such as cents"


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({}, ["! Invitations: may be sent by the server to everyone named below"]),
        ({"sendUpdates": "all"}, ["! Invitations: are sent to everyone named below"]),
        ({"send_invitations": False}, ["Invitations: none are sent, the call says"]),
        ({"attendees": []}, []),
    ],
)
def test_an_event_says_whether_people_are_invited(arguments: dict[str, Any], lines: list[str]) -> None:
    assert remarks_on("add_event", EVENT | arguments) == lines


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        ("write_file", {}, "! May replace a file of this name: the call does not say what happens if there is one"),
        ("write_file", {"overwrite": True}, "! Replaces: a file of this name, if there is one"),
        ("write_file", {"overwrite": False}, "New file: nothing is replaced, the call says"),
        ("write_file", {"mode": "create_new"}, "New file: nothing is replaced, the call says"),
        ("write_file", {"mode": "a"}, "! Changes a file: that is there already: the text is added to it"),
        ("append_file", {}, "! Changes a file: that is there already: the text is added to it"),
        ("update_file", {}, "! Replaces: the file of this name"),
    ],
)
def test_a_file_is_new_or_replaces_one(tool: str, arguments: dict[str, Any], line: str) -> None:
    assert remarks_on(tool, FILE | arguments) == [line]


def test_a_message_names_its_workspace() -> None:
    message = {"channel": "#general", "text": "Lunch?"}
    assert remarks_on("post", message) == ["Workspace: not named in the call"]
    assert remarks_on("post", message | {"team_id": "T1"}) == []


@pytest.mark.parametrize(
    ("url", "question", "first"),
    [
        (
            "https://crm.example.com/a",
            "Send data to crm.example.com?",
            "! Leaves for another company or person: everything below goes to crm.example.com",
        ),
        (
            "https://bank.example@evil.example/a",
            "Send data to evil.example?",
            "! Misleading address: “bank.example@” is a name and password, not where it goes",
        ),
        (
            f"https://bank.example.{'a' * 60}.evil.example/",
            f"Send data to …{'a' * 47}.evil.example?",
            f"! Leaves for another company or person: everything below goes to bank.example.{'a' * 60}.evil.example",
        ),
        ("https://10.0.0.1:8443/a", "Send data to 10.0.0.1?", "Goes to: 10.0.0.1, in your own network"),
        (
            "https://evil.example\\.internal/a",
            "Send data to evil.example\\.internal?",
            "! Misleading address: it can be read as the address of another host",
        ),
        (
            "https://169.254.169.254/a",
            "Send data to 169.254.169.254?",
            "! Leaves for another company or person: everything below goes to 169.254.169.254",
        ),
        ("nowhere", "Send this HTTP request?", "! Not known where it goes: the address has no host that can be read"),
        (
            "https://[half",
            "Send this HTTP request?",
            "! Not known where it goes: the address has no host that can be read",
        ),
    ],
)
def test_a_request_names_the_host_that_gets_it(url: str, question: str, first: str) -> None:
    arguments = {"url": url, "body": {"a": 1}}
    assert Call("web", "fetch", arguments).wording.question == question
    assert remarks_on("fetch", arguments)[0] == first


def test_a_request_without_encryption_says_so() -> None:
    lines = remarks_on("fetch", {"url": "http://a.example", "method": "GET"})
    assert lines[1:] == [
        "! Not encrypted: others on the way can read and change it (http instead of https)",
        "GET request: asks for a page; what the address contains is sent along",
    ]


def test_a_remark_has_one_colon() -> None:
    assert [Remark("", "a", "b").lead, Remark("", "a: b", "c").lead, Remark("", "a").lead] == ["a:", "a: b.", "a"]


MAIL = {"to": "bob@example.com", "subject": "Hello", "body": "Hello Bob"}


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"cc": "ann@example.com"}, []),
        (
            {"cc": ["ann@example.com", "Eve <eve@Evil.example>"]},
            ["! Copy to another domain: also goes to eve@Evil.example"],
        ),
        (
            {"bcc": ["ann@example.com"]},
            ["! Blind copy: also goes to ann@example.com, which the other recipients do not see"],
        ),
        (
            {"bcc": [f"a{number}@example.com" for number in range(5)]},
            [
                "! Blind copy: also goes to a0@example.com, a1@example.com, a2@example.com and 2 more, which the other "
                "recipients do not see"
            ],
        ),
        ({"reply_to": "bob@evil.example"}, ["! Replies to another domain: go to bob@evil.example"]),
    ],
)
def test_copies_that_are_easily_overlooked_are_marked(arguments: dict[str, Any], lines: list[str]) -> None:
    assert remarks_on("send", MAIL | arguments) == lines


REQUEST = {"url": "https://a.example", "method": "GET"}


@pytest.mark.parametrize(
    ("tool", "arguments", "contradiction"),
    [
        ("send", MAIL | {"recipient": "eve@x"}, "“To” … “bob@example.com” (to) and “eve@x” (recipient)"),
        ("pay", PAYMENT | {"total": 9000}, "“Amount” … “1200.5” (amount) and “9000” (total)"),
        ("post", {"channel": "#a", "text": "b", "content": "c"}, "“Text” … “b” (text) and “c” (content)"),
        ("add", EVENT | {"startTime": "2027"}, "“Begins” … “2026-12-01” (start) and “2027” (startTime)"),
        ("fetch", REQUEST | {"uri": "https://b"}, "“Address” … “https://a.example” (url) and “https://b” (uri)"),
        ("write", FILE | {"filename": "b"}, "“Path” … “/srv/a.txt” (path) and “b” (filename)"),
        (
            "create",
            {"title": "a", "summary": "b", "body": "c", "project": "d"},
            "“Title” … “a” (title) and “b” (summary)",
        ),
        # The one object holds the fields, and an argument next to it means one of them as well.
        ("send", {"mail": MAIL, "to": "eve@x"}, "“To” … “bob@example.com” (to) and “eve@x” (to)"),
    ],
)
def test_arguments_that_contradict_each_other_are_all_shown(
    tool: str, arguments: dict[str, Any], contradiction: str
) -> None:
    (first, *_) = remarks_on(tool, arguments)
    said = first.replace(" is given 2 times with different values:", " …").removesuffix(
        ". Which of them counts is not known."
    )
    assert said == f"! Contradiction: {contradiction}"


@pytest.mark.parametrize("recipient", ["bob@example.com", ["bob@example.com"], " Bob@example.com "])
def test_arguments_that_say_the_same_do_not_contradict(recipient: object) -> None:
    assert remarks_on("send", MAIL | {"recipient": recipient}) == []


def test_no_value_of_a_contradiction_is_described_as_the_one_that_counts() -> None:
    assert remarks_on("pay", PAYMENT | {"purpose": "Rent", "total": 5})[1:] == [
        "! Pays: not known how much: the call names several amounts"
    ]
    assert remarks_on("pay", PAYMENT | {"purpose": "Rent", "ccy": "USD"})[1:] == [
        "! Pays: not known in which currency: the call names several"
    ]
    assert remarks_on("fetch", REQUEST | {"uri": "https://b.example"})[1:] == [
        "! Not known where it goes: the call has several addresses"
    ]
    assert remarks_on("fetch", REQUEST | {"httpMethod": "DELETE"})[1:] == [
        "! Leaves for another company or person: everything below goes to a.example"
    ]
    assert Call("web", "fetch", REQUEST | {"httpMethod": "DELETE"}).wording.question == "Send this HTTP request?"
    assert remarks_on("add", EVENT | {"sendUpdates": "none", "notify": True})[1:] == [
        "! Invitations: may be sent by the server to everyone named below"
    ]


def test_hidden_values_are_counted() -> None:
    request = REQUEST | {"headers": {"Authorization": "Bearer 12345", "Cookie": "a=b; c=d", "Accept": "*/*"}}
    assert remarks_on("fetch", request)[-1] == (
        "! Sent but not shown: 2 values that look like keys or passwords: only their length and fingerprint are below"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "decisive"),
    [
        ("pay", PAYMENT, ["Amount", "Currency", "To", "To the account"]),
        ("send", MAIL | {"bcc": "eve@x"}, ["To", "Bcc"]),
        ("write_file", {"path": "notes/a.md", "content": "Words.", "mode": "x"}, ["Path"]),
        ("create_issue", {"title": "Roof", "body": "It leaks.", "labels": ["roof"]}, ["Title"]),
        ("calibrate", {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, ["A", "B", "C", "D"]),
    ],
)
def test_what_decides_is_said_again(tool: str, arguments: dict[str, Any], decisive: list[str]) -> None:
    assert [fact.label for fact in Call("office", tool, arguments).decisive] == decisive


@pytest.mark.parametrize(
    ("tool", "arguments", "can_be_undone", "is_final"),
    [
        ("send", MAIL, None, True),
        ("send", MAIL, True, False),
        ("create_draft", MAIL, None, False),
        ("create_draft", MAIL, False, True),
        ("calibrate", {"a": 1}, None, False),
    ],
)
def test_a_call_is_final_by_its_shape_or_by_the_administrator(
    tool: str, arguments: dict[str, Any], can_be_undone: bool | None, is_final: bool
) -> None:
    assert Call("office", tool, arguments, terms=CallTerms(can_be_undone=can_be_undone)).is_final == is_final


@pytest.mark.parametrize(
    ("name", "can_be_undone", "undo"),
    [
        ("send_mail", None, "Cannot be undone"),
        ("send_mail", True, "Can be undone"),
        ("create_draft", None, "Not known whether it can be undone"),
    ],
)
def test_what_is_known_of_a_tool_comes_from_its_schema(name: str, can_be_undone: bool | None, undo: str) -> None:
    schema = {"properties": {name: {"type": "string"} for name in MAIL}}
    assert terms_by_shape(ServerTool(name, "", schema), CallTerms(can_be_undone=can_be_undone)).undo == undo


def test_nothing_is_known_of_a_tool_without_a_shape() -> None:
    schema = {"properties": {"probe": {"type": "string"}}}
    assert terms_by_shape(ServerTool("calibrate", "", schema), CallTerms()) == CallTerms()
