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


CHINESE = (
    "王伟民因延迟交货索赔2777元，合同于2024年3月15日签订，期限为12个月，通知期为30日，面积1,200平方米，占比10%，另有８００円。"
    "第17条规定共3千5百万元，百分之十五，参见附件2。"
)
KOREAN = "매출은5만원이고 계약은 2024년 3월 15일에 체결되었습니다. 기간은 12개월, 제17조."


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("索赔金额为2777元，即2,777元、¥2777、RMB2777、人民币2777元，约2800元", []),
        ("索赔金额为2778元", ["2778元"]),
        ("索赔金额为2777円或2777美元", ["2777円", "2777美元"]),
        ("共索赔3500万元", []),
        ("共索赔3600万元", ["3600万元"]),
        ("于2024年3月15日签订，2024年3月、3月15日、3月、2024年", []),
        ("于2024年3月16日签订，4月、2025年", ["2024年3月16日", "4月", "2025"]),
        ("提前30天通知，30 days' notice", []),
        ("提前30个月通知", ["30个月"]),
        ("期限12個月、12ヶ月", []),
        ("期限12年", ["12年"]),
        ("1200㎡，百分之10，800円", []),
        ("占百分之12，即12%", ["百分之12", "12%"]),
        ("依第17条与附件-2", []),
        ("依第13条与附件3", ["13", "3"]),
        ("共有250家供应商在合同期内提出索赔", ["250"]),
        ("约9千人，近9000人", ["9千", "9000"]),
        ("同比增长−5%", ["−5%"]),
    ],
)
def test_figures_next_to_letters_of_scripts_without_spaces_are_traced(text: str, figures: list[str]) -> None:
    known = KnownFigures([(FigurePlace("合同.md", 0), CHINESE)])
    assert [figure.text for figure in trace(text, known) if figure.status == "not traced"] == figures


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("매출은 50,000원입니다. 계약일은 2024년 3월 15일, 기간은12개월, 제17조에 따라", []),
        ("매출은6만원, 2024년 4월 15일, 기간은12년, 제13조", ["6만원", "2024년 4월 15일", "12년", "13"]),
    ],
)
def test_figures_in_korean_are_traced(text: str, figures: list[str]) -> None:
    known = KnownFigures([(FigurePlace("계약.md", 0), KOREAN)])
    assert [figure.text for figure in trace(text, known) if figure.status == "not traced"] == figures


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("步骤7：见表8，如图9所示，方案7", "numbering"),
        ("第7章、第8步、第9至11部分、第4号", "numbering"),
        ("7、概述\n（8）条款", "numbering"),
        ("图7-8，表7、8和9", "numbering"),
        ("ステップ7、第8章、図9", "numbering"),
        ("단계 7, 제8장, 표 9", "numbering"),
        ("ขั้นตอนที่ 7 ตารางที่ 8, ตาราง 9", "numbering"),
        ("方案7的风险3：步骤 8 已完成，图7显示、表 8 所列，见表7-9（问题2至4）", "numbering"),
        ("ステップ7では手順8を、図9から、表7まで", "numbering"),
        ("단계 7은 항목 8에서, 표 9와 그림 7(전체)", "numbering"),
        ("| 序号 | 名称 |\n|---|---|\n| 7 | 甲 |\n| 8 | 乙 |", "numbering"),
        ("第7页第8行，第9至11行", "a page or line"),
        ("第7ページ、8行目、ページ9", "a page or line"),
        ("제7페이지, 제8행, 페이지 9", "a page or line"),
        ("หน้า 7 บรรทัดที่ 8", "a page or line"),
        ("| 条款 | 页码 |\n|---|---|\n| 甲 | 7 |\n| 乙 | 8 |", "a page or line"),
        ("评分：8，得分为9、得分（满分10分）是 8.5分", "a rating"),
        ("评分为8", "a rating"),
        ("得分：8", "a rating"),
        ("スコアは7点、점수는 9점, คะแนน 8 จาก 10", "a rating"),
        ("7：概述\n（9）人员\n8、2026年概述", "numbering"),
        ("| 方案 | 评分 |\n|---|---|\n| 甲 | 7 |\n| 乙 | 9 |", "a rating"),
        ("请于2026年12月15日前付款", "a day that is asked for"),
        ("2026年12月15日までにお支払いください", "a day that is asked for"),
        ("2026년 12월 15일까지 지급해 주시기 바랍니다", "a day that is asked for"),
        ("| 项目 | 元 |\n|---|---|\n| 甲 | 2400 |\n| 乙 | 720.2 |\n| 合计 | 3120.2 |", "the total of its column"),
        ("| 항목 | 원 |\n|---|---|\n| 가 | 2400 |\n| 나 | 720.2 |\n| 합계 | 3120.2 |", "the total of its column"),
    ],
)
def test_the_rules_know_these_words_in_scripts_without_spaces(text: str, rule: str) -> None:
    assert missing(text) == []
    assert rule in {found for _, found in statuses(text)}


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("第7条、第8款、第9項", ["7", "8", "9"]),
        ("제7조, 附件8, 第9名", ["7", "8", "9"]),
        ("发现7份合同、建议8人、代表9人", ["7", "8", "9"]),
        ("共7页、8ページ、银行9家", ["7", "8", "9"]),
        ("목표 7건, 第8部门", ["7", "8"]),
        ("合同于2026年12月15日前签订", ["2026年12月15日"]),
        ("请付款。合同于2026年12月15日前签订", ["2026年12月15日"]),
    ],
)
def test_other_words_of_these_scripts_exempt_nothing(text: str, figures: list[str]) -> None:
    assert missing(text) == figures


@pytest.mark.parametrize(
    ("source", "text", "figures"),
    [
        ("98.3亿元", "98.7亿元", ["98.7亿元"]),
        ("339,000元", "33.6万元", ["33.6万元"]),
        ("45.3만원", "45.6만원", ["45.6만원"]),
        ("2.31亿元", "约2.7亿元", ["2.7亿元"]),
        ("2.31亿元", "2.3亿元", []),
        ("2.31亿元", "约2亿元", []),
        ("1.87万亿元", "1.8万亿元、1.9万亿元", ["1.8万亿元"]),
        ("10份合同", "10多万元", ["10多万元"]),
        ("10多万元", "10多万元", []),
        ("12万3,450円", "12万3,450円、12万3,451円", ["12万3,451円"]),
    ],
)
def test_a_figure_with_multiples_is_rounded_to_its_last_digit(source: str, text: str, figures: list[str]) -> None:
    known = KnownFigures([(FigurePlace("合同.md", 0), source)])
    assert [figure.text for figure in trace(text, known) if figure.status == "not traced"] == figures


@pytest.mark.parametrize(
    ("source", "text", "figures"),
    [
        ("3,500,000元", "350万円、¥350万、￥3,500,000", ["350万円"]),
        ("350万円", "3,500,000元、RMB350万、¥350万元", ["3,500,000元", "RMB350万", "¥350万元"]),
        ("350万円", "JPY3,500,000、¥3,500,000", []),
        ("￥3,500,000", "350万円、350万元、350万ウォン", ["350万ウォン"]),
        ("A fee of A$500", "USD 500, US$500, AUD 500, $500, 500$, 500 dollars", ["USD 500", "US$500"]),
        ("A fee of $500", "USD 500, AUD 500, EUR 500", ["EUR 500"]),
    ],
)
def test_only_a_sign_fits_several_currencies(source: str, text: str, figures: list[str]) -> None:
    known = KnownFigures([(FigurePlace("合同.md", 0), source)])
    assert [figure.text for figure in trace(text, known) if figure.status == "not traced"] == figures


@pytest.mark.parametrize(
    "text",
    [
        "合同要求甲方于2026年5月15日前支付尾款",
        "申请应于2026年5月15日之前提交",
        "聘请的审计师于2026年5月15日前出具报告",
        "提案は2026年5月15日までに提出された",
        "지급 요청은 2026년 5월 15일까지이다",
        "2026년 5월 15일까지 지급하라는 요청이 있었다",
    ],
)
def test_a_deadline_that_is_reported_needs_a_source(text: str) -> None:
    assert [figure.status for figure in trace(text, facts())] == ["not traced"]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("เจ้าหน้าที่ 120 คน", ["120"]),
        ("ล่วงหน้า 500 คน", ["500"]),
        ("ปัญหาสุขภาพ 250 คน", ["250"]),
        ("คุณภาพ 95", ["95"]),
        ("과제 35장, 과제 25쪽", ["35", "25"]),
        ("发现35起事故", ["35"]),
        ("发现问题15例", ["15"]),
        ("问题28宗", ["28"]),
        ("如图3，500户家庭断电", ["500"]),
        ("リスク25社", ["25"]),
        ("課題35校", ["35"]),
        ("항목 45대", ["45"]),
        ("风险 25 家、风险25架、问题4至5宗", ["25", "25", "4", "5"]),
        ("ตัวเลือก 25 คน", ["25"]),
        ("评分系统覆盖500家医院", ["500"]),
        ("评级下调后损失80人，得分：80人，得分为850", ["80", "80", "850"]),
        ("คะแนนเสียง 250 คน, คะแนน 95 คน จาก 25 คน", ["250", "95", "25"]),
        ("500：1的比例", ["500"]),
        ("120、130和140名员工", ["120", "130", "140"]),
        ("（20）人", ["20"]),
        ("환자는 열 39도였다, 오른 쪽 5명", ["39", "5"]),
        ("위험 25 건, 항목 25가지, 문제 12통", ["25", "25", "12"]),
        ("項目7とおり、課題35か国", ["7", "35"]),
    ],
)
def test_the_end_of_a_longer_word_and_words_of_counting_exempt_nothing(text: str, figures: list[str]) -> None:
    assert missing(text) == figures


def test_a_long_run_of_letters_and_digits_is_an_identifier_and_a_sentence_is_none() -> None:
    assert missing("摘要为7f9a0b1c2d3e4f5a，编号为7abcdefabcdef的文件") == []
    assert missing("共有7家供应商在合同期内提出了索赔") == ["7"]


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


@given(st.text(alphabet='0123456789.,|-=×/#[]()% \n"abc:htps/第表页月日万元', max_size=120))
def test_figures_of_any_text_are_in_order_and_no_text_fails(text: str) -> None:
    for is_csv in (False, True):
        found = trace(text, facts(), is_csv=is_csv)
        assert [text[one.start : one.end] for one in found] == [one.text for one in found]
        assert [one.start for one in found] == sorted(one.start for one in found)
