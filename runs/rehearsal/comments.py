"""Comments the Word documents: each finding at its quote, in the copy of its document."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from runs.pev.contracts import LeftOut, PlanStep
from runs.pev.conversation.turns import MAX_CALLS
from runs.pev.plans.commented import MAX_COPIES, NONE_FOUND, REVIEWED, is_word
from runs.rehearsal import job
from runs.rehearsal.conversation import Call, Conversation, Use
from runs.rehearsal.documents import Document, Limits, documents_in, next_reads
from runs.rehearsal.job import PointEntry, entries_in, gaps_in
from runs.rehearsal.text import QUOTE_CHARS, linked
from runs.text.plural import pluralize, word_for

_OF_THE_TEXT = re.compile(r"[pt]\d")
"""How anchors of paragraphs and tables begin. No comment can be on a footnote or in a header."""


class Comment(NamedTuple):
    """`about`: the id of its finding, or the document for a comment on the document itself."""

    document: str
    quote: str
    words: str
    about: str


@dataclass(frozen=True)
class Copies:
    """The copies that a step has to make, and what its tool calls have read and written so far."""

    step: PlanStep
    conversation: Conversation
    limits: Limits

    @cached_property
    def documents(self) -> list[str]:
        """The documents whose copies the step has to make."""
        return [path.removeprefix(REVIEWED) for path in self.step.outputs]

    @cached_property
    def known(self) -> dict[str, Document]:
        return documents_in(self.conversation.calls, self.limits, [job.OUTPUTS["findings"]])

    @property
    def findings(self) -> Document:
        return self.known[job.OUTPUTS["findings"]]

    @cached_property
    def gaps(self) -> dict[str, str]:
        return gaps_in(self.findings.text, self.documents)

    @cached_property
    def points(self) -> list[PointEntry]:
        return [one for one in entries_in(self.findings.text) if one.document in self.documents and one.quote]

    @property
    def about(self) -> list[str]:
        """The documents that get a comment on themselves: those with a gap and those without points."""
        with_points = {one.document for one in self.points}
        return [path for path in self.documents if path in self.gaps or path not in with_points]

    def reads(self) -> list[Use]:
        """What must be read before commenting can begin: the findings, and the first lines of some documents."""
        if not self.conversation.calls:
            return [("list_files", {"prefix": ""})]
        if pages := next_reads([self.findings], self.limits, self.conversation.turns):
            return pages
        seen = {call.path for call in self.conversation.calls if call.name == "read_file"}
        return [("read_file", {"path": path, "first_line": 1}) for path in self.about if path not in seen]

    @cached_property
    def comments(self) -> list[Comment]:
        """First those on the documents themselves. A document whose first words cannot be had gets none."""
        openings = [_opening(self.known[path], self.gaps.get(path, "")) for path in self.about if path in self.known]
        return [*filter(None, openings), *map(_of, self.points)]

    @cached_property
    def tried(self) -> list[tuple[Comment, Call]]:
        calls = [call for call in self.conversation.calls if call.name == "comment_document"]
        return list(zip(self.comments, calls, strict=False))

    def due_comments(self) -> list[Use]:
        """The next comments; none when each was tried, or at a limit."""
        if self.conversation.turns >= self.limits.turns or "comment_document" not in self.conversation.tools:
            return []
        due = self.comments[len(self.tried) :][:MAX_CALLS]
        return [("comment_document", {"path": one.document, "quote": one.quote, "comment": one.words}) for one in due]

    def left_out(self) -> Iterator[LeftOut]:
        """The findings that are no comment, the copies that say nothing, and the Word documents without a copy."""
        for comment, call in self.tried:
            if call.is_error:
                yield LeftOut(
                    path=REVIEWED + comment.document, why=f"there can be no comment at the place of {comment.about}"
                )
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
        """How many comments each copy has, and what has none and why."""
        counts = Counter(comment.document for comment, call in self.tried if not call.is_error)
        count, copies = counts.total(), pluralize(len(counts), "reviewed copy", "reviewed copies")
        comments = pluralize(count, "comment")
        lines = [f"{comments} {word_for(count, 'was', 'were')} added at the quotes, in {copies}.", ""]
        lines += [
            f"- {linked(REVIEWED + path)}: {pluralize(number, 'comment')} added" for path, number in counts.items()
        ]
        refused = [(comment, call.result) for comment, call in self.tried if call.is_error]
        lines += [f"- {comment.about} has no comment: {why}" for comment, why in refused]
        return "\n".join(lines)


def _of(entry: PointEntry) -> Comment:
    """The comment on a finding. Its quote begins with the name of its paragraph if its citation says that."""
    words = [f"{entry.name} · {entry.title.rstrip('.')}.", entry["Why it matters"], entry["Recommendation"]]
    text = " ".join(filter(None, [*words, f"({job.NO_AI})"]))
    source = re.search(r"\]\([^()\s]*#([^()\s]+)\)", entry["Source"])
    quote = f"[{unquote(source[1])}] {entry.quote}" if source else entry.quote
    return Comment(entry.document, quote, text, entry.name)


def _opening(document: Document, gap: str) -> Comment | None:
    """At its first words: that nothing was found, or what was not reviewed and why."""
    said = f"{gap[:1].upper()}{gap[1:]}." if gap else f"{NONE_FOUND}: the rules found nothing in this document."
    for line in document.lines:
        if line.text.strip() and _OF_THE_TEXT.match(line.anchor):
            quote = f"[{line.anchor}] {line.text.strip()[:QUOTE_CHARS]}"
            return Comment(document.path, quote, f"{said} {job.NOTE}", document.path)
    return None
