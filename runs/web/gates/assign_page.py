"""Taking a decision, and handing it on to someone else who may decide."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs.errors import InvalidInput, PevError
from runs.lifecycle.assignments import hand_on
from runs.models import Gate, User
from runs.people.permissions import visible_runs
from runs.text.numbers import key
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import log_refusal, person

ME = "me"


class AssignForm(PostedForm):
    """`to`: the key of a person, or `me`; `seen`: whose turn it was on the page, empty for nobody's."""

    to = Text(max_length=20, error_messages={"required": "Choose whose turn it is."})
    seen = Text(max_length=20, required=False)

    def clean(self) -> dict[str, Any]:
        sent = self.cleaned_data
        try:
            return {
                "to": ME if sent.get("to") == ME else key(sent.get("to", "")),
                "seen": key(sent["seen"]) if sent.get("seen") else None,
            }
        except ValueError as error:
            raise forms.ValidationError("Choose one of the people who may decide.") from error


@require_POST
def assign(request: HttpRequest, gate_id: int) -> HttpResponse:
    """Make a decision the turn of this person, or of another one who may decide."""
    gate = get_object_or_404(Gate.objects.filter(run__in=visible_runs(request.user)).select_related("run"), pk=gate_id)
    user = person(request)
    try:
        sent = AssignForm(request.POST).checked()
        to = user if sent["to"] == ME else User.objects.filter(pk=sent["to"], is_active=True).first()
        if to is None:
            raise InvalidInput("This person may not make the decision. Choose one of those who may.")
        hand_on(gate.pk, user, to, sent["seen"])
    except PevError as error:
        log_refusal(request, gate.run, error)
        messages.warning(request, str(error))
    else:
        whose = "yours" if to == user else f"assigned to {to.get_username()}"
        messages.success(request, f"The decision is {whose} now.")
    return redirect(f"{reverse('run', args=[gate.run_id])}#gate-{gate.pk}-title")
