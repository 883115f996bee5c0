"""The page of one file of a run, at the version and the place that evidence names, and its download."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs import trees
from runs.documents import renditions
from runs.models import Attempt, Run
from runs.pev.ports import FileInfo
from runs.reading.citations import RunCitations, document_of
from runs.reading.tables import formulas_in
from runs.web.addresses import file_address
from runs.web.excerpt import WHOLE_BYTES, excerpt
from runs.web.panel import SourcePanel, is_for_panel, place_in
from runs.web.streaming import attachment
from runs.web.views.run import visible_run

_MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True)
class Version:
    """One content of a path in a run. `newest`: what the workspace holds now; `given`: what was uploaded."""

    info: FileInfo
    newest: bool
    given: bool


@require_safe
def file_page(request: HttpRequest, run_id: int, path: str) -> HttpResponseBase:
    run = visible_run(request, run_id)
    version = version_of(run, path, request.GET.get("sha", ""))
    if version is None:
        raise Http404("This run has no such file.")
    try:
        if "download" in request.GET:
            return attachment(
                request, trees.pieces_of(version.info.sha256), path.rsplit("/", 1)[-1], "application/octet-stream"
            )
        text = trees.read_text(version.info.sha256)
    except FileNotFoundError as error:
        raise Http404("The store has lost this file.") from error
    if is_for_panel(request):
        return _panel(request, run, path, version, text)
    return _page(request, run, path, version, text)


def _panel(request: HttpRequest, run: Run, path: str, version: Version, text: str | None) -> HttpResponse:
    start, end = place_in(request)
    sha256 = version.info.sha256
    facts = ["as submitted" if version.given else "written by the run" if version.newest else "an earlier version"]
    if codec := renditions.codec_of(sha256):
        facts.append(f"read as {codec}")
    panel = SourcePanel(
        title=path,
        kind="file",
        address=file_address(run.pk, path, sha256, start, end),
        facts=tuple(facts),
        excerpt=excerpt(text, start, end, in_panel=True) if text is not None else None,
        problem=renditions.readings([sha256]).problems.get(sha256, "is not text") if text is None else "",
    )
    return panel.answer(request)


def version_of(run: Run, path: str, sha256: str = "") -> Version | None:
    """The content with this hash at this path, if it ever belonged to the run; without a hash the newest."""
    now, given = trees.files_of(run.head).get(path), trees.files_of(run.inputs).get(path)
    info = now or given if not sha256 else _known(run, path, sha256)
    return Version(info, newest=info == now, given=info == given) if info else None


def _known(run: Run, path: str, sha256: str) -> FileInfo | None:
    for tree in (run.head, run.inputs):
        info = trees.files_of(tree).get(path)
        if info and info.sha256 == sha256:
            return info
    attempts = Attempt.objects.of_run(run).select_related("base")
    bases = {}
    for attempt in attempts:
        entry = attempt.overlay.get(path)
        if entry and entry.sha256 == sha256:
            return entry
        bases[attempt.base_id] = attempt.base
    found = (trees.files_of(tree).get(path) for tree in bases.values())
    return next((info for info in found if info and info.sha256 == sha256), None)


def _page(request: HttpRequest, run: Run, path: str, version: Version, text: str | None) -> HttpResponse:
    can_render = text is not None and path.lower().endswith(_MARKDOWN) and version.info.size <= WHOLE_BYTES
    rendered = can_render and request.GET.get("view") == "rendered"
    start, end = place_in(request)
    sha256 = version.info.sha256
    context = {
        "formulas": formulas_in(path, text) if text is not None and version.info.size <= WHOLE_BYTES else 0,
        "run": run,
        "path": path,
        "name": path.rsplit("/", 1)[-1],
        "version": version,
        "can_render": can_render,
        "rendered": text if rendered else None,
        "codec": renditions.codec_of(sha256),
        "problem": "" if text is not None else renditions.readings([sha256]).problems.get(sha256, ""),
        "citations": RunCitations((document_of(run, path, text),)) if can_render and not version.given else None,
        "excerpt": excerpt(text, start, end) if text is not None and not rendered else None,
        "has_hit": end > start,
        "place": {"sha": version.info.sha256} | ({"start": start, "end": end} if end > start else {}),
    }
    return render(request, "runs/file.html", context)
