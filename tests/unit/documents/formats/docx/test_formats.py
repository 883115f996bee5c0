"""Numbers in all the styles that contracts use."""

import pytest

from runs.documents.formats.docx.numbering import format_number


@pytest.mark.parametrize(
    ("style", "numbers", "texts"),
    [
        ("decimal", (0, 1, 32_767), ("0", "1", "32767")),
        ("decimalZero", (0, 9, 10, 100), ("00", "09", "10", "100")),
        ("lowerRoman", (0, 4, 9, 49, 1999), ("", "iv", "ix", "xlix", "mcmxcix")),
        ("upperRoman", (14, 90, 4_999, 5_000), ("XIV", "XC", "MMMMCMXCIX", "5000")),
        ("lowerLetter", (0, 1, 26, 27, 28, 53), ("", "a", "z", "aa", "bb", "aaa")),
        ("upperLetter", (3, 29, 780, 781), ("C", "CC", "Z" * 30, "781")),
        ("ordinal", (1, 2, 3, 4, 11, 12, 13), ("1st", "2nd", "3rd", "4th", "11th", "12th", "13th")),
        ("ordinal", (21, 112), ("21st", "112th")),
        ("cardinalText", (0, 1, 21, 100, 342), ("Zero", "One", "Twenty-one", "One hundred", "Three hundred forty-two")),
        ("cardinalText", (1_000,), ("1000",)),
        ("ordinalText", (1, 2, 5, 9, 12), ("First", "Second", "Fifth", "Ninth", "Twelfth")),
        ("ordinalText", (20, 21, 30), ("Twentieth", "Twenty-first", "Thirtieth")),
        ("ordinalText", (100, 1_000), ("One hundredth", "1000th")),
        ("decimalEnclosedParen", (3,), ("(3)",)),
        ("decimalEnclosedFullstop", (3,), ("3.",)),
        ("decimalEnclosedCircle", (1, 20, 21), ("①", "⑳", "21")),
        ("numberInDash", (3,), ("- 3 -",)),
        ("hex", (255,), ("FF",)),
        ("chicago", (0, 1, 4, 5), ("", "*", "§", "**")),
        ("none", (3,), ("",)),
        ("0001, 0002, 0003, ...", (7, 12_345), ("0007", "12345")),
        ("thaiCounting", (3,), ("3",)),
    ],
)  # fmt: skip
def test_a_number_is_written_in_its_style(style: str, numbers: tuple[int, ...], texts: tuple[str, ...]) -> None:
    assert [format_number(number, style) for number in numbers] == list(texts)


def test_no_number_makes_a_long_label() -> None:
    styles = ["upperRoman", "lowerLetter", "chicago", "cardinalText", "ordinalText", "decimalEnclosedCircle"]
    assert max(len(format_number(number, style)) for style in styles for number in (32_767, 10**9, 999, 777)) < 45
