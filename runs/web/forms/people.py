"""What administrators do with people."""

from __future__ import annotations

from enum import StrEnum

from django import forms

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


class InviteForm(PostedForm):
    """Somebody new; `runs.accounts` says what is wrong with a name."""

    user = Text(required=False)
    administrator = forms.BooleanField(required=False)


class PersonForm(PostedForm):
    verb = _verbs(PersonVerb)
