"""Mails of Outlook are read; files with a password and of old formats are refused with what to do."""

import struct
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from runs import isolation
from runs.documents.formats.ole import ole_reader as ole
from runs.documents.formats.ole.ole_reader import attachments, make, unpacked_rtf
from runs.errors import InvalidInput
from runs.isolation import Limits
from tests.documents.compound import compound
from tests.documents.signed import compressed, encrypted, signed, streamed

_PROPERTIES = "__properties_version1.0"
PLAIN = {_PROPERTIES: bytes(32)}
HELLO_WORLD = bytes.fromhex(  # the example of MS-OXRTFCP, section 3.1
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
)
OLD = "is a damaged file of an old Office format; open it and save it as"


def test_a_mail_is_read_as_lines() -> None:
    made = make(compound(_mail() | _text("1000", "Dear Bob,\r\n\r\nplease sign.\r\n")))
    assert made.text.split("\n") == [
        "Subject: Lease ü",
        "From: Alice <alice@example.com>",
        "To: Bob",
        "Date: Fri, 20 Nov 2026 10:00:00 +0000",
        "",
        "Dear Bob,",
        "",
        "please sign.",
        "",
        "Attachment: lease.pdf",
        "Attachment: attachment 2",
    ]
    assert (made.rendered.layout.format, made.rendered.layout.unit) == ("msg", "line")


def test_the_attachments_are_its_files() -> None:
    assert attachments(compound(_mail())) == [("lease.pdf", b"%PDF")]


def test_html_is_read_where_there_is_no_text() -> None:
    made = make(compound(_mail() | {"__substg1.0_10130102": "<meta charset=utf-8><p>Grüße</p>".encode()}))
    assert "\n\nGrüße\n\n" in made.text


@pytest.mark.parametrize(
    ("html", "lines", "cautions"),
    [
        ("<p>You owe 5 €.</p>", ["You owe 5 €."], ()),
        (
            "<p>You owe 9 €.</p>",
            ["You owe 5 €.", "", "[The HTML of this mail says something else:]", "", "You owe 9 €."],
            ("The HTML of the mail says something else than its text: “9 €” instead of “5 €”. Both were read.",),
        ),
    ],
)
def test_html_is_read_beside_the_text_where_it_says_something_else(
    html: str, lines: list[str], cautions: tuple[str, ...]
) -> None:
    made = make(compound(_text("1000", "You owe 5 €.") | _text("1013", f"<meta charset=utf-8>{html}") | PLAIN))
    assert (made.text.split("\n"), made.rendered.cautions) == (lines, cautions)


def test_rich_text_is_read_beside_the_text_where_it_says_something_else() -> None:
    body = _text("1000", "hello moon") | {"__substg1.0_10090102": HELLO_WORLD}
    made = make(compound(PLAIN | body))
    assert made.text.split("\n")[2:] == ["[The rich text of this mail says something else:]", "", "hello world"]
    made = make(compound(PLAIN | _text("1000", "Hello, world") | {"__substg1.0_10090102": HELLO_WORLD}))
    assert (made.text, made.rendered.cautions) == ("Hello, world", ())


def test_rich_text_that_is_damaged_is_said_beside_a_text() -> None:
    made = make(compound(PLAIN | _text("1000", "hello") | {"__substg1.0_10090102": bytes(16)}))
    assert made.text == "hello"
    assert made.rendered.notes[0].startswith("The rich text of the mail has a text that is damaged")


INSIDE = b"Content-Type: text/plain\r\n\r\nThe rent is 500.\r\n"
MULTIPART = b"Content-Type: multipart/signed; boundary=x\r\n\r\n--x\r\n" + INSIDE + b"--x--\r\n"


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        ("IPM.Note.SMIME", signed(INSIDE), "Signature: S/MIME; it was not checked\n\nThe rent is 500."),
        ("IPM.Note.SMIME", streamed(INSIDE), "Signature: S/MIME; it was not checked\n\nThe rent is 500."),
        ("ipm.note.smime", compressed(INSIDE), "\nThe rent is 500."),
        ("IPM.Note", signed(INSIDE), "Signature: S/MIME; it was not checked\n\nThe rent is 500."),
        ("IPM.Note.SMIME.MultipartSigned", MULTIPART, "\nThe rent is 500."),
    ],
)
def test_signed_mails_are_read(kind: str, content: bytes, said: str) -> None:
    made = make(compound(_protected(kind, content)))
    assert made.text == f"Subject: Lease ü\n{said}"
    assert made.rendered.notes == ()


def test_a_signed_mail_brings_its_attachments() -> None:
    inner = EmailMessage(policy=SMTP)
    inner.set_content("Look")
    inner.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="lease.pdf")
    data = compound(_protected("IPM.Note.SMIME", signed(inner.as_bytes())))
    assert make(data).text.endswith("\n\nLook\n\nAttachment: lease.pdf")
    assert attachments(data) == [("lease.pdf", b"%PDF")]


def test_an_encrypted_mail_says_so() -> None:
    made = make(compound(_protected("IPM.Note.SMIME", encrypted())))
    assert made.text == "Subject: Lease ü"
    assert made.rendered.notes == ("The mail is encrypted; decrypt it in a mail program and save it again.",)


def test_signed_documents_that_are_attached_are_taken_out() -> None:
    first = "__attach_version1.0_#00000000/"
    mail = _mail() | _text("3707", "lease.pdf.p7m", first) | {f"{first}__substg1.0_37010102": signed(b"%PDF-1.7")}
    made = make(compound(mail))
    assert "Attachment: lease.pdf\n" in made.text
    assert attachments(compound(mail)) == [("lease.pdf", b"%PDF-1.7")]
    assert made.rendered.cautions == ("lease.pdf was taken out of a signed file, whose signature was not checked.",)


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("IPM.Schedule.Meeting.Request", "Invitation"),
        ("IPM.Schedule.Meeting.Canceled", "Cancelled"),
        ("IPM.Schedule.Meeting.Resp.Pos", "Answer to an invitation"),
        ("IPM.Appointment", "Meeting"),
    ],
)
def test_a_mail_about_a_meeting_says_when_it_is(kind: str, what: str) -> None:
    times = struct.pack("<HHIQHHIQ", 0x40, 0x60, 0, _ticks(10), 0x40, 0x61, 0, _ticks(11))
    made = make(compound({_PROPERTIES: bytes(32) + times} | _text("0037", "Lease") | _text("001A", kind)))
    assert made.text.split("\n") == [
        "Subject: Lease",
        f"Meeting: {what}",
        "Start: Fri, 20 Nov 2026 10:00:00 +0000",
        "End: Fri, 20 Nov 2026 11:00:00 +0000",
    ]


def test_text_in_a_code_page_is_decoded() -> None:
    page = bytes(32) + struct.pack("<HHI8s", 3, 0x3FFD, 0, (1250).to_bytes(8, "little"))
    made = make(compound({_PROPERTIES: page, "__substg1.0_1000001E": "żółć".encode("cp1250")}))
    assert made.text == "żółć"


def test_a_body_in_rtf_alone_is_unpacked_and_read() -> None:
    assert unpacked_rtf(HELLO_WORLD) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    made = make(compound(_mail() | {"__substg1.0_10090102": HELLO_WORLD}))
    assert "\n\nhello world\n\n" in made.text


def test_a_piece_of_packed_rtf_may_go_on_into_itself() -> None:
    packed = bytes.fromhex("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0")
    assert unpacked_rtf(packed) == b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"


@pytest.mark.parametrize("packed", [b"", bytes(16), struct.pack("<IIII", 0, 2**31, 0x75465A4C, 0) + b"\xff" * 50])
def test_damaged_packed_rtf_is_refused(packed: bytes) -> None:
    with pytest.raises(InvalidInput, match="has a text that is damaged"):
        unpacked_rtf(packed)


@pytest.mark.parametrize(
    ("streams", "sentence"),
    [
        ({"EncryptedPackage": b"x", "EncryptionInfo": b"x"}, "^needs a password; save it without one$"),
        ({"WordDocument": b"x"}, r"is a file of an old Office format; save it as .docx, .xlsx or .pptx"),
        ({"Workbook": b"x"}, "is a file of an old Office format"),
        ({"PowerPoint Document": b"x"}, "is a file of an old Office format"),
        ({"Other": b"x"}, "is a file of a kind that cannot be read"),
        ({_PROPERTIES: bytes(32)}, "has no text in it"),
    ],
)
def test_others_are_refused_with_what_to_do(streams: dict[str, bytes], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        make(compound(streams))


def test_what_is_no_mail_or_damaged_as_a_whole_has_no_attachments_and_its_reader_says_why() -> None:
    for data in (compound({"WordDocument": b"x"}), compound(_mail())[:600], b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        assert attachments(data) == []
        with pytest.raises(InvalidInput, match=r"^is "):
            make(data)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (compound({_PROPERTIES: bytes(32)}), "is a damaged mail of Outlook; open it and save it again"),
        (
            compound({_PROPERTIES: bytes(32), "__attach/__substg1.0_37010102": compound({"WordDocument": bytes(9)})}),
            "is a damaged mail of Outlook; open it and save it again",
        ),
        *(
            (compound({stream: bytes(9)}), f"{OLD} .docx, .xlsx or .pptx")
            for stream in ("WordDocument", "Workbook", "Book", "PowerPoint Document")
        ),
        (bytes(512) + b"\xec\xa5\xc1\0", f"{OLD} .docx, .xlsx or .pptx"),
        (bytes(512) + b"\x09\x08\x10\0\0\x06\x05\0", f"{OLD} .docx, .xlsx or .pptx"),
        (
            compound({"Other": bytes(9)}),
            "is damaged; open it with the program that made it and save it as .docx, .xlsx, .pptx or .eml",
        ),
    ],
)
def test_a_damaged_file_is_called_a_mail_only_if_it_is_one(data: bytes, sentence: str) -> None:
    damaged = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 504 + data[512:]
    with pytest.raises(InvalidInput) as error:
        make(damaged)
    assert str(error.value) == sentence


def test_damaged_files_are_refused_or_read_and_never_break() -> None:
    good = compound(_mail() | _text("1000", "Dear Bob"))
    for at in range(0, len(good), 7):
        data = bytearray(good)
        data[at : at + 3] = b"\xfe\x01\xff"
        try:
            make(bytes(data))
        except InvalidInput as error:
            assert str(error)  # noqa: PT017


@pytest.mark.parametrize("size", [0, 8, 100, 600, 1_100])
def test_cut_files_are_refused(size: int) -> None:
    with pytest.raises(InvalidInput):
        isolation.run(f"{ole.__name__}.read", compound(_mail())[:size], Limits(megabytes=100, cpu_seconds=3))


def _protected(kind: str, content: bytes) -> dict[str, bytes]:
    first = "__attach_version1.0_#00000000/"
    content_of = {f"{first}__substg1.0_37010102": content}
    return PLAIN | _text("0037", "Lease ü") | _text("001A", kind) | _text("3707", "smime.p7m", first) | content_of


def _text(tag: str, text: str, place: str = "") -> dict[str, bytes]:
    return {f"{place}__substg1.0_{tag}001F": text.encode("utf-16-le")}


def _ticks(hour: int) -> int:
    since = datetime(2026, 11, 20, hour, tzinfo=UTC) - datetime(1601, 1, 1, tzinfo=UTC)
    return (since // datetime.resolution) * 10


def _mail() -> dict[str, bytes]:
    first, second = "__attach_version1.0_#00000000/", "__attach_version1.0_#00000001/"
    return {
        _PROPERTIES: bytes(32) + struct.pack("<HHIQ", 0x40, 0x0039, 0, _ticks(10)),
        **_text("0037", "Lease ü"),
        **_text("0C1A", "Alice"),
        **_text("5D01", "alice@example.com"),
        **_text("0E04", "Bob\0"),
        **_text("3707", "C:\\lease.pdf", first),
        f"{first}__substg1.0_37010102": b"%PDF",
        f"{second}__properties_version1.0": bytes(8),
    }
