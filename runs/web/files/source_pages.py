"""The pages that show a source: a file, a text that is no file, and the panel beside a text that links to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.documents.formats import DRAWN
from runs.enums import AuditKind
from runs.errors import InvalidInput
from runs.isolation import ChildFailed
from runs.models import Run
from runs.readmodel.run_files import FileDiff
from runs.readmodel.verified_texts import said_text
from runs.store import audit_trail, blobs, page_pictures
from runs.web.files.excerpt import Excerpt, excerpt
from runs.web.files.file_page import Asked, FilePage, version_of
from runs.web.files.place import Pointed, asked_in, find_place, number_in
from runs.web.frame.run_frame import RunFrame
from runs.web.markup.diagrams import diagram_in, sources_in
from runs.web.site.addresses import address_of, file_address, text_address
from runs.web.site.requests import visible_run
from runs.web.site.streaming import attachment, picture
from runs.web.site.unchanged import of_file, while_unchanged


@dataclass(frozen=True)
class SourcePanel:
    """`address`: the page that shows the same place in the whole `kind`. `problem`: why there is no text, as a clause
    behind the title; `image`: where the picture itself is. `missing`: a sentence, where the place is not what the link
    meant. `diffs` stand instead of a text, `page` has a document.
    """

    title: str
    kind: Literal["file", "text"]
    address: str
    facts: tuple[str, ...]
    excerpt: Excerpt | None
    problem: str = ""
    image: str = ""
    missing: str = ""
    diffs: Sequence[FileDiff] = ()
    page: FilePage | None = None

    def answer(self, request: HttpRequest) -> HttpResponse:
        return render(request, "files/file.html#panel", {"panel": self})


def is_for_panel(request: HttpRequest) -> bool:
    """Whether a script requests the panel of a page instead of the page."""
    return "panel" in request.GET


@require_safe
def text_page(request: HttpRequest, run_id: int, place: str) -> HttpResponseBase:
    run = visible_run(request, run_id)
    in_panel, asked = is_for_panel(request), asked_in(request)
    said = said_text(run, place, asked.words)
    if said is None:
        raise Http404("This run has no such text.")
    if "diagram" in request.GET:
        return diagram_in(request, sources_in(said.text))
    pointed = Pointed(0, 0) if said.diffs else find_place(asked, said.text)
    panel = SourcePanel(
        title=said.title,
        kind="text",
        address=text_address(run.pk, place, asked),
        facts=(f"{said.attempt.step.spec.name}, attempt {said.attempt.number}",) if said.attempt else (),
        excerpt=None if said.diffs else excerpt(said.text, pointed.start, pointed.end, in_panel=in_panel),
        missing=pointed.problem,
        diffs=said.diffs,
    )
    if in_panel:
        return panel.answer(request)
    back = address_of(said.attempt) if said.attempt else reverse("run", args=[run.pk])
    context = {"frame": RunFrame(run).read_title(), "run": run, "said": said, "panel": panel, "back": back}
    return render(request, "files/text.html", context)


@require_safe
@while_unchanged(of_file, "panel", "download", "image", "picture", "thumbnail", "diagram")
def file_page(request: HttpRequest, run_id: int, path: str) -> HttpResponseBase:
    """One file: its newest version or that of `sha`; with `from` against the version of that hash."""
    run = visible_run(request, run_id)
    page = _page_of(request, run, path)
    try:
        if "download" in request.GET:
            if request.method == "GET":
                audit_trail.record(AuditKind.FILE_DOWNLOADED, run_id=run_id, subject=path, sha256=page.sha256)
            return attachment(request, blobs.pieces_of(page.sha256), page.name, "application/octet-stream")
        if "image" in request.GET:  # only for the picture itself: browsers may keep it, and no page
            if not page.image:
                raise Http404("This file is not a picture.")
            return picture(request, blobs.pieces_of(page.sha256), page.image)
        if "picture" in request.GET or "thumbnail" in request.GET:
            return _page_picture(request, page)
        if "diagram" in request.GET:
            return diagram_in(request, page.diagrams)
        if is_for_panel(request):
            return _panel(page).answer(request)
        context = {"frame": RunFrame(run, under="files").read_title(), "run": run, "page": page.for_page()}
        return render(request, "files/file.html", context)
    except FileNotFoundError as error:
        raise Http404("The store has lost this file.") from error


def _page_of(request: HttpRequest, run: Run, path: str) -> FilePage:
    """Raises Http404 for a version that never belonged to the run."""
    version = version_of(run, path, request.GET.get("sha", ""))
    before = version_of(run, path, request.GET["from"]) if request.GET.get("from") else None
    if version is None or (before is None and request.GET.get("from")):
        raise Http404("This run has no such file.")
    row, number = (number_in(request.GET.get(name, "")) for name in ("row", "page"))
    asked = Asked(asked_in(request), request.GET.get("view", ""), row or 1, number)
    return FilePage(run, path, version, asked, before.info if before else None)


def _page_picture(request: HttpRequest, page: FilePage) -> HttpResponseBase:
    """A page of the document as a picture. Raises Http404 for one that cannot be drawn."""
    if page.document is None or page.document.layout.format not in DRAWN:
        raise Http404("This file has no pages to be shown.")
    form = page.document.layout.format
    try:
        if "thumbnail" in request.GET:
            return picture(request, iter([page_pictures.thumbnail(page.sha256, form)]), "image/webp")
        number = number_in(request.GET["picture"])
        if not 1 <= number <= page.document.layout.units:
            raise Http404("This file has no such page.")
        return picture(request, iter([page_pictures.picture(page.sha256, form, number).webp]), "image/webp")
    except (InvalidInput, ChildFailed) as error:
        raise Http404(f"This page {error}.") from error


def _panel(page: FilePage) -> SourcePanel:
    facts = [page.version.said]
    if page.place_words:
        facts.insert(0, page.place_words)
    if page.read_as:
        facts.append(f"read as {page.read_as}")
    return SourcePanel(
        title=page.path,
        kind="file",
        address=file_address(page.run.pk, page.path, page.sha256, page.asked.place),
        facts=tuple(facts),
        excerpt=None if page.document else page.lines(in_panel=True),
        page=page if page.document else None,
        problem="" if page.text is not None else page.problem or "is not text",
        image=f"{file_address(page.run.pk, page.path, page.sha256)}&image=1" if page.image else "",
        missing=page.pointed.problem,
    )
