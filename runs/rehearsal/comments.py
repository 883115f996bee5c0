"""Carries out the step that comments the Word documents: each finding at its quote, in the copy of its document."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from runs.pev.contracts import LeftOut, PlanStep
from runs.pev.plans.commented import MAX_COPIES, NONE_FOUND, REVIEWED, is_word
from runs.rehearsal import job
from runs.rehearsal.conversation import Call, Conversation, Use
from runs.rehearsal.documents import Account, Document, Limits, account_of, due, library, unlisted
from runs.rehearsal.job import PointEntry, entries_in, gaps_in
from runs.rehearsal.text import QUOTE_CHARS, linked, named, number_of
from runs.text.plural import word_for

_OF_THE_TEXT = re.compile(r"[pt]\d")
"""How anchors of paragraphs and tables begin; no comment can be on a footnote or in a header."""


@dataclass(frozen=True)
class Comment:
    """A comment for the copy of a document. `finding`: its id, or nothing. `summary`: what is reported of
    one that is on no finding.
    """

    document: str
    quote: str
    words: str
    finding: str = ""
    summary: str = ""

    @property
    def use(self) -> Use:
        return "comment_document", {"path": self.document, "quote": self.quote, "comment": self.words}


def reads(step: PlanStep, conversation: Conversation, limits: Limits) -> list[Use]:
    """What has to be read before anything can be commented: the findings, and the first lines of the documents that
    have none or were not reviewed as a whole.
    """
    if not any(call.name == "list_files" for call in conversation.calls):
        return [("list_files", {"prefix": ""})]
    findings = library(conversation.calls, [path := job.findings_of(step)])[path]
    if pages := due([findings], limits.of_own_files, conversation.turns):
        return pages
    documents = _documents(step)
    gaps, found = gaps_in(findings.text, documents), {one.document for one in entries_in(findings.text)}
    seen = {call.path for call in conversation.calls if call.name == "read_file"}
    unseen = [path for path in documents if (path in gaps or path not in found) and path not in seen]
    uses: list[Use] = [("read_file", {"path": path, "first_line": 1}) for path in unseen]
    return uses[: limits.calls] if conversation.turns < limits.turns else []


def findings_of(step: PlanStep, conversation: Conversation, limits: Limits) -> Account:
    """Accounts for the file of findings, without which nothing can be said of any document."""
    path = job.findings_of(step)
    return account_of([(library(conversation.calls, [path])[path], False)], 0, limits)


def wanted(step: PlanStep, conversation: Conversation) -> list[Comment]:
    """All comments: what was not reviewed, where nothing was found, the first finding of each document, so that each
    has a copy, and the other findings. A document whose first line cannot be had gets none about itself.
    """
    known = library(conversation.calls, [path := job.findings_of(step)])
    text, documents = known[path].text, _documents(step)
    of_findings = [_of(one) for one in entries_in(text) if one.document in documents and one.quote]
    gaps, found = gaps_in(text, documents), {one.document for one in of_findings}
    about = sorted((one for one in documents if one in gaps or one not in found), key=lambda one: one not in gaps)
    openings = [_opening(known[one], gaps.get(one, "")) for one in about if one in known]
    first = {one.document: one for one in reversed(of_findings)}
    rest = [one for one in of_findings if one is not first[one.document]]
    return [one for one in (*openings, *first.values(), *rest) if one]


def due_comments(comments: Sequence[Comment], conversation: Conversation, limits: Limits) -> list[Use]:
    """The next calls; none when each comment was tried, or at a limit."""
    if conversation.turns >= limits.turns or "comment_document" not in conversation.tools:
        return []
    tried = len(_tried(conversation))
    return [comment.use for comment in comments[tried : tried + limits.calls]]


def left_out(step: PlanStep, comments: Sequence[Comment], conversation: Conversation) -> Iterator[LeftOut]:
    """The findings that are no comment, the copies that say nothing, and the Word documents without a copy."""
    documents = _documents(step)
    known = library(conversation.calls, ())
    if unlisted(conversation.calls):
        yield LeftOut(path="", why="no copy with comments: Word files that the list of all files had no room for")
    calls = _tried(conversation)
    refused: dict[str, list[str]] = {}
    for comment, call in zip(comments, calls, strict=False):
        if call.is_error:
            refused.setdefault(comment.document, []).append(comment.finding or "its first words")
    for path, places in refused.items():
        yield LeftOut(path=REVIEWED + path, why=f"there can be no comment at the place of {named(places, 20)}")
    untried = Counter(comment.document for comment in comments[len(calls) :])
    for path, count in untried.items():
        why = f"{number_of(count, 'comment')} not written: more than the offline rules write in one attempt"
        yield LeftOut(path=REVIEWED + path, why=why)
    for path in sorted(set(documents) - {comment.document for comment in comments}):
        yield LeftOut(path=REVIEWED + path, why="it has no comment: the first words of its document cannot be read")
    dismissed = job.left_out(step.description, known)
    without = (path for path in known if is_word(path) and path not in {*documents, *step.outputs, *dismissed})
    for path in without:
        if REVIEWED + path in known:
            yield LeftOut(path=path, why=f"it has no copy with comments: {REVIEWED}{path} is among the files already")
        elif len(documents) >= MAX_COPIES:
            yield LeftOut(path=path, why=f"it has no copy with comments: a review makes {MAX_COPIES} at most")


def report(comments: Sequence[Comment], conversation: Conversation) -> str:
    """How many points each copy has as comments, and which have none and why."""
    calls = _tried(conversation)
    added = [comment for comment, call in zip(comments, calls, strict=False) if not call.is_error]
    points = Counter(comment.document for comment in added if comment.finding)
    copies = dict.fromkeys(comment.document for comment in added)
    count = points.total()
    lines = [
        f"{number_of(count, 'point')} {word_for(count, 'stands', 'stand')} as comments at the quotes, in "
        f"{number_of(len(copies), 'reviewed copy', 'reviewed copies')}.",
        "",
    ]
    for path in copies:
        said = [f"{number_of(points[path], 'point')} added as comments"] if points[path] else []
        said += [comment.summary for comment in added if comment.document == path and comment.summary]
        lines.append(f"- {linked(REVIEWED + path)}: {', '.join(said)}")
    for number, comment in enumerate(comments):
        if number >= len(calls) or calls[number].is_error:
            why = calls[number].result if number < len(calls) else "there was no time for it in this attempt."
            lines.append(f"- {comment.finding or comment.document} has no comment: {why}")
    return "\n".join(lines)


def _tried(conversation: Conversation) -> list[Call]:
    return [call for call in conversation.calls if call.name == "comment_document"]


def _documents(step: PlanStep) -> list[str]:
    """The documents whose copies the step is to make."""
    return [path.removeprefix(REVIEWED) for path in step.outputs]


def _of(entry: PointEntry) -> Comment:
    words = [f"{entry.name} · {entry.title.rstrip('.')}.", entry["Why it matters"], entry["Recommendation"]]
    text = " ".join(filter(None, [*words, f"({job.NO_AI})"]))
    return Comment(entry.document, _anchored(entry.quote, entry["Source"]), text, entry.name)


def _anchored(quote: str, citation: str) -> str:
    """The quote, behind the name of its paragraph where its citation says that."""
    source = re.search(r"\]\([^()\s]*#([^()\s]+)\)", citation)
    return f"[{unquote(source[1])}] {quote}" if source else quote


def _opening(document: Document, gap: str = "") -> Comment | None:
    """At its first words: that nothing was found, or what was not reviewed and why."""
    for number, line in sorted(document.lines.items()):
        anchor = document.anchor(number, number)
        if line.strip() and _OF_THE_TEXT.match(anchor):
            said = f"{NONE_FOUND}: the rules found nothing in this document."
            words = f"{gap[:1].upper()}{gap[1:]}." if gap else said
            summary = "a comment says what was not reviewed" if gap else "a comment says that nothing was found"
            quote = f"[{anchor}] {line.strip()[:QUOTE_CHARS]}"
            return Comment(document.path, quote, f"{words} {job.NOTE}", summary=summary)
    return None
