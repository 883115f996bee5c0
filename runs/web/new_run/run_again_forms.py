"""Starting what is known: a sample, or a finished run once more, unchanged or not."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Any

from django import forms

from runs.errors import InvalidInput
from runs.lifecycle import sharing
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.approval.reuse import PreviewInputs, preview_reuse
from runs.lifecycle.owner_actions import ReportNames
from runs.models import Run, Step, User
from runs.pev.contracts import PlanContract
from runs.readmodel.run_again import Reuse
from runs.store import trees
from runs.submission import submission_drafts
from runs.submission.run_templates import Chosen, plan_worth_keeping
from runs.web.new_run.new_run_form import NewRunForm, PlanSelect
from runs.web.site.posted_fields import PostedForm

SAME_PLAN = "same"
"""Among the keys of templates: the plan of the run before."""


class TokenForm(PostedForm):
    """The token of the page makes a form that is posted twice one run."""

    token = forms.UUIDField(required=False)

    def submission(self) -> uuid.UUID:
        """The token; a new one where the page carried none that can be read."""
        self.full_clean()
        return self.cleaned_data.get("token") or uuid.uuid4()


class AgainForm(TokenForm):
    """What is done again although it passed before: `all`, or the steps in `redo`. Others of `steps` are reused."""

    all = forms.BooleanField(required=False)
    redo = forms.Field(required=False, widget=forms.MultipleHiddenInput)

    def __init__(self, *args: Any, steps: list[Step], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = {step.key for step in steps}

    def clean_redo(self) -> list[str]:
        """In order. What is no step of the plan, such as one of an older page, asks for nothing."""
        return sorted(self._known.intersection(self.cleaned_data["redo"]))


class AgainWithForm(NewRunForm):
    """The form of a new run, filled as the run `before` was; what of it was carried out on purpose again is forgotten.

    `begun`: the page had a draft for its files, so that they are not those of the run before.
    """

    begun = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, owner: User, before: Run, **kwargs: Any) -> None:
        self.before = before
        self.same = plan_worth_keeping(before)
        self.start = before.policy.changed(reuse=True, without_reuse=())
        filled = {
            "request": before.request,
            "excluded": ", ".join(before.excluded),
            **asdict(ReportNames.of(before)),
            "template": SAME_PLAN if self.same else "",
            "approvers": [one.pk for one in sharing.deciders_by_name(before) if one != owner],
            "teams": [one.pk for one in sharing.deciding_groups(before)],
            "open_to_all": before.open_to_all and before.owner == owner,
        }
        kwargs["initial"] = filled | (kwargs.get("initial") or {})
        super().__init__(*args, owner=owner, start=self.start, **kwargs)
        plans = self.fields["template"].widget
        assert isinstance(plans, PlanSelect)
        if self.same:
            plans.choices = [(SAME_PLAN, f"Version {self.same.version} of the plan of run {before.pk}"), *plans.choices]
            if not before.policy.sources_needed:
                plans.creative |= {SAME_PLAN}

    def clean_request(self) -> str:
        """Browsers end lines otherwise than commands do: the same words are the same request, whose results fit."""
        sent: str = self.cleaned_data["request"]
        return self.before.request if _lines(sent) == _lines(self.before.request) else sent

    def plan(self) -> Chosen | None:
        """The same, or as for any new run. Raises InvalidInput, PlanRefused."""
        if self.same is None or self.cleaned_data["template"] != SAME_PLAN or self.cleaned_data["plan_file"]:
            return super().plan()
        reason = f"Version {self.same.version} of the plan of run {self.before.pk}."
        return Chosen(fingerprint.contract_of(self.same), reason, template=self.before.template)


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


def reuse_of(owner: User, form: AgainWithForm) -> Reuse:
    """As the form stands: filled by the page, or as it was sent."""
    try:
        plan, given = _wanted(owner, form)
    except InvalidInput as error:
        return Reuse(unknown=f"Not known yet. {error}")
    if plan is None:
        return Reuse(unknown="Known once the planner has written the plan: results that fit its steps are reused.")
    return Reuse(preview_reuse(plan, given, form.before))


def _wanted(owner: User, form: AgainWithForm) -> tuple[PlanContract | None, PreviewInputs]:
    """Raises InvalidInput for a form that cannot be submitted as it is."""
    before = form.before
    draft = submission_drafts.of(owner).filter(token=form["token"].value()).first() if not form.errors else None
    files = submission_drafts.files_of(draft) if draft else trees.files_of(before.inputs)
    if not form.is_bound:
        plan = fingerprint.contract_of(form.same) if form.same else None
        return plan, PreviewInputs(owner, before.request, form.start, files, before.excluded)
    if not form.is_valid():
        raise InvalidInput(" ".join(form.problems()))
    chosen = form.plan()
    sent = PreviewInputs(owner, form.cleaned_data["request"].strip(), form.policy(), files, form.patterns())
    return chosen.plan if chosen else None, sent
