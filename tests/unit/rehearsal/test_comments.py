"""The copies of Word documents: each finding a comment at its quote, and what is said of those that are none."""

import pytest

from runs.documents.content import document_of
from runs.documents.model.layout import MarkKind
from runs.documents.places.document import Document
from runs.pev.contracts import PlanContract
from runs.pev.plans.commented import with_copies
from runs.submission.run_templates import shipped_plan
from tests.documents.word import inserted, note, paragraph, word
from tests.unit.rehearsal.bench import Attempt, Bench, as_read

SERVICE = "contracts/Service agreement.docx"
LEASE = word(
    paragraph("Lease of a shed") + paragraph("Rent is due ", inserted("promptly"), ".", note("footnote", 1)),
    {"footnotes": f'<w:footnote w:id="1">{paragraph("The deposit is TBD.")}</w:footnote>'},
)
QUIET = word(paragraph("Minutes") + paragraph("Anna was there."))


def reviewed(files: dict[str, bytes]) -> tuple[Bench, Attempt]:
    """A run of the template, and the attempt that made the copies."""
    bench = Bench({path: as_read(path, data) for path, data in files.items()}, request="Do it.")
    plan: PlanContract = with_copies(shipped_plan("document-review"), [one for one in files if one.endswith(".docx")])
    assert bench.run(plan).passed
    (copies,) = bench.of("word-copies")
    return bench, copies


def comments_in(tree: dict[str, bytes], path: str) -> list[tuple[str, str]]:
    """The words that a comment of pevsite is about, and how it begins."""
    document = document_of(tree[path])
    assert document is not None
    marks = document.marks_on(0, len(document.text), MarkKind.COMMENTED)
    own = [mark for mark in marks if mark.by == "pevsite"]
    return [(document.text[one.start : one.end], _said(document, one.note)[:24]) for one in own]


def _said(document: Document, anchor: str) -> str:
    span = document.span_of(anchor)
    assert span is not None
    return document.text[slice(*span)]


@pytest.mark.slow
def test_each_finding_of_the_sample_is_a_comment_at_its_quote_and_the_file_stays() -> None:
    bench = Bench()
    bench.run(bench.plan())
    assert [(quote[:32], said) for quote, said in comments_in(bench.tree, f"reviewed/{SERVICE}")] == [
        ("The Supplier shall use reasonabl", "F9 · Vague term: reasona"),
        ("The software goes live at Felixs", "F10 · Placeholder: [inse"),
        ("All other incidents shall be dea", "F11 · Vague term: as soo"),
        ("The Supplier may adjust the oper", "F12 · Vague term: market"),
        ("The Escrow Agent shall release t", "F13 · Missing party: the"),
        ("In all other cases the liability", "F14 · Missing amount: am"),
    ]
    assert bench.tree[SERVICE] == bench.files[SERVICE]
    (copies,) = bench.of("word-copies")
    assert copies.output.findings.startswith("6 comments were added at the quotes, in 1 reviewed copy.\n\n")
    link = "- [reviewed/contracts/Service agreement.docx](reviewed/contracts/Service%20agreement.docx): 6 comments"
    assert f"**Word documents with comments:**\n\n{link}" in bench.answer


def test_a_comment_says_why_what_to_do_and_that_no_ai_wrote_it() -> None:
    _, copies = reviewed({"lease.docx": LEASE})
    document = document_of(copies.tree["reviewed/lease.docx"])
    assert document is not None
    assert _said(document, "cm0.p1") == (
        "F1 · Vague term: promptly. “promptly” leaves open when, so that no one can be late or too early. "
        "Replace “promptly” by a number of hours or days and say what starts the period. (Offline rules, no AI)"
    )


def test_what_no_comment_can_be_at_is_said_and_passes() -> None:
    bench, copies = reviewed({"lease.docx": LEASE})
    assert comments_in(copies.tree, "reviewed/lease.docx") == [("Rent is due promptly.", "F1 · Vague term: promptl")]
    assert copies.output.findings.split("\n")[-1] == (
        "- F2 has no comment: “The deposit is TBD.” is in footnote 1 of lease.docx, where no comment can be; "
        "quote words of the text itself."
    )
    assert "- F2 has no comment: " in bench.answer


def test_a_document_without_findings_says_so_at_its_first_words() -> None:
    _, copies = reviewed({"lease.docx": LEASE, "minutes.docx": QUIET, "notes.md": b"All is well.\n"})
    assert comments_in(copies.tree, "reviewed/minutes.docx") == [("Minutes", "No findings: the rules f")]
    assert sorted(set(copies.tree) - {"lease.docx", "minutes.docx", "notes.md"})[-2:] == [
        "reviewed/lease.docx",
        "reviewed/minutes.docx",
    ]
