"""What views and middleware read from a request: the person, the run, who sent it, and the fields for the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import ua_parser
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import url_has_allowed_host_and_scheme

from runs.errors import DecisionRefused, InvalidInput, NotAllowed, Outdated, PevError
from runs.logs import LogFields, about
from runs.models import Run, User
from runs.people.permissions import check_can_submit, find_visible_run, is_administrator, why_not_decide

log = logging.getLogger(__name__)
type GetResponse = Callable[[HttpRequest], HttpResponseBase]
"""The next middleware, or the view."""
MAX_SEARCH = 150
"""Characters of the words for which a page is searched."""


def visible_run(request: HttpRequest, run_id: int) -> Run:
    """The run, with the rows that its page needs. Raises Http404 for everybody who may not see it."""
    run = find_visible_run(request.user, run_id, "owner", "inputs", "head")
    if run is None:
        raise Http404
    is_administrator(request.user)  # read now for the navigation, because templates ask the database for nothing
    return run


def run_to_decide(request: HttpRequest, run_id: int) -> Run:
    """The run, for a page on which people decide. People who may only look get 403 with the reason, others Http404."""
    run = visible_run(request, run_id)
    if why := why_not_decide(request.user, run):
        raise PermissionDenied(why)
    return run


class RunRights(NamedTuple):
    """What the pages of a run offer to a person: to decide in it, with a sentence on why not, and to run it again."""

    decides: bool = False
    submits: bool = False
    why_not_decide: str = ""


NOTHING_OFFERED = RunRights()


def rights_in(request: HttpRequest, run: Run) -> RunRights:
    why = why_not_decide(request.user, run)
    return RunRights(not why, person(request).may_submit, why)


def rights_of_decider(request: HttpRequest) -> RunRights:
    """The rights of the person of a request in a run in which they may decide, as `run_to_decide` has checked."""
    return RunRights(decides=True, submits=person(request).may_submit)


def submitters_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The page is only for people who may submit tasks. Others are told so (403)."""

    @wraps(view)
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            check_can_submit(person(request))
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        return view(request, **kwargs)

    return checked


def administrators_only[Answer: HttpResponseBase](view: Callable[..., Answer]) -> Callable[..., Answer]:
    """The page is only for administrators. Everyone else finds no such page (S4)."""

    @wraps(view)
    def checked(request: HttpRequest, **kwargs: Any) -> Answer:
        if not is_administrator(request.user):
            raise Http404
        return view(request, **kwargs)

    return checked


def person(request: HttpRequest) -> User:
    """The person who sends the request. The middleware has stopped everybody who is not signed in."""
    assert isinstance(request.user, User)
    return request.user


def searched(request: HttpRequest, name: str) -> str:
    """The words for which a page is searched, from this parameter of the address."""
    return request.GET.get(name, "").replace("\0", "").strip()[:MAX_SEARCH]


def is_background_form(request: HttpRequest) -> bool:
    """Whether a script sent the form of a page (static/js/forms.js), and will show the answer itself.

    Such a form is not sent by the browser, so that typed words stay on the page if they do not arrive.
    """
    return request.method == "POST" and request.headers.get("X-Requested-With") == "XMLHttpRequest"


def on_this_site(request: HttpRequest, address: str) -> str:
    """The address if it is on this site, otherwise empty. A word alone is none: `redirect` would take it for the name
    of a view.
    """
    hosts = {request.get_host()}
    fits = url_has_allowed_host_and_scheme(address, allowed_hosts=hosts, require_https=request.is_secure())
    return address if fits and "/" in address else ""


def about_request(request: HttpRequest) -> LogFields:
    """Fields of a log line: the address, which `serve` takes from a trusted proxy, and the name of the person."""
    fields: LogFields = {"address": request.META.get("REMOTE_ADDR", "")}
    if (user := getattr(request, "user", None)) is not None and user.is_authenticated:
        fields["user"] = user.get_username()
    return fields


def program_of(user_agent: str) -> str:
    """The browser and the system in words, such as “Firefox on Linux”."""
    parsed = ua_parser.parse(user_agent)
    names = [part.family for part in (parsed.user_agent, parsed.os) if part]
    return " on ".join(names) or user_agent[:60] or "An unknown program"


def client_of(scope: Any) -> str:
    """The address that an ASGI request comes from; empty if the server does not know it."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def log_refusal(request: HttpRequest, run: Run, error: PevError) -> None:
    """Log why something was refused. What a person may not do is a line of the audit trail too (`sessions.Refusals`),
    whatever the status of the answer is.
    """
    if isinstance(error, NotAllowed):
        request.refused_in = run.pk  # type: ignore[attr-defined]
    log.info("refused: %s", error, extra=about(**(about_request(request) | {"run": run.pk})))


def status_of(error: PevError) -> int:
    """The HTTP status for a request that was refused with this error."""
    match error:
        case NotAllowed():
            return 403
        case DecisionRefused() | Outdated():
            return 409
        case InvalidInput():
            return 422
        case _:
            return 400
