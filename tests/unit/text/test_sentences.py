"""Where sentences end."""

import pytest

from runs.text.sentences import sentence_around, sentences_in


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
