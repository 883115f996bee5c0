"""A calendar event: a title, when it begins and ends, and who takes part."""

from collections.abc import Iterator

from runs.acts.shape import DETAILS, MOMENT, PEOPLE, TEXT, Field, Remark, Shape, ShapedCall, Wording, names

_NO, _YES = names("false none no never nobody"), names("true all yes everyone always")


def _remarks(call: ShapedCall) -> Iterator[Remark]:
    if not call.value("Attendees"):
        return
    value = call.value("Invitations")
    said = "" if value is None else str(value).strip().lower()
    if call.differs("Invitations"):
        said = ""
    if said in _NO:
        yield Remark("calm", "Invitations", "none are sent, the call says")
    elif said in _YES:
        yield Remark("warn", "Invitations", "are sent to everyone named below")
    else:
        yield Remark("warn", "Invitations", "may be sent by the server to everyone named below")


SHAPE = Shape(
    "calendar_event",
    (
        Field("Title", names("title summary subject name eventname eventtitle"), TEXT, is_decisive=True),
        Field(
            "Begins",
            names("start starttime startdate startdatetime startsat startat begin begins begintime dtstart"),
            MOMENT,
            is_moment=True,
        ),
        Field(
            "Ends",
            names("end endtime enddate enddatetime endsat endat ends finish dtend"),
            MOMENT,
            is_moment=True,
        ),
        Field("Duration", names("duration durationminutes minutes length"), TEXT | {"integer", "number"}),
        Field("Time zone", names("timezone tz"), TEXT),
        Field(
            "Attendees",
            names("attendee attendees attendeeemails participants invitees guests requiredattendees"),
            PEOPLE,
            is_decisive=True,
        ),
        Field(
            "Invitations",
            names(
                "sendupdates sendinvitations sendinvites sendinvitation sendnotifications sendemail sendemails notify "
                "notifyattendees"
            ),
            TEXT | {"boolean"},
        ),
        Field("Place", names("location place room venue address"), frozenset({"string", "object"})),
        Field("Calendar", names("calendar calendarid calendarname"), TEXT),
        Field("Repeats", names("recurrence rrule repeat repeats"), DETAILS),
        Field("Attachments", names("attachment attachments files"), DETAILS, has_files=True),
        Field("Description", names("description body notes details text content"), frozenset({"string", "object"})),
    ),
    (frozenset({"Title", "Attendees"}), frozenset({"Begins"}), frozenset({"Ends", "Duration"})),
    (
        Wording("Submit this calendar event?", "Submit", "Don’t submit", "submitting a calendar event"),
        Wording(
            "Change this calendar event?",
            "Change",
            "Don’t change",
            "changing a calendar event",
            names("change edit modify move patch reschedule set update"),
        ),
        Wording(
            "Create this calendar event?",
            "Create",
            "Don’t create",
            "creating a calendar event",
            names("add book create insert new schedule"),
        ),
    ),
    remarks=_remarks,
)
