"""Which file of the earlier run an added file replaces, when a run is run again. Files are matched by name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from django.db import transaction

from runs.contracts.ports import FileInfo
from runs.errors import InvalidInput, PathRefused
from runs.models import Draft, DraftFile
from runs.store import trees
from runs.text.paths import base_name, clashes, clean_path

NOWHERE = "The files have changed since. Look at the list, then choose again."
MAX_CANDIDATES = 5
"""Files with the same name that a person can choose from."""
_MAX_NAMES = 3
"""Files that a sentence lists."""


class InputPlace(NamedTuple):
    """The place of an added file. `sent_as` is the path that it was sent with, if it replaces another file."""

    path: str
    sent_as: str = ""


@dataclass(frozen=True)
class Namesakes:
    """An added file that may replace one of `others`, files of the earlier run with the same name.

    `asked`: a person has to decide, because the file was sent without a folder. A file with a folder is added, unless a
    person says otherwise.
    """

    path: str
    others: Sequence[str]
    asked: bool


class InputPlaces:
    """The places of files that are added to a draft. `before` are the files of the earlier run."""

    def __init__(self, before: Mapping[str, FileInfo], rows: Iterable[DraftFile]) -> None:
        self._before = before
        self._names = _by_name(before)
        self._there: set[str] = set()
        self._sent: dict[str, str] = {}  # places of files that replace others, by the path that they were sent with
        self._sent_as: dict[str, str] = {}  # the reverse
        self._taken: set[str] = set()  # paths that no longer have the file of the earlier run
        for row in rows:
            is_old = not row.sent_as and before.get(row.path) == FileInfo(row.sha256, row.size)
            self._note(InputPlace(row.path, row.sent_as), is_old=is_old)

    def of(self, paths: Iterable[str]) -> dict[str, InputPlace]:
        """The place of each file, by the clean path that it was sent with."""
        # Files with a known path come first, so that no file of another folder takes their place.
        found = {}
        for path in sorted(paths, key=lambda one: one not in self._there and one not in self._before):
            found[path] = self._place(path)
            self._note(found[path], is_old=False)
        return found

    def _note(self, place: InputPlace, *, is_old: bool) -> None:
        self._there.add(place.path)
        self._sent.pop(self._sent_as.pop(place.path, ""), None)
        if place.sent_as:
            self._sent[place.sent_as] = place.path
            self._sent_as[place.path] = place.sent_as
        if not is_old:
            self._taken.add(place.path)

    def _place(self, path: str) -> InputPlace:
        if path in self._there or path in self._before:
            return InputPlace(path)
        if path in self._sent:  # sent again
            return InputPlace(self._sent[path], path)
        same = self._names.get(base_name(path), ())
        if "/" not in path and len(same) == 1 and same[0] not in self._taken:
            return InputPlace(same[0], path)
        return InputPlace(path)


def before_of(draft: Draft) -> Mapping[str, FileInfo]:
    """The files of the run that is run again; none if it was deleted."""
    return trees.files_of(draft.before.inputs) if draft.before else {}


def rows_of(draft: Draft) -> list[DraftFile]:
    return list(draft.files.filter(removed=False).order_by("path"))


def namesakes(before: Mapping[str, FileInfo], rows: Iterable[DraftFile]) -> list[Namesakes]:
    """The added files for which no one has decided whether they replace one with the same name."""
    listed, names = list(rows), _by_name(before)
    answered = {row.path for row in listed if row.sent_as}
    found = []
    for row in listed:
        if row.beside or row.path in before:
            continue
        same = names.get(base_name(row.path), ())
        asked = "/" not in row.path
        if not asked and len(same) > MAX_CANDIDATES:  # a very common name says nothing
            continue
        if others := [path for path in same if path not in answered]:
            found.append(Namesakes(row.path, others[:MAX_CANDIDATES], asked))
    return found


def check_answered(draft: Draft) -> None:
    """Raises InvalidInput if it is still open which file an added file replaces."""
    open_ones = [one for one in namesakes(before_of(draft), rows_of(draft)) if one.asked]
    if open_ones:
        first = open_ones[0]
        more = f" The same is open for {len(open_ones) - 1} more." if len(open_ones) > 1 else ""
        which = _listed(first.others, "or")
        raise InvalidInput(f"Say in the list of files what “{first.path}” replaces: {which}, or none of them.{more}")


def warning(draft: Draft, sent: Iterable[str]) -> str:
    """Sentences about files that are not in the draft yet: which ones they would replace, or may replace.

    `sent` are their paths as sent. Unusable paths are ignored.
    """
    before, paths, found = before_of(draft), [], []
    for raw in sent:
        with suppress(PathRefused):
            paths.append(clean_path(raw))
    names, rows = _by_name(before), rows_of(draft)
    there = {row.path for row in rows}
    for path, place in InputPlaces(before, rows).of(paths).items():
        if place.sent_as:
            found.append(f"“{place.sent_as}” replaces {place.path}.")
        elif "/" not in path and path not in before and path not in there and (same := names.get(base_name(path))):
            found.append(f"“{path}” may replace {_listed(same, 'or')}.")
    more = f" And {len(found) - _MAX_NAMES} more." if len(found) > _MAX_NAMES else ""
    return " ".join(found[:_MAX_NAMES]) + more


def replace(draft: Draft, path: str, other: str) -> None:
    """Let the added file at `path` replace `other` of the earlier run. Raises InvalidInput."""
    with transaction.atomic():
        row = _row(draft, path)
        if row is None or other not in before_of(draft) or base_name(path) != base_name(other):
            raise InvalidInput(NOWHERE)
        draft.files.filter(path=other, removed=False).update(removed=True)
        DraftFile.objects.filter(pk=row.pk).update(path=other, sent_as=row.path, beside=False)


def replace_alike(draft: Draft) -> None:
    """Let all added files replace the only file with their name, if no other added file may replace it."""
    with transaction.atomic():
        rows = {row.path: row for row in rows_of(draft)}
        places = pairs_of(namesakes(before_of(draft), rows.values()))
        draft.files.filter(path__in=list(places.values()), removed=False).update(removed=True)
        moved = [rows[path] for path in places]
        for row in moved:
            row.path, row.sent_as = places[row.path], row.path
        DraftFile.objects.bulk_update(moved, ["path", "sent_as"], batch_size=500)


def pairs_of(found: Iterable[Namesakes]) -> Mapping[str, str]:
    """By path, the file that each would replace, where exactly one file can replace exactly one."""
    single = {one.path: one.others[0] for one in found if not one.asked and len(one.others) == 1}
    meant = Counter(single.values())
    return {path: other for path, other in single.items() if meant[other] == 1}


def keep_both(draft: Draft, path: str) -> None:
    """Let the added file at `path` replace nothing: both files are kept.

    Raises InvalidInput if the two cannot be in the same folder.
    """
    with transaction.atomic():
        row = _row(draft, path)
        if row is None:
            raise InvalidInput(NOWHERE)
        if row.sent_as:
            DraftFile.objects.filter(pk=row.pk).update(path=row.sent_as, sent_as="", beside=True)
            _put(draft, path)
            _check_fits(draft)
        else:
            DraftFile.objects.filter(pk=row.pk).update(beside=True)


def put_back(draft: Draft, path: str) -> None:
    """Put the file of the earlier run back in place of its replacement. Raises InvalidInput."""
    with transaction.atomic():
        if path not in before_of(draft):
            raise InvalidInput(NOWHERE)
        draft.files.filter(path=path, removed=False).update(removed=True)
        _put(draft, path)
        _check_fits(draft)


def _put(draft: Draft, path: str) -> None:
    info = before_of(draft).get(path)
    if info is not None:
        draft.files.create(path=path, sha256=info.sha256, size=info.size)


def _row(draft: Draft, path: str) -> DraftFile | None:
    return draft.files.select_for_update().filter(path=path, removed=False).first()


def _check_fits(draft: Draft) -> None:
    pairs = clashes(draft.files.filter(removed=False).values_list("path", flat=True))
    if pairs:
        one, other = pairs[0]
        raise InvalidInput(f"“{one}” and “{other}” cannot lie in one folder; rename one of the two and add it again.")


def _by_name(paths: Iterable[str]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        found[base_name(path)].append(path)
    return found


def _listed(paths: Sequence[str], word: str) -> str:
    named = list(paths[:_MAX_NAMES]) + ([f"{len(paths) - _MAX_NAMES} more"] if len(paths) > _MAX_NAMES else [])
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} {word} {named[-1]}"
