"""What operations read from a request: its caller, the run it is about, and the version that the caller knows."""

from __future__ import annotations

import hashlib
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from http import HTTPStatus
from typing import Annotated

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, QueryDict
from django.http.response import HttpResponseBase
from django.utils.http import parse_etags, quote_etag
from ninja.files import UploadedFile
from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema

from pevsite.installation import version
from runs.errors import InvalidInput, NotVisible, Outdated
from runs.models import AccessToken, Draft, Run, User
from runs.pev.contracts import PlanContract
from runs.store import event_log
from runs.submission import submission_drafts
from runs.submission.intake import Upload
from runs.text.truncate import quoted
from runs.web.mcp.tool_arguments import Caller
from runs.web.site.posted_fields import of_our_time
from runs.web.site.problems import Refused

type AnyPlan = Annotated[
    PlanContract,
    WithJsonSchema(
        {"type": "object", "description": "A plan, as `manage.py run` and the form of a new run import it."}
    ),
]
"""A new kind of check is no new version, and its classes may be named like those of the report."""
Typed = Annotated[str, AfterValidator(lambda text: text.replace("\0", ""))]
"""Words of a person, without the null characters that not every database can store."""
Day = Annotated[date, AfterValidator(of_our_time)]
Moment = Annotated[datetime, AfterValidator(of_our_time)]
Paths = Annotated[
    list[Annotated[str, Field(max_length=1_000)]],
    Field(max_length=10_000, description="A path for each file, in their order; without, the names of the files."),
]


def token_of(request: HttpRequest) -> AccessToken:
    """The access token of the request, which `AccessTokenAuth` has checked."""
    token: AccessToken = request.auth  # type: ignore[attr-defined]
    return token


def caller_of(request: HttpRequest) -> Caller:
    return Caller(token_of(request), f"{request.scheme}://{request.get_host()}")


def version_of(run: Run) -> str:
    """The ETag of what is shown of a run: another one after each of its events, and in another version of pevsite.

    It is weak, because parts of a report change without an event, such as the time for which a run has worked.
    """
    facts = (version(), run.pk, run.event_count, run.title, run.status, run.archived_at, run.paused)
    return f"W/{quote_etag(hashlib.sha256(repr(facts).encode()).hexdigest()[:32])}"


def unless_known(request: HttpRequest, etag: str, make: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """The answer with its ETag; 304 without a body if the caller has this version already (If-None-Match)."""
    known = _tags(request.headers.get("If-None-Match", ""))
    response: HttpResponseBase = HttpResponseNotModified() if known & {*_tags(etag), "*"} else make()
    response.headers["ETag"] = etag
    return response


@contextmanager
def as_known(request: HttpRequest, run: Run) -> Iterator[None]:
    """Within, a run is changed only if it is as the caller knows it (If-Match).

    Its version is compared before, and once more when the run is locked: someone may have changed it in between.
    """
    wanted = request.headers.get("If-Match")
    if wanted is None or "*" in _tags(wanted):
        yield
        return
    _check_version(wanted, run)
    try:
        with event_log.only_if_unchanged(run):
            yield
    except Outdated:
        _check_version(wanted, caller_of(request).run(run.pk))
        raise


def _check_version(wanted: str, run: Run) -> None:
    if not _tags(wanted) & _tags(version_of(run)):
        sentence = "The run has changed since it was read. Read it again, then decide. Nothing was changed."
        raise Refused(HTTPStatus.PRECONDITION_FAILED, sentence, {"ETag": version_of(run)})


def _tags(header: str) -> set[str]:
    """The ETags of a header, without the mark of weak ones: versions of a run are compared, and not bytes."""
    return {tag.removeprefix("W/") for tag in parse_etags(header)}


def check_names(sent: QueryDict, fields: type[BaseModel]) -> None:
    """Raises InvalidInput for a parameter or field that there is not: what it was meant to say would be ignored."""
    if unknown := sorted(set(sent) - set(fields.model_fields)):
        raise InvalidInput(f"There is no field {quoted(unknown[0], 100)}. There are: {', '.join(fields.model_fields)}.")


def uploads_of(paths: Sequence[str], files: Sequence[UploadedFile]) -> list[Upload]:
    """The files of a form at their paths. Raises InvalidInput when there are not as many paths as files."""
    if paths and len(paths) != len(files):
        raise InvalidInput("There are not as many paths as files. Nothing was stored.")
    names = paths or [file.name or "" for file in files]
    return [Upload(path, file, named=False) for path, file in zip(names, files, strict=True)]


def upload_of(person: User, upload: uuid.UUID) -> Draft:
    """The files that this person has uploaded before. Raises NotVisible if they are gone or someone else's."""
    draft = submission_drafts.of(person).filter(token=upload).first()
    if draft is None:
        raise NotVisible("This upload is gone: it was discarded, or is older than a day. Upload the files again.")
    return draft


def cursor_to(pk: int) -> str:
    """The cursor of a page of a list that begins behind this row."""
    return urlsafe_b64encode(f"before {pk}".encode()).decode().rstrip("=")


def link_to_next(request: HttpRequest, response: HttpResponse, cursor: str | None) -> None:
    """Says in `Link` where the next page of a list is, if there is one."""
    if cursor:
        query = request.GET.copy()
        query["cursor"] = cursor
        address = f"{caller_of(request).site}{request.path}?{query.urlencode()}"
        response.headers["Link"] = f'<{address}>; rel="next"'


def row_of(cursor: str) -> int | None:
    """The row behind which a page begins; None for the first page. Raises InvalidInput for what is no cursor."""
    if not cursor:
        return None
    try:
        word, number = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii").split(" ")
        if word != "before" or not 0 < int(number) < 2**63:
            raise ValueError(word)
    except ValueError as error:
        raise InvalidInput("This is no cursor: take `next` of the page before, or leave it out.") from error
    return int(number)
