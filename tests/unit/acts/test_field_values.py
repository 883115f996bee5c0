"""Moments, people, files and secrets in the fields of a call."""

from __future__ import annotations

import re
from typing import Any

import pytest

from runs.acts.call import Call
from runs.acts.facts import Fact
from runs.acts.field_values import MAX_SECRET, moment_in_words

EVENT = {"summary": "Review", "start": "2026-12-01T09:00:00+01:00", "end": "later"}


def field_of(tool: str, arguments: dict[str, Any], label: str) -> Fact:
    (found,) = [fact for fact in Call("office", tool, arguments).fields if fact.label == label]
    return found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2026-12-01", "Tuesday 1 December 2026"),
        ("2026-12-01T09:00:00", "Tuesday 1 December 2026, 09:00"),
        ("2026-12-01T09:00:07", "Tuesday 1 December 2026, 09:00:07"),
        ("2026-12-01T09:00:07.25Z", "Tuesday 1 December 2026, 09:00:07.25 UTC"),
        ("2026-12-01T09:00+05:30", "Tuesday 1 December 2026, 09:00 (UTC+05:30)"),
        ("tomorrow", ""),
    ],
)
def test_a_moment_in_words_leaves_nothing_out(text: str, words: str) -> None:
    assert moment_in_words(text) == words


@pytest.mark.parametrize(
    ("value", "words", "note"),
    [
        (EVENT["start"], "Tuesday 1 December 2026, 09:00 (UTC+01)", ""),
        ("later", "later", ""),
        (
            {"dateTime": "2026-12-01T09:00:00", "timeZone": "Europe/Berlin"},
            "Tuesday 1 December 2026, 09:00",
            "Europe/Berlin",
        ),
        ({"date": "2026-12-02"}, "Wednesday 2 December 2026", ""),
    ],
)
def test_a_moment_is_shown_once_and_in_words(value: object, words: str, note: str) -> None:
    begins = field_of("add", EVENT | {"start": value}, "Begins")
    assert (begins.words, begins.note, begins.parts) == (words, note, ())


def test_a_moment_with_more_in_it_shows_all_of_it() -> None:
    begins = field_of("add", EVENT | {"start": {"date": "2026-12-02", "fold": 1}}, "Begins")
    assert [(part.label, part.words) for part in begins.parts] == [("Date", "2026-12-02"), ("Fold", "1")]


@pytest.mark.parametrize(
    ("person", "words", "note"),
    [
        ("bob@example.com", "bob@example.com", ""),
        ({"email": "bob@example.com", "optional": False}, "bob@example.com", "required"),
        ({"email": "bob@example.com", "displayName": "Bob", "optional": True}, "Bob <bob@example.com>", "optional"),
        (
            {"emailAddress": {"address": "bob@example.com", "name": "Bob"}, "type": "required"},
            "Bob <bob@example.com>",
            "required",
        ),
    ],
)
def test_a_person_is_one_line(person: object, words: str, note: str) -> None:
    (shown,) = field_of("add", EVENT | {"attendees": [person]}, "Attendees").parts
    assert (shown.words, shown.note) == (words, note)


@pytest.mark.parametrize(
    "person",
    [
        {"email": "bob@example.com", "role": "chair"},
        {"email": "bob@example.com", "optional": "perhaps"},
        {"email": "bob@example.com", "optional": True, "required": True},
        {"email": "bob@example.com", "type": "resource"},
        {"email": 5},
        {"name": "Bob"},
    ],
)
def test_what_is_more_than_a_person_is_shown_member_by_member(person: dict[str, Any]) -> None:
    (shown,) = field_of("add", EVENT | {"attendees": [person]}, "Attendees").parts
    assert len(shown.parts) == len(person)


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        ({"Authorization": "Bearer 12345", "Accept": "*/*"}, {"Authorization": "Bearer 5 characters", "Accept": "*/*"}),
        ({"X-Api-Key": "x" * MAX_SECRET}, {"X api key": f"{MAX_SECRET} characters"}),
        ({"Cookie": "a=b; c=d"}, {"Cookie": "8 characters"}),
        # A text in words is no key.
        ({"X-Secret": "Send it to Eve"}, {"X secret": "Send it to Eve"}),
        # More keys than requests need may carry something else.
        (
            {"Authorization": "1", "Cookie": "2", "Token": "3", "Password": "4"},
            {"Authorization": "1 character", "Cookie": "1 character", "Token": "1 character", "Password": "4"},
        ),
        # Too long for a key: it may carry something else.
        ({"Cookie": "x" * (MAX_SECRET + 1)}, {"Cookie": "x" * (MAX_SECRET + 1)}),
    ],
)
def test_keys_in_headers_are_counted_and_not_shown(headers: dict[str, str], shown: dict[str, str]) -> None:
    arguments = {"url": "https://a.example", "method": "POST", "headers": headers}
    fields = [fact for fact in Call("web", "fetch", arguments).fields if fact.label.startswith("Headers")]
    parts = fields[0].parts or fields
    said = {part.label.removeprefix("Headers: ").capitalize(): _words_of(part) for part in parts}
    assert said == {label.capitalize(): words for label, words in shown.items()}


def _words_of(fact: Fact) -> str:
    if not fact.is_secret:
        return fact.excerpt.text if fact.excerpt else fact.words
    length, _, fingerprint = fact.note.removeprefix("a key or password of ").partition(" with the fingerprint ")
    assert re.fullmatch("[0-9a-f]{8}, which only the technical details show", fingerprint)
    return f"{fact.words} {length}".strip()


def test_a_key_in_a_list_of_headers_is_not_shown_either() -> None:
    headers = [{"name": "authorization", "value": "Bearer 12345"}, {"name": "accept", "value": "text/plain"}]
    request = {"url": "https://a.example", "method": "POST", "headers": headers}
    lines = "\n".join(Call("web", "fetch", request).lines())
    assert ("12345" in lines, "text/plain" in lines) == (False, True)


@pytest.mark.parametrize(
    ("named", "file", "is_no_file"),
    [
        ("out/a.pdf", "out/a.pdf", False),
        ("./out/a.pdf", "out/a.pdf", False),
        ("/tmp/a.pdf", "out/a.pdf", False),
        ({"filename": "a.pdf", "size": 5}, "out/a.pdf", False),
        # Two files have this name, none has the next one, and the last names none.
        ("b.pdf", "", True),
        ("c.pdf", "", True),
        ({"size": 5}, "", False),
    ],
)
def test_an_attachment_leads_to_the_file_of_the_run(named: object, file: str, is_no_file: bool) -> None:
    files = ("out/a.pdf", "out/b.pdf", "in/b.pdf")
    for attachments in (named, [named]):
        mail = {"to": "a@x", "subject": "s", "body": "t", "attachments": attachments}
        (shown,) = [fact for fact in Call("mail", "send", mail, files=files).fields if fact.label == "Attachments"]
        (shown,) = shown.parts if shown.is_list else (shown,)
        assert (shown.file, shown.is_no_file) == (file, is_no_file)
