"""Whether a process is alive, and whether it is ready: for supervisors and balancers, without signing in."""

from http import HTTPStatus

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from django.views.decorators.http import require_safe

from runs.web.operations.health import health

_TEXT = "text/plain; charset=utf-8"


@login_not_required
@require_safe
def alive(request: HttpRequest) -> HttpResponse:
    """Asks nothing: that there is an answer is the answer."""
    return HttpResponse("ok\n", content_type=_TEXT)


@login_not_required
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """A line for each part. `?exclude=engine`, which may be repeated, leaves parts out of the status."""
    problems = health.problems()
    excluded = request.GET.getlist("exclude")
    lines = [f"{name}: {problem or 'ok'}{' (excluded)' * (name in excluded)}" for name, problem in problems.items()]
    well = not any(problem for name, problem in problems.items() if name not in excluded)
    status = HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE
    return HttpResponse("".join(f"{line}\n" for line in lines), status=status, content_type=_TEXT)


class Probes(MiddlewareMixin):
    """Answers probes before the host is checked: a supervisor that uses the address of a process knows no name of the
    site.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        match request.path:
            case "/healthz":
                return alive(request)
            case "/readyz":
                return ready(request)
        return None
