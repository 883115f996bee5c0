"""Forms that a script sends in the background (static/js/forms.js), so that typed words stay if they do not arrive."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

PLACE = "X-Location"
"""The header with the address to go to. The script reads it: static/js/form_words.js."""


def is_background_form(request: HttpRequest) -> bool:
    """Whether a script sent the form of a page, and will show the answer itself."""
    return request.method == "POST" and request.headers.get("X-Requested-With") == "XMLHttpRequest"


@sync_and_async_middleware
def places_for_scripts(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Answers a form that a script has sent with the address to go to in place of a redirect.

    A browser follows redirects without asking the script, so the messages of the page would be shown to no one.
    """
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> HttpResponseBase:
            return _named(request, await get_response(request))

        return answer
    return lambda request: _named(request, get_response(request))


def _named(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if is_background_form(request) and "Location" in response.headers and 300 <= response.status_code < 400:
        response.headers[PLACE] = response.headers["Location"]
        del response.headers["Location"]
        response.status_code = HTTPStatus.NO_CONTENT
    return response
