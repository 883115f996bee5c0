"""The security page is true: its tests and settings exist, its numbers are the code's, each requirement is answered."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from pevsite.environment import FIELDS
from tests.unit.test_docs import ROOT, names_in

PAGE = (ROOT / "docs/security.md").read_text()
ATTACKS, LIMITS, REQUIREMENTS = (
    PAGE.partition(f"\n## {title}")[2].partition("\n## ")[0] for title in ("Attacks", "Limits", "OWASP ASVS")
)
LEVELS_1_AND_2 = """
1.1:2 1.2:10-10 1.3:12-12 1.4:3 1.5:3-3
2.1:3 2.2:3 2.3:5-5 2.4:2-2
3.2:2 3.3:5-5 3.4:8-7,8 3.5:8-6,7,8 3.7:5-3,4,5
4.1:5-4,5 4.2:5-2,3,4,5 4.3:2 4.4:4
5.1:1 5.2:6-4,5,6 5.3:3-3 5.4:3
6.1:3 6.2:12 6.3:8-5,6,7,8 6.4:6-5,6 6.5:8-6,7,8 6.6:4-4 6.8:4
7.1:3 7.2:4 7.3:2 7.4:5 7.5:3-3 7.6:2
8.1:4-3,4 8.2:4-4 8.3:3-2,3 8.4:2-2
9.1:3 9.2:4
10.1:2 10.2:3-3 10.3:5-5 10.4:16-12,13,14,15,16 10.5:5 10.6:2 10.7:3
11.1:4-3,4 11.2:5-4,5 11.3:5-4,5 11.4:4 11.5:2-2 11.6:2-2
12.1:5-4,5 12.2:2 12.3:5-5
13.1:4-2,3,4 13.2:6-6 13.3:4-3,4 13.4:7-6,7
14.1:2 14.2:8-5,6,7,8 14.3:3
15.1:5-4,5 15.2:5-4,5 15.3:7
16.1:1 16.2:5 16.3:4 16.4:3 16.5:4-4
17.1:2-2 17.2:8-5,6,7,8 17.3:2
"""
"""Of ASVS 5.0.0, for each section: its last requirement, and behind the dash those of level 3."""


def rows(part: str) -> list[list[str]]:
    """The cells of the tables, without heads and lines."""
    tables = [
        [[cell.strip() for cell in line[1:-1].split(" | ")] for line in table.splitlines()[2:]]
        for table in re.findall(r"(?:^\|.*\|\n?)+", part, re.MULTILINE)
    ]
    return [row for table in tables for row in table]


def every_requirement() -> list[str]:
    found = []
    for section in LEVELS_1_AND_2.split():
        name, _, numbers = section.partition(":")
        last, _, left_out = numbers.partition("-")
        found += [f"{name}.{number}" for number in range(1, int(last) + 1) if str(number) not in left_out.split(",")]
    return found


def named_requirements(cell: str) -> list[str]:
    """Of `10.4.1–3, 10.5.1` four."""
    found = []
    for one in cell.split(", "):
        first, _, last = one.partition("–")
        section, _, number = first.rpartition(".")
        found += [f"{section}.{each}" for each in range(int(number), int(last or number) + 1)]
    return found


def test_each_requirement_occurs_once() -> None:
    every = every_requirement()
    assert len(every) == 253
    named = Counter(number for row in rows(REQUIREMENTS) for number in named_requirements(row[0]))
    assert {number: count for number, count in named.items() if count > 1} == {}
    assert sorted(named) == sorted(every)


def test_each_requirement_has_an_answer_and_its_reason() -> None:
    answered = rows(REQUIREMENTS)
    assert {len(row) for row in answered} == {4}
    assert {row[2] for row in answered} == {"met", "n/a", "open"}
    assert [row[0] for row in answered if not row[3]] == []


def test_the_sum_of_the_answers_is_right() -> None:
    count = Counter[str]()
    for row in rows(REQUIREMENTS):
        count[row[2]] += len(named_requirements(row[0]))
    assert f"{count['met']} are met, {count['n/a']} do not apply, {count['open']} are open." in REQUIREMENTS


@pytest.mark.slow
def test_each_attack_names_a_test_that_exists() -> None:
    assert {len(row) for row in rows(ATTACKS)} == {3}
    named = {attack: re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests) for attack, _, tests in rows(ATTACKS)}
    assert [attack for attack, tests in named.items() if not tests] == []
    tests = {test for tests in named.values() for test in tests}
    there = {path: names_in(ROOT / path) for path, _ in tests}
    assert [(path, name) for path, name in tests if name not in there[path]] == []


def test_the_whole_picture_is_two_pages() -> None:
    picture = PAGE.partition("\n## In two pages\n")[2].partition("\n## ")[0]
    assert 3_000 < len(picture) < 6_000


def test_every_setting_exists() -> None:
    named = set(re.findall(r"\b(?:PEV|ANTHROPIC)_[A-Z_]+\b", PAGE))
    assert len(named) > 10
    assert named - set(FIELDS) == set()


def limits() -> list[tuple[str, str, float]]:
    """Each constant that a row names, with what the row says and the number in the code."""
    found = []
    for row in rows(LIMITS):
        for path, name in re.findall(r"`([\w/]+)\.py::([A-Z_]+)`", row[-1]):
            value = getattr(import_module(path.replace("/", ".").removesuffix(".__init__")), name)
            found += [(name, row[1], value)] if isinstance(value, int | float) else []
    return found


@pytest.mark.slow
def test_each_limit_is_the_one_of_the_code() -> None:
    every = limits()
    assert {len(row) for row in rows(LIMITS)} == {4}
    assert len(every) > 45
    assert [
        (name, said, value)
        for name, said, value in every
        if f"{value:,}".removesuffix(".0") not in re.findall(r"\d[\d,]*(?:\.\d+)?", said.replace(", ", " ; "))
    ] == []


def test_how_to_report_stands_where_it_is_looked_for() -> None:
    page = (ROOT / ".github/SECURITY.md").read_text()
    assert "Report a vulnerability" in page
    assert [link for link in re.findall(r"\]\(([^)#]+)", page) if not Path(ROOT / ".github" / link).exists()] == []
