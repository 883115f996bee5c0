"""Mails: who wrote what to whom, the text or that of the HTML, and what is attached."""

import base64
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from runs import isolation
from runs.documents.formats.eml import eml_reader as eml
from runs.documents.formats.eml.eml_reader import attachments, make
from runs.documents.formats.eml.mails import html_lines
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.places.document import Document, PlaceName
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from runs.isolation import Limits
from tests.documents.signed import AUTHENTICATED, compressed, encrypted, signed, streamed


def test_fields_lines_and_attachments_are_lines() -> None:
    mail = _mail("Dear Bob,\r\n\r\n\r\nplease sign — today.\r\n\r\n")
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="Verträge/lease ü.pdf")
    made = make(mail.as_bytes())
    assert made.text.split("\n") == [
        "Subject: Lease für Mill Lane",
        "From: Alice <alice@example.com>",
        "To: bob@example.com",
        "Date: Fri, 20 Nov 2026 10:00:00 +0000",
        "",
        "Dear Bob,",
        "",
        "please sign — today.",
        "",
        "Attachment: lease ü.pdf",
    ]
    layout = made.rendered.layout
    assert (layout.format, layout.unit, layout.units) == ("eml", "line", 10)
    assert [block.anchor for block in layout.blocks] == [f"L{number}" for number in range(1, 11)]
    assert [block.kind for block in layout.blocks][3:6] == [BlockKind.FIELD, BlockKind.LINE, BlockKind.LINE]
    at = made.text.index("please")
    assert Document(made.text, layout).place_name(at, at + 6) == PlaceName("L8", "line 8")
    assert attachments(mail.as_bytes()) == [("lease ü.pdf", b"%PDF")]


def test_the_text_goes_before_the_html_unless_it_is_empty() -> None:
    mail = _mail("The text")
    mail.add_alternative("<p>the <b>TEXT</b></p>", subtype="html")
    assert _body(make(mail.as_bytes())) == ["The text"]
    mail = _mail(" \n")
    mail.add_alternative("<p>The <b>HTML</b></p><ol><li>One</ol><p>a<br>b<i hidden>secret</i>", subtype="html")
    made = make(mail.as_bytes())
    assert _body(made) == ["The HTML", "One", "a", "bsecret"]
    assert [made.text[m.start : m.end] for m in made.rendered.layout.marks if m.kind is MarkKind.HIDDEN] == ["secret"]
    assert [block.label for block in made.rendered.layout.blocks if block.label] == ["1."]


def test_pictures_inside_the_html_are_attachments() -> None:
    mail = _mail("")
    mail.set_content("<p>Look", subtype="html")
    mail.add_related(b"PNG", maintype="image", subtype="png", cid="<x>")
    assert _body(make(mail.as_bytes())) == ["Look", "", "Attachment: picture 1.png"]


def test_forwarded_mails_are_attachments_that_are_mails() -> None:
    inner = _mail("Inside")
    mail = _mail("Outside")
    mail.add_attachment(inner)
    assert _body(make(mail.as_bytes())) == ["Outside", "", "Attachment: forwarded mail 1.eml"]
    [(name, data)] = attachments(mail.as_bytes())
    assert (name, _body(make(data))) == ("forwarded mail 1.eml", ["Inside"])


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("utf-8", "ä€".encode(), "ä€"),
        ("no-such", "ä€".encode("cp1252"), "ä€"),
        ("hex", "ä".encode(), "ä"),
        ("us-ascii", "ä".encode(), "ä"),
    ],
)
def test_encodings_are_those_that_fit(charset: str, data: bytes, text: str) -> None:
    head = f"From: a@b.c\nMIME-Version: 1.0\nContent-Type: text/plain; charset={charset}\n\n".encode()
    assert _body(make(head + data)) == [text]


def test_a_text_that_names_no_encoding_is_guessed_and_close_guesses_are_said() -> None:
    for kind in ("text/plain", "text/html", "text/plain; charset=no-such"):
        head = f"From: a@b.c\nContent-Type: {kind}\n\n".encode()
        made = make(head + "müşteri".encode("cp1254"))
        assert _body(made) == ["müşteri"]
        assert made.rendered.cautions[0].startswith("Its encoding was guessed as Windows-1254: ")
        made = make(head + "Арендатор обязуется вносить арендную плату.".encode("koi8_r"))
        assert (_body(made), made.rendered.cautions) == (["Арендатор обязуется вносить арендную плату."], ())


def test_a_mail_that_is_a_file_and_one_without_its_parts_are_read() -> None:
    data = b"From: a@b.c\nContent-Type: application/pdf; name=x.pdf\n\n%PDF"
    assert make(data).text == "From: a@b.c\n\nAttachment: x.pdf"
    assert make(b"From: a@b.c\nContent-Type: multipart/mixed\n\nText").text == "From: a@b.c\n\nText"


def test_fields_that_cannot_be_decoded_stay_as_they_are() -> None:
    made = make(b"From: =?no-such?q?a?=\nSubject: =?utf-8?b?a?=\n\nx")
    assert made.text.split("\n")[:2] == ["Subject: =?utf-8?b?a?=", "From: =?no-such?q?a?="]


def _nested(depth: int) -> bytes:
    head = "From: a@b.c\nMIME-Version: 1.0\n"
    return (head + "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(depth))).encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (_nested(7), "nested more than 5 deep"),
        (_nested(400), "nested more than 5 deep"),
        (_nested(20_000), "has more than 100 parts"),
        (b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 10_000, "has more than 100 parts"),
        (b"From: a\nContent-Type: text/plain; " + b"a*0*=x;" * 200_000 + b"\n\nx", "is a damaged mail"),
        (b"From: a\nContent-Type: text/plain;" + b"\n a*0*=x;" * 200_000 + b"\n\nx", "is a damaged mail"),
        (b"\n\n", "is a damaged mail|has no text in it"),
        (b"From: a@b.c\n\n" + b"x\n" * 300_000, "has more than 200,000 paragraphs or rows"),
    ],
    ids=["deep", "deeper", "deepest", "parts", "parameters", "folded", "nothing", "lines"],
)
def test_hostile_mails_are_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        isolation.run(f"{eml.__name__}.read", data, Limits(megabytes=200, cpu_seconds=5))


def test_addresses_without_end_are_read_in_bounded_time() -> None:
    data = b"From: " + b"(" * 1_000_000 + b"\nTo: " + b"=?utf-8?q?a?= " * 200_000 + b"\n\nx"
    assert isolation.run(f"{eml.__name__}.read", data, Limits(megabytes=200, cpu_seconds=3)).endswith(b"\n\nx")


def _mail(text: str) -> EmailMessage:
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"] = "Alice <alice@example.com>", "bob@example.com"
    mail["Subject"], mail["Date"] = "Lease für Mill Lane", "Fri, 20 Nov 2026 10:00:00 +0000"
    mail.set_content(text)
    return mail


def _body(made: BuiltDocument) -> list[str]:
    """The lines behind the fields of the header."""
    return made.text.partition("\n\n")[2].split("\n")


INSIDE = b'Content-Type: text/plain; charset="utf-8"\r\n\r\nDie Miete betr\xc3\xa4gt 500 \xe2\x82\xac.\r\n'
SIGNED_BODY = ["Die Miete beträgt 500 €."]
ENCRYPTED = "is encrypted; decrypt it in a mail program and save it again."


def _smime(content: bytes, kind: str = "application/pkcs7-mime; smime-type=signed-data; name=smime.p7m") -> bytes:
    head = f"Subject: x\nFrom: a@b.c\nMIME-Version: 1.0\nContent-Type: {kind}\nContent-Transfer-Encoding: base64\n\n"
    return head.encode() + base64.encodebytes(content)


@pytest.mark.parametrize(
    "data",
    [
        _smime(signed(INSIDE)),
        _smime(streamed(INSIDE)),
        _smime(signed(INSIDE), "application/x-pkcs7-mime"),
        _smime(signed(INSIDE), "application/octet-stream; name=smime.p7m"),
        _smime(signed(INSIDE), "application/pkcs7-mime; smime-type=enveloped-data"),
        _smime(signed(_smime(compressed(INSIDE)).partition(b"1.0\n")[2])),
        _smime(compressed(_smime(signed(INSIDE)).partition(b"1.0\n")[2]), "application/pkcs7-mime"),
        _smime(signed(_smime(streamed(INSIDE)).partition(b"1.0\n")[2])),
        _smime(signed("Die Miete beträgt 500 €.\r\n".encode())),
    ],
    ids=["DER", "BER", "old type", "no type", "wrong type", "compressed inside", "signed inside", "twice", "no header"],
)
def test_a_signed_mail_is_read_and_says_that_the_signature_was_not_checked(data: bytes) -> None:
    made = make(data)
    assert made.text.split("\n")[:3] == ["Subject: x", "From: a@b.c", "Signature: S/MIME; it was not checked"]
    assert (_body(made), made.rendered.notes) == (SIGNED_BODY, ())


def test_a_compressed_mail_is_not_called_signed() -> None:
    made = make(_smime(compressed(INSIDE), "application/pkcs7-mime; smime-type=compressed-data"))
    assert (made.text, made.rendered.notes) == ("Subject: x\nFrom: a@b.c\n\nDie Miete beträgt 500 €.", ())


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (_smime(encrypted()), f"The mail {ENCRYPTED}"),
        (_smime(encrypted(AUTHENTICATED), "application/pkcs7-mime"), f"The mail {ENCRYPTED}"),
        (_smime(b"damaged", "application/pkcs7-mime; smime-type=enveloped-data"), f"The mail {ENCRYPTED}"),
        (_smime(signed(_smime(encrypted()).partition(b"1.0\n")[2])), f"A part of the mail {ENCRYPTED}"),
        (
            _smime(signed(None)),
            "The mail is signed, in a form that is not read; open it in a mail program and save it again.",
        ),
        (
            _smime(b"damaged", "application/pkcs7-mime; smime-type=signed-data"),
            "The mail is signed, in a form that is not read; open it in a mail program and save it again.",
        ),
        (
            _smime(b"damaged", "application/pkcs7-mime"),
            "The mail is signed or encrypted, in a form that is not read; open it in a mail program and save it again.",
        ),
        (b"From: a@b.c\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n\na\n--x--", f"The mail {ENCRYPTED}"),
    ],
)
def test_only_what_is_encrypted_is_called_so(data: bytes, note: str) -> None:
    assert make(data).rendered.notes == (note,)


def test_a_signed_mail_brings_its_attachments_and_other_parts() -> None:
    inner = _mail("The text")
    inner.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="lease.pdf")
    data = _smime(signed(inner.as_bytes()))
    assert _body(make(data)) == ["The text", "", "Attachment: lease.pdf"]
    assert attachments(data) == [("lease.pdf", b"%PDF")]


def test_signed_documents_that_are_attached_are_taken_out() -> None:
    mail = _mail("Look")
    for name, content in (("contract.pdf.p7m", signed(b"%PDF-1.7")), ("bill.xml.P7M", streamed(b"<bill/>"))):
        mail.add_attachment(content, maintype="application", subtype="pkcs7-mime", filename=name)
    made = make(mail.as_bytes())
    assert _body(made) == ["Look", "", "Attachment: contract.pdf", "Attachment: bill.xml"]
    assert attachments(mail.as_bytes()) == [("contract.pdf", b"%PDF-1.7"), ("bill.xml", b"<bill/>")]
    assert made.rendered.cautions == tuple(
        f"{name} was taken out of a signed file, whose signature was not checked."
        for name in ("contract.pdf", "bill.xml")
    )


def _alternatives(text: str, page: str) -> BuiltDocument:
    mail = _mail(text)
    mail.add_alternative(page, subtype="html")
    return make(mail.as_bytes())


OTHERWISE = ["", "[The HTML of this mail says something else:]", ""]


@pytest.mark.parametrize(
    ("text", "page", "difference"),
    [
        ("You owe 5.", "<p>You owe 9.</p>", "“9” instead of “5”"),
        ("You owe €5 now.", "<p>You owe $5 now.</p>", "“$ 5 now” instead of “€ 5 now”"),
        ("The sum is 5", "<p>The sum is -5</p>", "“- 5” instead of “5”"),
        ("A pays B.", "<p>B pays A.</p>", "“b pays a” instead of “a pays b”"),
        ("We accept.", "<p>We do not accept.</p>", "“do not accept” instead of “accept”"),
        ("We accept.", "<p>We accept.</p><p>If you pay 7.5 %</p>", "“if you pay 7.5 %” instead of nothing"),
        ("Your program shows no HTML.", "<p>Rent: 500</p>", "“rent 500” instead of “your program shows no html”"),
    ],
)
def test_alternatives_that_say_something_else_are_both_read(text: str, page: str, difference: str) -> None:
    made = _alternatives(text, page)
    lines = _body(made)
    assert lines[:4] == [text, *OTHERWISE]
    assert lines[4:] == [line.text for line in html_lines(page.encode())[0]]
    said = f"The HTML of the mail says something else than its text: {difference}. Both were read."
    assert made.rendered.cautions == (said,)


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("Dear  Bob,\n> please *sign* today.", "<p>Dear Bob,</p><blockquote>please <b>sign</b> today.</blockquote>"),
        (
            "Look <https://example.com/a?b=9>\n[image: Logo]",
            "<a href='https://example.com/a?b=9'>Look</a><img alt=Logo>",
        ),
        ("1. One\n2. Two\n• x", "<ol><li>One<li>Two</ol><ul><li>x</ul>"),
        ("DON'T WAIT", "<h1>Don’t&nbsp;wa&shy;it</h1>"),
        ("bob@example.com<mailto:bob@example.com>\no   second", "<p>bob@example.com</p><ul><li>second</ul>"),
        ("Hello", "<div style='display:none'>Preview 9</div><p>Hello</p>"),
        ("Rent\t500\nDeposit\t1,500.00", "<table><tr><td>Rent<td>500<tr><td>Deposit<td>1,500.00</table>"),
        ("Hello", "<p> </p>"),
        ("A long-\nterm lease,\nstate-of-the-\n art, T-\nShirts", "<p>A long-term lease, state-of-the-art, T-Shirts"),
    ],
)
def test_alternatives_that_say_the_same_are_read_once(text: str, page: str) -> None:
    made = _alternatives(text, page)
    assert (_body(made), made.rendered.cautions) == (text.split("\n"), ())


def test_the_html_may_lie_deeper_and_brings_its_attachments() -> None:
    mail = _mail("You owe 5.")
    mail.add_alternative("<p>You owe 9.</p>", subtype="html")
    _, page = mail.iter_parts()
    assert isinstance(page, EmailMessage)
    page.add_related(b"PNG", maintype="image", subtype="png", cid="<x>")
    page.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="bill.pdf")
    made = make(mail.as_bytes())
    assert _body(made) == ["You owe 5.", *OTHERWISE, "You owe 9.", "", "Attachment: bill.pdf"]
    assert attachments(mail.as_bytes()) == [("bill.pdf", b"%PDF")]


def test_a_third_alternative_is_read_where_it_says_something_else_again() -> None:
    mail = _mail("You owe 5.")
    mail.add_alternative("<p>You owe 5.</p>", subtype="html")
    mail.add_alternative("<p>You owe 7.</p>", subtype="x-amp-html")
    assert _body(make(mail.as_bytes())) == ["You owe 5.", *OTHERWISE, "You owe 7."]


def test_html_that_cannot_be_read_beside_a_text_is_said() -> None:
    made = _alternatives("You owe 5.", "<a " + "b=c " * 21_000 + ">You owe 9.")
    assert _body(made) == ["You owe 5."]
    assert made.rendered.notes[0].startswith("The HTML of the mail ")


INVITATION = """BEGIN:VCALENDAR
METHOD:REQUEST
BEGIN:VEVENT
ORGANIZER;CN="Doe, Alice":mailto:alice@example.com
ATTENDEE;PARTSTAT=ACCEPTED;CN=Bob:mailto:bob@example.com
SUMMARY:Lease\\, talk
DTSTART;TZID=Europe/Berlin:20261120T100000
DTEND;TZID=Europe/Berlin:20261120T110000
LOCATION:Room 5
END:VEVENT
END:VCALENDAR
"""
INVITED = [
    "Invitation: Lease, talk",
    "When: Fri 20 Nov 2026, 10:00 to 11:00, Europe/Berlin (UTC+01:00)",
    "Where: Room 5",
    "Organizer: Doe, Alice <alice@example.com>",
    "Attendees: Bob <bob@example.com> (accepted)",
]


@pytest.mark.parametrize("kind", ["ics", "octet-stream"])
def test_an_invitation_is_read_once_behind_the_text(kind: str) -> None:
    mail = _mail("Please come.")
    mail.add_alternative("<p>Please come.</p>", subtype="html")
    mail.add_alternative(INVITATION, subtype="calendar", params={"method": "REQUEST"})
    mail.add_attachment(INVITATION.encode(), maintype="application", subtype=kind, filename="invite.ics")
    made = make(mail.as_bytes())
    assert _body(made) == ["Please come.", "", *INVITED, "", "Attachment: invite.ics"]
    assert (made.rendered.cautions, [name for name, _ in attachments(mail.as_bytes())]) == ((), ["invite.ics"])


def test_an_invitation_alone_and_inside_a_signed_mail_is_read() -> None:
    part = f"Content-Type: text/calendar; charset=utf-8\n\n{INVITATION}".encode()
    assert _body(make(b"From: a@b.c\nMIME-Version: 1.0\n" + part)) == INVITED
    assert _body(make(_smime(signed(part)))) == INVITED


def test_a_calendar_that_cannot_be_read_is_attached_and_said() -> None:
    made = make(b"From: a@b.c\nContent-Type: text/calendar\n\nBEGIN:VCALENDAR\nnonsense")
    assert made.text.split("\n") == ["From: a@b.c", "", "Attachment: invitation.ics"]
    assert made.rendered.notes == ("An invitation in the mail could not be read.",)
