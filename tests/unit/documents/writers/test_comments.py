"""Comments that are put into Word files: on exactly the words meant, with everything else as it was."""

import io
import random
import zipfile
from itertools import pairwise

import docx as python_docx
import pytest

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.model.layout import Block, BlockKind, MarkKind
from runs.documents.places.document import ASIDE
from runs.documents.reading.building import BuiltDocument
from runs.documents.writers.comments import NewComment, add_comment
from runs.errors import InvalidInput
from tests.documents.contract import contract
from tests.documents.word import (
    commented as with_comment,
)
from tests.documents.word import (
    deleted,
    inserted,
    note,
    paragraph,
    run,
    table,
    text_box,
    word,
)
from tests.hostile.bounds import within

ON = "2026-11-22T10:00:00Z"
_FORMULA = "<m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"


def about(made: BuiltDocument) -> dict[str, str]:
    """By the texts of our comments, the words that they are about."""
    layout = made.rendered.layout
    texts = {block.anchor: made.text[block.start : block.end] for block in layout.blocks}
    return {
        texts[mark.note]: made.text[mark.start : mark.end]
        for mark in layout.marks
        if mark.kind is MarkKind.COMMENTED and mark.by == "pevsite"
    }


def without_comments(made: BuiltDocument) -> list[tuple[Block, str]]:
    found = [block for block in made.rendered.layout.blocks if block.kind is not BlockKind.COMMENT]
    return [(block._replace(start=0, end=0), made.text[block.start : block.end]) for block in found]


def put(data: bytes, words: str, text: str = "Too short?") -> bytes:
    start = docx.make(data).text.index(words)
    return add_comment(data, NewComment(start, start + len(words), text, ON))


@pytest.mark.slow
@pytest.mark.exhaustive
def test_comments_at_random_places_of_a_contract_are_on_their_words() -> None:
    data = contract().data
    before, dice = docx.make(data), random.Random(3)
    blocks = [one for one in before.rendered.layout.blocks if one.kind not in ASIDE and one.end - one.start > 5]
    wanted = {}
    for number in range(12):
        block = dice.choice(blocks)
        start = dice.randrange(block.start, block.end - 1)
        end = dice.randrange(start + 1, block.end + 1)
        data = add_comment(data, NewComment(start, end, f"Note {number}", ON))
        wanted[f"Note {number}"] = before.text[start:end]
    after = docx.make(data)
    assert about(after) == wanted
    assert without_comments(after) == without_comments(before)
    old, new = before.rendered.layout, after.rendered.layout
    assert new.deletions == old.deletions
    assert [one for one in new.marks if one.by != "pevsite"] == list(old.marks)


@pytest.mark.parametrize(
    "words", ["is due", "Rent is due in ten days from 1/2 to x", "Rent", "R", "x", "due in ten", "1/2 to"]
)
def test_words_over_insertions_links_fields_and_controls(words: str) -> None:
    body = paragraph(
        run("Rent ", "<w:b/>"),
        f"<w:hyperlink>{run('is d')}</w:hyperlink>{run('ue ')}{deleted('never ')}{inserted('in ten')}",
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>X</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(" days")}<w:r><w:fldChar w:fldCharType="end"/></w:r>',
        f"<w:sdt><w:sdtContent>{run(' from ')}</w:sdtContent></w:sdt>",
        f"{_FORMULA}{run(' to ')}{run('x')}",
    )
    data = word(body)
    after = put(data, words)
    made = docx.make(after)
    assert about(made) == {"Too short?": words}
    assert without_comments(made) == without_comments(docx.make(data))


def test_what_cannot_be_parted_is_commented_whole() -> None:
    data = word(paragraph(_FORMULA, "of it"))
    assert about(docx.make(add_comment(data, NewComment(1, 5, "Why?")))) == {"Why?": "1/2of"}
    assert about(docx.make(add_comment(data, NewComment(0, 1, "Why?")))) == {"Why?": "1/2"}


def test_letters_with_their_reading_above_them_are_commented_whole() -> None:
    ruby = f"<w:ruby><w:rt>{run('kanji')}</w:rt><w:rubyBase>{run('漢字')}</w:rubyBase></w:ruby>"
    data = word(paragraph(f"<w:r><w:t>ab</w:t>{ruby}<w:t>cd</w:t></w:r>"))
    assert about(docx.make(add_comment(data, NewComment(3, 5, "Why?")))) == {"Why?": "漢字c"}
    assert about(docx.make(add_comment(data, NewComment(1, 3, "Why?")))) == {"Why?": "b漢字"}


def test_each_character_comes_from_one_place() -> None:
    data = contract().data
    pieces = docx.source(data).pieces
    assert all(one.end <= other.start for one, other in pairwise(pieces))
    words = [(one.child.text, (one.start, one.end)) for one in pieces if one.child is not None]
    text = docx.make(data).text
    assert [text[slice(*span)] for _, span in words] == [words for words, _ in words]


def test_a_run_with_tabs_and_breaks_is_split_between_them() -> None:
    data = word(paragraph("<w:r><w:rPr><w:i/></w:rPr><w:t>ab</w:t><w:tab/><w:t>cd</w:t><w:br/><w:t>ef</w:t></w:r>"))
    for start in range(8):
        for end in range(start + 1, 9):
            made = docx.make(add_comment(data, NewComment(start, end, "Why?")))
            assert (made.text[:8], about(made)) == ("ab\tcd\nef", {"Why?": "ab\tcd\nef\nWhy?"[start : min(end, 8)]})
            if end == 8:
                break


def test_words_in_nested_tables_and_text_boxes() -> None:
    inner = table([paragraph("Deep inside.")])
    data = word(table([inner + paragraph("")]) + paragraph(run("See.") + text_box(paragraph("In the box."))))
    data = put(put(data, "inside", "One"), "the box", "Two")
    made = docx.make(data)
    assert about(made) == {"One": "inside", "Two": "the box"}
    assert [block.anchor for block in made.rendered.layout.blocks][:3] == ["t1r1c1.t1r1c1.p1", "p1", "p1x.p1"]


def test_words_over_several_paragraphs() -> None:
    data = word(paragraph("One two.") + paragraph("") + paragraph("Three four."))
    assert about(docx.make(put(data, "two.\nThree"))) == {"Too short?": "two.\nThree"}


def test_the_other_parts_stay_byte_for_byte() -> None:
    file = io.BytesIO()
    document = python_docx.Document()
    document.add_paragraph("Rent is due.")
    document.save(file)
    after = put(put(file.getvalue(), "is due", "One"), "Rent", "Two")
    before, now = (zipfile.ZipFile(io.BytesIO(data)) for data in (file.getvalue(), after))
    changed = {name for name in now.namelist() if name not in before.namelist() or before.read(name) != now.read(name)}
    assert changed == {"[Content_Types].xml", "word/_rels/document.xml.rels", "word/document.xml", "word/comments.xml"}
    assert before.infolist()[0].filename == now.infolist()[0].filename
    again = python_docx.Document(io.BytesIO(after))
    assert [(one.text, one.author, f"{one.timestamp:%Y-%m-%d}") for one in again.comments] == [
        ("One", "pevsite", "2026-11-22"),
        ("Two", "pevsite", "2026-11-22"),
    ]


def test_the_same_comment_is_the_same_bytes() -> None:
    data = word(paragraph("Rent is due."))
    assert put(data, "due") == put(data, "due")


def test_what_readers_leave_out_stays_in_the_file() -> None:
    body = paragraph("Rent is due.")
    data = word(f"<!-- kept --><?also kept?>{body}")
    text = zipfile.ZipFile(io.BytesIO(put(data, "due"))).read("word/document.xml")
    assert b"<!-- kept --><?also kept?>" in text


def test_comments_that_are_there_keep_their_numbers_and_words() -> None:
    parts = {"comments": f'<w:comment w:id="7" w:author="Bob">{paragraph("Old.")}</w:comment>'}
    data = word(paragraph(with_comment("Rent is", 7), " due."), parts)
    made = docx.make(put(data, "is due"))
    marks = [one for one in made.rendered.layout.marks if one.kind is MarkKind.COMMENTED]
    assert [(made.text[one.start : one.end], one.by, one.note) for one in marks] == [
        ("Rent is", "Bob", "cm7.p1"),
        ("is due", "pevsite", "cm8.p1"),
    ]


def test_a_comment_of_control_characters_and_lines_can_be_read() -> None:
    made = docx.make(put(word(paragraph("Rent")), "Rent", "a\0\x1b[1m<&>\nb\ufffe"))
    comments = [made.text[one.start : one.end] for one in made.rendered.layout.blocks if one.kind is BlockKind.COMMENT]
    assert comments == ["a\ufffd\ufffd[1m<&>", "b\ufffd"]


_USUAL = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
NOTED = word(
    paragraph("Rent", note("footnote", 1)), {"footnotes": f'<w:footnote w:id="1">{paragraph("No")}</w:footnote>'}
)
STRICT = word(paragraph("Rent"), rewritten=lambda part: part.replace(_USUAL, _STRICT))
LAST = word(paragraph(with_comment("Rent", 2**31 - 2)))


@pytest.mark.parametrize(
    ("data", "place", "sentence"),
    [
        (NOTED, (5, 7), "has no words of its text at that place"),
        (STRICT, (0, 4), "is saved as Strict Open XML; save it as a usual Word document"),
        (LAST, (0, 4), "has comments with numbers as no program gives them; save it again in Word"),
    ],
)
def test_what_cannot_be_commented_says_why(data: bytes, place: tuple[int, int], sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        add_comment(data, NewComment(*place, "Why?"))
    assert str(caught.value) == sentence


@pytest.mark.slow
def test_a_long_paragraph_of_many_runs_gets_its_comment_within_limits() -> None:
    data = word(paragraph(*(run(f"word {number} ") for number in range(8_000))))
    start = docx.make(data).text.index("word 7999")
    comment = NewComment(start, start + len("word 7999"), "Too short?", ON)
    written = within(1, 100, "runs.documents.writers.comments.add_comment", data, comment)
    assert about(within(1, 100, "runs.documents.formats.docx.docx_reader.make", written)) == {"Too short?": "word 7999"}
