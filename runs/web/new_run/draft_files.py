"""The files of a form before it is submitted, as the page lists them: first those that need an answer or a look."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.urls import reverse

from runs.contracts.ports import FileInfo
from runs.documents.encodings import CODECS
from runs.models import Draft, DraftFile, Tree, User
from runs.store import trees
from runs.submission import input_replacement, submission_drafts
from runs.submission.input_replacement import Namesakes
from runs.submission.intake import RefusedUpload

BETWEEN = "//"
"""Between two paths in the value of a button: no path of a file has it."""
GUESSED = "guessed"
"""In place of a codec: the content as it was given."""


MAX_ROWS = 200
MAX_NAMED = 20
MAX_CHOICES = 50
"""Files for which another encoding is offered at a time."""


@dataclass(frozen=True)
class DraftFileRow:
    """A file of the list; `problem` is why it cannot be read, as a clause behind its name.

    Of a document `extent` is how much it is ("12 pages"), and `notes` say what of it cannot be read. `cautions` say
    what is doubtful about its text or its name. `reading`: it is being read. `encoding`: the one that a person has
    chosen for it. `encodings`: those that may be chosen, as values of a field and names.

    Beside files of a run before: `news` is “new” or “changed”, `sent_as` its own name where it replaces another, and
    `namesakes` has those that it may replace.
    """

    path: str
    size: int
    problem: str
    extent: str = ""
    notes: Sequence[str] = ()
    reading: bool = False
    news: str = ""
    sent_as: str = ""
    namesakes: Namesakes | None = None
    cautions: Sequence[str] = ()
    encoding: str = ""
    encodings: Sequence[tuple[str, str]] = ()

    @property
    def order(self) -> tuple[bool, bool, bool, bool, bool, str]:
        asked = self.namesakes is not None and self.namesakes.asked
        return (not asked, not self.problem, not self.notes, not self.cautions, not self.news, self.path)


@dataclass(frozen=True)
class DraftFiles:
    """`refused`: what was sent last and not taken. `left_out`: paths that may hold secrets, so they were not sent.

    `begun`: there is a draft; else the files, if any, are those that it would begin with. `gone`: files of the run
    before that it has no more.
    """

    token: uuid.UUID
    rows: Sequence[DraftFileRow]
    refused: Sequence[RefusedUpload] = ()
    left_out: Sequence[str] = ()
    begun: bool = False
    gone: Sequence[str] = ()

    @property
    def shown_gone(self) -> Sequence[str]:
        return self.gone[:MAX_NAMED]

    @property
    def more_gone(self) -> int:
        return max(0, len(self.gone) - MAX_NAMED)

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def size(self) -> int:
        return sum(row.size for row in self.rows)

    @property
    def alike(self) -> int:
        """Files that may replace the only one of their name in another folder."""
        return len(input_replacement.pairs_of(row.namesakes for row in self.rows if row.namesakes))

    @property
    def unread(self) -> int:
        return sum(1 for row in self.rows if row.problem)

    @property
    def partly(self) -> int:
        """Files that can be read only in part."""
        return sum(1 for row in self.rows if row.notes)

    @property
    def doubtful(self) -> int:
        """Files whose text or name is doubtful."""
        return sum(1 for row in self.rows if row.cautions)

    @property
    def reading(self) -> int:
        return sum(1 for row in self.rows if row.reading)

    @property
    def shown(self) -> Sequence[DraftFileRow]:
        return self.rows[:MAX_ROWS]

    @property
    def more(self) -> int:
        return max(0, self.count - MAX_ROWS)

    @property
    def named_left_out(self) -> Sequence[str]:
        return self.left_out[:MAX_NAMED]

    @property
    def more_left_out(self) -> int:
        return max(0, len(self.left_out) - MAX_NAMED)


def draft_files(
    owner: User, token: uuid.UUID, refused: Sequence[RefusedUpload] = (), given: Tree | None = None
) -> DraftFiles:
    """The content of the draft with this token. If this person has none, what it would begin with."""
    draft = submission_drafts.of(owner).filter(token=token).first()
    if draft is None:
        return DraftFiles(token, rows_of(trees.files_of(given)) if given else (), refused)
    secrets = [one.path for one in refused if one.secret]
    left_out = list(dict.fromkeys([*secrets, *draft.left_out]))
    taken_back = [one for one in refused if not one.secret]
    before, there = input_replacement.before_of(draft), submission_drafts.files_of(draft)
    rows = rows_of(there, before or None, input_replacement.rows_of(draft))
    gone = sorted(before.keys() - there.keys())
    return DraftFiles(token, rows, taken_back, left_out, begun=True, gone=gone)


def rows_of(
    files: Mapping[str, FileInfo], before: Mapping[str, FileInfo] | None = None, drafted: Sequence[DraftFile] = ()
) -> list[DraftFileRow]:
    """The files in the order of the page: first those that need an answer, then unreadable ones and those that differ
    from the run before, then by path.
    """
    known = submission_drafts.readings_of(files)
    own = {row.path: row for row in drafted}
    same = {one.path: one for one in input_replacement.namesakes(before or {}, drafted)}
    rows = [
        DraftFileRow(
            path,
            info.size,
            "" if info.sha256 in known.waiting else known.problems.get(info.sha256, ""),
            known.extents.get(info.sha256, ""),
            known.notes.get(info.sha256, ()),
            info.sha256 in known.waiting,
            "" if before is None or before.get(path) == info else "changed" if path in before else "new",
            own[path].sent_as if path in own else "",
            same.get(path),
            [*known.cautions.get(info.sha256, ()), *([own[path].caution] if path in own and own[path].caution else [])],
            own[path].encoding if path in own else "",
        )
        for path, info in files.items()
    ]
    rows.sort(key=lambda row: row.order)
    guessed = {path for path, info in files.items() if known.has_guessed(info.sha256)}
    offered = [row for row in rows if row.encoding or row.path in guessed][:MAX_CHOICES]
    offers = {row.path: _encodings(row) for row in offered}
    return [replace(row, encodings=offers.get(row.path, ())) for row in rows]


def _encodings(row: DraftFileRow) -> list[tuple[str, str]]:
    """The encodings that a person may choose for a file."""
    others = sorted((name, codec) for codec, name in CODECS.items() if name != row.encoding)
    guess = [(f"{row.path}{BETWEEN}{GUESSED}", "as it is guessed")] if row.encoding else []
    return [*guess, *((f"{row.path}{BETWEEN}{codec}", name) for name, codec in others)]


@dataclass(frozen=True)
class Unfinished:
    """A draft that was left, for a line with a way back to it."""

    draft: Draft
    files: Sequence[str]

    @property
    def names(self) -> str:
        more = len(self.files) - 2
        return ", ".join(self.files[:2]) + (f" and {more} more" if more > 0 else "")

    @property
    def address(self) -> str:
        """The address of the form with this draft."""
        again = self.draft.before_id
        form = reverse("run_again_with", args=[again]) if again else reverse("new_run")
        return f"{form}?draft={self.draft.token}"


def unfinished(owner: User, but: uuid.UUID) -> list[Unfinished]:
    """The drafts of a person with files in them, apart from the one that is open."""
    others = submission_drafts.of(owner).exclude(token=but).prefetch_related("files")
    listed = [(draft, sorted(file.path for file in draft.files.all() if not file.removed)) for draft in others]
    return [Unfinished(draft, paths) for draft, paths in listed if paths]
