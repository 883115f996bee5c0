"""Whether this process can do its work. The parts that it needs are asked within a limited time and not too often."""

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from django.views.decorators.http import require_safe

from runs.engine.claim import due
from runs.models import WorkItem, clock
from runs.store import blobs

log = logging.getLogger(__name__)
WITHIN = 2.0
"""Seconds that a part has to answer."""
SHARED_FOR = 1.0
"""Seconds for which an answer is reused, so that frequent requests do not reach the database."""
WAITS_LONG = timedelta(minutes=1)
"""If work has been due for longer than this, no worker takes it, or there are too few workers."""
_TEXT = "text/plain; charset=utf-8"


class NotReady(Exception):
    """The text says what is wrong, without addresses, because everybody may read it."""


def _database() -> None:
    connection.ensure_connection()
    if not connection.is_usable():
        raise NotReady("does not answer")


def _redis() -> None:
    if settings.REDIS_URL:
        from redis import Redis  # an optional extra

        Redis.from_url(settings.REDIS_URL, socket_connect_timeout=WITHIN, socket_timeout=WITHIN).ping()


def _files() -> None:
    if problem := blobs.store().problem():
        raise NotReady(problem.partition(" (")[0])


def _engine() -> None:
    waiting = WorkItem.objects.filter(due(), due_at__lt=clock.after(-WAITS_LONG))
    if waiting.exists():
        raise NotReady("work has been waiting for more than a minute; no worker takes it")


PARTS: Mapping[str, Callable[[], None]] = {
    "database": _database,
    "redis": _redis,
    "files": _files,
    "engine": _engine,
}
"""The parts by name. Each function returns, or raises."""


@dataclass
class _Part:
    """The last answer of a part (None for none yet, "" for healthy), and the question in progress."""

    problem: str | None = None
    asked_at: float = -math.inf
    asking: Future[None] | None = field(default=None)


class Health:
    """The answers of this process. A part that hangs is not asked again until it has answered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts = {name: _Part() for name in PARTS}
        self._threads = ThreadPoolExecutor(len(PARTS), thread_name_prefix="health")

    def problems(self) -> dict[str, str]:
        """The problem of each part; empty if it is healthy. Takes `WITHIN` seconds at most."""
        with self._lock:  # one asks, the others have the same answer
            now = time.monotonic()
            ends = dict.fromkeys(self._parts, now)  # who hung before is not waited for again
            for name, part in self._parts.items():
                if part.asking is None and now - part.asked_at >= SHARED_FOR:
                    part.asking = self._threads.submit(_ask, PARTS[name])
                    ends[name] = now + WITHIN
            for name, part in self._parts.items():
                if part.asking is not None:
                    self._take(name, part, ends[name] - time.monotonic())
            return {name: part.problem or "" for name, part in self._parts.items()}

    @staticmethod
    def _take(name: str, part: _Part, seconds: float) -> None:
        asking, before, kind = part.asking, part.problem, ""
        assert asking is not None
        try:
            asking.result(max(0.0, seconds))
            part.problem = ""
        except NotReady as error:
            part.problem = str(error)
        except TimeoutError:
            part.problem = "does not answer"
        except Exception as error:
            part.problem, kind = "cannot be used", f" ({type(error).__name__})"
        if part.problem and part.problem != before:
            log.warning("not ready: %s: %s%s", name, part.problem, kind)
        elif before and not part.problem:
            log.warning("ready again: %s", name)
        if asking.done():
            part.asking, part.asked_at = None, time.monotonic()


def _ask(part: Callable[[], None]) -> None:
    try:
        part()
    finally:
        connection.close()


health = Health()


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
