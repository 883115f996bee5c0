"""The page on which the owner of a run shares it: with people, with groups, or with everyone here."""

from __future__ import annotations

from enum import StrEnum

from django import forms
from django.contrib import messages
from django.contrib.auth.models import Group
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from runs.enums import ShareLevel
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.lifecycle import sharing
from runs.models import Run, User
from runs.people import second_person
from runs.people.permissions import can_manage
from runs.text.numbers import key
from runs.web.frame.run_frame import RunFrame
from runs.web.site.posted_fields import PostedForm, Text, verbs
from runs.web.site.requests import log_refusal, person, searched, status_of, visible_run

SHARES_PER_PAGE = 50
MAX_CHOICES = 50
"""People, and groups, that can be chosen at once. Others are found by a part of their names."""
LEVELS = {ShareLevel.LOOK: "Look", ShareLevel.DECIDE: "Look and decide"}
_KINDS = {"user": User, "group": Group}
"""A field of the page names a person as `user-5`, a group as `group-2`."""


class ShareVerb(StrEnum):
    SHARE = "share"
    REMOVE = "remove"
    OPEN = "open"
    CLOSE = "close"


class ShareForm(PostedForm):
    verb = verbs(ShareVerb)
    who = Text(required=False)
    level = forms.TypedChoiceField(
        choices=[(level.value, level.value) for level in ShareLevel],
        coerce=ShareLevel,
        required=False,
        empty_value=ShareLevel.LOOK,
        error_messages={"invalid_choice": "Choose whether they may look, or look and decide."},
    )
    seen = Text(required=False, empty_value=None)

    def clean_who(self) -> User | Group | None:
        """The person or the group; None where no one is named."""
        named: str = self.cleaned_data["who"]
        if not named:
            return None
        kind, _, number = named.partition("-")
        try:
            found = _KINDS[kind]._default_manager.filter(pk=key(number)).first()
        except (KeyError, ValueError):
            found = None
        if found is None:
            raise forms.ValidationError("This person or group no longer exists.")
        assert isinstance(found, User | Group)
        return found


@require_http_methods(["GET", "HEAD", "POST"])
def sharing_page(request: HttpRequest, run_id: int) -> HttpResponse:
    run = visible_run(request, run_id)
    problem, status = "", 200
    if request.method == "POST":
        try:
            messages.success(request, _change(run, person(request), ShareForm(request.POST)))
        except (DecisionRefused, InvalidInput, NotAllowed) as error:
            log_refusal(request, run, error)
            problem, status = str(error), status_of(error)
        else:
            return redirect("sharing", run_id=run.pk)
    words, wanted = searched(request, "q"), searched(request, "who")
    named = Q(user__username__icontains=words) | Q(group__name__icontains=words)
    shares = run.shares.filter(named).select_related("user", "group").order_by("user__username", "group__name")
    page = Paginator(shares, SHARES_PER_PAGE).get_page(request.GET.get("page", 1))
    page.object_list = list(page.object_list)
    people = list(sharing.possible_people(run, wanted)[: MAX_CHOICES + 1])
    groups = list(sharing.possible_groups(run, wanted)[: MAX_CHOICES + 1])
    context = {
        "run": run,
        "frame": RunFrame(run).read_title(),
        "page": page,
        "words": words,
        "levels": LEVELS,
        "wanted": wanted,
        "people": people[:MAX_CHOICES],
        "groups": groups[:MAX_CHOICES],
        "more": max(len(people), len(groups)) > MAX_CHOICES,
        "second_person": (needed := second_person.may_be_needed(run)),
        "lacks_second_person": needed and not second_person.has_one(run),
        "may_share": can_manage(request.user, run),
        "problem": problem,
    }
    return render(request, "run/sharing.html", context, status=status)


def _change(run: Run, user: User, form: ShareForm) -> str:
    """Make the change, and return a sentence about it. Raises InvalidInput or NotAllowed."""
    given = form.checked()
    verb, who = given["verb"], given["who"]
    if verb in (ShareVerb.OPEN, ShareVerb.CLOSE):
        sharing.open_to_all(run.pk, user, is_open=verb is ShareVerb.OPEN)
        if verb is ShareVerb.OPEN:
            return "Everyone who can sign in here may look at this run."
        return "Only those who are named here may see this run."
    if who is None:
        raise InvalidInput("Choose a person or a group.")
    if verb is ShareVerb.REMOVE:
        sharing.unshare(run.pk, user, who, given["seen"])
        return f"The run is no longer shared with {who}."
    sharing.share(run.pk, user, who, given["level"], given["seen"])
    return f"{who} may look at this run{' and decide in it' if given['level'] is ShareLevel.DECIDE else ''}."
