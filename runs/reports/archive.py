"""The archive of a run as one zip that is streamed: the files it made or changed, its report, and its journal."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from heapq import merge
from io import RawIOBase
from typing import TYPE_CHECKING

from django.utils import timezone
from pydantic import JsonValue

from runs.errors import PathRefused
from runs.models import Attempt, ModelCall, Run, ToolCall
from runs.pev.tools.service_tools import SERVICE_TOOLS
from runs.readmodel.csv_formulas import formulas_in
from runs.readmodel.run_files import written_files
from runs.reports.formats import FORMATS
from runs.reports.report_format import ReportInput
from runs.store import blobs, trees
from runs.store.journal import CANARIES
from runs.text.csv_tables import is_csv
from runs.text.paths import clashes, clean_path
from runs.text.visible import visible_text

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PACKED = (".7z", ".docx", ".gz", ".jpeg", ".jpg", ".mp3", ".mp4", ".png", ".pptx", ".webp", ".xlsx", ".xz", ".zip")
"""Suffixes of compressed files. Compressing them again takes time and saves nothing."""
_FORMULAS = (
    "A spreadsheet program would calculate cells of these tables when it opens them, because they begin with =, +, -, "
    "@, a tab or a line break. Import their columns as text. The files are as the run made them, to the byte."
)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\]')
CHUNK = 100
"""Calls that are read at once. Each may have a megabyte."""

type _Place = dict[str, JsonValue]
_NOWHERE: _Place = {"step_id": None, "attempt": None}
"""The place of a call for the whole run, such as one to the planner."""


class _StreamedZip(RawIOBase):
    """The file that `zipfile` writes to. It holds only what has not been fetched yet."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        return len(piece)

    def fetched(self) -> bytes:
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data


def stream(run: Run) -> Iterator[bytes]:
    """The bytes of the zip. The database is read before the first byte is yielded."""
    made = {entry_name(path): info.sha256 for path, info in written_files(run, run.head).items()}
    source = ReportInput.of(run)
    formats = [report_format for report_format in FORMATS.values() if not report_format.is_slow]
    texts = {f"report.{report_format.suffix}": report_format.write(source) for report_format in formats}
    if computed := _computed(made):
        texts["READ-ME-FIRST.txt"] = computed.encode()
    named = {report_name([*made], name): text for name, text in texts.items()}
    # The compressed journal: the calls of a long run may be a hundred megabytes of text.
    packer = zlib.compressobj(1)  # for the memory only: the archive packs it again
    pieces = [packer.compress(f"{line}\n".encode()) for line in journal_lines(run)]
    journal_pieces = [piece for piece in (*pieces, packer.flush()) if piece]
    return _zipped(
        made, named, (report_name([*made], "journal.jsonl"), journal_pieces), run.finished_at or timezone.now()
    )


def _computed(files: Mapping[str, str]) -> str:
    """A warning about tables with cells that a spreadsheet would compute; empty if there are none."""
    tables = {name: trees.read_text(sha256) or "" for name, sha256 in files.items() if is_csv(name)}
    found = {name: formulas_in(name, text).words for name, text in tables.items()}
    lines = [f"{visible_text(name)}: {words}" for name, words in found.items() if words]
    return "\n".join([_FORMULAS, *lines, ""]) if lines else ""


def _unpacked(pieces: list[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj()
    for piece in pieces:
        yield unpacker.decompress(piece)


def _zipped(
    files: Mapping[str, str], texts: Mapping[str, bytes], journal: tuple[str, list[bytes]], at: datetime
) -> Iterator[bytes]:
    contents = [(name, blobs.pieces_of(sha256)) for name, sha256 in files.items()]
    contents += [(name, iter([data])) for name, data in texts.items()]
    contents.append((journal[0], _unpacked(journal[1])))
    return zipped(contents, at)


def zipped(contents: Iterable[tuple[str, Iterator[bytes]]], at: datetime) -> Iterator[bytes]:
    """The bytes of a zip with these entries, by name. Only one piece of a file at a time is in memory."""
    outlet = _StreamedZip()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in contents:
            with archive.open(_entry(name, at), "w", force_zip64=True) as target:
                for piece in pieces:
                    target.write(piece)
                    yield outlet.fetched()
    yield outlet.fetched()


def entry_name(path: str) -> str:
    """The path as every system can unpack it, below the folder that it is unpacked in, and nowhere else.

    What Windows cannot store becomes `_`, and so does the dot of `.git`: paths of runs from before it was refused may
    have one. A part that was changed ends in a piece of its hash, so that no two become one.
    """
    digest, parts = hashlib.sha256(), []
    for part in path.split("/"):
        digest.update(f"/{part}".encode("utf-8", "surrogatepass"))
        parts.append(_safe(part, digest.hexdigest()[:8]))
    return "/".join(parts)


def _safe(part: str, mark: str) -> str:
    if _is_safe(part):
        return part
    name = _NOT_ON_WINDOWS.sub("_", "".join(char for char in part if char.isprintable())).rstrip(". ")
    name = name if _is_safe(name) else f"_{name.lstrip('.')}"
    stem, dot, ending = name.rpartition(".")
    return f"{stem}-{mark}.{ending}" if dot and stem else f"{name}-{mark}"


def _is_safe(name: str) -> bool:
    try:
        return clean_path(f"x/{name}") == f"x/{name}" and not _NOT_ON_WINDOWS.search(name)
    except PathRefused:
        return False


def report_name(paths: list[str], name: str = "report.md") -> str:
    """This name, or another one if a file of the run has it."""
    stem, dot, ending = name.partition(".")
    found, number = name, 1
    while any(found in pair for pair in clashes([*paths, found])):
        number += 1
        found = f"{stem}-{number}{dot}{ending}"
    return found


def _entry(path: str, at: datetime) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, date_time=timezone.localtime(at).timetuple()[:6])
    entry.compress_type = zipfile.ZIP_STORED if path.lower().endswith(_PACKED) else zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    return entry


def journal_lines(run: Run) -> Iterator[str]:
    """One object per line, by time. Characters beyond ASCII are escaped, so that they cannot control a terminal."""
    steps = Attempt.objects.of_run(run).values_list("pk", "step__key", "number")
    places: dict[int | None, _Place] = {pk: {"step_id": key, "attempt": number} for pk, key, number in steps}
    models = ModelCall.objects.filter(run=run).order_by("created_at", "id")
    tools = ToolCall.objects.filter(run=run).order_by("created_at", "id")
    calls: Iterator[ModelCall | ToolCall] = merge(
        models.iterator(CHUNK), tools.iterator(CHUNK), key=lambda call: call.created_at
    )
    for call in calls:
        place = places.get(call.attempt_id, _NOWHERE)
        yield json.dumps(_model_call(call, place) if isinstance(call, ModelCall) else _tool_call(call, place))


def _model_call(call: ModelCall, place: _Place) -> dict[str, JsonValue]:
    return {
        "kind": "model",
        "at": call.created_at.isoformat(),
        **place,
        "role": call.role,
        "model": call.model,
        "request_id": call.request_id,
        **({"canary": True} if call.ordinal >= CANARIES else {}),
        "content": call.content,
        "stop_reason": call.stop_reason,
        "error": call.error,
        "tokens": {
            "input": call.input_tokens,
            "output": call.output_tokens,
            "cache_read": call.cache_read_tokens,
            "cache_write_5m": call.cache_write_5m_tokens,
            "cache_write_1h": call.cache_write_1h_tokens,
        },
        "web": {"searches": call.web_searches, "fetches": call.web_fetches},
        "cost_usd": None if call.cost_usd is None else str(call.cost_usd),
        "lower_bound": call.cost_is_lower_bound,
        "duration_ms": call.duration_ms,
    }


def _tool_call(call: ToolCall, place: _Place) -> dict[str, JsonValue]:
    return {
        "kind": "tool",
        "at": call.created_at.isoformat(),
        **place,
        "tool": call.name,
        "agent": call.agent or None,
        "arguments": call.arguments,
        "result": call.result,
        "failed": call.is_error,
        "wrote": {path: info.sha256 if info else None for path, info in call.writes.items()},
        "duration_ms": None if call.name in SERVICE_TOOLS else call.duration_ms,  # within that of the reply
    }
