"""The form of the plan editor: its parts, what was posted, and what its buttons do to rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from django import forms
from django.http import QueryDict
from pydantic import TypeAdapter, ValidationError

from runs.enums import About, Complexity
from runs.errors import InvalidInput
from runs.lifecycle.toolset import tool_names
from runs.pev.contracts import PlanContract
from runs.web.plan_editor.check_forms import CHOICES, FORMS, ROW_FORMS
from runs.web.plan_editor.plan_draft import (
    ROW,
    ActionDraft,
    ContextDraft,
    CriterionDraft,
    OutputDraft,
    PlanDraft,
    StepDraft,
    typed,
)
from runs.web.site.posted_fields import Text

MAX_ROWS = 500
"""Steps, and what a step comes after: as many as any policy allows."""
MAX_PARTS = 60
"""Other rows of one kind in one place: more than the contract allows, so that the contract reports the error."""
MAX_CHANGED = 10_000
"""Changed rows of all steps. One field may hold a million rows of a folded step."""
MAX_SHOWN = 1_500
"""Fields of open steps on one page; so many take a second to render. A step of a usual plan has some twenty."""
FINAL = "f"
"""Stands for the success criteria where the number of a step is expected."""
_ABOUT = [
    (About.SOURCES.value, "your files or the world: needs evidence from outside"),
    (About.OUTPUT.value, "only how the result looks"),
]
_BY_RULES = ("", "Offline rules: they judge what the planner wrote")
_RISKS = [(risk.value, f"{risk.value}-risk step") for risk in Complexity]
_STEP: TypeAdapter[StepDraft] = TypeAdapter(StepDraft)
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""A NUL as JSON writes it."""
_TOO_LONG = (
    f"More than {MAX_CHANGED:,} criteria, actions and files were changed at once. Export the plan, change the file, "
    "and submit the task with it."
)
_BROKEN = "A part of the form did not arrive as it was sent. Load the page again."


def _text(label: str, hint: str = "", rows: int = 0) -> Text:
    widget = forms.Textarea(attrs={"rows": rows}) if rows else forms.TextInput()
    return Text(label=label, help_text=hint, required=False, strip=False, widget=widget)


class WholeForm(forms.Form):
    goal = _text("Goal", rows=2)
    rollback = _text("If it goes wrong", "What is to be done with the results then", rows=2)


class ContextForm(forms.Form):
    name = _text("Name")
    value = _text("What is to be known", rows=1)


class StepForm(forms.Form):
    name = _text("Name")
    description = _text("What is to be done", rows=3)
    risk = forms.ChoiceField(label="Risk", choices=_RISKS, required=False)
    inputs = _text("Reads", "Paths or patterns of your files, one a line; all of them, if left empty", rows=1)
    tools = _text("May use", "Names of tools, one a line; all that stay within the run, if left empty", rows=1)
    agent = forms.ChoiceField(
        label="Agent", required=False, help_text="How the step is done: instructions, model and tools"
    )
    dependencies = forms.MultipleChoiceField(label="Comes after", widget=forms.CheckboxSelectMultiple, required=False)

    def __init__(
        self, *given: Any, others: Sequence[tuple[str, str]] = (), agents: Sequence[str] = (), **options: Any
    ) -> None:
        """`agents`: the names of the agents that the step may have."""
        super().__init__(*given, **options)
        self.fields["agent"].choices = [("", "None"), *((name, name) for name in agents)]  # type: ignore[attr-defined]
        self.fields["dependencies"].choices = others  # type: ignore[attr-defined]  # a field with choices


def _tools() -> list[tuple[str, str]]:
    return [("", "Choose a tool"), *((name, name) for name in sorted(tool_names()))]


class ActionForm(forms.Form):
    tool = forms.ChoiceField(
        label="Tool", choices=_tools, required=False, widget=forms.Select(attrs={"aria-label": "Tool"})
    )
    purpose = Text(
        label="What for", required=False, strip=False, widget=forms.TextInput(attrs={"aria-label": "What for"})
    )


class OutputForm(forms.Form):
    path = Text(label="Path", required=False, strip=False, widget=forms.TextInput(attrs={"aria-label": "File"}))
    cited = forms.BooleanField(label="may carry citations", required=False)


class CriterionForm(forms.Form):
    text = _text("What has to hold", rows=1)
    about = forms.ChoiceField(label="It speaks of", choices=_ABOUT, required=False)
    kind = forms.ChoiceField(label="Decided by", choices=CHOICES, required=False)

    def __init__(self, *args: Any, by_rules: bool = False, **options: Any) -> None:
        """`by_rules`: offline rules judge what no check decides."""
        super().__init__(*args, **options)
        if by_rules:
            self.fields["kind"] = forms.ChoiceField(
                label="Decided by", choices=[_BY_RULES, *CHOICES[1:]], required=False
            )


def read(data: QueryDict, version: int, original: PlanContract) -> PlanDraft:
    """The draft in the posted form, without empty rows of actions, outputs and context. Raises InvalidInput for what
    none of our forms sends.
    """
    known = {step.step_id: StepDraft.of(step) for step in original.steps}
    steps = [_step(data, f"s{n}", known) for n in _rows(data, "s{}-key", MAX_ROWS)]
    if sum(_size(step) for step in steps if known.get(step.key) != step) > MAX_CHANGED:
        raise InvalidInput(_TOO_LONG)
    whole = _posted(data, "p", WholeForm)
    context = [_posted(data, f"x{n}", ContextForm) for n in _rows(data, "x{}-name")]
    return PlanDraft(
        version=version,
        goal=whole["goal"],
        rollback=whole["rollback"],
        context=[ContextDraft(**one) for one in context if any(text.strip() for text in one.values())],
        steps=steps,
        criteria=_criteria(data, FINAL),
    )


def _rows(data: QueryDict, name: str, limit: int = MAX_PARTS) -> list[int]:
    """The numbers of the rows that were posted, from 0 without gaps."""
    count = 0
    while count < limit and name.format(count) in data:
        count += 1
    return list(range(count))


def _posted(data: QueryDict, prefix: str, form: type[forms.Form]) -> dict[str, str]:
    return {name: typed(data.get(f"{prefix}-{name}", "")) for name in form.base_fields}


def _step(data: QueryDict, prefix: str, known: Mapping[str, StepDraft]) -> StepDraft:
    """A step whose fields are not shown is unchanged, or is one field with JSON."""
    key = typed(data.get(f"{prefix}-key", ""))
    closed = data.get(f"{prefix}-closed")
    if closed == "" and key in known:
        return deepcopy(known[key])
    if closed is not None:
        return _unfolded(typed(closed))
    fields = _posted(data, prefix, StepForm)
    actions = (_posted(data, f"{prefix}-a{n}", ActionForm) for n in _rows(data, f"{prefix}-a{{}}-tool"))
    outputs = (
        OutputDraft(typed(data.get(f"{prefix}-o{n}-path", "")).strip(), f"{prefix}-o{n}-cited" in data)
        for n in _rows(data, f"{prefix}-o{{}}-path")
    )
    return StepDraft(
        key=key,
        origin=typed(data.get(f"{prefix}-origin", "")),
        name=fields["name"],
        description=fields["description"],
        risk=fields["risk"],
        inputs=fields["inputs"],
        tools=fields["tools"],
        agent=fields["agent"],
        actions=[ActionDraft(**one) for one in actions if any(text.strip() for text in one.values())],
        outputs=[one for one in outputs if one.path],
        dependencies=[typed(one) for one in data.getlist(f"{prefix}-dependencies")][:MAX_ROWS],
        criteria=_criteria(data, prefix),
        open=True,
    )


def _unfolded(text: str) -> StepDraft:
    """The step in a value that `closed` made."""
    try:
        found = _STEP.validate_json(text)
    except ValidationError as error:
        raise InvalidInput(_BROKEN) from error
    if _NUL.search(text):
        raise InvalidInput(_BROKEN)
    return replace(found, open=False)


def _size(step: StepDraft) -> int:
    checks = sum(len(one.check) for one in step.criteria)
    return len(step.actions) + len(step.outputs) + len(step.dependencies) + len(step.criteria) + checks


def fold_beyond(draft: PlanDraft, first: str) -> None:
    """Fold the last of the open steps if the page has no room for all; the one with the prefix `first` stays open. A
    folded step keeps what was typed into it.
    """
    chosen, room = at(draft.steps, first.partition("-")[0][1:]), MAX_SHOWN
    for step in sorted((one for one in draft.steps if one.open), key=lambda one: one is not chosen):
        room -= _fields(step) + len(draft.steps) // 5  # the boxes for what it comes after are cheap
        step.open = room >= 0 or step is chosen


def _fields(step: StepDraft) -> int:
    parts = 2 * (len(step.actions) + len(step.outputs))
    return 6 + parts + sum(3 + (max(4, len(one.check)) if one.kind else 0) for one in step.criteria)


def _criteria(data: QueryDict, prefix: str) -> list[CriterionDraft]:
    return [_criterion(data, f"{prefix}-c{n}") for n in _rows(data, f"{prefix}-c{{}}-text")]


def _criterion(data: QueryDict, prefix: str) -> CriterionDraft:
    fields = _posted(data, prefix, CriterionForm)
    if fields["kind"] not in FORMS:
        return CriterionDraft(fields["text"], fields["about"])
    check = _posted(data, f"{prefix}-check", FORMS[fields["kind"]])
    if form := ROW_FORMS.get(fields["kind"]):
        for number in _rows(data, f"{prefix}-check-{ROW}{{}}-{next(iter(form.base_fields))}"):
            row = _posted(data, f"{prefix}-check-{ROW}{number}", form)
            check |= {f"{ROW}{number}-{name}": value for name, value in row.items()}
    return CriterionDraft(fields["text"], fields["about"], fields["kind"], {k: v for k, v in check.items() if v})


def closed(step: StepDraft, known: Mapping[str, StepDraft]) -> str:
    """The value of the one field of a step whose fields are not shown."""
    if known.get(step.key) == step:
        return ""
    return _STEP.dump_json(replace(step, open=False)).decode()


def apply(draft: PlanDraft, do: str) -> str:
    """Do what a button says, such as `remove:criterion:2:0`. Returns the prefix of the row that gets the focus. A name
    of a row that this draft does not have does nothing, because the form may have been changed in another tab.
    """
    verb, what, *numbers = [*do.split(":", 3), ""]
    step = at(draft.steps, numbers[0]) if numbers else None
    match what:
        case "step" if verb in {"open", "close"} and step:
            step.open = verb == "open"
            return f"s{draft.steps.index(step)}"
        case "step":
            number = numbers[0] if numbers else ""
            place = _changed(draft.steps, verb, number, lambda: _new_step(draft), _copied(draft), MAX_ROWS)
            _without_gone(draft)
            return f"s{place}"
        case "context":
            return f"x{_changed(draft.context, verb, numbers[0] if numbers else '', ContextDraft, deepcopy)}"
        case "action" if step:
            prefix = f"s{draft.steps.index(step)}"
            return f"{prefix}-a{_changed(step.actions, verb, ''.join(numbers[1:2]), ActionDraft, deepcopy)}"
        case "output" if step:
            prefix = f"s{draft.steps.index(step)}"
            return f"{prefix}-o{_changed(step.outputs, verb, ''.join(numbers[1:2]), OutputDraft, deepcopy)}"
        case "criterion" if step or numbers[0] == FINAL:
            rows = step.criteria if step else draft.criteria
            prefix = f"s{draft.steps.index(step)}" if step else FINAL
            return f"{prefix}-c{_changed(rows, verb, ''.join(numbers[1:2]), CriterionDraft, deepcopy)}"
        case _:
            return ""


def criterion_at(draft: PlanDraft, do: str) -> tuple[str, CriterionDraft] | None:
    """The criterion that a button such as `try:criterion:2:0` names, with its prefix."""
    verb, what, place, number = [*do.split(":"), "", "", ""][:4]
    step = at(draft.steps, place)
    rows = step.criteria if step else draft.criteria if place == FINAL else []
    found = at(rows, number)
    if verb != "try" or what != "criterion" or found is None:
        return None
    return f"{f's{place}' if step else FINAL}-c{number}", found


def at[Row](rows: list[Row], number: str) -> Row | None:
    known = number.isascii() and number.isdecimal() and len(number) < 5 and int(number) < len(rows)
    return rows[int(number)] if known else None


def _changed[Row](
    rows: list[Row],
    verb: str,
    number: str,
    new: Callable[[], Row],
    copied: Callable[[Row], Row],
    limit: int = MAX_PARTS,
) -> int:
    """Add, copy, remove or move a row. Returns the place of the row that gets the focus."""
    if verb == "add" and len(rows) < limit:
        rows.append(new())
        return len(rows) - 1
    row = at(rows, number)
    if row is None:
        return 0
    place = int(number)
    if verb == "copy" and len(rows) < limit:
        rows.insert(place + 1, copied(row))
        return place + 1
    if verb == "remove":
        del rows[place]
        return min(place, len(rows) - 1)
    other = place + {"up": -1, "down": 1}.get(verb, 0)
    if 0 <= other < len(rows):
        rows[place], rows[other] = rows[other], rows[place]
        return other
    return place


def _new_key(draft: PlanDraft) -> str:
    """A key that no step has. It stays while steps are moved, because others depend on it."""
    taken = {step.key for step in draft.steps} | {step.origin for step in draft.steps}
    return next(f"step-{number}" for number in range(1, 10_000) if f"step-{number}" not in taken)


def _new_step(draft: PlanDraft) -> StepDraft:
    return StepDraft(key=_new_key(draft), criteria=[CriterionDraft()], open=True)


def _copied(draft: PlanDraft) -> Callable[[StepDraft], StepDraft]:
    return lambda step: replace(deepcopy(step), key=_new_key(draft), name=f"{step.name} (copy)", open=True)


def _without_gone(draft: PlanDraft) -> None:
    """Remove dependencies on steps that were removed."""
    keys = {step.key for step in draft.steps}
    for step in draft.steps:
        if not keys.issuperset(step.dependencies):
            step.dependencies = [key for key in step.dependencies if key in keys]
