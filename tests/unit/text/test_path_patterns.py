"""Patterns of given files, as people and planners write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.errors import InvalidInput
from runs.text.path_patterns import MAX_PATTERNS, MAX_WILDCARDS, selected
from tests.hostile.bounds import within
from tests.work import growth

PATHS = ["a.md", "contracts/nda.md", "contracts/old/nda.pdf", "contracts.md", "notes-1/x.md", "Ä/b.md"]


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ([], []),
        (["a.md"], ["a.md"]),
        (["contracts/"], ["contracts/nda.md", "contracts/old/nda.pdf"]),
        (["contracts"], ["contracts/nda.md", "contracts/old/nda.pdf"]),
        (["./contracts/old", "/a.md"], ["a.md", "contracts/old/nda.pdf"]),
        (["contracts\\old\\nda.pdf"], ["contracts/old/nda.pdf"]),
        (["*.pdf"], ["contracts/old/nda.pdf"]),
        (["**/a.md"], ["a.md"]),
        (["contracts/**"], ["contracts/nda.md", "contracts/old/nda.pdf"]),
        (["contracts/*.md"], ["contracts/nda.md"]),
        (["notes-?"], ["notes-1/x.md"]),
        (["notes-[0-9]/"], ["notes-1/x.md"]),
        (["A\u0308"], ["Ä/b.md"]),
        (["A.MD", "nda.md", "contract", "none*"], []),
        (["*"], PATHS),
        (["."], PATHS),
        (["/"], PATHS),
    ],
)
def test_what_patterns_mean(patterns: list[str], found: list[str]) -> None:
    assert selected(patterns, PATHS) == found


def test_too_many_wildcards_are_refused() -> None:
    sentence = "There may be 50 patterns with wildcards, and 8 wildcards in each; name folders."
    for wild in (["*?" * MAX_WILDCARDS], [f"*{n}" for n in range(MAX_PATTERNS + 1)]):
        with pytest.raises(InvalidInput) as caught:
            selected(wild, PATHS)
        assert str(caught.value) == sentence


@given(st.lists(st.text(max_size=20), max_size=5), st.lists(st.text("ab/*?[]!-.", min_size=1, max_size=12), max_size=5))
def test_no_pattern_breaks_it(patterns: list[str], paths: list[str]) -> None:
    try:
        found = selected(patterns, paths)
    except InvalidInput:
        found = []
    assert [path for path in paths if path in found] == found


@pytest.mark.slow
def test_hostile_patterns_are_held_against_paths_within_limits() -> None:
    paths = [f"{n}/{'a' * 190}/{'a' * 190}" for n in range(1_000)]
    wild = [f"*{'a*' * (MAX_WILDCARDS - 1)}{n}b" for n in range(MAX_PATTERNS)]
    assert within(0.5, 50, "runs.text.path_patterns.selected", wild, paths) == []


def test_the_work_on_names_grows_with_them() -> None:
    def named(size: int) -> None:
        assert selected([f"{'a' * 200}{n}" for n in range(size)], [f"{n}/{'a' * 190}" for n in range(size)]) == []

    assert growth(named, 100) < 5
