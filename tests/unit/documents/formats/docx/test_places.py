"""Whatever a document is made of, every offset is that of its words."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.model.layout import BlockKind, MarkKind
from runs.errors import InvalidInput
from tests.documents.word import commented, deleted, deleted_mark, inserted, paragraph, run, table, text_box, word

type Piece = tuple[str, str]
_TEXTS = st.text("ab é€\U0001f600\u2011", min_size=1, max_size=8)
_PIECES = st.lists(st.tuples(st.sampled_from(["plain", "new", "old", "hidden", "about"]), _TEXTS), max_size=6)
_BLOCKS = st.tuples(st.sampled_from(["text", "table", "box", "gone"]), _PIECES)
_KINDS = {"new": MarkKind.INSERTED, "hidden": MarkKind.HIDDEN, "about": MarkKind.COMMENTED}


@given(st.lists(_BLOCKS, max_size=8))
def test_blocks_marks_and_deletions_lie_on_their_words(blocks: Sequence[tuple[str, Sequence[Piece]]]) -> None:
    """`gone` is a paragraph whose mark is deleted, so that the next one goes on with it."""
    body, shown = _written([("text", [("plain", "begin")]), *blocks, ("text", [("plain", "end")])])
    comments = [
        f'<w:comment w:id="{number}">{paragraph("?")}</w:comment>' for number in range(body.count("RangeStart"))
    ]
    made = docx.make(word(body, {"comments": "".join(comments)}))
    expected = [pieces for pieces in shown if "".join(text for kind, text in pieces if kind != "old").strip()]
    found = [block for block in made.rendered.layout.blocks if block.kind is not BlockKind.COMMENT]
    marks = made.rendered.layout.marks
    assert [made.text[block.start : block.end] for block in found] == [_text(pieces) for pieces in expected]
    for block, pieces in zip(found, expected, strict=True):
        at = block.start
        for kind, text in (piece for piece in pieces if piece[0] != "old"):
            on_it = {mark.kind for mark in marks if mark.start <= at and at + len(text) <= mark.end}
            assert on_it == ({_KINDS[kind]} if kind in _KINDS else set())
            at += len(text)
    gone = "".join(one.text for one in made.rendered.layout.deletions)
    assert gone.replace("\n", "") == "".join(text for pieces in shown for kind, text in pieces if kind == "old")


@given(st.binary(max_size=200))
def test_bytes_are_no_document(data: bytes) -> None:
    try:
        docx.make(data)
    except InvalidInput:
        return
    raise AssertionError("read as a document")


def _text(pieces: Sequence[Piece]) -> str:
    return "".join(text for kind, text in pieces if kind != "old")


def _written(blocks: Sequence[tuple[str, Sequence[Piece]]]) -> tuple[str, list[list[Piece]]]:
    """The XML, and the pieces of each paragraph as it is shown: those of the ones that go on with it included."""
    body, shown, held = "", list[list[Piece]](), list[Piece]()
    comment = 0
    for kind, pieces in blocks:
        content = []
        for piece, text in pieces:
            content.append(_xml(piece, text, comment))
            comment += piece == "about"
        match kind:
            case "table":
                shown += [held] if held else []
                shown.append(list(pieces))
                held = []
                body += table([paragraph(*content)])
            case "gone":
                held += pieces
                body += paragraph(*content, properties=deleted_mark())
            case "box":
                shown += [[*held, ("plain", "box")], list(pieces)]
                held = []
                body += paragraph(run("box"), text_box(paragraph(*content)))
            case _:
                shown.append([*held, *pieces])
                held = []
                body += paragraph(*content)
    return body, shown


def _xml(kind: str, text: str, comment: int) -> str:
    match kind:
        case "new":
            return inserted(text)
        case "old":
            return deleted(text)
        case "hidden":
            return run(text, "<w:vanish/>")
        case "about":
            return commented(text, comment)
        case _:
            return run(text)
