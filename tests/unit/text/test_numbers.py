"""Numbers as people write them: value, unit, and what belongs to neither."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.text.numbers import number_at, numbers_in, spelled_numbers


@pytest.mark.parametrize(
    ("text", "values", "unit"),
    [
        ("1,234.50", ["1234.5"], ""),
        ("1.234,50 EUR", ["1234.5"], "EUR"),
        ("1 234 567,5", ["1234567.5"], ""),
        ("1'234.50", ["1234.5"], ""),
        ("1,234", ["1234", "1.234"], ""),
        ("₹12,34,567", ["1234567"], "INR"),
        ("5 тысяч", ["5000"], ""),
        ("2,5 млн", ["2500000"], ""),
        ("5 milyon", ["5000000"], ""),
        ("5 triệu", ["5000000"], ""),
        ("5 مليون", ["5000000"], ""),
        ("5 करोड़", ["50000000"], ""),
        ("5 ล้าน", ["5000000"], ""),
        ("500만", ["5000000"], ""),
        ("500만원", ["5000000"], ""),
        ("3조 원", ["3000000000000"], ""),
        ("2024 조사", ["2024"], ""),
        ("2024 bin ich", ["2024"], ""),
        ("5 TEUR", ["5000"], "EUR"),
        ("TEUR 5", ["5000"], "EUR"),
        ("5 k€", ["5000"], "EUR"),
        ("k€ 5", ["5000"], "EUR"),
        ("5 MUSD", ["5000000"], "USD"),
        ("-5", ["-5"], ""),
        ("−5 %", ["-5"], "%"),
        ("-$5.00", ["-5"], "USD"),
        ("$-5", ["-5"], "USD"),
        ("($5)", ["-5"], "USD"),
        ("(5)", ["5"], ""),
        ("10-20", ["10", "20"], ""),
        ("2.5 million", ["2500000"], ""),
        ("€2.5m", ["2500000"], "EUR"),
        ("2,5 Mio.", ["2500000"], ""),
        ("50k", ["50000"], ""),
        ("US$5 bn", ["5000000000"], "USD"),
        ("5 m", ["5"], "m"),
        ("5.2e6", ["5200000"], ""),
        ("5.2 × 10^6", ["5200000"], ""),
        ("5.2 × 10⁶", ["5200000"], ""),
        ("½", ["0.5"], ""),
        ("2½ days", ["2.5"], "day"),
        ("5⅖", ["5.4"], ""),
        ("5 1⁄2", ["5.5"], ""),
        ("5 1/2 percent", ["5.5"], "%"),
        ("51⁄2", [], ""),
        (".5 kg", ["0.5"], "kg"),
        ("⁻5", ["-5"], ""),
        ("1億2000万円", ["120000000"], "JPY"),
        ("3千5百万", ["35000000"], ""),
        ("5万", ["50000"], ""),
        ("3万5", [], ""),
        ("1e999990", [], ""),
        ("€5 m", ["5000000"], "EUR"),
        ("€ 2.5 m", ["2500000"], "EUR"),
        ("$5 k", ["5000"], "USD"),
        ("$5 B", ["5000000000"], "USD"),
        ("5 M €", ["5000000"], "EUR"),
        ("m€ 5", ["5000000"], "EUR"),
        ("€5 M&A", ["5"], "EUR"),
        ("€5 m²", ["5"], "EUR"),
        ("5 hundred", ["500"], ""),
        ("25.5 percent", ["25.5"], "%"),
        ("CHF9,999.00", ["9999"], "CHF"),
        ("720.2 square kilometres", ["720.2"], "km²"),
        ("thirty (30) days", ["30"], "day"),
        ("a 30-day notice", ["30"], "day"),
        ("the 3rd party", ["3"], ""),
        ("٣٤", ["34"], ""),
        ("p23, v2, COVID-19, 3D and 5G", [], ""),
        ("250hp, 100Mbit/s, 6pm", ["250", "100", "6"], ""),
        ("1.2.3", [], ""),
    ],
)
def test_values_and_units(text: str, values: list[str], unit: str) -> None:
    found = list(numbers_in(text))
    assert [f"{value.normalize():f}" for number in found for value in number.values] == values
    assert {number.unit for number in found} <= {unit}


def test_a_number_knows_its_place_and_what_its_last_digit_is_worth() -> None:
    text = "It costs about CHF 7,600.00, or -€2.5m."
    rent, loss = numbers_in(text)
    assert [text[one.start : one.end] for one in (rent, loss)] == ["CHF 7,600.00", "-€2.5m"]
    assert (rent.is_about, rent.steps) == (True, (Decimal("0.01"),))
    assert (loss.is_about, loss.steps) == (False, (Decimal(100_000),))


@pytest.mark.parametrize(
    ("text", "comparison"),
    [
        ("<10", "<"),
        ("fewer (≤ 10)", "≤"),
        ("it is >= 10", "≥"),
        ("about 10", "~"),
        ("> 10 items are quoted", ""),
        ("<td>10</td>", ""),
        ("x=>10", ""),
        ("10", ""),
    ],
)
def test_comparisons_are_kept(text: str, comparison: str) -> None:
    (number,) = numbers_in(text)
    assert number.comparison == comparison


@pytest.mark.parametrize(
    ("text", "caught", "whole"),
    [
        ("It has 1,046 rows", "046", "1,046"),
        ("a loss of -$300 in all", "300", "-$300"),
        ("some $2.5 million", "2.5", "$2.5 million"),
        ("it is −5", "5", "−5"),
        ("some text", "text", None),
    ],
)
def test_the_whole_number_around_a_part(text: str, caught: str, whole: str | None) -> None:
    start = text.index(caught)
    found = number_at(text, start, start + len(caught))
    assert (text[found.start : found.end] if found else None) == whole


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("二百四十円を", [(0, 240, "JPY")]),
        ("thirty days", [(0, 30, "day")]),
        ("Twenty-five percent", [(0, 25, "%")]),
        ("fünfundzwanzig Monate", [(0, 25, "month")]),
        ("einundzwanzig", [(0, 21, "")]),
        ("twelve (12) months", [(0, 12, "month")]),
        ("someone often", []),
        ("a thirty-day notice", [(2, 30, "")]),
        ("dreißig Tage, dreissig", [(0, 30, "day"), (14, 30, "")]),
        ("fünfunddreißig", [(0, 35, "")]),
        ("one hundred and twenty days", [(0, 120, "day")]),
        ("Two thousand five hundred euros", [(0, 2_500, "EUR")]),
        ("three hundred forty-six million", [(0, 346_000_000, "")]),
        ("two million one hundred thousand and five", [(0, 2_100_005, "")]),
        ("between twenty and thirty days", [(8, 20, ""), (19, 30, "day")]),
        ("one hundred and two hundred", [(0, 100, ""), (16, 200, "")]),
        ("five twenty", [(0, 5, ""), (5, 20, "")]),
        ("one, two", [(0, 1, ""), (5, 2, "")]),
        ("eine Million; 5 million", [(5, 1_000_000, "")]),
        ("two half days", []),
        ("two and a half million", [(0, 2, "")]),
        ("5 hundred thousand; 3 million two", []),
        ("twenty trillion", [(0, 20 * 10**12, "")]),
        ("twenty and more", [(0, 20, "")]),
    ],
)
def test_numbers_in_words(text: str, found: list[tuple[int, int, str]]) -> None:
    assert [(one.start, int(one.value), one.unit) for one in spelled_numbers(text)] == found


@given(
    st.decimals(min_value=0, max_value=10**9, places=2),
    st.sampled_from([(",", "."), (".", ","), ("'", "."), (" ", ",")]),
)
def test_what_is_written_with_separators_is_read_back(value: Decimal, marks: tuple[str, str]) -> None:
    thousands, point = marks
    written = f"{value:,.2f}".replace(",", "T").replace(".", point).replace("T", thousands)
    (number,) = numbers_in(f"It is {written} in all")
    assert value in number.values


@given(st.text(alphabet="0123456789.,-+$€%() \nkMe½×^abc", max_size=60))
def test_places_are_in_order_and_inside_the_text(text: str) -> None:
    found = list(numbers_in(text))
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= after.start for one, after in pairwise(found))
