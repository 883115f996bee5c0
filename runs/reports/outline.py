"""The report of a run as blocks: the brief, then the annex. Its page and all exports are written from them."""

from __future__ import annotations

from runs.documents.printing.blocks import PrintableReport, ReportSection, SourceList, span
from runs.readmodel.run_view import RunReading
from runs.reports.annex import annex, critique_of
from runs.reports.brief import ANSWER, brief, tone_of
from runs.reports.parts import time
from runs.reports.places import CitedPlaces, InReport
from runs.reports.texts import Texts

MAX_ANSWER = 200_000
FOOT = "Outcome and success criteria were computed by pevsite from checked evidence; no model can raise them."


def exported_from(reading: RunReading) -> PrintableReport:
    """The report for exports, whose citations link to a list at its end."""
    return outline(reading, InReport())


def outline(reading: RunReading, places: CitedPlaces) -> PrintableReport:
    """The report. `places` gives the addresses of citations; an export lists them in a section of its own."""
    run, texts = reading.run, Texts(places)
    texts.add(ANSWER, run.answer, run, top=2, most=MAX_ANSWER)
    for plan in reading.plans:
        for step in plan.tried_steps:
            for attempt in step.own_attempts:
                if attempt.verdict and attempt.verdict.feedback:
                    texts.add(("critique", attempt.row.pk), critique_of(attempt.verdict), attempt.row)
    texts.read()
    first, rest = brief(reading, texts)
    more = list(annex(reading, rest, texts, places))
    if isinstance(places, InReport) and places.listed:
        more.append(ReportSection("sources", "Sources", (SourceList(places.listed),)))
    last = reading.newest_event
    as_of = f", as of {time(last.at)}" if last else ""
    return PrintableReport(
        title=span(run.title).text,
        word=reading.verdict_word,
        tone=tone_of(reading),
        about=f"Report on run {run.pk}{as_of}",
        at=last.at.isoformat(timespec="seconds") if last else "",
        brief=first,
        annex=tuple(more),
        foot=FOOT,
    )
