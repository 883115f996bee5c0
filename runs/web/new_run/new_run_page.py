"""The entrance for people: the form of a new run, and the samples that come with the product."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runs.accounting.past_estimates import estimate_without_files
from runs.errors import FilesMissing, InvalidInput, PevError, PlanRefused
from runs.lifecycle import quotas
from runs.models import Run, User
from runs.pev.plans.estimate import Estimate
from runs.submission import input_replacement, run_templates, submission_drafts, submit
from runs.submission.intake import RefusedUpload, Upload
from runs.submission.policy_presets import default_policy, is_set_up
from runs.submission.samples import finished_sample, more_samples, submission_of
from runs.submission.submit import Submission
from runs.text.sensitive_names import JUNK, SECRETS
from runs.web.frame.run_frame import RunFrame
from runs.web.help.tour import is_new, is_shown_on_form
from runs.web.new_run.draft_files import draft_files, unfinished
from runs.web.new_run.new_run_form import NewRunForm
from runs.web.new_run.run_again_forms import AgainWithForm, TokenForm, reuse_of
from runs.web.run_templates.template_pages import EstimateForm
from runs.web.site.requests import person, submitters_only


class AlreadySubmitted(PevError):
    """The form became a run before, and the person did not say that another one is meant."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"This form became run {run.pk}.")
        self.run = run


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@submitters_only
def new_run(request: HttpRequest) -> HttpResponse:
    """The form; a post makes a run. A background post (`Accept: application/json`) gets 201 and an address, or
    errors.
    """
    owner = person(request)
    if request.method != "POST":
        token = token_of(request.GET.get("draft", ""))
        initial = {"template": request.GET.get("template", "")[:20], **begun_with(owner, token)}
        return form_page(request, NewRunForm(owner=owner, initial=initial), [])
    return answered(request, NewRunForm(request.POST, request.FILES, owner=owner))


def answered(request: HttpRequest, form: NewRunForm) -> HttpResponse:
    """A redirect to the run of a submitted form, or the form again with its errors."""
    try:
        run = _submit(request, form)
    except FilesMissing as error:
        return _refused(request, form, [], question=str(error))
    except AlreadySubmitted as error:
        return _became(request, form, error.run)
    except PlanRefused as error:
        return _refused(request, form, error.problems)
    except InvalidInput as error:
        return _refused(request, form, [*form.problems(), *([str(error)] if str(error) else [])])
    place = reverse("run", args=[run.pk])
    return JsonResponse({"location": place}, status=201) if in_background(request) else redirect(place)


@require_safe
@submitters_only
def estimate(request: HttpRequest) -> HttpResponse:
    """What a chosen template may cost, as a line; empty if that is unknown."""
    form = EstimateForm(request.GET)
    try:
        chosen = run_templates.chosen(person(request), form.checked()["template"])
    except InvalidInput:
        return HttpResponse()
    return render(
        request, "components/estimate_line.html", {"estimate": estimate_without_files(chosen.plan, form.policy())}
    )


@require_POST
@submitters_only
def run_sample(request: HttpRequest, name: str) -> HttpResponse:
    """A run of a sample. Two posts of a double click carry the same token, so they make one run."""
    token = TokenForm(request.POST).submission()
    try:
        given = submission_of(person(request), name, token)
    except InvalidInput as error:
        raise Http404(str(error)) from error
    try:
        run = submit.submit(person(request), given)
    except InvalidInput as error:  # as where no model is connected, or the web is not reached
        messages.warning(request, str(error))
        return redirect("new_run")
    return redirect("run", run.pk)


@require_POST
@submitters_only
def show_sample(request: HttpRequest) -> HttpResponse:
    """This person's finished sample. If there is none, the offline rules make it, which takes some seconds."""
    try:
        return redirect("run", finished_sample(person(request)).pk)
    except PevError as error:
        messages.warning(request, str(error))
        return redirect("inbox")


def _submit(request: HttpRequest, form: NewRunForm) -> Run:
    if not form.is_valid():
        raise InvalidInput("")
    owner, given = person(request), form.cleaned_data
    if made := submit.submitted(owner, given["token"]):  # before its files are missed, which went with it
        if not _says_the_same(given["request"], made.request):
            raise AlreadySubmitted(made)
        return made
    if given["became"] and not given["another"] and (made := submit.submitted(owner, given["became"])):
        raise AlreadySubmitted(made)
    begin(owner, form)
    uploads, drafted = form.uploads(), _has_files(owner, given["token"])
    _check_places(owner, form, uploads)
    form.check_sources(has_files=bool(uploads) or drafted or given["has_draft"])
    plan = form.plan()
    return submit.submit(
        owner,
        Submission(
            request=given["request"],
            uploads=uploads,
            left_out=form.held_back(),
            excluded=form.patterns(),
            policy=form.policy(),
            token=given["token"],
            approvers=form.people_to_share_with(),
            groups=form.groups_to_share_with(),
            level=given["level"],
            open_to_all=given["open_to_all"],
            names=form.names(),
            no_files=given["no_files"],
            plan=plan.plan if plan else None,
            plan_from=plan.reason if plan else "",
            template=plan.template if plan else "",
            letterhead=plan.letterhead if plan else None,
            from_draft=drafted or given["has_draft"],
            before=form.before if isinstance(form, AgainWithForm) else None,
        ),
    )


def begun_with(owner: User, token: uuid.UUID | None) -> dict[str, Any]:
    """What a form with this token begins with. One that became a run shows its words under a token of its own, so that
    another run is possible, and never made by mistake.
    """
    if token is None:
        return {}
    made = submit.submitted(owner, token)
    return {"became": token, "request": made.request} if made else {"token": token}


def _says_the_same(one: str, other: str) -> bool:
    return one.split() == other.split()


def _became(request: HttpRequest, form: NewRunForm, run: Run) -> HttpResponse:
    """The form again, with the run that it became and the question whether another one is meant."""
    place = f"{request.path}?draft={run.submission}"
    if in_background(request):
        return JsonResponse({"became": place}, status=409)
    data = request.POST.copy()
    data["became"] = str(run.submission)
    if form.cleaned_data["token"] == run.submission:
        data["token"] = str(uuid.uuid4())
    form.data = data
    return form_page(request, form, [], status=409)


def _has_files(owner: User, token: uuid.UUID) -> bool:
    draft = submission_drafts.of(owner).filter(token=token).first()
    return draft is not None and bool(submission_drafts.files_of(draft))


def _check_places(owner: User, form: NewRunForm, uploads: Sequence[Upload]) -> None:
    """Raises InvalidInput for files that were sent with the form and would replace others by name. That is shown before
    anything starts.
    """
    draft = submission_drafts.of(owner).filter(token=form.cleaned_data["token"]).first()
    if draft and (message := input_replacement.warning(draft, [upload.path for upload in uploads])):
        raise InvalidInput(f"{message} Look at the list of files, then start the run.")


def begin(owner: User, form: NewRunForm) -> None:
    """Make the files of the run before those of the form, unless it had them already and they were removed."""
    if isinstance(form, AgainWithForm) and not form.cleaned_data["begun"]:
        submission_drafts.begin_with(owner, form.cleaned_data["token"], form.before)


def token_of(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _refused(request: HttpRequest, form: NewRunForm, problems: Sequence[str], question: str = "") -> HttpResponse:
    if in_background(request):
        return JsonResponse({"errors": list(problems), "question": question}, status=422)
    refused, more = kept(request, form)
    return form_page(request, form, [*problems, *more], question=question, refused=refused, status=422)


def kept(request: HttpRequest, form: NewRunForm) -> tuple[list[RefusedUpload], list[str]]:
    """Put the files of a form that is shown again into its draft, because browsers do not send them a second time."""
    token = form.cleaned_data.get("token")
    if token is None or not (request.FILES.getlist("files") or request.FILES.getlist("folder")):
        return [], []
    try:
        begin(person(request), form)
        return submission_drafts.add(person(request), token, form.uploads()), []
    except InvalidInput as error:
        return [], [f"{error} Your text is kept, and your files are not: add them again."]


def form_page(
    request: HttpRequest,
    form: NewRunForm,
    problems: Sequence[str],
    *,
    question: str = "",
    refused: Sequence[RefusedUpload] = (),
    status: int = 200,
) -> HttpResponse:
    """The page with this form. `question` asks for files; `refused` are those that were sent and not taken."""
    owner = person(request)
    token = token_of(str(form["token"].value())) or uuid.uuid4()
    again = form if isinstance(form, AgainWithForm) else None
    became = token_of(str(form["became"].value()))
    first_run = is_new(owner)
    context = {
        "became": submit.submitted(owner, became) if became else None,
        "form": form,
        "frame": RunFrame(again.before).read_title() if again else None,
        "problems": problems,
        "question": question,
        "files": draft_files(owner, token, refused, again.before.inputs if again else None),
        "unfinished": [] if form.is_bound or again else unfinished(owner, token),
        "reuse": reuse_of(owner, again) if again else None,
        "limits": {
            "files": settings.UPLOAD_FILES,
            "bytes": settings.UPLOAD_BYTES,
            "file_bytes": settings.FILE_BYTES,
            "secrets": SECRETS,
            "junk": JUNK,
        },
        "installation_policy": is_set_up() and not again,
        "estimate": _estimate(owner, form),
        "left": quotas.words(quotas.left_for(owner)),
        "first_run": first_run,
        "sees_tour": is_shown_on_form(owner, first_run),
        "sample_token": uuid.uuid4(),
        "samples": [] if default_policy().by_rules else more_samples(),
    }
    return render(request, "new_run/again_with.html" if again else "new_run/new_run.html", context, status=status)


def _estimate(owner: User, form: NewRunForm) -> Estimate | None:
    """The estimate for a template that is already chosen when the page is loaded. The script asks for the others."""
    key = str(form["template"].value() or "")
    try:
        return estimate_without_files(run_templates.chosen(owner, key).plan, default_policy()) if key else None
    except InvalidInput:
        return None


def in_background(request: HttpRequest) -> bool:
    """Whether a script sent the request and wants JSON."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"
