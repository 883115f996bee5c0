"""The form of a new run: the request, its files, where the plan comes from, and the policy."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args

from django import forms
from django.db.models import QuerySet

from runs.enums import ApprovalPolicy, Exhausted, ModelReview, Role, StepApproval
from runs.errors import InvalidInput
from runs.lifecycle import templates
from runs.lifecycle.defaults import default_policy
from runs.lifecycle.intake import Upload
from runs.lifecycle.rehearsing import is_connected, templates_that_need_a_model
from runs.lifecycle.submission import MAX_REQUEST
from runs.lifecycle.templates import SHIPPED, Chosen
from runs.models import User
from runs.pev.files.paths import MAX_CHARACTERS
from runs.pev.imports.imported import MAX_BYTES, imported
from runs.pev.policy import Policy
from runs.web.forms.posted import Amount, People

MAX_LEFT_OUT = 200
"""As many as the script sends."""
EFFORTS = ("low", "medium", "high")
ROLES = (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)
_PLAN = {
    ApprovalPolicy.ALWAYS: "Every plan, replans too",
    ApprovalPolicy.FIRST: "The first plan only",
    ApprovalPolicy.NEVER: "Never",
}
_STEP = {
    StepApproval.HIGH: "Steps of high complexity",
    StepApproval.MEDIUM_AND_HIGH: "Steps of medium and high complexity",
    StepApproval.ALL: "Every step",
    StepApproval.NONE: "No step",
}
_REVIEW = {
    ModelReview.MEDIUM_AND_HIGH: "Steps of medium and high complexity",
    ModelReview.HIGH: "Steps of high complexity",
    ModelReview.ALL: "Every step",
    ModelReview.NONE: "No step",
}
_EXHAUSTED = {
    Exhausted.ASK: "Ask a person",
    Exhausted.ACCEPT: "Go on with the gap; the outcome is partial at most",
    Exhausted.FAIL: "Fail the step",
}
_NAMES = (
    "plan_approval",
    "step_approval",
    "exhausted",
    "attempts",
    "replans",
    "revisions",
    "parallel",
    "rounds",
    "max_steps",
    "model_review",
    "min_document_bytes",
    "reuse",
    "same_model_verifier",
    "second_person",
    "budget",
)


def _choice[Word: str](label: str, texts: Mapping[Word, str]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[(str(word), text) for word, text in texts.items()])


def _bounded(name: str, label: str, *, unit: int = 1, help_text: str = "", required: bool = True) -> forms.IntegerField:
    """The bounds stand in the policy and nowhere else; `unit`: so many of the policy's are one of the form's."""
    low, high = (-(-bound // unit) if kind == "ge" else bound // unit for kind, bound in _bounds(name))
    return forms.IntegerField(
        label=label,
        min_value=low,
        max_value=high,
        required=required,
        help_text=help_text or f"{low} to {high}",
    )


def _bounds(name: str) -> list[tuple[str, int]]:
    field = Policy.model_fields[name]
    inner = [item for part in get_args(field.annotation) for item in getattr(part, "__metadata__", ())]
    every = [item for given in inner for item in getattr(given, "metadata", ())] or field.metadata
    return [(kind, getattr(item, kind)) for kind in ("ge", "le") for item in every if hasattr(item, kind)]


def _share(label: str) -> Amount:
    hint = "0 to 1; less is not a pass"
    return Amount(label=label, help_text=hint, min_value=0, max_value=1, step_size=Decimal("0.05"))


class PlanSelect(forms.Select):
    """Shows which plans need a model; `unavailable` are the keys of templates that cannot be chosen without one,
    `creative` of those that need no sources: the script ticks the box, where everybody sees it.
    """

    unavailable: frozenset[str] = frozenset()
    creative: frozenset[str] = frozenset()

    def create_option(self, name: str, value: Any, label: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, label, *args, **kwargs)
        if str(value) in self.creative:
            option["attrs"]["data-no-sources"] = True
        if str(value) in self.unavailable:
            option["attrs"]["disabled"] = True
            option["label"] = f"{label} (needs a model)"
        return option


class NewRunForm(forms.Form):
    """`uploads()`, `plan()` and `policy()` once it is valid."""

    request = forms.CharField(
        label="What is to be done?",
        required=False,  # lifecycle.submission says it better
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 7, "autofocus": True, "maxlength": MAX_REQUEST, "aria-describedby": "request-hint"}
        ),
    )
    no_files = forms.BooleanField(label="There are no files for this", required=False)
    no_sources = forms.BooleanField(
        label="No sources are needed: this is creative work",
        help_text="Otherwise what is said about your files or the world has to rest on them.",
        required=False,
    )
    excluded = forms.CharField(
        label="Files that nobody has to deal with",
        help_text="Names, folders or patterns such as *.pdf, with commas between them. They are kept, and not read.",
        required=False,
        max_length=4_000,
    )
    token = forms.UUIDField(widget=forms.HiddenInput)
    paths = forms.Field(required=False, widget=forms.MultipleHiddenInput)  # filled by the script, in the files' order
    left_out = forms.Field(required=False, widget=forms.MultipleHiddenInput)  # paths that the script did not send
    template = forms.CharField(
        label="Plan",
        help_text="A template is proposed as it stands; you approve it like any plan.",
        required=False,
        widget=PlanSelect,
    )
    plan_file = forms.FileField(
        label="Or a plan as JSON",
        help_text="Exported from a run, written by hand, or of another planner. Criteria that do not say what they are "
        "about count as about the output where no sources are needed.",
        required=False,
        allow_empty_file=True,  # imported says it better
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )
    approvers = People(
        label="Who else may see this run and decide?",
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    plan_approval = _choice("A plan waits for a person", _PLAN)
    step_approval = _choice("A verified step waits for a person", _STEP)
    model_review = _choice("A model looks even where checks decide everything", _REVIEW)
    exhausted = _choice("When a step has used up its attempts and replans", _EXHAUSTED)
    attempts = _bounded("attempts", "Attempts per step")
    replans = _bounded("replans", "Replans")
    parallel = _bounded("parallel", "Parallel steps")
    rounds = _bounded("rounds", "Tool rounds per attempt")
    max_steps = _bounded("max_steps", "Steps of a plan")
    min_document_bytes = _bounded(
        "min_document_bytes",
        "Smallest document in bytes",
        help_text="Of a written Markdown file, unless the plan itself says how long it is to be",
    )
    revisions = _bounded("revisions", "Plans you may reject")
    attempt_minutes = _bounded("attempt_seconds", "Minutes per attempt", unit=60)
    budget = Amount(
        label="Budget in USD",
        help_text="Empty for none. You are asked before a call that could exceed it",
        min_value=Decimal("0.01"),
        max_value=Decimal(100_000),
        decimal_places=2,
        required=False,
    )
    limit_minutes = _bounded(
        "time_limit",
        "Time limit in minutes",
        unit=60,
        help_text="Empty for none. Waiting for people does not count",
        required=False,
    )
    reuse = forms.BooleanField(label="Take over results of earlier runs where nothing has changed", required=False)
    second_person = forms.BooleanField(label="A second person has to approve: not the one who submits", required=False)
    same_model_verifier = forms.BooleanField(label="The verifier may be the executor’s model", required=False)
    min_confidence = _share("Least confidence of the executor")
    min_verifier_confidence = _share("Least confidence of the verifier")

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        kwargs["initial"] = _initial(default_policy()) | {"token": uuid.uuid4()} | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        approvers = self.fields["approvers"]
        assert isinstance(approvers, People)
        approvers.queryset = _others(owner)
        self._owner = owner
        plans = self.fields["template"].widget
        assert isinstance(plans, PlanSelect)
        plans.choices = _templates(owner)
        plans.unavailable = templates_that_need_a_model(owner)
        plans.creative = templates.creative(owner)
        for role in ROLES:
            self.fields[f"{role}_model"] = forms.CharField(label=f"{role.capitalize()}’s model", max_length=120)
            self.fields[f"{role}_effort"] = _choice("Effort", {word: word.capitalize() for word in EFFORTS})

    @property
    def roles(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """Model and effort of each role, side by side."""
        return [(self[f"{role}_model"], self[f"{role}_effort"]) for role in ROLES]

    @property
    def policy_has_errors(self) -> bool:
        return bool(
            set(self.errors)
            - {"request", "no_files", "no_sources", "token", "approvers", "template", "plan_file", "paths", "left_out"}
            - {"excluded"}
        )

    def uploads(self) -> list[Upload]:
        """The files with their paths; a browser sends names only, so the script sends each path in a field beside it.

        Raises InvalidInput when there are not as many paths as files.
        """
        fields = [(file, name) for name in ("files", "folder") for file in self.files.getlist(name)]
        files = [file for file, _ in fields]
        paths = self.cleaned_data["paths"]
        if paths and len(paths) != len(files):
            raise InvalidInput("The files did not arrive whole. Nothing was stored; submit again.")
        names = paths or [file.name or "" for file in files]
        return [
            Upload(name, file, named=field == "files" and not {"/", "\\"} & set(name))
            for name, (file, field) in zip(names, fields, strict=True)
        ]

    def check_sources(self) -> None:
        """Raises InvalidInput where a run without files would be meant to rest on sources, until that is answered."""
        sent = self.cleaned_data
        if not (any(map(self.files.getlist, ("files", "folder"))) or sent["no_files"] or sent["no_sources"]):
            raise InvalidInput(
                "No files are attached. Without them nothing can be checked against sources, so the run can end as "
                f"partial at best. Add files, or tick “{self.fields['no_files'].label}” to go on all the same, or "
                f"“{self.fields['no_sources'].label}”."
            )

    def patterns(self) -> list[str]:
        """Which files are excluded."""
        return [part for part in map(str.strip, self.cleaned_data["excluded"].split(",")) if part]

    def held_back(self) -> list[str]:
        """What a browser says that it left out of a folder, for the history: paths, none of them taken at its word."""
        named: list[str] = self.cleaned_data["left_out"] or []
        return [name.replace("\0", "")[:MAX_CHARACTERS] for name in named[:MAX_LEFT_OUT]]

    def plan(self) -> Chosen | None:
        """The plan that was chosen or imported, None when the planner writes it. Raises InvalidInput, PlanRefused."""
        key, file = self.cleaned_data["template"], self.cleaned_data["plan_file"]
        if key and file:
            raise InvalidInput("Choose a template or a file with a plan, not both.")
        if file:
            found = imported(file.read(MAX_BYTES + 1))
            return Chosen(found.plan, found.reason(file.name or "a file"))
        return templates.chosen(self._owner, key) if key else None

    def policy(self) -> Policy:
        """The default policy with what the person has changed."""
        given = self.cleaned_data
        models = {role: {"model": given[f"{role}_model"], "effort": given[f"{role}_effort"]} for role in ROLES}
        changed = {name: given[name] for name in _NAMES}
        changed |= {"models": models, "sources_needed": not given["no_sources"]}
        changed |= {name: float(given[name]) for name in ("min_confidence", "min_verifier_confidence")}
        changed["attempt_seconds"] = 60 * given["attempt_minutes"]
        changed["time_limit"] = 60 * given["limit_minutes"] if given["limit_minutes"] else None
        return default_policy().changed(**changed)

    def problems(self) -> list[str]:
        """Every error as a sentence that names its field."""
        return [
            f"{self.fields[name].label or 'This form'}: {error}" if name in self.fields else str(error)
            for name, errors in self.errors.items()
            for error in errors
        ]


def _initial(policy: Policy) -> dict[str, Any]:
    values: dict[str, Any] = policy.model_dump(mode="json", exclude={"models"})
    values["no_sources"] = not policy.sources_needed
    values["attempt_minutes"] = -(-policy.attempt_seconds // 60)
    values["limit_minutes"] = policy.time_limit // 60 if policy.time_limit else None
    for role in ROLES:
        player = policy.model_for(role)
        values |= {f"{role}_model": player.model, f"{role}_effort": player.effort}
    return values


def _templates(owner: User) -> list[tuple[str, Any]]:
    """The choices of the field, in groups: nothing chosen, what ships, what the person has saved."""
    mine = [(str(template.pk), template.name) for template in templates.own_templates(owner)]
    shipped = [(key, template.name) for key, template in SHIPPED.items()]
    groups = [("Templates of pevsite", shipped), *([("My templates", mine)] if mine else [])]
    return [("", "The planner writes it" if is_connected() else "The planner writes it (needs a model)"), *groups]


def _others(owner: User) -> QuerySet[User]:
    return User.objects.filter(is_active=True).exclude(pk=owner.pk).order_by("username")
