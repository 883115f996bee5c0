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
        ("500만원", ["5000000"], "KRW"),
        ("3조 원", ["3000000000000"], "KRW"),
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
        ("５，０００円", ["5000", "5"], "JPY"),
        ("１．５億円", ["150000000"], "JPY"),
        ("１，２００．５０元", ["1200.5"], "CNY"),
        ("3千5百万", ["35000000"], ""),
        ("5万", ["50000"], ""),
        ("3万5", [], ""),
        ("1.8万亿元", ["1800000000000"], "CNY"),
        ("2万亿3千万元", ["2000030000000"], "CNY"),
        ("1億2万億元、3亿2万亿", [], "CNY"),
        ("5千万、5百万、5十万", ["50000000", "5000000", "500000"], ""),
        ("5十亿、5百亿、5千亿", ["5000000000", "50000000000", "500000000000"], ""),
        ("5兆円", ["5000000000000"], "JPY"),
        ("5 ล้านล้าน, 5 แสนล้าน", ["5000000000000", "500000000000"], ""),
        ("5หมื่นล้าน และ 5พันล้าน", ["50000000000", "5000000000"], ""),
        ("5ร้อยล้าน และ 5 สิบล้านบาท", ["500000000", "50000000"], "THB"),
        ("12만 3,450원", ["123450"], "KRW"),
        ("3만 500원", ["30500"], "KRW"),
        ("5 만원, 5 만 원, 5　만원", ["50000", "50000", "50000"], "KRW"),
        ("5 천만 달러", ["50000000"], "USD"),
        ("5 조 원, 5 조, 5 만남", ["5000000000000", "5", "5"], "KRW"),
        ("100日圆，100日圓", ["100", "100"], "JPY"),
        ("100圆，100圓整", ["100", "100"], "CNY"),
        ("3圆形", ["3"], ""),
        ("12万3,450円", ["123450"], "JPY"),
        ("12만 2024년", ["120000", "2024"], ""),
        ("10多万元", ["100000"], "CNY"),
        ("10余万元", ["100000"], "CNY"),
        ("约1.5餘億元", ["150000000"], "CNY"),
        ("10여만 원", ["100000"], "KRW"),
        ("500多人", ["500"], ""),
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
        ("索赔2777元", ["2777"], "CNY"),
        ("共3千5百万元", ["35000000"], "CNY"),
        ("甲方应支付1,234.50元", ["1234.5"], "CNY"),
        ("約2.5億円", ["250000000"], "JPY"),
        ("売上は1億2000万円です", ["120000000"], "JPY"),
        ("其中５０００円", ["5000"], "JPY"),
        ("매출은5만원입니다", ["50000"], "KRW"),
        ("총1억 2천만 원", ["120000000"], "KRW"),
        ("ราคา500บาท", ["500"], "THB"),
        ("มี25คน", ["25"], ""),
        ("ມີ25ຄົນ", ["25"], ""),
        ("មាន25នាក់", ["25"], ""),
        ("လူ25ဦး", ["25"], ""),
        ("ﾉﾙﾏは5件", ["5"], ""),
        ("不超过10%", ["10"], "%"),
        ("不超过10％", ["10"], "%"),
        ("百分之5以下", ["5"], "%"),
        ("ร้อยละ 5", ["5"], "%"),
        ("第12条规定", ["12"], ""),
        ("제5조 제2항", ["5", "2"], ""),
        ("3조5천억원", ["3500000000000"], "KRW"),
        ("5만명", ["50000"], ""),
        ("1만5천명", ["15000"], ""),
        ("5억달러", ["500000000"], "USD"),
        ("约USD500", ["500"], "USD"),
        ("约合（USD500）", ["500"], "USD"),
        ("人民币RMB2777元", ["2777"], "CNY"),
        ("人民币2777元", ["2777"], "CNY"),
        ("港币500元", ["500"], "HKD"),
        ("100元5", ["100", "5"], "CNY"),
        ("¥500元", ["500"], "CNY"),
        ("¥500", ["500"], "JPY"),
        ("$500 AUD", ["500"], "AUD"),
        ("5km以上", ["5"], "km"),
        ("100kg以下", ["100"], "kg"),
        ("30days内", ["30"], "day"),
        ("5.2e6元", ["5200000"], "CNY"),
        ("€5 m的", ["5000000"], "EUR"),
        ("5M美元", ["5000000"], "USD"),
        ("30日内", ["30"], "day"),
        ("12个月", ["12"], "month"),
        ("12ヶ月", ["12"], "month"),
        ("12개월간", ["12"], "month"),
        ("3年", ["3"], "year"),
        ("3년", ["3"], "year"),
        ("2024年", ["2024"], ""),
        ("2024년", ["2024"], ""),
        ("2小时", ["2"], "hour"),
        ("30分钟", ["30"], "minute"),
        ("3週間", ["3"], "week"),
        ("5公里", ["5"], "km"),
        ("5千米", ["5"], "km"),
        ("5千克", ["5"], "kg"),
        ("5吨", ["5"], "t"),
        ("120平方米", ["120"], "m²"),
        ("120㎡", ["120"], "m²"),
        ("2024 日本", ["2024"], ""),
        ("3年级，5元素，3분기，5원칙", ["3", "5", "3", "5"], ""),
        ("附件-2", ["2"], ""),
        ("同比增长−5%", ["-5"], "%"),
        ("5～10%", ["5", "10"], "%"),
        ("10元－20元", ["10", "20"], "CNY"),
        ("10-20万元", ["10", "200000"], "CNY"),
        ("A4纸、COVID-19疫情、COVID19疫情、p23页", [], ""),
        ("3D打印和5G网络", [], ""),
    ],
)
def test_values_and_units(text: str, values: list[str], unit: str) -> None:
    found = list(numbers_in(text))
    assert [f"{value.normalize():f}" for number in found for value in number.values] == values
    assert {number.unit for number in found} - {""} == {unit} - {""}


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
        ("约10人", "~"),
        ("收入大约10万", "~"),
        ("最近10年", ""),
        ("近10万人", "~"),
        ("需要约10天", "~"),
        ("解约10天前", ""),
        ("約 10名", "~"),
        ("契約10件", ""),
        ("약10명", "~"),
        ("총 약 10명", "~"),
        ("계약10건", ""),
        ("ประมาณ10คน", "~"),
        ("温度≤10", "≤"),
        ("10多万元", ">"),
        ("共10余万元", ">"),
        ("$10多万", ">"),
        ("10余人", ""),
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
        ("赔偿三千元，参见伍贰元", [(2, 3000, "CNY"), (8, 52, "CNY")]),
        ("二十五天内", [(0, 25, "day")]),
        ("一万亿元", [(0, 10**12, "CNY")]),
        ("双方统一意见，十分重要，并统一标准", []),
        (
            "共三份，第五条，甲乙二人，等十分钟，约五成，百分之五的",
            [(1, 3, ""), (5, 5, ""), (10, 2, ""), (14, 10, "minute"), (19, 5, ""), (25, 5, "")],
        ),
        ("七、概述（八）", [(0, 7, ""), (5, 8, "")]),
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


@given(st.text(alphabet="0123456789.,-+$€%() \nkMe½×^abc约万元年日만원−", max_size=60))
def test_places_are_in_order_and_inside_the_text(text: str) -> None:
    found = list(numbers_in(text))
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= after.start for one, after in pairwise(found))
