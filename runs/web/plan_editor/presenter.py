"""The editor of a plan as it is shown: a draft with its forms, its errors, and a preview of its checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from django import forms
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from runs.lifecycle.toolset import command_lines
from runs.models import Agent, Gate, Run
from runs.pev.checks.base import Check
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import CheckInput
from runs.pev.checks.registry import AnyCheck
from runs.pev.contracts import PlanContract
from runs.pev.conversation.mistakes import words_for
from runs.pev.plans.problem import PlanProblem
from runs.readmodel.status_words import check_in_words
from runs.store import trees
from runs.text.plural import pluralize
from runs.web.plan_editor import forms as parts
from runs.web.plan_editor.check_forms import FORMS, ROW_FORMS, rows_of
from runs.web.plan_editor.plan_draft import ROW, ActionDraft, CriterionDraft, OutputDraft, PlanDraft, StepDraft, rows_in

PREVIEW_SECONDS = 1.0
"""Seconds for the preview of a check, because somebody waits for it."""
_CHECK: TypeAdapter[Check] = TypeAdapter(AnyCheck)
_FIELDS = {
    "rollback_strategy": "p-rollback",
    "goal": "p-goal",
    "estimated_complexity": "risk",
    "acceptance_criteria": "criteria",
    "expected_outputs": "outputs",
    "step_id": "name",
}
"""The field of the form for each field of a contract that has another name."""

type Errors = dict[str, list[str]]
"""Sentences by the field, or by the prefix of the row; an empty name is for the whole plan."""


@dataclass(frozen=True)
class Preview:
    """The result of a check today. `tone`: the colour that shows it."""

    tone: str
    sentence: str


@dataclass(frozen=True)
class CriterionRow:
    prefix: str
    place: str
    number: int
    last: bool
    form: forms.Form
    check: forms.Form | None
    terms: Sequence[forms.Form]
    preview: Preview | None


@dataclass(frozen=True)
class FieldsRow:
    """An action or an output of a step."""

    prefix: str
    place: str
    form: forms.Form


@dataclass(frozen=True)
class EditedStep:
    """`closed`: the value of the one hidden field of a step whose fields are not shown."""

    prefix: str
    place: int
    last: bool
    draft: StepDraft
    form: forms.Form | None
    actions: Sequence[FieldsRow]
    outputs: Sequence[FieldsRow]
    criteria: Sequence[CriterionRow]
    closed: str
    errors: Sequence[str]

    @property
    def number(self) -> int:
        return self.place + 1

    @property
    def checked(self) -> int:
        """How many of its criteria a check decides."""
        return sum(1 for one in self.draft.criteria if one.kind)

    @property
    def changed(self) -> bool:
        return bool(self.closed)


@dataclass(frozen=True)
class Editor:
    """A draft of a plan over the gate that it was begun at; `digest` is that of the gate then. `problem`: why it cannot
    be saved. `focus`: the prefix of the row to go to. `asked`: the gate that is open now, if there is one.
    """

    run: Run
    gate: Gate
    draft: PlanDraft
    original: PlanContract
    digest: str
    errors: Errors = field(default_factory=dict)
    problem: str = ""
    focus: str = ""
    previews: Mapping[str, Preview] = field(default_factory=dict)
    asked: Gate | None = None

    def but(self, **changes: Any) -> Editor:
        return replace(self, **changes)

    @property
    def can_adopt(self) -> bool:
        """Whether another version, or the same under other conditions, needs a decision now."""
        return self.asked is not None and (self.asked.pk, self.asked.digest) != (self.gate.pk, self.digest)

    @cached_property
    def whole(self) -> forms.Form:
        return self._form(parts.WholeForm, "p", {"goal": self.draft.goal, "rollback": self.draft.rollback})

    @cached_property
    def context(self) -> list[forms.Form]:
        return [self._form(parts.ContextForm, f"x{n}", asdict(one)) for n, one in enumerate(self.draft.context)]

    @cached_property
    def steps(self) -> list[EditedStep]:
        known = {step.step_id: StepDraft.of(step) for step in self.original.steps}
        return [self._step(place, step, known) for place, step in enumerate(self.draft.steps)]

    @cached_property
    def criteria(self) -> list[CriterionRow]:
        return self._criteria(self.draft.criteria, parts.FINAL, parts.FINAL)

    @property
    def whole_errors(self) -> list[str]:
        """Errors that belong to no field or row that is shown."""
        return self.errors.get("", [])

    @property
    def criteria_errors(self) -> list[str]:
        return self.errors.get(f"{parts.FINAL}-criteria", [])

    def _form[Form: forms.Form](
        self, cls: type[Form], prefix: str, values: Mapping[str, object], **options: Any
    ) -> Form:
        """The form with these values and their errors."""
        form = cls({f"{prefix}-{name}": value for name, value in values.items()}, prefix=prefix, **options)
        form.full_clean()
        for name in form.fields:
            for sentence in self.errors.get(f"{prefix}-{name}", []):
                form.add_error(name, sentence)
        return form

    def _step(self, place: int, step: StepDraft, known: Mapping[str, StepDraft]) -> EditedStep:
        prefix, last = f"s{place}", place == len(self.draft.steps) - 1
        errors = [*self.errors.get(prefix, []), *self.errors.get(f"{prefix}-criteria", [])]
        errors += [*self.errors.get(f"{prefix}-actions", []), *self.errors.get(f"{prefix}-outputs", [])]
        closed = parts.closed(step, known)
        if not step.open:
            return EditedStep(prefix, place, last, step, None, (), (), (), closed, [*errors, *self._inside(prefix)])
        values = {name: getattr(step, name) for name in parts.StepForm.base_fields}
        others = [(one.key, one.name or one.key) for one in self.draft.steps if one is not step]
        agents = sorted({*self._agents, *([step.agent] if step.agent else [])})
        form = self._form(parts.StepForm, prefix, values, others=others, agents=agents)
        actions = self._rows(parts.ActionForm, f"{prefix}-a", place, step.actions)
        outputs = self._rows(parts.OutputForm, f"{prefix}-o", place, step.outputs)
        criteria = self._criteria(step.criteria, prefix, str(place))
        return EditedStep(prefix, place, last, step, form, actions, outputs, criteria, closed, errors)

    @cached_property
    def _agents(self) -> list[str]:
        return list(Agent.objects.values_list("name", flat=True))

    def _inside(self, prefix: str) -> list[str]:
        """The number of errors at fields of a folded step."""
        count = self._wrong[prefix]
        what = pluralize(count, "thing in it has", "things in it have")
        return [f"{what} to be changed first."] if count else []

    @cached_property
    def _wrong(self) -> Counter[str]:
        """The errors of a step, by its prefix."""
        return Counter(name.partition("-")[0] for name in self.errors if "-" in name)

    def _rows(
        self, cls: type[forms.Form], prefix: str, place: int, drafts: Sequence[ActionDraft | OutputDraft]
    ) -> list[FieldsRow]:
        return [
            FieldsRow(f"{prefix}{n}", f"{place}:{n}", self._form(cls, f"{prefix}{n}", asdict(one)))
            for n, one in enumerate(drafts)
        ]

    def _criteria(self, drafts: Sequence[CriterionDraft], prefix: str, place: str) -> list[CriterionRow]:
        return [
            self._criterion(one, f"{prefix}-c{number}", f"{place}:{number}", number, number == len(drafts) - 1)
            for number, one in enumerate(drafts)
        ]

    def _criterion(self, draft: CriterionDraft, prefix: str, place: str, number: int, last: bool) -> CriterionRow:
        values = {"text": draft.text, "about": draft.about, "kind": draft.kind}
        check, terms = None, list[forms.Form]()
        if draft.kind in FORMS:
            check = self._form(FORMS[draft.kind], f"{prefix}-check", draft.check)
        if rows := rows_of(draft.kind):
            texts: list[dict[str, str]] = [*rows_in(rows[1], draft.check), {}]
            terms = [self._form(ROW_FORMS[draft.kind], f"{prefix}-check-{ROW}{n}", row) for n, row in enumerate(texts)]
        form = self._form(parts.CriterionForm, prefix, values, by_rules=self.run.policy.by_rules)
        return CriterionRow(prefix, place, number + 1, last, form, check, terms, self.previews.get(prefix))


def contract_in(draft: PlanDraft, original: PlanContract) -> PlanContract | Errors:
    """The plan in the form, or the errors by field if there is none."""
    try:
        return PlanContract.model_validate(draft.values(original))
    except ValidationError as error:
        return gathered((_name(item["loc"]), _words(item)) for item in error.errors(include_url=False))


def placed(draft: PlanDraft, problems: Iterable[PlanProblem]) -> Errors:
    """The errors, by field, of a plan that was made from the draft."""
    steps = {step.key: f"s{place}" for place, step in enumerate(draft.steps)}
    return gathered((_place(problem, steps), problem.what) for problem in problems)


def open_where(editor: Editor) -> Editor:
    """The same draft with the fields of each step shown that has an error, and the focus on the first error."""
    prefixes = {name.split("-")[0] for name in editor.errors}
    wrong = [f"s{place}" for place in range(len(editor.draft.steps)) if f"s{place}" in prefixes]
    for prefix in wrong:
        editor.draft.steps[int(prefix[1:])].open = True
    count = sum(map(len, editor.errors.values()))
    what = pluralize(count, "thing has", "things have")
    return editor.but(problem=f"Not saved: {what} to be changed first.", focus=(wrong or [""])[0])


def gathered(found: Iterable[tuple[str, str]]) -> Errors:
    errors: Errors = {}
    for name, sentence in found:
        errors.setdefault(name, []).append(sentence)
    return errors


def _place(problem: PlanProblem, steps: Mapping[str, str]) -> str:
    prefix = steps.get(problem.step_id, "")
    if problem.criterion:
        field_name = {"check": "kind"}.get(problem.field, problem.field)
        return f"{prefix or parts.FINAL}-c{problem.criterion - 1}-{field_name}"
    if not prefix or problem.field not in {"actions", "agent", "dependencies", "expected_outputs", "tools"}:
        return prefix
    return f"{prefix}-{_FIELDS.get(problem.field, problem.field)}"


def _name(location: tuple[int | str, ...]) -> str:
    """The field of the form for a place in the contract."""
    match location:
        case ("steps", int(step), *rest):
            return _name_in_row(f"s{step}", rest)
        case ("success_criteria", int(number), *rest):
            return _name_in_criterion(f"{parts.FINAL}-c{number}", rest)
        case ("success_criteria", *_):
            return f"{parts.FINAL}-criteria"
        case ("context", int(number), str(name), *_):
            return f"x{number}-{name}"
        case (str(name), *_):
            return _FIELDS.get(name, "")
        case _:
            return ""


def _name_in_row(prefix: str, rest: Sequence[int | str]) -> str:
    match rest:
        case ["acceptance_criteria", int(number), *inner]:
            return _name_in_criterion(f"{prefix}-c{number}", inner)
        case ["actions", int(number), *inner]:
            return f"{prefix}-a{number}-{inner[0] if inner else 'tool'}"
        case ["expected_outputs", int(number), *_]:
            return f"{prefix}-o{number}-path"
        case [str(name), *_]:
            return f"{prefix}-{_FIELDS.get(name, name)}"
        case _:
            return prefix


def _name_in_criterion(prefix: str, rest: Sequence[int | str]) -> str:
    match rest:
        case ["check", str(), str(), int(number), str(name), *_]:
            return f"{prefix}-check-{ROW}{number}-{name}"
        case ["check", str(kind), str(name), *_] if name in FORMS[kind].base_fields:
            return f"{prefix}-check-{name}"
        case ["check", *_]:
            return f"{prefix}-kind"
        case [str(name), *_]:
            return f"{prefix}-{name}"
        case _:
            return f"{prefix}-text"


def _words(item: ErrorDetails) -> str:
    words = "has to be filled in" if item["type"] == "missing" else words_for(item)
    return f"{words[:1].upper()}{words[1:]}."


def preview(run: Run, draft: CriterionDraft) -> Preview:
    """The result of a criterion's check on the files of the run as they are now. Takes a second at most."""
    try:
        values = draft.values()["check"]
        check = _CHECK.validate_python(values) if values else None
    except ValidationError:
        return Preview("warn", "Fill in the fields of the check first.")
    if check is None:
        return Preview("calm", "A model judges this with quotes; there is nothing to try before.")
    if problem := problem_with(check):
        return Preview("bad", problem)
    if check.commands:
        if missing := [name for name in check.commands if name not in command_lines()]:
            return Preview("bad", f"This installation has no command “{missing[0]}”.")
        return Preview("calm", f"Not tried before. It will be checked that {check_in_words(check)}.")
    given = trees.contents_of(run.inputs)
    found = run_check(check, CheckInput(trees.contents_of(run.head), given, frozenset(given)), PREVIEW_SECONDS)
    if found.sentence.endswith(" does not exist"):
        return Preview("calm", f"{found.sentence} yet. It will be checked that {check_in_words(check)}.")
    return Preview(
        "good" if found.verified else "warn", f"{'Met' if found.verified else 'Not met'} today: {found.sentence}."
    )
