"""Lines of the audit trail for people: found by a filter, in words, and as CSV and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from runs.enums import AuditChannel, AuditKind
from runs.models import AuditEntry

_AT_ONCE = 1_000
"""Lines in memory at the same time."""
_COLUMNS = (
    *("number", "at", "kind", "by_id", "by", "run_number", "subject", "digest", "details"),
    *("address", "channel", "through", "previous", "hash"),
)
_ORIGIN = frozenset({"address", "channel", "through"})
_COMPUTED = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_SAID = frozenset({"person", "gate_kind", "step", "attempt", "version"})
_NAMES = {"words": "words with hash", "sha256": "file with hash", "name": "", "how": "by", "after": "now"}
_HASHES = frozenset({"words", "sha256"})


@dataclass(frozen=True)
class AuditFilter:
    """Which lines; empty fields narrow nothing. `since` and `until` are days in the current time zone, on pages that of
    the person.
    """

    kind: str = ""
    by: str = ""
    run: int | None = None
    since: date | None = None
    until: date | None = None

    def lines(self) -> QuerySet[AuditEntry]:
        """The newest first."""
        found = AuditEntry.objects.order_by("-number")
        if self.kind:
            found = found.filter(kind=self.kind)
        if self.by:
            found = found.filter(by=self.by)
        if self.run is not None:
            found = found.filter(run_number=self.run)
        if self.since:
            found = found.filter(at__gte=_begin_of(self.since))
        if self.until:
            found = found.filter(at__lt=_begin_of(self.until + timedelta(days=1)))
        return found


def _begin_of(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


@dataclass(frozen=True)
class AuditLine:
    """A line in words."""

    row: AuditEntry

    @property
    def kind(self) -> str:
        return AuditKind(self.row.kind).label if self.row.kind in set(AuditKind) else self.row.kind

    @property
    def who(self) -> str:
        return self.row.by or self.channel

    @property
    def channel(self) -> str:
        known = self.row.channel in set(AuditChannel)
        return AuditChannel(self.row.channel).label if known else self.row.channel

    @property
    def details(self) -> str:
        """What else is known, such as “decision approved · by person”, without what the subject says in words."""
        said = _SAID if self.row.subject else frozenset[str]()
        shown = {
            name: value for name, value in self.row.details.items() if not isinstance(value, dict) and name not in said
        }
        return " · ".join(f"{_name(name)} {_value(name, value)}" for name, value in shown.items())


def _name(field: str) -> str:
    return _NAMES.get(field, field.replace("_", " "))


def _value(field: str, value: Any) -> str:
    return f"{value[:12]}…" if field in _HASHES else str(value)


def as_csv(lines: QuerySet[AuditEntry], *, with_origin: bool) -> Iterator[bytes]:
    """A table with a header. A cell that a spreadsheet would compute begins with an apostrophe."""
    columns = _columns(with_origin=with_origin)
    writer = csv.writer(echo := _Echo())
    writer.writerow(columns)
    yield b"\xef\xbb\xbf" + echo.take()  # spreadsheets take the text for UTF-8 only with this mark
    for rows in _plain(lines, columns):
        writer.writerows([_cell(line[name]) for name in columns] for line in rows)
        yield echo.take()


def as_json(lines: QuerySet[AuditEntry], *, with_origin: bool) -> Iterator[bytes]:
    """A list of objects, one on a line."""
    yield b"["
    for count, rows in enumerate(_plain(lines, _columns(with_origin=with_origin))):
        text = ",\n".join(json.dumps(line, ensure_ascii=False) for line in rows)
        yield ((",\n" if count else "\n") + text).encode()
    yield b"\n]\n"


def _columns(*, with_origin: bool) -> list[str]:
    return [name for name in _COLUMNS if with_origin or name not in _ORIGIN]


def _plain(lines: QuerySet[AuditEntry], columns: list[str]) -> Iterator[list[dict[str, Any]]]:
    """The lines, some at a time, each time by a query of its own: a slow reader of a download holds no transaction and
    no connection.
    """
    there = lines
    while rows := _read(there, columns):
        yield rows
        there = lines.filter(number__lt=rows[-1]["number"])


def facts(lines: QuerySet[AuditEntry], count: int, *, with_origin: bool) -> list[dict[str, Any]]:
    """The first lines, with the fields of the JSON file."""
    return _facts(lines, _columns(with_origin=with_origin), count)


def _facts(lines: QuerySet[AuditEntry], columns: list[str], count: int) -> list[dict[str, Any]]:
    return [{**line, "at": line["at"].isoformat()} for line in lines.values(*columns)[:count]]


def _read(lines: QuerySet[AuditEntry], columns: list[str]) -> list[dict[str, Any]]:
    try:
        return _facts(lines, columns, _AT_ONCE)
    finally:
        if not connection.in_atomic_block:  # it is one of the thread that reads these lines, and of no request
            connection.close()


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_COMPUTED) else text


class _Echo:
    """Where a csv.writer writes one row at a time."""

    def __init__(self) -> None:
        self._text = ""

    def write(self, text: str) -> None:
        self._text += text

    def take(self) -> bytes:
        text, self._text = self._text, ""
        return text.encode()
