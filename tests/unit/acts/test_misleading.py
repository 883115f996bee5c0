"""What is hidden in a field or looks like something else, in sentences that name the field."""

from __future__ import annotations

import pytest

from runs.acts.misleading import mixed_scripts, warnings


@pytest.mark.parametrize(
    ("value", "sentences"),
    [
        ("Invoice 50", []),
        ("می\u200cخواهم \U0001f469\u200d\U0001f4bb", []),
        ("שלום", []),
        (
            "Invoice \u202e05",
            [
                "“Subject” hides a character that turns the order of letters round. It is sent as “Invoice 05”, and "
                "readers may see “Invoice 50”."
            ],
        ),
        ("a\u202eb\u202c", ["“Subject” hides 2 characters that turn the order of letters round."]),
        ("a\u200bb\u200bc", ["“Subject” contains 2 characters that cannot be seen; the marks below say where."]),
        (
            ["bob@ex\u0430mple.com", "bob@ex\u0430mple.com"],
            ["“Subject”: “ex\u0430mple” has Latin and Cyrillic letters in one word, and imitates “example”."],
        ),
        ("שלום@example.com", ["“Subject” has an address of Hebrew and Latin letters: “שלום@example.com”."]),
        ("שלום and example.com", []),
        (
            "bob@xn--exmple-4nf.com",
            ["“Subject”: “xn--exmple-4nf” is an encoded form; a reader may see “ex\u0430mple”."],
        ),
    ],
)
def test_each_trick_is_said_in_words(value: object, sentences: list[str]) -> None:
    assert list(warnings("Subject", value)) == sentences


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("bob@example.com", ""),
        ("שלום@דוגמה", ""),
        ("שלום@example.com", "Hebrew and Latin"),
        ("https://пример.example/a", "Latin and Cyrillic"),
    ],
)
def test_scripts_of_an_address(text: str, scripts: str) -> None:
    assert mixed_scripts(text) == scripts
