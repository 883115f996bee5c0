"""Blocks, sentences with their lines, and verbatim quotes."""

import pytest

from runs.rehearsal.text import QUOTE_CHARS, Quote, Sentence, blocks, cited, sentences, table

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
    quote = sentence.quote(start, start + 5)
    assert text[start : start + 5] in quote.text.split()
    assert set(quote.text.split()) <= set(words)
    assert len(quote.text) <= QUOTE_CHARS
    first = text.index(quote.text)
    assert (quote.first, quote.last) == (1 + first // 500, 1 + (first + len(quote.text) - 1) // 500)
    assert (quote.before, quote.after) == (not text.startswith(quote.text), not text.endswith(quote.text))


def test_a_quote_of_one_long_word_is_cut_in_it() -> None:
    quote = Sentence("x" * 1_000, ((0, 7),)).quote(500, 510)
    assert (set(quote.text), quote.first, quote.last) == ({"x"}, 7, 7)
    assert len(quote.text) <= QUOTE_CHARS


def test_a_citation_is_of_the_whole_clause_over_all_of_its_lines() -> None:
    clause = "1.3 The Tenant may use parking spaces TBD in the courtyard at no extra charge."
    sentence = Sentence(clause, ((0, 23), (62, 24)))
    assert cited("a b.md", sentence.quote(38, 41), "L23-L24") == f"[“{clause}”](a%20b.md#L23-L24)"


def test_an_ellipsis_stands_beside_what_is_quoted_of_a_longer_sentence() -> None:
    assert (
        cited("a.md", Quote("the rent is due", 2, 2, before=True, after=True), "L2")
        == "… [“the rent is due”](a.md#L2) …"
    )


@pytest.mark.parametrize(
    ("row", "link"),
    [
        ("| **Commencement date** | |", "[“**Commencement date**”](a.md#L8)"),
        ("| **Deposit** | CHF ________ |", rf"[“**Deposit** \| CHF {r'\_' * 8}”](a.md#L8)"),
        ("| *Fee* per [date] | **x |", r"[“\*Fee\* per \[date\] \| \*\*x”](a.md#L8)"),
    ],
)
def test_a_row_is_quoted_without_what_begins_and_ends_it(row: str, link: str) -> None:
    assert cited("a.md", Sentence(row, ((0, 8),)).quote(2, 10), "L8") == link


def test_a_bar_in_a_cell_is_escaped() -> None:
    assert table(("A",), [("a|b",)]) == ["| A |", "| --- |", "| a\\|b |"]


def test_a_sentence_ends_behind_a_definition_in_brackets() -> None:
    (paragraph,) = blocks({1: 'A Ltd (the "Buyer"). It', 2: "pays by 3 May."})
    assert [one.text for one in sentences(paragraph)] == ['A Ltd (the "Buyer").', "It pays by 3 May."]
