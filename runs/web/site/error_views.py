"""Answers to requests that Django refuses before a view is called, that fail, and while files or rows are out of reach.

Programs that ask for an address of the API get problem details.
"""

import logging
import sys
from typing import NamedTuple

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin
from django.views import defaults
from django.views.decorators.csrf import requires_csrf_token

from runs.errors import FromLaterVersion, InvalidInput, StoreAway
from runs.web.site.problems import FAILED, NOT_UNDERSTOOD, answer_problem, reads_problems

log = logging.getLogger(__name__)
_FINISH = (
    "Nothing was changed and nothing is lost. pevsite is being upgraded: try again in a moment. If this does not "
    "change, an administrator must finish the upgrade by restarting the processes of the earlier version."
)
_ON_A_PAGE = "Go back, reload the page and try again."
_LIMIT_EXCEEDED = "54"
"""The class of PostgreSQL's error codes for statements and values that are too large."""
RETRY_AFTER = "10"
"""Seconds until a program should try again what fails for a while."""


class TemporaryProblem(NamedTuple):
    """What fails for a while, and why. `title`: of a page. `has_rows`: whether the database can be read."""

    sentence: str
    title: str
    has_rows: bool = True


def temporary_problem(error: BaseException | None) -> TemporaryProblem | None:
    """None for an error that stays until someone changes something."""
    match error:
        case StoreAway():
            sentence = f"{error} Nothing is lost, and runs wait for it: try again in a moment."
            return TemporaryProblem(sentence, "Files cannot be reached")
        case FromLaterVersion():
            return TemporaryProblem(f"{error} {_FINISH}", "This needs the version after this one")
        case OperationalError() if not _stays(error):
            sentence = "The database does not answer, or has no room. Runs wait for it: try again in a moment."
            return TemporaryProblem(sentence, "The database cannot be reached", has_rows=False)
        case _:
            return None


def _stays(error: OperationalError) -> bool:
    """Drivers raise it also for a statement with a mistake or with too much in it, and for a file that is read-only."""
    name = getattr(error.__cause__, "sqlite_errorname", "")
    state = getattr(error.__cause__, "sqlstate", None) or ""
    return name.startswith(("SQLITE_ERROR", "SQLITE_READONLY")) or state.startswith(_LIMIT_EXCEEDED)


@requires_csrf_token
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 with the sentence for what was too much, as a page or, for a form that is sent in the background, as JSON."""
    if reads_problems(request.path):
        return answer_problem(400, too_much(exception) or NOT_UNDERSTOOD)
    return _refused(request, too_much(exception) or f"{NOT_UNDERSTOOD} {_ON_A_PAGE}", 400)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or 503 for what fails for a while. Django has logged the exception."""
    if problem := temporary_problem(sys.exception()):
        return _later(request, problem)
    return answer_problem(500, FAILED) if reads_problems(request.path) else defaults.server_error(request)


class UnansweredErrors(MiddlewareMixin):
    """Answers with a sentence, as a page or JSON, where a view has not: 400 to a form that no page has sent; 503 while
    files cannot be reached, and after an upgrade in a process that is older than the database, because another process
    can answer. `server_error` answers while the database is away: queries in front of the view fail then too.
    """

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, InvalidInput):
            return _refused(request, f"{exception} {_ON_A_PAGE}", 400)
        if (problem := temporary_problem(exception)) and problem.has_rows:
            log.warning("%s: %s", problem.title, exception.__cause__ or exception)
            return _later(request, problem)
        return None


def _later(request: HttpRequest, problem: TemporaryProblem) -> HttpResponse:
    response = _refused(request, problem.sentence, 503, problem.title, has_rows=problem.has_rows)
    response["Retry-After"] = RETRY_AFTER
    return response


def _refused(
    request: HttpRequest, problem: str, status: int, title: str = "", *, has_rows: bool = True
) -> HttpResponse:
    """Without rows, the page does not show who is signed in."""
    if reads_problems(request.path):
        return answer_problem(status, problem)
    if request.get_preferred_type(["text/html", "application/json"]) == "application/json":
        return JsonResponse({"errors": [problem]}, status=status)
    context = {"problem": problem, "title": title}
    return HttpResponse(render_to_string(f"{status}.html", context, request if has_rows else None), status=status)


def too_much(exception: Exception) -> str:
    """The sentence for a request that has more than may be sent; empty for another exception."""
    match exception:
        case TooManyFilesSent():
            return (
                f"More files were sent than the {settings.UPLOAD_FILES:,} that a run may have. Nothing was stored. "
                "Send fewer, or pack those that belong together into one file."
            )
        case TooManyFieldsSent():
            return "The form had more fields than a run can have files. Nothing was stored. Send fewer files."
        case RequestDataTooBig():
            return (
                f"The text in the form is larger than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 1_000_000:,.0f} MB. "
                "Nothing was stored. Put long texts into a file and attach that."
            )
        case _:
            return ""
