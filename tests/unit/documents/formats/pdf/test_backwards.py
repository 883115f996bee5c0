"""Letters that one glyph shows together are read in their order, also where text goes from right to left."""

from collections.abc import Mapping

import pytest

from runs.documents.formats.pdf.pdf_reader import make
from tests.documents import pdfs

_LAM_ALEF = "\ufefb"


def written(*glyphs: str) -> bytes:
    """A line of glyphs, from left to right, of which the font says that each shows these letters."""
    codes = {glyph: 65 + at for at, glyph in enumerate(dict.fromkeys(glyphs))}
    return _file(pdfs.line("".join(chr(codes[glyph]) for glyph in glyphs)), codes)


def as_chromium_writes(line: str, degrees: int = 0) -> bytes:
    """Words from the left one, those that are read from the right as reversed characters, each said by itself, and lam
    with alef as one glyph.
    """
    line = line.replace("لا", _LAM_ALEF)
    letters = {letter: 33 + at for at, letter in enumerate(dict.fromkeys(line))}
    content, left = list[str](), 72.0
    for word in line.split()[::-1]:
        from_right = word[0] >= "\u0590"
        begin = f"BT /F 12 Tf {left} 700 Td"
        if from_right:
            shown = " ".join(_said(letter, letters[letter]) for letter in reversed(word))
            content.append(f"/ReversedChars BMC {begin} {shown} ET EMC")
        else:
            content.append(f"{begin} <{''.join(f'{letters[letter]:02x}' for letter in word)}> Tj ET")
        left += 7.2 * len(word)
        content.append(f"BT /F 12 Tf {left} 700 Td <{letters.get(' ', 32):02x}> Tj ET")
        left += 7.2
    codes = {letter.replace(_LAM_ALEF, "لا"): code for letter, code in letters.items()}
    return pdfs.rotated(_file("\n".join(content).encode(), codes), degrees)


def _said(letter: str, code: int) -> str:
    if letter == _LAM_ALEF:
        return f"<{code:02x}> Tj"
    return f"/Span<</ActualText <FEFF{ord(letter):04X}>>> BDC <{code:02x}> Tj EMC"


def _file(content: bytes, codes: Mapping[str, int]) -> bytes:
    names = "".join(f"<{code:02x}> <{glyph.encode('utf-16-be').hex()}>" for glyph, code in codes.items())
    cmap = f"1 begincodespacerange <00> <FF> endcodespacerange {len(codes)} beginbfchar {names} endbfchar"
    return pdfs.one_page(content, pdfs.COURIER.replace(b">>", b"/ToUnicode 6 0 R>>"), pdfs.stream(cmap.encode()))


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


@pytest.mark.parametrize("degrees", [0, 180])
@pytest.mark.parametrize(
    "line",
    [
        "عقد الإيجار رقم 1,234 ريال إلا لا 5/3 سنة.",
        "خلال عقد 12 عند the contract",
        "חוזה שכירות מספר 1234 בסך 5,000.50",
        "یہ معاہدہ فریق 7",
    ],
)
def test_words_that_are_drawn_one_by_one_are_in_order(line: str, degrees: int) -> None:
    assert make(as_chromium_writes(line, degrees)).text.split() == line.split()
