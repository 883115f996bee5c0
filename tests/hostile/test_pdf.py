"""PDF files made to break their reader end as text or as a sentence, within limits; pdfium may end its process."""

import random
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest

from runs import isolation
from runs.documents.model.layout import Rendered
from runs.documents.packed_parts import unpacked
from runs.errors import InvalidInput
from runs.isolation import ChildFailed, Limits
from tests.documents import pdfs

_LIMITS = Limits(megabytes=300, cpu_seconds=20, seconds=40, files=32, output=32_000_000)
_LITTLE = replace(_LIMITS, megabytes=150)
"""Less memory than readers have, so that it is used up sooner."""
_TEXT = pdfs.line("Hello")
_FONT = b"/Resources<</Font<</F 5 0 R>>>>"
_CALLS: dict[str, dict[str, int | str]] = {
    "read": {},
    "places": {"page": 1, "spans": "0-5"},
    "picture": {"page": 1},
    "thumbnail": {},
    "extract_pages": {"first": 1, "last": 1},
}


def ending(function: str, data: bytes, limits: Limits = _LIMITS) -> bytes | str:
    """What the function returns, or why it does not."""
    try:
        module = "pdf_reader" if function == "read" else "drawing"
        return isolation.run(f"runs.documents.formats.pdf.{module}.{function}", data, limits, **_CALLS[function])
    except (InvalidInput, ChildFailed) as error:
        return str(error)


def text_of(data: bytes, limits: Limits = _LIMITS) -> str:
    """The text that is read, or why there is none."""
    found = ending("read", data, limits)
    return found if isinstance(found, str) else list(unpacked(found))[1].decode()


def _page(content: bytes, more: bytes = b"", *objects: bytes) -> bytes:
    """A page; objects from 6 on are further ones."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R" + more + b">>"
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page]
    return pdfs.file_of([*tree, content, pdfs.HELVETICA, *objects])


def _twice_deflated(data: bytes) -> bytes:
    packed = zlib.compress(zlib.compress(data, 9), 9)
    return b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%s\nendstream" % (len(packed), packed)


def _nested_forms() -> bytes:
    """Ten in each of ten, eight levels deep."""
    forms = []
    for level in range(8):
        inner = b"/XObject<</X %d 0 R>>" % (7 + level) if level < 7 else b"/Font<</F 5 0 R>>"
        entries = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<<" + inner + b">>"
        forms.append(pdfs.stream(b"/X Do " * 10 if level < 7 else _TEXT, entries))
    return _page(pdfs.stream(b"/X Do " * 10), b"/Resources<</XObject<</X 6 0 R>>>>", *forms)


def _pages(kids: bytes, count: int) -> bytes:
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, count), page]
    return pdfs.file_of([*tree, pdfs.stream(_TEXT), pdfs.HELVETICA])


def _many_notes() -> bytes:
    note = b"<</Type/Annot/Subtype/FreeText/Rect[10 10 50 50]/Contents(x)/DA(/F 12 Tf 0 g)>>"
    more = b"/Resources<</Font<</F 5 0 R>>>>/Annots[" + b"6 0 R " * 100_000 + b"]"
    return _page(pdfs.stream(_TEXT), more, note)


def _many_strikes() -> bytes:
    """On each of thirty pages three hundred annotations, each of which strikes all words out two hundred times."""
    kids = b"3 0 R " * 30
    content = b"".join(pdfs.line("word " * 20, y=780 - 10 * at, size=8) for at in range(70))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R%s/Annots 7 0 R>>" % _FONT
    quads = b"0 0 612 0 0 792 612 792 " * 200
    strike = b"<</Type/Annot/Subtype/StrikeOut/Rect[0 0 9 9]/QuadPoints[%s]/Contents 8 0 R/AP<</N 9 0 R>>>>" % quads
    return pdfs.file_of(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[%s]/Count 30>>" % kids,
            page,
            pdfs.stream(content),
            pdfs.HELVETICA,
            strike,
            b"[" + b"6 0 R " * 300 + b"]",
            b"(" + b"x" * 9_000 + b")",
            pdfs.stream(b" ", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]"),
        ]
    )


_MEMORY = {"its process was ended by signal 6", "it took more than 150 MB"}
"""pdfium ends its process where it gets no more; the watch over its memory may come before."""
_TOO_MANY = "has more than 2,000 pages; split it"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "texts"),
    [
        (lambda: _page(pdfs.stream(b"(AAAAAAAAAAAAAAAAAAAA) Tj " * 4_000_000), _FONT), _MEMORY),
        (lambda: _page(_twice_deflated(b"0 " * 100_000_000), _FONT), _MEMORY),
        (_nested_forms, _MEMORY),
        (lambda: _pages(b"2 0 R 3 0 R", 999_999_999), {"Hello", _TOO_MANY}),
        (lambda: _pages(b"3 0 R " * 200_000, 200_000), {_TOO_MANY}),
        (lambda: pdfs.pages_of([_TEXT], box="0 0 2000000 2000000"), {"Hello"}),
        (lambda: pdfs.pages_of([_TEXT], box="0 0 0 0"), {"Hello"}),
        (_many_notes, {"Hello" + "\n\fx" * 300}),
    ],
    ids=["stream", "twice deflated", "forms", "cycle", "pages", "huge page", "no page", "notes"],
)
def test_bombs_end_within_limits(make: Callable[[], bytes], texts: set[str]) -> None:
    data, limits = make(), _LITTLE if texts is _MEMORY else _LIMITS
    assert text_of(data, limits) in texts
    endings = {function: ending(function, data, limits) for function in _CALLS if function != "read"}
    wrong = {name: found for name, found in endings.items() if not isinstance(found, bytes) and found not in texts}
    assert wrong == {}


@pytest.mark.slow
def test_the_picture_of_a_huge_picture_is_small() -> None:
    image = b"/Type/XObject/Subtype/Image/Width 30000/Height 30000/BitsPerComponent 8/ColorSpace/DeviceGray"
    stream = _twice_deflated(bytes(100_000_000)).replace(b"<<", b"<<" + image, 1)
    data = _page(pdfs.stream(b"612 0 0 792 0 0 cm /I Do"), b"/Resources<</XObject<</I 6 0 R>>>>", stream)
    found = ending("picture", data)
    assert isinstance(found, bytes)
    assert len(found) < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_file_is_read_or_refused(seed: int) -> None:
    damaged, chance = bytearray(pdfs.two_columns(pdfs.words(3_000))), random.Random(seed)
    for _ in range(300):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    for function in _CALLS:
        found = ending(function, bytes(damaged))
        assert isinstance(found, bytes) or found.startswith(("is damaged", "has no", "has a damaged", "its process"))


def test_half_a_file_is_refused() -> None:
    data = pdfs.two_columns(pdfs.words(3_000))
    assert text_of(data[: len(data) // 2]) == "is damaged, or no PDF file; open it and save it again"


@pytest.mark.slow
def test_words_are_looked_for_under_marks_and_comments_are_read_within_limits() -> None:
    found = ending("read", _many_strikes())
    assert isinstance(found, bytes)
    head, text = unpacked(found)
    rendered = Rendered.model_validate_json(head)
    assert text.startswith(b"word word")
    assert [note.partition(" of 30 ")[0] for note in rendered.notes] == ["Pages 1 to 30", "Pages 1 to 30"]


@pytest.mark.slow
def test_looking_for_hidden_letters_ends() -> None:
    chance = random.Random(1)
    lines = (
        pdfs.line(f"{chance.random()}", x=chance.random() * 500, y=chance.random() * 780, size=2, more="1 g")
        for _ in range(2_000)
    )
    found = ending("read", pdfs.pages_of([b"".join(lines)]))
    assert isinstance(found, bytes)
    head, text = unpacked(found)
    rendered, seen = Rendered.model_validate_json(head), text.decode()
    for mark in reversed(rendered.layout.marks):
        seen = seen[: mark.start] + seen[mark.end :]
    assert (rendered.notes, seen.strip()) == ((), "")
