"""Owns the files of a document review: inventory, key facts, findings, notices."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runs.llm.offline import wording as w
from runs.llm.offline.facts import Fact, facts_in
from runs.llm.offline.findings import Finding, findings_in
from runs.llm.offline.plans import FACT_COLUMNS
from runs.llm.offline.points import KINDS
from runs.llm.offline.reading import Document
from runs.llm.offline.texts import number_of, share_of, table
from runs.llm.offline.works import CONTENT_CHARS, Job, Work, fitting, item, page

INVENTORY_ROWS = 400
FULL_LETTERS = 20
"""With more documents than this a notice is only its points, so that the file can be judged as a whole."""


def inventory(job: Job) -> Work:
    """Every file with size; lines and words of those that were read to their end."""
    lines, said = files_listed(job)
    return Work(page("Inventory", job, lines), said, "Listed the files and read what is text.")


def files_listed(job: Job) -> tuple[list[str], str]:
    """The files as a table, cut to what a verifier can be shown, and the figures in one sentence."""
    documents = [job.books.documents[path] for path in job.every]
    rows = [_row(document, job) for document in documents[:INVENTORY_ROWS]]
    rows = rows[: fitting([[f"| {' | '.join(map(str, row))} |"] for row in rows], CONTENT_CHARS - 8_000)]
    left = len(documents) - len(rows) + job.books.unlisted
    read = job.books.read(job.inputs)
    total = f"{number_of(len(documents) + job.books.unlisted, 'file')}, {len(read)} read as text"
    lines = [f"Files in all: {len(documents) + job.books.unlisted}", ""]
    lines += table(("File", "Bytes", "Lines", "Words", "Note"), rows)
    if left:
        lines += ["", f"{w.NOT_LISTED}{number_of(left, 'file')}."]
    counted = sum(document.total or 0 for document in read)
    said = f"{total}: {counted:,} lines, {sum(d.words for d in read):,} words."
    return [*lines, "", said], said


def _row(document: Document, job: Job) -> tuple[object, ...]:
    lines = "" if document.total is None else document.total
    words = document.words if document.complete else ""
    return document.path, document.size, lines, words, _note(document, job)


def _note(document: Document, job: Job) -> str:
    if document.path in job.excluded:
        return "left out, by feedback"
    if document.refused:
        return "not text, or not readable"
    if document.total is None:
        return "not read: its name promises no text" if document.path not in job.inputs else "not read"
    if not document.total:
        return "empty"
    return "" if document.complete else "read in part"


def key_facts(job: Job) -> Work:
    """A CSV of what can be recognised by its form. A person's remarks go to the notes."""
    read = job.books.read(job.inputs)
    facts = [fact for document in read for fact in facts_in(document)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FACT_COLUMNS)
    listed: list[Fact] = []
    for fact in facts:
        if out.tell() > CONTENT_CHARS:
            break
        writer.writerow((fact.document, fact.kind, fact.text, fact.line))
        listed.append(fact)
    counts = Counter(fact.kind for fact in facts)
    said = (
        f"{number_of(counts['party'], 'party', 'parties')}, {number_of(counts['date'], 'date')} and "
        f"{number_of(counts['amount'], 'amount')} found in {number_of(len(read), 'document')}."
    )
    if len(listed) < len(facts):
        said += f" {len(facts) - len(listed)} of them are not in {job.output}: it would be too long."
    shown = [f"- {fact.document}, line {fact.line}: {fact.kind} {fact.text}" for fact in listed[:12]]
    return Work(
        out.getvalue(),
        "\n".join([said, "", *shown]).rstrip(),
        "Looked for company names, dates and amounts by their form.",
        job.remarks,
    )


@dataclass(frozen=True)
class _Listing:
    """Findings with their ids. `omitted` is how many there is no room for."""

    entries: Sequence[tuple[str, Finding]]
    omitted: int


def findings(job: Job) -> Work:
    """Every point with quote, reason and recommendation; in the rehearsal one recommendation is left out."""
    read = job.books.read(job.inputs)
    every = [finding for document in read for finding in findings_in(document)]
    listing = _listing(every)
    silent = _silent(listing, job)
    body: list[str] = []
    for document in read:
        mine = [(name, found) for name, found in listing.entries if found.document == document.path]
        if mine:
            body += ["", f"## {document.path}"]
        for name, found in mine:
            body += _entry(name, found, silent=name == silent)
    head = [_headline(every, read), "", f"{w.POINTS}{len(every)}", "", *_overview(read, every)]
    if listing.omitted:
        head += ["", f"{w.NOT_LISTED}{number_of(listing.omitted, 'further point')}, for want of room."]
    content = page("Findings", job, [*head, *body])
    return Work(content, _told(read, every, listing), "Searched each sentence for fixed patterns.")


def _headline(every: Sequence[Finding], read: Sequence[Document]) -> str:
    if not every:
        return f"No points were found by the rules in {number_of(len(read), 'document')}."
    touched = len({finding.document for finding in every})
    verb = "needs" if len(every) == 1 else "need"
    return f"{number_of(len(every), 'point')} {verb} attention in {share_of(touched, len(read), 'document')}."


def _listing(every: Sequence[Finding]) -> _Listing:
    """Ids in the order of the documents. Where room is short, each document keeps its first points."""
    rank: Counter[str] = Counter()
    ranked = []
    for index, finding in enumerate(every):
        rank[finding.document] += 1
        ranked.append((rank[finding.document], index))
    order = [index for _, index in sorted(ranked)]
    room = fitting([_entry("F000", every[index], silent=False) for index in order], CONTENT_CHARS - 9_000)
    kept = sorted(order[:room])
    return _Listing([(f"F{n}", every[index]) for n, index in enumerate(kept, 1)], len(every) - len(kept))


def _silent(listing: _Listing, job: Job) -> str:
    """The finding whose recommendation the rehearsal leaves out: one in the middle."""
    return listing.entries[len(listing.entries) // 2][0] if job.leave_out and listing.entries else ""


def _entry(name: str, found: Finding, *, silent: bool) -> list[str]:
    fields = [("Document", found.document), ("Line", str(found.line))]
    if found.also:
        more = "" if len(found.also) <= 10 else f" and {len(found.also) - 10} more"
        fields.append(("Also", f"{', '.join(f'line {line}' for line in found.also[:10])}{more}"))
    fields.append(("Why it matters", found.why))
    if not silent:
        fields.append(("Recommendation", found.recommendation))
    return item(f"{name} · {found.kind}: {found.term}", fields, found.quote)


def _overview(read: Sequence[Document], every: Sequence[Finding]) -> list[str]:
    """Points per document and kind; documents without points are named in one line while they are few."""
    counts = Counter((finding.document, finding.kind) for finding in every)
    totals = Counter(finding.document for finding in every)
    shown = [path for path, _ in totals.most_common(50)]
    kinds = [kind for kind in KINDS if any(finding.kind == kind for finding in every)]
    rows = [(path, totals[path], *(counts[path, kind] for kind in kinds)) for path in sorted(shown)]
    lines = table(("Document", "Points", *kinds), rows) if rows else []
    clean = [document.path for document in read if document.path not in totals]
    if clean:
        named = ", ".join(clean[:20]) + (f" and {len(clean) - 20} more" if len(clean) > 20 else "")
        lines += ["", f"Without points: {named}."]
    return lines


def _told(read: Sequence[Document], every: Sequence[Finding], listing: _Listing) -> str:
    lines = [_headline(every, read), "", *_overview(read, every), ""]
    lines += [
        f"- {name} ({found.document}, line {found.line}): {found.kind.lower()}, {found.term}"
        for name, found in listing.entries[:60]
    ]
    if len(listing.entries) > 60:
        lines.append(f"- and {len(listing.entries) - 60} more in the file")
    return "\n".join(lines).rstrip()


@dataclass(frozen=True)
class _Point:
    """A finding as it is read back from the file of the step before."""

    name: str
    title: str
    document: str
    line: str
    recommendation: str


def notices(job: Job) -> Work:
    """Per document a short draft that raises its points by their ids."""
    found = list(_points(job.sibling("findings.md")))
    parties = _parties(job.sibling("key-facts.csv"))
    documents = list(dict.fromkeys(point.document for point in found))
    brief = len(documents) > FULL_LETTERS
    body = [_count(found, documents)]
    if brief:
        body += ["", "There are too many documents for letters; these are the points to raise about each."]
    for document in documents:
        mine = [point for point in found if point.document == document]
        body += [
            "",
            f"## Notice: {document}",
            "",
            *(_raised(mine) if brief else _letter(document, mine, parties.get(document, []))),
        ]
    content = page("Notices", job, body)
    told = "\n".join([_count(found, documents), *(f"- {d}: {_ids(found, d)}" for d in documents[:60])])
    return Work(content, told, "Put the points of the findings into one notice per document.")


def _count(found: Sequence[_Point], documents: Sequence[str]) -> str:
    if not found:
        return "No notice is needed: findings.md lists no points."
    return f"{number_of(len(documents), 'notice')} drafted, raising {number_of(len(found), 'point')}."


def _ids(found: Sequence[_Point], document: str) -> str:
    return ", ".join(point.name for point in found if point.document == document)


def _letter(document: str, mine: Sequence[_Point], parties: Sequence[str]) -> list[str]:
    lines = [f"Parties named in the document: {'; '.join(parties)}.", ""] if parties else []
    lines += [
        "Dear Sir or Madam,",
        "",
        f"we have gone through “{document}” and ask you to clarify the following "
        f"{'point' if len(mine) == 1 else 'points'} before we rely on it:",
        "",
    ]
    return [*lines, *_raised(mine), "", "Please send us your proposal in writing.", "", "Kind regards"]


def _raised(mine: Sequence[_Point]) -> list[str]:
    return [f"{n}. {p.name}, line {p.line}: {p.title}. {p.recommendation}" for n, p in enumerate(mine, 1)]


def _points(text: str) -> Iterator[_Point]:
    """Reads the entries of findings.md back: quotes begin with “> ”, so that they cannot pass for entries."""
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        head, _, rest = part.partition("\n")
        rest = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
        fields = dict(re.findall(r"^- ([A-Z][\w ]+): (.+)$", rest, re.MULTILINE))
        name, _, title = head.partition(" · ")
        if re.fullmatch(r"F\d+", name):
            yield _Point(
                name,
                title,
                fields.get("Document", ""),
                fields.get("Line", "?"),
                fields.get("Recommendation", ""),
            )


def _parties(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row.get("kind") == "party" and row.get("document") and row.get("text"):
            found.setdefault(str(row["document"]), []).append(str(row["text"]))
    return {document: names[:4] for document, names in found.items()}
