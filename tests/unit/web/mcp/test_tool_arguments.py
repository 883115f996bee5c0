"""The arguments of the MCP server's tools: a run is named by its number, and by nothing that only looks like one."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from runs.web.mcp.tools import TOOLS

OTHERS = {"read_file": {"path": "contracts/lease.md"}}
"""What a tool needs besides the number of a run."""
NO_RUNS: list[Any] = [0, -1, 2**63, 2**200, 1.5, True, None, "1; DROP TABLE runs_run", [1], {"id": 1}]
"""What is the number of no run."""
OF_RUNS = [name for name, action in TOOLS.items() if "run" in action.arguments.model_fields]


def test_the_tools_that_are_about_one_run() -> None:
    assert OF_RUNS == ["run_status", "wait_for_run", "read_report", "list_files", "read_file"]


@pytest.mark.parametrize("number", [1, 2**63 - 1])
@pytest.mark.parametrize("tool", OF_RUNS)
def test_a_positive_number_that_a_database_can_hold_is_taken(tool: str, number: int) -> None:
    assert TOOLS[tool].arguments.model_validate({**OTHERS.get(tool, {}), "run": number}).run == number


@pytest.mark.parametrize("number", NO_RUNS)
@pytest.mark.parametrize("tool", OF_RUNS)
def test_numbers_that_are_none_of_a_run(tool: str, number: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        TOOLS[tool].arguments.model_validate({**OTHERS.get(tool, {}), "run": number})
    assert [one["loc"] for one in refused.value.errors()] == [("run",)]
