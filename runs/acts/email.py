"""An e-mail: recipients, a subject, and a text."""

from runs.acts.shape import DETAILS, PEOPLE, TEXT, Field, Shape, Wording, names

SHAPE = Shape(
    "email",
    (
        Field("From", names("from sender fromaddress fromemail fromname"), PEOPLE),
        Field(
            "To",
            names(
                "to recipient recipients torecipient torecipients toaddress toaddresses toemail toemails email emails "
                "emailaddress emailaddresses recipientemail recipientemails"
            ),
            PEOPLE,
        ),
        Field("Cc", names("cc ccrecipients ccaddresses ccemails copyto carboncopy"), PEOPLE),
        Field("Bcc", names("bcc bccrecipients bccaddresses bccemails blindcopy blindcarboncopy"), PEOPLE),
        Field("Reply to", names("replyto replytoaddress"), PEOPLE),
        Field("Subject", names("subject subjectline"), TEXT),
        Field(
            "Attachments",
            names("attachment attachments attachmentpath attachmentpaths files attachedfiles"),
            DETAILS,
            has_files=True,
        ),
        Field(
            "Text",
            names("body text message content bodytext textbody plaintext"),
            frozenset({"string", "object"}),
        ),
        Field("Text as HTML", names("htmlbody bodyhtml html htmlcontent"), TEXT),
    ),
    (frozenset({"To", "Cc", "Bcc"}), frozenset({"Subject"}), frozenset({"Text", "Text as HTML"})),
    (
        Wording("Send this e-mail?", "Send", "Don’t send", "sending an e-mail", is_final=True),
        Wording(
            "Save this draft of an e-mail?", "Save", "Don’t save", "saving a draft of an e-mail", frozenset({"draft"})
        ),
    ),
)
