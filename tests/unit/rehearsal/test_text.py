"""Blocks with their lines, verbatim quotes, and Markdown."""

import pytest

from runs.rehearsal.documents import lines_in
from runs.rehearsal.text import QUOTE_CHARS, TextBlock, blocks, cited, cut_at_line, table

TEXT = """# Lease No. 5

1.1 The Tenant pays
the rent. It is due  monthly;
No. 5 too. The end.
- an item
| a | b |
| c | d |

Last
"""
LINES = lines_in("lease.md", TEXT)


def block_of(text: str) -> TextBlock:
    (block,) = blocks(lines_in("a.md", text))
    return block


def test_lines_that_belong_together_are_a_block() -> None:
    found = [[line.number for line in block.lines] for block in blocks(LINES)]
    assert found == [[1], [3, 4, 5], [6], [7], [8], [10]]


@pytest.mark.parametrize(
    ("words", "quote"),
    [
        ("Tenant", ("1.1 The Tenant pays the rent.", 3, 4)),
        ("monthly", ("It is due monthly; No. 5 too.", 4, 5)),
        ("end", ("The end.", 5, 5)),
    ],
)
def test_a_sentence_is_quoted_with_the_lines_that_it_is_in(words: str, quote: tuple[str, int, int]) -> None:
    block = list(blocks(LINES))[1]
    start = block.text.index(words)
    assert block.quote(start, start + len(words)) == quote


@pytest.mark.parametrize("at", [0, 300, 1_200, 1_985])
def test_a_quote_of_a_long_sentence_is_verbatim_and_consists_of_the_words_around(at: int) -> None:
    words = [f"w{number:04d}" for number in range(1_000)]
    block = block_of("\n".join(" ".join(words[start : start + 80]) for start in range(0, 1_000, 80)))
    start = 3 * at - 3 * at % 6
    quote = block.quote(start, start + 5)
    assert block.text[start : start + 5] in quote.text.split()
    assert set(quote.text.split()) <= set(words)
    assert 100 < len(quote.text) <= QUOTE_CHARS
    first = block.text.index(quote.text)
    assert (quote.first, quote.last) == (1 + first // 480, 1 + (first + len(quote.text) - 1) // 480)


def test_a_quote_of_one_long_word_is_the_word_or_a_part_of_it() -> None:
    quote = block_of("x" * 1_000).quote(500, 510)
    assert (set(quote.text), quote.first, quote.last) == ({"x"}, 1, 1)
    assert len(quote.text) <= QUOTE_CHARS


def test_a_citation_is_a_link_from_the_words_to_their_place() -> None:
    clause = "1.3 The Tenant may use parking spaces TBD."
    assert cited("a b.md", clause, "L23-L24") == f"[“{clause}”](a%20b.md#L23-L24)"


@pytest.mark.parametrize(
    ("row", "link"),
    [
        ("| **Commencement date** | |", "[“**Commencement date**”](a.md#L8)"),
        ("| **Deposit** | CHF ________ |", rf"[“**Deposit** \| CHF {r'\_' * 8}”](a.md#L8)"),
        ("| *Fee* per [date] | **x |", r"[“\*Fee\* per \[date\] \| \*\*x”](a.md#L8)"),
    ],
)
def test_a_row_is_quoted_without_what_begins_and_ends_it(row: str, link: str) -> None:
    assert cited("a.md", block_of(row).quote(2, 10).text, "L8") == link


def test_a_bar_in_a_cell_is_escaped() -> None:
    assert table(("A",), [("a|b",)]) == ["| A |", "| --- |", "| a\\|b |"]


def test_a_sentence_ends_behind_a_definition_in_brackets() -> None:
    block = block_of('A Ltd (the "Buyer"). It\npays by 3 May.')
    assert [block.quote(start, start + 1).text for start in (0, 22)] == ['A Ltd (the "Buyer").', "It pays by 3 May."]


def test_a_long_text_is_cut_at_a_line_and_says_where_the_rest_is() -> None:
    assert cut_at_line("a line\nanother\nthird", 17) == "a line\nanother\n- … (cut; the rest is in the file)"
    assert cut_at_line("a line", 6) == "a line"
