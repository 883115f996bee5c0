"""Judges the criteria of the document review that no check decides, with quotes as evidence.

It looks for itself and shares no rule with the executor, so that an error there is not repeated here.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote

from runs.contracts.base import QuotedEvidence
from runs.enums import Action, Severity
from runs.evidence.passages import find
from runs.evidence.quotes import MIN_CHARACTERS
from runs.evidence.relation import doubt_about
from runs.pev.contracts import CriterionAnswer, VerifierAnswer
from runs.pev.plans.commented import NOT_REVIEWED, REVIEWED
from runs.rehearsal import job
from runs.rehearsal.conversation import Conversation, unknown
from runs.rehearsal.documents import lines_in
from runs.rehearsal.job import PointEntry, entries_in, gaps_in
from runs.text.csv_tables import NotCsv, records_in

MAX_QUOTES = 6
MAX_COMPLAINTS = 12
QUOTE_CHARS = 400
"""Bounds of one answer, as a model's output limit would set them."""
QUOTE_LINES = 60
"""Lines of a document over which a quote may run."""


class _NotShownError(Exception):
    """A document that a criterion is about was not put before the verifier as a whole."""


type _Seen = Iterator[QuotedEvidence | str]
"""What was seen of a criterion: quotes that support it, and complaints."""


class _Exhibits:
    """What is put before the verifier: documents, files of the review, and the output."""

    def __init__(self, conversation: Conversation) -> None:
        self.documents = {part.name: part.text for part in conversation.all("document")}
        self._lines: dict[str, list[str]] = {}
        self.output = conversation.text("output")

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

    def holds(self, path: str, quote: str, line: str) -> bool:
        """Whether the quote begins in this line; it may run on."""
        every = self.lines(path)
        if not re.fullmatch(r"[1-9]\d{0,9}", line):
            return False
        place = find(quote, "\n".join(every[int(line) - 1 :][:QUOTE_LINES]))
        return place is not None and place.line == 1

    def quote(self, source: str, words: str, result: str = "", statement: str = "") -> Iterator[QuotedEvidence]:
        """The words of the source as evidence, unless they are too few to prove anything.

        `result`: the file whose statement they support; the statement consists of the same words if none is given.
        """
        words = " ".join(words.split())[:QUOTE_CHARS].strip()
        said = statement or words
        if sum(map(str.isalnum, words)) >= MIN_CHARACTERS:
            is_said = bool(result) and said in self.text(result)
            yield QuotedEvidence(source=source, quote=words, statement=said if is_said else None)


def verdict(conversation: Conversation) -> VerifierAnswer:
    """What documents say of approval has no effect. Raises ModelError for a criterion of another job."""
    labels = re.split(r"^([CR]\d+): ", conversation.text("criteria"), flags=re.MULTILINE)[1:]
    shown = _Exhibits(conversation)
    answers = [
        _unjudged(label, conversation) if label.startswith("R") else _judged(label, text.strip(), shown)
        for label, text in zip(labels[::2], labels[1::2], strict=True)
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
    seen = _seen(wording, match.groupdict(), shown) or ["There is nothing to quote that would prove it."]
    complaints = [one for one in seen if isinstance(one, str)]
    return CriterionAnswer(
        criterion=label,
        passed=not complaints,
        evidence=[one for one in seen if not isinstance(one, str)][:MAX_QUOTES],
        confidence=0.95,
        feedback=" ".join(complaints[:MAX_COMPLAINTS]),
    )


def _seen(wording: str, blanks: Mapping[str, str], shown: _Exhibits) -> list[QuotedEvidence | str]:
    path = blanks.get("path", "")
    seen: list[QuotedEvidence | str] = []
    try:
        seen += _JUDGES[wording](shown, **blanks)
        if path and not seen:  # a file without entries holds only if it says so itself
            seen += shown.quote(path, shown.line(path, "No "))
        if wording in _STATEMENTS and all(not isinstance(one, str) and job.is_own(one.source) for one in seen):
            seen += _beginnings(shown, path, _STATEMENTS[wording])
    except _NotShownError as missing:
        seen.append(str(missing))
    return seen


def _beginnings(shown: _Exhibits, path: str, start: str) -> _Seen:
    """The beginnings of the documents. A file that quotes none of them speaks of all of them."""
    statement = shown.line(path, start).partition(" in ")[0]
    for name in shown.documents:
        if not job.is_own(name):
            lines = [line for line in shown.lines(name) if line.strip()]
            plain = (line for line in lines if not doubt_about("", line))  # the others speak to a model
            yield from shown.quote(name, next(plain, "".join(lines[:1])), path, statement)


_ROW = re.compile(r"\| (?:\[.*\]\((?P<link>[^()\s]+)\)|(?P<name>[^|]+?)) \| [\d,]* \| (?P<lines>[\d,]*) \|")
"""A row of the inventory: a file, its bytes and its lines."""


def _inventory_lines(shown: _Exhibits, path: str) -> _Seen:
    for line in shown.lines(path):
        if row := _ROW.match(line):
            name, stated = unquote(row["link"] or row["name"]), row["lines"].replace(",", "")
            if stated and stated != str(count := len(shown.lines(name))):
                yield f"{path} gives {stated} lines for {name}; it has {count}."
            else:
                yield from shown.quote(path, line)


def _facts_occur(shown: _Exhibits, path: str) -> _Seen:
    try:
        for number, row in enumerate(records_in(shown.text(path)), 1):
            document, text, line = (row.get(name, "") for name in ("document", "text", "line"))
            if shown.holds(document, text, line):
                yield from shown.quote(document, text, path)
            else:
                yield f"Row {number}: “{text[:60]}” does not stand in {document}, line {line}."
    except NotCsv as error:
        yield f"{path} {error}."
    yield from shown.quote(path, shown.text(path))


def _findings_whole(shown: _Exhibits, path: str) -> _Seen:
    for one in entries_in(shown.text(path)):
        fields = {**one.fields, "Quote": one.quote}
        if lacking := [label for label in ("Document", "Line", "Quote", "Recommendation") if not fields.get(label)]:
            yield f"Finding {_place(one)} has no {' and no '.join(lacking).lower()}."
        else:
            yield from shown.quote(path, f"- Recommendation: {one['Recommendation']}")


def _quotes_occur(shown: _Exhibits, path: str) -> _Seen:
    for one in entries_in(shown.text(path)):
        if shown.holds(one.document, one.quote, one["Line"]):
            yield from shown.quote(one.document, one.quote, path)
        else:
            yield f"The quote of {_place(one)} does not stand there: “{one.quote[:80]}”."


def _notices_complete(shown: _Exhibits, path: str, other: str) -> _Seen:
    raised = {match[1]: line for line in shown.lines(path) if (match := re.match(r"\d+\. (F\d+)\b", line))}
    for one in entries_in(shown.text(other)):
        if one.name in raised:
            yield from shown.quote(path, raised[one.name])
        else:
            yield f"Finding {one.name} is raised in no notice."


def _comments_stand(shown: _Exhibits, findings: str) -> _Seen:
    """Each finding is a comment that begins with its id, and the paragraph with this comment has the quote."""
    copies = {path: _comments_in(shown.text(path)) for path in shown.documents if path.startswith(REVIEWED)}
    gaps = gaps_in(shown.text(findings), [path.removeprefix(REVIEWED) for path in copies])
    excused = set(re.findall(r"^- (.+?) has no comment: ", shown.output, re.MULTILINE))
    for one in entries_in(shown.text(findings)):
        copy, quote = f"{REVIEWED}{one.document}", " ".join(one.quote.split())
        if copy not in copies or one.name in excused:
            continue
        paragraphs = next((about for said, about in copies[copy].items() if said.startswith(f"{one.name} · ")), None)
        if paragraphs is None:
            yield f"{_place(one)} is no comment in {copy}."
        elif quote not in paragraphs:
            yield f"The comment on {_place(one)} does not stand at its quote in {copy}."
        else:
            yield from shown.quote(copy, quote)  # what a comment says proves nothing of the document
    for copy, comments in copies.items():
        document = copy.removeprefix(REVIEWED)
        if not comments:
            yield f"{copy} has no comment."
        yield from shown.quote(copy, next(filter(None, comments.values()), ""))
        if document in gaps and document not in excused and not any(said.startswith(NOT_REVIEWED) for said in comments):
            yield f"{copy} does not say that {document} was not reviewed, or not as a whole."


def _comments_in(text: str) -> dict[str, str]:
    """What each comment of a Word file says, with the paragraphs that it is on. The text is as tools show it."""
    said: dict[str, str] = {}
    about: dict[str, str] = {}
    for part in re.split(r"^(?=\[[a-z]{1,2}\d)", text, flags=re.MULTILINE):
        body = " ".join(part.split())
        if comment := re.match(r"\[cm(\d+)\.p1\] (?:\{comment[^{}]*\} )?(.*)", body):
            said[comment[1]] = comment[2]
        for number in re.findall(r"\{comment cm(\d+)\b", body):
            about[number] = f"{about.get(number, '')} {body}"
    return {words: about.get(number, "") for number, words in said.items()}


def _answer_figures(shown: _Exhibits, path: str) -> _Seen:
    first = shown.output.lstrip().partition("\n")[0]
    points = shown.line(path, job.POINTS).removeprefix(job.POINTS).strip()
    if points != "0" and points not in re.findall(r"\d+", first.replace(",", "")):
        yield f"{path} counts {points or 'no'} points; the answer begins otherwise."
    if path not in shown.output:
        yield f"The answer does not name {path}."
    yield from shown.quote("@output", first)


def _answer_no_ai(shown: _Exhibits) -> _Seen:
    for line in shown.output.split("\n"):
        if "no AI was involved" in line:
            yield from shown.quote("@output", line)


def _place(one: PointEntry) -> str:
    return f"{one.name} ({one.document or 'no document'}, {one.place})"


_JUDGES: Mapping[str, Callable[..., _Seen]] = {
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
