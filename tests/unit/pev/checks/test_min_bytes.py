"""The minimum size of a file."""

from runs.pev.checks.min_bytes import MinBytes
from tests.unit.pev.checks.outcomes import outcome


def test_min_bytes() -> None:
    check = MinBytes(kind="min_bytes", path="a.md", min=1_000)
    assert outcome(check, "x" * 999) == (False, "a.md has 999 bytes, wanted at least 1,000")
    assert outcome(check, "x" * 1_000) == (True, "a.md has 1,000 bytes, wanted at least 1,000")
