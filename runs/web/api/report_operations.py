"""Reports of runs, in every format in which there are some."""

from __future__ import annotations

from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router
from pydantic import BaseModel, ConfigDict, Field

from runs.reports.formats import BY_SUFFIX
from runs.reports.outline import Part
from runs.reports.report_format import ReportInput
from runs.web.api.requests import caller_of, check_names
from runs.web.api.tokens import READS_RUNS
from runs.web.report.preparing import Busy
from runs.web.report.report_page import download, prepared, zip_of
from runs.web.site.problems import Refused

router = Router(tags=["reports"])
WAIT_SECONDS = 20
"""Seconds that a request waits for a format that takes long."""
RETRY_SECONDS = 5
_REPORT = {"$ref": "#/components/schemas/Report"}
Suffix = StrEnum("Suffix", {suffix: suffix for suffix in BY_SUFFIX})  # type: ignore[misc]  # read from the formats
"""The formats of reports, by their suffixes."""


def _answers_with(*media_types: str) -> dict[str, Any]:
    """What OpenAPI says of an answer in one of these formats: text, bytes, or the fields of a report."""
    content: dict[str, Any] = {}
    for one in media_types:
        schema = {"type": "string"} if one.startswith("text/") else {"type": "string", "format": "binary"}
        content[one] = {"schema": _REPORT if one == "application/json" else schema}
    return {"responses": {200: {"description": "The file", "content": content}}}


class ReportAsked(BaseModel):
    """What of a report is wanted."""

    model_config = ConfigDict(extra="forbid")

    part: Annotated[Part, Field(description="Formats that machines read always have everything.")] = Part.REPORT


@router.get(
    "/runs/{int:run_id}/report.{suffix}",
    auth=READS_RUNS,
    openapi_extra=_answers_with(*dict.fromkeys(one.media_type for one in BY_SUFFIX.values())),
    summary="Download a report",
)
def download_report(
    request: HttpRequest, run_id: int, suffix: Suffix, asked: Query[ReportAsked]
) -> StreamingHttpResponse:
    """The report of a run as of now. Answered with 503 and `Retry-After` while a format that takes long is being made:
    ask again then.
    """
    check_names(request.GET, ReportAsked)
    report_format = BY_SUFFIX[suffix]
    source = ReportInput.of(caller_of(request).run(run_id), asked.part)
    if not report_format.is_slow:
        return download(request, source, report_format, report_format.write(source))
    try:
        file = prepared(source, report_format, wait=WAIT_SECONDS)
    except Busy as error:
        raise _later(str(error)) from error
    if not file.done:
        raise _later(f"The report is being made for {file.seconds} seconds now. Ask again in {RETRY_SECONDS} seconds.")
    if file.problem:
        raise Refused(HTTPStatus.CONFLICT, file.problem)
    return download(request, source, report_format, file.data)


def _later(sentence: str) -> Refused:
    return Refused(HTTPStatus.SERVICE_UNAVAILABLE, sentence, {"Retry-After": str(RETRY_SECONDS)})


@router.get(
    "/runs/{int:run_id}/files.zip",
    auth=READS_RUNS,
    openapi_extra=_answers_with("application/zip"),
    summary="Download everything",
)
def download_everything(request: HttpRequest, run_id: int) -> StreamingHttpResponse:
    """The reports of a run with all of its files, as a zip."""
    return zip_of(request, caller_of(request).run(run_id))
