"""RTF line by line: encodings, changes, what is hidden, what stands beside the text."""

import pytest

from runs import isolation
from runs.documents.formats.rtf import rtf_reader as rtf
from runs.documents.formats.rtf.rtf_reader import make
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.packed_parts import unpacked
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from runs.isolation import Limits
from tests.documents.rtf import by_outlook, by_word, field, nested_row, only_rtf, row, tag, with_line_ends


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
        (r"{\upr{Caf?}{\*\ud{Caf\u233?}}} is open", "Café is open"),
        (r"{\upr Caf?{\*\ud Caf\u233?}}, {\upr{?}{\*\ud \u379?uk}}!", "Café, Żuk!"),
        (r"{\*\bkmkstart {\upr{?}{\*\ud{\u233?}}}}a{\ud no}b", "ab"),
        (r"\u1605?\u1740?\zwnj \u1588?\u1608?\u1583? \ltrmark a\rtlmark b", "می\u200cشود \u200ea\u200fb"),
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


@pytest.mark.parametrize(
    ("body", "text", "gone"),
    [
        (r"The tenant {\deleted\par}pays.", "The tenant pays.", []),
        (r"Pay{\deleted  late.\par Never.\par } now.\par End", "Pay now.\nEnd", [" late.\nNever."]),
        (r"One.\par{\deleted Two.\par}Three.", "One.\n\nThree.", ["Two."]),
        (r"One.{\revised\par}Two.", "One.\nTwo.", []),
    ],
)
def test_a_deleted_paragraph_mark_joins_what_stands_around_it(body: str, text: str, gone: list[str]) -> None:
    made = make(_rtf(body))
    assert (made.text, [one.text for one in made.rendered.layout.deletions]) == (text, gone)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (r"Fee = {\mmath{\*\moMathPara{\*\moMath{\mr x}}}} EUR", ["1"]),
        (r"a\par {\*\mmath{\*\moMath{\mr x}}}{\mmathPict{\pict 00}}\par b{\mmath{\mr y}}", ["2", "3"]),
        (r"a{\deleted{\mmath{\mr y}}}b{\footnote c {\mmath{\mr z}}}", ["2"]),
        (r"{\v {\mmath{\mr y}}}b", ["1"]),
        (r"a{\*\moMath{\mr y}}", ["1"]),
    ],
)
def test_formulas_are_said_to_be_left_out(body: str, lines: list[str]) -> None:
    assert make(_rtf(body)).rendered.notes == tuple(f"The formula at line {line} was not read." for line in lines)


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


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ((r"A", r"\par ", r"B"), "A\nB"),
        ((r"M", r"\'fc", r"ller"), "Müller"),
        ((r"10 ", r"\u8364", r"?", r" a month"), "10 € a month"),
        ((r"{\b", r" bold}", r"{", r"\i", r" it}", r"\~", r"x"), " bold it\xa0x"),
        ((r"a", r"\{", r"b", r"\}", r"\\", r"\_", r"c", r"\-", r"d"), "a{b}\\\u2011c\u00add"),
        ((r"\uc2", r"\u8222", r"\'84", r"\'84", r"x"), "„x"),
        ((r"a", r"\bin3 }{\ ", r"b"), "a b"),
        ((r"{", r"\*", r"\unknown", r"no}", r"yes"), "yes"),
    ],
)
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\0", "\r\n\r\n\0"])
def test_line_ends_between_tokens_mean_nothing(tokens: list[str], text: str, end: str) -> None:
    assert make(with_line_ends(tokens, end)).text == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"{\revised\revauth1\revdttm1876543210 new}", "new"),
        (r"{\insrsid16727774\charrsid-1876543210\listid1234567890 a}", "a"),
        (r"\fs24\u8364?\li99999999999999999999 b", "€b"),
        ("\\" + "q" * 200 + "7 c", "c"),
        (r"\'zz d", "zz d"),
        (r"e\'4", "e4"),
        ("f\\", "f}"),
    ],
)
def test_long_numbers_and_damaged_codes_leave_what_follows(body: str, text: str) -> None:
    assert make(_rtf(body)).text == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"don\u8217\rquote t", "don’t"),
        (r"5\u160\~km", "5\xa0km"),
        (r"a\u8211\endash b", "a–b"),
        (r"\uc2\u26085\'93\'fa x", "日 x"),
        (r"\u8364\par x", "€\nx"),
        ("\\u8364\r\n\\'80x", "€x"),
    ],
)
def test_of_a_character_and_its_double_for_older_programs_one_is_read(body: str, text: str) -> None:
    assert make(_rtf(body)).text == text


def test_a_contract_as_word_writes_it() -> None:
    made = make(
        by_word(
            "{\\headerl \\ltrpar \\pard\\plain \\s15\\ql {\\insrsid16727774 Draft of M\r\n\\'fcller\r\n\\par }}\r\n",
            "{\\footerr \\pard\\plain {Page }" + field("PAGE", "3") + "{\r\n\\par }}",
            "{\\rtlch\\fcs1 \\af0 \\ltrch\\fcs0 \\insrsid16727774 Lease between M\r\n\\'fcller and \r\n\\u379\\'8fuk",
            "\r\n\\par }{\\listtext\\pard\\plain\\ltrpar \\rtlch\\fcs1 \\af0 \\hich\\af0\\dbch\\af0\\loch\\f0 1.\\tab}",
            "\\pard \\ltrpar\\fi-360\\li720\\jclisttab\\ls1 {Rent\\line of \r\n\\u8364\\'80 500}{\\super \\chftn ",
            "{\\footnote \\ltrpar \\pard\\plain {\\super \\chftn }{ Without\r\n\\~heating.}}}{.\r\n\\par }\\pard ",
            "{\\revised\\revauth1\\revdttm-1876543210 New\r\n\\'e4}{\\deleted\\revauthdel2\\revdttmdel1876543210 old}",
            "{\r\n\\par See }" + field("REF _Ref1 \\r \\h", "1") + "{.\r\n\\par }",
        )
    )
    assert made.text == (
        "Lease between Müller and Żuk\nRent\nof € 500.\nNewä\nSee 1.\n Without\xa0heating.\nDraft of Müller\nPage 3"
    )
    assert [block.label for block in made.rendered.layout.blocks][:2] == ["", "1."]
    [mark], [gone] = made.rendered.layout.marks, made.rendered.layout.deletions
    assert (made.text[mark.start : mark.end], mark.by, gone.text, gone.by) == ("Newä", "Ann Müller", "old", "Bob")


def test_tables_in_tables_have_a_line_for_each_row() -> None:
    inside = nested_row("a", "b") + nested_row("c", "d")
    made = make(by_word("{Before\r\n\\par }", row("Rent", "\r\n\\'80 500"), row("x", inside), "{After\r\n\\par }"))
    assert made.text == "Before\nRent\t€ 500\nx\ta\tb\nc\td\n\nAfter"


def test_a_text_box_is_read_once() -> None:
    box = (
        r"{\shp{\*\shpinst\shpleft1{\sp{\sn shapeType}{\sv 202}}{\shptxt \pard {Boxed\par }}}"
        r"{\shprslt{\*\do\dobxcolumn{\dptxbx{\dptxbxtext \pard {Boxed\par }}}}}}"
    )
    assert make(by_word(box, "{After.\\par }")).text.split() == ["Boxed", "After."]
    old = r"{\*\do\dobxcolumn{\dptxbx{\dptxbxtext \pard {Boxed\par }}}}"
    assert make(by_word(old, "{After.\\par }")).text.split() == ["Boxed", "After."]


def test_moved_words_stand_where_they_were_moved_to() -> None:
    made = make(by_word(r"{\mvf\mvauth2\mvdate-1876543210 Moved.}{ Kept. }{\mvt\mvauth2\mvdate-1876543210 Moved.}"))
    assert made.text == " Kept. Moved."
    [mark], [gone] = made.rendered.layout.marks, made.rendered.layout.deletions
    assert (made.text[mark.start : mark.end], mark.by, gone.text, gone.by) == ("Moved.", "Bob", "Moved.", "Bob")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"{\f41 \'c4\'e0}{\f43 \'93\'fa\'83j}", "Да日ニ"),
        (r"{\f10 \'a8\'fe}{\f3 a\'a3b 1}", "☐☑α≤β 1"),
        (r"{\f3 \u-3999\'61}", "α"),
        (field(r'SYMBOL 168 \f "Wingdings" \s 12'), "☐"),
        (field("MACROBUTTON NoMacro [Name of the tenant]"), "[Name of the tenant]"),
    ],
)
def test_signs_and_fields_without_a_result(body: str, text: str) -> None:
    assert make(by_word(body, "{.}")).text == f"{text}."


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (r"\fftype1\ffres25\ffdefres1", "☒"),
        (r"\fftype1\ffres0\ffdefres1", "☐"),
        (r"\fftype2\ffres25\ffdefres1{\*\ffl Mr}{\*\ffl M\'fcs}", "Müs"),
        (r"\fftype2\ffres7{\*\ffl Mr}", ""),
    ],
)
def test_form_fields_show_their_state(form: str, text: str) -> None:
    body = rf"{{\field{{\*\fldinst FORM {{\*\datafield 6500}}{{\*\formfield{{{form}}}}}}}{{\fldrslt }}}}"
    assert make(by_word("{a}", body, "{b}")).text == f"a{text}b"


@pytest.mark.parametrize("code", [r"LISTNUM NumberDefault \l 5", "AUTONUMLGL", r"EQ \f(1;2)"])
def test_what_only_word_can_compute_is_said(code: str) -> None:
    made = make(by_word("{One\r\n\\par fees are }", field(code), "{ costs}"))
    thing = "formula" if code.startswith("EQ") else "number that Word counts"
    assert made.text == "One\nfees are  costs"
    assert made.rendered.notes == (
        f"The {thing} at line 2 was left out: the file does not hold it. Look at it in Word.",
    )
    assert make(by_word("{fees are }", field(code, "(a)"), "{ costs}")).rendered.notes == ()


def test_the_html_of_a_mail_of_outlook_is_read_as_it_is_shown() -> None:
    made = make(
        by_outlook(
            tag(19, "<html>"),
            tag(50, "<body>"),
            only_rtf("{"),
            tag(64, "<p>"),
            only_rtf("{"),
            "Dear Mr M\r\n\\'fcller,",
            only_rtf("\\par}"),
            "\r\n",
            tag(72, "</p>"),
            "\r\n" + tag(64, "<p style='a'>") + only_rtf("{"),
            "we pay ",
            tag(84, "&euro;") + only_rtf("\\'80"),
            tag(84, "&nbsp;") + only_rtf("\\'a0"),
            "500 \r\n\\{net\\}",
            tag(84, "<a href='x'>") + only_rtf('{\\field{\\*\\fldinst{HYPERLINK "http://x.y"}}{\\fldrslt\\cf1\\ul '),
            " here",
            only_rtf("}}") + tag(92, "</a>") + only_rtf("\\par}"),
            only_rtf("}") + tag(58, "</body>"),
        )
    )
    assert made.text == "Dear Mr Müller,\nwe pay €\xa0500 {net} here"


@pytest.mark.parametrize(
    ("head", "text"), [(r"\mac", "ä"), (r"\pc", "è"), (r"\pca", "è"), (r"\ansi\ansicpg10000", "ä"), (r"\ansi", "Š")]
)
def test_older_files_say_their_character_set(head: str, text: str) -> None:
    assert make(rf"{{\rtf1{head} \'8a}}".encode()).text == text


def test_words_without_a_font_are_in_that_of_the_document() -> None:
    fonts = r"{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial Cyr;}}"
    assert make(rf"{{\rtf1\ansi\ansicpg1252\deff1{fonts}\'e4{{\f0 \'e4}}\plain \'e5}}".encode()).text == "дäе"


@pytest.mark.parametrize("data", [b"", b"{\\rtf1 ", b"{\\rtf1}", b"{\\rtf1 {\\pict 00}}"])
def test_without_text_there_is_nothing_to_read(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"is not an RTF file|has no text in it"):
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
        b"{\\rtf1 x" + b"\\u1" * 100_000 + b"1" * 5_000_000,
        b"{\\rtf1 x\\" + b"q" * 5_000_000,
        b"{\\rtf1 x" + b"{\\field{\\*\\fldinst LISTNUM}{\\fldrslt }}" * 40_000,
    ],
    ids=["deep", "fields", "codes", "fonts", "binary", "units", "picture", "digits", "letters", "numbers"],
)
@pytest.mark.slow
def test_hostile_files_are_read_in_bounded_time(data: bytes) -> None:
    _, text = unpacked(isolation.run(f"{rtf.__name__}.read", data, Limits(megabytes=250, cpu_seconds=4)))
    assert text.startswith(b"x")


@pytest.mark.slow
def test_too_deep_files_are_refused() -> None:
    with pytest.raises(InvalidInput, match="groups in one another"):
        isolation.run(f"{rtf.__name__}.read", b"{\\rtf1 " + b"{" * 1_100_000, Limits(megabytes=250, cpu_seconds=8))


def _blocks(made: BuiltDocument) -> list[tuple[str, BlockKind, str]]:
    return [(one.anchor, one.kind, made.text[one.start : one.end]) for one in made.rendered.layout.blocks]
