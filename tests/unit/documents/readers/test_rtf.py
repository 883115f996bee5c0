"""RTF line by line: encodings, changes, what is hidden, what stands beside the text."""

import pytest

from runs import guarded
from runs.documents.packing import unpacked
from runs.documents.readers import rtf
from runs.documents.readers.building import Made
from runs.documents.readers.rtf import make
from runs.errors import InvalidInput
from runs.guarded import Limits
from runs.pev.documents.layout import BlockKind, MarkKind


def _rtf(body: str) -> bytes:
    return rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial Cyr;}}" + body.encode("latin-1") + b"}"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"One\par Two \b bold\b0 .\par\par\par Three\par", "One\nTwo bold.\n\nThree"),
        ("a\r\nb\\\nc", "ab\nc"),
        (r"\'e4 \u8364? \uc0\u8364 x \uc2\u8364??y \uc1\u-10179?\u-8704? z", "ä € €x €y 😀 z"),
        (r"{\f1 \'e4\'e5} \'e4", "де ä"),
        (r"\ldblquote a\rdblquote\~b\_c\{d\}\\", "“a”\u00a0b\u2011c{d}\\"),
        (r"{\info{\title No}}{\*\unknown no}{\stylesheet no;}yes", "yes"),
        (r"{\pict\bin5 a}{\\b}yes", "yes"),
        (r"a\cell b\cell\row c", "a\tb\nc"),
        (r'see {\field{\*\fldinst HYPERLINK "http://x.y"}{\fldrslt the page}}.', "see the page."),
        (r"a{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt In a box\par}}b", "a\nIn a box\n\nb"),
        (r"\uc1\u8364\'80 x", "€ x"),
        (r"{\ansicpg99999 \'e4}", "ä"),
        ("end}not this{", "end"),
    ],
)
def test_text_is_what_is_shown(body: str, text: str) -> None:
    assert make(_rtf(body)).text == text


def test_lines_are_numbered_and_labelled() -> None:
    made = make(_rtf(r"{\listtext 1.\tab}First\par\par{\pntext (a)\tab}Second"))
    assert _blocks(made) == [
        ("L1", BlockKind.LINE, "First"),
        ("L2", BlockKind.LINE, ""),
        ("L3", BlockKind.LINE, "Second"),
    ]
    assert [block.label for block in made.rendered.layout.blocks] == ["1.", "", "(a)"]
    assert (made.rendered.layout.format, made.rendered.layout.unit, made.rendered.layout.units) == ("rtf", "line", 3)


def test_changes_are_accepted_and_said() -> None:
    authors = r"{\*\revtbl{Unknown;}{Al\u105?ce;}}"
    date = (2026 - 1900) << 20 | 11 << 16 | 20 << 11 | 10 << 6 | 5
    made = make(
        _rtf(
            rf"{authors}Pay {{\revised\revauth1\revdttm{date} at once}}{{\deleted\revauthdel1\revdttmdel{date} never}}."
        )
    )
    assert made.text == "Pay at once."
    [mark], [gone] = made.rendered.layout.marks, made.rendered.layout.deletions
    assert (mark.kind, made.text[mark.start : mark.end], mark.by, mark.on) == (
        MarkKind.INSERTED,
        "at once",
        "Alice",
        "2026-11-20T10:05",
    )
    assert (gone.at, gone.text, gone.by, gone.on) == (11, "never", "Alice", "2026-11-20T10:05")


def test_hidden_text_is_marked() -> None:
    made = make(_rtf(r"a {\v secret} b \v c\v0  d \v e\plain  f\par \v g \par"))
    assert [made.text[m.start : m.end] for m in made.rendered.layout.marks if m.kind is MarkKind.HIDDEN] == [
        "secret",
        "c",
        "e",
        "g",
    ]


def test_notes_comments_and_margins_stand_behind_the_text() -> None:
    made = make(_rtf(r"{\header Draft\par}a{\footnote\pard Below}b{\*\annotation Why?}c{\footer Page}\par d"))
    assert _blocks(made) == [
        ("L1", BlockKind.LINE, "abc"),
        ("L2", BlockKind.LINE, "d"),
        ("L3", BlockKind.FOOTNOTE, "Below"),
        ("L4", BlockKind.COMMENT, "Why?"),
        ("L5", BlockKind.HEADER, "Draft"),
        ("L6", BlockKind.FOOTER, "Page"),
    ]


@pytest.mark.parametrize("data", [b"", b"{\\rtf1 ", b"{\\rtf1}", b"{\\rtf1 {\\pict 00}}"])
def test_without_text_there_is_nothing_to_read(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"is no RTF file|has no text in it"):
        make(data)


@pytest.mark.parametrize(
    "data",
    [
        b"{\\rtf1 " + b"{" * 200_000 + b"x" + b"}" * 200_000 + b"}",
        b"{\\rtf1 x" + b'{\\field{\\*\\fldinst{HYPERLINK "a"' * 20_000,
        b"{\\rtf1 x" + b"\\'e4" * 200_000,
        b"{\\rtf1 x{\\fonttbl" + b"\\f1" * 200_000,
        b"{\\rtf1 x\\bin999999999",
        b"{\\rtf1 x" + b"\\u-1 " * 100_000,
        b"{\\rtf1 x{\\pict " + b"0" * 20_000_000,
    ],
    ids=["deep", "fields", "codes", "fonts", "binary", "units", "picture"],
)
def test_hostile_files_are_read_in_bounded_time(data: bytes) -> None:
    _, text = unpacked(guarded.run(f"{rtf.__name__}.read", data, Limits(megabytes=250, cpu_seconds=4)))
    assert text.startswith(b"x")


@pytest.mark.slow
def test_too_deep_files_are_refused() -> None:
    with pytest.raises(InvalidInput, match="groups in one another"):
        guarded.run(f"{rtf.__name__}.read", b"{\\rtf1 " + b"{" * 1_100_000, Limits(megabytes=250, cpu_seconds=8))


def _blocks(made: Made) -> list[tuple[str, BlockKind, str]]:
    return [(one.anchor, one.kind, made.text[one.start : one.end]) for one in made.rendered.layout.blocks]
