import pytest

from runs.text.text_limits import too_long


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ""),
        ("abc", ""),
        (" abc\n\n", ""),
        ("abcd", "The title is too long by 1 character; 3 fit."),
        ("x" * 1_503, "The title is too long by 1,500 characters; 3 fit."),
    ],
)
def test_it_says_by_how_much_a_text_is_too_long(text: str, sentence: str) -> None:
    assert too_long(text, 3, "The title") == sentence


def test_without_a_name_it_is_about_this() -> None:
    assert too_long("abcd", 3) == "This is too long by 1 character; 3 fit."
