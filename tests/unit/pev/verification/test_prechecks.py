"""Pre-checks: documents that are too short, and no longer than it may take, whatever a plan asks to look for."""

from itertools import count
from typing import Any

import pytest

from runs.pev.checks.matches import Matches
from runs.pev.checks.min_bytes import MinBytes
from runs.pev.checks.word_count import WordCount
from runs.pev.contracts import Criterion
from runs.pev.verification import prechecks
from runs.pev.verification.case import VerificationInput
from runs.text import patterns


def case(files: dict[str, bytes], **changes: Any) -> VerificationInput:
    values: dict[str, Any] = {
        "subject": "Review",
        "request": "Review it.",
        "criteria": (),
        "expected_outputs": (),
        "files": files,
        "shown": (),
        "output": "",
        "tools": (),
        "model": "scripted",
        "effort": "low",
    }
    return VerificationInput(**values | changes)


def found(files: dict[str, bytes], shown: tuple[str, ...], *size_checks: MinBytes | WordCount) -> list[tuple[str, str]]:
    """In a run whose documents have to have ten bytes."""
    subject = case(files, shown=shown, min_document_bytes=10, size_checks=size_checks)
    return [(result.label, result.feedback) for result in prechecks.decided_by_code(subject, {})]


STUB = ("D1", "a.md has 9 bytes; in this run it has to have 10")


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([], [STUB]),
        ([MinBytes(kind="min_bytes", path="a.md", min=9)], []),
        ([WordCount(kind="word_count", path="a.md", max=2)], []),
        ([MinBytes(kind="min_bytes", path="b.md", min=1)], [STUB]),
        ([MinBytes(kind="min_bytes", path="a.md", min=99)], [STUB]),
    ],
    ids=["no check", "its bytes", "its words", "another file's", "bytes that it has not"],
)
def test_a_short_document_fails_unless_the_plan_wants_it_short(
    checks: list[MinBytes | WordCount], expected: list[tuple[str, str]]
) -> None:
    assert found({"a.md": b"Too short"}, ("a.md",), *checks) == expected


def test_only_written_documents_have_to_have_a_size() -> None:
    files = {"a.csv": b"a,b", "given.md": b"Hello", "B.MD": b"Hello", "full.md": b"0123456789", "blank.md": b" \n"}
    shown = ("a.csv", "B.MD", "full.md", "blank.md", "removed.md")
    assert found(files, shown) == [("D1", "B.MD has 5 bytes; in this run it has to have 10")]


class Clock:
    """Time passes whenever somebody looks: a tenth of a second, so that each search takes longer than it may."""

    def __init__(self) -> None:
        self._looks = count()

    def monotonic(self) -> float:
        return next(self._looks) / 10


def test_slow_checks_share_one_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(prechecks, "time", clock)
    monkeypatch.setattr(patterns, "time", clock)
    monkeypatch.setattr(prechecks, "SECONDS", 3.0)
    check = Matches(kind="matches", path="a.md", pattern="a", min=1_000)
    labels = {f"C{number}": Criterion(text="It has many.", check=check) for number in range(1, 6)}
    results = prechecks.decided_by_code(case({"a.md": b"a" * 1_000}), labels)
    assert [result.passed for result in results] == [False] * 5
    reasons = [result.feedback.partition("”: ")[2] for result in results]
    assert reasons == [
        "it took longer than 2 seconds",
        "it took longer than 0.7 seconds",
        *["no time was left for it"] * 3,
    ]
