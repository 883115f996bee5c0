"""Parties, dates and amounts by their form."""

import pytest

from runs.rehearsal.documents import Document, lines_in
from runs.rehearsal.findings import facts_in


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("by Halvorsen & Pryce Logistics Ltd.", "party", "Halvorsen & Pryce Logistics Ltd."),
        ("die Muster Bau GmbH", "party", "Muster Bau GmbH"),
        ("on 14 March 2026", "date", "14 March 2026"),
        ("am 2. Februar 2026", "date", "2. Februar 2026"),
        ("on 2026-05-01", "date", "2026-05-01"),
        ("EUR 184,000", "amount", "EUR 184,000"),
        ("11’330 CHF", "amount", "11’330 CHF"),
        ("up to 20 %", "amount", "20 %"),
    ],
)
def test_each_kind_of_fact_is_found(text: str, kind: str, found: str) -> None:
    facts = list(facts_in(Document("a.md", lines=lines_in("a.md", f"Some words.\n\n{text}"))))
    assert [(fact.kind, fact.text, fact.line) for fact in facts] == [(kind, found, 3)]


def test_a_party_is_listed_once_and_a_name_over_two_lines_begins_in_the_first() -> None:
    text = "between Lindenhof\nGrundbesitz AG and others\n\nLindenhof Grundbesitz AG pays EUR 5. EUR 5"
    facts = list(facts_in(Document("a.md", lines=lines_in("a.md", text))))
    assert [(fact.text, fact.line) for fact in facts] == [("Lindenhof Grundbesitz AG", 1), ("EUR 5", 4), ("EUR 5", 4)]
