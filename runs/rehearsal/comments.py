"""Carries out the step that comments the Word documents: each finding at its quote, in the copy of its document."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from runs.pev.contracts import PlanStep
from runs.pev.plans.commented import NONE_FOUND, REVIEWED
from runs.rehearsal import job
from runs.rehearsal.conversation import Call, Conversation, Use
from runs.rehearsal.documents import CALLS_PER_TURN, Document, due, library
from runs.rehearsal.text import QUOTE_CHARS, linked, number_of

_OF_THE_TEXT = re.compile(r"[pt]\d")
"""How anchors of paragraphs and tables begin; no comment can be on a footnote or in a header."""


@dataclass(frozen=True)
class Comment:
    """One that is to be put into the copy of a document. `finding`: its id, or nothing."""

    document: str
    quote: str
    words: str
    finding: str = ""

    @property
    def use(self) -> Use:
        return "comment_document", {"path": self.document, "quote": self.quote, "comment": self.words}


def reads(step: PlanStep, conversation: Conversation) -> list[Use]:
    """What has to be read before anything can be commented: the findings, and the first lines of what has none."""
    path = job.findings_of(step)
    known = library(conversation.calls, [path])
    if pages := due([known[path]]):
        return pages
    found = {one.document for one in _of_findings(known[path])}
    seen = {call.path for call in conversation.calls if call.name == "read_file"}
    without = [document for document in _documents(step) if document not in found | seen]
    return [("read_file", {"path": document, "first_line": 1}) for document in without]


def wanted(step: PlanStep, conversation: Conversation) -> list[Comment]:
    """All comments, in the order of the findings. A document whose first line cannot be had gets none."""
    known = library(conversation.calls, [job.findings_of(step)])
    documents = _documents(step)
    every = [one for one in _of_findings(known[job.findings_of(step)]) if one.document in documents]
    found = {one.document for one in every}
    openings = (_opening(known[path]) for path in documents if path not in found and path in known)
    return [*every, *(one for one in openings if one)]


def due_comments(comments: Sequence[Comment], conversation: Conversation) -> list[Use]:
    """The next calls; none when each comment was tried."""
    tried = len(_tried(conversation))
    return [comment.use for comment in comments[tried : tried + CALLS_PER_TURN]]


def report(comments: Sequence[Comment], conversation: Conversation) -> str:
    """How many comments each copy has, and which findings have none and why."""
    results = list(zip(comments, _tried(conversation), strict=False))
    made = Counter(comment.document for comment, call in results if not call.is_error)
    placed = sum(not call.is_error for comment, call in results if comment.finding)
    lines = [
        f"{number_of(placed, 'point')} {'stands' if placed == 1 else 'stand'} as comments at the quotes, in "
        f"{number_of(len(made), 'reviewed copy', 'reviewed copies')}.",
        "",
    ]
    lines += [f"- {linked(REVIEWED + path)}: {number_of(count, 'comment')} added" for path, count in made.items()]
    lines += [
        f"- {comment.finding or comment.document} has no comment: {call.result}"
        for comment, call in results
        if call.is_error
    ]
    return "\n".join(lines)


def _tried(conversation: Conversation) -> list[Call]:
    return [call for call in conversation.calls if call.name == "comment_document"]


def _documents(step: PlanStep) -> list[str]:
    """The documents whose copies the step is to make."""
    return [path.removeprefix(REVIEWED) for path in step.outputs]


def _of_findings(findings: Document) -> Iterator[Comment]:
    """Quotes begin with “> ”, so that nothing in a document can pass for an entry."""
    for part in re.split(r"^(?=#{1,3} )", findings.text, flags=re.MULTILINE):
        head = re.match(r"### (F\d+ · .+)", part)
        quote = re.search(r"^> (.+)$", part, re.MULTILINE)
        fields = dict(re.findall(r"^- ([A-Z][a-z ]+): (.+)$", part, re.MULTILINE))
        if head and quote and "Document" in fields:
            why = (fields.get(name, "") for name in ("Why it matters", "Recommendation"))
            words = [head[1].rstrip(".") + ".", *why, f"({job.NO_AI})"]
            yield Comment(
                fields["Document"],
                _anchored(quote[1], fields),
                " ".join(filter(None, words)),
                head[1].partition(" ")[0],
            )


def _anchored(quote: str, fields: Mapping[str, str]) -> str:
    """The quote, behind the name of its paragraph where its citation says that."""
    source = re.search(r"\]\([^()\s]*#([^()\s]+)\)", fields.get("Source", ""))
    return f"[{unquote(source[1])}] {quote}" if source else quote


def _opening(document: Document) -> Comment | None:
    for number, line in sorted(document.own.items()):
        anchor = document.anchor(number, number)
        if line.strip() and _OF_THE_TEXT.match(anchor):
            words = f"{NONE_FOUND}: the rules found nothing in this document. {job.NOTE}"
            return Comment(document.path, f"[{anchor}] {line.strip()[:QUOTE_CHARS]}", words)
    return None
