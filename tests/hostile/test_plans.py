"""Plans that are large, deep or knotted: reading one, and saying what is wrong with it, costs little."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from runs.errors import PlanRefused
from runs.pev.imports.imported import MAX_STEPS, plan_in
from runs.pev.soundness import problems_in
from runs.pev.tools.registry import TOOL_NAMES
from tests.hostile.bounds import within


def looked_at(text: str) -> int:
    """How many things are wrong with a plan."""
    try:
        return len(problems_in(plan_in(text.encode()), TOOL_NAMES, max_steps=MAX_STEPS))
    except PlanRefused as refused:
        return len(refused.problems)


def step(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "step_id": f"s{number}",
        "name": f"Step {number}",
        "description": "Do it.",
        "actions": [],
        "estimated_complexity": "low",
        "acceptance_criteria": ["It is done."],
        **changes,
    }


def plan(*steps: Any, **changes: Any) -> str:
    return json.dumps({"goal": "Sort it.", "steps": steps, "success_criteria": ["It is sorted."], **changes})


PATTERN = {"text": "a", "check": {"kind": "matches", "path": "a.md", "pattern": "(?:" * 60 + "a" + ")+" * 60}}
PLANS: dict[str, Callable[[], str]] = {
    "deep": lambda: "[" * 500_000,
    "deep objects": lambda: '{"a":' * 190_000,
    "closed and deep": lambda: plan(step(1), context=json.loads("[" * 900 + "]" * 900)),
    "too large": lambda: " " * 50_000_000 + plan(step(1)),
    "each after all before": lambda: plan(*(step(n, dependencies=[f"s{m}" for m in range(n)]) for n in range(340))),
    "a ring": lambda: plan(*(step(n, dependencies=[f"s{(n + 1) % 500}"]) for n in range(500))),
    "the same name": lambda: plan(*(step(1) for _ in range(500))),
    "the same file": lambda: plan(*(step(n, expected_outputs=["a.md", "b/c.md"]) for n in range(500))),
    "many steps": lambda: plan(*([1] * 300_000)),
    "many criteria": lambda: plan(step(1, acceptance_criteria=["a"] * 190_000)),
    "many mistakes": lambda: plan(*(step(n, **{f"x{m}": m for m in range(40)}) for n in range(500))),
    "long words": lambda: plan(step(1, description="a" * 900_000)),
    "patterns": lambda: plan(*(step(n, acceptance_criteria=[PATTERN] * 40) for n in range(20))),
    "large numbers": lambda: plan(step(1, estimated_complexity=0)).replace(": 0", ": " + "9" * 900_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_a_plan_costs_no_more_than_it_may(name: str) -> None:
    within(1.5, 150, f"{__name__}.looked_at", PLANS[name]())


def test_without_what_is_hostile_such_a_plan_is_sound() -> None:
    assert looked_at(plan(step(1), step(2, dependencies=["s1"]))) == 0
