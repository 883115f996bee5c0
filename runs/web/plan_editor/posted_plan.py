"""The posted fields of the plan editor: what a browser sends, and what the buttons of lists change in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.core.exceptions import TooManyFieldsSent
from django.forms.formsets import TOTAL_FORM_COUNT
from django.http import QueryDict

from runs.errors import InvalidInput
from runs.pev.contracts import PlanContract
from runs.web.plan_editor.part_forms import BROKEN, TOO_MANY, FormOptions, PartForm, PartFormSet
from runs.web.plan_editor.plan_forms import FOLDED, PlanForm, StepForm, posted

MAX_ROWS = 5_000
"""Rows of all lists of a form, without those of unchanged folded steps. A thousand take a third of a second."""
MAX_SHOWN = 2_500
"""Fields of open steps on one page; so many take a second to render. A step of a usual plan has some forty."""
_TOO_LONG = (
    f"More than {MAX_ROWS:,} criteria, actions and files were changed at once. Export the plan, change the file, "
    "and submit the task with it."
)
_STEP = re.compile(rf"steps-([0-9]{{1,4}})-{FOLDED}")
_OTHER_FIELDS = {"csrfmiddlewaretoken", "gate", "replaces", "digest", "do"}


def untouched(plan: PlanContract, options: FormOptions) -> QueryDict:
    """What a browser sends of a plan in which nothing was changed and every step is folded."""
    form = PlanForm(original=plan, options=options)
    form.formsets.pop("steps")
    data = posted(form.sent())
    data["steps-TOTAL_FORMS"] = data["steps-INITIAL_FORMS"] = str(len(plan.steps))
    for index in range(len(plan.steps)):
        data[f"steps-{index}-{FOLDED}"], data[f"steps-{index}-ORDER"] = "", str(index + 1)
    return data


def read(sent: QueryDict, plan: PlanContract, options: FormOptions) -> PlanForm:
    """The form with what was posted and the fields of folded steps. Raises InvalidInput for what no page sends."""
    data = sent.copy()
    for name, value in sent.items():
        step = _STEP.fullmatch(name)
        if step and not value and int(step[1]) >= len(plan.steps):
            raise InvalidInput(BROKEN)
        if step and value:
            try:
                fields = QueryDict(str(value)).lists()
            except TooManyFieldsSent as error:
                raise InvalidInput(_TOO_LONG) from error
            for inner, values in fields:
                data.setlist(f"steps-{step[1]}-{inner}", values)
            data[name] = "changed"
    counts = [str(count) for name, count in data.items() if name.endswith(TOTAL_FORM_COUNT)]
    if sum(int(count) for count in counts if count.isdecimal() and len(count) < 8) > MAX_ROWS:
        raise InvalidInput(_TOO_LONG)
    form = PlanForm(data, original=plan, options=options)
    for formset in form.every_formset():
        formset.check_sent()
    doubled = any(len(values) > 1 and not name.endswith("-dependencies") for name, values in data.lists())
    unknown = data.keys() - set(form.names()) - _OTHER_FIELDS
    if doubled or any("-check-" not in name for name in unknown):  # the check may have been of another kind before
        raise InvalidInput(BROKEN)
    return form


def press(form: PlanForm, do: str) -> tuple[PlanForm, str]:
    """Does what a button says, such as `remove:steps-2-acceptance_criteria-0`. Returns the form after it and the prefix
    of the row that gets the focus. A row that does not exist is ignored, because another tab may have changed the form.

    Raises InvalidInput if a list is full.
    """
    verb, _, prefix = do.partition(":")
    lists = {formset.prefix: formset for formset in form.every_formset()}
    if verb == "add" and prefix in lists:
        focus = _insert(lists[prefix], None)
    else:
        row = row_at(form, prefix)
        if row is None:
            return form, ""
        focus = _pressed(row, lists[prefix.rpartition("-")[0]], verb)
    return PlanForm(form.data, original=form.original, options=form.options), focus


def row_at(form: PlanForm, prefix: str) -> PartForm | None:
    start, _, index = prefix.rpartition("-")
    formset = next((one for one in form.every_formset() if one.prefix == start), None)
    is_index = formset is not None and index.isascii() and index.isdecimal() and len(index) < 5
    return formset.forms[int(index)] if formset and is_index and int(index) < len(formset.forms) else None


def _pressed(row: PartForm, formset: PartFormSet, verb: str) -> str:
    data, prefix = row.data, str(row.prefix)
    rows = formset.rows
    match verb:
        case "copy":
            return _insert(formset, row)
        case "remove":
            data[f"{prefix}-DELETE"] = "on"
        case "restore":
            data.pop(f"{prefix}-DELETE", None)
            if isinstance(row, StepForm) and not row.is_untouched:
                data.pop(f"{prefix}-{FOLDED}", None)
        case "up" | "down":
            present = [one for one in rows if not one.is_removed or one is row]
            other = present.index(row) + (1 if verb == "down" else -1)
            if 0 <= other < len(present):
                here, there = rows.index(row), rows.index(present[other])
                rows[here], rows[there] = rows[there], rows[here]
                _arrange(data, [str(one.prefix) for one in rows])
        case "open" if isinstance(row, StepForm):
            open_step(row)
        case "close" if isinstance(row, StepForm):
            data[f"{prefix}-{FOLDED}"] = row.folded and "changed"
    return prefix


def open_step(step: StepForm) -> None:
    """Puts all fields of the step into the data that was posted."""
    if step.is_untouched:
        for name, values in posted(step.sent()).lists():
            if name != step.add_prefix("ORDER"):
                step.data.setlist(name, values)
    step.data.pop(step.add_prefix(FOLDED), None)


def _insert(formset: PartFormSet, row: PartForm | None) -> str:
    """Adds a copy of the row behind it, or a new row at the end. Returns its prefix."""
    data, index = formset.data, len(formset.forms)
    if index >= formset.absolute_max:
        raise InvalidInput(TOO_MANY.format(formset.absolute_max))
    prefix = formset.add_prefix(index)
    new = formset.new_row(index)
    own = {f"{prefix}-{name}" for name in ("ORDER", "DELETE")}
    fields = row.sent() if row else new.sent()
    for name, value in fields:
        name = prefix + name.removeprefix(str((row or new).prefix))
        if name not in own:
            data.appendlist(name, value)
    if row and isinstance(new, StepForm):
        data[f"{prefix}-step_id"] = new.initial["step_id"]
        data[f"{prefix}-name"] = f"{data[f'{prefix}-name']} (copy)"
    data[f"{formset.prefix}-{TOTAL_FORM_COUNT}"] = str(index + 1)
    order = [str(one.prefix) for one in formset.rows]
    order.insert(order.index(str(row.prefix)) + 1 if row else index, prefix)
    _arrange(data, order)
    return prefix


def _arrange(data: QueryDict, prefixes: Sequence[str]) -> None:
    for place, prefix in enumerate(prefixes, 1):
        data[f"{prefix}-ORDER"] = str(place)


def fold_beyond(form: PlanForm, first: str) -> PlanForm:
    """Folds the last of the open steps if the page has no room for all; the one in which `first` is stays open. A
    folded step keeps what was typed into it.
    """
    steps = [step for step in form.steps.steps if step.is_open and not step.is_removed]
    room, is_folded = MAX_SHOWN, False
    for step in sorted(steps, key=lambda one: not f"{first}-".startswith(f"{one.prefix}-")):
        room -= sum(1 for _ in step.names()) + len(form.steps.rows) // 5  # the boxes for what it comes after are cheap
        if room < 0 and not f"{first}-".startswith(f"{step.prefix}-"):
            form.data[step.add_prefix(FOLDED)], is_folded = "changed", True
    return PlanForm(form.data, original=form.original, options=form.options) if is_folded else form
