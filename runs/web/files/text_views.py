"""The page of a text that evidence names and that is no file, such as the result of a tool call."""

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.readmodel.verified_texts import SaidText, said_text
from runs.web.files.excerpt import excerpt
from runs.web.files.place import Pointed, asked_in, find_place
from runs.web.files.source_panel import SourcePanel, is_for_panel
from runs.web.frame.run_frame import RunFrame
from runs.web.markup.diagrams import diagram_in, sources_in
from runs.web.site.addresses import address_of, text_address
from runs.web.site.requests import visible_run


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
        facts=_facts(said),
        excerpt=None if said.diffs else excerpt(said.text, pointed.start, pointed.end, in_panel=in_panel),
        missing=pointed.problem,
        diffs=said.diffs,
    )
    if in_panel:
        return panel.answer(request)
    back = address_of(said.attempt) if said.attempt else reverse("run", args=[run.pk])
    context = {"frame": RunFrame(run), "run": run, "said": said, "panel": panel, "back": back}
    return render(request, "files/text.html", context)


def _facts(said: SaidText) -> tuple[str, ...]:
    if said.attempt is None:
        return ()
    return (f"{said.attempt.step.spec.name}, attempt {said.attempt.number}",)
