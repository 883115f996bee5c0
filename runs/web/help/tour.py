"""The tour of a person's first run: a short hint at each place where it matters, until they close it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from runs.enums import Tour
from runs.models import Run, User
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import on_this_site, person


@dataclass(frozen=True)
class Hint:
    """`number` counts from 1 in the order in which a run comes to the places."""

    number: int
    place: str
    title: str
    text: str


_HINTS = {
    "form": (
        "Describe the task.",
        "Say what you want in the end, for whom, and what matters, and add the files that it is about. A plan is made "
        "from this, and nothing is carried out before you approve it.",
    ),
    "plan": (
        "Read the plan.",
        "Look at what each step does, at the files it writes, and at the marked lines. If something is not right, say "
        "what should be different. The i next to the buttons says what each of them does.",
    ),
    "working": (
        "The server works on it.",
        "You may close this page. When something needs your decision, it appears here and in your inbox.",
    ),
    "result": (
        "Check the result.",
        "Open the sources of a few points and compare. Tick the points that are not right, and send them back with "
        "your words.",
    ),
    "report": (
        "Read the report.",
        "It begins with the answer and with what is open, and every quote leads to its place in your files. The "
        "protocol, which you can download with it, says how everything was done and checked.",
    ),
}
HINTS: Mapping[str, Hint] = {
    place: Hint(number, place, *words) for number, (place, words) in enumerate(_HINTS.items(), start=1)
}


def is_new(user: User) -> bool:
    """Whether this person has submitted nothing yet."""
    return not Run.objects.filter(owner=user).exists()


def is_shown(user: User, run: Run) -> bool:
    """Whether this person sees the hints: at their first run, or at every run after they started the tour again."""
    if user.tour != Tour.FIRST_RUN:
        return bool(user.tour == Tour.STARTED)
    return run.owner_id == user.pk and not Run.objects.filter(owner=user, pk__lt=run.pk).exists()


def is_shown_on_form(user: User, first_run: bool) -> bool:
    """The same on the form of a new run. `first_run`: this person has submitted nothing yet."""
    return user.tour == Tour.STARTED or (first_run and user.tour == Tour.FIRST_RUN)


class TourForm(PostedForm):
    """Whether to start or to close the tour, and the page to return to."""

    do = forms.ChoiceField(choices=[(one.value, one.value) for one in (Tour.STARTED, Tour.CLOSED)])
    next = Text(required=False)


@require_POST
def tour(request: HttpRequest) -> HttpResponse:
    """Start or close the tour of this person."""
    sent, user = TourForm(request.POST).checked(), person(request)
    user.tour = sent["do"]
    user.save(update_fields=["tour"])
    if user.tour == Tour.STARTED:
        return redirect("new_run")
    messages.info(request, "The tour is closed. The help page starts it again.")
    return redirect(on_this_site(request, sent["next"]) or "inbox")
