"""A message to a channel, a chat or a person: where it goes, and its text."""

from runs.acts.shape import DETAILS, PEOPLE, TEXT, Field, Shape, Wording, names

SHAPE = Shape(
    "chat_message",
    (
        Field(
            "To",
            names(
                "channel channels channelid channelname room roomid chat chatid conversation conversationid "
                "to recipient recipients user userid username phone phonenumber tonumber"
            ),
            PEOPLE | {"integer"},
        ),
        Field("In the thread", names("thread threadid threadts replyto replytomessageid"), TEXT | {"integer"}),
        Field("Attachments", names("attachment attachments files media"), DETAILS),
        Field("Text", names("text message content body msg markdown messagetext"), TEXT),
    ),
    (frozenset({"To"}), frozenset({"Text"})),
    (Wording("Send this message?", "Send", "Don’t send", "sending a message"),),
    # Something closer to an e-mail, which the shape of e-mails did not recognise.
    unlike=names("subject subjectline"),
)
