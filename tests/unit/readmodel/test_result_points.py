"""A report in parts: its lead, its points, and the rest; each line in one of them."""

import time

import pytest

from runs.errors import InvalidInput
from runs.pev.points import MAX_CELL, MAX_COLUMNS, folded
from runs.readmodel.result_points import (
    MAX_CHARACTERS,
    MAX_LEAD,
    MAX_POINTS,
    Point,
    kind_of,
    labelled,
    points_of,
    sent_back,
)
from tests.hostile.bounds import within
from tests.work import calls, growth

LIST = "- one\n- two, which\n  goes on\n- three"


def texts(report: str) -> list[str]:
    return [point.text for point in points_of(report).points]


def test_lead_points_and_rest() -> None:
    found = points_of(f"Three things.\n\n{LIST}\n\n## More\n\nSaid once.")
    assert found.lead == "Three things."
    assert [point.text for point in found.points] == ["one", "two, which\ngoes on", "three"]
    assert found.rest == "## More\n\nSaid once."


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("", []),
        ("- alone", []),
        ("1. first\n2) second", ["first", "second"]),
        ("* a\n\n  more of a\n* b", ["a\n\nmore of a", "b"]),
        ("- a\n    - inner\n- b", ["a\n  - inner", "b"]),
        ("```\n- code\n- code\n```", []),
        ("- a\ntext at the edge\n- b", ["a", "b"]),
        ("-no item\n- \n- x\n- y", ["x", "y"]),
    ],
)
def test_points_are_items_at_the_edge_outside_of_code(report: str, expected: list[str]) -> None:
    assert texts(report) == expected


@pytest.mark.parametrize("first", ["| a | b |", "> quote", f"- {'x' * 700}", "```"])
def test_a_report_that_begins_with_anything_but_words_has_no_lead(first: str) -> None:
    assert points_of(f"{first}\n\nWords.").lead == ""


def test_the_lead_is_the_first_paragraph_below_the_headings_which_stay_in_the_rest() -> None:
    found = points_of(f"# Review\n\n## Summary\n\nThree things.\n\n{LIST}\n\nThe end.")
    assert (found.lead, len(found.points)) == ("Three things.", 3)
    assert [line for line in found.rest.splitlines() if line] == ["# Review", "## Summary", "The end."]
    assert points_of(f"# Review\n\n{LIST}\n\nThe end.").lead == "The end."


def test_a_long_first_paragraph_is_led_by_the_sentences_that_fit() -> None:
    sentence = "This is a sentence of some length. "
    found = points_of(sentence * 40)
    assert found.lead == (sentence * (MAX_LEAD // len(sentence))).strip()
    assert f"{found.lead} {found.rest}" == (sentence * 40).strip()
    assert points_of("x" * (MAX_LEAD + 1)).lead == ""


def test_what_comes_after_the_last_point_that_fits_stays_in_the_rest() -> None:
    found = points_of("\n".join(f"- p{number}" for number in range(MAX_POINTS + 2)))
    assert len(found.points) == MAX_POINTS
    assert found.rest == f"- p{MAX_POINTS}\n- p{MAX_POINTS + 1}"


def test_sent_back_names_the_point_and_what_to_do() -> None:
    points = [Point(1, "one"), Point(2, "two " * 100)]
    short, long = sent_back(points, {2: "", 1: " Quote it. "})
    assert short.words == "On point 1 “one”: Quote it."
    assert len(long.place) < 200
    with pytest.raises(InvalidInput, match="no point 3"):
        sent_back(points, {3: ""})


def test_a_point_is_sent_back_in_plain_words_without_half_a_link() -> None:
    quote = "“2.3 The software goes live at Felixstowe on \\[insert date\\] and at **Ipswich** six weeks later.”"
    (asked,) = sent_back(
        [Point(1, f"F8: a \\_blank\\_ [{quote}](contracts/B%C3%BCro%20lease.md#L22)")], {1: "Delete it."}
    )
    plain = "“2.3 The software goes live at Felixstowe on [insert date] and at Ipswich six weeks later.”"
    assert asked.words == f"On point 1 ‘F8: a _blank_ {plain}’: Delete it."


HOSTILE = ["- \n", "- x\n", "```\n", "a. ", "  ", "1) ", "#", "- x\n  "]


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_work_of_a_hostile_report_grows_with_its_length(piece: str) -> None:
    assert growth(lambda size: points_of(piece * size), 500) < 5


@pytest.mark.slow
def test_hostile_reports_are_read_within_limits() -> None:
    reports = [piece * (200_000 // len(piece)) for piece in HOSTILE]
    within(1, 200, "tests.work.each", "runs.readmodel.result_points.points_of", [(report,) for report in reports])


TABLE = "| Clause | Risk |\n|---|:-:|\n| 4.2 | **high** |\n| 7 \\| 8 | |\n"


def rows(report: str, *files: tuple[str, str]) -> list[list[tuple[int, str, tuple[str, ...]]]]:
    return [[(one.number, one.name, one.cells) for one in table.points] for table in points_of(report, files).tables]


def test_rows_of_tables_are_points_after_those_of_the_list() -> None:
    report = f"Two.\n\n- one\n- two\n\n{TABLE}\nSaid once."
    assert rows(report, ("out/facts.csv", "name;amount\nrent;1,200\n\nfee;3\n"), ("out/n.txt", TABLE)) == [
        [
            (3, "row 1 of table 1 of the report", ("4.2", "**high**")),
            (4, "row 2 of table 1 of the report", ("7 | 8", "")),
        ],
        [(5, "row 1 of out/facts.csv", ("rent", "1,200")), (6, "row 2 of out/facts.csv", ("fee", "3"))],
    ]
    assert points_of(report).rest == "Said once."
    other = TABLE.replace("4.2", "4.3").replace("8", "9")
    assert len(points_of(report, [("a.md", f"# A\n\n{other}\n\n{other}")]).all) == 8


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("a | b\n--|--\n1 | 2\n3", []),  # a table of one row
        ("a | b\n--|--\n1 | 2\n3 | 4 | 5\n|6|", [("1", "2"), ("3", "4"), ("6", "")]),
        ("a | b\n--|--|--\n1 | 2\n3 | 4", []),
        ("- a | b\n- | -\n- 1 | 2\n- 3 | 4", []),
        ("```\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n```", []),
        ("| a |\n|---|\n| 1 |\n| 2 |\n- 3 | 4", [("1",), ("2",)]),
        ("a\n---\nb\nc", []),
    ],
)
def test_tables_of_markdown(report: str, expected: list[tuple[str, ...]]) -> None:
    assert [point.cells for point in points_of(report).all if point.cells] == expected


@pytest.mark.parametrize("text", ["", "a", "a,b\n1,2\n", 'a,b\n"1,2\n3', "\0", "x" * 3_000_000])
def test_what_is_no_table_of_several_rows_has_no_points(text: str) -> None:
    assert points_of("", [("t.csv", text)]).all == ()


def test_rows_beyond_the_limit_stay_in_the_rest_and_in_their_file() -> None:
    many = "| a | b |\n|---|---|\n" + "".join(f"| {number} | x |\n" for number in range(MAX_POINTS + 1))
    found = points_of(many, [("t.csv", "a,b\n1,2\n3,4\n")])
    assert [(len(table.points), table.more) for table in found.tables] == [(MAX_POINTS, True)]
    assert found.rest == f"| a | b |\n|---|---|\n| {MAX_POINTS} | x |"
    in_file = points_of("- a\n- b", [("t.csv", "a,b\n" + "1,2\n" * 5_000)])
    assert [(len(table.points), table.more) for table in in_file.tables] == [(MAX_POINTS - 2, True)]
    long = points_of("", [("t.csv", f"a,b\n1,2\n3,4\n{'x' * MAX_CHARACTERS},5\n")])
    assert [(len(table.points), table.more) for table in long.tables] == [(2, True)]


def test_a_row_that_is_sent_back_is_quoted_with_the_names_of_its_columns() -> None:
    asked = sent_back(
        points_of("", [("t.csv", 'Clause,Risk,Note\n1,low,\n4.2,high,"Two\nlines"\n')]).all, {2: "Lower."}
    )
    assert [one.words for one in asked] == ["On row 2 of t.csv “Clause: 4.2; Risk: high; Note: Two lines”: Lower."]


HOSTILE_TABLES = ["|", "|-", "|a|\n|-|\n|b|\n|c|\n\n", "a|b\n", "|-|\n", "\\|", "a|b\n-|-\n", "-|-\n|"]


@pytest.mark.parametrize("piece", HOSTILE_TABLES)
@pytest.mark.parametrize("path", ["t.md", "t.csv"])
def test_the_work_of_hostile_tables_grows_with_their_length(path: str, piece: str) -> None:
    assert growth(lambda size: points_of(piece * size, [(path, piece * size)]), 250) < 5


@pytest.mark.slow
@pytest.mark.parametrize("path", ["t.md", "t.csv"])
def test_hostile_tables_are_read_within_limits_and_have_no_more_rows_than_fit(path: str) -> None:
    texts = [piece * (200_000 // len(piece)) for piece in HOSTILE_TABLES]
    found = within(
        2, 200, "tests.work.each", "runs.readmodel.result_points.points_of", [(text, [(path, text)]) for text in texts]
    )
    assert [len(one.all) for one in found if len(one.all) > MAX_POINTS] == []


def test_a_long_header_is_compared_once_and_not_for_each_of_its_rows() -> None:
    table = "\n".join(["|".join("a" * MAX_COLUMNS), "|".join("-" * MAX_COLUMNS), *["|"] * MAX_POINTS])
    made = calls(folded, lambda: points_of("", [("a.md", table)]))
    assert made // MAX_COLUMNS < 3 * MAX_POINTS + 10, "each cell of a row three times at most"


def test_so_many_characters_are_looked_through_of_all_files_together() -> None:
    half = "| a |\n|---|\n| 1 |\n| 2 |\n\n" + "x" * (MAX_CHARACTERS // 2)
    found = points_of("", [("a.md", half), ("b.md", half.replace("| 1", "| 3").replace("| 2", "| 4")), ("c.md", half)])
    assert [(table.path, table.more) for table in found.tables] == [("a.md", False), ("b.md", True)]


def test_rows_have_the_same_numbers_however_slow_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person decides on what one page showed; another row of that number must not be sent back instead."""
    files = [("a.csv", "id,name\n1,Ann\n2,Bob\n"), ("b.csv", "id,name\n3,Cid\n4,Dan\n")]
    shown = points_of("", files).all
    clock = iter(range(0, 10**6, 1_000))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    assert points_of("", files).all == shown
    assert [point.number for point in shown] == [1, 2, 3, 4]


def test_a_row_that_the_report_has_too_is_counted_once() -> None:
    """In other marks, links and breaks it is the same row; with another name, value or cut cell it is another one."""
    report = "| Clause | Risk |\n|---|---|\n| 4.2 | **high** |\n| [7.1](a.md#L7) | `low` |\n"
    assert [
        len(points_of(report, [(path, text)]).all)
        for path, text in (
            ("a.md", "# Sums\n\n| *Clause* | Risk |\n|:-|-:|\n| 4.2 | high |\n| 7.1 | low |\n"),
            ("a.csv", "Clause,Risk\n4.2,high\n 7.1,low\n"),
            ("a.csv", "Clause,Risk\n4.2,high\n7.1,high\n"),
            ("a.csv", "Section,Risk\n4.2,high\n7.1,low\n"),
            ("a.csv", "Clause,Risk,Note\n4.2,high,\n7.1,low,\n"),
        )
    ] == [2, 2, 3, 4, 4]
    long = "x" * MAX_CELL
    cut = points_of(f"|a|b|\n|-|-|\n|1|{long} y|\n|1|{long}|\n", [("a.csv", f"a,b\n1,{long} z\n1,{long}\n")])
    assert [[point.row for point in table.points] for table in cut.tables] == [[1, 2], [1]]


def test_rows_that_are_left_out_change_no_number_of_another_row() -> None:
    report = "| id | name |\n|---|---|\n| 1 | Ann |\n| 2 | Bob |\n"
    files = [("a.csv", "id,name\n1,Ann\n3,Cid\n2,Bob\n2,Bob\n"), ("b.csv", "id,name\n1,Ann\n3,Cid\n4,Dan\n")]
    found = points_of(report, files)
    assert [(point.number, point.name) for point in found.all] == [
        (1, "row 1 of table 1 of the report"),
        (2, "row 2 of table 1 of the report"),
        (3, "row 2 of a.csv"),
        (4, "row 4 of a.csv"),
        (5, "row 3 of b.csv"),
    ]
    assert [table.repeated for table in found.tables] == [0, 2, 2]
    assert points_of("", [("a.csv", "id,name\n1,Ann\n1,Ann\n")]).all != ()


def test_an_item_of_the_report_is_a_row_only_in_the_very_words() -> None:
    table = "Point,Why\nF1,names *no* date\nF2,names no party\n"
    found = points_of("- F1 names no date\n- F2: names no party", [("a.csv", table)])
    assert [point.text for point in found.all] == [
        "F1 names no date",
        "F2: names no party",
        "Point: F2; Why: names no party",
    ]


@pytest.mark.parametrize(
    ("report", "files", "expected"),
    [
        ("- a\n- b", [("t.csv", "x,y\n1,2\n3,4\n")], (2, 2)),
        (f"- a\n- b\n\n{TABLE}", [("t.csv", "x,y\n1,2\n3,4\n5,6\n")], (2, 5)),
        (TABLE, [("t.csv", "x,y\n1,2\n3,4\n5,6\n")], (2, 3)),
        ("None.", [("t.csv", "x,y\n1,2\n3,4\n5,6\n")], (3, 0)),
        ("None.", [], (0, 0)),
    ],
)
def test_points_are_what_the_report_lists_and_other_tables_have_further_rows(
    report: str, files: list[tuple[str, str]], expected: tuple[int, int]
) -> None:
    found = points_of(report, files)
    assert (found.count, found.rows) == expected


# ---- What items of reports begin with: ids and kinds, and none where there is none -----------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("F12: names no date", ("F12", "names no date")),
        ("**F12**: names no date", ("F12", "names no date")),
        ("**F12** names no date", ("F12", "names no date")),
        ("**F12: Missing date.** It is blank.", ("F12", "**Missing date.** It is blank.")),
        ("[R-3] names no date", ("R-3", "names no date")),
        ("F12 – names no date", ("F12", "names no date")),
        ("A4.2. names no date", ("A4.2", "names no date")),
        ("F12) names no date", ("F12", "names no date")),
        ("F12 (a b.md, line 3): names no date", ("F12", "(a b.md, line 3): names no date")),
        ("Q3 was good", ("", "Q3 was good")),
        ("Q3 (2024) was good", ("", "Q3 (2024) was good")),
        ("[F1](a.md#L3) names no date", ("", "[F1](a.md#L3) names no date")),
        ("**F1 and F2** name no date", ("", "**F1 and F2** name no date")),
        ("(F1](a.md)", ("", "(F1](a.md)")),
        ("F12:", ("", "F12:")),
        ("12: names no date", ("", "12: names no date")),
        ("Note: F12", ("", "Note: F12")),
        ("", ("", "")),
    ],
)
def test_an_id_is_what_an_item_begins_with(text: str, expected: tuple[str, str]) -> None:
    assert labelled(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Vague term:** in due course", ("Vague term", "in due course")),
        ("**Vague term**: in due course", ("Vague term", "in due course")),
        ("__Vague term__ – in due course", ("Vague term", "in due course")),
        ("**Deposit** is not stated", ("", "**Deposit** is not stated")),
        ("**Vague term:**", ("", "**Vague term:**")),
        ("**" + "x" * 41 + ":** y", ("", "**" + "x" * 41 + ":** y")),
        ("Vague term: in due course", ("", "Vague term: in due course")),
    ],
)
def test_a_kind_is_a_bold_label(text: str, expected: tuple[str, str]) -> None:
    assert kind_of(text) == expected


@pytest.mark.slow
@pytest.mark.parametrize("function", ["labelled", "kind_of"])
def test_hostile_items_are_read_within_limits(function: str) -> None:
    pieces = ("F1 (", "**", "F1, line 1", " ", "F1: **x", "[(`", "(")
    items = [f"{begun}{piece * 50_000}" for piece in pieces for begun in ("", "F1 ", "**")]
    within(0.5, 50, "tests.work.each", f"runs.readmodel.result_points.{function}", [(item,) for item in items])
