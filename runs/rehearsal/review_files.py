"""The four files of the review, each with the summary that is reported of it."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runs.pev.checks.material import list_in_words
from runs.rehearsal import job
from runs.rehearsal.documents import Document, gaps_of
from runs.rehearsal.findings import KINDS, SEVERAL, Finding, facts_in, findings_in
from runs.rehearsal.job import entries_in, gaps_section
from runs.rehearsal.text import linked, table
from runs.text.csv_tables import NotCsv, records_in
from runs.text.plural import pluralize, word_for


@dataclass(frozen=True)
class Written:
    """The content of a file, and what is reported of it."""

    content: str
    summary: str


def inventory(documents: Sequence[Document]) -> Written:
    """Lists every file with its size. Lines and words are counted in the documents that were reviewed."""
    reviewed = [one for one in documents if one.is_reviewed]
    counts = {one.path: (len(one.lines), len(one.text.split())) for one in reviewed}
    rows = [(linked(one.path), one.size, *counts.get(one.path, ("", "")), one.note) for one in documents]
    lines, words = (sum(count[column] for count in counts.values()) for column in (0, 1))
    summary = (
        f"{pluralize(len(documents), 'file')}, {len(reviewed):,} read as text: {pluralize(lines, 'line')}, "
        f"{pluralize(words, 'word')}{_but(documents)}."
    )
    return Written(
        _page("Inventory", [*table(("File", "Bytes", "Lines", "Words", "Note"), rows), "", summary]), summary
    )


def key_facts(documents: Sequence[Document]) -> Written:
    facts = [fact for document in documents if document.is_reviewed for fact in facts_in(document)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(job.FACT_COLUMNS)
    writer.writerows((fact.document, fact.kind, fact.text, fact.line) for fact in facts)
    counts = Counter(fact.kind for fact in facts)
    summary = (
        f"{pluralize(counts['party'], 'party', 'parties')}, {pluralize(counts['date'], 'date')} and "
        f"{pluralize(counts['amount'], 'amount')} found in {_scope(documents)}{_but(documents)}."
    )
    shown = [f"- {fact.document}, {fact.place}: {fact.kind} {fact.text}" for fact in facts[:12]]
    return Written(out.getvalue(), "\n".join([summary, "", *shown]).rstrip())


def findings(documents: Sequence[Document], *, is_silent: bool = False) -> Written:
    """Every point with its quote, a reason and a recommendation; on purpose one lacks it if `is_silent`."""
    every = [finding for document in documents if document.is_reviewed for finding in findings_in(document)]
    silent = len(every) // 2 + 1 if is_silent else 0
    headline, rows = _headline(every, documents), _overview(every)
    lines, report, heading = [headline, "", *rows, "", f"{job.POINTS}{len(every)}"], [headline, "", *rows, ""], ""
    for number, finding in enumerate(every, 1):
        if finding.document != heading:
            heading = finding.document
            lines += ["", f"## {heading}"]
        lines += _entry(f"F{number}", finding, is_silent=number == silent)
        place = f"{finding.document}, {finding.places[0]}"
        report.append(f"- F{number} ({place}): {finding.kind.lower()}, {finding.term} {finding.citation}".rstrip())
    page = _page("Findings", [*lines, *gaps_section(gaps_of(documents))])
    return Written(page, "\n".join(report).rstrip())


def _entry(name: str, finding: Finding, *, is_silent: bool) -> list[str]:
    lines = ["", f"### {name} · {finding.kind}: {finding.term}", "", f"> {finding.quote.text}", ""]
    lines += [f"- Document: {finding.document}", f"- Line: {finding.line}"]
    if finding.places[0] != f"line {finding.line}":
        lines.append(f"- Place: {finding.places[0]}")
    if finding.citation:
        lines.append(f"- Source: {finding.citation}")
    if finding.places[1:]:
        lines.append(f"- Also: {list_in_words(list(finding.places[1:]))}")
    lines.append(f"- Why it matters: {finding.why}")
    return lines if is_silent else [*lines, f"- Recommendation: {finding.advice}"]


def _headline(every: Sequence[Finding], documents: Sequence[Document]) -> str:
    """Says how many points of each kind there are, the most frequent kind first."""
    if not every:
        return f"No points were found by the rules in {_scope(documents)}{_but(documents)}."
    concerned, reviewed = len({finding.document for finding in every}), sum(one.is_reviewed for one in documents)
    share = f"{concerned:,} of " if concerned < reviewed else ""
    counts = Counter(finding.kind for finding in every).most_common()
    kinds = ", ".join(pluralize(count, kind.lower(), SEVERAL.get(kind, "")) for kind, count in counts)
    points, need = pluralize(len(every), "point"), word_for(len(every), "needs", "need")
    return f"{points} {need} attention in {share}{_scope(documents)}: {kinds}{_but(documents)}."


def _overview(every: Sequence[Finding]) -> list[str]:
    """A table of the points per document and kind."""
    counts = Counter((finding.document, finding.kind) for finding in every)
    totals = Counter(finding.document for finding in every)
    kinds = [kind for kind in KINDS if any(finding.kind == kind for finding in every)]
    rows = [(linked(path), total, *(counts[path, kind] for kind in kinds)) for path, total in totals.items()]
    return table(("Document", "Points", *kinds), rows) if rows else []


def notices(findings_text: str, facts_text: str) -> Written:
    """Per document a short draft that raises its points by their ids."""
    points: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    for one in entries_in(findings_text):
        points.setdefault(one.document, []).append(f"{one.name}, {one.place}: {one.title}. {one['Recommendation']}")
        names.setdefault(one.document, []).append(one.name)
    summary = "No notice is drafted: findings.md lists no points."
    if points:
        raised = pluralize(sum(map(len, points.values())), "point")
        summary = f"{pluralize(len(points), 'notice')} drafted, raising {raised}."
    gaps = findings_text.partition(f"\n{job.NOT_REVIEWED}\n")[2].strip()
    lines, report = [summary], [summary]
    if gaps:
        lines += ["", "No notice can rest on what was not reviewed:", "", gaps]
    parties = _parties(facts_text)
    for document, raised_points in points.items():
        lines += ["", f"## Notice: {document}", ""]
        if document in parties:
            lines += [f"Parties named in the document: {list_in_words(parties[document])}.", ""]
        lines += ["Dear Sir or Madam,", "", f"please clarify the following in “{document}” before we rely on it:", ""]
        lines += [f"{number}. {point}" for number, point in enumerate(raised_points, 1)]
        lines += ["", "We ask for your proposal in writing. Kind regards"]
        report.append(f"- {document}: {list_in_words(names[document])}")
    return Written(_page("Notices", lines), "\n".join(report))


def _parties(facts_text: str) -> Mapping[str, list[str]]:
    parties: dict[str, list[str]] = {}
    try:
        for row in records_in(facts_text):
            if row.get("kind") == "party":
                parties.setdefault(row.get("document", ""), []).append(row.get("text", ""))
    except NotCsv:  # a person has edited the file: the notices name the parties before that place
        pass
    return parties


def _page(title: str, lines: Iterable[str]) -> str:
    """A Markdown file: its title, who made it, and the content."""
    return "\n".join([f"# {title}", "", job.NOTE, "", *lines]).rstrip() + "\n"


def _scope(documents: Sequence[Document]) -> str:
    return pluralize(sum(one.is_reviewed for one in documents), "document")


def _but(documents: Sequence[Document]) -> str:
    """What was not looked at, as the end of a sentence about the rest."""
    paths = [gap.path for gap in gaps_of(documents)]
    return f"; not reviewed, or not as a whole: {list_in_words(paths)}" if paths else ""
