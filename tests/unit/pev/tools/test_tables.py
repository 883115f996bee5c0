"""What is counted in tables: exactly, by columns that are there, and nothing of the model's counts as shown."""

from typing import Any

import pytest

from runs.pev.contracts import JsonObject
from runs.pev.documents.document import Document
from runs.pev.documents.layout import Block, BlockKind, Layout
from runs.pev.files.coverage import Inputs, coverage
from runs.pev.files.paths import Converted
from runs.pev.ports import FileInfo, ToolResult
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
        ({"compute": compute("sum tenant")}, "rents.csv has a value in “tenant” that is no number of the same form:"),
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
