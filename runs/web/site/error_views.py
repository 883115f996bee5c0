"""Answers to requests that Django refuses before a view is called, that fail, and while the store of files is away.

Programs that ask for an address of the API get problem details.
"""

import logging

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
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


@requires_csrf_token
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 with the sentence for what was too much, as a page or, for a form that is sent in the background, as JSON."""
    if reads_problems(request.path):
        return answer_problem(400, too_much(exception) or NOT_UNDERSTOOD)
    return _refused(request, too_much(exception) or f"{NOT_UNDERSTOOD} {_ON_A_PAGE}", 400)


def server_error(request: HttpRequest) -> HttpResponse:
    """500. Django has logged the exception."""
    return answer_problem(500, FAILED) if reads_problems(request.path) else defaults.server_error(request)


class UnansweredErrors(MiddlewareMixin):
    """Answers with a sentence, as a page or JSON, where a view has not: 400 to a form that no page has sent; 503 while
    the store of files does not answer, and after an upgrade in a process that is older than the database, because
    another process can answer.
    """

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        match exception:
            case InvalidInput():
                return _refused(request, f"{exception} {_ON_A_PAGE}", 400)
            case StoreAway():
                log.warning("the store of files is away: %s", exception.__cause__ or exception)
                problem, title = f"{exception} Nothing is lost, and runs wait for it: try again in a moment.", ""
            case FromLaterVersion():
                log.warning("this process is of an earlier version than another: %s", exception)
                problem, title = f"{exception} {_FINISH}", "This needs the version after this one"
            case _:
                return None
        response = _refused(request, problem, 503, title)
        response["Retry-After"] = "10"
        return response


def _refused(request: HttpRequest, problem: str, status: int, title: str = "") -> HttpResponse:
    if reads_problems(request.path):
        return answer_problem(status, problem)
    if request.get_preferred_type(["text/html", "application/json"]) == "application/json":
        return JsonResponse({"errors": [problem]}, status=status)
    return render(request, f"{status}.html", {"problem": problem, "title": title}, status=status)


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
