"""The report for machines tells what the pages tell: what an attempt found, and what was refused to it."""

from typing import Any

import pytest

from tests import factories
from tests.reporting import as_json

pytestmark = pytest.mark.django_db


def test_it_tells_findings_and_refused_tool_calls() -> None:
    report: Any = as_json(factories.exhausted_gate())
    steps = {step["step_id"]: step for step in report["steps"]}
    assert steps["review"]["attempts"][0]["findings"] == "Two findings in the service agreement."
    assert report["refused_tool_calls"][0] == {
        "step_id": "review",
        "attempt": 1,
        "tool": "read_file",
        "agent": None,
        "problem": "There is no file contracts/Lease.md.",
    }
