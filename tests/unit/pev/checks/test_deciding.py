"""What all checks of files have in common."""

import hashlib

import pytest

from runs.documents.content import Converted
from runs.enums import Provenance
from runs.evidence.results import Evidence
from runs.pev.checks.base import FileCheck
from runs.pev.checks.contains import Contains
from runs.pev.checks.deciding import run_check
from runs.pev.checks.file_exists import FileExists
from runs.pev.checks.matches import Matches
from runs.pev.checks.material import CheckInput
from runs.pev.checks.no_placeholders import NoPlaceholders
from runs.pev.checks.word_count import WordCount
from tests.unit.pev.checks.outcomes import outcome


def test_of_a_document_the_file_is_named_and_not_its_text() -> None:
    read = Converted(b"The rent is due.\n", "a" * 64)
    evidence = run_check(Contains(kind="contains", path="lease.docx", text="rent"), CheckInput({"lease.docx": read}))
    assert (evidence.verified, evidence.sha256) == (True, "a" * 64)


EXISTS = FileExists(kind="file_exists", path="a.md")
NO_PLACEHOLDERS = NoPlaceholders(kind="no_placeholders", path="a.md")


def matches(pattern: str, minimum: int = 1) -> Matches:
    return Matches(kind="matches", path="a.md", pattern=pattern, min=minimum)


def words(minimum: int = 0, maximum: int = 1_000_000) -> WordCount:
    return WordCount(kind="word_count", path="a.md", min=minimum, max=maximum)


def test_evidence_of_a_check_is_complete() -> None:
    check = Contains(kind="contains", path="a\\b.md", text="net  amount")
    assert run_check(check, CheckInput({"a/b.md": b"The\nnet\namount"})) == Evidence(
        kind="check",
        source="a/b.md",
        verified=True,
        sentence="a/b.md contains “net amount”, line 2",
        sha256=hashlib.sha256(b"The\nnet\namount").hexdigest(),
        start=4,
        end=14,
        line=2,
        provenance=Provenance.MADE,
    )


def test_a_missing_file_and_a_bad_path_do_not_hold() -> None:
    assert run_check(EXISTS, CheckInput({})) == Evidence(
        kind="check",
        source="a.md",
        verified=False,
        sentence="a.md does not exist",
        provenance=Provenance.MADE,
    )
    refused = run_check(FileExists(kind="file_exists", path="../a"), CheckInput({"../a": b""}))
    assert (refused.verified, refused.sha256) == (False, "")
    assert "the part “..”" in refused.sentence


@pytest.mark.parametrize("check", [matches("x"), words(), NO_PLACEHOLDERS])
def test_what_is_not_text_does_not_hold(check: FileCheck) -> None:
    assert outcome(check, b"x\0") == (False, "a.md is not a text file")
