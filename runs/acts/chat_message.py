"""A message to a channel, a chat or a person: where it goes, and its text."""

from collections.abc import Iterator

from runs.acts.shape import DETAILS, PEOPLE, TEXT, Field, Remark, Shape, ShapedCall, Wording, names


def _remarks(call: ShapedCall) -> Iterator[Remark]:
    if call.value("Workspace") is None:
        yield Remark("calm", "Workspace", "not named in the call")


SHAPE = Shape(
    "chat_message",
    (
        Field("From", names("from sender sendername fromnumber displayname"), PEOPLE),
        Field(
            "Workspace",
            names("workspace workspaceid team teamid guild guildid organization organizationid tenant"),
            TEXT | {"integer"},
        ),
        Field(
            "To",
            names(
                "channel channels channelid channelname room roomid chat chatid conversation conversationid "
                "to recipient recipients user userid username phone phonenumber tonumber"
            ),
            PEOPLE | {"integer"},
            is_decisive=True,
        ),
        Field("In the thread", names("thread threadid threadts replyto replytomessageid"), TEXT | {"integer"}),
        Field("Attachments", names("attachment attachments files media"), DETAILS, has_files=True),
        Field("Text", names("text message content body msg markdown messagetext"), TEXT),
    ),
    (frozenset({"To"}), frozenset({"Text"})),
    (Wording("Send this message?", "Send", "Don’t send", "sending a message", is_final=True),),
    # Something closer to an e-mail, which the shape of e-mails did not recognise.
    unlike=names("subject subjectline"),
    remarks=_remarks,
)
