"""What a browser has already is not made again: parts, downloads and exports of a run answer 304 while nothing happens.

Only what scripts fetch or people save is kept by browsers, and asked about each time. Pages are not: after signing out
*back* shows nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.http import quote_etag
from django.views.decorators.http import condition

from runs.enums import RunStatus
from runs.models import Run, User
from runs.people.permissions import visible_runs

type View = Callable[..., HttpResponseBase]
type Version = Callable[[HttpRequest, Run], object]
"""Returns what the answer to a request depends on, as text; None if the answer must not be cached."""
KEPT = "private, no-cache"


def while_unchanged(version: Version, *parameters: str) -> Callable[[View], View]:
    """Answer 304 before the view is asked, if the browser has what this version of the run gives to this session.

    Who may not see the run gets 404 first: the permission is checked each time. With `parameters` only addresses with
    one of them in the query are answered so; the others are pages.
    """

    def etag(request: HttpRequest, run_id: int, *_: Any, **__: Any) -> str | None:
        if parameters and not any(name in request.GET for name in parameters):
            return None
        run = get_object_or_404(visible_runs(request.user).only("event_count", "status", "owner_id"), pk=run_id)
        made_of = version(request, run)
        if made_of is None:
            return None
        zone = timezone.get_current_timezone_name()
        facts = (_process(), request.session.session_key, request.get_full_path(), made_of, zone, usernames_in(run))
        return quote_etag(hashlib.sha256(repr(facts).encode()).hexdigest()[:32])

    def decorate(view: View) -> View:
        conditional = condition(etag_func=etag)(view)

        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method not in {"GET", "HEAD"}:
                return view(request, *args, **kwargs)
            response: HttpResponseBase = conditional(request, *args, **kwargs)
            if response.status_code in {200, 304} and response.has_header("ETag"):
                response.headers["Cache-Control"] = KEPT
            elif response.has_header("ETag"):  # a way to somewhere else is not the answer
                del response.headers["ETag"]
            return response

        return answer

    return decorate


def usernames_in(run: Run) -> list[str]:
    """The names of the people in the run. A changed name is no event of the run."""
    decided = run.gates.order_by().values("decided_by")
    wrote, approved = run.plans.order_by().values("author"), run.plans.order_by().values("approved_by")
    there = Q(pk=run.owner_id) | Q(shares__run=run) | Q(pk__in=decided) | Q(pk__in=wrote) | Q(pk__in=approved)
    return list(User.objects.filter(there).order_by("pk").values_list("username", flat=True).distinct())


@cache
def _process() -> str:
    """The process, because another one may have other templates."""
    return secrets.token_hex(8)


def of_run(_: HttpRequest, run: Run) -> object:
    """Everything that happens in the run may change it."""
    return run.event_count


def of_finished(_: HttpRequest, run: Run) -> object:
    """The report of an unfinished run says for how long it has been running, so it is not cached."""
    return run.event_count if run.status == RunStatus.FINISHED else None


def of_file(request: HttpRequest, run: Run) -> object:
    """A version of a file that is named by its hash never changes, but the text in the panel may."""
    return run.event_count if "panel" in request.GET else request.GET.get("sha") or run.event_count
