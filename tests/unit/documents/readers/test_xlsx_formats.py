"""Numbers of cells as they are shown, and as they are where the format says more than we know."""

import pytest

from runs.documents.readers.xlsx.formats import BUILT_IN, Format, plain, shown_by


@pytest.mark.parametrize(
    ("code", "raw", "shown"),
    [
        ("General", "1200", "1200"),
        ("General", "0.1", "0.1"),
        ("General", "0.30000000000000004", "0.3"),
        ("General", "1.2300000000000001E-2", "0.0123"),
        ("General", "1.5E+18", "1500000000000000000"),
        ("General", "-7", "-7"),
        ("0", "0.5", "1"),
        ("0.00", "1.005", "1.01"),
        ("0.00", "1.0049999999999999", "1.01"),
        ("0.00", "-0.001", "0.00"),
        ("#,##0", "1234567", "1,234,567"),
        ("#,##0.00", "-1234.5", "-1,234.50"),
        ("#,##0;(#,##0)", "-1234", "(1,234)"),
        ("#,##0;[Red]-#,##0", "-1234", "-1,234"),
        ("0.00;[Red]0.00", "-404", "-404.00"),
        ("#,##0;[Red]#,##0", "-200", "-200"),
        ("#,##0;[Red]#,##0", "200", "200"),
        ("#,##0;[Red]#,##0;0", "-1234", "-1,234"),
        ("[$€-407]#,##0.00;[Red][$€-407]#,##0.00", "-5", "-€5.00"),
        ("$#,##0;[Blue]$#,##0", "-5", "-$5"),
        ("0%;[Red]0%", "-0.25", "-25%"),
        ('0" DR";0" CR"', "-200", "-200 CR"),
        ('"Profit "0;"Loss "0', "-5", "-Loss 5"),
        ('"Profit "0;"Profit-Loss "0', "-5", "-Profit-Loss 5"),
        ('"net "0;"net "-0', "-5", "net -5"),
        ("0;(0)", "-5", "(5)"),
        ('0;"−"0', "-5", "−5"),
        ("0;0-", "-5", "5-"),
        ("0.0;[Red]0.0", "-0.04", "0.0"),
        ('_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-', "1234.5", "1,234.50 €"),
        ('#,##0.00\\ "€"', "1234.5", "1,234.50 €"),
        ("[$£-809]#,##0.00", "1234.5", "£1,234.50"),
        ("0%", "0.125", "13%"),
        ("0.0 %", "0.125", "12.5 %"),
        ("0.##", "5", "5"),
        ("0.0##", "5.25", "5.25"),
        ("00000", "42", "00042"),
        ("#,##0,", "1234567", "1,235"),
        ("0.0,,", "1234567", "1.2"),
        ('#,##0;-#,##0;"none"', "0", "none"),
        (";;;", "42", "42"),
        ("# ?/?", "0.5", "0.5"),
        ("0.00E+00", "1234", "1234"),
        ("@", "1234", "1234"),
        ("[>1000]0.0;0", "1234.56", "1234.56"),
        ("000-00-0000", "123456789", "123456789"),
        ("0.00", "no number", "no number"),
        ("0.00", "1E+999999999", "1E+999999999"),
        ("0.00", "NaN", "NaN"),
        ("0.00" * 100, "5", "5"),
    ],
)
def test_numbers_are_shown_by_their_format(code: str, raw: str, shown: str) -> None:
    assert shown_by(code)(raw) == shown


@pytest.mark.parametrize(
    ("code", "raw", "shown"),
    [
        ("dd.mm.yyyy", "46348", "2026-11-22"),
        ("mmm yy", "46348", "2026-11-22"),
        ("[$-407]d. mmmm yyyy", "46348", "2026-11-22"),
        ("m/d/yy h:mm", "46348.75", "2026-11-22 18:00"),
        ("yyyy-mm-dd hh:mm:ss", "46348.750011574077", "2026-11-22 18:00:01"),
        ("h:mm AM/PM", "0.75", "18:00"),
        ("h:mm", "46348.75", "18:00"),
        ("[h]:mm", "1.5", "36:00"),
        ("dd.mm.yyyy", "1", "1900-01-01"),
        ("dd.mm.yyyy", "59", "1900-02-28"),
        ("dd.mm.yyyy", "60", "1900-02-29"),
        ("dd.mm.yyyy", "61", "1900-03-01"),
        ("dd.mm.yyyy", "2958465", "9999-12-31"),
        ("dd.mm.yyyy", "2958466", "2958466"),
        ("dd.mm.yyyy", "-1", "-1"),
        ("dd.mm.yyyy", "0", "0"),
    ],
)
def test_dates_and_times_are_shown_as_iso(code: str, raw: str, shown: str) -> None:
    assert shown_by(code)(raw) == shown


@pytest.mark.parametrize(
    ("code", "raw", "stored"),
    [
        ("General", "1200", ""),
        ("General", "-7", ""),
        ("General", "0.5", "="),
        ("General", "0.30000000000000004", "="),
        ("General", "no number", ""),
        ("#,##0", "1200", "1200"),
        ("#,##0", "12", ""),
        ("0%", "0.255", "0.255"),
        ('0.0,,"M"', "2500000", "2500000"),
        ("0.00", "1.005", "1.005"),
        ("0.00", "1.05", "="),
        ("00000", "42", "42"),
        ("#,##0;[Red]#,##0", "-1200", "-1200"),
        ("dd.mm.yyyy", "46348", ""),
        ("h:mm", "0.75", ""),
    ],
)
def test_what_a_cell_holds_is_kept_where_it_is_shown_otherwise(code: str, raw: str, stored: str) -> None:
    assert Format(code).cell(raw) == (shown_by(code)(raw), stored)


def test_days_may_be_counted_from_1904() -> None:
    shown = shown_by("dd.mm.yyyy", since_1904=True)
    assert [shown(raw) for raw in ("0", "44886", "2958465")] == ["1904-01-01", "2026-11-22", "9999-12-31"]


def test_built_in_formats_are_known() -> None:
    assert shown_by(BUILT_IN[10])("0.125") == "12.50%"
    assert shown_by(BUILT_IN[14])("46348") == "2026-11-22"


@pytest.mark.parametrize("raw", ["", "-", "é", "²", "12345678901234567890123456789012345678901", "1_000"])
def test_what_is_no_number_stays_as_it_is(raw: str) -> None:
    assert plain(raw) == raw
