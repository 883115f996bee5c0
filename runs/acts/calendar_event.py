"""A calendar event: a title, when it begins and ends, and who takes part."""

from runs.acts.shape import DETAILS, MOMENT, PEOPLE, TEXT, Field, Shape, Wording, names

SHAPE = Shape(
    "calendar_event",
    (
        Field("Title", names("title summary subject name eventname eventtitle"), TEXT),
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
        ),
        Field("Place", names("location place room venue address"), frozenset({"string", "object"})),
        Field("Calendar", names("calendar calendarid calendarname"), TEXT),
        Field("Repeats", names("recurrence rrule repeat repeats"), DETAILS),
        Field("Attachments", names("attachment attachments files"), DETAILS),
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
)
