"""What is said of a content that is no text."""

import io
import zipfile

import pytest

from runs.documents.file_kinds import TAIL_BYTES, FileKind, is_document, kind_of


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, b"x" * 10_000)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "pdf"),
        (zipped("[Content_Types].xml", "word/document.xml"), "docx"),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "xlsx"),
        (zipped("[Content_Types].xml", "ppt/presentation.xml"), "pptx"),
        (zipped("a.txt"), "zip"),
        (b"\x1f\x8b\x08", "tar"),
        (b"a.txt".ljust(257, b"\0") + b"ustar\0", "tar"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
        (b"{\\rtf1\\ansi Gr\xfc\xdfe}", "rtf"),
        (b"\x89PNG\r\n\x1a\n", "image"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image"),
        (b"From: a@example.org\r\nTo: b@example.org\r\nMIME-Version: 1.0\r\n\r\nHello", "eml"),
        (b"Received: by a\n with b\nFrom: a@example.org\n\nHello", "eml"),
    ],
)
def test_documents_are_known_by_their_bytes(data: bytes, expected: str) -> None:
    assert kind_of(data[:4_096], data[-TAIL_BYTES:]) == FileKind(expected)


@pytest.mark.parametrize("part", ["Index/Document.iwa", "Index.zip", "buildVersionHistory.plist"])
def test_documents_of_apple_are_named(part: str) -> None:
    data = zipped(part, "preview.jpg")
    problem = "is a document of Apple's Pages, Numbers or Keynote; export it as Word, Excel, PowerPoint or PDF"
    assert kind_of(data[:4_096], data[-TAIL_BYTES:]) == FileKind(problem=problem)
    assert kind_of(data[:4_096], zipped("Index/a.md", "index.xml")) == FileKind("zip")


def test_a_file_inside_another_one_does_not_count() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("ppt/presentation.xml", b"x")
        archive.writestr("ppt/embeddings/book.xlsx", zipped("[Content_Types].xml", "xl/workbook.xml"))
    data = buffer.getvalue()
    assert kind_of(data[:4_096], data[-TAIL_BYTES:]) == FileKind("pptx")


def test_a_document_that_was_cut_off_is_one() -> None:
    data = zipped("word/document.xml", "word/styles.xml")
    assert kind_of(data[:4_096], data[4_096:9_000]) == FileKind("docx")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<!DOCTYPE html>\n<!-- saved from url=(0020)https://example.org/ -->\n<html>", "html"),
        (b'<html xmlns:o="urn:schemas-microsoft-com:office:office"><head>', "html"),
        (b'<html><head><meta name="generator" content="LibreOffice 24.2"></head>', "html"),
        (b"<!DOCTYPE html><html><head><title>Pev</title>", ""),
        (b"<!-- saved from url=(0020)x --><html>{% block page %}", ""),
    ],
)
def test_only_web_pages_that_were_saved_are_documents(data: bytes, expected: str) -> None:
    assert (kind_of(data), is_document(data)) == (FileKind(expected), bool(expected))


def test_a_long_directory_is_read_from_where_it_is_seen() -> None:
    data = zipped(*(f"ppt/slides/slide{number}.xml" for number in range(1_500)), "ppt/presentation.xml")
    assert kind_of(data[:4_096], data[-TAIL_BYTES:]) == FileKind("pptx")


@pytest.mark.parametrize(
    "tail", [b"PK\5\6", b"PK\5\6" + b"\xff" * 30, b"PK\1\2" + b"\xff" * 60 + b"PK\5\6" + b"\0" * 18]
)
def test_a_directory_that_lies_is_none(tail: bytes) -> None:
    assert kind_of(b"PK\3\4", tail) == FileKind("zip")


@pytest.mark.parametrize(
    ("media_type", "expected"),
    [(b"application/vnd.oasis.opendocument.text", "odt"), (b"application/epub+zip", "epub")],
)
def test_what_says_what_it_is_is_believed(media_type: bytes, expected: str) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", media_type)
    assert kind_of(buffer.getvalue(), buffer.getvalue()) == FileKind(expected)


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"BM\x9a\0\0\0\0\0\0\0", "a picture of a kind that cannot be read; save it as PNG"),
        (b"Rar!\x1a\x07", "an archive of a kind that is not unpacked; give it as .zip or .tar.gz"),
        (b"\0\0\0\x18ftypheic\0", "a picture of a kind (HEIC) that cannot be read; save it as .jpg or .png"),
        (b"\0\0\0\x18ftypmif1\0", "a picture of a kind (HEIC) that cannot be read; save it as .jpg or .png"),
        (b"\0\0\0 ftypisom", "sound or film, which cannot be read"),
        (b"\x7fELF", "a program"),
    ],
)
def test_what_no_reader_can_read_is_named(data: bytes, part: str) -> None:
    assert kind_of(data) == FileKind(problem=f"is {part}")


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\xff", b"RIFF", b"Gr\xfc\xdfe", b"BMW f\xfcr Gr\xfcn", b"MZ f\xfcr"),
        *(b"From: the start\nto the end.\n", b"From: a\nTo: b\n\nA memo.", b"title: x\ndate: y\n---\nmessage-id: z\n"),
    ],
)
def test_of_others_nothing_is_known(data: bytes) -> None:
    assert kind_of(data) == FileKind()


@pytest.mark.parametrize("data", [b"%PDF-1.4\n1 0 obj", b"%PDF-2.0\n", b"\n\r\n%PDF-1.4\n", b"{\\rtf1\\ansi Hello}"])
def test_documents_may_be_ascii(data: bytes) -> None:
    assert is_document(data)


@pytest.mark.parametrize("data", [b"", b"%PDF- is how they begin", b"x %PDF-1.4", b"{\\rtf", b"GIF89a", b"# BMW"])
def test_a_text_is_no_document_for_its_first_words(data: bytes) -> None:
    assert not is_document(data)
