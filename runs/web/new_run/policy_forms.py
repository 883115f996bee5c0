"""The policy as a form: a preset, every field that a person may set, and what was changed by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, get_args

from django import forms
from django.conf import settings

from runs.enums import (
    ApprovalPolicy,
    Executor,
    Exhausted,
    ModelReview,
    OriginalPages,
    Preset,
    Role,
    StepApproval,
    StepMoment,
)
from runs.errors import InvalidInput
from runs.models import Agent
from runs.pev.policy import Policy
from runs.submission.policy_presets import Described, presets
from runs.text.domains import sites
from runs.web.site.posted_fields import Amount

EFFORTS = ("low", "medium", "high")
ROLES = (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)
_PLAN = {
    ApprovalPolicy.ALWAYS: "Every plan, revised ones too",
    ApprovalPolicy.FIRST: "The first plan only",
    ApprovalPolicy.NEVER: "No plan",
}
_STEP = {
    StepApproval.HIGH: "High-risk steps",
    StepApproval.MEDIUM_AND_HIGH: "Medium- and high-risk steps",
    StepApproval.ALL: "Every step",
    StepApproval.NONE: "No step",
}
_MOMENT = {
    StepMoment.AFTER: "After verification",
    StepMoment.BEFORE: "Before execution",
}
_REVIEW = {
    ModelReview.MEDIUM_AND_HIGH: "Medium- and high-risk steps",
    ModelReview.HIGH: "High-risk steps",
    ModelReview.ALL: "Every step",
    ModelReview.NONE: "No step",
}
_EXHAUSTED = {
    Exhausted.ASK: "Ask for a decision",
    Exhausted.ACCEPT: "Go on with an open point; the outcome is partial at most",
    Exhausted.FAIL: "Fail the step",
}
_PAGES = {
    OriginalPages.NEVER: "Never, text only",
    OriginalPages.LAYOUT: "Pages that are mostly pictures or tables",
    OriginalPages.ALWAYS: "All pages of PDFs and pictures",
}
_SERVICE = {
    "code_execution": "runs Python without your files",
    "web_fetch": "reads pages of the sites above",
    "web_search": "searches the sites above; each search costs extra",
}
_NAMES = (
    "plan_approval",
    "step_approval",
    "step_moment",
    "exhausted",
    "attempts",
    "replans",
    "revisions",
    "questions",
    "commands",
    "web",
    "web_pages",
    "service_tools",
    "service_uses",
    "service_uses_in_run",
    "servers",
    "acting_calls",
    "subagents",
    "executor",
    "parallel",
    "rounds",
    "max_steps",
    "model_review",
    "original_pages",
    "min_document_bytes",
    "reuse",
    "fallback_verifier",
    "same_model_verifier",
    "second_person",
    "budget",
)
_OTHERS = ("attempt_minutes", "limit_minutes", "min_confidence", "min_verifier_confidence")


_EXECUTORS = {
    Executor.MESSAGES: "pevsite",
    Executor.AGENT_SDK: "The Claude Agent SDK",
}


def _choice[Word: str](label: str, texts: Mapping[Word, str], help_text: str = "") -> forms.ChoiceField:
    choices = [(str(word), text) for word, text in texts.items()]
    return forms.ChoiceField(label=label, choices=choices, help_text=help_text)


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
    hint = "0 to 1; less does not pass"
    return Amount(label=label, help_text=hint, min_value=0, max_value=1, step_size=Decimal("0.05"))


class PolicyForm(forms.Form):
    """`policy()` once it is valid. `start` is the policy that the balanced preset stands for, if not the default."""

    preset = forms.ChoiceField(choices=[(one.value, one.value) for one in Preset], required=False)
    preset_shown = forms.ChoiceField(
        choices=[(one.value, one.value) for one in Preset], required=False, widget=forms.HiddenInput
    )
    """The preset whose values the fields were filled with: without a script they stay those of the page."""
    plan_approval = _choice("Plans that need your approval", _PLAN)
    step_approval = _choice("Steps that need your approval", _STEP)
    step_moment = _choice("When they need it", _MOMENT)
    model_review = _choice("The AI reviews even where automatic checks decide", _REVIEW)
    original_pages = _choice(
        "Show the AI original pages", _PAGES, "Of PDF files and pictures, beside their text, to models that take them"
    )
    exhausted = _choice("When a step is out of attempts", _EXHAUSTED)
    attempts = _bounded("attempts", "Attempts per step")
    replans = _bounded("replans", "New plans after failed steps")
    executor = _choice(
        "What plans and carries out attempts", _EXECUTORS, "The same tools, limits, evidence and decisions"
    )
    executor.required = False  # a page from before there was a choice does not send one
    parallel = _bounded("parallel", "Steps in parallel")
    rounds = _bounded("rounds", "Steps the AI may take per attempt")
    max_steps = _bounded("max_steps", "Steps of a plan")
    min_document_bytes = _bounded(
        "min_document_bytes",
        "Smallest document in bytes",
        help_text="Of a written Markdown file, unless the plan itself says how long it is to be",
    )
    revisions = _bounded("revisions", "Plan revisions")
    questions = _bounded("questions", "Questions to you", help_text="From the AI, in the whole run; 0 for none")
    commands = forms.BooleanField(label="Steps may run the commands of this installation", required=False)
    web = forms.CharField(
        label="Sites of the web that the AI may read",
        max_length=5_000,
        required=False,
        help_text="Such as example.org gov.uk; * for all, -example.org for none of it. Empty for none",
    )
    web_pages = _bounded("web_pages", "Pages of the web", help_text="That the AI may read in the whole run")
    service_tools = forms.MultipleChoiceField(
        label="Tools of Claude’s own service", widget=forms.CheckboxSelectMultiple, required=False
    )
    service_uses = _bounded("service_uses", "Uses of each of them", help_text="In one attempt at a step")
    service_uses_in_run = _bounded("service_uses_in_run", "Uses in all", help_text="Of each of them, in the whole run")
    servers = forms.MultipleChoiceField(
        label="MCP servers whose tools steps may call", widget=forms.CheckboxSelectMultiple, required=False
    )
    acting_calls = _bounded(
        "acting_calls", "Calls that act outside", help_text="In the whole run; you are asked about each"
    )
    subagents = forms.MultipleChoiceField(
        label="Subagents",
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="Agents to which steps may hand parts of their work, each an expense of its own. "
        "The plan says which steps may",
    )
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
    reuse = forms.BooleanField(label="Reuse results of earlier runs where nothing has changed", required=False)
    second_person = forms.BooleanField(label="A second person has to approve: not the one who submits", required=False)
    fallback_verifier = forms.CharField(
        label="Second verifier",
        max_length=120,
        required=False,
        help_text="The model that judges where the verifier gives no usable verdict. Empty for none",
    )
    same_model_verifier = forms.BooleanField(label="The verifier may be the executor’s model", required=False)
    min_confidence = _share("Minimum confidence of the executor")
    min_verifier_confidence = _share("Minimum confidence of the verifier")

    def __init__(self, *args: Any, start: Policy | None = None, **kwargs: Any) -> None:
        self.presets = dict(presets())
        if start:
            self.presets[Preset.BALANCED] = Described("As in the run before", start)
        filled = {"preset": Preset.BALANCED.value, "preset_shown": Preset.BALANCED.value}
        base = self.presets[Preset.BALANCED].policy
        kwargs["initial"] = _values(base) | filled | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        absent = [*([] if settings.COMMANDS else ["commands"]), *([] if settings.WEB else ["web", "web_pages"])]
        absent += [] if settings.MCP else ["servers", "acting_calls"]
        absent += [] if settings.AGENT_SDK else ["executor"]
        absent += [] if settings.SERVICE_TOOLS else ["service_tools", "service_uses", "service_uses_in_run"]
        agents = sorted({*Agent.objects.values_list("name", flat=True), *base.subagents})
        absent += [] if agents else ["subagents"]
        for name in absent:
            del self.fields[name]
        if settings.SERVICE_TOOLS:
            choices = [(name, f"{name}: {_SERVICE[name]}") for name in sorted(settings.SERVICE_TOOLS)]
            self.fields["service_tools"].choices = choices  # type: ignore[attr-defined]
        if settings.MCP:
            self.fields["servers"].choices = [(name, name) for name in sorted(settings.MCP)]  # type: ignore[attr-defined]
        if agents:
            self.fields["subagents"].choices = [(name, name) for name in agents]  # type: ignore[attr-defined]
        self._start = base
        for role in ROLES:
            self.fields[f"{role}_model"] = forms.CharField(label=f"{role.capitalize()}’s model", max_length=120)
            self.fields[f"{role}_effort"] = _choice("Effort", {word: word.capitalize() for word in EFFORTS})

    @property
    def roles(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """Model and effort of each role, side by side."""
        return [(self[f"{role}_model"], self[f"{role}_effort"]) for role in ROLES]

    @property
    def preset_choices(self) -> list[tuple[str, Described, bool]]:
        """Name, preset, and whether it is the chosen one."""
        chosen = self["preset"].value() or Preset.BALANCED.value
        return [(name.value, one, name.value == chosen) for name, one in self.presets.items()]

    @property
    def preset_values(self) -> str:
        """For the script: what each preset fills the fields with, as JSON."""
        values = {name.value: _values(one.policy) for name, one in self.presets.items()}
        return json.dumps(values, default=str)

    @property
    def policy_has_errors(self) -> bool:
        return not set(self.errors).isdisjoint(self.policy_names)

    @property
    def policy_names(self) -> Sequence[str]:
        names = (*_NAMES, *_OTHERS, *(f"{role}_{part}" for role in ROLES for part in ("model", "effort")))
        return [name for name in names if name in self.fields]

    def clean_executor(self) -> str:
        return str(self.cleaned_data["executor"] or self._start.executor)

    def clean_web(self) -> str:
        """The sites as the policy writes them."""
        try:
            chosen = sites(self.cleaned_data["web"])
        except InvalidInput as error:
            raise forms.ValidationError(str(error)) from error
        return str(chosen)

    def policy(self) -> Policy:
        """The chosen preset with what the person has changed."""
        given = self._changed()
        models = {role: {"model": given[f"{role}_model"], "effort": given[f"{role}_effort"]} for role in ROLES}
        changed = {name: given[name] for name in _NAMES if name in self.fields} | {"models": models}
        changed |= {name: float(given[name]) for name in ("min_confidence", "min_verifier_confidence")}
        shown = _values(self._start)  # in whole minutes: where they were left alone the seconds stay what they were
        if given["attempt_minutes"] != shown["attempt_minutes"]:
            changed["attempt_seconds"] = 60 * given["attempt_minutes"]
        if given["limit_minutes"] != shown["limit_minutes"]:
            changed["time_limit"] = 60 * given["limit_minutes"] if given["limit_minutes"] else None
        return self._start.changed(**changed)

    def _changed(self) -> dict[str, Any]:
        """What was sent. Where the page could not fill the fields for the preset, those left alone are the preset's."""
        sent = self.cleaned_data
        chosen = Preset(sent["preset"] or Preset.BALANCED)
        shown = Preset(sent["preset_shown"] or Preset.BALANCED)
        if chosen is shown:
            return sent
        before, after = (_values(self.presets[name].policy) for name in (shown, chosen))
        alone = [name for name in self.policy_names if not self.fields[name].has_changed(before[name], self[name].data)]
        return sent | {name: self.fields[name].clean(after[name]) for name in alone}


def _values(policy: Policy) -> dict[str, Any]:
    values: dict[str, Any] = policy.model_dump(mode="json", exclude={"models"})
    values["no_sources"] = not policy.sources_needed
    values["attempt_minutes"] = -(-policy.attempt_seconds // 60)
    values["limit_minutes"] = policy.time_limit // 60 if policy.time_limit else None
    for role in ROLES:
        role_model = policy.model_for(role)
        values |= {f"{role}_model": role_model.model, f"{role}_effort": role_model.effort}
    return values
