"""The statements that citations support, their figures, and paragraphs that cite nothing."""

import pytest

from runs.evidence.citations.links import links_in
from runs.evidence.citations.statements import Statements, Uncited, figures_in, figures_said, lacking, uncited


def around(text: str) -> list[str]:
    blocks, links = links_in(text)
    statements = Statements(text, blocks, links)
    return [statements.around(link).words for link in links]


def test_a_statement_is_the_sentence_around_the_link() -> None:
    text = "It rains. The period is thirty days [“30 days”](a.md#L1). It ends."

    assert around(text) == ["The period is thirty days “30 days”."]


def test_a_link_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    assert around("It rains. The sun shines. [“sun”](a.md#L1)") == ["The sun shines. “sun”"]


def test_a_statement_is_a_whole_table_row() -> None:
    assert around("| a | b |\n|---|---|\n| 1. No. Two | [“x”](a.md#L1) |") == ["| 1. No. Two | “x” |"]


def test_points_inside_a_link_end_no_sentence() -> None:
    assert around("He said [“Stop. Now. Go”](a.md#L1) again.") == ["He said “Stop. Now. Go” again."]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("EUR 1,200.50 and 41 %", {"EUR 1,200.50": {"1,200.5"}, "41 %": {"41"}}),
        ("1 200 000", {"1 200 000": {"1,200,000"}}),
        ("some 1.200", {"1.200": {"1,200", "1.2"}}),
        ("€2.5 million or 50k", {"€2.5 million": {"2,500,000"}, "50k": {"50,000"}}),
        ("a loss of -5", {"-5": {"5"}}),
        ("F3 and A4x, 5th", {}),
        ("on 2026-03-01.", {"2026": {"2,026"}, "03": {"3"}, "01": {"1"}}),
        ("version 1.2.3", {"1.2.3": {"1.2.3"}}),
        ("索赔2777元，共3千5百万元", {"2777元": {"2,777"}, "3千5百万元": {"35,000,000"}}),
        ("매출은5만원", {"5만원": {"50,000"}}),
        ("어제 500명이 숨졌다", {"500": {"500"}}),
        ("실제 1,200명이 참여했다", {"1,200": {"1,200", "1.2"}}),
        ("第3季度，제3차", {}),
    ],
)
def test_figures_are_known_by_their_values(text: str, figures: dict[str, set[str]]) -> None:
    assert figures_in(text) == figures


def test_figures_may_stand_in_the_source_in_words_or_with_other_marks() -> None:
    assert lacking("1. In 30 days 41 % of 1.200", map(figures_said, ["within thirty days", "EUR 1,200"])) == ["41 %"]
    assert lacking("通知期为30日，共35份", map(figures_said, ["应提前三十日书面通知"])) == ["35"]
    assert lacking("It is 5 million, or 5", map(figures_said, ["It is 5,000,000"])) == ["5"]


def test_numerals_in_words_are_no_figures() -> None:
    assert figures_said("双方统一意见，十分重要") == frozenset()
    assert lacking("共1份，10分", [figures_said("双方统一意见，十分重要")]) == ["1", "10"]


def test_a_statement_between_many_links_has_the_text_between_them() -> None:
    assert around("A [a](x.md). " + "It rains [b](x.md) and [c](x.md) here. " * 2 + "D.") == [
        "A a.",
        *["It rains b and c here."] * 4,
    ]


def test_paragraphs_that_state_facts_without_a_citation_are_listed() -> None:
    text = (
        "# Report of 2026\n\nNothing much.\n\nThe rent is 1,200 a month,\nas agreed.\n\n- “A quotation” here\n"
        "- The rent [“1,200”](a.md#L1)\n- it was signed by Anna Muster in May\n"
    )

    assert uncited(text) == [
        Uncited(5, 6, "The rent is 1,200 a month, as agreed."),
        Uncited(8, 8, "- “A quotation” here"),
        Uncited(10, 10, "- it was signed by Anna Muster in May"),
    ]


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("F1 (lease.md, line 8): the rent is 4,000.", []),
        ("Clause 4.2 and pages 7 to 9 speak of a rent of 4,000.", []),
        ("§ 12 Abs. 3: the rent is 4,000, Zeilen 7, 8 und 9.", []),
        ("Line 8: the rent is 5,000.", ["5,000"]),
        ("Online 8 people pay.", ["8"]),
        ("1、第12条和第8页规定租金为4000元。", []),
        ("（2）附件7、表8和图9：租金为4000元。", []),
        ("제12조, 표 8: 임대료는4000원입니다.", []),
        ("第12条规定租金为5000元。", ["5000元"]),
        ("代表8人支付，共12页。", ["8", "12"]),
        ("과제 30장, 과제 25쪽", ["30", "25"]),
    ],
)
def test_where_something_is_said_to_be_is_no_figure_of_the_statement(statement: str, missing: list[str]) -> None:
    assert lacking(statement, [figures_said("The rent is 4,000 dollars.")]) == missing


CITE = "[“The rent is 4,000 dollars and due”](a.md#L8)"


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        # an entry: heading, passage, citation and what is said of it
        (f"### F1\n\n> The rent is 4,000 dollars and due in May.\n\n- Line: 8\n- Source: {CITE}\n", []),
        (f"### F1\n\n- Source: {CITE}\n- Why: “due” leaves open when.\n- Do: replace “due” by a day.\n", []),
        (f"### F1\n\n“The rent is 4,000 dollars and due in May.”\n\n- Source: {CITE}\n", []),
        (f"### F1\n\n- Source: {CITE}\n- Why: “payable” leaves open when.\n", ["- Why: “payable” leaves open when."]),
        (f"### F1\n\n- Source: {CITE}\n- Deposit: 4,000\n", ["- Deposit: 4,000"]),
        (f"### F1\n\n- Source: {CITE}\n\n> The deposit is 900.\n", ["> The deposit is 900."]),
        # the citation of another entry is none
        (f"### F1\n\n- Source: {CITE}\n\n### F2\n\n- Why: “due” leaves open.\n", ["- Why: “due” leaves open."]),
        # each sentence of a paragraph that cites is looked at by the citation itself
        (f"The term is 3 years. {CITE}\n\nThe term is 3 years.\n", ["The term is 3 years."]),
        # tables: the first row, rows that cite, rows that do not
        (f"| Lease | 2025 |\n|---|---|\n| rent | {CITE} |\n| deposit | 900 |\n", ["| deposit | 900 |"]),
        ("Lease | 2025\n---|---\nrent | 900\n", ["rent | 900"]),
        ("> | Lease | 2025 |\n> |---|---|\n> | rent | TBD |\n", []),
        # where something is, and what a place says
        ("- Line: 8\n- Also: lines 9 and 12\n", []),
        ("Clause 2.3 leaves the date open.\n", ["Clause 2.3 leaves the date open."]),
        # what introduces a list, and how much there was
        (f"In May 2025 two things were agreed:\n\n- {CITE}\n", []),
        ("In May 2025 two things were agreed:\n\n- a rent\n", ["In May 2025 two things were agreed:"]),
        ("23 points need attention in 3 documents.\n\nPoints in all: 23\n\n285 lines, 2,081 words\n", []),
        ("9 points need attention in 3 documents: 4 vague terms, 3 placeholders, 2 missing dates.\n", []),
        ("The rent for 3 documents is 23.\n", ["The rent for 3 documents is 23."]),
        ("23 pointsmen work here.\n", ["23 pointsmen work here."]),
    ],
)
def test_a_statement_is_counted_where_nothing_beside_it_says_where_it_stands(text: str, counted: list[str]) -> None:
    assert [one.text for one in uncited(text)] == counted


def test_a_short_citation_carries_no_other_words() -> None:
    text = "### F1\n\n- Source: [“a”](a.md#L8)\n\n> A deposit of 900.\n"

    assert [one.text for one in uncited(text)] == ["> A deposit of 900."]
