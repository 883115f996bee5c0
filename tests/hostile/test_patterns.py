"""Hostile regular expressions, by each way in: checks of a plan, schemas, and the search tool."""

import json
import random
from collections.abc import Mapping, Sequence

import pytest

from runs.contracts.ports import FileInfo, ToolUse
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.json_schema import JsonSchema
from runs.pev.checks.matches import Matches
from runs.pev.checks.material import CheckInput
from runs.pev.tools.tool import ToolLimits
from runs.pev.tools.toolbox import RunTools
from runs.text.patterns import MAX_COMPILED, Budget, compiled, found
from tests.hostile.bounds import within

pytestmark = pytest.mark.slow

PATTERNS = {
    "twenty deep": "(?:" * 20 + "a" + ")+" * 20,
    "counted": "(?:(?:(?:a{1,99}){1,99}){1,99}){1,99}",
    "huge count": "(?:a{999999999})+",
    "unicode": r"(?:\w{1,45}\W){2}",
    "alternatives": "|".join(f"{letter}.{{40}}z" for letter in "abcdefghijklmnopqrstuvwxyz") + "|" + r"\S{0,200}c",
    "nested stars": "(((((a*)*)*)*)*)*b",
    "deep": "(" * 499 + ")" * 499,
    "classes": r"[\w\s\W]" * 100,
    "ignored case": "(?i)" + "[^k\u212a]{9}" * 80,
    "back-tracking": "^(a|aa)+$",
    "many states": "(?:a|b)*a(?:a|b){500}c",
}
ALLOWED = 0.25
"""Seconds that a check may take; the product gives eight times as many."""
TEXT = "".join(random.Random(1).choices("ab", k=100_000)).encode() * 3 + b"!"


def in_a_plan(pattern: str) -> None:
    check = Matches(kind="matches", path="a.md", pattern=pattern[:500])
    problem_with(check)
    run_check(check, CheckInput({"a.md": TEXT}), seconds=ALLOWED)


def in_a_schema(pattern: str) -> None:
    rules = {"pattern": pattern, "patternProperties": {pattern: {}}, "additionalProperties": False}
    check = JsonSchema(kind="json_schema", path="a.json", schema_text=json.dumps(rules))
    problem_with(check)
    run_check(check, CheckInput({"a.json": json.dumps(TEXT.decode()).encode()}), seconds=ALLOWED)
    run_check(check, CheckInput({"a.json": json.dumps({TEXT.decode(): 1}).encode()}), seconds=ALLOWED)


def in_a_search(pattern: str) -> None:
    toolbox = RunTools(Files(), ToolLimits(search_seconds=ALLOWED))
    toolbox.run(ToolUse("1", "search_files", {"pattern": pattern[:500], "regex": True}))


class Files:
    """A workspace with one long line."""

    def files(self) -> Mapping[str, FileInfo]:
        return {"a.md": FileInfo("", len(TEXT))}

    def read(self, path: str) -> bytes:
        return TEXT

    def problem(self, path: str) -> str:
        return ""

    def notes(self, path: str) -> Sequence[str]:
        return ()

    def extent(self, path: str) -> str:
        return ""

    def is_given(self, path: str) -> bool:
        return True

    def make(self, form: str, data: bytes) -> bytes:
        raise NotImplementedError

    def comment(self, path: str, place: tuple[int, int], words: str) -> bytes:
        raise NotImplementedError

    def write(self, path: str, content: bytes) -> None:
        raise NotImplementedError


def by_each_way(pattern: str) -> None:
    in_a_plan(pattern)
    in_a_schema(pattern)
    in_a_search(pattern)


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_a_pattern_costs_no_more_than_it_may(pattern: str) -> None:
    within(1.5, 40, f"{__name__}.by_each_way", pattern)


def search_with_many() -> None:
    """Many more patterns than are kept, each with a megabyte of states once it was searched for."""
    text = TEXT[:20_000].decode()
    for number in range(8 * MAX_COMPILED):
        found(compiled(f"(?:a|b)*a(?:a|b){{12}}c{number}"), text, Budget(60))


def test_what_is_kept_of_patterns_is_bounded() -> None:
    within(10, 70, f"{__name__}.search_with_many")
