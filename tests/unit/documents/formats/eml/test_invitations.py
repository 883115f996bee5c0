"""Calendar invitations: what, when and in which zone, where, who, and whether it is new, updated or cancelled."""

import random

import pytest

from runs.documents.formats.eml.invitations import MAX_CHARACTERS, MAX_EVENTS, MAX_PEOPLE, lines_of
from runs.errors import InvalidInput
from tests.hostile.bounds import within

ZONE = """BEGIN:VTIMEZONE
TZID:Customized Time Zone
BEGIN:STANDARD
DTSTART:16010101T000000
TZOFFSETFROM:+0530
TZOFFSETTO:+0530
END:STANDARD
END:VTIMEZONE
"""


def calendar(*events: str, method: str = "REQUEST", zone: str = "") -> str:
    made = "".join(f"BEGIN:VEVENT\n{event}\nEND:VEVENT\n" for event in events)
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nMETHOD:{method}\n{zone}{made}END:VCALENDAR\n"


def said(event: str, method: str = "REQUEST", zone: str = "") -> list[str]:
    return [line.text for line in lines_of(calendar(event, method=method, zone=zone))]


@pytest.mark.parametrize(
    ("times", "when"),
    [
        ("DTSTART:20261120T100000Z\nDTEND:20261120T113000Z", "Fri 20 Nov 2026, 10:00 to 11:30, UTC"),
        ("DTSTART:20261120T100000\nDTEND:20261120T110000", "Fri 20 Nov 2026, 10:00 to 11:00, in no zone that is said"),
        (
            "DTSTART;TZID=Pacific Standard Time:20260720T100000\nDURATION:PT1H30M",
            "Mon 20 Jul 2026, 10:00 to 11:30, Pacific Standard Time (UTC-07:00)",
        ),
        (
            "DTSTART;TZID=Customized Time Zone:20261120T233000\nDTEND;TZID=Customized Time Zone:20261121T003000",
            "Fri 20 Nov 2026, 23:30 to Sat 21 Nov 2026, 00:30, Customized Time Zone (UTC+05:30)",
        ),
        (
            "DTSTART;TZID=Europe/Berlin:20261120T100000\nDTEND;TZID=Europe/London:20261120T110000",
            "Fri 20 Nov 2026, 10:00, Europe/Berlin (UTC+01:00), to 11:00, Europe/London (UTC)",
        ),
        ("DTSTART;VALUE=DATE:20261120\nDTEND;VALUE=DATE:20261121", "Fri 20 Nov 2026, all day"),
        ("DTSTART;VALUE=DATE:20261120\nDTEND;VALUE=DATE:20261123", "Fri 20 Nov 2026 to Sun 22 Nov 2026, all day"),
        ("DTSTART;VALUE=DATE:20261120", "Fri 20 Nov 2026, all day"),
        ("DTSTART:20261120T100000Z", "Fri 20 Nov 2026, 10:00, UTC"),
        ("DTSTART:tomorrow", "tomorrow"),
    ],
)
def test_the_time_is_told_with_its_zone(times: str, when: str) -> None:
    assert said(f"SUMMARY:Talk\n{times}", zone=ZONE) == ["Invitation: Talk", f"When: {when}"]


@pytest.mark.parametrize(
    ("method", "more", "title"),
    [
        ("REQUEST", "SEQUENCE:0", "Invitation: Talk"),
        ("REQUEST", "SEQUENCE:2", "Updated invitation (version 2): Talk"),
        ("REQUEST", "STATUS:CANCELLED", "Cancelled: Talk"),
        ("CANCEL", "SEQUENCE:3", "Cancelled: Talk"),
        ("REPLY", "SEQUENCE:1", "Answer to an invitation: Talk"),
        ("COUNTER", "SEQUENCE:1", "Other proposal for an invitation: Talk"),
        ("PUBLISH", "SEQUENCE:1", "Event: Talk"),
        ("", "SEQUENCE:x", "Event: Talk"),
    ],
)
def test_it_is_told_what_is_new(method: str, more: str, title: str) -> None:
    assert said(f"SUMMARY:Talk\n{more}", method) == [title]


def test_people_places_and_rules_are_told() -> None:
    event = (
        "SUMMARY;LANGUAGE=de:Miete\\; Fl\n äche\nLOCATION:Room 5\\, Köln\n"
        'ORGANIZER;CN="Doe, Alice":MAILTO:alice@example.com\n'
        "ATTENDEE;CN=Bob;PARTSTAT=DECLINED;ROLE=OPT-PARTICIPANT:mailto:bob@example.com\n"
        "ATTENDEE;CN=carl@example.com:mailto:carl@example.com\nRRULE:FREQ=WEEKLY;COUNT=5\n"
        "RECURRENCE-ID:20261120T100000Z\nDESCRIPTION:First\\nSecond"
    )
    assert said(event) == [
        "Invitation: Miete; Fläche",
        "Instead of: Fri 20 Nov 2026, 10:00, UTC",
        "Repeats: FREQ=WEEKLY;COUNT=5",
        "Where: Room 5, Köln",
        "Organizer: Doe, Alice <alice@example.com>",
        "Attendees: Bob <bob@example.com> (declined, optional), carl@example.com",
        "Description:",
        "First",
        "Second",
    ]


def test_many_events_and_people_are_counted() -> None:
    lines = [line.text for line in lines_of(calendar(*["SUMMARY:Talk"] * (MAX_EVENTS + 5)))]
    assert (lines.count("Invitation: Talk"), lines[-1]) == (MAX_EVENTS, "and 5 more events")
    people = "\n".join(f"ATTENDEE:mailto:p{number}@example.com" for number in range(MAX_PEOPLE + 7))
    assert said(f"SUMMARY:Talk\n{people}")[-1].endswith(", and 7 more")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is a damaged calendar|without an event"),
        ("nonsense", "is a damaged calendar"),
        (calendar(), "is a calendar without an event"),
        ("x" * (MAX_CHARACTERS + 1), "is a calendar that is too long"),
    ],
)
def test_what_is_none_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        lines_of(text)


def test_damaged_calendars_are_read_or_refused_and_never_break() -> None:
    good = calendar("SUMMARY:Talk\nDTSTART;TZID=Customized Time Zone:20261120T100000\nSEQUENCE:2", zone=ZONE)
    chance = random.Random(1)
    for _ in range(300):
        at = chance.randrange(len(good))
        try:
            lines_of(good[:at] + chance.choice(":;=\\\n\0é9") + good[at + 1 :])
        except InvalidInput as error:
            assert str(error)  # noqa: PT017


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        calendar("\n".join(["ATTENDEE;CN=Bob:mailto:b@x.y"] * 15_000)),
        calendar("X;" + "a=b;" * 120_000 + ":1"),
        calendar("DESCRIPTION:" + "\\" * 490_000),
        calendar("RRULE:FREQ=DAILY;BYDAY=" + "MO," * 160_000 + "MO"),
        "BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\n" * 30_000,
    ],
    ids=["people", "parameters", "slashes", "rule", "deep"],
)
def test_hostile_calendars_take_bounded_time(text: str) -> None:
    try:
        within(5, 250, "runs.documents.formats.eml.invitations.lines_of", text)
    except InvalidInput as error:
        assert str(error)  # noqa: PT017
