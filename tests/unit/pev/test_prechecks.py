"""Stage one takes no longer than it may, whatever a plan asks it to look for."""

import time

import pytest

from runs.pev import prechecks
from runs.pev.case import Case
from runs.pev.contracts import Criterion, Matches
from tests.unit.pev import slow

SLOW = Matches(kind="matches", path="a.md", pattern=slow.PATTERN)


def test_slow_checks_share_one_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prechecks, "SECONDS", 0.2)
    labels = {f"C{number}": Criterion(text="It ends in a.", check=SLOW) for number in range(1, 6)}
    case = Case(
        subject="Review",
        request="Review it.",
        criteria=tuple(labels.values()),
        expected_outputs=(),
        files={"a.md": slow.TEXT.encode()},
        shown=(),
        output="",
        tool_results=(),
        model="scripted",
        effort="low",
    )
    began = time.process_time()
    results = prechecks.decided_by_code(case, labels)
    assert time.process_time() - began < 0.5
    assert [result.passed for result in results] == [False] * 5
    assert all("was not searched for" in result.feedback for result in results)
