"""A team of models that behave: planner, executor, verifier, synthesizer over the fake Messages API.

A test replaces the one that is to misbehave: `Team(verifier=...)` is given the request and the answer that would
have been right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runs.enums import Role
from runs.pev import prompts
from runs.pev.contracts import PlanContract
from runs.pev.delimiters import DelimitedBlock, find, listed_in
from runs.pev.imports.simple_plans import simple_plan
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools

type Player = Callable[[Request, Answer], Answer]


def output_criterion(text: str, check: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"text": text, "about": "output", "check": check}


def step(step_id: str, *after: str, complexity: str = "low", outputs: tuple[str, ...] | None = None) -> dict[str, Any]:
    """A sound plan step that writes `STEP_ID.md` and has one checked and one judged criterion."""
    paths = list(outputs) if outputs is not None else [f"{step_id}.md"]
    return {
        "step_id": step_id,
        "name": f"Do {step_id}",
        "description": f"Write the results of {step_id}.",
        "actions": [{"tool": "write_file", "purpose": "write the result"}],
        "acceptance_criteria": [
            *(output_criterion(f"{path} exists", {"kind": "file_exists", "path": path}) for path in paths),
            output_criterion(f"{step_id} says what was found"),
        ],
        "expected_outputs": paths,
        "dependencies": list(after),
        "estimated_complexity": complexity,
    }


def plan(*steps: dict[str, Any]) -> dict[str, Any]:
    return {
        "goal": "Do the work",
        "context": [{"name": "source", "value": "the files"}],
        "steps": list(steps),
        "success_criteria": [output_criterion("The answer names the result")],
        "rollback_strategy": "Throw the results away.",
    }


@dataclass
class Team:
    """A handler for `FakeAnthropic.script`. `seen` collects the requests by role."""

    plan: dict[str, Any] = field(default_factory=lambda: plan(step("one"), step("two", "one")))
    planner: Player | None = None
    executor: Player | None = None
    verifier: Player | None = None
    synthesizer: Player | None = None
    subagent: Player | None = None
    seen: dict[str, list[Request]] = field(default_factory=dict)

    def __call__(self, request: Request) -> Answer:
        role = request.system.splitlines()[0].removeprefix("# Your role: ").strip()
        self.seen.setdefault(role, []).append(request)
        right = getattr(self, f"_{role}")(request)
        player: Player | None = getattr(self, role)
        return player(request, right) if player else right

    def _planner(self, request: Request) -> Answer:
        """The plan; for a new version the same steps towards a goal in other words: nobody plans the same again."""
        before = [json.loads(part.text)["goal"] for part in told(request) if part.kind == "previous_plan"]
        plan = self.plan | {"goal": f"{before[0]}, otherwise"} if before else self.plan
        if request.system == prompts.simple(Role.PLANNER):
            return Say(simple_plan(PlanContract.model_validate(plan)).model_dump_json(exclude={"answers"}))
        return Say(json.dumps(answering(request, plan)))

    def _executor(self, request: Request) -> Answer:
        wanted = step_of(request)
        if not request.tool_results and wanted["expected_outputs"]:
            number = 1 + sum(part.kind in {"critique", "person"} for part in told(request))
            found = f"Found by {wanted['step_id']} in try {number}.\n"
            writes = [ToolUse("write_file", {"path": path, "content": found}) for path in outputs_of(wanted)]
            reads = [ToolUse("read_file", {"path": path}) for path in given_to(request)[:1]]
            return UseTools(*(reads if speaks_of_sources(wanted) else []), *writes)
        return Say(json.dumps(report(f"Found by {wanted['step_id']}.")))

    def _subagent(self, request: Request) -> Answer:
        return Say(f"Done: {block(told(request), 'task')}")

    def _verifier(self, request: Request) -> Answer:
        parts = told(request)
        subject = next(number for number, part in enumerate(parts) if part.kind == "subject")
        given, made = documents(parts[:subject]), documents(parts[subject:])
        said = next((part.name, part.text) for part in parts if part.kind == "output")
        new = re.findall(r"^\+(?!\+\+ )(.*\S)", "\n".join(p.text for p in parts if p.kind == "diff"), re.MULTILINE)
        topics = dict(line.split(": ") for line in block(parts, "about").splitlines())
        answer = verdict([], "", "")
        for label in labels_of(request):
            quotes = [[*given, *made, said][0]]
            if topics.get(label) == "output" and given:
                quotes.append([*made, said][0])  # words of the sources alone prove nothing about the result
            if new and label.startswith("R"):
                quotes = [("@diff", new[0])]
            (source, text), *others = quotes
            statement = said[1].splitlines()[0] if topics.get(label) == "sources" and given else ""
            judged = verdict([label], source, text.splitlines()[0], statement)
            for source, text in others:
                also(judged, source, text.splitlines()[0])
            answer["criteria_results"] += judged["criteria_results"]
        return Say(json.dumps(answer))

    def _synthesizer(self, request: Request) -> Answer:
        return Say(json.dumps({"answer": "The result is done."}))


def looking(**uses: list[ToolUse]) -> Player:
    """An executor that begins each step with these calls, by the key of the step."""

    def play(request: Request, right: Answer) -> Answer:
        return (
            UseTools(*uses.get(step_of(request)["step_id"], ()), *right.tools) if isinstance(right, UseTools) else right
        )

    return play


def reads(path: str) -> ToolUse:
    return ToolUse("read_file", {"path": path})


def told(request: Request) -> list[DelimitedBlock]:
    """The data in the first message."""
    content = request.messages[0]["content"]
    return [part for block in content for part in find(block.get("text", ""))]


def block(parts: list[DelimitedBlock], kind: str) -> str:
    return next(part.text for part in parts if part.kind == kind)


def documents(parts: list[DelimitedBlock]) -> list[tuple[str, str]]:
    """Name and text of those that hold something."""
    return [(part.name, part.text.strip()) for part in parts if part.kind == "document" and part.text.strip()]


def given_to(request: Request) -> list[str]:
    """The paths of the files of the task."""
    return listed_in(block(told(request), "files"))


def speaks_of_sources(step: dict[str, Any]) -> bool:
    """Whether a criterion needs words of the files; plans of the first version do not say it."""
    return any((one.get("about") or "sources") == "sources" and not one["check"] for one in step["acceptance_criteria"])


def step_of(request: Request) -> dict[str, Any]:
    return dict(json.loads(next(part.text for part in told(request) if part.kind == "step")))


def asked_in(request: Request) -> list[int]:
    """The numbers of the requests of people that a planner is told."""
    heads = (re.match(r"request (\d+):", part.name) for part in told(request) if part.kind == "person")
    return sorted({int(head[1]) for head in heads if head})


def answering(request: Request, plan: dict[str, Any]) -> dict[str, Any]:
    """The plan, which meets each of them by the first criterion of its first step."""
    met = {"step_id": plan["steps"][0]["step_id"], "criterion": 1, "how": "It is asked for there."}
    return plan | {"answers": [{"request": number, **met} for number in asked_in(request)]}


def outputs_of(step: dict[str, Any]) -> list[str]:
    return [output["path"] for output in step["expected_outputs"]]


def labels_of(request: Request) -> list[str]:
    criteria = next(part.text for part in told(request) if part.kind == "criteria")
    return [line.split(":")[0] for line in criteria.splitlines()]


def report(findings: str, *, status: str = "done", confidence: float = 0.9) -> dict[str, Any]:
    return {
        "status": status,
        "reasoning": "I wrote the file.",
        "findings": findings,
        "criteria_met": [],
        "confidence": confidence,
        "notes": "",
    }


def verdict(
    labels: list[str], source: str, quote: str, statement: str = "", *, passed: bool = True, action: str = "pass"
) -> dict[str, Any]:
    feedback = "" if passed else "It does not say enough."
    proof = {"source": source, "quote": quote, **({"statement": statement} if statement else {})}
    return {
        "criteria_results": [
            {
                "criterion": label,
                "passed": passed,
                "evidence": [proof] if passed else [],
                "confidence": 0.9,
                "feedback": feedback,
            }
            for label in labels
        ],
        "overall_pass": passed,
        "action": action,
        "severity": "minor" if passed else "major",
        "feedback_for_executor": feedback,
    }


def also(judged: dict[str, Any], source: str, quote: str) -> dict[str, Any]:
    """The verdict with one more quote for each criterion."""
    for result in judged["criteria_results"]:
        result["evidence"].append({"source": source, "quote": quote})
    return judged
