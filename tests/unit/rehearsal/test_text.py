"""Blocks, sentences with their lines, and verbatim quotes."""

import pytest

from runs.rehearsal.text import QUOTE_CHARS, Sentence, blocks, sentences, shortened, table

TEXT = """# Lease No. 5

1.1 The Tenant pays
the rent. It is due  monthly;
No. 5 too. The end.
- an item
| a | b |
| c | d |

Last
"""
LINES = dict(enumerate(TEXT.split("\n"), 1))


def test_lines_that_belong_together_are_a_block() -> None:
    assert [[number for number, _ in block] for block in blocks(LINES)] == [[1], [3, 4, 5], [6], [7], [8], [10]]


def test_sentences_know_the_lines_they_stand_in() -> None:
    block = list(blocks(LINES))[1]
    assert [(one.text, one.starts) for one in sentences(block)] == [
        ("1.1 The Tenant pays the rent.", ((0, 3), (20, 4))),
        ("It is due monthly;", ((0, 4),)),
        ("No. 5 too.", ((0, 5),)),
        ("The end.", ((0, 5),)),
    ]


@pytest.mark.parametrize("at", [0, 300, 1_200, 1_985])
def test_a_quote_is_verbatim_short_around_its_words_and_has_the_line_it_begins_in(at: int) -> None:
    words = [f"w{number:04d}" for number in range(1_000)]
    text = " ".join(words)
    sentence = Sentence(text, tuple((offset, 1 + offset // 500) for offset in range(0, len(text), 500)))
    start = 3 * at - 3 * at % 6
    quote, line = sentence.quote(start, start + 5)
    assert text[start : start + 5] in quote.split()
    assert set(quote.split()) <= set(words)
    assert len(quote) <= QUOTE_CHARS
    assert line == 1 + text.index(quote) // 500


def test_a_quote_of_one_long_word_is_cut_in_it() -> None:
    quote, line = Sentence("x" * 1_000, ((0, 7),)).quote(500, 510)
    assert (set(quote), line) == ({"x"}, 7)
    assert len(quote) <= QUOTE_CHARS


def test_a_line_is_shortened_with_an_ellipsis() -> None:
    assert (shortened("a\n b", 3), shortened("abcd", 3)) == ("a b", "ab…")


def test_a_bar_in_a_cell_is_escaped() -> None:
    assert table(("A",), [("a|b",)]) == ["| A |", "| --- |", "| a\\|b |"]
