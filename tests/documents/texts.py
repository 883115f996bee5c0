"""OpenDocument texts and e-books, as the XML that is in them."""

from collections.abc import Mapping

from tests.documents.workbooks import zipped

_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{full}:1.0"'
    for name, full in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("style", "style"),
    )
)
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'


def open_document(body: str, *, styles: str = "", margins: str = "", parts: Mapping[str, str] | None = None) -> bytes:
    """`body`: what is inside `<office:text>`. `styles`: automatic ones. `margins`: inside a master page."""
    content = (
        f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:text>{body}</office:text>"
    )
    master = f"<office:master-styles><style:master-page>{margins}</style:master-page></office:master-styles>"
    everything = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": f"<office:document-content {_NAMES} {_DC}>{content}</office:body></office:document-content>",
        "styles.xml": f"<office:document-styles {_NAMES}>{master}</office:document-styles>",
        "META-INF/manifest.xml": "<manifest/>",
    }
    return zipped(everything | dict(parts or {}))


def change_info(by: str) -> str:
    info = f"<dc:creator>{by}</dc:creator><dc:date>2026-11-20T10:00:00</dc:date>"
    return f"<office:change-info>{info}</office:change-info>"


def book(chapters: dict[str, str], order: list[str], parts: Mapping[str, str | None] | None = None) -> bytes:
    """An e-book: what is inside the body of each chapter, by the name of its part, and their identifiers in order."""
    items = "".join(
        f"<item id='{name[0]}' href='{name.replace(' ', '%20')}' media-type='a/xhtml+xml'/>" for name in chapters
    )
    spine = "".join(f"<itemref idref='{one}'/>" for one in order)
    everything: dict[str, str | None] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": "<container><rootfile full-path='OEBPS/book.opf'/></container>",
        "OEBPS/book.opf": f"<package><item id='img' href='p.svg' media-type='image/svg+xml'/>{items}{spine}</package>",
    }
    everything |= {f"OEBPS/{name}": f"<html><title>No</title><body>{text}" for name, text in chapters.items()}
    everything |= parts or {}
    return zipped({name: text for name, text in everything.items() if text is not None})
