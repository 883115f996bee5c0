"""Contents of S/MIME: what is inside is read, in linear time, and what is encrypted is called so."""

import random

import pytest

from runs.documents.formats.eml.smime import SmimeContent, SmimeKind, is_mime, name_inside, open_content
from runs.errors import InvalidInput
from tests.documents.signed import (
    AUTHENTICATED,
    ENCRYPTED,
    ENVELOPED,
    compressed,
    encrypted,
    open_value,
    signed,
    streamed,
    value,
)
from tests.hostile.bounds import within

TEXT = b"Content-Type: text/plain\r\n\r\nThe rent is 500.\r\n"


@pytest.mark.parametrize("size", [0, 1, 100, 128, 300, 384, 70_000])
def test_the_content_of_a_signed_one_is_read_in_all_lengths(size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    assert open_content(signed(content)) == SmimeContent(SmimeKind.SIGNED, content)
    assert open_content(streamed(content, 90)) == SmimeContent(SmimeKind.SIGNED, content)
    assert open_content(compressed(content)) == SmimeContent(SmimeKind.COMPRESSED, content)


def test_pieces_may_be_in_pieces() -> None:
    inside = open_value(
        0x24, value(0x04, b"a") + value(0x24, value(0x04, b"b") + value(0x04, b"c")) + value(0x04, b"d")
    )
    data = signed(b"x" * 200).replace(value(0x04, b"x" * 200), inside.ljust(203, b"\0"))
    assert open_content(data) == SmimeContent(SmimeKind.SIGNED, b"abcd")


def test_certificates_alone_have_no_content() -> None:
    assert open_content(signed(None)) == SmimeContent(SmimeKind.SIGNED)


@pytest.mark.parametrize("kind", [ENVELOPED, ENCRYPTED, AUTHENTICATED])
def test_what_is_encrypted_is_called_so(kind: bytes) -> None:
    assert open_content(encrypted(kind)) == SmimeContent(SmimeKind.ENCRYPTED)


@pytest.mark.parametrize(
    "data",
    [b"", b"0", b"no such content", signed(TEXT)[:30], b"\x30\x80", b"\x3f" + b"\xff" * 500, streamed(TEXT)[:-60]],
)
def test_what_is_damaged_is_unreadable_or_has_what_is_there(data: bytes) -> None:
    assert open_content(data).kind in {SmimeKind.UNREADABLE, SmimeKind.SIGNED}


def test_changed_bytes_never_break_it() -> None:
    chance = random.Random(1)
    for good in (signed(TEXT), streamed(TEXT), compressed(TEXT)):
        for _ in range(2_000):
            data = bytearray(good)
            data[chance.randrange(len(data))] = chance.randrange(256)
            assert open_content(bytes(data)).kind in SmimeKind


def test_what_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.documents.formats.eml.smime.MAX_BYTES", 1_000_000)
    with pytest.raises(InvalidInput, match=r"^unpacks to more than 1 MB$"):
        open_content(compressed(bytes(1_000_001)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        streamed(b"a" * 100_000, 1),
        open_value(0x30, b"") * 200_000,
        b"\x30\x80" * 500_000,
        b"\x3f" + b"\xff" * 1_000_000,
    ],
    ids=["pieces", "values", "nested", "tag"],
)
def test_hostile_contents_take_linear_time(data: bytes) -> None:
    within(5, 60, "runs.documents.formats.eml.smime.open_content", data)


def test_a_part_of_a_mail_is_known_by_its_header() -> None:
    assert is_mime(TEXT)
    assert is_mime(b"MIME-Version: 1.0\r\nSubject: a\r\n b\r\ncontent-type: text/plain\r\n\r\nx")
    assert not is_mime(b"%PDF-1.7\nContent-Type: none")
    assert not is_mime(b"The rent is 500.\nContent-Type: x")


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("contract.pdf.p7m", "contract.pdf"),
        ("Fattura.XML.P7M", "Fattura.XML"),
        ("smime.p7m", ""),
        (".p7m", ""),
        ("contract.pdf", ""),
        ("", ""),
    ],
)
def test_the_name_of_a_signed_document_says_what_is_inside(name: str, inside: str) -> None:
    assert name_inside(name) == inside
