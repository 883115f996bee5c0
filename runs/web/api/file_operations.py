"""Files: those of a run as bytes and as text, and uploads before a submission."""

from __future__ import annotations

import re
import uuid
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import quote_etag
from ninja import File, Form, Query, Router, Status
from ninja.files import UploadedFile
from pydantic import BaseModel, ConfigDict, Field

from runs.documents.model.layout import BlockKind
from runs.enums import AuditKind
from runs.models import Run
from runs.people.permissions import check_can_submit
from runs.store import audit_trail, blobs, trees
from runs.submission import submission_drafts
from runs.text.truncate import quoted
from runs.web.api.idempotency import answers_upload, id_of_made
from runs.web.api.requests import Paths, caller_of, check_names, unless_known, upload_of, uploads_of
from runs.web.api.tokens import CHANGES_RUNS, READS_RUNS
from runs.web.files.file_page import FilePage, version_of
from runs.web.mcp import looking, tool_answers
from runs.web.site.problems import PROBLEM, Refused
from runs.web.site.streaming import attachment

router = Router(tags=["files"])
MAX_TEXT = 1_000_000
"""Characters of a text in one answer."""
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_ANSWERS_WITH_BYTES: dict[str, Any] = {
    "responses": {
        200: {"description": "All of its bytes, with `ETag` and `Accept-Ranges`", "content": _BYTES},
        206: {"description": "The bytes of `Range`", "content": _BYTES},
        304: {"description": "The caller has this content already (`If-None-Match`)"},
        416: {"description": "The file has no such bytes; `Content-Range` says how many it has", "content": PROBLEM},
    }
}


class FileAsked(BaseModel):
    """Which version of a file is wanted."""

    model_config = ConfigDict(extra="forbid")

    sha256: Annotated[
        str, Field(pattern="^([0-9a-f]{64})?$", description="A version that the run had at any time; else the newest.")
    ] = ""


class TextAsked(FileAsked):
    """Which part of a text is wanted."""

    offset: Annotated[int, Field(ge=0, lt=2**53, description="Where to go on: `next_offset` of the answer before.")] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_TEXT, description="At most so many characters.")] = MAX_TEXT


class FilesAsked(BaseModel):
    """Which part of a list of files is wanted."""

    model_config = ConfigDict(extra="forbid")

    offset: Annotated[int, Field(ge=0, lt=2**53, description="Where to go on: `next_offset` of the answer before.")] = 0


class Place(BaseModel):
    """A place of a document, from the character `start` of its whole text to before `end`."""

    anchor: Annotated[str, Field(description="What citations name.", examples=["p23", "page=7", "Rents!B7"])]
    words: Annotated[str, Field(description="What people call it.", examples=["clause 4.2(b)"])]
    kind: BlockKind
    start: int
    end: int


class FileText(BaseModel):
    """What a file is read as. A text without places is cited by its lines, such as `L12`."""

    run: int
    path: str
    sha256: Annotated[str, Field(description="The hash of the file, of which this is the text.")]
    read_as: Annotated[str, Field(description="How its bytes were read, where that is not obvious.")]
    extent: Annotated[str, Field(examples=["12 pages"])]
    notes: Annotated[list[str], Field(description="What could not be read, and what to know about the text.")]
    text: str
    offset: int
    total: Annotated[int, Field(description="Characters of the whole text.")]
    next_offset: int | None
    places: list[Place]


class UploadFields(BaseModel):
    """The fields of an upload, besides its files."""

    model_config = ConfigDict(extra="forbid")

    paths: Paths = []
    upload: Annotated[uuid.UUID | None, Field(description="An upload to which the files are added.")] = None


class UploadedLine(BaseModel):
    path: str
    bytes: int
    sha256: str


class NotTaken(BaseModel):
    """A file that was not taken. A `secret` one is left out, because it may contain secrets."""

    path: str
    sentence: str
    secret: bool


class UploadMade(BaseModel):
    """Files that wait for a submission, which names them as `upload`."""

    upload: uuid.UUID
    files: list[UploadedLine]
    not_taken: Annotated[list[NotTaken], Field(description="Files of this request that were not taken, and why.")]
    expires_at: datetime


@router.get("/runs/{int:run_id}/files", auth=READS_RUNS, response=tool_answers.Files, summary="List files")
def list_files(request: HttpRequest, run_id: int, asked: Query[FilesAsked]) -> tool_answers.Files:
    """The files of a run: first those that it has made, changed or removed, then those that it was given."""
    check_names(request.GET, FilesAsked)
    caller = caller_of(request)
    return looking.files_of(caller.run(run_id, *trees.OF_RUN, only=trees.DIGESTS), asked.offset)


@router.get(
    "/runs/{int:run_id}/files/{path:path}",
    auth=READS_RUNS,
    openapi_extra=_ANSWERS_WITH_BYTES,
    summary="Download a file",
)
def download_file(request: HttpRequest, run_id: int, path: str, asked: Query[FileAsked]) -> HttpResponseBase:
    """The bytes of a file of a run, or those of one range of them (`Range: bytes=0-1023`).

    The ETag is the SHA-256 of the file.
    """
    check_names(request.GET, FileAsked)
    page = _page(caller_of(request).run(run_id, *trees.OF_RUN, only=trees.DIGESTS), path, asked.sha256)
    etag = quote_etag(page.sha256)
    return unless_known(request, etag, lambda: _bytes(request, page, etag))


def _bytes(request: HttpRequest, page: FilePage, etag: str) -> HttpResponseBase:
    size = page.version.info.size
    part = _range_of(request, etag)
    start, end = part.within(size) if part else (0, size)
    if part and start >= end:
        sentence = f"This file has {size:,} bytes, and none in that range."
        headers = {"Content-Range": f"bytes */{size}", "ETag": etag}
        raise Refused(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, sentence, headers)
    pieces = blobs.pieces_of(page.sha256, start, end)
    _record_download(request, page)
    response = attachment(request, pieces, page.name, looking.safe_media_type(page.path))
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Content-Length"] = str(end - start)
    if part:
        response.status_code = HTTPStatus.PARTIAL_CONTENT
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return response


class _Range(NamedTuple):
    """The first and the last byte that are wanted. Without `first`, it is the number of the last bytes."""

    first: int | None
    last: int | None

    def within(self, size: int) -> tuple[int, int]:
        """The first byte, and that behind the last one."""
        if self.first is None:
            return max(0, size - (self.last or 0)), size
        return self.first, size if self.last is None else min(size, self.last + 1)


def _range_of(request: HttpRequest, etag: str) -> _Range | None:
    """The range of a request; None for all bytes, also where it asks for several or for a range of another version, and
    for HEAD, which has no ranges (RFC 9110, 14.2).
    """
    match = _RANGE.fullmatch(request.headers.get("Range", "").strip()) if request.method == "GET" else None
    if match is None or request.headers.get("If-Range", etag) != etag or not (match[1] or match[2]):
        return None
    found = _Range(*(int(number) if number else None for number in match.groups()))
    return None if found.first is not None and found.last is not None and found.last < found.first else found


@router.get("/runs/{int:run_id}/texts/{path:path}", auth=READS_RUNS, response=FileText, summary="Read a file as text")
def read_file_text(request: HttpRequest, run_id: int, path: str, asked: Query[TextAsked]) -> FileText:
    """What a document or text is read as, with the places that citations name."""
    check_names(request.GET, TextAsked)
    page = _page(caller_of(request).run(run_id), path, asked.sha256)
    text, document = page.text, page.document
    if text is None:
        raise Refused(HTTPStatus.CONFLICT, f"{quoted(path)} {page.problem or 'is not text'}. Download it instead.")
    _record_download(request, page)
    end = min(len(text), asked.offset + asked.limit)
    blocks = document.blocks_in(asked.offset, end) if document and asked.offset < end else ()
    named = [(block, document.place_name(block.start, block.end)) for block in blocks] if document else []
    return FileText(
        run=run_id,
        path=path,
        sha256=page.sha256,
        read_as=page.read_as,
        extent=page.extent,
        notes=[*page.notes, *page.cautions],
        text=text[asked.offset : end],
        offset=asked.offset,
        total=len(text),
        next_offset=end if asked.offset < end < len(text) else None,
        places=[
            Place(anchor=name.anchor, words=name.words, kind=block.kind, start=block.start, end=block.end)
            for block, name in named
        ],
    )


def _page(run: Run, path: str, sha256: str) -> FilePage:
    """Raises Http404 for a version that never belonged to the run, and for one that the store has lost."""
    version = version_of(run, path, sha256)
    if version is None or not blobs.exists(version.info.sha256):
        raise Http404
    return FilePage(run, path, version)


def _record_download(request: HttpRequest, page: FilePage) -> None:
    if request.method == "GET":
        audit_trail.record(AuditKind.FILE_DOWNLOADED, run_id=page.run.pk, subject=page.path, sha256=page.sha256)


@router.post("/uploads", auth=CHANGES_RUNS, url_name="uploads", response={201: UploadMade}, summary="Upload files")
def upload_files(
    request: HttpRequest, given: Form[UploadFields], files: File[list[UploadedFile]]
) -> Status[UploadMade]:
    """Stores files before a run is submitted, as a form of type multipart/form-data. Several requests may add to one
    upload.

    Submit the run with `upload`. An upload is kept for a day after its last file. Archives are unpacked.
    """
    check_names(request.POST, UploadFields)
    person = caller_of(request).person
    check_can_submit(person)
    token = upload_of(person, given.upload).token if given.upload else id_of_made(request)
    answers_upload(request, token)
    refused = submission_drafts.add(person, token, uploads_of(given.paths, files))
    draft = submission_drafts.found(person, token)
    if secret := [one.path for one in refused if one.secret]:
        submission_drafts.note_left_out(draft, secret)
    made = UploadMade(
        upload=token,
        files=[
            UploadedLine(path=path, bytes=info.size, sha256=info.sha256)
            for path, info in submission_drafts.files_of(draft).items()
        ],
        not_taken=[NotTaken(path=one.path, sentence=one.why, secret=one.secret) for one in refused],
        expires_at=draft.expires_at,
    )
    return Status(HTTPStatus.CREATED, made)


@router.delete("/uploads/{uuid:upload}", auth=CHANGES_RUNS, response={204: None}, summary="Discard an upload")
def discard_upload(request: HttpRequest, upload: uuid.UUID) -> HttpResponse:
    """Discards files that no run was submitted with."""
    submission_drafts.discard(upload_of(caller_of(request).person, upload))
    return HttpResponse(status=HTTPStatus.NO_CONTENT)
