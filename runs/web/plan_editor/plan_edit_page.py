"""The editor of a plan: a draft with its forms and errors. One of its buttons saves, the others change its rows."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from runs.enums import GateStatus
from runs.errors import InvalidInput, PevError
from runs.lifecycle import plan_edits
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gate_decisions import already_decided
from runs.lifecycle.gates import plan_gate
from runs.lifecycle.toolset import command_lines
from runs.logs import about
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
from runs.text.numbers import key
from runs.text.plural import pluralize
from runs.web.frame.run_frame import RunFrame
from runs.web.plan_editor import plan_edit_forms
from runs.web.plan_editor.check_forms import FORMS, ROW_FORMS, rows_of
from runs.web.plan_editor.plan_draft import ROW, ActionDraft, CriterionDraft, OutputDraft, PlanDraft, StepDraft, rows_in
from runs.web.site.requests import about_request, person, status_of, visible_run

log = logging.getLogger(__name__)
MAX_DIGITS = 4
"""Digits of the number of a criterion: a step has 40 at most."""
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
        return self._form(plan_edit_forms.WholeForm, "p", {"goal": self.draft.goal, "rollback": self.draft.rollback})

    @cached_property
    def context(self) -> list[forms.Form]:
        return [
            self._form(plan_edit_forms.ContextForm, f"x{n}", asdict(one)) for n, one in enumerate(self.draft.context)
        ]

    @cached_property
    def steps(self) -> list[EditedStep]:
        known = {step.step_id: StepDraft.of(step) for step in self.original.steps}
        return [self._step(place, step, known) for place, step in enumerate(self.draft.steps)]

    @cached_property
    def criteria(self) -> list[CriterionRow]:
        return self._criteria(self.draft.criteria, plan_edit_forms.FINAL, plan_edit_forms.FINAL)

    @property
    def whole_errors(self) -> list[str]:
        """Errors that belong to no field or row that is shown."""
        return self.errors.get("", [])

    @property
    def criteria_errors(self) -> list[str]:
        return self.errors.get(f"{plan_edit_forms.FINAL}-criteria", [])

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
        closed = plan_edit_forms.closed(step, known)
        if not step.open:
            return EditedStep(prefix, place, last, step, None, (), (), (), closed, [*errors, *self._inside(prefix)])
        values = {name: getattr(step, name) for name in plan_edit_forms.StepForm.base_fields}
        others = [(one.key, one.name or one.key) for one in self.draft.steps if one is not step]
        agents = sorted({*self._agents, *([step.agent] if step.agent else [])})
        form = self._form(plan_edit_forms.StepForm, prefix, values, others=others, agents=agents)
        actions = self._rows(plan_edit_forms.ActionForm, f"{prefix}-a", place, step.actions)
        outputs = self._rows(plan_edit_forms.OutputForm, f"{prefix}-o", place, step.outputs)
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
        form = self._form(plan_edit_forms.CriterionForm, prefix, values, by_rules=self.run.policy.by_rules)
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
        return f"{prefix or plan_edit_forms.FINAL}-c{problem.criterion - 1}-{field_name}"
    if not prefix or problem.field not in {"actions", "agent", "dependencies", "expected_outputs", "tools"}:
        return prefix
    return f"{prefix}-{_FIELDS.get(problem.field, problem.field)}"


def _name(location: tuple[int | str, ...]) -> str:
    """The field of the form for a place in the contract."""
    match location:
        case ("steps", int(step), *rest):
            return _name_in_row(f"s{step}", rest)
        case ("success_criteria", int(number), *rest):
            return _name_in_criterion(f"{plan_edit_forms.FINAL}-c{number}", rest)
        case ("success_criteria", *_):
            return f"{plan_edit_forms.FINAL}-criteria"
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


@require_http_methods(["GET", "HEAD", "POST"])
def edit_plan(request: HttpRequest, run_id: int) -> HttpResponse:
    """The plan that needs a decision, in a form. Nothing that was typed is lost, whatever happens to the plan."""
    run = visible_run(request, run_id)
    asked = plan_gate.gates_of(run).open().select_related("plan").first()
    if request.method == "POST" and "gate" in request.POST:
        return _posted(request, run, asked)
    if asked is None or asked.plan is None:
        messages.info(request, "No plan of this run needs a decision now, so there is none to edit.")
        return redirect("run_plan", run_id=run.pk)
    original = fingerprint.contract_of(asked.plan)
    draft = PlanDraft.of(asked.plan.version, original)
    chosen = plan_edit_forms.at(draft.steps, request.GET.get("step", ""))
    if chosen:
        chosen.open = True
    focus = f"s{draft.steps.index(chosen)}" if chosen else ""
    return _page(request, Editor(run, asked, draft, original, asked.digest, focus=focus))


@require_POST
def change_topic(request: HttpRequest, run_id: int) -> HttpResponse:
    """A click at the gate changes whether a criterion is about the sources or about the result."""
    run, sent = visible_run(request, run_id), request.POST
    gate = gate_of(run, sent.get("gate", ""))
    number = sent.get("number", "")
    try:
        plan = plan_edits.change_topic(
            gate.pk,
            person(request),
            sent.get("digest", ""),
            sent.get("step", ""),
            int(number) if number.isascii() and number.isdigit() and len(number) < MAX_DIGITS else 0,
        )
    except PevError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Saved as version {plan.version}. It needs a decision like any other.")
    return redirect("run", run_id=run.pk)


def _posted(request: HttpRequest, run: Run, asked: Gate | None) -> HttpResponse:
    sent, do = request.POST, request.POST.get("do", "")
    gate, digest = gate_of(run, sent["gate"]), sent.get("digest", "")
    if do == "adopt" and asked:
        gate, digest = asked, asked.digest
    assert gate.plan is not None
    original = fingerprint.contract_of(gate.plan)
    problem = _stale(gate, asked)
    try:
        draft = plan_edit_forms.read(sent, gate.plan.version, original)
    except InvalidInput as error:
        untouched = PlanDraft.of(gate.plan.version, original)
        return _page(request, Editor(run, gate, untouched, original, digest, problem=str(error)), 422)
    editor = Editor(run, gate, draft, original, digest, problem=problem, asked=asked)
    if do == "save":
        return _saved(request, editor)
    tried = plan_edit_forms.criterion_at(draft, do)
    if tried:
        return _page(request, editor.but(previews={tried[0]: preview(run, tried[1])}, focus=tried[0]))
    return _page(request, editor.but(focus=plan_edit_forms.apply(draft, do)))


def gate_of(run: Run, number: str) -> Gate:
    """The plan gate for which a form was opened. Raises Http404."""
    try:
        pk = key(number)
    except ValueError as error:
        raise Http404 from error
    return get_object_or_404(plan_gate.gates_of(run).select_related("plan", "decided_by", "run"), pk=pk)


def _stale(gate: Gate, asked: Gate | None) -> str:
    """Why nothing can be saved for this gate any more; empty if it can."""
    return "" if asked and asked.pk == gate.pk and gate.status == GateStatus.OPEN else already_decided(gate)


def _saved(request: HttpRequest, editor: Editor) -> HttpResponse:
    found = contract_in(editor.draft, editor.original)
    if isinstance(found, dict):
        return _refused(request, editor.but(errors=found), 422)
    errors = placed(editor.draft, plan_edits.problems_with(editor.run, found))
    if errors:
        return _refused(request, editor.but(errors=errors), 422)
    try:
        plan = plan_edits.edit(editor.gate.pk, person(request), editor.digest, found)
    except PevError as error:
        what = about(**(about_request(request) | {"run": editor.run.pk, "gate": editor.gate.pk}))
        log.info("refused: an edit, %s", type(error).__name__, extra=what)
        return _page(request, editor.but(problem=str(error)), status_of(error))
    messages.success(request, f"Saved as version {plan.version}. It needs a decision like any other.")
    if "HX-Request" in request.headers:  # which would put the page of the plan into the form
        return HttpResponse(headers={"HX-Redirect": reverse("run_plan", args=[editor.run.pk])})
    return redirect("run_plan", run_id=editor.run.pk)


def _refused(request: HttpRequest, editor: Editor, status: int) -> HttpResponse:
    """The form with its errors, and with the fields shown that have one."""
    return _page(request, open_where(editor), status)


def _page(request: HttpRequest, editor: Editor, status: int = 200) -> HttpResponse:
    plan_edit_forms.fold_beyond(editor.draft, editor.focus)
    if "HX-Request" in request.headers:
        return render(request, "plan_editor/plan_edit.html#editor", {"editor": editor}, status=status)
    frame = RunFrame(editor.run, "plan").read_header()
    return render(request, "plan_editor/plan_edit.html", {"frame": frame, "editor": editor}, status=status)
