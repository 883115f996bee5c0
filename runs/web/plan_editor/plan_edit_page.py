"""The editor of a plan. One of its buttons saves, the others change the rows of the form."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

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
from runs.readmodel.status_words import check_in_words
from runs.store import trees
from runs.text.numbers import key
from runs.text.plural import pluralize
from runs.web.frame.run_frame import RunFrame
from runs.web.plan_editor.part_forms import FormOptions, Location
from runs.web.plan_editor.plan_forms import CriterionForm, PlanForm
from runs.web.plan_editor.posted_plan import fold_beyond, open_step, press, read, row_at, untouched
from runs.web.site.requests import about_request, person, rights_of_decider, run_to_decide, status_of

log = logging.getLogger(__name__)
MAX_DIGITS = 4
"""Digits of the number of a criterion: a step has 40 at most."""
PREVIEW_SECONDS = 1.0
"""Seconds for the preview of a check, because somebody waits for it."""
_CHECK: TypeAdapter[Check] = TypeAdapter(AnyCheck)
type Problems = list[tuple[Location, str]]
"""Sentences, each with the place in the contract that it is about."""


@dataclass(frozen=True)
class Preview:
    """The result of a check today. `tone`: the colour that shows it."""

    tone: str
    sentence: str


@dataclass(frozen=True)
class Editor:
    """A form that was begun at `gate` and would replace the plan of the gate `replaces`; `digest` is that of this gate
    then. `problem`: why it cannot be saved. `focus`: the prefix of the row to go to. `asked`: the gate that is open
    now, if there is one. `preview`: of the criterion with the focus.
    """

    run: Run
    gate: Gate
    replaces: Gate
    digest: str
    form: PlanForm
    version: int
    problem: str = ""
    focus: str = ""
    preview: Preview | None = None
    asked: Gate | None = None

    @property
    def can_adopt(self) -> bool:
        """Whether another version, or the same under other conditions, needs a decision now."""
        return self.asked is not None and (self.asked.pk, self.asked.digest) != (self.replaces.pk, self.digest)

    @property
    def was_refused(self) -> bool:
        """Whether the plan has errors, which are shown at its fields."""
        return self.form.refused > 0

    def refused(self, problems: Problems) -> Editor:
        """With each error at its field, and with the steps open that have one."""
        places = {place[1] for place, _ in problems if len(place) > 1 and place[0] == "steps"}
        kept = [step for step in self.form.steps.steps if not step.is_removed]
        wrong = [step for index, step in enumerate(kept) if index in places]
        for step in wrong:
            open_step(step)
        focus = str(wrong[0].prefix) if wrong else ""
        form = fold_beyond(PlanForm(self.form.data, original=self.form.original, options=self.form.options), focus)
        for place, sentence in problems:
            form.refuse(place, sentence)
        count = pluralize(len(problems), "problem")
        return replace(self, form=form, focus=focus, problem=f"Not saved: correct {count} first.")


def plan_in(form: PlanForm) -> PlanContract | Problems:
    """The plan in the form, or why there is none."""
    try:
        return PlanContract.model_validate(form.contract_value())
    except ValidationError as error:
        return [(item["loc"], _words(item)) for item in error.errors(include_url=False)]


def _words(item: ErrorDetails) -> str:
    words = "has to be filled in" if item["type"] == "missing" else words_for(item)
    return f"{words[:1].upper()}{words[1:]}."


def preview(run: Run, criterion: CriterionForm) -> Preview:
    """The result of a criterion's check on the files of the run as they are now. Takes a second at most."""
    try:
        values = criterion.values()["check"]
        check = _CHECK.validate_python(values) if values else None
    except ValidationError:
        return Preview("warn", "Fill in the fields of the check first.")
    if check is None:
        return Preview("calm", "A model judges this with quotes, so there is nothing to test now.")
    if problem := problem_with(check):
        return Preview("bad", problem)
    if check.commands:
        if missing := [name for name in check.commands if name not in command_lines()]:
            return Preview("bad", f"This installation has no command “{missing[0]}”.")
        return Preview("calm", f"This cannot be tested now. The run will check that {check_in_words(check)}.")
    given = trees.contents_of(run.inputs)
    found = run_check(check, CheckInput(trees.contents_of(run.head), given, frozenset(given)), PREVIEW_SECONDS)
    if found.sentence.endswith(" does not exist"):
        return Preview("calm", f"{found.sentence} yet. The run will check that {check_in_words(check)}.")
    return Preview(
        "good" if found.verified else "warn", f"{'Met' if found.verified else 'Not met'} today: {found.sentence}."
    )


@require_http_methods(["GET", "HEAD", "POST"])
def edit_plan(request: HttpRequest, run_id: int) -> HttpResponse:
    """The plan that needs a decision, in a form. Nothing that was typed is lost, whatever happens to the plan."""
    run = run_to_decide(request, run_id)
    asked = plan_gate.gates_of(run).open().select_related("plan").first()
    if request.method == "POST" and "gate" in request.POST:
        return _posted(request, run, asked)
    if asked is None or asked.plan is None:
        messages.info(request, "No plan of this run needs a decision now, so there is none to edit.")
        return redirect("run_plan", run_id=run.pk)
    original, options = fingerprint.contract_of(asked.plan), _options(run)
    form = PlanForm(untouched(original, options), original=original, options=options)
    number = request.GET.get("step", "")
    form, focus = press(form, f"open:steps-{number}") if number else (form, "")
    return _page(request, Editor(run, asked, asked, asked.digest, form, asked.plan.version, focus=focus))


@require_POST
def change_topic(request: HttpRequest, run_id: int) -> HttpResponse:
    """A click at the gate changes whether a criterion is about the sources or about the result."""
    run, sent = run_to_decide(request, run_id), request.POST
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
    replaces = gate_of(run, sent["replaces"]) if "replaces" in sent else gate
    if do == "adopt" and asked:
        replaces, digest = asked, asked.digest
    assert gate.plan is not None
    original, options = fingerprint.contract_of(gate.plan), _options(run)
    form = PlanForm(untouched(original, options), original=original, options=options)
    editor = Editor(run, gate, replaces, digest, form, gate.plan.version, _stale(replaces, asked), asked=asked)
    try:
        editor = replace(editor, form=read(sent, original, options))
        if do == "save":
            return _saved(request, editor)
        row = row_at(editor.form, do.removeprefix("try:"))
        if do.startswith("try:") and isinstance(row, CriterionForm):
            return _page(request, replace(editor, preview=preview(run, row), focus=str(row.prefix)))
        form, focus = press(editor.form, do)
    except InvalidInput as error:
        return _page(request, replace(editor, problem=str(error)), 422)
    return _page(request, replace(editor, form=form, focus=focus))


def _options(run: Run) -> FormOptions:
    return FormOptions(list(Agent.objects.values_list("name", flat=True)), run.policy.by_rules)


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
    found = plan_in(editor.form)
    if isinstance(found, PlanContract):
        problems = plan_edits.problems_with(editor.run, found)
        found = [(editor.form.location_of(one), one.what) for one in problems] or found
    if isinstance(found, list):
        return _page(request, editor.refused(found), 422)
    try:
        plan = plan_edits.edit(editor.replaces.pk, person(request), editor.digest, found)
    except PevError as error:
        what = about(**(about_request(request) | {"run": editor.run.pk, "gate": editor.replaces.pk}))
        log.info("refused: an edit, %s", type(error).__name__, extra=what)
        return _page(request, replace(editor, problem=str(error)), status_of(error))
    messages.success(request, f"Saved as version {plan.version}. It needs a decision like any other.")
    if "HX-Request" in request.headers:  # which would put the page of the plan into the form
        return HttpResponse(headers={"HX-Redirect": reverse("run_plan", args=[editor.run.pk])})
    return redirect("run_plan", run_id=editor.run.pk)


def _page(request: HttpRequest, editor: Editor, status: int = 200) -> HttpResponse:
    editor = replace(editor, form=fold_beyond(editor.form, editor.focus))
    if "HX-Request" in request.headers:
        return render(request, "plan_editor/plan_edit.html#editor", {"editor": editor}, status=status)
    frame = RunFrame(editor.run, "plan", rights=rights_of_decider(request)).read_header()
    return render(request, "plan_editor/plan_edit.html", {"frame": frame, "editor": editor}, status=status)
