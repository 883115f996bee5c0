"""No text moves a terminal's cursor, colours it, or reads as another one."""

import json

import pytest

from runs.text.visible import marked, printable, remarks, visible_text


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


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("a\u202eb", ["U+202E"]),
        ("a\u2066b\u2069", ["U+2066", "U+2069"]),
        ("a\u200fb", ["U+200F"]),
        ("a\u200b\u200bb\u2060", ["U+200B × 2", "U+2060"]),
        ("pay\u00adment", ["U+00AD"]),
        ("a\u034fb \u3164 \u115f \ufeff", ["U+034F", "U+3164", "U+115F", "U+FEFF"]),
        ("a\u200cb", ["U+200C"]),
        ("a\u200db", ["U+200D"]),
        ("x\ufe0f x\U000e0100", ["U+FE0F", "U+E0100"]),
        ("\u2764\ufe0f\ufe0f", ["U+FE0F"]),
        ("\u0645\u06cc\u200c\u200c\u200c\u062e", ["U+200C × 2"]),
        ("x\U000e0041\U000e0042\U000e007f", ["hidden “AB”"]),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0078\U000e007f", ["hidden “gbx”"]),
        ("a\u2800b", ["U+2800"]),
        ("a" + "\u0301" * 12, ["4 more marks"]),
        ("\x1b[2J \x9b \0", ["U+001B", "U+009B", "U+0000"]),
        ("one\rtwo", ["U+000D"]),
        ("p\u0430ypal", ["Latin + Cyrillic"]),
        ("\u03bfrder", ["Latin + Greek"]),
        ("\uff50ay", ["Latin + full-width"]),
        ("p\U0001d5bay", ["Latin + mathematical"]),
        ("\u0261oogle", ["Latin + phonetic"]),
        ("\u13a1oom", ["Latin + Cherokee"]),
        ("example.\u0441\u043e\u043c at a host", []),
        ("example.\u0441\u043e\u0441", ["all Cyrillic"]),
        ("\u0430\u0440\u0440\u04cf\u0435", ["all Cyrillic"]),
        ("pay \u0430\u0441\u0435 now", ["all Cyrillic"]),
        ("total 1\u09ea0", ["digits of two scripts"]),
    ],
)
def test_what_no_one_sees_or_may_misread_gets_a_sign(text: str, signs: list[str]) -> None:
    assert [part.sign for part in marked(text) if part.sign] == signs
    assert "".join(part.text for part in marked(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "plain, grüße\n\ttab\r\nnext",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937 \u0d28\u0d4d\u200d",
        "\u05e9\u05dc\u05d5\u05dd \u200f(abc)\u200e \u061c1",
        "\U0001f469\u200d\U0001f467 \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3 \U0001f44d\U0001f3fd\u200d\U0001f4bb",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\u845b\U000e0100 \u1820\u180b \u2229\ufe00",
        "TNF\u03b1 NF\u03baB 5 k\u03a9 \u03bcm \u0394T \u03bbmax \u03b2-carotene \u03b1 = 0.05",
        "\u041e\u041e\u041e «\u0420\u043e\u043c\u0430\u0448\u043a\u0430» \u0438 SMS, 3D-\u043c\u043e\u0434",
        "\u03c4\u03bf Microsoft \u03ba\u03b1\u03b9 \u03b7 \u03c3\u03cd\u03bc\u03b2\u03b1\u03c3\u03b7",
        "Python\u5165\u9580 Apple\u0e43\u0e19 PDF\uc744 \u0627\u0644PDF",
        "/\u0261\u0259\u028a/ \u2167 \u210f \u211d\u207f",
        "\u0e01\u0e33 \u0f56\u0f7c\u0f51 \u05d1\u05b0\u05bc\u05e8\u05b5",
    ],
)
def test_what_languages_emoji_and_formulas_need_is_left_as_it_is(text: str) -> None:
    assert [part for part in marked(text) if part.sign] == []
    assert visible_text(text) == text.replace("\r\n", "\n")


def test_a_text_that_is_marked_twice_is_marked_once() -> None:
    text = "p\u0430ypal \u202e \u0441\u043e\u0441 ace"
    assert visible_text(visible_text(text)) == visible_text(text)
    assert visible_text("p\u0430ypal ‹all Greek›") == "p\u0430ypal ‹Latin + Cyrillic› ‹all Greek›"


def test_remarks_count_and_name_each_kind_once() -> None:
    assert remarks("p\u0430ypal p\u0430ypal \u202e\u202e \u200b") == [
        "“p\u0430ypal”: Latin and Cyrillic letters in one word.",
        "2 × U+202E right-to-left override.",
        "1 × U+200B zero width space.",
    ]
