"""The form of a new run: the request, its files, where the plan comes from, and the policy."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.contrib.auth.models import Group
from django.http import QueryDict

from runs.enums import ShareLevel
from runs.errors import InvalidInput
from runs.lifecycle.owner_actions import MAX_REPORT_NAME, ReportNames
from runs.models import User
from runs.people.permissions import possible_deciders
from runs.people.roles import teams
from runs.pev.imports.imported import MAX_BYTES, imported
from runs.pev.policy import Policy
from runs.submission import run_templates
from runs.submission.intake import Upload
from runs.submission.run_templates import SHIPPED, Chosen
from runs.submission.submission_checks import (
    MAX_REQUEST,
    check_has_sources,
    is_connected,
    templates_that_need_a_model,
    usual_template,
)
from runs.text.paths import MAX_CHARACTERS
from runs.text.text_limits import too_long
from runs.web.new_run.policy_forms import PolicyForm
from runs.web.site.posted_fields import GroupsField, PeopleField, Text, plain_lines

MAX_OFFERED = 50
"""People, and groups, that can be ticked. Others are named."""
MAX_LEFT_OUT = 200
"""As many as the script sends."""


class PlanSelect(forms.Select):
    """Shows which plans need a model; `unavailable` are the keys of templates that cannot be chosen without one,
    `creative` of those that need no sources: the script ticks the box, where everyone can see it.
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


class FilesForm(forms.Form):
    """Files with their paths: of a whole form, or on their way into a draft."""

    paths = forms.Field(required=False, widget=forms.MultipleHiddenInput)  # filled by the script, in the files' order
    left_out = forms.Field(required=False, widget=forms.MultipleHiddenInput)  # paths that the script did not send

    def uploads(self) -> list[Upload]:
        """The files with their paths; a browser sends names only, so the script sends each path in a field beside it.

        Raises InvalidInput when there are not as many paths as files.
        """
        fields = [(file, name) for name in ("files", "folder") for file in self.files.getlist(name)]
        files = [file for file, _ in fields]
        paths = self.cleaned_data["paths"]
        if paths and len(paths) != len(files):
            raise InvalidInput("The files did not arrive completely. Nothing was stored; submit again.")
        names = paths or [file.name or "" for file in files]
        return [
            Upload(name, file, named=field == "files" and not {"/", "\\"} & set(name))
            for name, (file, field) in zip(names, fields, strict=True)
        ]

    def held_back(self) -> list[str]:
        """What a browser says that it left out of a folder, for the history: paths, none of them taken at its word."""
        named: list[str] = self.cleaned_data["left_out"] or []
        return [name.replace("\0", "")[:MAX_CHARACTERS] for name in named[:MAX_LEFT_OUT]]


class NewRunForm(PolicyForm, FilesForm):
    """`uploads()`, `plan()` and `policy()` once it is valid."""

    request = Text(
        label="What do you want done?",
        required=False,  # lifecycle.submission says it better
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 9, "autofocus": True, "data-max-length": MAX_REQUEST, "aria-describedby": "request-hint"}
        ),
    )
    no_files = forms.BooleanField(required=False, widget=forms.HiddenInput)  # the answer to a question
    has_draft = forms.BooleanField(required=False, widget=forms.HiddenInput)
    no_sources = forms.BooleanField(
        label="No sources are needed: this is creative work",
        help_text="Otherwise, statements about your files or the world need a source.",
        required=False,
    )
    excluded = Text(
        label="Files to leave unread",
        help_text="Names, folders or patterns such as *.pdf, separated by commas. These files are kept but not read.",
        required=False,
        max_length=4_000,
    )
    client = Text(label="Client", required=False, max_length=MAX_REPORT_NAME)
    matter = Text(label="Matter", required=False, max_length=MAX_REPORT_NAME)
    author = Text(
        label="Author",
        help_text="The report names client, matter and author below its title. The AI reads none of them.",
        required=False,
        max_length=MAX_REPORT_NAME,
    )
    token = forms.UUIDField(widget=forms.HiddenInput)
    became = forms.UUIDField(required=False, widget=forms.HiddenInput)  # the token with which it was submitted before
    another = forms.BooleanField(required=False, widget=forms.HiddenInput)  # another run is meant
    template = forms.CharField(
        label="Plan",
        help_text="A template is proposed unchanged; you approve it like any plan.",
        required=False,
        widget=PlanSelect,
    )
    plan_file = forms.FileField(
        label="Or a plan as JSON",
        help_text="Exported from a run, written by hand, or made by another planner. If no sources are needed, "
        "criteria that do not say what they are about count as criteria about the result.",
        required=False,
        allow_empty_file=True,  # imported says it better
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )
    approvers = PeopleField(
        label="Who else may see this run and decide?",
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    teams = GroupsField(label="Groups", queryset=teams(), required=False, widget=forms.CheckboxSelectMultiple)
    also = Text(
        label="Other people or groups",
        help_text="Their names, separated by commas.",
        required=False,
        max_length=4_000,
    )
    level = forms.TypedChoiceField(
        label="They may",
        choices=[(ShareLevel.DECIDE.value, "look and decide"), (ShareLevel.LOOK.value, "only look")],
        coerce=ShareLevel,
        required=False,
        empty_value=ShareLevel.DECIDE,
    )
    open_to_all = forms.BooleanField(label="Everyone who can sign in here may look at it", required=False)

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        kwargs["initial"] = {"token": uuid.uuid4()} | (kwargs.get("initial") or {})
        kwargs["initial"]["template"] = kwargs["initial"].get("template") or usual_template(owner)
        super().__init__(*args, **kwargs)
        approvers = self.fields["approvers"]
        assert isinstance(approvers, PeopleField)
        approvers.queryset = possible_deciders().exclude(pk=owner.pk).order_by("username")
        found = [self._offer("approvers"), self._offer("teams")]
        self.has_more = any(found)
        self._owner = owner
        plans = self.fields["template"].widget
        assert isinstance(plans, PlanSelect)
        plans.choices = _templates(owner)
        plans.unavailable = templates_that_need_a_model(owner) | (frozenset() if is_connected() else {""})
        plans.creative = run_templates.creative(owner)

    def _offer(self, name: str) -> bool:
        """Offer the first of these people or groups, and those that are chosen. Returns whether there are others."""
        field = self.fields[name]
        assert isinstance(field, PeopleField | GroupsField)
        assert field.queryset is not None
        chosen = self[name].value() or ()
        keys = {int(one) for one in map(str, chosen) if one.isdecimal() and len(one) < 19}
        first = list(field.queryset[: MAX_OFFERED + 1])
        more = len(first) > MAX_OFFERED
        offered = first[:MAX_OFFERED]
        if missing := keys - {one.pk for one in offered}:
            offered += list(field.queryset.filter(pk__in=missing))
        field.choices = [(one.pk, str(one)) for one in offered]
        return more

    def clean_also(self) -> list[User | Group]:
        """The people who may decide, and the groups, with these names."""
        names = list(dict.fromkeys(filter(None, map(str.strip, self.cleaned_data["also"].split(",")))))
        known: dict[str, User | Group] = {one.name: one for one in teams().filter(name__in=names)}
        approvers = self.fields["approvers"]
        assert isinstance(approvers, PeopleField)
        assert approvers.queryset is not None
        known |= {one.username: one for one in approvers.queryset.filter(username__in=names)}
        if unknown := [name for name in names if name not in known]:
            raise forms.ValidationError(
                f"There is no group and no one who can decide with the name “{unknown[0][:60]}”. Check the spelling."
            )
        return [known[name] for name in names]

    @property
    def shares(self) -> bool:
        """Whether anything is chosen of with whom it is shared."""
        return any(self[name].value() for name in ("approvers", "teams", "also", "open_to_all"))

    def people_to_share_with(self) -> list[User]:
        """The people with whom it is shared."""
        also = [one for one in self.cleaned_data["also"] if isinstance(one, User)]
        return list(dict.fromkeys([*self.cleaned_data["approvers"], *also]))

    def groups_to_share_with(self) -> list[Group]:
        """The groups with which it is shared."""
        also = [one for one in self.cleaned_data["also"] if isinstance(one, Group)]
        return list(dict.fromkeys([*self.cleaned_data["teams"], *also]))

    @classmethod
    def typed_in(cls, sent: QueryDict) -> dict[str, Any]:
        """What was typed into a form that is shown again without being submitted, as initial values."""
        boxes = {name: name in sent for name, field in cls.base_fields.items() if isinstance(field, forms.BooleanField)}
        return sent.dict() | boxes | {name: sent.getlist(name) for name in ("approvers", "teams")}

    def check_sources(self, *, has_files: bool) -> None:
        """Raises FilesMissing where a run without files would be meant to rest on sources, until that is answered."""
        sent = self.cleaned_data
        check_has_sources(sent["request"], has_files=has_files, no_files=sent["no_files"] or sent["no_sources"])

    @property
    def request_problem(self) -> str:
        """By how much the typed request is too long; empty if it fits."""
        problem = too_long(plain_lines(str(self["request"].value() or "")), MAX_REQUEST)
        return f"{problem} Nothing was cut." if problem else ""

    def patterns(self) -> list[str]:
        """Which files are excluded."""
        return [part for part in map(str.strip, self.cleaned_data["excluded"].split(",")) if part]

    def names(self) -> ReportNames:
        return ReportNames(*(self.cleaned_data[name] for name in ("client", "matter", "author")))

    def plan(self) -> Chosen | None:
        """The plan that was chosen or imported, None when the planner writes it. Raises InvalidInput, PlanRefused."""
        key, file = self.cleaned_data["template"], self.cleaned_data["plan_file"]
        if key and file and is_connected():  # without a model a template is chosen before anyone chooses
            raise InvalidInput("Choose a template or a file with a plan, not both.")
        if file:
            found = imported(file.read(MAX_BYTES + 1))
            return Chosen(found.plan, found.reason(file.name or "a file"))
        return run_templates.chosen(self._owner, key) if key else None

    def policy(self) -> Policy:
        """The chosen preset with what the person has changed."""
        return super().policy().changed(sources_needed=not self.cleaned_data["no_sources"])

    def problems(self) -> list[str]:
        """Every error as a sentence that names its field."""
        return [
            f"{self.fields[name].label or 'This form'}: {error}" if name in self.fields else str(error)
            for name, errors in self.errors.items()
            for error in errors
        ]


def _templates(owner: User) -> list[tuple[str, Any]]:
    """The choices of the field, in groups: nothing chosen, what ships, what the person has saved."""
    mine = [(str(template.pk), template.name) for template in run_templates.own_templates(owner)]
    shipped = [(key, template.name) for key, template in SHIPPED.items()]
    groups = [("Shipped with pevsite", shipped), *([("My templates", mine)] if mine else [])]
    return [("", "The planner writes it"), *groups]
