"""Putting a decision off until a time."""

from __future__ import annotations

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.http import require_POST

from runs.errors import NotAllowed
from runs.lifecycle.snoozes import SNOOZES, snooze
from runs.models import Gate
from runs.people.permissions import visible_runs
from runs.web.site.posted_fields import PostedForm
from runs.web.site.requests import log_refusal, person


class SnoozeForm(PostedForm):
    """For how many hours; 0 brings the decision back."""

    hours = forms.TypedChoiceField(choices=[(hours, str(hours)) for hours in (0, *SNOOZES)], coerce=int)


@require_POST
def snooze_gate(request: HttpRequest, gate_id: int) -> HttpResponse:
    """Hide a decision in the inbox of this person for some hours, or bring it back."""
    gate = get_object_or_404(Gate.objects.filter(run__in=visible_runs(request.user)).select_related("run"), pk=gate_id)
    hours = SnoozeForm(request.POST).checked()["hours"]
    until = timezone.now() + timedelta(hours=hours) if hours else None
    try:
        snooze(gate, person(request), until)
    except NotAllowed as error:
        log_refusal(request, gate.run, error)
        messages.warning(request, str(error))
        return redirect("run", run_id=gate.run_id)
    if until is None:
        messages.success(request, "The decision is back in your inbox.")
    else:
        when = date_format(timezone.localtime(until), "j F, H:i")
        messages.success(request, f"Snoozed until {when}. Your inbox shows the decision again then.")
    return redirect("inbox")
