"""Tools that read over MCP: lists, states, reports and files of runs that the person may see."""

from __future__ import annotations

import mimetypes
from base64 import b64encode
from collections.abc import Mapping, Sequence

from runs.contracts.ports import FileInfo
from runs.enums import AuditKind, RunStatus, Show, TokenScope
from runs.errors import InvalidInput
from runs.lifecycle.snoozes import snoozed_gates
from runs.models import Run
from runs.models.querysets import RunQuerySet
from runs.people import access_tokens
from runs.readmodel import run_queries
from runs.readmodel.representations import status_of
from runs.readmodel.run_files import made_files
from runs.readmodel.run_queries import Filters, Sort
from runs.reports.formats import FORMATS
from runs.reports.report_format import ReportInput
from runs.store import audit_trail, blobs, trees
from runs.text.truncate import quoted
from runs.web.inbox.inbox_page import MAX_WORDS
from runs.web.mcp import tool_answers
from runs.web.mcp.tool_arguments import (
    MAX_TEXT,
    Caller,
    ListFilesArguments,
    ListRuns,
    ReadFileArguments,
    ReadReport,
    RunStatusArguments,
    WaitForRun,
)

MAX_FILES = 500
"""Files of a list in one answer."""
_UNKNOWN_TYPE = "application/octet-stream"
_SAFE_TYPES = (
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
    "application/pdf",
    "application/vnd.",
)
"""Media types that clients get: pictures and documents, and nothing that a client could execute."""


def list_runs(caller: Caller, arguments: ListRuns) -> tool_answers.Runs:
    found = runs_of_list(caller, arguments.show, Filters(words=tuple(arguments.words.split()[:MAX_WORDS])))
    rows = run_queries.readable_rows(found[arguments.offset : arguments.offset + arguments.limit])
    total = found.count()
    return tool_answers.Runs(
        runs=lines_of(caller, rows),
        total=total,
        next_offset=_next(arguments.offset, len(rows), total),
    )


def runs_of_list(caller: Caller, show: Show, filters: Filters) -> RunQuerySet:
    """The runs that the person may see, the newest first. Raises ScopeMissing for those that wait for the person if the
    token does not show which decisions are open.
    """
    if show is Show.MINE:
        access_tokens.check(caller.token, TokenScope.GATES_READ)
    put_off = snoozed_gates(caller.person) if show is Show.MINE else ()
    return run_queries.runs_of_list(caller.person, show, filters, Sort.NEWEST, put_off)


def lines_of(caller: Caller, runs: Sequence[Run]) -> list[tool_answers.RunLine]:
    """The runs of a list, with whether they wait for the person."""
    unfinished = [run for run in runs if run_queries.is_later(run) or run.status != RunStatus.FINISHED]
    waiting = run_queries.waiting_for(caller.person, {run.pk: run.owner_id for run in unfinished})
    return [_run_line(caller, run, waiting) for run in runs]


def _run_line(caller: Caller, run: Run, waiting: Mapping[int, bool]) -> tool_answers.RunLine:
    """`waiting`: as from `run_queries.waiting_for`."""
    later, waits = run_queries.is_later(run), run.pk in waiting
    state = "unknown" if later else run.outcome or ("paused" if run.paused else "waiting" if waits else run.status)
    return tool_answers.RunLine(
        run=run.pk,
        title=run.title,
        state=state,
        submitted_by=run.owner.get_username(),
        submitted_at=run.created_at,
        finished_at=run.finished_at,
        waits_for_you=waiting.get(run.pk, False) if caller.token.allows(TokenScope.GATES_READ) else None,
        address=caller.reader.address("run", run.pk),
    )


def run_status(caller: Caller, arguments: RunStatusArguments | WaitForRun) -> tool_answers.Status:
    return tool_answers.Status(**dict(status_of(caller.reader, caller.run(arguments.run))))


def read_report(caller: Caller, arguments: ReadReport) -> tool_answers.ReportText:
    """Returns the report as of now. If the run is not finished, the report begins by saying so."""
    run = caller.run(arguments.run)
    write = FORMATS[arguments.format].text
    assert write, "the arguments allow formats with a text only"
    text = write(ReportInput.of(run))
    if not arguments.offset:  # the other parts of a long text belong to the same export
        audit_trail.record(AuditKind.REPORT_EXPORTED, run_id=run.pk, subject="report", name=arguments.format)
    piece = text[arguments.offset : arguments.offset + MAX_TEXT]
    return tool_answers.ReportText(
        run=run.pk,
        format=arguments.format,
        text=piece,
        total=len(text),
        next_offset=_next(arguments.offset, len(piece), len(text)),
    )


def list_files(caller: Caller, arguments: ListFilesArguments) -> tool_answers.Files:
    return files_of(caller.run(arguments.run, *trees.OF_RUN, only=trees.DIGESTS), arguments.offset)


def files_of(run: Run, offset: int) -> tool_answers.Files:
    """Lists files that the run has changed first, then given files that it left unchanged."""
    made = made_files(run)
    touched = {file.path for file in made}
    given = [(path, "given", info) for path, info in trees.files_of(run.inputs).items() if path not in touched]
    found = [*((file.path, file.change, file.info) for file in made), *given]
    shown = found[offset : offset + MAX_FILES]
    return tool_answers.Files(
        run=run.pk,
        files=[
            tool_answers.FileLine.model_validate(
                {"path": path, "change": change, "bytes": info.size, "sha256": info.sha256}
            )
            for path, change, info in shown
        ],
        total=len(found),
        next_offset=_next(offset, len(shown), len(found)),
    )


def read_file(caller: Caller, arguments: ReadFileArguments) -> tool_answers.FilePiece:
    """Returns text as models read it, also of documents. Anything else, or the `original`, is returned as bytes.

    Raises FileNotFoundError if the store has lost the content.
    """
    run = caller.run(arguments.run)
    files: Mapping[str, FileInfo] = trees.files_of(run.inputs if arguments.version == "given" else run.head)
    info = files.get(arguments.path)
    if info is None:
        raise InvalidInput(f"Run {run.pk} has no file {quoted(arguments.path)}. list_files says which there are.")
    at = arguments.offset
    if not at:
        audit_trail.record(AuditKind.FILE_DOWNLOADED, run_id=run.pk, subject=arguments.path, sha256=info.sha256)
    text = None if arguments.original else trees.read_text(info.sha256)
    media_type = "text/plain"
    if text is not None:
        piece, total = text[at : at + min(arguments.limit, MAX_TEXT)], len(text)
        size = len(piece)
    else:
        with blobs.opened(info.sha256) as blob:
            blob.seek(min(at, info.size))
            data = blob.read(arguments.limit)
        piece, total, size = b64encode(data).decode(), info.size, len(data)
        media_type = safe_media_type(arguments.path) if size == total else _UNKNOWN_TYPE
    return tool_answers.FilePiece(
        run=run.pk,
        path=arguments.path,
        version=arguments.version,
        sha256=info.sha256,
        encoding="base64" if text is None else "text",
        media_type=media_type,
        content=piece,
        total=total,
        next_offset=_next(at, size, total),
        address=caller.reader.address("file", run.pk, arguments.path),
    )


def safe_media_type(path: str) -> str:
    """The media type of a picture or document by its name, and for anything else that of unknown bytes."""
    guess = mimetypes.guess_type(path)[0] or ""
    return guess if guess.startswith(_SAFE_TYPES) else _UNKNOWN_TYPE


def _next(offset: int, count: int, total: int) -> int | None:
    """Returns the offset to continue at, or None at the end."""
    return offset + count if count and offset + count < total else None
