"""PDF files written object by object, or laid out by typst, of which the tests know every word."""

import io
import json
import random
import zlib
from collections.abc import Iterable, Sequence
from importlib import resources

import typst
from PIL import Image, ImageFont
from pypdf import PdfWriter

_TEXT = (
    "the liability of a party efficient offices affidavit fluffy supplier customer shall indemnify "
    "reasonable endeavours jurisdiction severability counterparts confidential information obligations "
    "termination thirty days written notice third-party re-sign 10-20 5% 1,000.00 “quoted” § 4.2(b) it’s "
    "property assignment in and to any by under this agreement "
)
_TWO_COLUMNS = """
#set document(date: none)
#set page(paper: "a4", columns: 2, header: [Master Services Agreement], footer: context [Page #counter(page).display()])
#set text(size: 10pt, hyphenate: true, lang: "en")
#set par(justify: true)
#for words in json(bytes(sys.inputs.data)) [ #words #parbreak() ]
"""
HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
COURIER = b"<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>"


def words(count: int, seed: int = 1) -> list[str]:
    return random.Random(seed).choices(_TEXT.split(), k=count)


def two_columns(text: Sequence[str]) -> bytes:
    """These words in paragraphs of ninety, justified and hyphenated, with a header and a footer on each page."""
    paragraphs = [" ".join(text[at : at + 90]) for at in range(0, len(text), 90)]
    return typst.compile(_TWO_COLUMNS.encode(), sys_inputs={"data": json.dumps(paragraphs)})


def typeset(source: str) -> bytes:
    """What typst makes of its mark-up, on pages of 400 points by 300."""
    return typst.compile(f"#set page(width: 400pt, height: 300pt)\n{source}".encode())


def file_of(objects: Iterable[bytes]) -> bytes:
    """Objects numbered from 1, of which the first is the catalogue."""
    file, offsets = io.BytesIO(), []
    file.write(b"%PDF-1.7\n")
    for number, body in enumerate(objects, 1):
        offsets.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start, count = file.tell(), len(offsets) + 1
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % count)
    file.write(b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    file.write(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (count, start))
    return file.getvalue()


def stream(data: bytes, more: bytes = b"") -> bytes:
    packed = zlib.compress(data)
    return b"<</Length %d/Filter/FlateDecode%s>>stream\n%s\nendstream" % (len(packed), more, packed)


def pages_of(
    contents: Sequence[bytes], *, box: str = "0 0 612 792", page: str = "", catalog: str = "", font: bytes = HELVETICA
) -> bytes:
    """Pages with these contents in the font `/F`. `page` and `catalog` are more entries of their dictionaries."""
    kids = " ".join(f"{number} 0 R" for number in range(4, 4 + 2 * len(contents), 2))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{catalog}>>".encode(),
        f"<</Type/Pages/Kids[{kids}]/Count {len(contents)}>>".encode(),
        font,
    ]
    for number, content in enumerate(contents):
        resources = f"/Resources<</Font<</F 3 0 R>>>>/Contents {5 + 2 * number} 0 R"
        objects += [f"<</Type/Page/Parent 2 0 R/MediaBox[{box}]{resources}{page}>>".encode(), stream(content)]
    return file_of(objects)


def line(text: str, x: float = 72, y: float = 700, size: float = 12, more: str = "") -> bytes:
    """One line of text; `more` are operators before it."""
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"q {more} BT /F {size} Tf {x} {y} Td ({escaped}) Tj ET Q\n".encode("cp1252")


def word_by_word(text: Sequence[str], *, lines: int = 48, width: int = 80, size: float = 10) -> bytes:
    """These words, each put at its place by itself and without any space, as browsers print. Words that do not fit into
    their line are divided behind a hyphen, if they are long.
    """
    contents, row, column, page = list[bytes](), 0, 0, list[bytes]()
    for word in text:
        left = width - column
        if len(word) > left and word.isalpha() and left > 4 and len(word) > 7:
            page.append(_at(word[:4] + "-", row, column, size))
            word, row, column = word[4:], row + 1, 0
        elif len(word) > left:
            row, column = row + 1, 0
        if row >= lines:
            contents.append(b"".join(page))
            row, page = 0, []
        page.append(_at(word, row, column, size))
        column += len(word) + 1
    return pages_of([*contents, b"".join(page)], font=COURIER)


def _at(word: str, row: int, column: int, size: float) -> bytes:
    return line(word, 50 + column * size * 0.6, 740 - row * size * 1.4, size)


def rotated(data: bytes, degrees: int) -> bytes:
    """Each page turned clockwise by its entry /Rotate."""
    writer = PdfWriter(clone_from=io.BytesIO(data))
    for page in writer.pages:
        page.rotate(degrees)
    return _saved(writer)


def locked(data: bytes) -> bytes:
    """With a password, which is "secret"."""
    writer = PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt("secret", algorithm="RC4-128")
    return _saved(writer)


def _saved(writer: PdfWriter) -> bytes:
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def joined(*files: bytes) -> bytes:
    """The pages of all of them in one file."""
    writer = PdfWriter()
    for file in files:
        writer.append(io.BytesIO(file))
    return _saved(writer)


def filled_form(value: str) -> bytes:
    """A form with one field, of which the file has the value and no picture."""
    field = (
        f"<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V({value})/Rect[72 660 300 680]/DA(/Helv 12 Tf 0 g)/P 3 0 R/F 4>>"
    )
    form = b"<</Fields[6 0 R]/NeedAppearances true/DA(/Helv 12 Tf 0 g)/DR<</Font<</Helv 5 0 R>>>>>>"
    page = b"/MediaBox[0 0 612 792]/Resources<</Font<</F 5 0 R>>>>/Contents 4 0 R/Annots[6 0 R]"
    return file_of(
        [
            b"<</Type/Catalog/Pages 2 0 R/AcroForm 7 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R" + page + b">>",
            stream(line("Tenant:", y=700)),
            HELVETICA,
            field.encode(),
            form,
        ]
    )


def over_picture(content: bytes, picture: Image.Image) -> bytes:
    """A page that is a picture, with more on top of it: a scan with the words that OCR has read, for example."""
    return with_picture(_PICTURE + content, picture)


def under_picture(content: bytes, picture: Image.Image) -> bytes:
    """A page whose picture covers what was drawn before it."""
    return with_picture(content + _PICTURE, picture)


_PICTURE = b"q 612 0 0 792 0 0 cm /I Do Q "


def with_picture(content: bytes, picture: Image.Image) -> bytes:
    """A page whose content draws a picture, which is `/I`."""
    file = io.BytesIO()
    picture.convert("L").save(file, "JPEG")
    image = b"/Subtype/Image/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/DCTDecode/Length %d" % file.tell()
    return file_of(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
            b"/Resources<</Font<</F 5 0 R>>/XObject<</I 6 0 R>>>>>>",
            stream(content),
            HELVETICA,
            b"<<%s/Width %d/Height %d>>stream\n%s\nendstream" % (image, *picture.size, file.getvalue()),
        ]
    )


def one_page(content: bytes, font: bytes, *more: bytes, fonts: bytes = b"") -> bytes:
    """A page in the font `/F`; objects from 6 on are what the font refers to, and `fonts` names more fonts."""
    resources = b"/Resources<</Font<</F 5 0 R" + fonts + b">>>>"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R" + resources + b">>"
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page]
    return file_of([*tree, stream(content), font, *more])


def nameless(text: str) -> bytes:
    """A line whose font says of each letter that it is a control character, as broken ones do."""
    codes = sorted(set(text) - {" "})
    names = "".join(f"<{ord(code):02x}> <{1 + at % 8:04x}>" for at, code in enumerate(codes))
    cmap = f"1 begincodespacerange <00> <FF> endcodespacerange {len(codes)} beginbfchar {names} endbfchar"
    return one_page(line(text, size=16), HELVETICA.replace(b">>", b"/ToUnicode 6 0 R>>"), stream(cmap.encode()))


def unnamed(lines: Sequence[str], said: Sequence[str] = (), *, more: bytes = b"") -> bytes:
    """Lines in a font that has its letters by number and does not name them, as some programs print. `said` are the
    letters that the numbers stand for: those 29 before them in ASCII unless they are given, so that "The" reads "7KH".
    `more` are lines in Helvetica, which is `/G`.
    """
    said = said or ["".join(chr(ord(letter) - 29) for letter in row) for row in lines]
    data = resources.files("mermaidx").joinpath("assets/fonts/DejaVuSans.ttf").read_bytes()
    measured, glyphs, widths = ImageFont.truetype(io.BytesIO(data), 1_000), bytearray(512), list[str]()
    for shown, code in sorted(set(zip("".join(lines), "".join(said), strict=True))):
        glyphs[2 * ord(code) + 1] = ord(shown) - 29  # the glyphs of this font are in the order of ASCII
        widths.append(f"{ord(code)}[{round(measured.getlength(shown))}]")
    rows = (
        b"BT /F 14 Tf 72 %d Td <%s> Tj ET\n" % (700 - 24 * at, row.encode("utf-16-be").hex().encode())
        for at, row in enumerate(said)
    )
    font = b"<</Type/Font/Subtype/Type0/BaseFont/DejaVuSans/Encoding/Identity-H/DescendantFonts[6 0 R]>>"
    descendant = (
        b"<</Type/Font/Subtype/CIDFontType2/BaseFont/DejaVuSans/CIDToGIDMap 10 0 R/FontDescriptor 7 0 R"
        b"/W[%s]/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>" % " ".join(widths).encode()
    )
    descriptor = (
        b"<</Type/FontDescriptor/FontName/DejaVuSans/Flags 4/Ascent 928/Descent -236/CapHeight 730/StemV 80"
        b"/ItalicAngle 0/FontBBox[-1021 -463 1793 1232]/FontFile2 8 0 R>>"
    )
    parts = descendant, descriptor, stream(data, b"/Length1 %d" % len(data)), HELVETICA, stream(bytes(glyphs))
    return one_page(b"".join(rows) + more, font, *parts, fonts=b"/G 9 0 R")


def with_files(data: bytes, count: int) -> bytes:
    """With so many files inside."""
    writer = PdfWriter(clone_from=io.BytesIO(data))
    for number in range(count):
        writer.add_attachment(f"annex{number}.txt", b"text")
    return _saved(writer)
