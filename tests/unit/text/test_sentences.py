"""Where sentences end."""

from itertools import pairwise

import pytest

from runs.text.sentences import first_sentence, part_ends, parts_in, sentence_around, sentences_in


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? “Four.” Five…", ["One.", "Two!", "Three?", "“Four.”", "Five…"]),
        ("It is due by 12. März. Art. 5 and No. 7 apply.", ["It is due by 12. März.", "Art. 5 and No. 7 apply."]),
        ("Dr. Weber of Weber Ltd. Zürich signs. Yes.", ["Dr. Weber of Weber Ltd. Zürich signs.", "Yes."]),
        ("It goes on,\ne.g. here, in the\nnext line. End", ["It goes on,\ne.g. here, in the\nnext line.", "End"]),
        ("甲は払う。乙は払わない。", ["甲は払う。", "乙は払わない。"]),
        ("Title\n\nText\n- one\n- two\n1. three", ["Title", "Text", "- one", "- two", "1. three"]),
        ("# Title of Dr. Weber\nText. More", ["# Title of Dr. Weber", "Text.", "More"]),
        ("> It goes\n> on. So", ["> It goes\n> on.", "So"]),
        ("1,234.50 is due. Then", ["1,234.50 is due.", "Then"]),
        ("", []),
    ],
)
def test_sentences_end_where_readers_think(text: str, sentences: list[str]) -> None:
    assert list(sentences_in(text)) == sentences


def test_the_sentence_around_a_place() -> None:
    text = "One is here.  Two is there. Three."
    at = text.index("is there")
    assert text[slice(*sentence_around(text, at, at + 2))] == "Two is there."
    assert text[slice(*sentence_around(text, at - 8, at + 2))] == "One is here.  Two is there."


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("(a) the rent; (b) the fee. No. 5 applies", ["(a) the rent; ", "(b) the fee. ", "No. 5 applies"]),
        ("the rent; the fee", ["the rent; the fee"]),
        ("The “Lease”; The Rent.", ["The “Lease”; ", "The Rent."]),
        ("甲は払う。乙は払わない。", ["甲は払う。", "乙は払わない。"]),
    ],
)
def test_parts_of_sentences_end_at_semicolons(text: str, parts: list[str]) -> None:
    ends = [0, *part_ends(text), len(text)]
    assert [text[start:end] for start, end in pairwise(ends) if start < end] == parts


def test_parts_may_begin_with_a_small_letter() -> None:
    text = "name the fee. the rent;  it is due! 甲は払う。乙"
    assert list(parts_in(text)) == ["name the fee.", "the rent;", "it is due!", "甲は払う。", "乙"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (" Review Art. 5 of the lease. Then stop.", "Review Art. 5 of the lease."),
        ("Do this: read all. Then stop.", "Do this:"),
        ("Title\nMore of it. And more.", "Title"),
        ("See https://example.org/a now", "See https://example.org/a now"),
        ("Write to Dr. Weber\n\nToday.", "Write to Dr. Weber"),
        ("契約書を確認する。次に", "契約書を確認する。"),
        ("", ""),
    ],
)
def test_the_first_sentence_is_a_title(text: str, first: str) -> None:
    assert first_sentence(text) == first
