"""Accounts for every given document: whether a step has looked at it, as a whole or in part, and why not.

Its file, its report and the open points of the run are all made from this one value.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from runs.pev.contracts import LeftOut
from runs.rehearsal.documents import Document, Limits
from runs.rehearsal.text import named, number_of
from runs.text.truncate import truncate_line

_UNREAD_CHARS = 200
"""A reason is one line of a contract, with room for the others."""
TOO_LONG = "too long for the offline rules"


class Share(StrEnum):
    """How much of a document was looked at. The values are words for people."""

    WHOLE = "reviewed"
    PART = "not reviewed as a whole"
    NOTHING = "not reviewed"
    DISMISSED = "left out, by feedback"


@dataclass(frozen=True)
class Entry:
    """One document. `why`: the reason why it, or a part of it, was not looked at."""

    document: Document
    share: Share
    why: str = ""

    @property
    def note(self) -> str:
        """Nothing for a document that was reviewed as a whole."""
        if self.share is Share.WHOLE:
            return ""
        return f"{self.share}: {self.why}" if self.why else str(self.share)


@dataclass(frozen=True)
class Account:
    """One entry for each document of the task, and the number of files that no tool has listed."""

    entries: Sequence[Entry]
    unlisted: int = 0

    @property
    def looked_at(self) -> list[Document]:
        """The documents that were reviewed, as a whole or in part."""
        return [one.document for one in self.entries if one.share in {Share.WHOLE, Share.PART}]

    @property
    def left_out(self) -> list[LeftOut]:
        """What was not looked at although no person has said so."""
        left = [
            LeftOut(path=one.document.path, why=one.note)
            for one in self.entries
            if one.share in {Share.NOTHING, Share.PART}
        ]
        if self.unlisted:
            left.append(LeftOut(path="", why="not reviewed: files that the list of all files had no room for"))
        return left

    @property
    def shortfall(self) -> str:
        """A clause such as “not reviewed: a.md and 3 more”, or nothing."""
        paths = defaultdict[Share, list[str]](list)
        for one in self.entries:
            paths[one.share].append(one.document.path)
        clauses = [f"{share}: {named(paths[share], 5)}" for share in (Share.NOTHING, Share.PART) if paths[share]]
        if self.unlisted:
            clauses.append(f"not listed: {number_of(self.unlisted, 'more file')}")
        return "; ".join(clauses)


def account_of(documents: Iterable[tuple[Document, bool]], unlisted: int, limits: Limits) -> Account:
    """`documents`: each with whether a person has left it out."""
    return Account([_entry(one, dismissed, limits) for one, dismissed in documents], unlisted)


def _entry(document: Document, dismissed: bool, limits: Limits) -> Entry:
    if dismissed:
        return Entry(document, Share.DISMISSED)
    if document.refused:
        return Entry(document, Share.NOTHING, "it cannot be read as text")
    if document.total is None:
        too_long = document.size > limits.characters and not document.is_format
        reason = TOO_LONG if too_long else "with the other documents it is more than the offline rules read"
        return Entry(document, Share.NOTHING, reason)
    unread = truncate_line(document.unread.rstrip("."), _UNREAD_CHARS)
    if not document.missing and not document.cut:
        return Entry(document, Share.PART if unread else Share.WHOLE, unread)
    seen = len(document.lines) - len(document.cut)
    reasons = [f"{seen:,} of {document.total:,} lines were read"]
    if document.missing:
        reasons.append(f"the rest is {TOO_LONG}")
    if document.cut:
        reasons.append(f"of {number_of(len(document.cut), 'very long line')} only the beginning was")
    return Entry(document, Share.PART, "; ".join(filter(None, [unread, ", ".join(reasons)])))
