"""Letters that one glyph shows together are read in their order, also where text goes from right to left."""

import pytest

from runs.documents.readers.pdf.reading import make
from tests.documents import pdfs


def written(*glyphs: str) -> bytes:
    """A line of glyphs, from left to right, of which the font says that each shows these letters."""
    codes = {glyph: 65 + at for at, glyph in enumerate(dict.fromkeys(glyphs))}
    names = "".join(f"<{code:02x}> <{glyph.encode('utf-16-be').hex()}>" for glyph, code in codes.items())
    cmap = f"1 begincodespacerange <00> <FF> endcodespacerange {len(codes)} beginbfchar {names} endbfchar"
    line = pdfs.line("".join(chr(codes[glyph]) for glyph in glyphs))
    return pdfs.one_page(line, pdfs.COURIER.replace(b">>", b"/ToUnicode 6 0 R>>"), pdfs.stream(cmap.encode()))


def test_arabic_is_read_as_it_is_written() -> None:
    """Of a font that joins lam with alef in one glyph."""
    words = "السلام لا إله الأول خلال"
    made = make(pdfs.typeset(f'#set text(font: "DejaVu Sans Mono", lang: "ar", dir: rtl)\n{words}'))
    assert made.text == words


@pytest.mark.parametrize(
    ("glyphs", "text"),
    [
        (("م", "لا", "س"), "سلام"),
        (("م", "لا", "لا", "س"), "سلالام"),
        (("م", "لأ", "س"), "سلأم"),
        (("م", "لا\u064b"), "لا\u064bم"),
        (("ל", "ש\u05c1"), "ש\u05c1ל"),
        (("م", "\ufefb", "س"), "سلام"),
        (("م", "س", "ل", "ا"), "السم"),
        (("\ufdf2",), "الله"),
        (("A", "fi", "T"), "AfiT"),
    ],
)
def test_letters_of_one_glyph_are_in_order(glyphs: tuple[str, ...], text: str) -> None:
    assert make(written(*glyphs)).text == text
