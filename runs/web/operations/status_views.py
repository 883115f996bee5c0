"""The status of the installation, for administrators: what its processes do, and three actions."""

import logging

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.engine import claim, process_registry
from runs.errors import InvalidInput
from runs.logs import about
from runs.people.permissions import is_administrator
from runs.web.operations.status_forms import StatusForm, StatusVerb
from runs.web.operations.status_presenter import StatusPage
from runs.web.site.requests import about_request

log = logging.getLogger(__name__)
_GONE = "That is not so any more: look at what has changed."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def status_page(request: HttpRequest) -> HttpResponse:
    """Raises Http404 for everybody else: they find no such page (S4)."""
    if not is_administrator(request.user):
        raise Http404
    if request.method != "POST":
        return render(request, "operations/status.html", {"page": StatusPage()})
    try:
        given = StatusForm(request.POST).checked()
    except InvalidInput as error:
        return render(request, "operations/status.html", {"page": StatusPage(), "problem": str(error)}, status=422)
    verb: StatusVerb = given["verb"]
    done = _done(verb, given["of"], request.user.get_username())
    (messages.success if done else messages.warning)(request, done or _GONE)
    sender = about(**about_request(request))
    log.info("status: %s of %s%s", verb, given["of"], "" if done else ", which was not so", extra=sender)
    return redirect("status")


def _done(verb: StatusVerb, number: int, by: str) -> str:
    """The sentence for the person who did it; empty if there was nothing left to do."""
    match verb:
        case StatusVerb.DRAIN | StatusVerb.RESUME:
            drains = verb is StatusVerb.DRAIN
            if not process_registry.drain(number, drains=drains):
                return ""
            return "It takes no new work and finishes what it has." if drains else "It takes new work again."
        case StatusVerb.RETRY:
            return "It is tried again within a second." if claim.hurry(number, by) else ""
        case StatusVerb.RELEASE:
            return "Another process takes it over within a second." if claim.release(number, by) else ""
