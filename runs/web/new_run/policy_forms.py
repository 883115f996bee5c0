"""The policy as a form: a preset, every setting that a person may change, and what was changed by hand.

Fields and groups are made of what each setting declares (`runs.pev.policy.SETTINGS`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any, get_args

from django import forms
from django.conf import settings
from pydantic import ValidationError

from runs.enums import Preset, Role
from runs.models import Agent
from runs.people.roles import teams
from runs.pev.decision_limits import GROUP, in_words
from runs.pev.policy import SETTINGS, Policy
from runs.pev.policy_setting import Installed, Setting, SettingGroup
from runs.submission.policy_presets import Described, presets
from runs.web.site.posted_fields import Amount, Text

EFFORTS = ("low", "medium", "high")
ROLES = (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)
_ON_FORM: Mapping[str, Setting] = {name: setting for name, setting in SETTINGS.items() if setting.group}
FIELD_NAMES: Mapping[str, str] = {name: setting.minutes or name for name, setting in _ON_FORM.items()}
"""What the form calls each setting: those in seconds are shown in minutes."""


def _field(name: str, setting: Setting) -> forms.Field:
    """The field of a setting, by the type of its values."""
    optional = Policy.model_fields[name].default is None
    shared: dict[str, Any] = {"label": setting.label, "help_text": setting.help}
    kind, bounds = _type_of(name), _bounds(name)
    if issubclass(kind, bool):
        return forms.BooleanField(required=False, **shared)
    if issubclass(kind, int):
        unit = 60 if setting.minutes else 1
        low, high = -(-bounds["ge"] // unit), bounds["le"] // unit
        shared["help_text"] = setting.help or f"{low} to {high}"
        return forms.IntegerField(min_value=low, max_value=high, required=not optional, **shared)
    if issubclass(kind, float | Decimal):
        least = Decimal(str(bounds["ge"])) if "ge" in bounds else Decimal(1).scaleb(-bounds["decimal_places"])
        step = Decimal(setting.step) if setting.step else None
        return Amount(
            min_value=least,
            max_value=Decimal(str(bounds["le"])),
            decimal_places=bounds.get("decimal_places"),
            step_size=step,
            required=not optional,
            **shared,
        )
    if issubclass(kind, tuple):
        return forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, required=False, **shared)
    if issubclass(kind, StrEnum) or setting.choices:
        choices = [(str(value), words) for value, words in setting.choices.items()]
        # A page from before the choice was installed does not send it.
        return forms.ChoiceField(choices=choices, required=setting.installed is None, **shared)
    return Text(max_length=bounds["max_length"], required=False, **shared)


def _type_of(name: str) -> type:
    annotation: Any = Policy.model_fields[name].annotation
    if Policy.model_fields[name].default is None:
        annotation = get_args(annotation)[0]
    kind: type = getattr(annotation, "__origin__", annotation)
    return kind


def _bounds(name: str) -> dict[str, Any]:
    """The bounds of a field. They are in the policy and nowhere else."""
    field = Policy.model_fields[name]
    inner = [item for part in get_args(field.annotation) for item in getattr(part, "__metadata__", ())]
    every = [*field.metadata, *(item for given in inner for item in getattr(given, "metadata", ()))]
    names = ("ge", "le", "max_length", "decimal_places")
    return {kind: getattr(item, kind) for kind in names for item in every if hasattr(item, kind)}


if TYPE_CHECKING:
    _SettingFields = forms.Form
else:
    _fields = {FIELD_NAMES[name]: _field(name, setting) for name, setting in _ON_FORM.items()}
    _SettingFields = type("SettingFields", (forms.Form,), _fields)


@dataclass(frozen=True)
class FormPart:
    """What a group shows together: a checkbox, the choices of one setting, or a row of fields. `css`: of the row;
    `has_legend`: whether the choices have another name than the group.
    """

    fields: Sequence[forms.BoundField]
    is_checkbox: bool = False
    is_choices: bool = False
    css: str = ""
    has_legend: bool = True


@dataclass(frozen=True)
class FormGroup:
    """`note`: what the installation says about these settings, if anything."""

    title: str
    roles: Sequence[tuple[forms.BoundField, forms.BoundField]]
    parts: Sequence[FormPart]
    note: str


class PolicyForm(_SettingFields):
    """`policy()` once it is valid. `start` is the policy that the balanced preset stands for, if not the default."""

    preset = forms.ChoiceField(choices=[(one.value, one.value) for one in Preset], required=False)
    preset_shown = forms.ChoiceField(
        choices=[(one.value, one.value) for one in Preset], required=False, widget=forms.HiddenInput
    )
    """The preset whose values the fields were filled with: without a script they stay those of the page."""

    def __init__(self, *args: Any, start: Policy | None = None, **kwargs: Any) -> None:
        self.presets = dict(presets())
        if start:
            self.presets[Preset.BALANCED] = Described("As in the run before", start)
        filled = {"preset": Preset.BALANCED.value, "preset_shown": Preset.BALANCED.value}
        self._start = self.presets[Preset.BALANCED].policy
        kwargs["initial"] = _values(self._start) | filled | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        # What this installation has, by name where there may be several.
        installed = {
            Installed.COMMANDS: settings.COMMANDS,
            Installed.WEB: settings.WEB,
            Installed.SERVICE_TOOLS: settings.SERVICE_TOOLS,
            Installed.SERVERS: settings.MCP,
            Installed.AGENTS: {*Agent.objects.values_list("name", flat=True), *self._start.subagents},
            Installed.AGENT_SDK: ("agent-sdk",) if settings.AGENT_SDK else (),
            Installed.GROUPS: [GROUP + name for name in teams().values_list("name", flat=True)],
        }
        for name, setting in _ON_FORM.items():
            there = installed[setting.installed] if setting.installed else ()
            field = self.fields[FIELD_NAMES[name]]
            if setting.adds and isinstance(field, forms.ChoiceField):
                more = {*installed[setting.adds], getattr(self._start, name)} - set(setting.choices)
                field.choices = [*setting.choices.items(), *((one, _in_turn(one)) for one in sorted(more))]
            if setting.installed and not there:
                del self.fields[FIELD_NAMES[name]]
            elif isinstance(field, forms.MultipleChoiceField):
                field.choices = [(value, setting.choices.get(value, value)) for value in sorted(there)]
        for role in ROLES:
            self.fields[f"{role}_model"] = Text(label=f"{role.capitalize()}’s model", max_length=120)
            efforts = [(word, word.capitalize()) for word in EFFORTS]
            self.fields[f"{role}_effort"] = forms.ChoiceField(label="Effort", choices=efforts)

    @property
    def groups(self) -> Iterator[FormGroup]:
        """The settings that this installation has, in groups."""
        for group in SettingGroup:
            names = [name for name, setting in _ON_FORM.items() if setting.group is group]
            bound = [self[FIELD_NAMES[name]] for name in names if FIELD_NAMES[name] in self.fields]
            roles = self._roles if group is SettingGroup.MODELS else []
            if bound or roles:
                yield FormGroup(group.value, roles, list(_parts(bound, group)), _note(group))

    @property
    def _roles(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
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
        names = (*FIELD_NAMES.values(), *(f"{role}_{part}" for role in ROLES for part in ("model", "effort")))
        return [name for name in names if name in self.fields]

    def clean(self) -> dict[str, Any]:
        """Texts as the policy writes them, and choices that the page did not send as they were."""
        sent: dict[str, Any] = super().clean() or self.cleaned_data
        for name, field in self.fields.items():
            if name in _ON_FORM and isinstance(field, forms.ChoiceField) and sent.get(name) == "":
                sent[name] = str(getattr(self._start, name))
            elif name in _ON_FORM and isinstance(field, Text) and name in sent:
                try:
                    sent[name] = getattr(self._start.changed(**{name: sent[name]}), name)
                except ValidationError as error:
                    first = error.errors()[0]
                    self.add_error(name, str(first.get("ctx", {}).get("error", first["msg"])))
        self._check_order(sent)
        return sent

    def _check_order(self, sent: Mapping[str, Any]) -> None:
        """Say at the last field of the group why the limits of decisions do not follow one another."""
        names = [name for name, setting in _ON_FORM.items() if setting.group is SettingGroup.DECISIONS]
        if any(name not in sent for name in names):  # it has been said what is wrong with one of them
            return
        try:
            self._start.changed(**{name: sent[name] for name in names})
        except ValidationError as error:
            first = error.errors()[0]
            self.add_error("at_end", str(first.get("ctx", {}).get("error", first["msg"])))

    def policy(self) -> Policy:
        """The chosen preset with what the person has changed."""
        given = self._changed()
        models = {role: {"model": given[f"{role}_model"], "effort": given[f"{role}_effort"]} for role in ROLES}
        changed: dict[str, Any] = {"models": models}
        shown = _values(self._start)  # in whole minutes: where they were left alone the seconds stay what they were
        for name, field in FIELD_NAMES.items():
            if field in self.fields and not _ON_FORM[name].minutes:
                changed[name] = given[field]
            elif field in self.fields and given[field] != shown[field]:
                changed[name] = 60 * given[field] if given[field] else None
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


def _note(group: SettingGroup) -> str:
    limits = in_words(settings.DECISION_LIMITS) if group is SettingGroup.DECISIONS else ""
    return f"This installation has limits, in hours: {limits}. Yours count where they are earlier." if limits else ""


def _in_turn(group: str) -> str:
    return f"The group {group.removeprefix(GROUP)}, in turn"


def _parts(bound: Sequence[forms.BoundField], group: SettingGroup) -> Iterator[FormPart]:
    """Checkboxes and choices by themselves, and the fields between them in rows."""
    for alone, fields in groupby(bound, lambda one: one.name if _is_alone(one.field) else ""):
        listed = list(fields)
        if alone:
            is_checkbox = isinstance(listed[0].field, forms.BooleanField)
            has_legend = listed[0].label != group.value
            yield FormPart(listed, is_checkbox=is_checkbox, is_choices=not is_checkbox, has_legend=has_legend)
        else:
            figures = all(isinstance(one.field, forms.IntegerField) for one in listed)
            yield FormPart(listed, css="model-row" if group is SettingGroup.MODELS else "figures" if figures else "")


def _is_alone(field: forms.Field) -> bool:
    return isinstance(field, forms.BooleanField | forms.MultipleChoiceField)


def _values(policy: Policy) -> dict[str, Any]:
    """What the fields show of a policy."""
    values: dict[str, Any] = policy.model_dump(mode="json", exclude={"models"})
    values["no_sources"] = not policy.sources_needed
    for name, setting in _ON_FORM.items():
        if setting.minutes:
            values[setting.minutes] = -(-values[name] // 60) if values[name] else None
    for role in ROLES:
        role_model = policy.model_for(role)
        values |= {f"{role}_model": role_model.model, f"{role}_effort": role_model.effort}
    return values
