"""Carries out a step of the document review: it lists and reads, writes the file of the step, and reports on it.

First the four files, each made by one function with what to report of it; then the loop of tool calls.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from posixpath import dirname

from runs.pev.contracts import CriterionMet, LeftOut, PlanStep, StepOutput
from runs.pev.plans import commented
from runs.rehearsal import job
from runs.rehearsal.comments import Copies
from runs.rehearsal.conversation import Conversation, Use, unknown
from runs.rehearsal.documents import (
    Account,
    Document,
    Limits,
    Share,
    due,
    library,
    unlisted,
)
from runs.rehearsal.findings import KINDS, SEVERAL, Finding, facts_in, findings_in
from runs.rehearsal.job import NOT_REVIEWED, entries_in, gaps_section
from runs.rehearsal.text import cited, linked, named, number_of, table
from runs.text.csv_tables import NotCsv, records_in
from runs.text.plural import word_for

MOST_SHOWN = 60
"""Points, documents or rows that a report names; the file has all of them."""


@dataclass(frozen=True)
class Written:
    """A file of the review, what is reported of it, and what has no room in it."""

    content: str
    summary: str
    left_out: Sequence[LeftOut] = ()


@dataclass(frozen=True)
class Material:
    """What a step works from. `account`: its documents, or the files of earlier steps, and what it looked at of them.

    `path`: the file to be written. `requests`: how often a person asked for something else; no rule understands that,
    and their words are no part of a result. `silent`: one recommendation is left out on purpose.
    """

    path: str
    account: Account
    requests: int = 0
    silent: bool = False

    @property
    def documents(self) -> list[Document]:
        """Those that were reviewed, as a whole or in part."""
        return self.account.with_share(Share.WHOLE, Share.PART)

    def page(self, title: str, lines: Sequence[str], unlisted: Sequence[LeftOut] = ()) -> str:
        """A Markdown file: title, who made it, the content, what was not reviewed or done, and what is not listed."""
        parts = [f"# {title}", "", job.NOTE, "", *lines, *gaps_section([*unlisted, *self.account.left_out])]
        if self.requests:
            parts += ["", "## Not done", "", self.not_done]
        return "\n".join(parts).rstrip() + "\n"

    def fitting(self, items: Sequence[str], what: str) -> tuple[int, list[LeftOut]]:
        """How many of the items fit into the file, and the sentence about the others."""
        used = 0
        for count, item in enumerate(items):
            used += len(item) + 1
            if used > self.account.limits.file_chars:
                why = f"{len(items) - count:,} of {len(items):,} {what} are not in it, for want of room"
                return count, [LeftOut(path=self.path, why=why)]
        return len(items), []

    @property
    def scope(self) -> str:
        """What was looked at, in words."""
        whole, part = (len(self.account.with_share(share)) for share in (Share.WHOLE, Share.PART))
        words = number_of(whole, "document") if whole or not part else ""
        parts = ("a part of 1 document" if part == 1 else f"parts of {part} documents") if part else ""
        return " and ".join(filter(None, [words, parts]))

    @property
    def but(self) -> str:
        """What was not looked at, as the end of a sentence about the rest."""
        return f"; {self.account.shortfall}" if self.account.shortfall else ""

    @property
    def not_done(self) -> str:
        return f"{number_of(self.requests, 'request')} of a person: offline rules do not understand words."


def inventory(material: Material) -> Written:
    """Lists every file with its size. Lines and words are counted only where a file was read as a whole."""
    account = material.account
    counts = {one.path: (one.total or 0, one.words) for one in account.with_share(Share.WHOLE)}
    every = [(one.path, one.size, *counts.get(one.path, ("", "")), account.note(one)) for one in account.documents]
    room, left = material.fitting([str(row) for row in every], "rows")
    count = len(every) + account.unlisted
    lines = [f"Files in all: {count}", "", *table(("File", "Bytes", "Lines", "Words", "Note"), every[:room])]
    if count > room:
        lines += ["", f"{job.NOT_LISTED}{number_of(count - room, 'file')}."]
    total, words = (sum(one[column] for one in counts.values()) for column in (0, 1))
    summary = f"{number_of(count, 'file')}, {len(counts)} read as text: {total:,} lines, {words:,} words{material.but}."
    return Written(material.page("Inventory", [*lines, "", summary]), summary, left)


def key_facts(material: Material) -> Written:
    """That something was not done has no place in a CSV and goes to the report."""
    facts = [fact for document in material.documents for fact in facts_in(document)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(job.FACT_COLUMNS)
    room, left = material.fitting([str(fact) for fact in facts], "facts")
    writer.writerows((fact.document, fact.kind, fact.text, fact.line) for fact in facts[:room])
    counts = Counter(fact.kind for fact in facts)
    summary = (
        f"{number_of(counts['party'], 'party', 'parties')}, {number_of(counts['date'], 'date')} and "
        f"{number_of(counts['amount'], 'amount')} found in {material.scope}{material.but}."
    )
    if room < len(facts):
        summary += f" {len(facts) - room} of them are not in the file: it would be too long."
    shown = [f"- {fact.document}, {fact.place}: {fact.kind} {fact.text}" for fact in facts[:12]]
    rest = [f"- Not done: {material.not_done}"] if material.requests else []
    return Written(out.getvalue(), "\n".join([summary, "", *shown, *rest]).rstrip(), left)


def findings(material: Material) -> Written:
    """Every point with quote, reason and recommendation; on purpose one in the middle may lack its recommendation."""
    every = [finding for document in material.documents for finding in findings_in(document)]
    room, left = material.fitting(["\n".join(_entry("F000", finding, silent=False)) for finding in every], "points")
    listed = {f"F{number}": finding for number, finding in enumerate(every[:room], 1)}
    silent = f"F{len(listed) // 2 + 1}" if material.silent else ""
    headline, rows = _headline(every, material), _overview(every)
    lines = [headline, "", *rows, "", f"{job.POINTS}{len(every)}"]
    if room < len(every):
        lines += ["", f"{job.NOT_LISTED}{number_of(len(every) - room, 'further point')}, for want of room."]
    heading = ""
    for name, finding in listed.items():
        if finding.document != heading:
            heading = finding.document
            lines += ["", f"## {heading}"]
        lines += _entry(name, finding, silent=name == silent)
    report = [_line(key, finding) for key, finding in islice(listed.items(), MOST_SHOWN)]
    report += [f"- and {len(every) - MOST_SHOWN} more"] if len(every) > MOST_SHOWN else []
    shown = rows[: MOST_SHOWN + 2]  # with the header and the line below it
    shown += [f"\nand {len(rows) - len(shown)} more documents."] if len(rows) > len(shown) else []
    summary = "\n".join([headline, "", *shown, "", *report]).rstrip()
    return Written(material.page("Findings", lines, _unlisted(every, room)), summary, left)


def _unlisted(every: Sequence[Finding], room: int) -> list[LeftOut]:
    """The documents with points for which there was no room: nothing must be said of them as if they had none."""
    totals, missing = (Counter(one.document for one in some) for some in (every, every[room:]))
    return [
        LeftOut(
            path=path, why=f"{Share.PART}: {count:,} of {number_of(totals[path], 'point')} without room in the findings"
        )
        for path, count in missing.items()
    ]


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


def _headline(every: Sequence[Finding], material: Material) -> str:
    """Says how many there are of each kind, the most first, so that a question about the result says what was found."""
    if not material.documents:
        return f"No document was reviewed{material.but}."
    if not every:
        return f"No points were found by the rules in {material.scope}{material.but}."
    concerned = len({finding.document for finding in every})
    some = concerned < len(material.documents) and not material.account.with_share(Share.PART)
    share = f"{concerned} of " if some else ""
    need = word_for(len(every), "needs", "need")
    points = number_of(len(every), "point")
    counts = Counter(finding.kind for finding in every).most_common()
    kinds = ", ".join(number_of(count, kind.lower(), SEVERAL.get(kind, "")) for kind, count in counts)
    return f"{points} {need} attention in {share}{material.scope}: {kinds}{material.but}."


def _overview(every: Sequence[Finding]) -> list[str]:
    """A table of the points per document and kind."""
    counts = Counter((finding.document, finding.kind) for finding in every)
    totals = Counter(finding.document for finding in every)
    present = {finding.kind for finding in every}
    kinds = [kind for kind in KINDS if kind in present]
    rows = [(linked(path), total, *(counts[path, kind] for kind in kinds)) for path, total in totals.items()]
    return table(("Document", "Points", *kinds), rows) if rows else []


def notices(material: Material) -> Written:
    """Per document a short draft that raises its points by their ids."""
    texts = {document.path.rpartition("/")[2]: document.text for document in material.documents}
    points, parties = _points(texts.get("findings.md", "")), _parties(texts.get("key-facts.csv", ""))
    gaps = texts.get("findings.md", "").partition(f"\n{NOT_REVIEWED}\n")[2].partition("\n## ")[0].strip()
    if points:
        raised = number_of(sum(map(len, points.values())), "point")
        summary = f"{number_of(len(points), 'notice')} drafted, raising {raised}{material.but}."
    elif gaps or material.but:
        summary = f"No notice is drafted: findings.md lists no points, and not everything was reviewed{material.but}."
    else:
        summary = "No notice is needed: findings.md lists no points."
    lines, report = [summary], [summary]
    if gaps:
        lines += ["", "No notice can rest on what was not reviewed:", "", gaps]
    for document, mine in points.items():
        lines += ["", f"## Notice: {document}", ""]
        if document in parties:
            more = f" and {len(parties[document]) - 4} more" if len(parties[document]) > 4 else ""
            lines += [f"Parties named in the document: {'; '.join(parties[document][:4])}{more}.", ""]
        lines += ["Dear Sir or Madam,", "", f"please clarify the following in “{document}” before we rely on it:", ""]
        lines += [f"{number}. {point}" for number, point in enumerate(mine.values(), 1)]
        lines += ["", "We ask for your proposal in writing. Kind regards"]
        report.append(f"- {document}: {named(list(mine), MOST_SHOWN)}")
    more_notices = [f"- and {len(report) - 1 - MOST_SHOWN} more"] if len(report) - 1 > MOST_SHOWN else []
    return Written(material.page("Notices", lines), "\n".join([*report[: MOST_SHOWN + 1], *more_notices]))


def _points(text: str) -> Mapping[str, dict[str, str]]:
    """What to raise per document, by the ids of the findings."""
    found: dict[str, dict[str, str]] = {}
    for one in entries_in(text):
        point = f"{one.name}, {one.place}: {one.title}. {one['Recommendation']}"
        found.setdefault(one.document, {})[one.name] = point
    return found


def _parties(text: str) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    try:
        for row in records_in(text):
            if row.get("kind") == "party":
                found.setdefault(row.get("document", ""), []).append(row.get("text", ""))
    except NotCsv:  # a person has edited the file: the notices name the parties before that place
        pass
    return found


_WRITERS: Mapping[str, Callable[[Material], Written]] = {
    "inventory": inventory,
    "key-facts": key_facts,
    "findings": findings,
    "notices": notices,
}
_OUTPUTS_READ = {"notices": ("findings.md", "key-facts.csv")}
"""Steps that work from the files of earlier steps instead of the documents."""


def act(conversation: Conversation, limits: Limits) -> StepOutput | list[Use]:
    """Tool calls while something is to be read or written, then the report. Raises ModelError for other steps."""
    step = PlanStep.model_validate_json(conversation.text("step"))
    if not job.is_known(step):
        raise unknown(f"the step “{step.name}”")
    if step.step_id == commented.STEP:
        return _commented(step, conversation, limits)
    output, reads_own = step.outputs[0], step.step_id in _OUTPUTS_READ
    attempts = [call for call in conversation.calls if call.name == "write_file"]
    if attempts and attempts[-1].is_error:
        return _blocked(f"{output} could not be written: {attempts[-1].result}")
    account = _account(step, conversation, limits)
    if not attempts:
        if "write_file" not in conversation.tools:
            return _blocked("No tools may be used any more, and the file is not written yet.")
        if not reads_own and not any(call.name == "list_files" for call in conversation.calls):
            return [("list_files", {"prefix": ""})]
        wanted = [one for one in account.documents if one.path not in account.dismissed]
        if reads := due(wanted, limits.of_own_files if reads_own else limits, conversation.turns):
            return reads
    if reads_own and account.left_out:
        return _blocked(f"Files of earlier steps could not be read: {account.shortfall}.")
    heeds = conversation.all("critique") or conversation.all("person")
    silent = job.ON_PURPOSE in step.description and not heeds
    material = Material(output, account, len(conversation.all("person")), silent)
    written = _WRITERS[step.step_id](material)
    if not attempts:
        return [("write_file", {"path": output, "content": written.content})]
    return _done(step, written.summary, [*account.left_out, *written.left_out])


def _commented(step: PlanStep, conversation: Conversation, limits: Limits) -> StepOutput | list[Use]:
    """The copies of Word documents, one call for each comment."""
    copies = Copies(step, conversation, limits)
    if reads := copies.reads():
        return reads
    findings = Account([copies.findings], limits=limits)
    if findings.left_out:
        return _blocked(f"The findings could not be read: {findings.shortfall}.")
    return copies.due_comments() or _done(step, copies.report(), copies.left_out())


def _account(step: PlanStep, conversation: Conversation, limits: Limits) -> Account:
    """What the step works from, and what was looked at of it so far."""
    folder = dirname(step.outputs[0])
    sources = [f"{folder}/{name}" for name in _OUTPUTS_READ.get(step.step_id, ())]
    every = library(conversation.calls, sources)
    made = {f"{folder}/{name}" for name in job.OUTPUTS.values()}
    given = sources or [path for path in every if path not in made]
    dismissed = job.left_out(step.description, given)
    return Account([every[path] for path in given], unlisted(conversation.calls), limits, dismissed)


def _done(step: PlanStep, summary: str, left_out: Iterable[LeftOut]) -> StepOutput:
    left = list(left_out)
    how = f"By rule, see {named(step.outputs, 3)}."
    return StepOutput(
        status="done",
        reasoning=f"{job.NO_AI}. Searched the text for fixed patterns and counted what was found.",
        findings=summary,
        criteria_met=[CriterionMet(criterion=one.text, met=True, how=how) for one in step.acceptance_criteria],
        confidence=0.6 if left else 0.9,
        notes=job.NOTE,
        left_out=left,
    )


def _blocked(reason: str) -> StepOutput:
    reasoning = f"{job.NO_AI}. {reason}"
    return StepOutput(status="blocked", reasoning=reasoning, findings="", criteria_met=[], confidence=0.0, notes=reason)
