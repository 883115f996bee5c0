"""The forms of people and of access tokens."""

from __future__ import annotations

from enum import StrEnum

from django import forms

from runs.people.access_tokens import LIFETIMES
from runs.web.site.posted_fields import PostedForm, Text, verbs


class PersonVerb(StrEnum):
    """What an administrator can do with a person."""

    LINK = "link"
    SIGN_OUT = "sign_out"
    DEACTIVATE = "deactivate"
    ACTIVATE = "activate"
    REVOKE = "revoke"
    PROMOTE = "promote"
    DEMOTE = "demote"


class InviteForm(PostedForm):
    """Invites somebody new. `runs.people.accounts` says what is wrong with a name."""

    user = Text(required=False)
    administrator = forms.BooleanField(required=False)


class PersonForm(PostedForm):
    verb = verbs(PersonVerb)


class AccessTokenForm(PostedForm):
    """A token for a program; `runs.people.access_tokens` says what is wrong with a name."""

    name = Text(required=False, strip=False)
    days = forms.TypedChoiceField(
        choices=[(days, days) for days in LIFETIMES],
        coerce=int,
        error_messages={"required": "Choose a lifetime.", "invalid_choice": "Choose one of the lifetimes."},
    )
