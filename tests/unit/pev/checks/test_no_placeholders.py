"""Placeholders that must not be left in a file."""

import pytest

from runs.pev.checks.deciding import run_check
from runs.pev.checks.material import CheckInput
from runs.pev.checks.no_placeholders import NoPlaceholders
from tests.unit.pev.checks.outcomes import outcome

NO_PLACEHOLDERS = NoPlaceholders(kind="no_placeholders", path="a.md")


class TestNoPlaceholders:
    @pytest.mark.parametrize(
        "text",
        [
            "TODO",
            "(TODO: check)",
            "To be said: TBD.",
            "FIXME later",
            "XXX",
            "Lorem  ipsum dolor",
            "[Insert name here]",
            "[insert]",
            "<placeholder>",
            "<PLACEHOLDER>",
            "Dear {{ name }},",
            "Coming soon!",
            "coming\nsoon",
            "TODO\n",
        ],
    )
    def test_finds(self, text: str) -> None:
        assert not outcome(NO_PLACEHOLDERS, f"Before.\n{text} after")[0]

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "Lo hicimos todo.",
            "Todo está listo",
            "a todo list",
            "METODO",
            "TODOS",
            "my_TODO_list",
            "XXXL",
            "XXX-XX-1234",
            "fixme",
            "an inserted [inserted] clause",
            "{ {a} }",
            "{}",
            "a placeholder",
            "[1]",
            "soon coming",
            "tbd",
            "lorem",
            "<placeholders>",
        ],
    )
    def test_raises_no_false_alarm(self, text: str) -> None:
        assert outcome(NO_PLACEHOLDERS, text) == (True, "a.md has no placeholders")

    def test_says_where(self) -> None:
        evidence = run_check(NO_PLACEHOLDERS, CheckInput({"a.md": b"a\nb\n- TODO\n"}))
        assert evidence.sentence == "a.md still has a placeholder: “TODO”, line 3"
        assert (evidence.line, evidence.start, evidence.end) == (3, 6, 10)
