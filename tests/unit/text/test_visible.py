"""No text moves a terminal's cursor, colours it, or reads as another one."""

import json

import pytest

from runs.text.visible import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, grüße\n\ttab 日本 👩\u200d👧", "plain, grüße\n\ttab 日本 👩\u200d👧"),
        ("\x1b[2J\x1b]0;title\x07", "\\u001b[2J\\u001b]0;title\\u0007"),
        ("\x9b31mred", "\\u009b31mred"),
        ("safe\rEVIL", "safe\\u000dEVIL"),
        ("line\r\nline", "line\nline"),
        ("a\x08b\x7fc\0", "a\\u0008b\\u007fc\\u0000"),
        ("txt.\u202eexe\u2066\u2069\u200f\u061c", "txt.\\u202eexe\\u2066\\u2069\\u200f\\u061c"),
        ("one\u2028two\x85three", "one\\u2028two\\u0085three"),
        ("half \ud800", "half \\ud800"),
        ("hidden \U000e0041", "hidden \\udb40\\udc41"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_text_that_is_json_stays_the_same_json() -> None:
    value = {"a\x9b": '\x1b[0m \u202e \U000e0041 \\ " \ud800 \n', "b": ["\x85"]}
    assert json.loads(printable(json.dumps(value, ensure_ascii=False, indent=2))) == value
