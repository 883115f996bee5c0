"""Checks that compare with sources, over large files and many items, of what takes most time and memory."""

import random

import pytest

from runs.pev.checks.absent import Absent
from runs.pev.checks.base import Check
from runs.pev.checks.count import Count
from runs.pev.checks.covers import Covers
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import CheckInput
from runs.pev.checks.quotes_occur import QuotesOccur
from tests.hostile.bounds import within

MB = 200_000
"""A fifth of one: what is quadratic takes longer than is allowed here, too."""
ALLOWED = 0.4
"""Seconds that a check may compare for; the product gives some times as many."""
MOST = ALLOWED + 0.4
QUOTES = QuotesOccur(kind="quotes_occur", path="out.md")
CSV_QUOTES = QuotesOccur(kind="quotes_occur", path="out.md", column="text", source_column="where")


def over(check: Check, result: str, source: str, repeated: int = 1, times: int = 1) -> str:
    """The sentence of the check over a result and a given file, of `times` and `repeated` copies of the texts."""
    problem_with(check)
    given = {"in.txt": (source * repeated).encode()}
    material = CheckInput({**given, "out.md": (result * times).encode()}, given, {"in.txt"})
    return run_check(check, material, seconds=ALLOWED).sentence[:100]


def to_the_end(check: Check, result: str, source: str) -> str:
    """Without a limit by the clock, which on a busy machine would be over before the work is."""
    given = {"in.txt": source.encode()}
    material = CheckInput({**given, "out.md": result.encode()}, given, {"in.txt"})
    return run_check(check, material, seconds=600).sentence[:100]


def terms(check: dict[str, object]) -> Count:
    return Count.model_validate({"kind": "count", "path": "out.md", "figure": r"(\d+)", "terms": [check]})


MARKDOWN = {
    "quotes": "“ab ab ab ab ab” in.txt\n",
    "quotes without a source": "“ab ab ab ab ab” ",
    "quotes in one line": "“ab ab ab ab ab” in.txt ",
    "block quotes": "> ab ab ab\n\nin.txt\n\n",
    "one block quote": "> ab ab ab\n",
    "opening marks": "“",
    "straight marks": '"',
    "low marks": "„a",
    "brackets": "[",
    "links": "[“ab ab ab ab ab”](in.txt) ",
    "half of links": "[“ab ab ab ab ab”](in.txt",
    "link ends": "](",
    "backticks": "`",
    "fences": "```\n~~~\n",
    "spaces": " ",
    "greater": "> ",
    "greater lines": ">\n",
    "dashes": "- ",
    "lines": "a\n",
    "names": "in.txt ",
    "dots": "./",
    "percent": "%41",
    "ellipses": "> ab [...] ab … ab\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", MARKDOWN.values(), ids=MARKDOWN)
def test_quotes_are_found_in_bounded_time_and_memory(unit: str) -> None:
    within(MOST, 60, f"{__name__}.over", QUOTES, unit, "ab ", MB, MB // len(unit))


def many_names(name: str) -> str:
    given = {f"{name}{number}.md": b"a" for number in range(1_000)}
    return run_check(QUOTES, CheckInput({**given, "out.md": b"a b " * MB}, given), seconds=ALLOWED).sentence[:60]


@pytest.mark.parametrize("name", ["a b ", "a", "x/y"])
def test_names_of_many_files_are_looked_for_in_bounded_time(name: str) -> None:
    within(MOST, 60, f"{__name__}.many_names", name)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_hundred_thousand_quotes_of_a_table() -> None:
    rows = "ab ab ab ab,in.txt\n" * 100_000
    said = within(4, 300, f"{__name__}.to_the_end", CSV_QUOTES, f"text,where\n{rows}", "ab " * 1_000)
    assert said == "out.md has 100,000 quoted passages, each found in the source named next to it: in.txt"
    said = within(4, 300, f"{__name__}.to_the_end", CSV_QUOTES, f"text,where\n{rows}a,b\n", "ab ")
    assert said == "out.md is not compared: there are more than 100,000 quoted passages"


ITEMS = [f"a a item{number}" for number in range(100)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "result", "source"),
    [
        (Covers(kind="covers", path="out.md", items=ITEMS), "a ", "x"),
        (Covers(kind="covers", path="out.md", items=ITEMS), "a", "x"),
        (Covers(kind="covers", path="out.md", source="in.txt"), "a ", "".join(f"a a {n}\n" for n in range(20_000))),
        (Covers(kind="covers", path="out.md", source="in.txt"), "ß", "a" * 5 * MB),
        (Covers(kind="covers", path="out.md", source="in.txt", column="a"), "b ", "a\n" + "b,\n" * 40_000),
        (Covers(kind="covers", path="out.md", source="in.txt", column="a"), "b ", "a," * 5 * MB),
        (Covers(kind="covers", path="out.md", source="in.txt", column="a"), "b ", 'a\n"' + '\n","' * MB),
        (Covers(kind="covers", path="out.md", items=["a"], in_column="b"), "b,a\n", "x"),
        (Covers(kind="covers", path="out.md", files="*a*a*a*a*a*a*a*b"), "b,a\n", "x"),
    ],
)
def test_items_are_looked_for_in_bounded_time_and_memory(check: Covers, result: str, source: str) -> None:
    within(MOST, 60, f"{__name__}.over", check, result, source, 1, 5 * MB // len(result))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "source", "repeated"),
    [
        ({"of": "rows"}, "a,b,c\n", MB),
        ({"of": "rows"}, '"', 10 * MB),
        ({"of": "rows"}, ",", 10 * MB),
        ({"of": "lines"}, "\n", 10 * MB),
        ({"of": "lines"}, "a", 10 * MB),
        ({"of": "sum", "column": "1"}, "1\n", MB),
        ({"of": "sum", "column": "1"}, "1" * 400 + "\n", 20_000),
        ({"of": "matches", "pattern": "a"}, "a", 10 * MB),
        ({"of": "matches", "pattern": "(?:a|b)*a(?:a|b){200}c"}, "ab", 2 * MB),
    ],
)
def test_counting_is_bounded(of: dict[str, object], source: str, repeated: int) -> None:
    check = terms({"path": "in.txt", **of})
    within(MOST, 60, f"{__name__}.over", check, "1 row", source, repeated)


@pytest.mark.parametrize("result", ["1", "1 ", "1.", "1 111", "1'", "-", "a1\n"])
def test_a_figure_is_looked_for_in_bounded_time(result: str) -> None:
    check = terms({"path": "in.txt", "of": "lines"})
    within(MOST, 60, f"{__name__}.over", check, result, "x", 1, MB // len(result))


def test_a_sum_that_can_be_read_in_many_ways() -> None:
    one = {"path": "in.txt", "of": "sum", "column": "n"}
    check = Count.model_validate({"kind": "count", "path": "out.md", "figure": r"(\d+)", "terms": [one] * 20})
    said = within(5, 50, f"{__name__}.over", check, "1", "n\n1.234\n")
    assert said == "out.md is not compared: too many of the sums can be read in more than one way"


@pytest.mark.parametrize("source", ["ab ", "a", "ß ", "\u00ad", "a\n"])
def test_absence_is_found_in_bounded_time_and_memory(source: str) -> None:
    letters = random.Random(1)
    wanted = ["".join(letters.choices("ab ß", k=200)) + "x" for _ in range(100)]
    check = Absent(kind="absent", path="in.txt", terms=wanted)
    within(MOST, 60, f"{__name__}.over", check, "x", source, 5 * MB // len(source.encode()))
