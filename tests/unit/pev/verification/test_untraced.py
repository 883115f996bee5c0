"""Where figures stand that come from nowhere."""

import pytest

from runs.documents.content import Converted
from runs.documents.model.layout import BlockKind
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder
from runs.enums import About
from runs.pev.contracts import Criterion
from runs.pev.verification import untraced
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.untraced import unknown_names_in, untraced_in
from tests.unit.pev.test_verifier import case

CRITERION = Criterion(text="The rent is right", about=About.SOURCES)


def memo(name: str) -> Converted:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "The rent")
    builder.add("p2", BlockKind.PARAGRAPH, f"{name} pays CHF 9,999 each month.")
    made = builder.build()
    return Converted(made.text.encode(), "a" * 64, lambda: Document(made.text, made.rendered.layout))


@pytest.mark.parametrize(("path", "place"), [("memo.docx", "paragraph 2"), ("memo.md", "line 2")])
def test_a_figure_and_a_name_are_found_at_what_people_call_their_place(path: str, place: str) -> None:
    written = memo("The tenant Petra Malkovich")
    files = {path: written if path.endswith("docx") else bytes(written)}
    judged = case(CRITERION, files=files, shown=[path])
    assert [(one.text, one.where) for one in untraced_in(judged)] == [("CHF 9,999", f"{path}, {place}")]
    assert [(one.text, one.where) for one in unknown_names_in(judged)] == [("Petra Malkovich", f"{path}, {place}")]


@pytest.mark.parametrize(("result", "reads"), [("The rent is due.", 0), ("The rent is CHF 9,999.", 1)])
def test_what_earlier_steps_wrote_is_read_only_for_a_figure_that_nothing_else_has(
    result: str, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    text_at = untraced._text_at

    def noted(path: str, judged: VerificationInput) -> str:
        read.append(path)
        return text_at(path, judged)

    monkeypatch.setattr(untraced, "_text_at", noted)
    untraced_in(case(CRITERION, files={"a.md": result.encode(), "earlier.md": b"a\nb"}, shown=["a.md"]))
    assert read.count("earlier.md") == reads
