"""The report of a run as blocks: the part that one sends, and the protocol. Its page and all exports are written from
them.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from django.utils import timezone

from runs.documents.printing.blocks import PrintableReport, ReportSection, SourceList, Tone, span
from runs.enums import Outcome
from runs.readmodel.run_view import RunReading
from runs.reports import parts
from runs.reports.letterheads import letterhead_of
from runs.reports.main_part import DeliveredFile, MainPart, delivered_files
from runs.reports.places import CitedPlaces, InReport, PathTitles
from runs.reports.protocol import critiques, protocol
from runs.reports.texts import Texts

CHECKED = "Outcome and success criteria were computed by pevsite from checked evidence; no model can raise them."


class Part(StrEnum):
    """What an exported report contains."""

    REPORT = "report"
    PROTOCOL = "protocol"
    ALL = "all"

    @property
    def label(self) -> str:
        return {Part.REPORT: "Report", Part.PROTOCOL: "Protocol", Part.ALL: "Report with protocol"}[self]


def exported_from(reading: RunReading, part: Part = Part.ALL) -> PrintableReport:
    """The report for exports, whose citations link to a list at its end. Hashes are a matter of the protocol."""
    files = delivered_files(reading)
    titles = _titles(reading, files)
    shown = {file.path: file.id for file in files if file.text is not None} if part is not Part.PROTOCOL else {}
    places = InReport(titles, shown, hashes=part is not Part.REPORT)
    report = _outline(reading, places, part, files, titles)
    if not places.listed:
        return report
    sources = (ReportSection("sources", "Sources", (SourceList(places.listed),)),)
    if part is Part.REPORT:
        return replace(report, main=report.main + sources)
    return replace(report, protocol=report.protocol + sources)


def outline(reading: RunReading, places: CitedPlaces) -> PrintableReport:
    """The report with its protocol. `places` gives the addresses of citations."""
    files = delivered_files(reading)
    return _outline(reading, places, Part.ALL, files, _titles(reading, files))


def _titles(reading: RunReading, files: list[DeliveredFile]) -> PathTitles:
    made = {file.path: file.title for file in files if file.text is not None}
    return PathTitles(reading.coverage.inputs.files, made)


def _outline(
    reading: RunReading, places: CitedPlaces, part: Part, files: list[DeliveredFile], titles: PathTitles
) -> PrintableReport:
    run, texts = reading.run, Texts(places)
    main = MainPart(reading, files, texts, titles) if part is not Part.PROTOCOL else None
    if part is not Part.REPORT:
        critiques(reading, texts)
    texts.read()
    letterhead = letterhead_of(run)
    last = reading.newest_event
    as_of = f", as of {parts.time(last.at)}" if last else ""
    return PrintableReport(
        title=span(run.title).text,
        word=reading.verdict_word,
        tone=_tone_of(reading),
        about=f"{part.label}{as_of}" if part is Part.REPORT else f"{part.label} on run {run.pk}{as_of}",
        at=last.at.isoformat(timespec="seconds") if last else "",
        facts=_facts(reading),
        author=span(run.author).text or letterhead.organisation,
        main=main.sections() if main else (),
        protocol=protocol(reading, texts, places) if part is not Part.REPORT else (),
        foot=CHECKED,
        letterhead=letterhead,
    )


def _facts(reading: RunReading) -> tuple[tuple[str, str], ...]:
    run = reading.run
    at = run.finished_at or reading.as_of
    facts = (
        ("Client", run.client),
        ("Matter", run.matter),
        ("Author", run.author),
        ("Date", f"{timezone.localtime(at):%-d %B %Y}" if at else ""),
    )
    return tuple((name, span(value).text) for name, value in facts if value)


def _tone_of(report: RunReading) -> Tone:
    match report.run.outcome:
        case Outcome.SUCCEEDED:
            return "good"
        case Outcome.FAILED:
            return "bad"
        case _:
            return "warn"
