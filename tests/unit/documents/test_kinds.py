"""What is said of a content that is no text."""

import io
import zipfile

import pytest

from runs.documents.kinds import TAIL_BYTES, is_document, kind_of


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, b"x" * 10_000)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF file, which cannot be read yet"),
        (zipped("[Content_Types].xml", "word/document.xml"), "a Word file, which cannot be read yet"),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "an Excel file, which cannot be read yet"),
        (zipped("[Content_Types].xml", "ppt/presentation.xml"), "a PowerPoint file, which cannot be read yet"),
        (zipped("a.txt"), "an archive; unpack it and give the files in it"),
        (b"\x1f\x8b\x08", "an archive; unpack it and give the files in it"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "a file of an old Office format; save it as .docx, .xlsx or .pptx, or as text",
        ),
        (b"{\\rtf1\\ansi Gr\xfc\xdfe}", "an RTF file, which cannot be read yet; save it as text"),
        (b"BM\x9a\0\0\0\0\0\0\0", "a picture, which cannot be read yet"),
        (b"\x89PNG\r\n\x1a\n", "a picture, which cannot be read yet"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "a picture, which cannot be read yet"),
        (b"\0\0\0 ftypisom", "sound or film, which cannot be read"),
        (b"\x7fELF", "a program"),
    ],
)
def test_common_kinds_are_named(data: bytes, part: str) -> None:
    assert kind_of(data[:4_096], data[-TAIL_BYTES:]) == f"is {part}"


@pytest.mark.parametrize("data", [b"", b"\xff", b"RIFF", b"Gr\xfc\xdfe", b"BMW f\xfcr Gr\xfcn", b"MZ f\xfcr"])
def test_of_others_nothing_is_said(data: bytes) -> None:
    assert kind_of(data) == ""


@pytest.mark.parametrize("data", [b"%PDF-1.4\n1 0 obj", b"%PDF-2.0\n", b"{\\rtf1\\ansi Hello}"])
def test_documents_may_be_ascii(data: bytes) -> None:
    assert is_document(data)


@pytest.mark.parametrize("data", [b"", b"%PDF- is how they begin", b" %PDF-1.4", b"{\\rtf", b"GIF89a", b"# BMW"])
def test_a_text_is_no_document_for_its_first_words(data: bytes) -> None:
    assert not is_document(data)
