"""The forms of a plan, and those of checks, which are made from the registry of checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from graphlib import CycleError
from typing import Any, get_args, get_origin

from django import forms
from django.http import QueryDict

from runs.contracts.base import Contract
from runs.enums import About, Complexity
from runs.lifecycle.toolset import tool_names
from runs.pev.checks.base import Label, labels_of
from runs.pev.checks.registry import KINDS
from runs.pev.plans.ordering import levels
from runs.pev.plans.problem import PlanProblem
from runs.text.plural import pluralize
from runs.web.plan_editor.part_forms import (
    Choice,
    Lines,
    Location,
    PartForm,
    PartFormSet,
    TypedText,
    formset_of,
)

MAX_STEPS = 500
"""As many as any policy allows."""
FOLDED = "folded"
"""The hidden field of a step whose other fields are not shown: empty if it is unchanged, else the others in a text."""
_ABOUT = [
    (About.SOURCES.value, "your files or the world: needs evidence from outside"),
    (About.OUTPUT.value, "the result"),
]
_BY_AI = ("", "AI review: a model judges it with quotes")
_BY_RULES = ("", "Offline rules: they judge what the planner wrote")
_KINDS = [(name, f"Automatic: {kind.title}") for name, kind in KINDS.items()]
_RISKS = [(risk.value, f"{risk.value}-risk step") for risk in Complexity]


class CheckPart(PartForm):
    """The form of one check, or of one row of a check. Fields left empty get the default of the contract."""

    @classmethod
    def initial_of(cls, original: Any) -> dict[str, Any]:
        return dict(original.model_dump(mode="json", include=set(cls.base_fields), exclude_defaults=True))

    def values(self) -> dict[str, Any]:
        return {name: value for name, value in super().values().items() if value and str(value).strip()}


def _check_form(contract: type[Contract]) -> type[CheckPart]:
    """A form with the labelled fields. Fields with choices come first, because they say what the others mean."""
    labels = sorted(labels_of(contract).items(), key=lambda one: not one[1].choices)
    fields: dict[str, Any] = {name: _field(label, contract.model_fields[name].annotation) for name, label in labels}
    rows = [
        (name, inner)
        for name, field in contract.model_fields.items()
        for inner in get_args(field.annotation)
        if isinstance(inner, type) and issubclass(inner, Contract)
    ]
    lists = {name: formset_of(_check_form(inner), min_num=1) for name, inner in rows}
    return type(f"{contract.__name__}Form", (CheckPart,), fields | {"lists": lists, "drops_blank": True})


def _field(label: Label, annotation: object) -> forms.Field:
    if label.choices:
        return Choice(label.text, label.choices, label.hint)
    if annotation is bool:
        return forms.BooleanField(label=label.text, help_text=label.hint, required=False)
    if get_origin(annotation) is list:
        return Lines(label.text, label.hint, rows=3)
    attributes = {"inputmode": "numeric"} if annotation is int else {}
    return TypedText(label.text, label.hint, rows=3 if label.is_long else 0, attributes=attributes)


CHECK_FORMS: Mapping[str, type[CheckPart]] = {name: _check_form(kind) for name, kind in KINDS.items()}
"""The form of each kind of check, in the order in which they are offered."""


class CriterionForm(PartForm):
    text = TypedText("What has to hold", rows=1)
    about = Choice("Proof must come from", _ABOUT)
    kind = Choice("Decided by", [_BY_AI, *_KINDS])
    shown_kind = forms.CharField(required=False, widget=forms.HiddenInput)
    """The kind of check whose fields are on the page, which is another one than `kind` when that was just changed."""

    def __init__(self, *args: Any, **others: Any) -> None:
        super().__init__(*args, **others)
        if self.options.by_rules:
            self.fields["kind"].choices = lambda: [_BY_RULES, *_KINDS]  # type: ignore[attr-defined]  # a field with choices

    @classmethod
    def initial_of(cls, original: Any) -> dict[str, Any]:
        kind = original.check.kind if original.check else ""
        return {"text": original.text, "about": original.topic.value, "kind": kind, "shown_kind": kind}

    @cached_property
    def check(self) -> CheckPart | None:
        """The form of the check. One of a kind that was just chosen takes over the fields that both kinds have."""
        kind, prefix = self["kind"].value(), self.add_prefix("check")
        if kind not in CHECK_FORMS:
            return None
        form = CHECK_FORMS[kind]
        original = self.original.check if self.original and self.initial["kind"] == kind else None
        if not self.is_bound:
            return form(prefix=prefix, original=original, options=self.options)
        if self["shown_kind"].value() == kind:
            return form(self.data, prefix=prefix, original=original, options=self.options)
        fresh = form(prefix=prefix, options=self.options)
        fresh.initial = {name: self.data.get(f"{prefix}-{name}", "") for name in fresh.fields}
        return form(posted(fresh.sent()), prefix=prefix, options=self.options)

    def every_formset(self) -> Iterator[PartFormSet]:
        return self.check.every_formset() if self.check else iter(())

    @property
    def is_changed(self) -> bool:
        return bool({"text", "about", "kind"} & set(self.changed_data)) or bool(self.check and self.check.is_changed)

    def values(self) -> dict[str, Any]:
        kind = self.cleaned["kind"]
        check = self.check.contract_value() if self.check else {} if kind else None
        if isinstance(check, dict):
            check = {"kind": kind, **check}
        return {"text": self.cleaned["text"], "about": self.cleaned["about"], "check": check}

    def sent(self) -> Iterator[tuple[str, str]]:
        for name, value in super().sent():
            if name != self.add_prefix("shown_kind"):
                yield name, value
        yield self.add_prefix("shown_kind"), str(self["kind"].value() or "")
        yield from self.check.sent() if self.check else ()

    def names(self) -> Iterator[str]:
        yield from super().names()
        yield from self.check.names() if self.check else ()

    def refuse(self, location: Location, sentence: str) -> None:
        match location:
            case ["check", str(), str(name), *rest] if self.check and name in {
                *self.check.fields,
                *self.check.formsets,
            }:
                self.refused += 1
                self.check.refuse([name, *rest], sentence)
            case ["check", *_]:
                super().refuse(["kind"], sentence)
            case _:
                super().refuse(location, sentence)


class ContextForm(PartForm):
    drops_blank = True
    name = TypedText("Name")
    value = TypedText("What the AI should know", rows=1)


def _tools() -> list[tuple[str, str]]:
    return [("", "Choose a tool"), *((name, name) for name in sorted(tool_names()))]


class ActionForm(PartForm):
    drops_blank = True
    tool = Choice("Tool", _tools, attributes={"aria-label": "Tool"})
    purpose = TypedText("What for", attributes={"aria-label": "What for"})


class OutputForm(PartForm):
    drops_blank = True
    path = TypedText("Path", attributes={"aria-label": "File"})
    cited = forms.BooleanField(label="may contain citations", required=False, initial=True)


class Dependencies(forms.MultipleChoiceField):
    def validate(self, value: Any) -> None:
        """The contract decides."""


class StepForm(PartForm):
    """A folded step is bound to one field. If that is empty, its other fields are not made before they are needed."""

    step_id = TypedText("Key")
    name = TypedText("Name")
    description = TypedText("Task", rows=3)
    estimated_complexity = Choice("Risk", _RISKS)
    inputs = Lines("Reads", "Paths or patterns of your files, one per line. If empty: all of them", rows=1)
    tools = Lines("May use", "Names of tools, one per line. If empty: all that stay within the run", rows=1)
    agent = Choice("Agent", [("", "None")], "How the step is done: instructions, model and tools")
    dependencies = Dependencies(label="Comes after", widget=forms.CheckboxSelectMultiple, required=False)

    lists = {
        "actions": formset_of(ActionForm),
        "expected_outputs": formset_of(OutputForm),
        "acceptance_criteria": formset_of(CriterionForm, min_num=1),
    }

    def __init__(self, *args: Any, siblings: StepFormSet, **others: Any) -> None:
        super().__init__(*args, **others)
        self.siblings = siblings
        agents = {*self.options.agents, *([self.original.agent] if self.original and self.original.agent else [])}
        self.fields["agent"].choices = [("", "None"), *((name, name) for name in sorted(agents))]  # type: ignore[attr-defined]
        self.fields["dependencies"].choices = self._others  # type: ignore[attr-defined]  # fields with choices

    def _others(self) -> list[tuple[str, str]]:
        """The steps that it can come after; a removed one as long as it is ticked, because it can be restored."""
        ticked = set(self.depends_on)
        return [
            (row.key, f"{row.title} (removed)" if row.is_removed else row.title)
            for row in self.siblings.steps
            if row is not self and (not row.is_removed or row.key in ticked)
        ]

    @property
    def is_open(self) -> bool:
        return self.add_prefix(FOLDED) not in self.data

    @property
    def is_untouched(self) -> bool:
        """Whether it is folded and unchanged, so that only the original has its content."""
        return self.is_bound and self.original is not None and self.data.get(self.add_prefix(FOLDED)) == ""

    @property
    def unfolded(self) -> StepForm:
        """The same step with all fields of the original."""
        return StepForm(prefix=self.prefix, original=self.original, options=self.options, siblings=self.siblings)

    @cached_property
    def formsets(self) -> dict[str, PartFormSet]:
        return {} if self.is_untouched else super().formsets

    @property
    def key(self) -> str:
        return str(self.original.step_id if self.is_untouched else self["step_id"].value())

    @property
    def title(self) -> str:
        name = self.original.name if self.is_untouched else self["name"].value().strip()
        return str(name or "New step")

    @property
    def is_blank(self) -> bool:
        return not self.is_untouched and not any(self[name].value().strip() for name in ("name", "description"))

    @property
    def depends_on(self) -> list[str]:
        return list(self.original.dependencies if self.is_untouched else self["dependencies"].value() or [])

    @property
    def stage(self) -> int | None:
        """The stage in which it would run, from 1; steps of one stage can run at the same time."""
        return self.siblings.stages.get(self.key)

    @property
    def summary(self) -> str:
        if self.is_untouched:
            automatic = [one.check is not None for one in self.original.acceptance_criteria]
            risk = self.original.estimated_complexity.value
        else:
            rows = self.formsets["acceptance_criteria"].kept
            automatic = [bool(row["kind"].value()) for row in rows]
            risk = self["estimated_complexity"].value()
        criteria = pluralize(len(automatic), "criterion", "criteria")
        return f"{criteria}, {sum(automatic)} automatic · {risk} risk"

    @property
    def is_changed(self) -> bool:
        if self.original is not None and not self.siblings.removed.isdisjoint(self.depends_on):
            return True
        return not self.is_untouched and super().is_changed

    def contract_value(self) -> object:
        """Without dependencies on removed steps."""
        left = [key for key in self.depends_on if key not in self.siblings.removed]
        if self.is_untouched:
            return self.original.model_copy(update={"dependencies": left}) if self.is_changed else self.original
        if self.original is not None and not self.is_changed:
            return self.original
        return self.values() | {"dependencies": left}

    def sent(self) -> Iterator[tuple[str, str]]:
        return self.unfolded.sent() if self.is_untouched else super().sent()

    def names(self) -> Iterator[str]:
        yield self.add_prefix(FOLDED)
        yield from super().names()

    def hidden_values(self) -> Iterator[tuple[str, str]]:
        yield self.add_prefix(FOLDED), self.folded
        yield self.add_prefix("ORDER"), str(self["ORDER"].value() or "")
        if self.is_removed:
            yield self.add_prefix("DELETE"), "on"

    @property
    def folded(self) -> str:
        """All other fields in one text; nothing if it is unchanged."""
        if self.is_untouched or (self.original is not None and not super().is_changed):
            return ""
        own = {self.add_prefix(name) for name in ("ORDER", "DELETE")}
        start = len(self.add_prefix(""))
        return posted((name[start:], value) for name, value in self.sent() if name not in own).urlencode()


class StepFormSet(PartFormSet):
    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        return super().get_form_kwargs(index) | {"siblings": self}

    @property
    def steps(self) -> list[StepForm]:
        return [row for row in self.rows if isinstance(row, StepForm)]

    @cached_property
    def removed(self) -> frozenset[str]:
        """The keys of the removed steps."""
        return frozenset(row.key for row in self.steps if row.is_removed)

    @cached_property
    def stages(self) -> Mapping[str, int]:
        """The stage of each step by its key, from 1; nothing if they depend on each other in a circle."""
        after = {row.key: row.depends_on for row in self.steps if not row.is_removed}
        try:
            found = levels({key: [one for one in keys if one in after] for key, keys in after.items()})
        except CycleError:
            return {}
        return {key: level + 1 for key, level in found.items()}

    def new_key(self) -> str:
        """A key that no step has. It stays while steps are moved, because others depend on it."""
        taken = {row.key for row in self.steps}
        return next(key for number in range(1, 10_000) if (key := f"step-{number}") not in taken)

    def new_values(self) -> dict[str, Any]:
        """A new step comes after the last one."""
        last = [row.key for row in self.steps if not row.is_removed][-1:]
        risk = Complexity.MEDIUM.value
        return {"step_id": self.new_key(), "dependencies": last, "estimated_complexity": risk}


class PlanForm(PartForm):
    """The whole plan. The contract and the checks of plans decide whether it is valid."""

    goal = TypedText("Goal", rows=2)
    rollback_strategy = TypedText("If it goes wrong", "What to do with the results if the task fails", rows=2)

    lists = {
        "context": formset_of(ContextForm),
        "steps": formset_of(StepForm, min_num=1, most=MAX_STEPS, base=StepFormSet),
        "success_criteria": formset_of(CriterionForm, min_num=1),
    }

    @property
    def steps(self) -> StepFormSet:
        formset = self.formsets["steps"]
        assert isinstance(formset, StepFormSet)
        return formset

    def values(self) -> dict[str, Any]:
        return super().values() | {"answers": self.original.answers}

    def location_of(self, problem: PlanProblem) -> list[int | str]:
        """The place of a problem in the contract."""
        keys = [row.key for row in self.steps.steps if not row.is_removed]
        place: list[int | str] = ["steps", keys.index(problem.step_id)] if problem.step_id in keys else []
        if problem.criterion:
            place += ["acceptance_criteria" if place else "success_criteria", problem.criterion - 1]
        return [*place, problem.field] if problem.field else place


def posted(fields: Any) -> QueryDict:
    """The fields as a browser sends them."""
    data = QueryDict(mutable=True)
    for name, value in fields:
        data.appendlist(name, value)
    return data
