"""The report that is sent to a client: the answer, the findings, the delivered documents, and their sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from runs.contracts.ports import FileInfo
from runs.documents.printing.blocks import (
    Block,
    Callout,
    CheckList,
    Heading,
    Paragraph,
    Preformatted,
    ReportSection,
    Span,
    Spans,
    TableBlock,
    changed,
    paragraph,
    span,
    spans,
)
from runs.evidence.citations.citing import is_markdown
from runs.pev.points import folded
from runs.readmodel.finding_entries import FindingEntry, entries_in
from runs.readmodel.run_view import RunReading
from runs.reports import parts
from runs.reports.places import PathTitles
from runs.reports.texts import Texts
from runs.store import trees
from runs.text.csv_tables import NotCsv, is_blank, is_csv, rows_in
from runs.text.file_titles import titles_of
from runs.text.plural import pluralize
from runs.text.truncate import cut_after
from runs.text.visible import visible_text

ANSWER = "answer"
MAX_ANSWER = 200_000
MAX_SHOWN_FILES = 12
"""Delivered files whose content is part of the report. Further ones are only listed."""
MAX_FILE_CHARACTERS = 60_000
MAX_ROWS = 100
MAX_COLUMNS = 12
MAX_CELL = 400
"""Rows and columns of a table in a CSV file, and characters of a cell. The file itself has all."""
_HEADING = re.compile(r"\s{0,1000}#{1,6}[ \t]+([^\s\[][^\n\[]{0,400}?)[ \t#]*(?:\n|\Z)")
"""A first heading without links: in a title nothing could say that a citation is broken."""
MAX_DOCUMENTS = 60
"""Given documents that the report lists."""


@dataclass(frozen=True)
class DeliveredFile:
    """A file that the run made. `title` is its first heading if it `has_heading`, or else its name as people say it.
    `text` is None if the report only lists it.
    """

    path: str
    title: str
    has_heading: bool
    info: FileInfo
    id: str
    text: str | None = None
    entries: tuple[FindingEntry, ...] = ()


def delivered_files(report: RunReading) -> list[DeliveredFile]:
    """The files that the run made: those of the plan in its order, then the others.

    Documents with findings come first, and tables last.
    """
    made = {one.path: one.info for one in report.made if one.change != "removed"}
    planned = [path for step in (report.plan.steps if report.plan else ()) for path in step.row.spec.outputs]
    paths = [*dict.fromkeys(path for path in planned if path in made), *(path for path in made if path not in planned)]
    titles = titles_of(paths)
    found: list[DeliveredFile] = []
    for number, path in enumerate(sorted(paths, key=is_csv), 1):
        is_shown = sum(one.text is not None for one in found) < MAX_SHOWN_FILES
        is_readable = is_markdown(path) or is_csv(path) or path.lower().endswith(".txt")
        text = _text_of(made[path]) if is_shown and is_readable else None
        entries = entries_in(text) if text and is_markdown(path) else []
        heading = _HEADING.match(text) if text and is_markdown(path) else None
        title = folded(heading[1]) if heading else titles.get(path, path)
        found.append(DeliveredFile(path, title, bool(heading), made[path], f"result-{number}", text, tuple(entries)))
    return sorted(found, key=lambda file: not file.entries)


def _text_of(info: FileInfo) -> str | None:
    """The text of a file; None if it is too long, unreadable or lost."""
    if info.size > 4 * MAX_FILE_CHARACTERS:  # UTF-8 has up to four bytes for a character
        return None
    try:
        text = trees.read_text(info.sha256)
    except FileNotFoundError:
        return None
    return text if text is not None and len(text) <= MAX_FILE_CHARACTERS else None


class MainPart:
    """Adds its texts to those of the report, which are read together, and then returns its sections."""

    def __init__(self, report: RunReading, files: Sequence[DeliveredFile], texts: Texts, titles: PathTitles) -> None:
        self._report = report
        self._files = files
        self._texts = texts
        self._titles = titles
        self._entries = [(file, entry) for file in files for entry in file.entries]
        run = report.run
        texts.add(ANSWER, run.answer, run, top=2, most=MAX_ANSWER)
        for file in self._files:
            if file.text is not None and is_markdown(file.path):
                finished = file.path in report.files_without_citations
                texts.add(file.id, file.text, run, top=1, most=MAX_FILE_CHARACTERS, finished=finished)
        for number, (_, entry) in enumerate(self._entries):
            for name in ("title", "recommendation"):
                texts.add((name, number), getattr(entry, name), run)

    def sections(self) -> tuple[ReportSection, ...]:
        """The sections that are not empty."""
        report, titles = self._report, self._titles
        found = (
            ReportSection("answer", "Answer", (*notices(report), *self._answer())),
            ReportSection("findings", "Overview of findings", self._findings()),
            ReportSection("open-points", "Open points", _open_points(report)),
            *self._deliverables(),
            ReportSection("files", "Further files", self._listed_files()),
            ReportSection("criteria", "Success criteria", _criteria(report)),
        )
        named = (replace(one, blocks=changed(one.blocks, titles.in_block, quotations=False)) for one in found)
        documents = ReportSection("documents", "Documents reviewed", _documents(report, titles))
        return tuple(section for section in (*named, documents) if section.blocks)

    def _answer(self) -> tuple[Block, ...]:
        run = self._report.run
        if not run.answer:
            return (paragraph("There is no answer." if run.outcome else "There is no answer yet.", tone="muted"),)
        return self._texts.blocks(ANSWER)

    def _findings(self) -> tuple[Block, ...]:
        """A table of what the delivered documents describe finding by finding."""
        if len(self._entries) < 2:
            return ()
        graded = any(entry.severity for _, entry in self._entries)
        placed = any(entry.document for _, entry in self._entries)
        head = ["No.", "Finding", *(["Severity"] if graded else []), *(["Document"] if placed else [])]
        rows = []
        for number, (file, entry) in enumerate(self._entries):
            cells = [(span(entry.number, to=f"#{file.id}"),), self._inline("title", number)]
            cells += [spans(entry.severity)] if graded else []
            cells += [spans(self._titles.in_text(entry.document))] if placed else []
            rows.append((*cells, self._inline("recommendation", number)))
        return (
            TableBlock("Overview of findings", tuple(spans(name) for name in [*head, "Recommendation"]), tuple(rows)),
        )

    def _inline(self, name: str, number: int) -> Spans:
        """The words of a field, which is Markdown."""
        shown = self._texts.blocks((name, number))
        return shown[0].spans if shown and isinstance(shown[0], Paragraph) else ()

    def _deliverables(self) -> Iterator[ReportSection]:
        for file in self._files:
            if file.text is None:
                continue
            if is_markdown(file.path):
                shown = self._texts.blocks(file.id)
                shown = shown[1:] if file.has_heading and isinstance(shown[0], Heading) else shown
                blocks = changed(shown, _below_the_title)
            elif is_csv(file.path):
                blocks = _table(file.text, file.title)
            else:
                blocks = (Preformatted(visible_text(file.text.rstrip())),)
            yield ReportSection(file.id, span(file.title).text, blocks)

    def _listed_files(self) -> tuple[Block, ...]:
        files = [file for file in self._files if file.text is None]
        if not files:
            return ()
        titled = any(file.title != file.path for file in files)
        rows = tuple(
            (
                *([spans(file.title)] if titled else []),
                (Span(visible_text(file.path), code=True),),
                spans(parts.size(file.info.size)),
            )
            for file in files
        )
        head = tuple(spans(name) for name in [*(["Document"] if titled else []), "File", "Size"])
        note = paragraph("The content of these files is not part of this report.", tone="muted")
        return (note, TableBlock("Further files", head, rows, right=(len(head) - 1,)))


def _below_the_title(block: Block) -> Block:
    """The title of a section has the first level of headings to itself."""
    return replace(block, level=2) if isinstance(block, Heading) and block.level < 2 else block


def _table(text: str, name: str) -> tuple[Block, ...]:
    """The first rows of a CSV file."""
    try:
        rows = [row.cells for row in islice(rows_in(text), MAX_ROWS + 2) if not is_blank(row.cells)]
    except NotCsv:
        return (Preformatted(visible_text(text.rstrip())),)
    if not rows:
        return (paragraph("The table is empty.", tone="muted"),)
    width = min(MAX_COLUMNS, max(map(len, rows)))
    cells = [tuple(spans(cut_after(cell, MAX_CELL)) for cell in [*row, *[""] * width][:width]) for row in rows]
    blocks: list[Block] = [TableBlock(name, cells[0], tuple(cells[1 : MAX_ROWS + 1]))]
    if len(rows) > MAX_ROWS + 1 or width < max(map(len, rows)):
        blocks.append(paragraph("The file has more rows or columns than are shown here.", tone="muted"))
    return tuple(blocks)


def notices(report: RunReading) -> list[Block]:
    """What a reader must know before the answer."""
    found: list[Block] = []
    if not report.run.outcome:
        found.append(
            Callout("", "The run is not finished.", (paragraph("This is the report as of now; it will change."),))
        )
    if report.left_open:
        count = len(report.left_open)
        points = span(pluralize(count, "open point"), to="#open-points")
        verb = "There is " if count == 1 else "There are "
        falls_short = f"{report.falls_short[:1].upper()}{report.falls_short[1:]}"
        people = parts.listed(report.by_people)
        found.append(Callout("warn", falls_short, (paragraph(verb, points, "."), *people)))
    elif report.by_people:
        found.append(Callout("warn", "Judged by people.", parts.listed(report.by_people)))
    if report.no_ai:
        found.append(Callout("", "No AI was involved.", (paragraph("Offline rules did this work."),)))
    if report.same_model:
        words = (
            "Executor and verifier are both ",
            span(report.same_model, code=True),
            "; the policy of this run allowed it.",
        )
        found.append(Callout("warn", "One model judged its own work.", (paragraph(*words),)))
    if report.passed_canaries:
        sentences = parts.listed(report.passed_canaries)
        found.append(Callout("warn", "The verifier did not refuse a planted fault.", sentences))
    if demand := report.run.policy.demand_on_verifier:
        found.append(Callout("", "The verifier had to be calibrated.", (paragraph(demand),)))
    if report.no_sources:
        found.append(Callout("", "No sources were needed.", (paragraph(report.no_sources),)))
    return found


def _open_points(report: RunReading) -> tuple[Block, ...]:
    blocks = parts.listed(report.left_open)
    if report.rollback:
        blocks += (Callout("", "If you do not use the results", (paragraph(report.rollback),)),)
    return blocks


def _criteria(report: RunReading) -> tuple[Block, ...]:
    if not report.criteria:
        words = "They were not judged." if report.run.outcome else "They have not been judged yet."
        return (paragraph(words, tone="muted"),)
    ordered = sorted(report.criteria, key=lambda one: one.met)
    met = f"{report.met} of {len(ordered)} met, each by evidence that the server checked."
    return (paragraph(met), CheckList(tuple(replace(parts.check(one), label="") for one in ordered)))


def _documents(report: RunReading, titles: PathTitles) -> tuple[Block, ...]:
    """How much was read of the given files, and their titles."""
    given = [*report.coverage.inputs.files]
    if not given:
        return ()
    blocks: list[Block] = [paragraph(" ".join(report.coverage.summary))]
    if titles.known:
        rows = [(spans(titles.known[path]), (Span(visible_text(path), code=True),)) for path in given[:MAX_DOCUMENTS]]
        blocks.append(TableBlock("Documents reviewed", (spans("Document"), spans("File")), tuple(rows)))
        if len(given) > MAX_DOCUMENTS:
            blocks.append(paragraph(f"and {len(given) - MAX_DOCUMENTS:,} more", tone="muted"))
    return tuple(blocks)
