"""The answer to requests that Django refuses before a view sees them."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import requires_csrf_token


@requires_csrf_token
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 with the sentence for what was too much, as a page or, for a form that is sent in the background, as JSON."""
    problem = _sentence(exception)
    if request.get_preferred_type(["text/html", "application/json"]) == "application/json":
        return JsonResponse({"errors": [problem]}, status=400)
    return render(request, "400.html", {"problem": problem}, status=400)


def _sentence(exception: Exception) -> str:
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
            return "The request could not be understood. Nothing was changed. Go back, load the page again and retry."
