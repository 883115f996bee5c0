"""What is counted in tables: exactly, by columns that are there, and nothing of the model's counts as shown."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.contracts.base import JsonObject
from runs.contracts.ports import FileInfo, ToolResult
from runs.documents.content import Converted
from runs.documents.formats.xlsx import xlsx_reader as reader
from runs.documents.model.layout import Block, BlockKind, Layout
from runs.documents.places.document import Document
from runs.pev.input_coverage import Inputs, coverage
from tests.documents.workbooks import workbook as xlsx_file
from tests.unit.pev.tools.bench import Memory, run

RENTS = b"""tenant;city;rent;since
Berg;Bonn;1.200,50;2020-01-01
Adam;Bonn;300,25;2021-06-01
Carl;Ulm;;2024-01-01
Dora;Ulm;2.000,25;2019-03-01
"""
PLAIN = b"a,b\n1,x\n2,y\n10,x\n0.1,\n0.2,X\n"


def table(files: dict[str, bytes] | None = None, path: str = "rents.csv", **asked: Any) -> ToolResult:
    return run("table", {"path": path, **asked}, Memory(files or {"rents.csv": RENTS, "plain.csv": PLAIN}))


def where(column: str, test: str, value: str = "") -> JsonObject:
    return {"column": column, "test": test, "value": value}


def compute(*figures: str) -> list[JsonObject]:
    pairs = [one.partition(" ") for one in figures]
    return [{"of": of, "column": column} for of, _, column in pairs]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (
            {"compute": compute("count", "count rent", "sum rent", "average rent", "min rent", "max rent")},
            "4 of 4 rows\nrows\tcount of rent\tsum of rent\taverage of rent\tmin of rent\tmax of rent\n"
            "4\t3\t3,501\t1,167\t300.25\t2,000.25",
        ),
        (
            {"group_by": ["city"], "compute": compute("count", "sum rent", "distinct tenant")},
            "4 of 4 rows, 2 groups\ncity\trows\tsum of rent\tdistinct of tenant\n"
            "Bonn\t2\t1,500.75\t2\nUlm\t2\t2,000.25\t2",
        ),
        ({"group_by": ["city"], "limit": 1}, "4 of 4 rows, 2 groups, the first 1 are shown\ncity\trows\nBonn\t2"),
        ({"columns": ["tenant"], "limit": 2}, "4 of 4 rows, the first 2 are shown\ntenant\nBerg\nAdam"),
        (
            {"columns": ["tenant"], "where": [where("rent", ">", "1.000")]},
            "2 of 4 rows\ntenant\nBerg\nDora\n[where rent > 1.000]",
        ),
        (
            {"columns": ["tenant"], "where": [where("since", "<", "2021-01-01"), where("city", "=", "BONN")]},
            "1 of 4 rows\ntenant\nBerg\n[where since < 2021-01-01 and city = BONN]",
        ),
        ({"columns": ["tenant"], "where": [where("rent", "empty")]}, "1 of 4 rows\ntenant\nCarl\n[where rent empty]"),
        (
            {"compute": compute("count"), "where": [where("tenant", "contains", "Zed")]},
            "0 of 4 rows\nrows\n0\n[where tenant contains Zed]",
        ),
    ],
)
def test_rows_are_selected_grouped_and_added_up(asked: dict[str, Any], text: str) -> None:
    result = table(**asked)
    assert (result.is_error, result.text) == (False, f"rents.csv: {text}")


def test_sums_are_exact_and_capitals_are_none() -> None:
    result = table(path="plain.csv", group_by=["b"], compute=compute("sum a"))
    assert result.text.splitlines()[2:] == ["\t0.1", "X\t0.2", "x\t11", "y\t2"]
    assert table(path="plain.csv", where=[where("b", "=", "x")]).text.startswith("plain.csv: 3 of 5 rows")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"columns": ["name"]}, "rents.csv has no column “name”; it has tenant, city, rent, since."),
        ({"compute": compute("sum tenant")}, "rents.csv line 2: “Berg” is no number that can be calculated with."),
        ({"compute": compute("sum")}, "rents.csv was not read: say the column of every figure but a count of rows."),
        ({"path": "nowhere.csv"}, "nowhere.csv does not exist; list_files shows what there is."),
        ({"where": [where("rent", "like", "x")]}, "table was not run. "),
        ({"limit": 0}, "table was not run. "),
    ],
)
def test_what_cannot_be_done_is_said(asked: dict[str, Any], sentence: str) -> None:
    result = table(**asked)
    assert (result.is_error, result.text[: len(sentence)]) == (True, sentence)


def test_numbers_that_can_be_read_in_two_ways_are_not_guessed() -> None:
    files = {"rents.csv": b"rent\n1.234\n2.000\n"}
    assert "can be read in two ways; say decimal_mark" in table(files, compute=compute("sum rent")).text
    assert table(files, compute=compute("sum rent"), decimal_mark=",").text.endswith("3,234")
    assert table(files, compute=compute("sum rent"), decimal_mark=".").text.endswith("3.234")


def of(column: str, *values: str) -> dict[str, bytes]:
    quoted = "".join('"{}"\n'.format(value.replace('"', '""')) for value in values)
    return {"rents.csv": f"{column}\n{quoted}".encode()}


@pytest.mark.parametrize(
    ("values", "figures"),
    [
        (("$500.00", "-$200.00"), "$300\t-$200\t$500"),
        (("$500.00", "($200.00)"), "$300\t-$200\t$500"),
        (("$500", "$200-"), "$300\t-$200\t$500"),
        (("500 DR", "200 CR"), "300 DR\t200 CR\t500 DR"),
        (("-$800", "$5"), "-$795\t-$800\t$5"),
        (("5 kg", "3 kg"), "8 kg\t3 kg\t5 kg"),
        (("10%", "2.5%"), "12.5%\t2.5%\t10%"),
        (("2.5M", "1M"), "3.5M (3,500,000)\t1M (1,000,000)\t2.5M (2,500,000)"),
    ],
)
def test_signs_count_and_units_are_kept(values: tuple[str, ...], figures: str) -> None:
    result = table(of("n", *values), compute=compute("sum n", "min n", "max n"))
    assert result.text.splitlines()[2:] == [figures]


@pytest.mark.parametrize(
    ("one", "other"), [("5", "<10"), ("5", "10%"), ("5 kg", "300 g"), ("$5", "€5"), ("5k", "5"), ("7 DR", "7")]
)
def test_what_is_not_of_one_kind_is_not_added_up(one: str, other: str) -> None:
    for figure in ("sum", "average", "min", "max"):
        result = table(of("n", one, other), compute=compute(f"{figure} n"))
        assert (result.is_error, result.text) == (
            True,
            f"rents.csv line 3: “{one}” and “{other}” are not of one kind: their comparison signs, scales, units or "
            "currencies differ.",
        )


_SHAPES = {
    "": ("{}", "-{}", "({})", "{}-", "− {}"),
    "$": ("${}", "-${}", "(${})", "${}-", "$-{}"),
    " EUR": ("{} EUR", "-{} EUR", "({}) EUR", "{} EUR-", "－{} EUR"),
    "%": ("{}%", "-{}%", "({}%)", "{}%-", "‐{}%"),
}


@given(
    st.lists(
        st.tuples(st.decimals(0, 10**7, places=2), st.sampled_from([*_SHAPES]), st.integers(0, 4)),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([",.", ".,"]),
)
def test_a_sum_is_that_of_the_values_that_a_table_was_made_of(
    cells: list[tuple[Decimal, str, int]], marks: str
) -> None:
    """Or it is refused: where units differ, or nothing says which mark is the decimal one."""
    total, written = Decimal(0), []
    for number, unit, shape in cells:
        total += number if shape == 0 else -number
        digits = f"{number:,.2f}" if marks[0] == "," else f"{number:,.2f}".translate({44: ".", 46: ","})
        written.append(_SHAPES[unit][shape].format(digits))
    text = table(of("n", *written), compute=compute("sum n")).text
    units = {unit for _, unit, _ in cells}
    if len(units) > 1:
        assert "are not of one kind" in text
    else:
        unit = units.pop()
        figure = f"{abs(total.normalize()):,f}"
        sign = "-" if total < 0 else ""
        assert text.splitlines()[-1] == (f"{sign}${figure}" if unit == "$" else f"{sign}{figure}{unit}")


def test_groups_may_have_units_of_their_own_and_the_column_decides_on_the_decimal_mark() -> None:
    files = {"rents.csv": b"land;n\nDE;1.200 EUR\nCH;CHF 1.300,50\nDE;800 EUR\n"}
    result = table(files, group_by=["land"], compute=compute("sum n"))
    assert result.text.splitlines()[2:] == ["CH\tCHF 1,300.5", "DE\t2,000 EUR"]
    chosen = table(files, compute=compute("sum n"), where=[where("land", "=", "de")])
    assert chosen.text.splitlines()[2] == "2,000 EUR"


@pytest.mark.parametrize(
    ("values", "test", "wanted", "found"),
    [
        (("007", "7", "7.0"), "=", "007", ["007"]),
        (("007", "7", "7.0"), "=", "7", ["7", "7.0"]),
        (("007", "7", "7.0"), "!=", "007", ["7", "7.0"]),
        (("1,000.50", "1000.5"), "=", "1000.50", ["1,000.50", "1000.5"]),
        (("$500", "$5"), ">", "100", ["$500"]),
        (("$500", "($800)"), "<", "0", ["($800)"]),
        (("$500", "$5"), "=", "$500.00", ["$500"]),
        (("5k", "400"), "=", "5000", ["5k"]),
        (("5k", "6k"), ">=", "5500", ["6k"]),
        (("500 DR", "200 CR"), "<", "0", ["200 CR"]),
        (("5%", "10%"), ">", "7%", ["10%"]),
        (("5", "n/a", "10"), ">", "7", ["10"]),
        (("Berg", "7"), "=", "7", ["7"]),
        (("1.5", "1,5", "x"), "=", "1.5", ["1.5"]),
        (("2026-01-05", "2026-11-01"), "<", "2026-02", ["2026-01-05"]),
        (("01.06.2026", "20.01.2026"), "<=", "2026-01-20", ["20.01.2026"]),
        (("01.06.2026", "20.01.2026"), "<=", "20.01.2026", ["20.01.2026"]),
        (("09:15", "10:30"), "<", "09:30", ["09:15"]),
        (("2026-W05", "2026-W12"), "<", "2026-W06", ["2026-W05"]),
        (("INV-0009", "INV-0010"), ">", "INV-0009", ["INV-0010"]),
        (("Adam", "Berg"), ">", "Adam", ["Berg"]),
        (("06/01/2026", "01/20/2026"), ">", "1 February 2026", ["06/01/2026"]),
        (("5 March 2026", "March 20, 2026", "n/a"), ">", "2026-03-10", ["March 20, 2026"]),
        (("20.01.2026 10:30", "20.01.2026 09:15"), ">", "20.01.2026 10:00", ["20.01.2026 10:30"]),
        (("01.06.2026", "20.01.2026"), "=", "2026-06-01", ["01.06.2026"]),
        (("Bonn", "ulm"), ">", "Chur", ["ulm"]),
    ],
)
def test_what_conditions_choose(values: tuple[str, ...], test: str, wanted: str, found: list[str]) -> None:
    result = table(of("n", *values), where=[where("n", test, wanted)])
    assert (result.is_error, result.text.splitlines()[2:-1]) == (False, found)


@pytest.mark.parametrize(
    ("values", "test", "wanted", "why"),
    [
        (("5", "<10"), ">", "7", "“5” and “<10” are not of one kind"),
        (("<10", "<5"), ">", "7", "what is more or less than a number has no place among numbers"),
        (("1.5", "1,5"), "<", "100", "“1.5” and “1,5” have different decimal marks"),
        (("5 kg", "300 g"), "<", "100", "“5 kg” and “300 g” are not of one kind"),
        (("$5", "$6"), "<", "€7", "the units or currencies differ"),
        (("5", "10–20"), ">", "7", "“10–20” is no number"),
        (("Berg", "Adam"), ">", "7", "the column has no numbers"),
        (("1,234", "2,000"), ">", "7", "its numbers can be read in two ways; say decimal_mark"),
        (("1,234", "2,000"), "=", "1234", "its numbers can be read in two ways; say decimal_mark"),
        (("5", "7"), ">", "1,234", "it can be read in two ways; write it without separators of thousands"),
        (
            ("01.06.2026", "02.05.2026"),
            "<",
            "2026-06-01",
            "“01.06.2026” can be read with the day or with the month first",
        ),
        (
            ("01.06.2026", "02.05.2026"),
            "=",
            "2026-06-01",
            "“01.06.2026” can be read with the day or with the month first",
        ),
        (("20.01.2026", "01/20/2026"), "<", "2026-06-01", "“20.01.2026” has the day first and “01/20/2026” the month"),
        (
            ("2026-01-05", "2026-06-01"),
            "<",
            "05.03.2026",
            "“05.03.2026” can be read with the day or with the month first",
        ),
        (("20.01.26", "01.06.26"), "<", "21.01.26", "“20.01.26” and “21.01.26” do not sort by their letters"),
        (("15-Jan-2026", "1-Jun-2026"), "<=", "20-Jan-2026", "do not sort by their letters"),
        (("15 Ocak 2026", "1 Haziran 2026"), "<=", "20 Ocak 2026", "do not sort by their letters"),
        (("10:30", "9:15"), ">", "9:30", "do not sort by their letters"),
        (("v1.10", "v1.9"), ">", "v1.9", "do not sort by their letters"),
        (("Q1 2026", "Q3 2025"), "<", "Q4 2025", "do not sort by their letters"),
        (("20.01.2026", "KW 5"), "<", "2026-06-01", "“KW 5” is no date with its year"),
        (("20.01.26", "21.01.26"), "<", "2026-06-01", "“20.01.26” is no date with its year"),
        (("March 2026", "5 March 2026"), "<", "2026-06-01", "only one of them has a day"),
    ],
)
def test_what_cannot_be_compared_is_refused(values: tuple[str, ...], test: str, wanted: str, why: str) -> None:
    result = table(of("n", *values), where=[where("n", test, wanted)])
    assert result.is_error
    assert why in result.text


def test_the_decimal_mark_may_be_said_and_has_to_fit() -> None:
    files = of("n", "1,234", "2,000")
    assert table(files, where=[where("n", ">", "1500")], decimal_mark=".").text.startswith("rents.csv: 1 of 2 rows")
    assert table(files, where=[where("n", ">", "1500")], decimal_mark=",").text.startswith("rents.csv: 0 of 2 rows")
    assert "another decimal mark than ," in table(of("n", "1.5"), compute=compute("sum n"), decimal_mark=",").text


def test_a_table_that_ends_inside_a_quotation_mark_or_has_a_title_is_refused() -> None:
    assert table({"rents.csv": b'a,b\n1,2\n3,"4\n5,6\n'}, compute=compute("count")).text == (
        "rents.csv ends inside a quotation mark that opens in line 3; close it."
    )
    assert table({"rents.csv": b"Rents 2026\na,b\n1,2\n"}, compute=compute("count")).is_error
    assert (
        table({"rents.csv": b"sep=;\na;b\n1;2\n"}, compute=compute("count")).text == "rents.csv: 1 of 1 rows\nrows\n1"
    )


def test_what_the_model_wrote_is_not_among_what_the_file_shows() -> None:
    result = table(where=[where("tenant", "!=", "The rent is 42 dollars")], columns=["tenant"])
    (shown,) = result.shown
    assert (shown.path, shown.start, shown.first_line, shown.last_line, shown.lines) == ("rents.csv", 0, 1, 0, 5)
    assert [one.sentence for one in coverage(Inputs({"rents.csv": FileInfo(shown.sha256, 1)}), [shown])] == [
        "rents.csv pieces of lines, of 5"
    ]
    assert "The rent is 42 dollars" in result.text
    assert "The rent is 42 dollars" not in result.text[shown.start : shown.end]


def test_long_values_and_many_groups_are_cut_and_said() -> None:
    many = b"a\n" + b"\n".join(b"%d" % n for n in range(10_001))
    assert "has more than 10,000 groups" in table({"rents.csv": many}, group_by=["a"]).text
    wide = table({"rents.csv": b"a,b\n" + b"x" * 5_000 + b",1\n"})
    assert len(wide.text) < 300
    short = run("table", {"path": "rents.csv", "limit": 500}, Memory({"rents.csv": many}), result_chars=200)
    shown = len(short.text.splitlines()) - 2
    assert short.text.splitlines()[-1] == f"[{500 + 1 - shown} more do not fit; choose fewer]"


def workbook() -> dict[str, bytes]:
    rows = {"Rents": ["tenant\trent", "Berg\t1200", "Adam\t300"], "Notes": ["x", "y"]}
    text, blocks = "", []
    for sheet, lines in rows.items():
        for number, line in enumerate(lines, 1):
            blocks.append(Block(f"{sheet}!A{number}", BlockKind.ROW, len(text), len(text) + len(line)))
            text += f"{line}\n"
    document = Document(text, Layout(format="xlsx", blocks=tuple(blocks)))
    return {"book.xlsx": Converted(text.encode(), "a" * 64, lambda: document)}


def cells(number: int, *values: str | tuple[int, float]) -> str:
    """A row of texts, and of numbers with their style."""
    letters = "ABCDEF"
    made = (
        f'<c r="{letters[at]}{number}" t="inlineStr"><is><t>{value}</t></is></c>'
        if isinstance(value, str)
        else f'<c r="{letters[at]}{number}" s="{value[0]}"><v>{value[1]}</v></c>'
        for at, value in enumerate(values)
        if value
    )
    return f'<row r="{number}">{"".join(made)}</row>'


def sheet(*rows: str, formats: tuple[str, ...] = (), **more: str) -> dict[str, bytes]:
    data = xlsx_file({"S": f"<sheetData>{''.join(rows)}</sheetData>", **more}, formats=formats)
    made = reader.make(data)
    document = Document(made.text, made.rendered.layout)
    return {"book.xlsx": Converted(made.text.encode(), "a" * 64, lambda: document)}


@pytest.mark.parametrize(
    ("code", "values", "shown", "total"),
    [
        ("#,##0;[Red]#,##0", (500, -200), "-200", "300"),
        ("0.00;[Red]0.00", (500, -404), "-404.00", "96"),
        ('0.0,,"M"', (2_500_000, 1_250_000), "1.3M", "3,750,000"),
        ("0%", (0.255, 0.255), "26%", "51% (0.51)"),
        ("#,##0", (1234.4, 1234.4), "1,234", "2,468.8"),
        ('#,##0.00" €"', (1234.5, -0.25), "-0.25 €", "1,234.25 €"),
        ("#,##0.000", (1.234, 1), "1.000", "2.234"),
        ('0.0," t"', (5000, 2500), "2.5 t", "7,500"),
    ],
)
def test_a_sheet_is_computed_with_what_it_holds(code: str, values: tuple[float, float], shown: str, total: str) -> None:
    files = sheet(cells(1, "n"), cells(2, (1, values[0])), cells(3, (1, values[1])), formats=(code,))
    assert table(files, "book.xlsx").text.splitlines()[-1] == shown
    assert table(files, "book.xlsx", compute=compute("sum n")).text.splitlines()[-1] == total


def test_conditions_compare_with_what_a_sheet_holds() -> None:
    files = sheet(cells(1, "n"), cells(2, (1, 0.255)), cells(3, (1, 0.26)), formats=("0%",))
    for wanted in ("0.256", "25.6%"):
        assert table(files, "book.xlsx", where=[where("n", ">", wanted)]).text.startswith("book.xlsx: 1 of 2 rows")
    assert table(files, "book.xlsx", where=[where("n", "=", "26%")]).text.startswith("book.xlsx: 2 of 2 rows")


def test_rows_are_counted_where_a_column_has_no_name() -> None:
    assert table({"rents.csv": b",n\n0,5\n1,\n"}, compute=compute("count", "count n")).text.endswith("\n2\t1")


def test_currencies_that_only_a_format_shows_are_not_added_up() -> None:
    files = sheet(cells(1, "n"), cells(2, (1, 5)), cells(3, (2, 5)), formats=('0.00" €"', "$0.00"))
    result = table(files, "book.xlsx", compute=compute("sum n"))
    assert result.text.startswith("book.xlsx row 3: “5.00 €” and “$5.00” are not of one kind")


def test_a_sheet_below_a_title_or_with_unnamed_columns_is_refused() -> None:
    for rows in (
        (cells(1, "Rents"), cells(2, "id", "n"), cells(3, (0, 1), (0, 2))),
        (cells(1, "", "n"), cells(2, "id", (0, 2))),
        (cells(1, "n"), cells(2, (0, 1), "see below")),
    ):
        assert (
            "its first row has to name every column" in table(sheet(*rows), "book.xlsx", compute=compute("count")).text
        )


def test_a_row_with_a_long_gap_is_one_row() -> None:
    wide = '<row r="{0}"><c r="A{0}"><v>1</v></c><c r="AZ{0}"><v>2</v></c></row>'
    head = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="AZ1" t="inlineStr"><is><t>b</t></is></c></row>'
    )
    result = table(sheet(head, wide.format(2), wide.format(3)), "book.xlsx", compute=compute("count", "sum b"))
    assert result.text.splitlines()[-1] == "2\t4"


def test_a_sheet_is_a_table_too() -> None:
    files = workbook()
    assert table(files, "book.xlsx", compute=compute("sum rent")).text == "book.xlsx: 2 of 2 rows\nsum of rent\n1,500"
    assert table(files, "book.xlsx", sheet="notes").text == "book.xlsx, sheet notes: 1 of 1 rows\nx\ny"
    assert table(files, "book.xlsx", sheet="Other").text == (
        "book.xlsx has no sheet “Other” with rows; it has Rents, Notes."
    )


@pytest.mark.parametrize(
    ("city", "wanted"),
    [
        ("Zu\u0308rich", "Zürich"),
        ("Zürich", "Zu\u0308rich"),
        ("La\u00a0Tour", "la tour"),
        ("Zü\u200brich", "Zürich"),
        ("St. Gallen’s", "St. Gallen's"),
        ("ＡＢＣ", "ABC"),
        ("A–B", "A-B"),
    ],
)
def test_the_same_text_is_the_same_value(city: str, wanted: str) -> None:
    files = {"a.csv": f"city,n\n{city},1\n{wanted},2\nBern,3\n".encode()}
    found = table(files, "a.csv", where=[where("city", "=", wanted)], columns=["n"])
    assert found.text.startswith("a.csv: 2 of 3 rows\nn\n1\n2")
    found = table(files, "a.csv", where=[where("city", "contains", wanted[-3:])], columns=["n"])
    assert found.text.startswith("a.csv: 2 of 3 rows\nn\n1\n2")


def test_groups_are_of_the_same_text_and_show_how_it_is_written_first() -> None:
    files = {"a.csv": "city,n\nZürich,1\nZu\u0308rich,2\nZürich\u200b,3\nAB,4\nA-B,5\n".encode()}
    found = table(files, "a.csv", group_by=["city"], compute=compute("sum n", "distinct city"))
    assert sorted(found.text.splitlines()[2:]) == ["A-B\t5\t1", "AB\t4\t1", "Zürich\t6\t1"]


def test_columns_are_named_by_the_same_text() -> None:
    files = {"a.csv": "Gro\u0308ße\u00a0in m,n\n5,1\n7,2\n".encode()}
    found = table(files, "a.csv", columns=["Größe in m"], where=[where("Größe in m", ">", "5")])
    assert found.text.startswith("a.csv: 1 of 2 rows\nGröße in m\n7")
