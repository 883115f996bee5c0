"""A file of a run: its page, its download, and a picture as itself."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs import trees
from runs.models import Run
from runs.web.addresses import file_address
from runs.web.panel import SourcePanel, is_for_panel
from runs.web.place import asked_in, number_in
from runs.web.presenters.file_page import Asked, FilePage, version_of
from runs.web.presenters.frame import RunFrame
from runs.web.streaming import attachment, picture
from runs.web.unchanged import of_file, while_unchanged
from runs.web.views.run import visible_run


@require_safe
@while_unchanged(of_file, "panel", "download", "image")
def file_page(request: HttpRequest, run_id: int, path: str) -> HttpResponseBase:
    """One file: its newest version or that of `sha`; with `from` against the version of that hash."""
    run = visible_run(request, run_id)
    page = _page_of(request, run, path)
    try:
        if "download" in request.GET:
            return attachment(request, trees.pieces_of(page.sha256), page.name, "application/octet-stream")
        if "image" in request.GET:  # only for the picture itself: browsers may keep it, and no page
            if not page.image:
                raise Http404("This file is no picture.")
            return picture(request, trees.pieces_of(page.sha256), page.image)
        if is_for_panel(request):
            return _panel(page).answer(request)
        return render(request, "runs/file.html", {"frame": RunFrame(run, under="files"), "run": run, "page": page})
    except FileNotFoundError as error:
        raise Http404("The store has lost this file.") from error


def _page_of(request: HttpRequest, run: Run, path: str) -> FilePage:
    """Raises Http404 for a version that never belonged to the run."""
    version = version_of(run, path, request.GET.get("sha", ""))
    before = version_of(run, path, request.GET["from"]) if request.GET.get("from") else None
    if version is None or (before is None and request.GET.get("from")):
        raise Http404("This run has no such file.")
    asked = Asked(asked_in(request), request.GET.get("view", ""), number_in(request.GET.get("row", "")) or 1)
    return FilePage(run, path, version, asked, before.info if before else None)


def _panel(page: FilePage) -> SourcePanel:
    facts = [page.version.said]
    if page.codec:
        facts.append(f"read as {page.codec}")
    return SourcePanel(
        title=page.path,
        kind="file",
        address=file_address(page.run.pk, page.path, page.sha256, page.asked.place),
        facts=tuple(facts),
        excerpt=page.lines(in_panel=True),
        problem="" if page.text is not None else page.problem or "is not text",
        image=f"{file_address(page.run.pk, page.path, page.sha256)}&image=1" if page.image else "",
        missing=page.pointed.problem,
    )
