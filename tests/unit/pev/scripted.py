"""Models, tools and replies that say what a test tells them, in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask, Original, Reply, ToolResult, ToolSpec, ToolUse
from runs.enums import About, Complexity, Effect, Role
from runs.pev.checks.file_exists import FileExists
from runs.pev.contracts import Criterion, PlanContract, PlannedAction, PlanStep


def said(text: str, stop_reason: str = "end_turn") -> Reply:
    return Reply(({"type": "text", "text": text},), stop_reason, "scripted")


def gave(value: object) -> Reply:
    return said(json.dumps(value))


def used(*names: str, stop_reason: str = "tool_use", **arguments: Any) -> Reply:
    blocks: list[JsonObject] = [
        {"type": "tool_use", "id": f"use_{number}_{name}", "name": name, "input": arguments}
        for number, name in enumerate(names, 1)
    ]
    return Reply(tuple(blocks), stop_reason, "scripted")


class Scripted:
    """A model (`contracts.ports.Model`) that gives these replies in turn; the last one is repeated."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = replies
        self.asked: list[Ask] = []

    def ask(self, ask: Ask) -> Reply:
        self.asked.append(ask)
        return self._replies[min(len(self.asked), len(self._replies)) - 1]

    @property
    def told(self) -> str:
        """The text of the last message of the last question: the corrections, when there are some."""
        content: Any = self.asked[-1].messages[-1]["content"]
        return "\n".join(str(block.get("text", "")) for block in content)


class NeverAsked:
    """A model that fails the test when it is asked."""

    def ask(self, ask: Ask) -> Reply:
        raise AssertionError(f"the {ask.role} was asked")


class Tools:
    """A toolbox that answers with `answer` and remembers what was used."""

    def __init__(
        self,
        answer: Callable[[ToolUse], ToolResult] = lambda use: ToolResult(f"{use.name} done"),
        originals: Callable[[ToolUse], Sequence[Original]] = lambda _: (),
    ) -> None:
        self._answer, self._originals = answer, originals
        self.used: list[ToolUse] = []
        self.served: list[tuple[ToolUse, ToolResult]] = []
        self.noted: list[tuple[ToolUse, ToolResult]] = []

    def specs(self) -> Sequence[ToolSpec]:
        return [
            ToolSpec("read_file", "Reads.", {"type": "object"}),
            ToolSpec("write_file", "Writes.", {"type": "object"}, Effect.WRITES_FILES),
        ]

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        return self._originals(use)

    def run(self, use: ToolUse) -> ToolResult:
        self.used.append(use)
        return self._answer(use)

    def read_pdf(self, address: str, data: bytes) -> str:
        return data.decode()

    def serve(self, use: ToolUse, result: ToolResult) -> ToolResult:
        self.served.append((use, result))
        return result

    def note(self, use: ToolUse, result: ToolResult) -> ToolResult:
        self.noted.append((use, result))
        return result


def ask() -> Ask:
    return Ask(Role.PLANNER, "scripted", "Be brief.", ({"role": "user", "content": [{"type": "text", "text": "Go."}]},))


def step(key: str = "one", **changes: Any) -> PlanStep:
    values: dict[str, Any] = {
        "step_id": key,
        "name": f"Step {key}",
        "description": "Do it.",
        "actions": [PlannedAction(tool="write_file", purpose="Write it down.")],
        "acceptance_criteria": [Criterion(text="It is done.", about=About.OUTPUT)],
        "expected_outputs": [f"{key}.md"],
        "dependencies": [],
        "estimated_complexity": Complexity.LOW,
    }
    return PlanStep.model_validate({**values, **changes})


def plan(*steps: PlanStep, **changes: Any) -> PlanContract:
    values: dict[str, Any] = {
        "goal": "Everything is done.",
        "context": [],
        "steps": list(steps) or [step()],
        "success_criteria": [
            Criterion(text="All is there.", about=About.OUTPUT, check=FileExists(kind="file_exists", path="one.md"))
        ],
        "rollback_strategy": "Nothing to undo.",
    }
    return PlanContract.model_validate({**values, **changes})


def lines_of(path: str) -> dict[str, Any]:
    """A check that compares a figure of one.md with the lines of this file."""
    return {"kind": "count", "path": "one.md", "figure": r"(\d+)", "terms": [{"path": path, "of": "lines"}]}
