"""Mails: who wrote what to whom, the text or that of the HTML, and what is attached."""

from email.message import EmailMessage
from email.policy import SMTP

import pytest

from runs import guarded
from runs.documents.readers import eml
from runs.documents.readers.building import Made
from runs.documents.readers.eml import attachments, make
from runs.errors import InvalidInput
from runs.guarded import Limits
from runs.pev.documents.document import Document, Where
from runs.pev.documents.layout import BlockKind, MarkKind


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
    assert Document(made.text, layout).where(at, at + 6) == Where("L8", "line 8")
    assert attachments(mail.as_bytes()) == [("lease ü.pdf", b"%PDF")]


def test_the_text_goes_before_the_html_unless_it_is_empty() -> None:
    mail = _mail("The text")
    mail.add_alternative("<p>The HTML</p>", subtype="html")
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


def test_an_encrypted_mail_says_so() -> None:
    made = make(b"From: a@b.c\nSubject: x\nContent-Type: application/pkcs7-mime\n\nMIAGCSqG")
    assert made.text == "Subject: x\nFrom: a@b.c"
    assert made.rendered.notes == ("The mail is encrypted; decrypt it in a mail program and save it again.",)


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
        guarded.run(f"{eml.__name__}.read", data, Limits(megabytes=200, cpu_seconds=5))


def test_addresses_without_end_are_read_in_bounded_time() -> None:
    data = b"From: " + b"(" * 1_000_000 + b"\nTo: " + b"=?utf-8?q?a?= " * 200_000 + b"\n\nx"
    assert guarded.run(f"{eml.__name__}.read", data, Limits(megabytes=200, cpu_seconds=3)).endswith(b"\n\nx")


def _mail(text: str) -> EmailMessage:
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"] = "Alice <alice@example.com>", "bob@example.com"
    mail["Subject"], mail["Date"] = "Lease für Mill Lane", "Fri, 20 Nov 2026 10:00:00 +0000"
    mail.set_content(text)
    return mail


def _body(made: Made) -> list[str]:
    """The lines behind the fields of the header."""
    return made.text.partition("\n\n")[2].split("\n")
