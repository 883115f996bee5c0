"""Fonts of signs: what their codes and letters show."""

import pytest

from runs.documents.reading.fields import sign_of, text_in


@pytest.mark.parametrize(
    ("font", "code", "sign"),
    [("Wingdings", 0xF0FE, "☑"), ("symbol", 0x61, "α"), ("Arial", 0xE4, "ä"), ("Wingdings", 0xF041, "\uf041")],
)
def test_a_code_is_the_sign_that_its_font_shows(font: str, code: int, sign: str) -> None:
    assert sign_of(font, code) == sign


@pytest.mark.parametrize(
    ("font", "text", "shown"),
    [("Symbol", "a = 10", "α = 10"), ("Wingdings", "\xfc A1", "✓ \uf041\uf031"), ("Wingdings 2", "R", "☑")],
)
def test_letters_in_a_font_of_signs_are_no_letters(font: str, text: str, shown: str) -> None:
    assert text_in(font, text) == shown
