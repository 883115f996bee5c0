"""Elements with thirty thousand attributes: libxml2 compares each of a page's with all before it."""

import pytest

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.formats.eml import eml_reader as eml
from runs.documents.formats.epub import epub_reader as epub
from runs.documents.formats.html import html_reader as html
from runs.documents.formats.odt import odt_reader as odt
from runs.documents.formats.xlsx import xlsx_reader as xlsx
from runs.errors import InvalidInput
from tests.documents.texts import book, open_document
from tests.documents.word import word
from tests.documents.workbooks import workbook
from tests.hostile.bounds import within

COUNT = 30_000
_NAMES = [f"a{number}" for number in range(COUNT)]
PAGES = {
    "plain": f"<p {' '.join(_NAMES)}>T</p>",
    "values": f"<p {' '.join(f'{name}="1"' for name in _NAMES)}>T</p>",
    "no spaces": f"<p {''.join(f'{name}="1"' for name in _NAMES)}>T</p>",
    "slashes": f"<p {'/'.join(_NAMES)}>T</p>",
    "behind an end in quotes": f'<p x=">" {" ".join(_NAMES)}>T</p>',
    "between quotes in names": f'<p a" {" ".join(_NAMES)} ">T</p>',
    "names that look like tags": f"<p {' '.join(f'<{name}' for name in _NAMES)}>T</p>",
    "without an end": f"<p x='1 {' '.join(_NAMES)}",
    "several": "".join(f"<p {' '.join(_NAMES[:10_000])}>T</p>" for _ in range(12)),
}
_MAIL = b"Subject: x\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def refusal(data: bytes, reader: str) -> str:
    """The sentence with which a reader refuses it; what it reads, otherwise."""
    try:
        return str({"html": html, "eml": eml, "epub": epub}[reader].make(data).text)
    except InvalidInput as error:
        return str(error)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.slow
def test_pages_are_refused_at_once(name: str) -> None:
    answer = within(0.5, 60, f"{__name__}.refusal", PAGES[name].encode(), "html")
    assert answer == "has tags with more attributes than any page has; save it again"


def test_pages_in_mails_and_books_are_refused_too() -> None:
    page = PAGES["plain"].encode()
    answers = [
        within(0.5, 60, f"{__name__}.refusal", _MAIL + page, "eml"),
        within(0.5, 60, f"{__name__}.refusal", book({"c.xhtml": page.decode()}, ["c"]), "epub"),
    ]
    assert answers == ["has tags with more attributes than any page has; save it again"] * 2


def test_a_page_with_long_attributes_is_read() -> None:
    path = "M 1 2 " * 100_000
    page = f'<p>One</p><img src="data:{"x" * 500_000}"><svg><path d="{path}"/></svg><p>Two</p>'
    assert within(0.5, 60, f"{__name__}.refusal", page.encode(), "html") == "One\nTwo"


def of_xml() -> list[str]:
    """What readers of XML make of such elements, where attributes are looked up and not compared."""
    attributes = " ".join(f'{name}="1"' for name in _NAMES)
    return [
        docx.make(word(f"<w:p {attributes}><w:r><w:t>Word</w:t></w:r></w:p>")).text,
        odt.make(open_document(f"<text:p {attributes}>Text</text:p>")).text,
        xlsx.make(workbook({"A": f'<row r="1"><c r="A1" t="str" {attributes}><v>Cell</v></c></row>'})).text,
    ]


def test_xml_is_read_however_many_attributes_an_element_has() -> None:
    assert within(1, 120, f"{__name__}.of_xml") == ["Word", "Text", "A\nCell"]
