"""No step leaves work out in silence: what it does not look at is an open point, and what it cannot do blocks it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache

import pytest

from runs.pev.contracts import LeftOut
from runs.pev.plans.commented import MAX_COPIES, NONE_FOUND, with_copies
from runs.rehearsal.documents import Limits
from runs.submission.run_templates import shipped_plan
from tests.documents.pdfs import joined, line, pages_of
from tests.documents.word import field, note, paragraph, word
from tests.unit.rehearsal.bench import Bench, as_read

LONG = word(
    "".join(paragraph(f"{n}. All is well in case {n}. " * 8 + "The fee is TBD." * (n % 60 == 0)) for n in range(300))
)
FILES = {
    "long.docx": LONG,
    "quiet.docx": word(paragraph("Minutes") + paragraph("Anna was there on 1 May 2026.")),
    "text.md": b"".join(b"- Fee %d: TBD, due on 1 May 2026, EUR 5.\n" % n for n in range(300)),
    "note.txt": b"It is done promptly.\n",
}
LIMITS = Limits()
TIGHT = {"turns": 3, "file_characters": 500, "task_characters": 2_000}
STEPS = ("inventory", "key-facts", "findings", "word-copies", "notices")


def run_over(files: Mapping[str, bytes], limits: Limits = LIMITS) -> Bench:
    """A run of the template over these files."""
    bench = Bench({path: as_read(path, data) for path, data in files.items()}, request="Do it.")
    bench.model.limits = limits
    words = [path for path in files if path.endswith(".docx")]
    bench.run(with_copies(shipped_plan("document-review"), words))
    return bench


@cache
def unlimited() -> Bench:
    return run_over(FILES)


def left_out(bench: Bench, step: str) -> list[LeftOut]:
    """What the last attempt at a step has left out."""
    return bench.of(step)[-1].output.left_out if bench.of(step) else []


@pytest.mark.slow
@pytest.mark.exhaustive
def test_nothing_is_left_out_of_long_documents_within_the_limits() -> None:
    assert [left_out(unlimited(), step) for step in STEPS] == [[]] * len(STEPS)
    assert unlimited().of("findings")[-1].output.findings.startswith("306 points need attention in 3 of 4 documents")


def test_every_limit_is_tried() -> None:
    assert {field.name for field in fields(Limits)} == TIGHT.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", TIGHT)
def test_a_step_that_delivers_less_because_of_a_limit_says_so(name: str) -> None:
    bench = run_over(FILES, replace(LIMITS, **{name: TIGHT[name]}))
    lost = 0
    for step in STEPS:
        whole, cut = unlimited().of(step)[-1], bench.of(step)[-1] if bench.of(step) else None
        if cut is None or cut.output.status == "blocked" or not cut.passed:
            lost += 1  # an open point by itself
            continue
        written = [path for path in whole.step.outputs if whole.tree.get(path) != cut.tree.get(path)]
        since = [one for other in STEPS[: STEPS.index(step) + 1] for one in left_out(bench, other)]
        assert not written or since, step
        lost += bool(left_out(bench, step))
    assert lost


def word_files(count: int) -> dict[str, bytes]:
    return {f"{number:02}.docx": word(paragraph("Rent is due promptly.")) for number in range(count)}


FOOTNOTE = {"footnotes": f'<w:footnote w:id="1">{paragraph("The deposit is TBD.")}</w:footnote>'}
LISTNUM = word(paragraph("Fees are ", field("LISTNUM"), " costs.") + paragraph("Anna pays."))


def _gone(paragraph_number: int) -> str:
    return (
        f"The number that Word counts at paragraph {paragraph_number} was left out: the file does not hold it. Look at "
        "it in Word."
    )


CASES: dict[str, tuple[dict[str, bytes], str, LeftOut]] = {
    "too long": (
        {"a.md": b"All is well.\n", "b.txt": b"It is due promptly.\n" * 60_000},
        "findings",
        LeftOut(path="b.txt", why="not reviewed: too long for the offline rules"),
    ),
    "longer than a call shows in every turn": (
        {"a.md": b"All is well.\n", "b.txt": b"It is due.\n" * 9_000 + (b"x" * 20_000 + b"\n") * 9},
        "key-facts",
        LeftOut(path="b.txt", why="not reviewed: too long for the offline rules"),
    ),
    "unreadable": (
        {"a.md": b"All is well.\n", "scan.png": b"\x89PNG\0"},
        "inventory",
        LeftOut(path="scan.png", why="not reviewed: it cannot be read as text"),
    ),
    "a number that Word counts": (
        {"a.docx": LISTNUM},
        "findings",
        LeftOut(
            path="a.docx",
            why="not reviewed as a whole: The number that Word counts at paragraph 1 was left out: the file does not "
            "hold it. Look at it in Word",
        ),
    ),
    "many numbers that Word counts": (
        {"a.docx": word(paragraph("Fees are ", field("LISTNUM"), " costs.") * 9)},
        "findings",
        LeftOut(path="a.docx", why=f"not reviewed as a whole: {' '.join(map(_gone, (1, 2)))[:199].rstrip()}…"),
    ),
    "a page off its sheet": (
        {"a.pdf": joined(pages_of([line("Rent")]), pages_of([line("No")], page="/CropBox[900 900 950 950]"))},
        "key-facts",
        LeftOut(path="a.pdf", why="not reviewed as a whole: Page 2 of 2 could not be read"),
    ),
    "a very long line of a document": (
        {"a.docx": word(paragraph(field("AUTONUM"), "x" * 120_000)), "b.md": b"All is well."},
        "inventory",
        LeftOut(path="a.docx", why="not reviewed: it has a line that is too long for the offline rules"),
    ),
    "a very long line": (
        {"a.md": b"First.\n" + b"word " * 20_000 + b"\nIt is due promptly.\n", "b.md": b"All is well."},
        "findings",
        LeftOut(path="a.md", why="not reviewed: it has a line that is too long for the offline rules"),
    ),
    "a place without comments": (
        {"a.docx": word(paragraph("Rent.", note("footnote", 1)), FOOTNOTE)},
        "word-copies",
        LeftOut(path="reviewed/a.docx", why="there can be no comment at the place of F1"),
    ),
    "more copies than a plan has": (
        word_files(MAX_COPIES + 1),
        "word-copies",
        LeftOut(path=f"{MAX_COPIES}.docx", why=f"it has no copy with comments: a review makes {MAX_COPIES} at most"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_what_is_not_looked_at_is_an_open_point(case: str) -> None:
    files, step, expected = CASES[case]
    assert expected in left_out(run_over(files), step)


TO_DO = "Choose fewer files, or connect a model."
BLOCKED: dict[str, tuple[dict[str, bytes], Limits, str, str]] = {
    "more files than are listed": (
        {f"{number:03}.md": b"All is well.\n" for number in range(503)},
        LIMITS,
        "inventory",
        f"There are 503 files, and the list of them has room for 500. {TO_DO}",
    ),
    "more text than is read": (
        {f"{number}.md": b"It is due promptly.\n" * 7_000 for number in range(8)},
        LIMITS,
        "inventory",
        f"The documents have more than the offline rules read, 1,000,000 characters together. {TO_DO}",
    ),
    "more points than a file holds": (
        {"a.md": b"- The fee is TBD.\n" * 1_000},
        LIMITS,
        "findings",
        f"review/findings.md would have 282,988 characters; the offline rules write at most 200,000. {TO_DO}",
    ),
    "more comments than one attempt makes": (
        {"a.docx": word(paragraph("Due ____ on.") * 60)},
        Limits(turns=3),
        "word-copies",
        f"10 comments could not be written in one attempt. {TO_DO}",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BLOCKED)
def test_what_is_too_much_blocks_the_step_and_says_what_to_do(case: str) -> None:
    files, limits, step, sentence = BLOCKED[case]
    (attempt,) = run_over(files, limits).of(step)
    assert (attempt.output.status, attempt.output.notes) == ("blocked", sentence)


@pytest.mark.slow
def test_a_copy_says_what_was_not_reviewed_of_its_document() -> None:
    bench = run_over({"long.docx": LONG, "quiet.docx": FILES["quiet.docx"]}, replace(LIMITS, file_characters=40_000))
    (copies,) = bench.of("word-copies")
    assert copies.passed
    assert "Not reviewed: too long for the offline rules." in copies.tree["reviewed/long.docx"].decode()
    assert "No findings: the rules found nothing" not in copies.tree["reviewed/long.docx"].decode()


@pytest.mark.slow
def test_a_copy_says_what_its_reader_could_not_read() -> None:
    (copies,) = run_over({"a.docx": LISTNUM}).of("word-copies")
    copy = copies.tree["reviewed/a.docx"].decode()
    assert copies.passed
    assert "Not reviewed as a whole: The number that Word counts at paragraph 1 was left out" in copy
    assert NONE_FOUND not in copy


@pytest.mark.slow
@pytest.mark.parametrize("pages", [("Rent", ""), ("Rent", "", ""), ("", "Rent"), ("Rent", "", "Term", "")])
def test_empty_pages_are_counted_in_one_way(pages: Sequence[str]) -> None:
    bench = run_over({"a.pdf": pages_of([line(words) if words else b"" for words in pages])})
    assert bench.of("inventory")[-1].passed


@pytest.mark.slow
def test_later_parts_and_comments_of_a_long_document_are_reviewed() -> None:
    filler = "".join(paragraph("The parties met and agreed on all of it. " * 5) for _ in range(400))
    last = word(filler + paragraph("The Escrow Agent shall release the code promptly."))
    findings = run_over({"long.docx": last}).of("findings")[-1].output
    assert findings.findings.startswith("2 points need attention in 1 document: 1 missing party, 1 vague term.")
    assert findings.left_out == []
