"""Free text is kept as it was typed, and never cut."""

import pytest
from django import forms

from runs.errors import InvalidInput
from runs.web.site.posted_fields import PostedForm, Text


class NoteForm(PostedForm):
    note = Text(max_length=5, strip=False, widget=forms.Textarea)


def test_the_limit_is_told_to_the_script_and_not_to_the_browser_which_would_cut() -> None:
    html = str(NoteForm()["note"])
    assert 'data-max-length="5"' in html
    assert " maxlength=" not in html


def test_a_line_break_is_one_character_whatever_a_browser_sends() -> None:
    assert NoteForm({"note": "a\r\nb\rc"}).checked() == {"note": "a\nb\nc"}
    assert NoteForm({"note": "a\0b"}).checked() == {"note": "ab"}


def test_a_text_that_is_too_long_is_refused_whole() -> None:
    form = NoteForm({"note": "a\r\nb\r\ncdef"})
    with pytest.raises(InvalidInput, match="This is too long by 3 characters; 5 fit"):
        form.checked()
    assert form["note"].value() == "a\r\nb\r\ncdef"
