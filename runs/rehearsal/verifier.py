"""Judges the criteria of the document review by looking for itself, with quotes as evidence.

It shares no rule with the executor, so that an error there is not repeated here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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


class _Passage(NamedTuple):
    """Words of a source that support a criterion. `result`: the file whose statement they support, if any; `statement`:
    this statement, if it is not the same words.
    """

    source: str
    words: str
    result: str = ""
    statement: str = ""


class _Exhibits:
    """What lies before the verifier. `listed`: the paths that list_files gave; `total`: how many it counted."""

    def __init__(self, conversation: Conversation) -> None:
        self.documents = {part.name: part.text for part in conversation.all("document")}
        self._lines: dict[str, list[str]] = {}
        self.output = conversation.text("output")
        listing = next((part.text for part in conversation.all("tool") if re.match(r"\d+ files, ", part.text)), "0")
        whole = re.sub(r"^.*\n\(cut here; the result goes on\)\Z", "", listing, flags=re.MULTILINE)
        self.total = int(listing.split(" ", 1)[0])
        self.listed = set(re.findall(r"^\d+\t([^\t\n]+)", whole, re.MULTILINE))

    def text(self, path: str) -> str:
        if path not in self.documents:
            raise _NotShownError(f"{path or 'A document'} was not put before the verifier as a whole.")
        return self.documents[path]

    def lines(self, path: str) -> list[str]:
        if path not in self._lines:
            self._lines[path] = [line.text for line in lines_in(path, self.text(path))]
        return self._lines[path]

    def line(self, path: str, start: str) -> str:
        return next((line for line in self.lines(path) if line.startswith(start)), "")

    def verbatim(self, path: str, words: str) -> str:
        """The words as they stand in a result: in one line of it, or the part of them that its first line has."""
        lines = [line.removeprefix("> ") for line in self.lines(path)] if path else []
        whole = next((words for line in lines if words in line), "")
        return whole or max((line for line in lines if line and words.startswith(line)), key=len, default="")

    def holds(self, path: str, quote: str, line: str) -> bool:
        """Whether the quote begins in this line; it may run on."""
        every, wanted = self.lines(path), " ".join(quote.split())
        if not wanted or not re.fullmatch(r"[1-9]\d{0,9}", line):
            return False
        first = int(line) - 1
        own, text = (" ".join(" ".join(every[first : first + count]).split()) for count in (1, 60))
        return 0 <= text.find(wanted) < max(1, len(own))

    def count(self, path: str, label: str) -> str:
        """The number behind a label at the beginning of a line."""
        return self.line(path, label).removeprefix(label).strip().partition(" ")[0]

    def not_listed(self, path: str) -> int:
        """How many a file says it does not list."""
        number = self.count(path, job.NOT_LISTED)
        return int(number) if re.fullmatch(r"\d{1,9}", number) else 0


def verdict(conversation: Conversation) -> VerifierAnswer:
    """What documents say of approval has no effect. Raises ModelError for a criterion of another job."""
    labels = re.split(r"^([CR]\d+): ", conversation.text("criteria"), flags=re.MULTILINE)[1:]
    shown = _Exhibits(conversation)
    criteria = zip(labels[::2], labels[1::2], strict=True)
    answers = [
        _unjudged(label, conversation) if label.startswith("R") else _judged(label, text.strip(), shown)
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


def _judged(label: str, criterion: str, shown: _Exhibits) -> CriterionAnswer:
    matches = ((wording, job.pattern(wording).fullmatch(criterion)) for wording in _JUDGES)
    wording, match = next(((one, blanks) for one, blanks in matches if blanks), ("", None))
    if match is None:
        raise unknown(f"the criterion “{criterion[:200]}”")
    seen = _seen(wording, match.groupdict(), shown)
    complaints = [one for one in seen if isinstance(one, str)]
    passages = [one for one in seen if isinstance(one, _Passage)][:MAX_QUOTES]
    if not seen:
        complaints = ["There is nothing to quote that would prove it."]
    return CriterionAnswer(
        criterion=label,
        passed=not complaints,
        evidence=[
            QuotedEvidence(
                source=one.source,
                quote=one.words,
                statement=shown.verbatim(one.result, one.statement)[:QUOTE_CHARS].strip() or None,
            )
            for one in passages
        ],
        confidence=0.95,
        feedback=" ".join(complaints[:MAX_COMPLAINTS]),
    )


def _seen(wording: str, blanks: Mapping[str, str], shown: _Exhibits) -> list[_Passage | str]:
    """Complaints, and passages short enough for an answer; too few letters to prove anything are left out."""
    path = blanks.get("path", "")
    seen: list[_Passage | str] = []
    try:
        seen += _quotable(_JUDGES[wording](shown, **blanks))
        if path and not seen:  # a file without entries holds only if it says so itself
            seen += _quotable([_Passage(path, shown.line(path, "No "))])
        quotes_no_document = all(isinstance(one, _Passage) and _folder(one.source) == _folder(path) for one in seen)
        if wording in _STATEMENTS and quotes_no_document:
            seen += _quotable(_beginnings(shown, path, _STATEMENTS[wording]))
    except _NotShownError as missing:
        seen.append(str(missing))
    return seen


def _quotable(seen: Iterable[_Passage | str]) -> Iterator[_Passage | str]:
    for one in seen:
        if isinstance(one, str):
            yield one
        else:
            words = " ".join(one.words.split())[:QUOTE_CHARS].strip()
            if sum(map(str.isalnum, words)) >= 3:
                yield one._replace(words=words, statement=one.statement or one.words)


def _beginnings(shown: _Exhibits, path: str, start: str) -> Iterator[_Passage]:
    """What a file says of the documents holds only beside them: where it quotes none, their beginnings are quoted."""
    statement = shown.line(path, start).partition(" in ")[0]
    for name in shown.documents:
        if _folder(name) != _folder(path):
            lines = [line for line in shown.lines(name) if line.strip()]
            plain = (line for line in lines if not doubt_about("", line))  # the others speak to a model
            yield _Passage(name, next(plain, "".join(lines[:1])), path, statement)


def _folder(path: str) -> str:
    """The folder that a file is in."""
    return path.rpartition("/")[0]


def _inventory_files(shown: _Exhibits, path: str) -> Iterator[_Passage | str]:
    rows, left = _rows(shown, path), shown.line(path, job.NOT_LISTED)
    made = {f"{_folder(path)}/{name}" for name in job.OUTPUTS.values()}
    accounted, expected = len(rows) + shown.not_listed(path), shown.total - len(made & shown.listed)
    if accounted != expected:
        yield f"{path} accounts for {accounted} files; there are {expected}."
    if not left:
        yield from (f"{name} is not listed in {path}." for name in sorted(shown.listed - made - rows.keys()))
    for line in [*rows.values(), left or shown.line(path, "Files in all: ")][-MAX_QUOTES:]:
        yield _Passage(path, line)


def _inventory_lines(shown: _Exhibits, path: str) -> Iterator[_Passage | str]:
    for name, row in _rows(shown, path).items():
        stated = _cells(row)[2]
        if stated and stated != str(len(shown.lines(name))):
            yield f"{path} gives {stated} lines for {name}; it has {len(shown.lines(name))}."
        elif stated:
            yield _Passage(path, row)
    yield _Passage(path, shown.line(path, "Files in all: "))


def _facts_occur(shown: _Exhibits, path: str) -> Iterator[_Passage | str]:
    try:
        for number, row in enumerate(records_in(shown.text(path)), 1):
            document, text, line = (row.get(name, "") for name in ("document", "text", "line"))
            if shown.holds(document, text, line):
                yield _Passage(document, text, path)
            else:
                yield f"Row {number}: “{text[:60]}” does not stand in {document}, line {line}."
    except NotCsv as error:
        yield f"{path} {error}."
    yield _Passage(path, shown.text(path))


def _findings_whole(shown: _Exhibits, path: str) -> Iterator[_Passage | str]:
    entries = list(entries_in(shown.text(path)))
    for one in entries:
        fields = {**one.fields, "Quote": one.quote}
        if lacking := [label for label in ("Document", "Line", "Quote", "Recommendation") if not fields.get(label)]:
            yield f"Finding {_place(one)} has no {' and no '.join(lacking).lower()}."
        else:
            yield _Passage(path, f"- Recommendation: {one['Recommendation']}")
    stated, accounted = shown.count(path, job.POINTS), len(entries) + shown.not_listed(path)
    if stated and stated != str(accounted):
        yield f"{path} counts {stated} points; {accounted} are in it or left out of it."


def _quotes_occur(shown: _Exhibits, path: str) -> Iterator[_Passage | str]:
    for one in entries_in(shown.text(path)):
        if shown.holds(one.document, one.quote, one["Line"]):
            yield _Passage(one.document, one.quote, path)
        else:
            yield f"The quote of {_place(one)} does not stand there: “{one.quote[:80]}”."


def _notices_complete(shown: _Exhibits, path: str, other: str) -> Iterator[_Passage | str]:
    raised = {match[1]: line for line in shown.lines(path) if (match := re.match(r"\d+\. (F\d+)\b", line))}
    for one in entries_in(shown.text(other)):
        if one.name in raised:
            yield _Passage(path, raised[one.name])
        else:
            yield f"Finding {one.name} is raised in no notice."


def _comments_stand(shown: _Exhibits, findings: str) -> Iterator[_Passage | str]:
    """Each finding is a comment that begins with its id, and the paragraph with this comment has the quote."""
    names = [name for name in shown.documents if name.startswith(REVIEWED) and is_word(name)]
    copies = {name: _commented_blocks(shown.text(name)) for name in names}
    gaps = gaps_in(shown.text(findings), [name.removeprefix(REVIEWED) for name in copies])
    excused = set(re.findall(r"^- (.+?) has no comment: ", shown.output, re.MULTILINE))
    for one in entries_in(shown.text(findings)):
        copy, quote = f"{REVIEWED}{one.document}", " ".join(one.quote.split())
        if copy not in copies or one.name in excused:
            continue
        number = next((key for key, said in copies[copy].said if said.startswith(f"{one.name} · ")), "")
        if not number:
            yield f"{_place(one)} is no comment in {copy}."
        elif not any(number in about and quote in text for about, text in copies[copy].about):
            yield f"The comment on {_place(one)} does not stand at its quote in {copy}."
        else:
            yield _Passage(copy, quote)  # what a comment says proves nothing of the document
    for copy, blocks in copies.items():
        document = copy.removeprefix(REVIEWED)
        if not blocks.said:
            yield f"{copy} has no comment."
        yield _Passage(copy, next((text for about, text in blocks.about if about), ""))
        says_gap = any(said.startswith(NOT_REVIEWED) for _, said in blocks.said)
        if document in gaps and not says_gap and document not in excused:
            yield f"{copy} does not say that {document} was not reviewed, or not as a whole."


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


def _answer_figures(shown: _Exhibits, path: str) -> Iterator[_Passage | str]:
    first = shown.output.lstrip().partition("\n")[0]
    number = shown.count(path, job.POINTS)
    if number != "0" and number not in re.findall(r"\d+", first):
        yield f"{path} counts {number or 'no'} points; the answer begins otherwise."
    if path not in shown.output:
        yield f"The answer does not name {path}."
    yield _Passage("@output", first)


def _answer_no_ai(shown: _Exhibits) -> Iterator[_Passage | str]:
    yield _Passage("@output", next((line for line in shown.output.split("\n") if "no AI was involved" in line), ""))


def _place(one: PointEntry) -> str:
    return f"{one.name} ({one.document or 'no document'}, {one.place})"


def _rows(shown: _Exhibits, path: str) -> dict[str, str]:
    """The rows of the file table by path; those of other tables have fewer cells."""
    rows = {_cells(line)[0]: line for line in shown.lines(path) if line.startswith("| ") and len(_cells(line)) == 5}
    return {name: row for name, row in rows.items() if name not in ("File", "---")}


def _cells(row: str) -> list[str]:
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


_JUDGES: Mapping[str, Callable[..., Iterator[_Passage | str]]] = {
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
_STATEMENTS = {job.FACTS_OCCUR: "", job.QUOTES_OCCUR: "No "}
"""Criteria about the documents, and how the line begins in which a file says what it is about all of them."""
