"""The four files of the document review. Each function gives the content of one, and what to report of it."""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runs.rehearsal import job
from runs.rehearsal.documents import Document
from runs.rehearsal.facts import facts_in
from runs.rehearsal.findings import Finding, findings_in
from runs.rehearsal.text import cited, linked, named, number_of, table
from runs.rehearsal.wordlists import KINDS, SEVERAL

CONTENT_CHARS = 50_000
"""A verifier is shown 60,000 characters of a file; a longer one could not be judged as a whole."""


@dataclass(frozen=True)
class Material:
    """What a step works from: `read` are the documents (or earlier outputs) within its reach, `every` all of the task.

    `shortfall` says what was not read, `requests` how often a person asked for something else: no rule understands
    that, and their words are no part of a result. `silent`: one recommendation is left out on purpose.
    """

    read: Sequence[Document]
    every: Sequence[Document]
    left_out: frozenset[str]
    unlisted: int
    shortfall: str
    requests: int
    silent: bool

    def page(self, title: str, lines: Sequence[str]) -> str:
        """A Markdown file: title, who made it, the content, and what was not read or done."""
        parts = [f"# {title}", "", job.NOTE, "", *lines]
        if self.shortfall:
            parts += ["", "## Not covered", "", self.shortfall]
        if self.requests:
            parts += ["", "## Not done", "", self.not_done]
        return "\n".join(parts).rstrip() + "\n"

    @property
    def not_done(self) -> str:
        return f"{number_of(self.requests, 'request')} of a person: offline rules do not understand words."


def inventory(material: Material) -> tuple[str, str]:
    rows = [_row(document, material.left_out) for document in material.every]
    rows = rows[: _fitting([str(row) for row in rows])]
    count = len(material.every) + material.unlisted
    lines = [f"Files in all: {count}", "", *table(("File", "Bytes", "Lines", "Words", "Note"), rows)]
    if count > len(rows):
        lines += ["", f"{job.NOT_LISTED}{number_of(count - len(rows), 'file')}."]
    words, total = sum(one.words for one in material.read), sum(one.total or 0 for one in material.read)
    summary = f"{number_of(count, 'file')}, {len(material.read)} read as text: {total:,} lines, {words:,} words."
    return material.page("Inventory", [*lines, "", summary]), summary


def _row(document: Document, left_out: frozenset[str]) -> tuple[object, ...]:
    note = "left out, by feedback" if document.path in left_out else document.gap
    lines = "" if document.total is None else document.total
    return document.path, document.size, lines, "" if document.gap else document.words, note


def key_facts(material: Material) -> tuple[str, str]:
    """That something was not done has no place in a CSV and goes to the report."""
    facts = [fact for document in material.read for fact in facts_in(document)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(job.FACT_COLUMNS)
    room = _fitting([str(fact) for fact in facts])
    writer.writerows((fact.document, fact.kind, fact.text, fact.line) for fact in facts[:room])
    counts = Counter(fact.kind for fact in facts)
    summary = (
        f"{number_of(counts['party'], 'party', 'parties')}, {number_of(counts['date'], 'date')} and "
        f"{number_of(counts['amount'], 'amount')} found in {number_of(len(material.read), 'document')}."
    )
    if room < len(facts):
        summary += f" {len(facts) - room} of them are not in the file: it would be too long."
    shown = [f"- {fact.document}, {fact.place}: {fact.kind} {fact.text}" for fact in facts[:12]]
    left = [f"- Not done: {material.not_done}"] if material.requests else []
    return out.getvalue(), "\n".join([summary, "", *shown, *left]).rstrip()


def findings(material: Material) -> tuple[str, str]:
    """Every point with quote, reason and recommendation; on purpose one in the middle may lack its recommendation."""
    every = [finding for document in material.read for finding in findings_in(document)]
    room = _fitting(["\n".join(_entry("F000", finding, silent=False)) for finding in every])
    listed = {f"F{number}": finding for number, finding in enumerate(every[:room], 1)}
    silent = f"F{len(listed) // 2 + 1}" if material.silent else ""
    overview = _overview(every, material.read)
    lines = [*overview, "", f"{job.POINTS}{len(every)}"]
    if room < len(every):
        lines += ["", f"{job.NOT_LISTED}{number_of(len(every) - room, 'further point')}, for want of room."]
    heading = ""
    for name, finding in listed.items():
        if finding.document != heading:
            heading = finding.document
            lines += ["", f"## {heading}"]
        lines += _entry(name, finding, silent=name == silent)
    report = [_line(key, finding) for key, finding in listed.items()][:60]
    report += [f"- and {len(every) - 60} more"] if len(every) > 60 else []
    return material.page("Findings", lines), "\n".join([*overview, "", *report]).rstrip()


def _line(name: str, finding: Finding) -> str:
    citation = cited(finding.document, finding.cites, finding.anchor)
    place = f"{finding.document}, {finding.places[0]}"
    return f"- {name} ({place}): {finding.kind.lower()}, {finding.term} {citation}".rstrip()


def _entry(name: str, finding: Finding, *, silent: bool) -> list[str]:
    lines = ["", f"### {name} · {finding.kind}: {finding.term}", "", f"> {finding.quote.text}", ""]
    lines += [f"- Document: {finding.document}", f"- Line: {finding.line}"]
    if finding.places[0] != f"line {finding.line}":
        lines.append(f"- Place: {finding.places[0]}")
    if citation := cited(finding.document, finding.cites, finding.anchor):
        lines.append(f"- Source: {citation}")
    if finding.places[1:]:
        lines.append(f"- Also: {named(finding.places[1:], 10)}")
    lines.append(f"- Why it matters: {finding.why}")
    return lines if silent else [*lines, f"- Recommendation: {finding.advice}"]


def _overview(every: Sequence[Finding], read: Sequence[Document]) -> list[str]:
    """A headline, and the points per document and kind."""
    documents = number_of(len(read), "document")
    if not every:
        return [f"No points were found by the rules in {documents}."]
    counts = Counter((finding.document, finding.kind) for finding in every)
    totals = Counter(finding.document for finding in every)
    share = documents if len(totals) == len(read) else f"{len(totals)} of {documents}"
    kinds = [kind for kind in KINDS if any(finding.kind == kind for finding in every)]
    rows = [(linked(path), totals[path], *(counts[path, kind] for kind in kinds)) for path in list(totals)[:50]]
    need = "needs" if len(every) == 1 else "need"
    headline = f"{number_of(len(every), 'point')} {need} attention in {share}: {_kinds(every)}."
    return [headline, "", *table(("Document", "Points", *kinds), rows)]


def _kinds(every: Sequence[Finding]) -> str:
    """How many there are of each kind, the most first: with it a question about the result says what was found."""
    counts = Counter(finding.kind for finding in every).most_common()
    return ", ".join(number_of(count, kind.lower(), SEVERAL.get(kind, "")) for kind, count in counts)


def notices(material: Material) -> tuple[str, str]:
    """Per document a short draft that raises its points by their ids."""
    texts = {document.path.rpartition("/")[2]: document.text for document in material.read}
    points, parties = _points(texts.get("findings.md", "")), _parties(texts.get("key-facts.csv", ""))
    summary = "No notice is needed: findings.md lists no points."
    if points:
        raised = number_of(sum(map(len, points.values())), "point")
        summary = f"{number_of(len(points), 'notice')} drafted, raising {raised}."
    lines, report = [summary], [summary]
    for document, mine in points.items():
        lines += ["", f"## Notice: {document}", ""]
        if document in parties:
            lines += [f"Parties named in the document: {'; '.join(parties[document][:4])}.", ""]
        lines += ["Dear Sir or Madam,", "", f"please clarify the following in “{document}” before we rely on it:", ""]
        lines += [f"{number}. {point}" for number, point in enumerate(mine, 1)]
        lines += ["", "We ask for your proposal in writing. Kind regards"]
        report.append(f"- {document}: {', '.join(point.partition(',')[0] for point in mine)}")
    return material.page("Notices", lines), "\n".join(report[:61])


def _points(text: str) -> Mapping[str, list[str]]:
    """What to raise per document. Quotes begin with “> ”, so that nothing in a document can pass for an entry."""
    found: dict[str, list[str]] = {}
    for part in re.split(r"^(?=#{1,3} )", text, flags=re.MULTILINE):
        if head := re.match(r"### (F\d+) · (.+)", part):
            fields = dict(re.findall(r"^- (Document|Line|Place|Recommendation): (.+)$", part, re.MULTILINE))
            place = fields.get("Place") or f"line {fields.get('Line', '?')}"
            point = f"{head[1]}, {place}: {head[2]}. {fields.get('Recommendation', '')}"
            found.setdefault(fields.get("Document", ""), []).append(point)
    return found


def _parties(text: str) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row.get("kind") == "party":
            found.setdefault(str(row.get("document")), []).append(str(row.get("text")))
    return found


def _fitting(items: Sequence[str]) -> int:
    """How many of the items there is room for, beside the other parts of a page."""
    used = 10_000
    for count, item in enumerate(items):
        used += len(item) + 1
        if used > CONTENT_CHARS:
            return count
    return len(items)
