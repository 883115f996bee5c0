"""Calendar invitations in mails (iCalendar) as lines: title, time and zone, place, organiser and attendees."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from icalendar import Calendar

from runs.documents.formats.eml.mails import MailLine
from runs.errors import InvalidInput

MAX_CHARACTERS = 500_000
"""Of all calendars of a mail."""
MAX_EVENTS = 20  # of a calendar, and repetition rules of an event
MAX_PEOPLE = 100  # who attend an event
_MAX_VALUE = 10_000  # characters
_BROKEN = (ValueError, TypeError, KeyError, AttributeError, IndexError, LookupError, OverflowError, RecursionError)
"""Raised by icalendar on damaged calendars, as found by fuzzing."""
type _Component = Any  # of icalendar, whose values have no common type
_TITLES = {
    "REQUEST": "Invitation",
    "CANCEL": "Cancelled",
    "REPLY": "Answer to an invitation",
    "COUNTER": "Other proposal for an invitation",
    "DECLINECOUNTER": "Declined proposal for an invitation",
    "REFRESH": "Question for the newest version of an invitation",
    "ADD": "More dates of an invitation",
}
_ANSWERS = {"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "tentative", "DELEGATED": "delegated"}


def lines_of(text: str) -> list[MailLine]:
    """Returns the events of a calendar as lines. Raises InvalidInput if no event can be read."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput("is a calendar that is too long")
    try:
        found = [MailLine(line) for line in _lines(Calendar.from_ical(text))]
    except _BROKEN as error:
        raise InvalidInput("is a damaged calendar") from error
    if not found:
        raise InvalidInput("is a calendar without an event")
    return found


def _lines(calendar: _Component) -> Iterator[str]:
    events = [one for one in calendar.walk() if one.name in {"VEVENT", "VTODO"}]
    method = _text(calendar, "METHOD").upper()
    for number, event in enumerate(events[:MAX_EVENTS]):
        if number:
            yield ""
        yield from _event(event, method)
    if len(events) > MAX_EVENTS:
        yield f"and {len(events) - MAX_EVENTS:,} more events"


def _event(event: _Component, method: str) -> Iterator[str]:
    yield f"{_title(event, method)}: {_text(event, 'SUMMARY') or 'without a title'}"
    if when := _when(event):
        yield f"When: {when}"
    for name, label in (("RECURRENCE-ID", "Instead of"), ("DUE", "Due")):
        if name in event:
            yield f"{label}: {_moment(event[name])}"
    if "RRULE" in event:
        rules = event["RRULE"] if isinstance(event["RRULE"], list) else [event["RRULE"]]
        yield f"Repeats: {'; '.join(rule.to_ical().decode()[:_MAX_VALUE] for rule in rules[:MAX_EVENTS])}"
    if place := _text(event, "LOCATION"):
        yield f"Where: {place}"
    if "ORGANIZER" in event:
        yield f"Organizer: {_person(event['ORGANIZER'])}"
    if people := _attendees(event):
        yield f"Attendees: {', '.join(people)}"
    if words := str(event.get("DESCRIPTION", "")).strip():
        yield "Description:"
        yield from words.replace("\r\n", "\n").split("\n")


def _title(event: _Component, method: str) -> str:
    version = _text(event, "SEQUENCE")
    if _text(event, "STATUS").upper() == "CANCELLED":
        return _TITLES["CANCEL"]
    title = _TITLES.get(method, "Event")
    is_updated = method == "REQUEST" and version.isdecimal() and int(version) > 0
    return f"Updated invitation (version {version})" if is_updated else title


def _when(event: _Component) -> str:
    if "DTSTART" not in event:
        return ""
    start, end, duration = (_time(event.get(name)) for name in ("DTSTART", "DTEND", "DURATION"))
    if not isinstance(start, date):  # violates the standard
        return _text(event, "DTSTART")
    if end is None and isinstance(duration, timedelta):
        end = start + duration
    if not isinstance(start, datetime):
        last = end - timedelta(days=1) if isinstance(end, date) else start
        return f"{_day(start)}{f' to {_day(last)}' if last > start else ''}, all day"
    zone = _zone(event["DTSTART"])
    if not isinstance(end, datetime) or end == start:
        return f"{_day(start)}, {start:%H:%M}, {zone}"
    other = _zone(event["DTEND"]) if "DTEND" in event else zone
    day = "" if end.date() == start.date() else f"{_day(end)}, "
    if other != zone:
        return f"{_day(start)}, {start:%H:%M}, {zone}, to {day}{end:%H:%M}, {other}"
    return f"{_day(start)}, {start:%H:%M} to {day}{end:%H:%M}, {zone}"


def _moment(value: Any) -> str:
    moment = _time(value)
    if not isinstance(moment, date):
        return str(value)[:_MAX_VALUE]
    return f"{_day(moment)}, {moment:%H:%M}, {_zone(value)}" if isinstance(moment, datetime) else _day(moment)


def _time(value: Any) -> Any:
    """Returns a date, a time or a duration, or None."""
    try:
        return value.dt
    except (AttributeError, ValueError):
        return None


def _day(day: date) -> str:
    return f"{day:%a} {day.day} {day:%b} {day.year:04d}"


def _zone(value: Any) -> str:
    """Returns the zone as it is written, with its offset from UTC on that day if it is known."""
    moment: datetime = value.dt
    name = str(value.params.get("TZID", ""))[:_MAX_VALUE]
    offset = moment.utcoffset()
    if offset is None:
        return name or "in no zone that is said"
    minutes = round(abs(offset).total_seconds() / 60)
    sign = "-" if offset < timedelta(0) else "+"
    distance = f"UTC{sign}{minutes // 60:02d}:{minutes % 60:02d}" if minutes else "UTC"
    return f"{name} ({distance})" if name and name != distance else distance


def _attendees(event: _Component) -> Sequence[str]:
    found = event.get("ATTENDEE", [])
    people = found if isinstance(found, list) else [found]
    named = [_person(one) + _answer(one) for one in people[:MAX_PEOPLE]]
    return [*named, *([f"and {len(people) - MAX_PEOPLE:,} more"] if len(people) > MAX_PEOPLE else [])]


def _answer(person: Any) -> str:
    said = [_ANSWERS.get(str(person.params.get("PARTSTAT", "")).upper(), "")]
    said.append("optional" if str(person.params.get("ROLE", "")).upper() == "OPT-PARTICIPANT" else "")
    shown = ", ".join(filter(None, said))
    return f" ({shown})" if shown else ""


def _person(value: Any) -> str:
    address = str(value)[:_MAX_VALUE]
    address = address[len("mailto:") :] if address.lower().startswith("mailto:") else address
    name = " ".join(str(value.params.get("CN", ""))[:_MAX_VALUE].split())
    return f"{name} <{address}>" if name and name != address else address


def _text(component: _Component, name: str) -> str:
    """Returns the value as one line."""
    return " ".join(str(component.get(name, ""))[:_MAX_VALUE].split())
