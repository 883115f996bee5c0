"""Plans as people write them, and what importing them says."""

import json
from typing import Any

import pytest

from runs.errors import PlanRefused
from runs.pev.contracts import (
    PlanContract,
    PlanStep,
)
from runs.pev.imports.imported import plan_in


def by_hand(**changes: Any) -> dict[str, Any]:
    """The shortest plan that a person would write."""
    values = {"goal": "Know the leases", "steps": [hand_step()], "success_criteria": ["Every lease is named."]}
    return values | changes


def hand_step(**changes: Any) -> dict[str, Any]:
    values = {"id": 1, "name": "Read", "acceptance_criteria": ["All are read."], "complexity": 2}
    return {name: value for name, value in (values | changes).items() if value is not ...}


def read(value: Any) -> PlanContract:
    return plan_in(json.dumps(value).encode())


def only_step(**changes: Any) -> PlanStep:
    return read(by_hand(steps=[hand_step(**changes)])).steps[0]


def refused(value: Any) -> list[str]:
    with pytest.raises(PlanRefused) as caught:
        plan_in(value if isinstance(value, bytes) else json.dumps(value).encode())
    assert str(caught.value) == "\n".join(caught.value.problems)
    return list(caught.value.problems)
