"""Files on their way into a draft: taken as soon as they are chosen, and answered one by one."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from runs.errors import InvalidInput
from runs.lifecycle import drafts
from runs.lifecycle.drafts import Refused
from runs.models import Draft
from runs.web.forms.drafts import DraftForm
from runs.web.forms.new_run import NewRunForm
from runs.web.presenters.draft import draft_files
from runs.web.views.run import person, visible_run
from runs.web.views.submit import form_page, in_background


@require_POST
def change(request: HttpRequest, draft: uuid.UUID) -> HttpResponse:
    """Add the files that were sent, remove those that are named, or discard the draft.

    In the background the answer is the list of files as HTML, in JSON; else the form again, with what was typed.
    """
    if Draft.objects.filter(token=draft).exclude(owner=person(request)).exists():
        raise Http404("There is no such draft.")
    form = DraftForm(request.POST, request.FILES)
    try:
        refused, errors = _changed(request, draft, form), list[str]()
    except InvalidInput as error:
        refused, errors = [], [str(error)]
    if in_background(request):
        return _list(request, draft, refused, errors)
    if form.cleaned_data.get("discard"):
        return redirect("new_run")
    typed = NewRunForm(owner=person(request), initial=NewRunForm.typed_in(request.POST) | {"token": draft})
    return form_page(request, typed, errors, refused=refused, status=422 if errors else 200)


def _changed(request: HttpRequest, token: uuid.UUID, form: DraftForm) -> list[Refused]:
    """Raises InvalidInput when nothing was taken; Http404 for a run to begin with that this person may not see."""
    sent, owner = form.checked(), person(request)
    uploads = form.uploads()
    if sent["run"] is not None:
        drafts.begin_with(owner, token, visible_run(request, sent["run"]).inputs)
    refused = drafts.add(owner, token, uploads) if uploads else []
    found = drafts.of(owner).filter(token=token).first()
    if found is None:
        return refused
    if sent["discard"]:
        drafts.discard(found)
    elif sent["remove_all"]:
        drafts.remove(found)
    elif sent["remove"]:
        drafts.remove(found, sent["remove"])
    left_out = [*form.held_back(), *(one.path for one in refused if one.secret)]
    if left_out:
        drafts.note_left_out(found, left_out)
    return refused


def _list(request: HttpRequest, token: uuid.UUID, refused: Sequence[Refused], errors: Sequence[str]) -> JsonResponse:
    files = draft_files(person(request), token, refused)
    html = render_to_string("components/draft_files.html", {"files": files}, request)
    answer = {"html": html, "files": files.count, "errors": errors}
    return JsonResponse(answer, status=422 if errors else 200)
