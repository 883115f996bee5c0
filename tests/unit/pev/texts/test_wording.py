"""Texts on one line, and in quotation marks."""

from hypothesis import given
from hypothesis import strategies as st

from runs.pev.texts.wording import quoted
from runs.text.normalisation import one_spaced


def test_quoted_is_one_short_line() -> None:
    assert quoted("a\n b") == "“a b”"
    assert quoted("a" * 100) == f"“{'a' * 80}…”"
    assert quoted(" " * 1_000 + "a", 10) == "“…”"


@given(st.text("ab \n\t\u3000\x1f", max_size=40), st.integers(1, 9))
def test_white_space_is_one_spaced_in_pieces_as_in_the_whole(text: str, piece: int) -> None:
    assert one_spaced(text, piece) == " ".join(text.split())
