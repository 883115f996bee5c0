"""Judges the criteria of the document review by looking for itself, with quotes as evidence.

It shares no rule with the executor, so that an error there is not repeated here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from runs.contracts.base import QuotedEvidence
from runs.enums import Action, Severity
from runs.evidence.relation import doubt_about
from runs.pev.contracts import CriterionAnswer, VerifierAnswer
from runs.pev.plans.commented import NOT_REVIEWED, REVIEWED, is_word
from runs.rehearsal import job
from runs.rehearsal.conversation import Conversation, unknown
from runs.rehearsal.documents import lines_in
from runs.rehearsal.job import PointEntry, entries_in, gaps_in
from runs.text.csv_tables import NotCsv, records_in

MAX_QUOTES = 6
MAX_COMPLAINTS = 12
QUOTE_CHARS = 400
"""Bounds of one answer, as a model's output limit would set them."""


class _NotShownError(Exception):
    """A document that a criterion is about was not put before the verifier as a whole."""


@dataclass
class _Ruling:
    """Evidence and complaints while a file is gone through."""

    evidence: list[QuotedEvidence] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def quote(self, source: str, text: str, statement: str = "") -> None:
        """`statement`: words of the result that this supports."""
        cut = " ".join(text.split())[:QUOTE_CHARS].strip()
        if sum(map(str.isalnum, cut)) >= 3 and self.has_room:
            said = statement[:QUOTE_CHARS].strip() or None
            self.evidence.append(QuotedEvidence(source=source, quote=cut, statement=said))

    @property
    def has_room(self) -> bool:
        return len(self.evidence) < MAX_QUOTES

    def answer(self, label: str) -> CriterionAnswer:
        complaints = self.complaints[:MAX_COMPLAINTS]
        if not self.evidence and not complaints:
            complaints = ["There is nothing to quote that would prove it."]
        return CriterionAnswer(
            criterion=label,
            passed=not complaints,
            evidence=self.evidence,
            confidence=0.95,
            feedback=" ".join(complaints),
        )


class _Exhibits:
    """What lies before the verifier. `listed`: the paths that list_files gave; `total`: how many it counted."""

    def __init__(self, conversation: Conversation) -> None:
        self._documents = {part.name: part.text for part in conversation.all("document")}
        self._lines: dict[str, list[str]] = {}
        self.output = conversation.text("output")
        listing = next((part.text for part in conversation.all("tool") if re.match(r"\d+ files, ", part.text)), "0")
        whole = re.sub(r"^.*\n\(cut here; the result goes on\)\Z", "", listing, flags=re.MULTILINE)
        self.total = int(listing.split(" ", 1)[0])
        self.listed = set(re.findall(r"^\d+\t([^\t\n]+)", whole, re.MULTILINE))

    def text(self, path: str) -> str:
        if path not in self._documents:
            raise _NotShownError(f"{path or 'A document'} was not put before the verifier as a whole.")
        return self._documents[path]

    @property
    def copies(self) -> list[str]:
        """The copies of Word documents with comments."""
        return [name for name in self._documents if name.startswith(REVIEWED) and is_word(name)]

    def beside(self, path: str) -> list[str]:
        """The documents outside the folder of this file, which is where all results lie."""
        return [name for name in self._documents if not name.startswith(f"{path.rpartition('/')[0]}/")]

    def lines(self, path: str) -> list[str]:
        if path not in self._lines:
            self._lines[path] = [line.text for line in lines_in(path, self.text(path))]
        return self._lines[path]

    def line(self, path: str, start: str) -> str:
        return next((line for line in self.lines(path) if line.startswith(start)), "")

    def verbatim(self, path: str, words: str) -> str:
        """The words as they stand in a result: in one line of it, or the part of them that its first line has."""
        lines = [line.removeprefix("> ") for line in self.lines(path)]
        whole = next((words for line in lines if words in line), "")
        return whole or max((line for line in lines if line and words.startswith(line)), key=len, default="")

    def holds(self, path: str, quote: str, line: str) -> bool:
        """Whether the quote begins in this line; it may run on."""
        first = int(line) - 1 if re.fullmatch(r"[1-9]\d{0,9}", line) else 0
        lines = self.lines(path)[first : first + 60] if re.fullmatch(r"[1-9]\d{0,9}", line) else []
        wanted, own = " ".join(quote.split()), " ".join("".join(lines[:1]).split())
        return bool(wanted) and 0 <= " ".join(" ".join(lines).split()).find(wanted) < max(1, len(own))

    def entries(self, path: str) -> list[PointEntry]:
        return list(entries_in(self.text(path)))


def verdict(conversation: Conversation) -> VerifierAnswer:
    """What documents say of approval has no effect. Raises ModelError for a criterion of another job."""
    labels = re.split(r"^([CR]\d+): ", conversation.text("criteria"), flags=re.MULTILINE)[1:]
    shown = _Exhibits(conversation)
    criteria = zip(labels[::2], labels[1::2], strict=True)
    answers = [
        _unjudged(label, conversation) if label.startswith("R") else _ruling(text.strip(), shown).answer(label)
        for label, text in criteria
    ]
    failed = [answer for answer in answers if not answer.passed]
    return VerifierAnswer(
        criteria_results=answers,
        overall_pass=not failed,
        action=Action.RETRY if failed else Action.PASS,
        severity=Severity.MAJOR if failed else Severity.MINOR,
        feedback_for_executor="\n".join(f"{answer.criterion}: {answer.feedback}" for answer in failed),
    )


def _unjudged(label: str, conversation: Conversation) -> CriterionAnswer:
    """No rule understands what a person asks for. All that is quoted are their own words, which prove nothing: so it is
    neither met nor failed, and the person is asked.
    """
    source = f"@person-{label.removeprefix('R')}"
    words = next((part.text for part in conversation.all("person") if part.name == source), "")
    return CriterionAnswer(
        criterion=label,
        passed=True,
        evidence=[QuotedEvidence(source=source, quote=words[:QUOTE_CHARS])],
        confidence=0.0,
        feedback="The offline rules cannot judge this; look for yourself.",
    )


def _ruling(criterion: str, shown: _Exhibits) -> _Ruling:
    for wording, judge in _JUDGES.items():
        if blanks := job.pattern(wording).fullmatch(criterion):
            ruling = _Ruling()
            try:
                judge(shown, ruling, **blanks.groupdict())
            except _NotShownError as missing:
                ruling.complaints.append(str(missing))
            return ruling
    raise unknown(f"the criterion “{criterion[:200]}”")


def _inventory_files(shown: _Exhibits, ruling: _Ruling, path: str) -> None:
    rows, left = _rows(shown, path), shown.line(path, job.NOT_LISTED)
    made = {f"{path.rpartition('/')[0]}/{name}" for name in job.OUTPUTS.values()}
    accounted = len(rows) + _not_listed(shown, path)
    expected = shown.total - len(made & shown.listed)
    if accounted != expected:
        ruling.complaints.append(f"{path} accounts for {accounted} files; there are {expected}.")
    if not left:
        lacking = sorted(shown.listed - made - rows.keys())
        ruling.complaints += [f"{name} is not listed in {path}." for name in lacking]
    for line in [*rows.values(), left or shown.line(path, "Files in all: ")][-MAX_QUOTES:]:
        ruling.quote(path, line)


def _inventory_lines(shown: _Exhibits, ruling: _Ruling, path: str) -> None:
    for name, row in _rows(shown, path).items():
        stated = _cells(row)[2]
        if stated and stated != str(len(shown.lines(name))):
            ruling.complaints.append(f"{path} gives {stated} lines for {name}; it has {len(shown.lines(name))}.")
        elif stated:
            ruling.quote(path, row)
    ruling.quote(path, shown.line(path, "Files in all: "))


def _facts_occur(shown: _Exhibits, ruling: _Ruling, path: str) -> None:
    try:
        rows = list(records_in(shown.text(path)))
    except NotCsv as error:
        ruling.complaints.append(f"{path} {error}.")
        rows = []
    for number, row in enumerate(rows, 1):
        document, text, line = (row.get(name, "") for name in ("document", "text", "line"))
        if shown.holds(document, text, line):
            if ruling.has_room:
                ruling.quote(document, text, shown.verbatim(path, text))
        else:
            ruling.complaints.append(f"Row {number}: “{text[:60]}” does not stand in {document}, line {line}.")
    ruling.quote(path, shown.text(path))
    _held_against(shown, ruling, path, shown.line(path, ""))


def _findings_whole(shown: _Exhibits, ruling: _Ruling, path: str) -> None:
    entries = shown.entries(path)
    for one in entries:
        lacking = [label for label in ("Document", "Line") if not one[label]]
        lacking += [] if one.quote else ["Quote"]
        lacking += [] if one["Recommendation"] else ["Recommendation"]
        if lacking:
            ruling.complaints.append(f"Finding {_place(one)} has no {' and no '.join(lacking).lower()}.")
        else:
            ruling.quote(path, f"- Recommendation: {one['Recommendation']}")
    stated, left = shown.line(path, job.POINTS).removeprefix(job.POINTS), _not_listed(shown, path)
    if stated and stated != str(len(entries) + left):
        ruling.complaints.append(f"{path} counts {stated} points; {len(entries) + left} are in it or left out of it.")
    _none_found(shown, ruling, path)


def _not_listed(shown: _Exhibits, path: str) -> int:
    """How many a file says it does not list."""
    number = shown.line(path, job.NOT_LISTED).removeprefix(job.NOT_LISTED).partition(" ")[0]
    return int(number) if re.fullmatch(r"\d{1,9}", number) else 0


def _quotes_occur(shown: _Exhibits, ruling: _Ruling, path: str) -> None:
    for one in shown.entries(path):
        if shown.holds(one.document, one.quote, one["Line"]):
            if ruling.has_room:
                ruling.quote(one.document, one.quote, shown.verbatim(path, one.quote))
        else:
            ruling.complaints.append(f"The quote of {_place(one)} does not stand there: “{one.quote[:80]}”.")
    _none_found(shown, ruling, path)
    _held_against(shown, ruling, path, shown.line(path, "No ").partition(" in ")[0])


def _notices_complete(shown: _Exhibits, ruling: _Ruling, path: str, other: str) -> None:
    raised = {match[1]: line for line in shown.lines(path) if (match := re.match(r"\d+\. (F\d+)\b", line))}
    for one in shown.entries(other):
        if one.name in raised:
            ruling.quote(path, raised[one.name])
        else:
            ruling.complaints.append(f"Finding {one.name} is raised in no notice.")
    _none_found(shown, ruling, path)


def _comments_stand(shown: _Exhibits, ruling: _Ruling, findings: str) -> None:
    """Each finding is a comment that begins with its id, and the paragraph with this comment has the quote."""
    copies = {name: _commented_blocks(shown.text(name)) for name in shown.copies}
    gaps = gaps_in(shown.text(findings), [name.removeprefix(REVIEWED) for name in copies])
    output = f"\n{shown.output}"
    for one in shown.entries(findings):
        copy = f"{REVIEWED}{one.document}"
        if copy not in copies or f"\n- {one.name} has no comment: " in output:
            continue
        number = next((key for key, said in copies[copy].said if said.startswith(f"{one.name} · ")), "")
        quote = " ".join(one.quote.split())
        if not number:
            ruling.complaints.append(f"{_place(one)} is no comment in {copy}.")
        elif not any(number in about and quote in text for about, text in copies[copy].about):
            ruling.complaints.append(f"The comment on {_place(one)} does not stand at its quote in {copy}.")
        else:
            ruling.quote(copy, quote)  # what a comment says proves nothing of the document
    for copy, blocks in copies.items():
        document = copy.removeprefix(REVIEWED)
        if not blocks.said:
            ruling.complaints.append(f"{copy} has no comment.")
        elif not ruling.evidence:
            ruling.quote(copy, next((text for about, text in blocks.about if about), ""))
        says_gap = any(said.startswith(NOT_REVIEWED) for _, said in blocks.said)
        if document in gaps and not says_gap and f"\n- {document} has no comment: " not in output:
            ruling.complaints.append(f"{copy} does not say that {document} was not reviewed, or not as a whole.")


class _Blocks(NamedTuple):
    """Of a Word file as it is shown: the number and the words of each comment, and the numbers of the comments on each
    paragraph with its text.
    """

    said: list[tuple[str, str]]
    about: list[tuple[set[str], str]]


def _commented_blocks(text: str) -> _Blocks:
    blocks = _Blocks([], [])
    for part in re.split(r"^(?=\[[a-z]{1,2}\d)", text, flags=re.MULTILINE):
        body = " ".join(part.split())
        if comment := re.match(r"\[cm(\d+)\.p1\] (?:\{comment[^{}]*\} )?(.*)", body):
            blocks.said.append((comment[1], comment[2]))
        else:
            blocks.about.append((set(re.findall(r"\{comment cm(\d+)\b", body)), body))
    return blocks


def _none_found(shown: _Exhibits, ruling: _Ruling, path: str) -> None:
    """A file without entries holds only if it says so itself."""
    if not ruling.evidence and not ruling.complaints:
        ruling.quote(path, shown.line(path, "No "))


def _held_against(shown: _Exhibits, ruling: _Ruling, path: str, statement: str) -> None:
    """What a file says of the documents holds only beside them: where it quotes none, their beginnings are quoted."""
    if any(not one.source.startswith(f"{path.rpartition('/')[0]}/") for one in ruling.evidence) or ruling.complaints:
        return
    for name in shown.beside(path):
        lines = [line for line in shown.lines(name) if line.strip()]
        plain = (line for line in lines if not doubt_about("", line))  # the others speak to a model
        ruling.quote(name, next(plain, "".join(lines[:1])), statement)


def _answer_figures(shown: _Exhibits, ruling: _Ruling, path: str) -> None:
    first = shown.output.lstrip().partition("\n")[0]
    number = shown.line(path, job.POINTS).removeprefix(job.POINTS).strip()
    if number != "0" and number not in re.findall(r"\d+", first):
        ruling.complaints.append(f"{path} counts {number or 'no'} points; the answer begins otherwise.")
    if path not in shown.output:
        ruling.complaints.append(f"The answer does not name {path}.")
    ruling.quote("@output", first)


def _answer_no_ai(shown: _Exhibits, ruling: _Ruling) -> None:
    ruling.quote("@output", next((line for line in shown.output.split("\n") if "no AI was involved" in line), ""))


def _place(one: PointEntry) -> str:
    return f"{one.name} ({one.document or 'no document'}, {one.place})"


def _rows(shown: _Exhibits, path: str) -> dict[str, str]:
    """The rows of the file table by path; those of other tables have fewer cells."""
    rows = {_cells(line)[0]: line for line in shown.lines(path) if line.startswith("| ") and len(_cells(line)) == 5}
    return {name: row for name, row in rows.items() if name not in ("File", "---")}


def _cells(row: str) -> list[str]:
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


_JUDGES: Mapping[str, Callable[..., None]] = {
    job.INVENTORY_FILES: _inventory_files,
    job.INVENTORY_LINES: _inventory_lines,
    job.FACTS_OCCUR: _facts_occur,
    job.FINDINGS_WHOLE: _findings_whole,
    job.QUOTES_OCCUR: _quotes_occur,
    job.NOTICES_COMPLETE: _notices_complete,
    job.COMMENTS_STAND: _comments_stand,
    job.ANSWER_FIGURES: _answer_figures,
    job.ANSWER_NO_AI: _answer_no_ai,
}
