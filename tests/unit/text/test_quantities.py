"""Cells that are numbers: their values, what belongs to them, and which can be calculated with together."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.text.quantities import Figures, QuantityKind, Unlike, quantity, stored_quantity


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("46", {".": "46", ",": "46"}),
        ("1,234", {".": "1234", ",": "1.234"}),
        ("1,234.5", {".": "1234.5"}),
        ("₹5,00,000", {".": "500000"}),
        ("1,23,45,678.90", {".": "12345678.9"}),
        ("5 TEUR", {".": "5", ",": "5"}),
        ("\u202d-5\u202c", {".": "-5", ",": "-5"}),
        ("\u200b5", {".": "5", ",": "5"}),
        ("Rs 500", {".": "500", ",": "500"}),
        ("1.234,5", {",": "1234.5"}),
        ("12.345.678", {",": "12345678"}),
        ("0,125", {",": "0.125"}),
        (".5", {".": "0.5"}),
        ("1 234 567", {".": "1234567", ",": "1234567"}),
        ("1\u2007234\u202f567", {".": "1234567", ",": "1234567"}),
        ("1'234.50 CHF", {".": "1234.5"}),
        ("007", {".": "7", ",": "7"}),
        ("1e6", {".": "1000000", ",": "1000000"}),
        ("1.5E+3", {".": "1500"}),
        ("5 × 10⁶", {".": "5000000", ",": "5000000"}),
        ("2½", {".": "2.5", ",": "2.5"}),
        ("5 1/2", {".": "5.5", ",": "5.5"}),
        ("5 1⁄2", {".": "5.5", ",": "5.5"}),
        ("⅕", {".": "0.2", ",": "0.2"}),
        ("二百四十", {".": "240", ",": "240"}),
        ("1億2000万", {".": "120000000", ",": "120000000"}),
        ("12万3,450円", {".": "123450", ",": "123450"}),
        ("1.8万亿元", {".": "1800000000000"}),
        ("１２３", {".": "123", ",": "123"}),
        ("٣٤", {".": "34", ",": "34"}),
    ],
)
def test_digits(text: str, values: dict[str, str]) -> None:
    found = quantity(text)
    assert found is not None
    assert found.values == {mark: Decimal(value) for mark, value in values.items()}


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        *((f"5{scale}", "KRW") for scale in ("만원", " 만원", "만 원", " 만 원")),
        ("50000日圆", "JPY"),
        ("50000圆", "CNY"),
    ],
)
def test_currencies_behind_scales(text: str, unit: str) -> None:
    found = quantity(text)
    assert found is not None
    assert (found.value("."), found.kind.unit) == (Decimal(50_000), unit)


@pytest.mark.parametrize(
    "text",
    [
        *("-5", "−5", "–5", "—5", "－5", "﹣5", "‐5", "‑5", "⁻5", "- 5", "5-", "5 −", "(5)", "（5）"),
        *(
            "-$5",
            "$-5",
            "$ -5",
            "- $5",
            "$5-",
            "($5)",
            "$(5)",
            "€ −5",
            "-5 €",
            "(5 EUR)",
            "(5) EUR",
            "EUR (5)",
            "-CHF 5",
        ),
        *("-5 kg", "5 kg-", "-5%", "(5 %)", "－￥5"),
    ],
)
def test_a_sign_counts_wherever_it_is(text: str) -> None:
    found = quantity(text)
    assert found is not None
    assert found.value(".") == Decimal(-5)


@pytest.mark.parametrize("text", ["5,-", "5.–", "5,—", "Fr. 5.—", "+5", "+ 5", "$5", "5 €"])
def test_no_cents_and_a_plus_are_no_minus(text: str) -> None:
    found = quantity(text)
    assert found is not None
    assert found.value(".") == Decimal(5)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("$5", QuantityKind(unit="USD")),
        ("5 US$", QuantityKind(unit="USD")),
        ("5 francs", QuantityKind(unit="CHF")),
        ("AED 5", QuantityKind(unit="AED")),
        ("5 AED", QuantityKind(unit="AED")),
        ("₴5", QuantityKind(unit="₴")),
        ("5 kg", QuantityKind(unit="kg")),
        ("5 kilograms", QuantityKind(unit="kg")),
        ("5 hp", QuantityKind(unit="hp")),
        ("5 EUR/m²", QuantityKind(unit="EUR/m²")),
        ("$5/kg", QuantityKind(unit="USD/kg")),
        ("5%", QuantityKind(unit="%")),
        ("%5", QuantityKind(unit="%")),
        ("5 ‰", QuantityKind(unit="‰")),
        ("5k", QuantityKind(scale=3)),
        ("5 thousand", QuantityKind(scale=3)),
        ("$5m", QuantityKind(scale=6, unit="USD")),
        ("$5 m", QuantityKind(scale=6, unit="USD")),
        ("€ 5 k", QuantityKind(scale=3, unit="EUR")),
        ("5 M €", QuantityKind(scale=6, unit="EUR")),
        ("5 T€", QuantityKind(scale=3, unit="EUR")),
        ("m€ 5", QuantityKind(scale=6, unit="EUR")),
        ("$5 MB", QuantityKind(unit="USD MB")),
        ("5 m2", QuantityKind(unit="m²")),
        ("5 km2", QuantityKind(unit="km²")),
        ("5m", QuantityKind(unit="m")),
        ("5 Mio. €", QuantityKind(scale=6, unit="EUR")),
        ("Rs. 5 crore", QuantityKind(scale=7, unit="INR")),
        ("<5", QuantityKind("<")),
        ("≥ 5", QuantityKind("≥")),
        (">= 5 kg", QuantityKind("≥", 0, "kg")),
        ("~5", QuantityKind("~")),
        ("ca. 5 EUR", QuantityKind("~", 0, "EUR")),
        ("约5元", QuantityKind("~", 0, "CNY")),
        ("人民币5元", QuantityKind(unit="CNY")),
        ("￥5元", QuantityKind(unit="CNY")),
        ("5日", QuantityKind(unit="day")),
        ("5个月", QuantityKind(unit="month")),
        ("5千克", QuantityKind(unit="kg")),
        ("5％", QuantityKind(unit="%")),
        ("5บาท", QuantityKind(unit="THB")),
    ],
)
def test_what_belongs_to_a_number_is_kept(text: str, kind: QuantityKind) -> None:
    found = quantity(text)
    assert found is not None
    assert (found.kind, found.values["."]) == (kind, Decimal(5))


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "n/a", "about", "Total: 5", "5 of 10", "5 days ago", "5 (3)", "5*", "5+", "±5", "10²", "10^6", "5¹"),
        *("10–20", "10-20", "5 to 6", "1/2", "51⁄2", "⅓", "5 1/3", "3万5", "1e999990", "9" * 31, "1.2.3", "12,34,56"),
        *("(-5)", "-(5)", "--5", "-5-", "+-5", "$5 AUD", "€5 USD", "0x1F", "2026-01-05", "01.06.2026", "10:30", "p23"),
        *("5 DR CR", "x" * 100, "5" + " " * 90 + "5", "5 t CO2"),
    ],
)
def test_what_is_not_understood_is_no_quantity(text: str) -> None:
    assert quantity(text) is None


def summed(*cells: str, of: str = "sum") -> str:
    figures = Figures()
    for cell in cells:
        found = quantity(cell)
        assert found is not None
        figures.add(found)
    return figures.figure(of, figures.one_mark)


@pytest.mark.parametrize(
    ("cells", "total"),
    [
        (("$500.00", "-$200.00"), "$300"),
        (("$500.00", "($700.00)"), "-$200"),
        (("500 DR", "200 CR"), "300 DR"),
        (("500 Cr.", "200 Dr."), "300 CR"),
        (("500 CR", "200 CR"), "700 CR"),
        (("5 kg", "-3 kilograms"), "2 kg"),
        (("10%", "5 %"), "15%"),
        (("<10", "<5"), "<15"),
        (("<10", "<-15"), "<-5"),
        (("ca. 5", "~6"), "~11"),
        (("2.5M", "1 million"), "3.5M (3,500,000)"),
        (("€2.5m", "-€1m"), "€1.5m (1,500,000)"),
        (("CHF 1'234.50", "CHF 0.50"), "CHF 1,235"),
        (("1,234.5", "1,000"), "2,234.5"),
        (("1.234,5", "1.000"), "2,234.5"),
        (("三万", "5億"), "500,030,000"),
        (("-123456789012345678901234567891", "-1"), "-123,456,789,012,345,678,901,234,567,892"),
        (("0.12345678901234567890123456789", "0"), "0.12345678901234567890123456789"),
    ],
)
def test_what_quantities_come_to(cells: tuple[str, ...], total: str) -> None:
    assert summed(*cells) == total


def test_the_least_the_greatest_and_the_average() -> None:
    assert [summed("-$800", "$5", of=of) for of in ("min", "max", "average")] == ["-$800", "$5", "-$397.5"]
    assert [summed("500 DR", "200 CR", "90 CR", of=of) for of in ("min", "max")] == ["200 CR", "500 DR"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5", "<10"),
        ("5", "10%"),
        ("5 kg", "300 g"),
        ("$5", "€5"),
        ("$5", "5"),
        ("$5", "A$5"),
        ("5k", "5000"),
        ("5k", "5M"),
        ("5 %", "5 ‰"),
        ("<5", "≤5"),
        ("<5", ">5"),
        ("~5", "5"),
        ("500 DR", "200"),
        ("5 hp", "5 kW"),
        ("5 EUR", "5 EUR/m²"),
    ],
)
def test_what_is_not_of_one_kind_is_refused_with_both(one: str, other: str) -> None:
    for cells in ((one, other), (other, one)):
        with pytest.raises(Unlike) as caught:
            summed(*cells)
        assert str(caught.value).startswith(f"“{cells[0]}” and “{cells[1]}” are not of one kind")


def test_different_decimal_marks_are_refused_and_unclear_ones_decide_nothing() -> None:
    with pytest.raises(Unlike, match=r"“1\.5” and “1,5” have different decimal marks"):
        summed("1.5", "1,234", "1,5")
    figures = Figures()
    for cell in ("1,234", "2,000"):
        found = quantity(cell)
        assert found is not None
        figures.add(found)
    assert (figures.marks, figures.one_mark) == ((".", ","), "")
    assert [figures.figure("sum", mark) for mark in figures.marks] == ["3,234", "3.234"]


@pytest.mark.parametrize(
    ("shown", "stored", "value", "kind", "total"),
    [
        ("-200", "-200", "-200", QuantityKind(), "-200"),
        ("2.5M", "2500000", "2500000", QuantityKind(), "2,500,000"),
        ("26%", "0.255", "25.5", QuantityKind(unit="%"), "25.5% (0.255)"),
        ("1,234.00 €", "1234", "1234", QuantityKind(unit="EUR"), "1,234 €"),
        ("(5)", "-5", "-5", QuantityKind(), "-5"),
        ("5t", "5000", "5000", QuantityKind(unit="t"), "5,000"),
        ("1,234", "1.234", "1.234", QuantityKind(), "1.234"),
        ("Sum 5", "5", "5", QuantityKind(unit="Sum"), "5"),
    ],
)
def test_a_workbook_holds_the_value_and_shows_the_unit(
    shown: str, stored: str, value: str, kind: QuantityKind, total: str
) -> None:
    found = stored_quantity(shown, stored)
    assert found is not None
    assert (found.value("."), found.kind) == (Decimal(value), kind)
    figures = Figures()
    figures.add(found)
    assert figures.figure("sum", figures.one_mark) == total


_SIGNS = st.sampled_from(["-{}", "−{}", "({})", "{}-", "- {}", "－{}"])
_UNITS = st.sampled_from(["{}", "${}", "{} €", "CHF {}", "{} kg", "{}%", "<{}", "{} hp"])


@given(
    st.lists(
        st.tuples(st.decimals(0, 10**9, places=2, allow_nan=False), st.booleans(), _SIGNS, _UNITS),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
def test_a_sum_is_that_of_the_values_or_is_refused(
    cells: list[tuple[Decimal, bool, str, str]], are_of_one_kind: bool
) -> None:
    figures = Figures()
    units = set()
    expected = Decimal(0)
    for number, is_negative, sign, unit in cells:
        shape = cells[0][3] if are_of_one_kind else unit
        units.add(shape)
        written = shape.format(f"{number:,.2f}")
        if is_negative:
            written = sign.format(written) if not shape.startswith("<") else f"<{sign.format(f'{number:,.2f}')}"
        expected += -number if is_negative else number
        found = quantity(written)
        assert found is not None, written
        try:
            figures.add(found)
        except Unlike:
            assert len(units) > 1
            return
    assert len(units) == 1
    assert figures.sum(".") == expected
