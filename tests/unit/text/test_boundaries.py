"""Words that are found are whole: no number and no word is cut where a quote begins or ends."""

import pytest

from runs.text.boundaries import is_whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("on 15 days notice", "5 days"),
        ("capped at EUR 500,000 per year", "EUR 500"),
        ("of EUR 500.000 per year", "000 per year"),
        ("Interest is −5 % a year", "5 %"),
        ("at -5 degrees", "5 degrees"),
        ("within <5 days", "5 days"),
        ("EUR 1 000 is due", "EUR 1"),
        ("EUR 1 000 is due", "000 is due"),
        ("EUR 1\u202f000 is due", "EUR 1"),
        ("clause 5.2 says", "clause 5"),
        ("at 10:30 sharp", "at 10"),
        ("on 3/4/2026", "4/2026"),
        ("EUR 5m are due", "EUR 5"),
        ("on the 1st day", "the 1"),
        ("not liable for", "able for"),
        ("is in\u00advalid", "valid"),
        ("it terminates now", "it terminate"),
        ("ΑΝΤΙΘΕΤΟ ΜΕΡΟΣ", "ΘΕΤΟ ΜΕΡΟΣ"),
    ],
)
def test_a_part_of_a_number_or_a_word_is_not_whole(text: str, words: str) -> None:
    at = text.index(words)
    assert not is_whole(text, at, at + len(words))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("in 10-20 days", "20 days"),
        ("EUR 500¹ per claim", "EUR 500"),
        ("EUR500 is due", "500 is due"),
        ("theTenant shall pay", "Tenant shall"),
        ("See 5. Then", "See 5"),
        ("See 5, 10 then", "See 5"),
        ("in 2024 500 people", "in 2024"),
        ("5 (b)(i) applies", "(b)"),
        ("db_password", "password"),
        ("日本語です", "本語"),
        ("ผู้เช่าต้องชำระค่าเช่า", "ต้องชำระ"),
        ("(valid)", "valid"),
        ("whole", "whole"),
        ("5 days", "5 days"),
    ],
)
def test_what_stands_by_itself_is_whole(text: str, words: str) -> None:
    at = text.index(words)
    assert is_whole(text, at, at + len(words))
