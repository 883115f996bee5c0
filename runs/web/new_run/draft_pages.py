"""Files that are added to a draft: sent as soon as they are chosen, and answered one by one."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods

from runs.errors import InvalidInput
from runs.models import Draft, Run
from runs.submission import input_replacement, request_file, submission_drafts
from runs.submission.intake import RefusedUpload
from runs.web.new_run.draft_files import BETWEEN, GUESSED, DraftFiles, draft_files
from runs.web.new_run.new_run_form import FilesForm, NewRunForm
from runs.web.new_run.new_run_page import form_page, in_background
from runs.web.new_run.run_again_forms import AgainWithForm
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import person, submitters_only, visible_run


class DraftForm(FilesForm, PostedForm):
    """Files to add, paths to remove, or a word that all of it goes. A draft that is new begins with those of `run`:
    of these `put_back` names one, `replace` an added file and the one whose place it takes, `replace_alike` all for
    which that is clear, `keep_both` one that takes none. `choose_encodings`: each of `encoding` is a file
    and the codec in which to read it. `into_file`: the typed `request` becomes a file.
    """

    remove = forms.Field(required=False, widget=forms.MultipleHiddenInput)
    remove_all = forms.BooleanField(required=False)
    discard = forms.BooleanField(required=False)
    replace = forms.CharField(required=False, strip=False)
    replace_alike = forms.BooleanField(required=False)
    keep_both = forms.CharField(required=False, strip=False)
    put_back = forms.CharField(required=False, strip=False)
    choose_encodings = forms.BooleanField(required=False)
    encoding = forms.Field(required=False, widget=forms.MultipleHiddenInput)
    into_file = forms.BooleanField(required=False)
    request = Text(required=False)
    run = forms.IntegerField(required=False, min_value=1, max_value=10**15)

    def answer(self, draft: Draft) -> None:
        """Do what was said of files of the run before, and of encodings. Raises InvalidInput."""
        sent = self.cleaned_data
        if sent["choose_encodings"]:
            for chosen in filter(None, sent["encoding"]):
                path, between, codec = chosen.rpartition(BETWEEN)
                if between:
                    submission_drafts.choose_encoding(draft, path, "" if codec == GUESSED else codec)
        if sent["replace"]:
            path, _, other = sent["replace"].partition(BETWEEN)
            input_replacement.replace(draft, path, other)
        if sent["replace_alike"]:
            input_replacement.replace_alike(draft)
        if sent["keep_both"]:
            input_replacement.keep_both(draft, sent["keep_both"])
        if sent["put_back"]:
            input_replacement.put_back(draft, sent["put_back"])


@require_http_methods(["GET", "HEAD", "POST"])
@submitters_only
def change(request: HttpRequest, draft: uuid.UUID) -> HttpResponse:
    """Add the files that were sent, remove those that are named, or discard the draft.

    In the background the answer is the list of files as HTML, in JSON; else the form again, with what was typed. GET
    answers with the list as it stands: documents are read meanwhile.
    """
    if Draft.objects.filter(token=draft).exclude(owner=person(request)).exists():
        raise Http404("There is no such draft.")
    if request.method != "POST":
        found = get_object_or_404(submission_drafts.of(person(request)), token=draft)
        return _list(request, draft_files(person(request), found.token), [])
    form = DraftForm(request.POST, request.FILES)
    # The run whose files a new draft begins with. Raises Http404 if this person may not see it.
    form.full_clean()
    number = form.cleaned_data.get("run")
    before = visible_run(request, number) if number else None
    refused, errors, wanted = list[RefusedUpload](), list[str](), ""
    try:
        refused = _changed(request, draft, form, before)
        if form.cleaned_data["into_file"]:
            wanted = request_file.move_to_file(person(request), draft, form.cleaned_data["request"])
    except InvalidInput as error:
        errors = [str(error)]
    if in_background(request):
        files = draft_files(person(request), draft, refused, before.inputs if before else None)
        return _list(request, files, errors, wanted)
    if form.cleaned_data.get("discard"):
        return redirect("run_again_with", before.pk) if before else redirect("new_run")
    return form_page(
        request, _typed(request, draft, before, wanted), errors, refused=refused, status=422 if errors else 200
    )


def _typed(request: HttpRequest, draft: uuid.UUID, before: Run | None, wanted: str) -> NewRunForm:
    """The form that the draft belongs to, with what was typed into it; `wanted` takes the place of the request."""
    sent = request.POST.copy()
    sent["token"] = str(draft)
    if wanted:
        sent["request"] = wanted
    if before is None:
        return NewRunForm(owner=person(request), initial=NewRunForm.typed_in(sent))
    return AgainWithForm(sent, owner=person(request), before=before)


def _changed(request: HttpRequest, token: uuid.UUID, form: DraftForm, before: Run | None) -> list[RefusedUpload]:
    """Raises InvalidInput if nothing was added."""
    sent, owner = form.checked(), person(request)
    uploads = form.uploads()
    if before:
        submission_drafts.begin_with(owner, token, before)
    refused = submission_drafts.add(owner, token, uploads) if uploads else []
    found = submission_drafts.of(owner).filter(token=token).first()
    if found is None:
        return refused
    if sent["discard"]:
        submission_drafts.discard(found)
    elif sent["remove_all"]:
        submission_drafts.remove(found)
    elif sent["remove"]:
        submission_drafts.remove(found, sent["remove"])
    else:
        form.answer(found)
    left_out = [*form.held_back(), *(one.path for one in refused if one.secret)]
    if left_out:
        submission_drafts.note_left_out(found, left_out)
    return refused


def _list(request: HttpRequest, files: DraftFiles, errors: Sequence[str], wanted: str = "") -> JsonResponse:
    html = render_to_string("new_run/draft_files.html", {"files": files}, request)
    answer = {"html": html, "files": files.count, "reading": files.reading, "errors": errors, "request": wanted}
    return JsonResponse(answer, status=422 if errors else 200)
