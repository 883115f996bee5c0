"""What administrators do with people, and owners of runs with those who may decide in them."""

from __future__ import annotations

from enum import StrEnum

from django import forms

from runs.models import User
from runs.web.forms.posted import PostedForm, Text

_CHOOSE = "Choose one of the buttons."


class PersonVerb(StrEnum):
    """What an administrator can do with a person."""

    LINK = "link"
    SIGN_OUT = "sign_out"
    DEACTIVATE = "deactivate"
    ACTIVATE = "activate"
    PROMOTE = "promote"
    DEMOTE = "demote"


def _verbs[Verb: StrEnum](verbs: type[Verb]) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        choices=[(verb.value, verb.value) for verb in verbs],
        coerce=verbs,
        error_messages={"required": _CHOOSE, "invalid_choice": _CHOOSE},
    )


class ApproverVerb(StrEnum):
    ADD = "add"
    REMOVE = "remove"


class InviteForm(PostedForm):
    """Somebody new; `runs.accounts` says what is wrong with a name."""

    user = Text(required=False)
    administrator = forms.BooleanField(required=False)


class PersonForm(PostedForm):
    verb = _verbs(PersonVerb)


class ApproverForm(PostedForm):
    """Somebody is added to those who may decide in a run, or taken off them."""

    verb = _verbs(ApproverVerb)
    person = forms.ModelChoiceField(
        User.objects.all(),
        error_messages={"required": "Choose a person.", "invalid_choice": "There is no such person any more."},
    )
