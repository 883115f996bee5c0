"""Word files that nobody means well with: each is small, and wants to be expensive or to break what reads it.

They are made with their names; those whose names begin with "read" are odd, and can be read.
"""

import io
import random
import re
import zipfile
from collections.abc import Iterable, Iterator

from tests.documents.contract import contract
from tests.documents.word import deleted, inserted, level, lists, paragraph, part, run, start_override, style, word

_BEGIN, _END = part("document", "<w:body>|</w:body>").split(b"|")
_MEGABYTE = 1_000_000
_NAMES = (
    *("p", "r", "t", "tc", "tr", "tbl", "numId", "ilvl", "lvl", "pPr", "rPr", "ins", "del", "sdt", "sdtContent"),
    *("comment", "num", "abstractNum", "style", "body"),
)


def damaged(count: int) -> Iterator[bytes]:
    """A good file with changed bytes, cut off, or with changed bytes inside its parts, which are whole as a zip."""
    good = contract().data
    for seed in range(count):
        dice = random.Random(seed)
        if seed % 3 == 0:
            yield _flipped(good, dice, dice.randrange(1, 200))
        elif seed % 3 == 1:
            yield good[: dice.randrange(len(good))]
        else:
            yield _flipped_inside(good, dice)


def large() -> Iterator[tuple[str, bytes]]:
    yield "unpacks to a lot", _document(_repeated(paragraph("A" * 1_000), 100 * _MEGABYTE))
    yield "one text of spaces", _document([b"<w:p><w:r><w:t>", *[b" " * _MEGABYTE] * 100, b"</w:t></w:r></w:p>"])
    yield "two million paragraphs", _document(_repeated("<w:p><w:r><w:t>x</w:t></w:r></w:p>", 60 * _MEGABYTE))
    yield "many empty paragraphs", _document(_repeated("<w:p/>", 3 * _MEGABYTE))
    yield "read: many changes", _document(_repeated(inserted("a") + inserted("b", by="Zoe"), 4 * _MEGABYTE, "w:p"))
    yield "read: many deletions", _document(_repeated(f"{deleted('a')}<w:r><w:t>x</w:t></w:r>", 4 * _MEGABYTE, "w:p"))
    yield "read: many long names", _document(_repeated(inserted("a", by="A" * 100_000), 40 * _MEGABYTE, "w:p"))
    yield "read: one long paragraph", _document(_repeated(run("some words of it "), 4 * _MEGABYTE, "w:p"))


def of_xml() -> Iterator[tuple[str, bytes]]:
    body = "<w:body><w:p><w:r><w:t>before &x; after</w:t></w:r></w:p></w:body>"
    root = part("document", body)
    laughs = "".join(f'<!ENTITY x{at} "{f"&x{at - 1};" * 10}">' for at in range(1, 10))
    for name, inside in (
        ("laughs", f'<!ENTITY x0 "{"lol" * 20}">{laughs}<!ENTITY x "&x9;">'),
        ("a file of the machine", '<!ENTITY x SYSTEM "file:///etc/passwd">'),
        ("an address", '<!ENTITY x SYSTEM "http://127.0.0.1:1/">'),
        ("entities from elsewhere", '<!ENTITY % y SYSTEM "http://127.0.0.1:1/"> %y;'),
    ):
        doctype = f"<!DOCTYPE w [{inside}]>".encode()
        yield name, _document([], root=root.replace(b"<w:document", doctype + b"<w:document"))
    yield "not XML", _document([], root=b"hello" * 1_000)
    yield "nothing", _document([], root=b"")


def deep() -> Iterator[tuple[str, bytes]]:
    for name, begin, end in (
        ("controls", "<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        ("tables", "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
        ("wrappers", "<w:customXml>", "</w:customXml>"),
        ("boxes", "<w:p><w:r><w:pict><w:txbxContent>", "</w:txbxContent></w:pict></w:r></w:p>"),
        ("alternatives", "<mc:AlternateContent><mc:Choice>", "</mc:Choice></mc:AlternateContent>"),
    ):
        for depth in (20_000, 240):
            times = depth // begin.count("<")
            yield f"{depth} deep {name}", word(begin * times + paragraph("x") + end * times)
    for name, begin, end in (
        ("runs", "<w:smartTag>", "</w:smartTag>"),
        ("read: formulas", "<m:oMath>", "</m:oMath>"),
    ):
        yield f"{name} in each other", word(paragraph("x") + f"<w:p>{begin * 230}{run('x')}{end * 230}</w:p>")
    around, after = "<w:customXml>" * 230, "</w:customXml>" * 230
    yield "read: rows in a lot", word(f"<w:tbl>{around}<w:tr><w:tc>{paragraph('x')}</w:tc></w:tr>{after}</w:tbl>")
    choice = "<mc:AlternateContent><mc:Choice>"
    pieces = choice * 110 + "<w:t>x</w:t>" + "</mc:Choice></mc:AlternateContent>" * 110
    yield "read: deep alternatives", word(f"<w:p><w:r>{pieces}</w:r></w:p>")
    yield (
        "read: many fields",
        word(f"{paragraph('x')}<w:p>{'<w:r><w:fldChar w:fldCharType="begin"/></w:r>' * 10_000}</w:p>"),
    )


def of_numbers() -> Iterator[tuple[str, bytes]]:
    wide = '<w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc>'
    yield (
        "read: a wide cell",
        word(f'<w:tbl><w:tr><w:trPr><w:gridBefore w:val="9{"9" * 5_000}"/></w:trPr>{wide * 50}</w:tr></w:tbl>'),
    )
    for text in ("999999999", "-5", "x", "9" * 5_000, ""):
        numbering = lists(
            {1: [level(0, "upperRoman", "%1." * 50), level(1, "lowerLetter", "%2" + "%1" * 5_000)]},
            {1: (1, start_override(0, 1).replace('w:startOverride w:val="1"', f'w:startOverride w:val="{text}"'))},
        ).replace('w:start w:val="1"', f'w:start w:val="{text}"')
        odd = f'<w:numPr><w:ilvl w:val="{text}"/><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="{text}"/>'
        body = paragraph("a", properties=odd) + paragraph("b", number=(1, 1)) * 50
        yield f"read: numbers {text[:10]!r}", word(body, {"numbering": numbering})
    styles = "".join(style(f"S{at}", based_on=f"S{(at + 1) % 3_000}") for at in range(3_000))
    body = "".join(paragraph("x", style=f"S{at}") for at in range(3_000))
    yield "read: styles in a circle", word(body, {"styles": styles})
    comments = "".join(f'<w:commentRangeStart w:id="{at}"/>' for at in range(100_000))
    yield "read: comments that never end", word(f"<w:p>{comments}{run('x')}</w:p>", {"comments": ""})
    yield (
        "read: comments of no number",
        word(paragraph("x"), {"comments": f'<w:comment w:id="a&#10;b">{paragraph("y")}</w:comment>' * 2}),
    )


def _repeated(text: str, size: int, around: str = "") -> Iterator[bytes]:
    piece = text.encode() * max(_MEGABYTE // len(text), 1)
    yield f"<{around}>".encode() if around else b""
    for _ in range(max(size // len(piece), 1)):
        yield piece
    yield f"</{around}>".encode() if around else b""


def _document(body: Iterable[bytes], root: bytes = b"") -> bytes:
    """A Word file whose text is written piece by piece, or is this one."""
    file = io.BytesIO()
    package = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with package, package.open("word/document.xml", "w", force_zip64=True) as text:
        for piece in (root,) if root or not body else (_BEGIN, *body, _END):
            text.write(piece)
    return file.getvalue()


def _flipped(data: bytes, dice: random.Random, times: int) -> bytes:
    changed = bytearray(data)
    for _ in range(times):
        changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def _flipped_inside(data: bytes, dice: random.Random) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as good, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name in good.namelist():
            content = good.read(name)
            package.writestr(name, _swapped(content, dice) if dice.random() < 0.6 else content)
    return file.getvalue()


def _swapped(content: bytes, dice: random.Random) -> bytes:
    """Elements become others, and values other ones: it is XML as before, and means something else."""
    for _ in range(dice.randrange(1, 4)):
        one, other = dice.sample(_NAMES, 2)
        content = re.sub(rf"(</?)w:{one}(?=[ />])".encode(), rf"\1w:{other}".encode(), content)
    value = dice.choice((b"0", b"-1", b"999999999", b"x", b""))

    def one_of_ten(found: re.Match[bytes]) -> bytes:
        return found[0] if dice.random() > 0.1 else b'%b"%b"' % (found[1], value)

    return re.sub(rb'(w:\w+=)"[^"]*"', one_of_ten, content)
