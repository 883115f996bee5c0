"""Decisions of one kind that are ticked in the inbox and approved at once."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from runs.errors import InvalidInput
from runs.lifecycle.decisions_together import approve_together
from runs.text.numbers import key
from runs.text.plural import pluralize
from runs.web.site.posted_fields import PostedForm
from runs.web.site.requests import person

MAX_NAMED = 10
"""Refused decisions that are named one by one."""


class TogetherForm(PostedForm):
    """The ticked gates: each by its number and the digest that the list showed, with a colon between them."""

    gate = forms.Field(required=False, widget=forms.MultipleHiddenInput)

    def clean_gate(self) -> list[tuple[int, str]]:
        try:
            pairs = [one.partition(":") for one in self.cleaned_data["gate"] or []]
            return [(key(number), digest) for number, _, digest in pairs]
        except ValueError as error:
            raise forms.ValidationError("Tick decisions of the list.") from error


@require_POST
def decide_together(request: HttpRequest) -> HttpResponse:
    """Approve the ticked decisions, say how many that were, and name those that were refused."""
    try:
        approved, left = approve_together(person(request), TogetherForm(request.POST).checked()["gate"])
    except InvalidInput as error:
        messages.warning(request, str(error))
        return redirect("inbox")
    if approved:
        messages.success(request, f"{pluralize(len(approved), 'decision')} approved, each recorded by itself.")
    for gate, why in left[:MAX_NAMED]:
        words = format_html('Not approved: <a href="/runs/{}/">{}</a>. {}', gate.run_id, gate.run.title, why)
        messages.warning(request, words)
    if len(left) > MAX_NAMED:
        messages.warning(request, f"Nor were {len(left) - MAX_NAMED} more.")
    return redirect("inbox")
