"""The content of the plan editor: texts as they were typed, whether or not they make a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from pydantic import JsonValue

from runs.contracts.base import Contract, JsonObject
from runs.enums import About, Complexity
from runs.pev.checks.base import Check, labels_of
from runs.pev.contracts import Criterion, PlanContract, PlannedAction, PlanStep
from runs.web.plan_editor.check_forms import lists_of, rows_of

ROW = "term"
"""Comes before the number of a row of a check in the names of its fields."""


@dataclass
class CriterionDraft:
    """`kind`: of its check, empty for AI review. `check`: the fields of the check's form."""

    text: str = ""
    about: str = About.SOURCES.value
    kind: str = ""
    check: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, criterion: Criterion) -> CriterionDraft:
        fields = _check_fields(criterion.check) if criterion.check else {}
        kind = criterion.check.kind if criterion.check else ""
        return cls(typed(criterion.text), criterion.topic.value, kind, fields)

    def values(self) -> JsonObject:
        check: JsonValue = {"kind": self.kind, **_check_values(self.kind, self.check)} if self.kind else None
        return {"text": self.text, "about": self.about, "check": check}


@dataclass
class ActionDraft:
    tool: str = ""
    purpose: str = ""

    @classmethod
    def of(cls, action: PlannedAction) -> ActionDraft:
        return cls(_on_one_line(action.tool), _on_one_line(action.purpose))


@dataclass
class OutputDraft:
    path: str = ""
    cited: bool = True


@dataclass
class StepDraft:
    """`origin`: the step of the version that is edited which it was, or was copied from. `open`: whether its fields are
    shown.
    """

    key: str
    origin: str = ""
    name: str = ""
    description: str = ""
    risk: str = Complexity.MEDIUM.value
    inputs: str = ""
    tools: str = ""
    agent: str = ""
    actions: list[ActionDraft] = field(default_factory=list)
    outputs: list[OutputDraft] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    criteria: list[CriterionDraft] = field(default_factory=list)
    open: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, step: PlanStep) -> StepDraft:
        return cls(
            key=step.step_id,
            origin=step.step_id,
            name=_on_one_line(step.name),
            description=typed(step.description),
            risk=step.estimated_complexity.value,
            inputs=typed("\n".join(step.inputs)),
            tools="\n".join(step.tools),
            agent=step.agent,
            actions=[ActionDraft.of(one) for one in step.actions],
            outputs=[OutputDraft(_on_one_line(output.path), output.cited) for output in step.expected_outputs],
            dependencies=list(step.dependencies),
            criteria=[CriterionDraft.of(one) for one in step.acceptance_criteria],
        )

    def values(self, original: Sequence[PlannedAction]) -> dict[str, object]:
        """The values for a step. An unchanged action is the `original` one."""
        known = {(one.tool, one.purpose): action for action in original for one in [ActionDraft.of(action)]}
        return {
            "step_id": self.key,
            "name": self.name,
            "description": self.description,
            "actions": [known.get((one.tool, one.purpose)) or asdict(one) for one in self.actions],
            "acceptance_criteria": [one.values() for one in self.criteria],
            "inputs": _lines(self.inputs),
            "tools": _lines(self.tools),
            "agent": self.agent,
            "expected_outputs": [{"path": one.path, "cited": one.cited} for one in self.outputs],
            "dependencies": self.dependencies,
            "estimated_complexity": self.risk,
        }


@dataclass
class ContextDraft:
    name: str = ""
    value: str = ""


@dataclass
class PlanDraft:
    """A draft of `version`."""

    version: int
    goal: str = ""
    rollback: str = ""
    context: list[ContextDraft] = field(default_factory=list)
    steps: list[StepDraft] = field(default_factory=list)
    criteria: list[CriterionDraft] = field(default_factory=list)

    @classmethod
    def of(cls, version: int, plan: PlanContract) -> PlanDraft:
        return cls(
            version=version,
            goal=typed(plan.goal),
            rollback=typed(plan.rollback_strategy),
            context=[ContextDraft(_on_one_line(item.name), typed(item.value)) for item in plan.context],
            steps=[StepDraft.of(step) for step in plan.steps],
            criteria=[CriterionDraft.of(one) for one in plan.success_criteria],
        )

    def values(self, original: PlanContract) -> dict[str, object]:
        """The values for a contract, which may be invalid. An unchanged part is the one of `original`."""
        steps = {step.step_id: step for step in original.steps}
        return {
            "goal": _kept(self.goal, original.goal),
            "context": _context(self.context, original),
            "steps": [_step(step, steps) for step in self.steps],
            "success_criteria": [_criterion(one, original.success_criteria) for one in self.criteria],
            "rollback_strategy": _kept(self.rollback, original.rollback_strategy),
            "answers": original.answers,
        }


def _step(draft: StepDraft, steps: Mapping[str, PlanStep]) -> object:
    """An unchanged step keeps its result, so not even a space of it may differ."""
    origin = steps.get(draft.origin)
    if origin and draft == StepDraft.of(origin):
        return origin
    return draft.values(origin.actions if origin else ())


def _criterion(draft: CriterionDraft, original: Sequence[Criterion]) -> object:
    return next((one for one in original if CriterionDraft.of(one) == draft), None) or draft.values()


def _context(drafts: Sequence[ContextDraft], original: PlanContract) -> list[object]:
    known = {(_on_one_line(item.name), typed(item.value)): item for item in original.context}
    return [known.get((one.name, one.value)) or {"name": one.name, "value": one.value} for one in drafts]


def _kept(text: str, original: str) -> str:
    return original if text == typed(original) else text


def typed(text: str) -> str:
    """The text as a browser sends it back."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _on_one_line(text: str) -> str:
    """The text as a field of one line shows it."""
    return typed(text).replace("\n", " ")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _check_fields(check: Check) -> dict[str, str]:
    found: dict[str, str] = {}
    labels = labels_of(type(check))
    for name, value in check.model_dump(mode="json", exclude={"kind"}, exclude_defaults=True).items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for number, row in enumerate(value):
                found |= {f"{ROW}{number}-{key}": _text(item) for key, item in row.items() if item}
        elif isinstance(value, list):
            found[name] = "\n".join(value)
        else:
            text = _text(value)
            found[name] = typed(text) if labels[name].is_long else _on_one_line(text)
    return {name: value for name, value in found.items() if value}


def _text(value: object) -> str:
    return "on" if value is True else str(value)


def rows_in(row: type[Contract], fields: Mapping[str, str]) -> list[dict[str, str]]:
    """The rows of a check, without those whose first field is empty."""
    rows: dict[int, dict[str, str]] = {}
    names = list(row.model_fields)
    for name, value in fields.items():
        head, _, key = name.partition("-")
        number = head.removeprefix(ROW)
        if head.startswith(ROW) and key in names and number.isdecimal() and len(number) < 4:
            rows.setdefault(int(number), {})[key] = value
    return [values for _, values in sorted(rows.items()) if values.get(names[0], "").strip()]


def _check_values(kind: str, fields: Mapping[str, str]) -> JsonObject:
    lists = lists_of(kind)
    values: JsonObject = {
        name: list[JsonValue](_lines(value)) if name in lists else value
        for name, value in fields.items()
        if value.strip() and "-" not in name
    }
    if rows := rows_of(kind):
        values[rows[0]] = [dict[str, JsonValue](row) for row in rows_in(rows[1], fields)]
    return values
