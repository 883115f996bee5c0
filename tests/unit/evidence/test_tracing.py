"""Which figures of a deliverable come from somewhere."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.evidence.facts import FigurePlace, KnownFigures
from runs.evidence.tracing import missing_in, trace
from runs.text.dates import Day
from tests.hostile.bounds import within
from tests.work import growth

SOURCES = {
    "@tool-1": "Singapore has 5,450,000 people. https://www.singstat.example/population",
    "@tool-2": "Land area: 720.2 sq km, see https://data.example/area",
    "@tool-3": "5,450,000 / 720.2 = 7,567.34240489 (rounded)",
    "lease.txt": (
        "The monthly rent is CHF 2,400. The term ends on 31 December 2027. Notice is thirty days. The rate is 0.255. "
        "Loss: -€1.5m. Ref. 1.2.3"
    ),
}
TODAY = Day(2026, 11, 26)


def facts() -> KnownFigures:
    texts = [(FigurePlace(name, 0), text) for name, text in SOURCES.items()]
    return KnownFigures(texts, days=[TODAY], counts=[Decimal(3)])


def statuses(text: str, **options: bool) -> list[tuple[str, str]]:
    return [(figure.text, figure.why or figure.status) for figure in trace(text, facts(), **options)]


def missing(text: str, **options: bool) -> list[str]:
    return [figure.text for figure in trace(text, facts(), **options) if figure.status == "not traced"]


@pytest.mark.parametrize(
    "text",
    [
        "7,567 people per km²",
        "7567.3",
        "7.567,34 Personen",
        "about 7,600 people",
        "5.45 million people on 720 km²",
        "CHF 2'400 a month, 2400 francs",
        "until 31.12.2027, in December 2027, in 2027",
        "30 days' notice",
        "25.5 %, or 26 %",
        "a loss of 1.5 million euros",
        "[the statistics](https://www.singstat.example/population#table)",
        "version 1.2.3",
        "www.singstat.example/population",
        "CHF 200 a month (CHF 2,400 / 12 = CHF 200), so 200 francs in all",
        "two thousand four hundred francs",
        "thirty days, or dreißig Tage",
        "thirty (30) days",
        "one of the twelve months, half a year, a hundred reasons",
    ],
)
def test_every_notation_of_what_occurs_in_a_source_is_traced(text: str) -> None:
    assert missing(text) == []


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("8,437 people per km²", ["8,437"]),
        ("The rent is CHF 9,999.", ["CHF 9,999"]),
        ("The rent is EUR 2,400.", ["EUR 2,400"]),
        ("30 months' notice", ["30 months"]),
        ("until 1 January 2028", ["1 January 2028"]),
        ("27 %", ["27 %"]),
        ("about 8,600", ["8,600"]),
        ("[source](https://invented.example/x)", ["https://invented.example/x"]),
        ("4 files", ["4"]),
        ("version 1.2.4", ["1.2.4"]),
        ("see www.singstat-fake.example/pop", ["www.singstat-fake.example/pop"]),
        ("7 × 1,000 = 7,000, so 7,000 of them", ["7,000"]),
    ],
)
def test_what_occurs_nowhere_is_not_traced(text: str, figures: list[str]) -> None:
    assert missing(text) == figures


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The deposit is 3 × CHF 2,400 = CHF 7,200.", "3*2400"),
        ("A year: 12 x 2,400 = 28,800.", "12*2400"),
        ("7,567.3 = 5,450,000 / 720.2", "traced"),
        ("2,400 - 720.2 = 1,679.8", "2400-720.2"),
        ("28,800 = 12 * 2,400", "12*2400"),
        ("| Item | CHF |\n|---|---|\n| a | 2,400 |\n| b | 720.2 |\n| Total | 3,120.2 |", "the total of its column"),
    ],
)
def test_a_stated_calculation_is_recomputed(text: str, why: str) -> None:
    assert missing(text) == []
    assert why in [found for _, found in statuses(text)]


@pytest.mark.parametrize(
    "text",
    [
        "3 × CHF 2,400 = CHF 7,300",
        "5 × 9,999 = 49,995",
        "| Item | CHF |\n|---|---|\n| a | 2,400 |\n| b | 720.2 |\n| Total | 3,220.2 |",
    ],
)
def test_a_calculation_that_is_wrong_or_rests_on_nothing_proves_nothing(text: str) -> None:
    assert missing(text) != []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("1. First\n2) Second", "numbering"),
        ("## 3. Terms\n### 3.1 Rent", "numbering"),
        ("As step 4 says, see [1, 2].", "numbering"),
        ("| # | Idea |\n|---|---|\n| 1 | a |\n| 2 | b |", "numbering"),
        ("See line 17 and pages 4 to 6.", "a page or line"),
        ("flows/weekly.json:41: the node", "a page or line"),
        ("Score: 8/10", "a rating"),
        ("| Idea | Score |\n|---|---|\n| a | 7 |\n| b | 9 |", "a rating"),
        ("Dated 26 November 2026", "a day of the run"),
        ("3 files were read", "a count"),
        ("- a\n- b\n- c\n- d\n\nThese are 4.", "a count"),
        ("None, so 0 of 1; 100 % done", "none, one or all"),
    ],
)
def test_rules_exempt_what_says_nothing_of_the_world(text: str, rule: str) -> None:
    assert missing(text) == []
    assert rule in {found for _, found in statuses(text)}


def test_a_drawing_and_the_place_of_a_citation_state_nothing() -> None:
    assert statuses("```mermaid\ngraph LR\n  a1[900] --> b2[901]\n```\nSee [“x”](lease.txt#L41).") == []


def test_only_a_block_that_is_closed_is_a_drawing() -> None:
    text = "````\n```mermaid\n9,001\n```\n````\n```mermaid\n9,002\n```\n9,003\n```mermaid\n9,004"
    assert missing(text) == ["9,001", "9,003", "9,004"]


def test_cells_of_a_csv_file_are_numbers_of_their_own() -> None:
    text = 'item,amount\nrent,2400\narea,720.2\nother,"1,234.50"\nTotal,4354.7\n'
    assert missing(text, is_csv=True) == ["1,234.50"]


def test_a_figure_says_where_it_stands_and_where_it_comes_from() -> None:
    first, second = trace("Rent\n\nCHF 2,400 and\n8,437", facts())
    assert (first.line, first.place) == (3, FigurePlace("lease.txt", SOURCES["lease.txt"].index("CHF")))
    assert (second.line, second.start, second.place) == (4, 20, None)


def test_the_figures_of_a_statement_have_to_be_in_one_of_its_quotes() -> None:
    quotes = ["The rent is CHF 2,400.", "due on 1 May 2026"]
    assert missing_in(quotes, "CHF 2,400 is due on 1 May 2026, and CHF 7,200 before") == ["CHF 7,200"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        "Rent 12 of CHF {n},400.50 is due on 5 March 20{n}, in 3 x {n} = 36 days, see https://a.example/{n} (7).\n",
        "| {n} | 7{n} | 8 |\n",
        "1",
        "1.",
        "1 = ",
        "1 × 2 ",
        "- 1\n",
    ],
)
def test_work_grows_with_the_length_of_the_text(part: str) -> None:
    def traced(size: int) -> object:
        text = "".join(part.replace("{n}", str(number % 90 + 10)) for number in range(size))
        return trace(text, KnownFigures([(FigurePlace("a", 0), text)]))

    assert growth(traced, 60) < 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "7 " * 50_000,
        "https://a" + ")" * 1_000_000,
        "https://a" + ").),!" * 200_000,
        "".join("`" * length + "mermaid\n" for length in range(1_500, 3, -1)),
        "|a" * 20_000 + "\n" + "|-" * 20_000 + "\n" + "|1|2\n" * 20_000,
        "1" * 1_000_000,
        "1 111 " * 30_000,
        "".join(f"2 x {number} = {2 * number}; " for number in range(2_000)),
        "](" * 300_000,
    ],
    ids=["one line", "brackets", "punctuation", "fences", "table", "digits", "groups", "calculations", "links"],
)
def test_hostile_texts_are_traced_in_time(text: str) -> None:
    within(3, 600, f"{__name__}.traced_by_itself", text)


def traced_by_itself(text: str) -> int:
    return len(trace(text, KnownFigures([(FigurePlace("a", 0), text[: len(text) // 2])])))


@given(st.text(alphabet='0123456789.,|-=×/#[]()% \n"abc:htps/', max_size=120))
def test_figures_of_any_text_are_in_order_and_no_text_fails(text: str) -> None:
    for is_csv in (False, True):
        found = trace(text, facts(), is_csv=is_csv)
        assert [text[one.start : one.end] for one in found] == [one.text for one in found]
        assert [one.start for one in found] == sorted(one.start for one in found)
