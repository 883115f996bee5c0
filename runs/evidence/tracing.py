"""Which figures of a deliverable come from somewhere.

Each number, date and web address is looked up in the facts of the run. One that occurs nowhere may follow from a
calculation that the text states, or be no statement about the world by one of the rules of `_RULES`. All others are not
traced. Code cannot tell whether a figure is used rightly; it can tell that it comes from nowhere.

Linear in the length of the text.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Literal, NamedTuple

from runs.errors import InvalidInput
from runs.evidence.facts import FigurePlace, KnownFigures, blanked
from runs.text.arithmetic import calculated
from runs.text.csv_tables import separator_of
from runs.text.dates import Date, dates_in
from runs.text.domains import addresses_in
from runs.text.numbers import Number, numbers_in
from runs.text.scripts import JOINED_LETTER, TOUCHING
from runs.text.sentences import sentence_ends

type Kind = Literal["number", "date", "address"]
type Status = Literal["traced", "derived", "exempt", "not traced"]

_CONTEXT = 120
"""Characters around a number that decide whether it has to be traced."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\n]*)$", re.MULTILINE)
_LINK_TARGET = re.compile(r"\]\((?!https?:)[^()\n]{0,400}\)")
"""The place of a citation; the words before it are what has to be found there."""
_AND_MORE = r"\s?(?:[-–,&、~～至到和与與及と및]|から)\s?"
_SEVERAL = rf"(?:\d+(?:{_AND_MORE}|\s(?:to|and|bis|und)\s))*\Z"
_LABEL = re.compile(
    r"(?:\b(?:steps?|phases?|tables?|figures?|fig\.|options?|findings?|issues?|items?|points?|parts?|attempts?|try|tries|versions?"
    r"|variants?|scenarios?|examples?|cases?|varianten?|beispiele?|stages?|levels?|tiers?|priority|prio|rank|top|ideas?|actions?|recommendations?|questions?|risks?|notes?|chapters?"
    rf"|schritte?n?|punkte?n?|abbildung|tabelle|teil|stufe|priorität|rang|empfehlung|no\.|nr\.)\s?|#\s?){_SEVERAL}",
    re.IGNORECASE,
)
_LABEL_WORDS = (
    "步骤|步驟|阶段|階段|选项|選項|方案|示例|案例|场景|場景|情景|版本|级别|級別|等级|等級|优先级|優先級|建议|建議|风险|風險|问题|問題"
    "|发现|發現|要点|要點|备注|備註|编号|編號|序号|序號|ステップ|フェーズ|オプション|バージョン|ケース|シナリオ|レベル|リスク|手順|項目"
    r"|番号|提案|課題|論点|質問|事例|단계|옵션|방안|사례|시나리오|버전|문제|질문|위험|권고|번호|항목|ขั้นตอน|ตัวเลือก|ข้อเสนอ"
    r"|(?<!\w)(?:ตาราง|รูป|ภาพ|บท)"
)
TABLE_OR_FIGURE = r"(?<![^\W見见如在由从據据和與与及的附看照以或])(?:表|图|圖|図|例)|(?<!\w)(?:표|그림)"
"""Behind other letters these are the ends of other words, such as 代表."""
_LABEL_IN_FRONT = re.compile(rf"(?:{_LABEL_WORDS}|{TABLE_OR_FIGURE})(?P<ordinal>ที่)?\s?[-#：:]?\s?{_SEVERAL}")
ORDINAL_MARK = r"(?:第|(?<!\w)제)"
"""Before a figure that is an ordinal, as in 第3. Behind other letters 제 is the end of another word, such as 어제."""
_ORDINAL_IN_FRONT = re.compile(rf"{ORDINAL_MARK}\s?(?:\d+{_AND_MORE}[第제]?\s?)*\Z")
_MORE_OF_THEM = rf"(?:{_AND_MORE}[第제]?\s?\d{{1,3}}){{0,20}}\s?"
_BEHIND_LABEL = re.compile(
    rf"(?:{_AND_MORE}\d{{1,3}}(?!\d)){{0,20}}+\s*+(?:\Z|[^\w\s]|[的是为為中内內上至到和与與及所不已未可将將应應需会會有在由先后後则則也仍显顯列给給示展]"
    r"|[はがをにでのも]|と(?!おり)|から|まで|および|및|[은는이가의을를에와과로도](?!\w)|에서|에는|까지|부터|으로)"
)
"""What may follow the figure of a label. Anything else may be a word of counting: 发现12份合同 says that 12 contracts
were found.
"""
_LABEL_BEHIND = re.compile(
    rf"{_MORE_OF_THEM}(?:章|步|阶段|階段|部分|部(?![门門長长])|点|點|版|例|题|題|問|号|號|番目|案|図|图|圖|表|장|단계|부분|부|판|호|안|문제|질문)"
)
_MARKER = re.compile(r"\A[\s>*_#-]*（?(?:\d+\.)*\Z")
_BEHIND_MARK = re.compile(
    r"[.)．]|[:：](?!\d)|、(?!\d)|、(?=\d{4}年)|）(?![人名家个個份件户社元円天日年月](?:\W|\Z|[的はがをの]))"
)
"""What ends the mark of an item: 120、130 are two numbers, 500：1 is a ratio, and （20）人 are 20 people."""
_MARKS = re.compile(r"\d{1,3}(?:\.\d{1,3})*")
_REFERENCES = re.compile(r"\[[\d,\s–-]*\Z")
_PLACES = "lines?|pages?|rows?|columns?|cells?|slides?|footnotes?|zeilen?|seiten?|spalten?|folien?"
_POSITION = re.compile(
    rf"(?:(?:\b(?:{_PLACES}|pp?\.)|\bL)[:*]{{0,3}}\s?{_SEVERAL}|\w\.[a-z]\w{{0,7}}:\Z)",
    re.IGNORECASE,
)
_POSITION_IN_FRONT = re.compile(
    r"(?:页码|頁碼|行号|行號|列号|幻灯片|投影片|脚注|腳註|ページ|スライド|페이지|슬라이드|각주|บรรทัด|แถว|(?<!\w)หน้า"
    rf"|(?<!\w)[页頁行列])(?:ที่)?\s?[：:]?\s?{_SEVERAL}"
)
_POSITION_BEHIND = re.compile(
    rf"{_MORE_OF_THEM}(?:[页頁行列쪽행열줄]|张幻灯片|張投影片|ページ|スライド|脚注|페이지|슬라이드)"
)
_COUNTED_PLACE = re.compile(rf"{_MORE_OF_THEM}(?:ページ|行|列)目")
_POSITIONS_IN_COLUMN = (
    "页|頁|页码|頁碼|行|行号|行號|列|列号|单元格|儲存格|幻灯片|脚注|ページ|セル|スライド"
    "|페이지|쪽|행|열|셀|หน้า|บรรทัด|แถว"
)
_POSITION_COLUMN = re.compile(rf"[\s*]*(?:{_PLACES}|{_POSITIONS_IN_COLUMN})[\s*]*", re.IGNORECASE)
_JUDGED = (
    "scor|rating|rated|confidence|feasib|viab|impact|effort|potential|likel|probab|relevan|strength|complexity|priorit|"
    "rank|bewert|wahrscheinlich|aufwand|wirkung|rang"
)
_RATINGS = (
    "评分|評分|得分|打分|评级|評級|置信度|可信度|優先級|優先順位|优先级|排名|評価点|評点|スコア|確信度|점수|평점|우선순위|순위|신뢰도|คะแนน"
    "|ลำดับความสำคัญ"
)
_RATED = re.compile(rf"\b(?:{_JUDGED})[^\n.;|]{{0,30}}\Z", re.IGNORECASE)
_RATED_IN_FRONT = re.compile(
    rf"(?:{_RATINGS})(?:\s?[(（][^()（）\n]{{0,12}}[)）])?\s?(?:[为為是达達到は가은는이：:=]|คือ|เป็น)?\s?\Z"
    rf"|(?:{_RATINGS})[^\n.;|。；，,、]{{0,12}}(?:[满滿]分|จาก|เต็ม)\s?\Z"
)
_BEHIND_RATING = re.compile(rf"\s?(?:[分点點점星级級]|จาก|เต็ม)|{_BEHIND_LABEL.pattern}")
_MAX_RATING = 100
_RATING_COLUMN = re.compile(
    rf"(?:{_JUDGED}|{_RATINGS}|可能性|可行性|相关性|相關性|重要性|重要度|影响程度|影響度|复杂度|複雑度|風險等級|风险等级|가능성|중요도|영향도)",
    re.IGNORECASE,
)
_RATED_OUT = re.compile(r"\d\s?/\s?\Z")
_OUT_OF = re.compile(r"\s?/\s?(?:5|10|100)(?![\d.,]*\d)")
_NUMBER_COLUMN = re.compile(
    r"\s*(?:#|no\.?|nr\.?|id|step|schritt|序号|序號|编号|編號|步骤|步驟|項番|番号|ステップ|手順|번호|순번|연번|단계|ลำดับ|ลำดับที่|ขั้นตอน)\s*",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"\b(?:total|sum|overall|summe|gesamt|insgesamt)\b|合计|合計|总计|總計|总额|總額|总和|總和|総計|総額|(?<!\w)計(?!\w)|합계|총계|총액"
    r"|รวม",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:please|ask|asks|request|requests|propose[sd]?|suggest(?:s|ed)?|recommend(?:s|ed)?|bitten?|vorschlagen)\b"
    r"|(?<![申聘邀宴])[请請](?!求)|建议(?!书)|建議(?!書)|提议|提議|กรุณา|โปรด|ขอให้",
    re.IGNORECASE,
)
_ASKED_BEHIND = re.compile("ください|下さい|お願い|바랍니다|주십시오|주시기")
"""Words at the end of a sentence, as Japanese and Korean have them."""
_DEADLINE = re.compile(r"\b(?:by|until|before|no later than|bis|bis zum|spätestens)\s(?:the\s)?\Z", re.IGNORECASE)
_DEADLINE_BEHIND = re.compile(r"\s?(?:之前|以前|前|まで|까지)")
_IDENTIFIER = re.compile(rf"(?={JOINED_LETTER})[^\W{TOUCHING}]+")
MIN_IDENTIFIER = 12  # characters; a number with as many is an identifier and not a quantity
_EQUALS = re.compile(r"[=≈≃]")
_OPERATORS = {"×": "*", "x": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**"} | {one: one for one in "+-*/"}
_BETWEEN = re.compile(r"[\s\w.%²³€$£¥)]*?(?:\s(?P<dash>[-−–x])\s|(?P<sign>[×*/÷·+^]))[\s(€$£¥]*(?:[A-Z]{3}\s)?")
_CONVENTIONAL = frozenset(map(Decimal, (0, 1, 2, 7, 12, 24, 52, 60, 100, 365, 1_000, 1_000_000)))
"""Operands of a calculation that need no source."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a deliverable. `start` to before `end` are its characters, `line` counts from 1. `place`: where it
    was found. `why`: the calculation that it follows from, or the rule that exempts it.
    """

    start: int
    end: int
    kind: Kind
    status: Status
    place: FigurePlace | None = None
    why: str = ""
    line: int = 0
    text: str = ""


class _Cell(NamedTuple):
    start: int
    text: str


def trace(text: str, facts: KnownFigures, *, is_csv: bool = False) -> list[Figure]:
    """Every number, date and web address of a text in Markdown or CSV, in order, with where it comes from."""
    line, counted, figures = 1, 0, list[Figure]()
    for figure in sorted(_Tracer(text, facts, is_csv=is_csv).figures(), key=lambda figure: figure.start):
        line += text.count("\n", counted, figure.start)
        counted = figure.start
        figures.append(replace(figure, line=line, text=text[figure.start : figure.end]))
    return figures


def counts_in(text: str, *, is_csv: bool = False) -> set[Decimal]:
    """What code can count in a text in Markdown or CSV: the items of its lists, its headings, the rows of its tables,
    those that have the same in a column, and what the figures of a column come to.
    """
    return _counted(_list_lengths(text), _tables(cells_apart(text) if is_csv else text, is_csv=is_csv))


def missing_in(quotes: Iterable[str], statement: str) -> list[str]:
    """The figures of a statement that are in none of the quotes for it."""
    facts = KnownFigures([(FigurePlace("", 0), quote) for quote in quotes])
    return [figure.text for figure in trace(statement, facts) if figure.status == "not traced"]


def cells_apart(text: str) -> str:
    """A CSV text, of the same length, in which a comma, semicolon or tab between two cells is no part of a number."""
    separator = separator_of(text)
    parts = text.split('"')  # every second one is inside quotation marks
    parts[::2] = [part.replace(separator, "\t") for part in parts[::2]]
    return '"'.join(parts)


class _Tracer:
    def __init__(self, text: str, facts: KnownFigures, *, is_csv: bool) -> None:
        self._facts = facts
        if is_csv:
            self._text = cells_apart(text)
        else:
            self._text = blanked(text, [*_drawings(text), *(match.span() for match in _LINK_TARGET.finditer(text))])
        self._tables = list(_tables(self._text, is_csv=is_csv))
        counted = _counted(_list_lengths(self._text), self._tables)
        self._derived: dict[Decimal, str] = {}
        """By the results of calculations with something that has a source: the text may repeat them elsewhere."""
        self._counts = {*facts.counts, *counted, *(Decimal(day.year) for day in facts.days)}

    def figures(self) -> Iterator[Figure]:
        addresses = list(addresses_in(self._text))
        for start, end in addresses:
            place = self._facts.address(self._text[start:end])
            yield Figure(start, end, "address", "traced" if place else "not traced", place)
        text = blanked(self._text, addresses)
        dates = dates_in(text)
        for date in dates:
            place = self._facts.date(date.days)
            why = "" if place else self._why_free(date, text)
            status: Status = "traced" if place else "exempt" if why else "not traced"
            yield Figure(date.start, date.end, "date", status, place, why)
        text = blanked(text, [(date.start, date.end) for date in dates])
        settled = dict(self._in_tables()) | dict(self._calculations(text))
        for number in numbers_in(text):
            place = self._facts.number(number)
            status = "traced"
            why = ""
            if not place:
                status, why = settled.get(number.start) or self._judged(number, text)
            yield Figure(number.start, number.end, "number", status, place, why)

    def _why_free(self, date: Date, text: str) -> str:
        """Why a date needs no source; empty if it needs one."""
        if any(day.is_same(other) for day in date.days for other in self._facts.days):
            return "a day of the run"
        first = max(date.start - 2 * _CONTEXT, text.rfind("\n", 0, date.start) + 1, 0)
        before = text[max([first, *sentence_ends(text, first, date.start)]) : date.start]
        after = text[date.end : date.end + _CONTEXT].partition("\n")[0].partition("。")[0]
        is_deadline = _DEADLINE.search(before) or _DEADLINE_BEHIND.match(after)
        is_asked = _ASKED.search(before) or _ASKED_BEHIND.search(after)
        return "a day that is asked for" if is_deadline and is_asked else ""

    def _judged(self, number: Number, text: str) -> tuple[Status, str]:
        """What becomes of a number that occurs in no source."""
        before = text[max(number.start - _CONTEXT, 0) : number.start].rpartition("\n")[2]
        after = text[number.end : number.end + _CONTEXT].partition("\n")[0]
        for rule, applies in _RULES.items():
            if applies(number, before, after):
                return "exempt", rule
        if number.values and (expression := self._derived.get(abs(number.values[0]))):
            return "derived", expression
        if number.values and abs(number.values[0]) in self._counts:
            return "exempt", "a count"
        return "not traced", ""

    def _calculations(self, text: str) -> Iterator[tuple[int, tuple[Status, str]]]:
        """By where a number begins, the calculation that comes to it, or that it is an operand of by convention.

        A calculation counts when its operands have a source, or are results of calculations before it.
        """
        results = set[Decimal]()
        for equals in _EQUALS.finditer(text):
            left = text[max(equals.start() - _CONTEXT, 0) : equals.start()].rpartition("\n")[2]
            right = text[equals.end() : equals.end() + _CONTEXT].partition("\n")[0]
            before = _chain(left, from_end=True), equals.start() - len(left)
            after = _chain(right, from_end=False), equals.end()
            for side, offset, other, other_offset in ((*before, *after), (*after, *before)):
                if len(side) < 2 or not other or not all(self._is_known(operand, results) for operand, _ in side):
                    continue
                (result, _) = other[0] if other_offset == equals.end() else other[-1]
                expression = "".join(f"{operator}{abs(operand.values[0]):f}" for operand, operator in side)
                if _comes_to(expression, result):
                    if any(self._facts.number(operand) for operand, _ in side):
                        self._derived.update(dict.fromkeys(map(abs, result.values), expression))
                    results.update(map(abs, result.values))
                    yield other_offset + result.start, ("derived", expression)
                    for operand, _ in side:
                        if abs(operand.values[0]) in _CONVENTIONAL:
                            yield offset + operand.start, ("exempt", "a conventional figure of a calculation")

    def _is_known(self, operand: Number, results: set[Decimal]) -> bool:
        if not operand.values:
            return False
        value = abs(operand.values[0])
        is_known = any(value in known for known in (_CONVENTIONAL, self._counts, results))
        return is_known or self._facts.number(operand) is not None

    def _in_tables(self) -> Iterator[tuple[int, tuple[Status, str]]]:
        """By where a number begins, what the table that it is in says of it."""
        for header, rows in self._tables:
            for column, (title, cells) in enumerate(zip(header, _columns(header, rows), strict=True)):
                if _POSITION_COLUMN.fullmatch(title.text):
                    yield from ((start, ("exempt", "a page or line")) for start, _ in _figures_of(cells))
                if _RATING_COLUMN.search(title.text):
                    yield from ((start, ("exempt", "a rating")) for start, _ in _figures_of(cells))
                if column == 0 and (_NUMBER_COLUMN.fullmatch(title.text) or _is_numbered(cells)):
                    yield from ((start, ("exempt", "numbering")) for start, _ in _figures_of(cells))
                yield from _total_of(cells, rows)


def _columns(header: Sequence[_Cell], rows: Sequence[Sequence[_Cell]]) -> list[list[_Cell]]:
    columns: list[list[_Cell]] = [[] for _ in header]
    for row in rows:
        for cells, cell in zip(columns, row, strict=False):
            cells.append(cell)
    return columns


def _counted(
    lengths: Iterable[Decimal], tables: Iterable[tuple[Sequence[_Cell], Sequence[Sequence[_Cell]]]]
) -> set[Decimal]:
    found = set(lengths)
    for header, rows in tables:
        found.add(Decimal(len(rows)))
        for cells in _columns(header, rows):
            same = Counter(cell.text.strip() for cell in cells)
            if len(same) <= len(cells) / 2:
                found.update(map(Decimal, same.values()))
            figures = [next(numbers_in(cell.text), None) for cell in cells]
            values = [figure.values[0] for figure in figures if figure and figure.values]
            if len(values) > 1:
                found.add(abs(sum(values, Decimal())))
    return found


def _figures_of(cells: Iterable[_Cell]) -> Iterator[tuple[int, Number]]:
    return ((cell.start + number.start, number) for cell in cells for number in numbers_in(cell.text))


def _is_numbered(cells: Sequence[_Cell]) -> bool:
    return [cell.text.strip(" .)*") for cell in cells] == [str(number) for number in range(1, len(cells) + 1)]


def _total_of(cells: Sequence[_Cell], rows: Sequence[Sequence[_Cell]]) -> Iterator[tuple[int, tuple[Status, str]]]:
    """The total in the last row of a column, if it is the sum of the numbers above it."""
    if len(cells) < 2 or len(cells) != len(rows) or not _TOTAL.search(rows[-1][0].text):
        return
    *above, last = [list(_figures_of([cell])) for cell in cells]
    values = [number.values[0] for figures in above for _, number in figures[:1] if number.values]
    if last and values and sum(values) in last[0][1].values:
        yield last[0][0], ("derived", "the total of its column")


def _chain(text: str, *, from_end: bool) -> list[tuple[Number, str]]:
    """The numbers at the end (or the beginning) of a text that operators connect, each with the operator before it."""
    numbers = list(numbers_in(text))
    chain: list[tuple[Number, str]] = []
    if not numbers:
        return chain
    operators = [_operator(text[first.end : second.start]) for first, second in pairwise(numbers)]
    if from_end:
        first = len(numbers) - 1
        while first and operators[first - 1]:
            first -= 1
        chosen = range(first, len(numbers))
    else:
        last = 0
        while last < len(operators) and operators[last]:
            last += 1
        chosen = range(last + 1)
    return [(numbers[place], operators[place - 1] if place > chosen[0] else "") for place in chosen]


def _operator(between: str) -> str:
    match = _BETWEEN.fullmatch(between)
    return _OPERATORS[match["dash"] or match["sign"]] if match else ""


def _comes_to(expression: str, number: Number) -> bool:
    """Whether the value of an expression is the number, as far as its digits go."""
    try:
        value = abs(calculated(expression).result)
    except InvalidInput:
        return False
    scales = (1, 100) if number.unit == "%" else (1,)
    return any(
        abs(value * scale - abs(one)) <= step / 2
        for one, step in zip(number.values, number.steps, strict=True)
        for scale in scales
    )


def _is_whole(number: Number) -> bool:
    return bool(number.values) and number.digits.isdecimal() and not number.unit and not number.is_negative


def _is_numbering(number: Number, before: str, after: str) -> bool:
    """A label such as “Step 3”, the mark of a list item or a heading, or a reference such as [1, 2]."""
    if number.unit or number.is_negative or not _MARKS.fullmatch(number.digits):
        return False
    is_heading = before.lstrip(" >").startswith("#")
    marks = _MARKER.match(before) and (is_heading or _BEHIND_MARK.match(after))
    label = _LABEL_IN_FRONT.search(before)
    is_label = number.digits.isdecimal() and (
        _LABEL.search(before)
        or _REFERENCES.search(before)
        or (label and (label["ordinal"] or _BEHIND_LABEL.match(after)))
        or (_ORDINAL_IN_FRONT.search(before) and _LABEL_BEHIND.match(after))
    )
    return bool(marks or is_label)


def _is_position(number: Number, before: str, after: str) -> bool:
    if _POSITION.search(before):
        return True
    return not number.unit and bool(
        _POSITION_IN_FRONT.search(before)
        or (_ORDINAL_IN_FRONT.search(before) and _POSITION_BEHIND.match(after))
        or _COUNTED_PLACE.match(after)
    )


def _is_rating(number: Number, before: str, after: str) -> bool:
    if _RATED.search(before) or _OUT_OF.match(after) or _RATED_OUT.search(before):
        return True
    is_small = bool(number.values) and not number.unit and max(map(abs, number.values)) <= _MAX_RATING
    return is_small and bool(_RATED_IN_FRONT.search(before) and _BEHIND_RATING.match(after))


def _is_in_identifier(number: Number, before: str, after: str) -> bool:
    """Digits that letters follow at once, in a long run of both, such as a digest."""
    tail = _IDENTIFIER.match(after)
    return not number.unit and tail is not None and len(number.digits) + len(tail[0]) >= MIN_IDENTIFIER


def _is_conventional(number: Number, before: str, after: str) -> bool:
    value = number.values[0] if number.values else None
    return (value in (0, 1) and not number.unit) or (value == 100 and number.unit == "%")


_RULES: Mapping[str, Callable[[Number, str, str], bool]] = {
    "numbering": _is_numbering,
    "a page or line": _is_position,
    "a rating": _is_rating,
    "a part of an identifier": _is_in_identifier,
    "none, one or all": _is_conventional,
}
"""What a number is that says nothing of the world, in words for people."""


def _drawings(text: str) -> Iterator[tuple[int, int]]:
    """The blocks of Markdown that hold a Mermaid diagram."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            if opened[2].split()[:1] == ["mermaid"]:
                yield opened.start(), fence.end()
            opened = None


def _tables(text: str, *, is_csv: bool) -> Iterator[tuple[Sequence[_Cell], Sequence[Sequence[_Cell]]]]:
    """The header and the rows of each table."""
    rows = list[list[_Cell]]()
    start, is_table = 0, is_csv
    for line in text.splitlines(keepends=True):
        cells = _cells(line, start, "\t" if is_csv else "|")
        start += len(line)
        if len(cells) < 2:
            if not is_csv:
                if is_table and len(rows) > 1:
                    yield rows[0], rows[1:]
                rows, is_table = [], False
            continue
        if not is_csv and all(not cell.text.strip(" :-") for cell in cells):
            rows, is_table = rows[-1:], True  # the line below the header
            continue
        rows.append(cells)
    if is_table and len(rows) > 1:
        yield rows[0], rows[1:]


def _cells(line: str, start: int, separator: str) -> list[_Cell]:
    cells = list[_Cell]()
    at = 0
    for part in line.rstrip("\r\n").split(separator):
        cells.append(_Cell(start + at, part))
        at += len(part) + 1
    if separator == "|":
        if cells and not cells[0].text.strip():
            cells = cells[1:]
        if cells and not cells[-1].text.strip():
            cells = cells[:-1]
    return cells


_ITEM = re.compile(r"\s*(?:(?:[-*+•]|\d{1,4}[.)])\s|\d{1,4}[、．）]|（\d{1,4}）)")


def _list_lengths(text: str) -> set[Decimal]:
    """How many items each list has, and how many headings of each level there are."""
    found, items, headings = set[Decimal](), 0, dict[int, int]()
    for line in text.splitlines():
        if _ITEM.match(line):
            items += 1
        elif line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            headings[level] = headings.get(level, 0) + 1
            found.add(Decimal(items))
            items = 0
    return {*found, Decimal(items), *map(Decimal, headings.values())} - {Decimal(0)}
