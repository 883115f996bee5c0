"""Patterns that must occur in a file, hostile ones too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.documents.content import Converted
from runs.documents.model.layout import BlockKind
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder
from runs.evidence.results import Evidence
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.matches import Matches
from runs.pev.checks.material import CheckInput
from tests.unit.pev import slow
from tests.unit.pev.checks.outcomes import outcome


def matches(pattern: str, minimum: int = 1) -> Matches:
    return Matches(kind="matches", path="a.md", pattern=pattern, min=minimum)


class TestMatches:
    def test_says_how_many_and_where(self) -> None:
        text = "x\n\n\n# a\n\n# b\r\n# c\n"
        assert outcome(matches("^# .$", 2), text) == (True, "a.md matches 3 of at least 2: lines 4, 6, 7")
        assert outcome(matches("^# .$", 4), text) == (False, "a.md matches 3 of at least 4: lines 4, 6, 7")
        assert outcome(matches("^z"), text) == (False, "a.md matches 0 of at least 1")
        assert outcome(matches("x"), "xx") == (True, "a.md matches 2 of at least 1: line 1")

    def test_of_a_document_its_comments_alone_may_be_searched(self) -> None:
        def found(body: str, comment: str) -> tuple[bool, str]:
            builder = Builder("docx")
            builder.add("p1", BlockKind.PARAGRAPH, body)
            builder.add("cm0.p1", BlockKind.COMMENT, comment)
            made = builder.build()
            copy = Converted(made.text.encode(), "a" * 64, lambda: Document(made.text, made.rendered.layout))
            check = Matches(kind="matches", path="a.docx", pattern=r"^F\d+ · ", comments=True)
            evidence = run_check(check, CheckInput({"a.docx": copy}))
            return evidence.verified, evidence.sentence

        assert found("F1 · Delivery\nF2 · Rent", "Why?") == (False, "a.docx matches 0 of at least 1 in its comments")
        assert found("One\nTwo", "F1 · Why?") == (True, "a.docx matches 1 of at least 1 in its comments: line 3")
        text = Matches(kind="matches", path="a.md", pattern="F1", comments=True)
        assert outcome(text, "F1 · x") == (False, "a.md matches 0 of at least 1 in its comments")

    def test_lists_ten_lines(self) -> None:
        ten = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"
        assert outcome(matches("x"), "x\n" * 10)[1] == f"a.md matches 10 of at least 1: lines {ten}"
        assert outcome(matches("x"), "x\n" * 11)[1] == f"a.md matches 11 of at least 1: lines {ten}, …"

    def test_counts_no_further_than_it_has_to(self) -> None:
        assert outcome(matches("x"), "x" * 5_000)[1] == "a.md matches 1,000 of at least 1: line 1"
        assert outcome(matches("x", 4_000), "x" * 5_000)[0]
        assert not outcome(matches("x", 6_000), "x" * 5_000)[0]

    def test_matches_of_no_width_end(self) -> None:
        assert outcome(matches("^", 3), "a\nb\nc") == (True, "a.md matches 3 of at least 3: lines 1, 2, 3")
        assert outcome(matches("b*", 4), "äbä") == (True, "a.md matches 4 of at least 4: line 1")

    def test_a_pattern_that_takes_too_long_does_not_hold(self) -> None:
        evidence = run_check(matches(slow.PATTERN), CheckInput({"a.md": slow.TEXT.encode()}), seconds=0.2)
        assert not evidence.verified
        assert evidence.sentence == f"a.md was not searched for “{slow.PATTERN}”: it took longer than 0.2 seconds"

    @pytest.mark.parametrize(
        "pattern",
        [
            "(",
            "[",
            "*",
            "\\",
            "(?P<a",
            "(?<n>a)(?<m",
            "a{2000000000}",
            "((((a{1000}){1000}){1000}){1000})",
            "(?:a{9}?){9999999}",
            "(?x)(?:a{999}) #\n{9999}",
            "(?x: a )",
            "a{99999999999999999999}",
            "(" * 500,
            r"^.{0,2000}$",
            r"(?=a)",
            r"^x(?<=\S)",
            r"(a)\1",
            r"\bÄnderung",
        ],
    )
    def test_a_pattern_that_cannot_be_used_does_not_hold(self, pattern: str) -> None:
        held, sentence = outcome(matches(pattern), "a" * 100)
        assert not held
        assert sentence.startswith("a.md was not searched for “")
        assert "cannot be used" in (problem_with(matches(pattern)) or "")

    @pytest.mark.parametrize(
        "pattern",
        [
            r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$",
            r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            r"\(?x{2}\)?",
            r"^.{1,1000}$",
            r"\bgrößer\b",
            r"\b\d{1,2}\. \w{3,20} \d{4}\b",
            r"(?m)^#{1,3} ",
            r"\p{Lu}+",
        ],
    )
    def test_ordinary_patterns_are_fine(self, pattern: str) -> None:
        assert problem_with(matches(pattern)) is None


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (matches("x*"), "The pattern “x*” matches an empty file too, so it proves nothing."),
    ],
)
def test_problem_with(check: Matches, problem: str | None) -> None:
    assert problem_with(check) == problem


@given(st.text("ab(){}[]*+?|\\^$.,:=!<>019ixPR#&'\n ", min_size=1, max_size=15))
def test_no_pattern_makes_a_check_raise(pattern: str) -> None:
    problem_with(matches(pattern))
    assert isinstance(run_check(matches(pattern), CheckInput({"a.md": b"aab\nba 01"})), Evidence)
