"""Carries out the step that comments the Word documents: each finding at its quote, in the copy of its document."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from runs.pev.contracts import LeftOut, PlanStep
from runs.pev.plans.commented import MAX_COPIES, NONE_FOUND, REVIEWED, is_word
from runs.rehearsal import job
from runs.rehearsal.conversation import Call, Conversation, Use
from runs.rehearsal.documents import Document, Limits, due, library, unlisted
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


@dataclass(frozen=True)
class Copies:
    """The copies that a step is to make, and what its tool calls have read and written so far."""

    step: PlanStep
    conversation: Conversation
    limits: Limits

    @cached_property
    def documents(self) -> list[str]:
        """The documents whose copies the step is to make."""
        return [path.removeprefix(REVIEWED) for path in self.step.outputs]

    @cached_property
    def known(self) -> dict[str, Document]:
        return library(self.conversation.calls, [job.findings_of(self.step)])

    @cached_property
    def findings(self) -> Document:
        """The file of findings, without which nothing can be said of any document."""
        return self.known[job.findings_of(self.step)]

    @cached_property
    def gaps(self) -> dict[str, str]:
        return gaps_in(self.findings.text, self.documents)

    @cached_property
    def points(self) -> list[PointEntry]:
        return [one for one in entries_in(self.findings.text) if one.document in self.documents and one.quote]

    @property
    def about(self) -> list[str]:
        """The documents that get a comment on themselves: those not reviewed as a whole, then those without points."""
        found = {one.document for one in self.points}
        return sorted(
            (one for one in self.documents if one in self.gaps or one not in found),
            key=lambda one: one not in self.gaps,
        )

    @cached_property
    def comments(self) -> list[Comment]:
        """What was not reviewed, where nothing was found, the first finding of each document, so that each has a copy,
        and the other findings. A document whose first line cannot be had gets none about itself.
        """
        of_findings = [_of(one) for one in self.points]
        openings = [_opening(self.known[one], self.gaps.get(one, "")) for one in self.about if one in self.known]
        first = {one.document: one for one in reversed(of_findings)}
        rest = [one for one in of_findings if one is not first[one.document]]
        return [one for one in (*openings, *first.values(), *rest) if one]

    @cached_property
    def tried(self) -> list[tuple[Comment, Call]]:
        calls = [call for call in self.conversation.calls if call.name == "comment_document"]
        return list(zip(self.comments, calls, strict=False))

    def reads(self) -> list[Use]:
        """What must be read before commenting can begin: the findings, and the first lines of some documents."""
        if not any(call.name == "list_files" for call in self.conversation.calls):
            return [("list_files", {"prefix": ""})]
        if pages := due([self.findings], self.limits.of_own_files, self.conversation.turns):
            return pages
        seen = {call.path for call in self.conversation.calls if call.name == "read_file"}
        uses: list[Use] = [("read_file", {"path": path, "first_line": 1}) for path in self.about if path not in seen]
        return uses[: self.limits.calls] if self.conversation.turns < self.limits.turns else []

    def due_comments(self) -> list[Use]:
        """The next comments; none when each was tried, or at a limit."""
        if self.conversation.turns >= self.limits.turns or "comment_document" not in self.conversation.tools:
            return []
        first = len(self.tried)
        return [comment.use for comment in self.comments[first : first + self.limits.calls]]

    def left_out(self) -> Iterator[LeftOut]:
        """The findings that are no comment, the copies that say nothing, and the Word documents without a copy."""
        if unlisted(self.conversation.calls):
            yield LeftOut(path="", why="no copy with comments: Word files that the list of all files had no room for")
        refused: dict[str, list[str]] = {}
        for comment, call in self.tried:
            if call.is_error:
                refused.setdefault(comment.document, []).append(comment.finding or "its first words")
        for path, places in refused.items():
            yield LeftOut(path=REVIEWED + path, why=f"there can be no comment at the place of {named(places, 20)}")
        for path, count in Counter(comment.document for comment in self.comments[len(self.tried) :]).items():
            why = f"{number_of(count, 'comment')} not written: more than the offline rules write in one attempt"
            yield LeftOut(path=REVIEWED + path, why=why)
        for path in sorted(set(self.documents) - {comment.document for comment in self.comments}):
            yield LeftOut(path=REVIEWED + path, why="it has no comment: the first words of its document cannot be read")
        dismissed = job.left_out(self.step.description, self.known)
        for path in sorted(filter(is_word, self.known.keys() - {*self.documents, *self.step.outputs, *dismissed})):
            if REVIEWED + path in self.known:
                why = f"it has no copy with comments: {REVIEWED}{path} is among the files already"
                yield LeftOut(path=path, why=why)
            elif len(self.documents) >= MAX_COPIES:
                yield LeftOut(path=path, why=f"it has no copy with comments: a review makes {MAX_COPIES} at most")

    def report(self) -> str:
        """How many points each copy has as comments, and which have none and why."""
        added = [comment for comment, call in self.tried if not call.is_error]
        points = Counter(comment.document for comment in added if comment.finding)
        copies, count = dict.fromkeys(comment.document for comment in added), points.total()
        lines = [
            f"{number_of(count, 'point')} {word_for(count, 'stands', 'stand')} as comments at the quotes, in "
            f"{number_of(len(copies), 'reviewed copy', 'reviewed copies')}.",
            "",
        ]
        for path in copies:
            said = [f"{number_of(points[path], 'point')} added as comments"] if points[path] else []
            said += [comment.summary for comment in added if comment.document == path and comment.summary]
            lines.append(f"- {linked(REVIEWED + path)}: {', '.join(said)}")
        missing = [(comment, call.result) for comment, call in self.tried if call.is_error]
        missing += [(one, "there was no time for it in this attempt.") for one in self.comments[len(self.tried) :]]
        lines += [f"- {comment.finding or comment.document} has no comment: {why}" for comment, why in missing]
        return "\n".join(lines)


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
