"""Whole clause numbers, such as "4.2(b)", from the labels that stand before a paragraph and before those above it."""

import re
from typing import NamedTuple

from runs.documents.formats.docx.numbering import Numbered

_MAX_OPEN = 20
_MAX_CLAUSE = 100
_WORD = re.compile(r"(?:section|clause|article|paragraph|sec\.|art\.|§+)\s*(?=\S)", re.IGNORECASE)
"""What people leave out when they name a clause: "Section 4.2" is 4.2. An annex or a schedule keeps its word."""
_PART = re.compile(r"\(\w{1,8}\)|[a-z]{1,8}[.)]|[0-9]{1,3}\)|[A-Z]\)")
"""Labels that mean nothing without the clause they are in, in whichever list they are: (a), (1), iv., b), 2), A)."""


_TITLE = re.compile(r"[^\W\d]{3,}\s|§")
"""Labels that begin with a word: what was open before ends there."""


class _Open(NamedTuple):
    """A clause that the next paragraph may be a part of. `is_part`: it is a part of the one before it."""

    key: str
    level: int
    shape: str
    clause: str
    is_part: bool


class Clauses:
    """Asked for each numbered paragraph, in the order of the text."""

    def __init__(self) -> None:
        self._open: list[_Open] = []

    def clause(self, numbered: Numbered) -> str:
        """Its whole number; empty where there is none, as for a bullet."""
        if not numbered.shape or not numbered.label:
            return ""
        self._close(numbered)
        own = _WORD.sub("", numbered.label, count=1).rstrip(".")
        above = self._open[-1] if self._open else None
        is_part = above is not None and (
            (above.key == numbered.key and not numbered.goes_on) or _PART.fullmatch(numbered.label) is not None
        )
        clause = _joined(above.clause, own) if above and is_part and not numbered.is_whole else own
        if above and not is_part and _TITLE.match(numbered.label):
            self._open.clear()
        self._open.append(_Open(numbered.key, numbered.level, numbered.shape, clause[:_MAX_CLAUSE], is_part))
        del self._open[:-_MAX_OPEN]
        return clause[:_MAX_CLAUSE]

    def _close(self, numbered: Numbered) -> None:
        """Leave open what this one may be a part of: its own list's levels above it, or what was open before its list
        began. A new list that looks like an open one takes its place, unless another clause began in between.
        """
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at].key == numbered.key and self._open[at].level < numbered.level:
                del self._open[at + 1 :]
                return
        for at, one in enumerate(self._open):
            if one.key == numbered.key or one.shape == numbered.shape:
                if not numbered.begins or all(other.is_part for other in self._open[at + 1 :]):
                    del self._open[at:]
                return


def _joined(above: str, own: str) -> str:
    if own.startswith("("):
        return f"{above}{own}"
    return f"{above} {own}" if own.endswith(")") else f"{above}.{own}"
