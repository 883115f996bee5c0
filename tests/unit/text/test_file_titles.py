"""The titles that reports give to documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.text.file_titles import titles_of


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("contracts/service_agreement.docx", "Service agreement"),
        ("contracts/Büro lease.md", "Büro lease"),
        ("2024-03-01_lease.PDF", "2024-03-01 lease"),
        ("NDA-2.pdf", "NDA 2"),
        ("annex 3 - prices.xlsx", "Annex 3 - prices"),
        ("_.md", "_.md"),
        ("合同.docx", "合同"),
    ],
)
def test_a_document_is_called_by_the_words_of_its_file(path: str, title: str) -> None:
    assert titles_of([path]) == {path: title}


def test_documents_of_one_name_are_told_apart_by_form_or_folder() -> None:
    assert titles_of(["a/lease.pdf", "a/lease.docx"]) == {"a/lease.pdf": "Lease (PDF)", "a/lease.docx": "Lease (DOCX)"}
    assert titles_of(["2023/lease.pdf", "2024/lease.pdf"]) == {
        "2023/lease.pdf": "Lease (2023)",
        "2024/lease.pdf": "Lease (2024)",
    }


def test_only_folders_that_there_are_tell_documents_apart() -> None:
    assert titles_of(["lease.pdf", "old/lease.pdf"]) == {"lease.pdf": "Lease", "old/lease.pdf": "Lease (old)"}


def test_the_files_of_a_project_keep_their_paths() -> None:
    assert titles_of(["README.md", "src/app.py"]) == {}
    assert titles_of([]) == {}


@given(st.lists(st.from_regex(r"([a-bA-B_ -]{1,3}/){0,2}[a-bA-B_ -]{1,3}\.(md|pdf)", fullmatch=True), unique=True))
def test_no_two_documents_have_the_same_title(paths: list[str]) -> None:
    titles = titles_of(paths)
    assert titles.keys() == set(paths)
    assert len({title.casefold() for title in titles.values()}) == len({path.casefold() for path in paths})
