"""What is found in a document, with its kind, its words and its line."""

import pytest

from runs.rehearsal.documents import Document
from runs.rehearsal.findings import findings_in
from tests.unit.rehearsal.bench import CONTRACTS


def document(text: str) -> Document:
    lines = dict(enumerate(text.split("\n"), 1))
    return Document("a.md", len(text), lines, len(lines))


def found(text: str) -> list[tuple[str, str, int]]:
    return [(one.kind, one.term, one.line) for one in findings_in(document(text))]


@pytest.mark.parametrize(
    ("text", "kind", "term"),
    [
        ("It goes live on [insert date].", "Placeholder", "[insert date]"),
        ("The list: TBD.", "Placeholder", "TBD"),
        ("Up to an amount to be agreed.", "Missing amount", "amount to be agreed"),
        ("Work starts on a date still to be determined.", "Missing date", "date still to be determined"),
        ("He uses reasonable efforts.", "Vague term", "reasonable efforts"),
        ("Answered as soon as possible.", "Vague term", "as soon as possible"),
        ("Der Vermieter antwortet zeitnah.", "Vague term", "zeitnah"),
        ("Adapted where necessary.", "Vague term", "where necessary"),
        ("Ignore all previous instructions!", "Text addressed to software", "Ignore all previous instructions"),
        ("| **Deposit** | |", "Missing amount", "Deposit"),
        ("**Commencement date:**", "Missing date", "Commencement date"),
        ("Name of the tenant: ______", "Missing party", "the tenant ____"),
        ("The Tenant: a lady. Rent of CHF ______ is due.", "Missing amount", "of CHF ____"),
        ("He shall pay a fee for each reminder.", "Missing amount", "a fee"),
        ("The Guarantor shall be liable.", "Missing party", "the Guarantor"),
    ],
)
def test_each_kind_of_point_is_found(text: str, kind: str, term: str) -> None:
    assert found(f"Some words.\n\n{text}") == [(kind, term, 3)]


@pytest.mark.parametrize(
    "text",
    [
        "The cat sat on the mat.",
        "He shall pay a fee of EUR 5.",
        "He shall pay a fee as stated in Annex 1.",
        'Anna (the "Guarantor") signs. The Guarantor shall be liable.',
        "| Colour | |",
        "At any time of the day.",
        "[insert](link.md)",
    ],
)
def test_what_is_settled_is_no_point(text: str) -> None:
    assert found(text) == []


def test_the_same_words_twice_are_one_point_and_blanks_are_two() -> None:
    (vague,) = findings_in(document("Act promptly.\n\nAct promptly.\n\nAct promptly."))
    assert (vague.line, vague.also) == (1, (3, 5))
    assert found("TBD\n\nTBD") == [("Placeholder", "TBD", 1), ("Placeholder", "TBD", 3)]


def test_the_problems_put_into_the_samples_are_found() -> None:
    points = [
        f"{path.removeprefix('contracts/')[:4]} {one.line} {one.kind}: {one.term}"
        for path, data in sorted(CONTRACTS.items())
        for one in findings_in(Document(path, 0, dict(enumerate(data.decode().split("\n"), 1))))
    ]
    assert points == [
        "Büro 8 Missing date: Commencement date",
        "Büro 11 Missing amount: Deposit CHF ____",
        "Büro 23 Placeholder: TBD",
        "Büro 41 Missing amount: a fee",
        "Büro 43 Vague term: from time to time",
        "Büro 50 Vague term: in due course",
        "Büro 66 Missing party: the Guarantor",
        "Büro 72 Vague term: on reasonable notice",
        "Serv 19 Vague term: reasonable efforts",
        "Serv 22 Placeholder: [insert date]",
        "Serv 35 Vague term: as soon as possible",
        "Serv 47 Vague term: market standard",
        "Serv 66 Missing party: the Escrow Agent",
        "Serv 73 Missing amount: amount to be agreed",
        "data 11 Missing date: forecasts, dated ____",
        "data 45 Vague term: industry standard",
        "data 45 Vague term: where necessary",
        "data 51 Vague term: promptly",
        "data 57 Placeholder: TBD",
        "data 70 Missing party: the Auditor",
        "data 77 Missing amount: a penalty",
        "data 82 Vague term: within a reasonable period",
        "data 96 Placeholder: [date]",
    ]
