"""Signs on a page: texts and words for people are changed, what a browser sends back or runs is not."""

import re
from html import unescape

import pytest

from runs.text.visible import MAX_SIGNS, make_visible

OVERRIDE = (
    '<span class="odd" title="U+202E right-to-left override"><b>U+202E</b><bdi class="unseen">&#8238;</bdi></span>'
)
MIXED = (
    '<span class="odd" title="Latin and Cyrillic letters in one word"><bdi>p\u0430y</bdi><b>Latin + Cyrillic</b></span>'
)


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("<p>a\u202eb</p>", f"<p>a{OVERRIDE}b</p>"),
        ("<p>&lt;p\u0430y&gt; &amp; more</p>", f"<p>&lt;{MIXED}&gt; &amp; more</p>"),
        ('<a title="a\u202e>b" href="/\u202e">x</a>', '<a title="a\\u202e&gt;b" href="/\u202e">x</a>'),
        ("<title>a\u202e</title>", "<title>a\\u202e</title>"),
        ("<option>p\u0430y</option>", "<option>p\u0430y ‹Latin + Cyrillic›</option>"),
        ("<svg><text>a\u202e</text></svg>\u202e", f"<svg><text>a\\u202e</text></svg>{OVERRIDE}"),
        ("<script>'\u202e'</script>", "<script>'\u202e'</script>"),
        ("<style>a{}\u202e</style>", "<style>a{}\u202e</style>"),
        (
            "<textarea>a\u202e</textarea>",
            '<textarea>a\u202e</textarea><small class="odd-note">In this field: '
            "1 × U+202E right-to-left override.</small>",
        ),
        (
            '<input type="text" value="a\u202e">',
            '<input type="text" value="a\u202e"><small class="odd-note">In this field: '
            "1 × U+202E right-to-left override.</small>",
        ),
        ('<input type="hidden" value="a\u202e">', '<input type="hidden" value="a\u202e">'),
        ("<!-- \u202e -->", "<!-- \u202e -->"),
    ],
)
def test_signs_stand_where_people_read(page: str, shown: str) -> None:
    assert make_visible(page) == shown
    assert make_visible(shown) == shown


def test_a_page_that_was_made_visible_stays_as_it_is() -> None:
    page = make_visible('<p title="p\u0430y \u202e">p\u0430y \u202e \U000e0041</p>')
    assert make_visible(page) == page


def test_what_is_copied_is_the_text() -> None:
    """A browser copies no sign (`user-select`), and what it stands for is there by its number."""
    text = "x = '\u202e\u200b\x1b'"
    shown = re.sub("<b>.*?</b>", "", make_visible(f"<pre>{text}</pre>"))
    assert "".join(chr(int(number)) for number in re.findall("&#([0-9]+);", shown)) == "\u202e\u200b\x1b"
    assert unescape(re.sub("<.*?>|&#(8238|8203|27);", "", shown)) == "x = ''"


@pytest.mark.slow
def test_very_many_do_not_blow_up_a_page() -> None:
    shown = make_visible(f"<p>{'a\u200b' * 10 * MAX_SIGNS}</p>")
    assert shown.count('class="odd"') == MAX_SIGNS
    assert len(shown) < 1_000_000
    assert "\u200b" not in shown
