"""Whole clause numbers, from labels of one list and of several."""

import pytest

from runs.documents.formats.docx import docx_reader as docx
from tests.documents.word import level, lists, paragraph, part, style, word, zipped

OUTLINE = (
    level(0, "decimal", "%1."),
    level(1, "decimal", "%1.%2"),
    level(2, "lowerLetter", "(%3)"),
    level(3, "lowerRoman", "(%4)"),
)
GOES_ON = '<w:lvlRestart w:val="0"/>'
LETTER = level(0, "lowerLetter", "%1)")


@pytest.mark.parametrize(
    ("definitions", "numbers", "clauses"),
    [
        ({1: OUTLINE}, [(1, 0), (1, 1), (1, 2), (1, 3), (1, 3)], ["1", "1.1", "1.1(a)", "1.1(a)(i)", "1.1(a)(ii)"]),
        ({1: OUTLINE}, [(1, 0), (1, 1), (1, 2), (1, 1), (1, 2)], ["1", "1.1", "1.1(a)", "1.2", "1.2(a)"]),
        (  # letters have a list of their own
            {1: OUTLINE, 2: [level(0, "lowerLetter", "(%1)"), level(1, "lowerRoman", "(%2)")]},
            [(1, 0), (1, 1), (2, 0), (2, 1), (2, 0), (1, 1)],
            ["1", "1.1", "1.1(a)", "1.1(a)(i)", "1.1(b)", "1.2"],
        ),
        (  # another list of letters is not a part of the letter before it
            {1: OUTLINE, 2: [level(0, "lowerLetter", "(%1)")], 3: [level(0, "lowerLetter", "(%1)")]},
            [(1, 0), (2, 0), (3, 0)],
            ["1", "1(a)", "1(a)"],
        ),
        (  # an annex is counted by itself, and what comes after it goes on
            {1: OUTLINE, 2: [level(0, "decimal", "%1."), level(1, "lowerLetter", "%2)")]},
            [(1, 0), (1, 1), (2, 0), (2, 1), (1, 1), (1, 2)],
            ["1", "1.1", "1", "1 a)", "1.2", "1.2(a)"],
        ),
        (  # a list inside a clause: letters go on behind it, or begin again under it
            {1: OUTLINE, 2: [level(0, "lowerLetter", "(%1)")], 3: [level(0, "decimal", "%1.")]},
            [(1, 0), (2, 0), (3, 0), (2, 0)],
            ["1", "1(a)", "1", "1(b)"],
        ),
        (
            {1: OUTLINE[1:], 2: [LETTER], 3: [level(0, "decimal", "%1.")], 4: [LETTER]},
            [(1, 1), (2, 0), (3, 0), (3, 0), (4, 0)],
            [".1", ".1 a)", "1", "2", "2 a)"],
        ),
        (  # clauses that are counted through the parts of a contract are none of the part
            {
                1: [
                    level(0, "upperRoman", "Part %1"),
                    level(1, "decimal", "%2.", GOES_ON),
                    level(2, "lowerLetter", "(%3)"),
                ]
            },
            [(1, 0), (1, 1), (1, 1), (1, 0), (1, 1), (1, 2)],
            ["Part I", "1", "2", "Part II", "3", "3(a)"],
        ),
        (  # an outline of single numbers
            {1: [level(0, "upperRoman", "%1."), level(1, "decimal", "%2."), level(2, "lowerLetter", "%3)")]},
            [(1, 0), (1, 1), (1, 1), (1, 2), (1, 0)],
            ["I", "I.1", "I.2", "I.2 a)", "II"],
        ),
        (  # the word before a number is left out, unless it says what kind of part it is
            {1: [level(0, "decimal", "Section %1")], 2: [level(0, "upperLetter", "Annex %1")], 3: OUTLINE[2:]},
            [(1, 0), (3, 2), (2, 0), (3, 2)],
            ["1", "1(a)", "Annex A", "Annex A(b)"],
        ),
        ({1: [level(0, "decimal", "§ %1"), level(1, "decimal", "(%2)")]}, [(1, 0), (1, 1)], ["1", "1(1)"]),
        (  # bullets are no clauses, and end none
            {1: OUTLINE, 2: [level(0, "bullet", "o")]},
            [(1, 0), (1, 1), (2, 0), (1, 2)],
            ["1", "1.1", "", "1.1(a)"],
        ),
    ],
)
def test_a_clause_is_named_with_those_above_it(
    definitions: dict[int, list[str]], numbers: list[tuple[int, int]], clauses: list[str]
) -> None:
    body = "".join(paragraph("text", number=number) for number in numbers)
    made = docx.make(word(body, {"numbering": lists(definitions)}))
    assert [block.clause for block in made.rendered.layout.blocks] == clauses


def test_only_the_main_text_has_clauses() -> None:
    inside = f'<w:footnote w:id="2">{paragraph("Note.", number=(1, 0))}</w:footnote>'
    parts = {"numbering": lists({1: OUTLINE}), "footnotes": inside}
    made = docx.make(word(paragraph("Text.", number=(1, 0)), parts))
    assert [(block.anchor, block.label, block.clause) for block in made.rendered.layout.blocks] == [
        ("p1", "1.", "1"),
        ("fn1.p1", "1.", ""),
    ]


def test_the_main_part_has_the_name_that_the_file_says() -> None:
    relation = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" '
        'Type="http://purl.oclc.org/ooxml/officeDocument/relationships/{}" Target="{}"/></Relationships>'
    )
    contents = {
        "_rels/.rels": relation.format("officeDocument", "/text/main.xml").encode(),
        "text/_rels/main.xml.rels": relation.format("styles", "../look.xml").encode(),
        "look.xml": part("styles", style("Big", '<w:outlineLvl w:val="1"/>')),
        "text/main.xml": part("document", f"<w:body>{paragraph('Words.', style='Big')}</w:body>"),
    }
    strict = {
        name: content.replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/", b"http://purl.oclc.org/ooxml/wordprocessingml/"
        )
        for name, content in contents.items()
    }
    for files in (contents, strict):
        made = docx.make(zipped(files))
        assert (made.text, made.rendered.layout.blocks[0].level) == ("Words.", 2)
