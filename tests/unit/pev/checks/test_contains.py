"""Words that a file must contain."""

import pytest

from runs.pev.checks.contains import Contains
from runs.pev.checks.deciding import run_check
from runs.pev.checks.material import CheckInput
from tests.unit.pev.checks.outcomes import outcome


def test_contains_counts_capitals() -> None:
    check = Contains(kind="contains", path="a.md", text="Net amount")
    assert outcome(check, "net amount") == (False, "a.md does not contain “Net amount”")


class TestSameText:
    @pytest.mark.parametrize(
        ("path", "content", "text", "held"),
        [
            ("a.md", "the tenant’s **last** rent", "the tenant's last rent", True),
            ("a.md", "a limi-\ntation of lia\u00adbility", "limitation of liability", True),
            ("a.html", "<p>Meier &amp; <i>Co</i></p>", "Meier & Co", True),
            ("a.txt", "Meier &amp; Co", "Meier & Co", False),
            ("a.md", "red car tires", "art", False),
            ("a.md", "The Rent", "the rent", False),
            ("a.md", "10² metres", "102 metres", False),
        ],
    )
    def test_a_text_is_contained_however_it_is_spelled(self, path: str, content: str, text: str, held: bool) -> None:
        check = Contains(kind="contains", path=path, text=text)
        assert run_check(check, CheckInput({path: content.encode()})).verified is held
