"""Whether the given files have anything that a step is to deal with."""

import hashlib

import pytest

from runs.contracts.ports import FileInfo
from runs.pev.verification.search import Search, search, terms_of


def searched(text: str, *terms: str, path: str = "a.md") -> Search:
    data = text.encode()
    return search(terms, {path: FileInfo(sha256=hashlib.sha256(data).hexdigest(), size=len(data))}, {path: data})


@pytest.mark.parametrize(
    ("text", "term", "doubt"),
    [
        ("under the gdpr of 2016", "GDPR", ""),
        ("nach der DSGVO", "GDPR", ""),
        ("nach der DS-GVO", "GDPR", ""),
        ("selon le RGPD", "DSGVO", ""),
        ("zuzüglich MwSt.", "VAT", ""),
        ("the G D P R applies", "GDPR", "letters that are spaced out, or words that are not"),
        ("the GDРR applies", "GDPR", "letters of another script that look alike"),
        ("a git-hub page", "GitHub", ""),
        ("an n_8_n flow", "n8n", "another spelling"),
        ("the G.D.P.R. applies", "GDPR", "another spelling"),
        ("a Git\u00adHub page", "GitHub", ""),
        ("the indem-\nnities are", "indemnity", ""),
        ("alle Kündigungen", "Kündigung", ""),
        ("alle Ku\u0308ndigungen", "Kündigung", ""),
        ("three items of", "items", ""),
    ],
)
def test_what_may_be_a_term_is_found_and_shown_as_it_is_written(text: str, term: str, doubt: str) -> None:
    (hit,) = searched(f"First.\n{text}\n", term).hits
    assert (hit.term, hit.line, hit.text, hit.doubt) == (term, 2, text.partition("\n")[0], doubt)
    assert str(hit).endswith(f"(with {doubt})") is bool(doubt)


@pytest.mark.parametrize(
    ("text", "term"),
    [("an average of it", "AVG"), ("the evaluation", "VAT"), ("a dgpr", "GDPR"), ("red car tires", "ART")],
)
def test_a_part_of_another_word_is_no_abbreviation(text: str, term: str) -> None:
    assert searched(text, term).doubt == ""


def test_names_of_files_are_searched() -> None:
    assert searched("x", "Kündigung", path="Ku\u0308ndigungen.md").hits[0].line == 0


def test_terms_are_names_with_capitals_inside_a_sentence() -> None:
    assert terms_of("Check it", ["See whether Acme is named. Detect: it."]) == ("Acme",)
