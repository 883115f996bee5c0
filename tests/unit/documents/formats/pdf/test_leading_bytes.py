"""PDF files behind other bytes, of which readers accept up to 1,024."""

import io
import tarfile
import zipfile

import pytest

from runs.documents.content import Unreadable
from runs.documents.file_kinds import HEAD_BYTES, TAIL_BYTES, FileKind, is_document, kind_of
from runs.documents.formats.pdf import drawing
from runs.documents.formats.pdf.pdf_reader import make
from runs.pev.tools.read_file import kind_without_text
from tests.documents import samples

PDF = (samples.SHIPPED / "data-processing-agreement.pdf").read_bytes()
LEADING = [b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n", b"\0\1\2junk", b"Gr\xfc\xdfe\n", b"x" * 1_024]


def kind(data: bytes) -> FileKind:
    return kind_of(data[:HEAD_BYTES], data[-TAIL_BYTES:])


@pytest.mark.parametrize("leading", LEADING)
class TestBehindOtherBytes:
    def test_it_is_a_pdf_file_for_all_who_ask(self, leading: bytes) -> None:
        assert kind(leading + PDF) == FileKind("pdf")
        assert is_document((leading + PDF)[:HEAD_BYTES])
        assert kind_without_text(Unreadable(leading + PDF)) == "pdf"

    @pytest.mark.slow
    def test_it_is_read_drawn_and_cut_like_any_other(self, leading: bytes) -> None:
        assert make(leading + PDF).text == make(PDF).text
        assert drawing.picture(leading + PDF, page=1) == drawing.picture(PDF, page=1)
        assert drawing.extract_pages(leading + PDF, first=2, last=2).startswith(b"%PDF-")


def test_one_without_a_nul_is_known_by_its_second_line() -> None:
    assert kind(b"junk\n%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n") == FileKind("pdf")


@pytest.mark.parametrize(
    "text", ["A file begins with %PDF-1.4\n1 0 obj", "It begins with %PDF-1.7\n%âãÏÓ\n", "x" * 1_025 + "%PDF-1.4\0"]
)
def test_a_text_about_pdf_files_is_none(text: str) -> None:
    assert kind(text.encode()) == FileKind()


def test_one_that_is_stored_in_another_file_does_not_count() -> None:
    zipped, packed = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("a.pdf", PDF)
    with tarfile.open(fileobj=packed, mode="w") as archive:
        info = tarfile.TarInfo("a.pdf")
        info.size = len(PDF)
        archive.addfile(info, io.BytesIO(PDF))
    assert [kind(made.getvalue()) for made in (zipped, packed)] == [FileKind("zip"), FileKind("tar")]
