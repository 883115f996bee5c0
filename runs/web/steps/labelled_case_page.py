"""The page on which the owner of a run lets calibrations use a correction, after a look at what would be kept."""

from __future__ import annotations

from enum import StrEnum

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.engine.labelled_cases import check_is_owner, content_to_keep, digest_of, keep, take_back
from runs.errors import InvalidInput, NotAllowed, PevError
from runs.models import LabelledCase, Overruling
from runs.web.frame.run_frame import RunFrame
from runs.web.site.posted_fields import PostedForm, verbs
from runs.web.site.requests import log_refusal, person, status_of, visible_run


class CaseVerb(StrEnum):
    KEEP = "keep"
    TAKE_BACK = "take_back"


class CaseForm(PostedForm):
    """`seen`: the digest of the content on the page."""

    verb = verbs(CaseVerb)
    seen = forms.CharField(max_length=64, required=False)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def labelled_case(request: HttpRequest, run_id: int, overruling_id: int) -> HttpResponse:
    """Show exactly what would be kept, or what is kept. A post keeps it, or takes that back."""
    run = visible_run(request, run_id)
    rows = Overruling.objects.select_related("by", "attempt__step__plan__run", "attempt__verdict")
    row = get_object_or_404(rows, pk=overruling_id, attempt__step__plan__run=run)
    try:
        check_is_owner(person(request), row)
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    problem, status = "", 200
    if request.method == "POST":
        try:
            given = CaseForm(request.POST).checked()
            match given["verb"]:
                case CaseVerb.KEEP:
                    keep(row, person(request), given["seen"])
                case CaseVerb.TAKE_BACK:
                    take_back(row, person(request))
            step = row.attempt.step
            return redirect(f"{reverse('step', args=[run.pk, step.pk])}#attempt-{row.attempt.number}")
        except PevError as error:
            log_refusal(request, run, error)
            problem, status = str(error), status_of(error)
    kept = LabelledCase.objects.filter(overruling=row).first()
    content, impossible = kept.content if kept else None, ""
    try:
        content = content or content_to_keep(row)
    except InvalidInput as error:
        impossible = str(error)
    context = {
        "run": run,
        "frame": RunFrame(run).read_title(),
        "row": row,
        "kept": kept,
        "content": content,
        "seen": digest_of(content) if content else "",
        "impossible": impossible,
        "problem": "" if problem == impossible else problem,
    }
    return render(request, "steps/labelled_case.html", context, status=status)
