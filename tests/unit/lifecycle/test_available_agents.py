"""What differs between an agent that was approved and the one there is."""

from __future__ import annotations

from typing import Any

import pytest

from runs.lifecycle.available_agents import changes
from runs.pev.agents import AgentDefinition
from runs.text.diff import DiffBudget
from tests.factories.agents import defined
from tests.factories.parts import policy

BEFORE = defined(instructions="Name the clause in every notice.", model="claude-opus-5-5", tools=("glob",))


def after(**changed: Any) -> AgentDefinition:
    return AgentDefinition.model_validate({**BEFORE.model_dump(), **changed})


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, []),
        ({"purpose": "Something else."}, []),
        ({"model": ""}, [("model", "claude-opus-5-5", "claude-sonnet-5-5, the model of the run")]),
        ({"effort": "high"}, [("effort", "medium, the effort of the run", "high")]),
        ({"tools": ()}, [("tools", "glob", "those that its step names")]),
        (
            {"tools": ("glob", "table"), "instructions": "Be short."},
            [("tools", "glob", "glob, table"), ("instructions", "Name the clause in every notice.", "Be short.")],
        ),
    ],
)
def test_what_decides_how_a_step_is_carried_out_is_compared(
    changed: dict[str, Any], found: list[tuple[str, str, str]]
) -> None:
    now = after(**changed)
    assert [(one.what, one.before, one.after) for one in changes(BEFORE, now, policy(), DiffBudget())] == found
    assert bool(found) == (now.digest != BEFORE.digest)


def test_nothing_that_an_approval_is_bound_to_is_left_out() -> None:
    now = after(instructions="Be short.", model="", effort="high", tools=(), purpose="Something else.")
    bound = {name for name in AgentDefinition.model_fields if getattr(now, name) != getattr(BEFORE, name)} - {"purpose"}
    assert bound == set(AgentDefinition.model_fields) - {"purpose"}
    assert {one.what for one in changes(BEFORE, now, policy(), DiffBudget())} == bound
