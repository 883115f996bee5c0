"""Operations that will end: marked in one place, for programs that read headers and for people who read the reference.

An operation is marked below its route:

    @router.get("/runs/{int:run_id}/lines", auth=READS_RUNS, response=Lines)
    @deprecated(since=date(2027, 3, 1), ends=date(2027, 9, 1), instead="Use “Read a run”.")
    def list_lines(request: HttpRequest, run_id: int) -> Lines: ...
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import wraps

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import http_date
from ninja.decorators import decorate_view
from ninja.operation import Operation
from ninja.utils import contribute_operation_callback

MIN_LIFE = timedelta(days=183)
"""How long a deprecated operation is answered at least. `docs/api/README.md` promises six months."""


def deprecated[F: Callable[..., object]](*, since: date, ends: date, instead: str) -> Callable[[F], F]:
    """Marks an operation as deprecated since one day, and as answered until another. `instead` is a sentence on what
    programs use in its place.

    Every answer of it says so in `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`, and so does its description.
    """
    if ends - since < MIN_LIFE:
        raise ValueError(f"A deprecated operation is answered for at least {MIN_LIFE.days} days.")

    def mark(view: F) -> F:
        def describe(operation: Operation) -> None:
            operation.deprecated = True
            words = f"**Deprecated** since {since}, and answered until {ends}. {instead}"
            operation.description = f"{words}\n\n{operation.description or ''}".rstrip()

        def with_headers(run: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
            @wraps(run)
            def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
                response = run(request, *args, **kwargs)
                link = f'<{reverse("api_reference")}#{view.__name__}>; rel="deprecation"; type="text/html"'
                links = [response.headers["Link"]] if "Link" in response.headers else []
                response.headers["Deprecation"] = f"@{_seconds(since)}"
                response.headers["Sunset"] = http_date(_seconds(ends))
                response.headers["Link"] = ", ".join([*links, link])
                return response

            return answer

        contribute_operation_callback(view, describe)
        return decorate_view(with_headers)(view)

    return mark


def _seconds(day: date) -> int:
    """The beginning of the day in UTC, in seconds since 1970."""
    return int(datetime.combine(day, time(), UTC).timestamp())
