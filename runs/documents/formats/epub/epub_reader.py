"""Reads e-books (EPUB) chapter by chapter, in reading order, as HTML."""

import posixpath
from functools import partial
from urllib.parse import unquote

from runs.documents.formats.epub import FORMAT
from runs.documents.formats.html.html_reader import CUT, add_pieces, page_of
from runs.documents.reading.building import Builder, BuiltDocument
from runs.documents.reading.package_parts import Element, Package
from runs.errors import InvalidInput

MAX_CHAPTERS = 5_000
_DAMAGED = "is not an e-book, or is damaged, because its list of chapters is missing"
_ENCRYPTED = "is protected against copying, so that it cannot be read"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Methods that obfuscate fonts. They do not affect text."""


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    package = Package(data)
    container = package.xml("META-INF/container.xml")
    file = next(container.iter("{*}rootfile"), None) if container is not None else None
    path = file.get("full-path", "") if file is not None else ""
    book = package.xml(path) if path else None
    if book is None:
        raise InvalidInput(_DAMAGED)
    items = {one.get("id", ""): one for one in book.iter("{*}item")}
    chapters = [items.get(one.get("idref", "")) for one in book.iter("{*}itemref")]
    if len(chapters) > MAX_CHAPTERS:
        raise InvalidInput(f"has more than {MAX_CHAPTERS:,} chapters; split it")
    locked = _encrypted(package)
    builder = Builder(FORMAT.name)
    cautions: dict[str, None] = {}
    for number, item in enumerate(chapters, 1):
        name = _name(posixpath.dirname(path), item) if item is not None else ""
        if name in locked:
            raise InvalidInput(_ENCRYPTED)
        content = package.read(name) if name else None
        if content is None:
            builder.note(f"Chapter {number} of {len(chapters)} is missing in the file.")
            continue
        page = page_of(content, linked=partial(_sheet, package, posixpath.dirname(name)))
        add_pieces(builder, page.pieces, f"sp{number}.")
        if page.is_cut:
            builder.note(f"Chapter {number}: {CUT}")
        cautions.update(dict.fromkeys(page.cautions))
    for caution in cautions:
        builder.caution(caution)
    return builder.build(FORMAT.unit, len(chapters))


def _sheet(package: Package, folder: str, address: str) -> str | None:
    """Returns a style sheet of the book by its address in a chapter. Imported style sheets are in the same folder."""
    data = package.read(_path(folder, address)) if "://" not in address else None
    return data.decode(errors="replace") if data is not None else None


def _path(folder: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(address.partition("#")[0]))).lstrip("/")


def _name(folder: str, item: Element) -> str:
    """Returns the part of an item, or an empty string for pictures, which may be chapters too."""
    if "html" not in item.get("media-type", "html"):
        return ""
    return _path(folder, item.get("href", ""))


def _encrypted(package: Package) -> frozenset[str]:
    root = package.xml("META-INF/encryption.xml")
    found = set[str]()
    for one in root.iter("{*}EncryptedData") if root is not None else ():
        method, place = one.find("{*}EncryptionMethod"), next(one.iter("{*}CipherReference"), None)
        if place is not None and (method is None or method.get("Algorithm") not in _FONTS):
            found.add(unquote(place.get("URI", "")))
    return frozenset(found)
