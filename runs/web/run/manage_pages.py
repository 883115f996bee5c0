"""What an owner does with a run: rename, archive and delete it."""

from __future__ import annotations

from enum import StrEnum

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from runs.errors import PevError
from runs.lifecycle import deletion, owner_actions
from runs.lifecycle.owner_actions import MAX_TITLE
from runs.models import Run
from runs.people.permissions import can_manage
from runs.web.frame.run_frame import RunFrame
from runs.web.site.posted_fields import PostedForm, Text, verbs
from runs.web.site.requests import log_refusal, on_this_site, person, status_of, visible_run

MAX_ADDRESS = 1_000
"""Characters of an address to go back to: encoded, each may take twelve, and Django redirects to 16,384."""


class ManageVerb(StrEnum):
    RENAME = "rename"
    ARCHIVE = "archive"
    RESTORE = "restore"


class ManageForm(PostedForm):
    """`title`: the new one. `next`: the page to go back to, which the view checks."""

    verb = verbs(ManageVerb)
    title = Text(required=False, strip=False)
    next = Text(required=False)


@require_http_methods(["GET", "HEAD", "POST"])
def manage(request: HttpRequest, run_id: int) -> HttpResponse:
    """The page, or the part of it that goes into a menu. A post does it and returns to where it was asked for."""
    run = visible_run(request, run_id)
    back = _back(request, run, request.headers.get("HX-Current-URL", ""))
    problem, status = "", 200
    if request.method == "POST":
        try:
            form = ManageForm(request.POST)
            sent = form.checked()
            back = _back(request, run, sent["next"])
            messages.success(request, _done(request, run, sent["verb"], sent["title"]))
            return HttpResponseRedirect(back)
        except PevError as error:
            log_refusal(request, run, error)
            problem, status = str(error), status_of(error)
    context = {
        "run": run,
        "frame": RunFrame(run).read_title(),
        "why": _why_not(request, run),
        "max_title": MAX_TITLE,
        "next": back,
        "problem": problem,
        "typed": request.POST.get("title", run.title).replace("\0", ""),
    }
    template = "run/manage_form.html" if "HX-Request" in request.headers else "run/manage.html"
    return render(request, template, context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask whether to delete the run, with what is deleted and what stays. A post deletes it."""
    run = visible_run(request, run_id)
    may_manage = can_manage(request.user, run)
    problem, status = deletion.problem_with(run) if may_manage else "", 200
    if request.method == "POST":
        try:
            line = deletion.delete(run.pk, person(request))
        except Run.DoesNotExist:  # by someone else, a moment ago: that is what was wanted
            return redirect("inbox")
        except PevError as error:
            log_refusal(request, run, error)
            problem, status = str(error), status_of(error)
        else:
            messages.success(request, f"Run {line.number} “{line.title}” was deleted.")
            return redirect("inbox")
    context = {"run": run, "frame": RunFrame(run).read_title(), "may_manage": may_manage, "problem": problem}
    return render(request, "run/delete_run.html", context, status=status)


def _why_not(request: HttpRequest, run: Run) -> dict[str, str]:
    """Why each thing cannot be done with a run now; empty if it can."""
    if not can_manage(request.user, run):
        why = f"Only {run.owner} or an administrator can rename, archive or delete this run."
        return dict.fromkeys(("rename", "archive", "delete"), why)
    return {
        "rename": "",
        "archive": owner_actions.archiving_problem(run),
        "delete": deletion.problem_with(run, lasting=True),
    }


def _done(request: HttpRequest, run: Run, verb: ManageVerb, title: str) -> str:
    """Do it, and add a message."""
    user = person(request)
    match verb:
        case ManageVerb.RENAME:
            return f"Run {run.pk} is now called “{owner_actions.rename(run.pk, user, title)}”."
        case ManageVerb.ARCHIVE:
            owner_actions.archive(run.pk, user)
            return f"Run {run.pk} is archived. “Filter and sort” in the inbox lists archived runs."
        case ManageVerb.RESTORE:
            owner_actions.unarchive(run.pk, user)
            return f"Run {run.pk} is back in the lists."


def _back(request: HttpRequest, run: Run, asked: str) -> str:
    """The page to return to: the requested one if it is on this site, otherwise the page of the run."""
    fits = asked.startswith(("/", "http://", "https://")) and len(asked) < MAX_ADDRESS
    return asked if fits and on_this_site(request, asked) else reverse("run", args=[run.pk])
