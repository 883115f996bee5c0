"""Dates as people write them."""

import pytest

from runs.text.dates import ORDERS, Day, dates_in, moment, names_month


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2026-03-05", [(2026, 3, 5)]),
        ("2026/3/5", [(2026, 3, 5)]),
        ("2026-03-05T10:15", [(2026, 3, 5)]),
        ("2026年3月5日", [(2026, 3, 5)]),
        ("05.03.2026", [(2026, 5, 3), (2026, 3, 5)]),
        ("13/5/2026", [(2026, 5, 13)]),
        ("3-5-26", [(2026, 3, 5), (2026, 5, 3)]),
        ("5 March 2026", [(2026, 3, 5)]),
        ("5th of March, 2026", [(2026, 3, 5)]),
        ("5. März 2026", [(2026, 3, 5)]),
        ("5 mars 2026", [(2026, 3, 5)]),
        ("5 de marzo de 2026", [(2026, 3, 5)]),
        ("March 5th, 2026", [(2026, 3, 5)]),
        ("Sept. 5, 2026", [(2026, 9, 5)]),
        ("March 2026", [(2026, 3, 0)]),
        ("2026-03", [(2026, 3, 0)]),
        ("On 3 November the", [(0, 11, 3)]),
        ("Mr Quist,2 May 2024,Lease", [(2024, 5, 2)]),
        ("lease,2024-05-02", [(2024, 5, 2)]),
        ("1.2 May 2024", [(2024, 5, 0)]),
        ("2026-03-05,2027-04-25", [(2026, 3, 5), (2027, 4, 25)]),
        ("1234,2027-04-25", [(2027, 4, 25)]),
        ("7,13.5.2026", [(2026, 5, 13)]),
        ("于2024年3月15日签订", [(2024, 3, 15)]),
        ("2024 年 3 月 15 日", [(2024, 3, 15)]),
        ("２０２４年３月１５日", [(2024, 3, 15)]),
        ("2024年3月15号", [(2024, 3, 15)]),
        ("2024년 3월 15일까지", [(2024, 3, 15)]),
        ("2024年3月起", [(2024, 3, 0)]),
        ("在3月15日前", [(0, 3, 15)]),
        ("3월 15일", [(0, 3, 15)]),
        ("3月底", [(0, 3, 0)]),
        ("13月", []),
        ("2月30日", []),
        ("3个月, 12ヶ月, 3개월, 5 月租, 5월급", []),
        ("31 February", []),
        ("2026-13-01", []),
        ("you may 5 things", []),
        ("192.168.10.12", []),
        ("version 1.2.3", []),
    ],
)
def test_what_is_a_date(text: str, days: list[tuple[int, int, int]]) -> None:
    assert [day.parts for date in dates_in(text) for day in date.days] == days


def test_several_dates_are_found_in_order_with_their_places() -> None:
    text = "From 1 January 2026 until December 31, 2026; signed 2025-11-26."
    dates = ["1 January 2026", "December 31, 2026", "2025-11-26"]
    assert [text[date.start : date.end] for date in dates_in(text)] == dates


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Day(2026, 3, 5), Day(2026, 3, 5), True),
        (Day(2026, 3, 0), Day(2026, 3, 5), True),
        (Day(0, 3, 5), Day(2026, 3, 5), True),
        (Day(2026, 3, 5), Day(2026, 3, 6), False),
        (Day(0, 3, 5), Day(2026, 5, 3), False),
    ],
)
def test_two_days_differ_only_in_what_both_of_them_say(one: Day, other: Day, same: bool) -> None:
    assert (one.is_same(other), other.is_same(one)) == (same, same)


@pytest.mark.parametrize(
    ("text", "days", "time"),
    [
        ("2026-03-05", [Day(2026, 3, 5)] * 2, (0, 0, 0)),
        ("2026-03-05T10:15:30", [Day(2026, 3, 5)] * 2, (10, 15, 30)),
        ("2026/3/5 9:05", [Day(2026, 3, 5)] * 2, (9, 5, 0)),
        ("05.03.2026", [Day(2026, 3, 5), Day(2026, 5, 3)], (0, 0, 0)),
        ("20.01.2026", [Day(2026, 1, 20)], (0, 0, 0)),
        ("01/20/2026", [Day(2026, 1, 20)], (0, 0, 0)),
        ("5. März 2026", [Day(2026, 3, 5)] * 2, (0, 0, 0)),
        ("March 5th, 2026", [Day(2026, 3, 5)] * 2, (0, 0, 0)),
        ("March 2026", [Day(2026, 3, 0)] * 2, (0, 0, 0)),
        ("2026年3月5日", [Day(2026, 3, 5)] * 2, (0, 0, 0)),
        ("2026년 3월 5일", [Day(2026, 3, 5)] * 2, (0, 0, 0)),
    ],
)
def test_a_cell_that_is_a_date(text: str, days: list[Day], time: tuple[int, int, int]) -> None:
    found = moment(text)
    assert found is not None
    assert ([found.days[order] for order in ORDERS if order in found.days], found.time) == (days, time)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "5 March",
        "05.03.26",
        "32.01.2026",
        "on 2026-03-05",
        "2026-03-05 later",
        "2026-02-30x",
        "2026",
        "3月",
        "3月5日",
    ],
)
def test_a_cell_that_is_no_date_with_its_year(text: str) -> None:
    assert moment(text) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [("in May", True), ("Im März", True), ("le 5 Février", True), ("Set it, and may it go", False), ("a Mayor", False)],
)
def test_names_of_months(text: str, names: bool) -> None:
    assert names_month(text) is names
