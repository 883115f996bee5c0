"""What a form would reuse of earlier runs, before it is submitted: how many steps, and why not the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.errors import InvalidInput
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.approval.reuse_preview import PreviewInputs, StepPreview, preview_reuse
from runs.models import User
from runs.pev.contracts import PlanContract
from runs.store import trees
from runs.submission import submission_drafts
from runs.web.new_run.run_again_forms import AgainWithForm


@dataclass(frozen=True)
class Reuse:
    """The steps of the plan; without any, `unknown` says why nothing is foretold."""

    steps: Sequence[StepPreview] = ()
    unknown: str = ""

    @property
    def reused(self) -> Sequence[str]:
        """The names of the steps."""
        return [step.name for step in self.steps if step.reused]

    @property
    def again(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Each reason with the names of the steps that are carried out for it."""
        named: dict[str, list[str]] = {}
        for step in self.steps:
            if not step.reused:
                named.setdefault(step.why, []).append(step.name)
        return list(named.items())


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
