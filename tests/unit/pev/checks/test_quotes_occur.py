"""Quoted passages of a result and the sources named next to them."""

from collections.abc import Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder
from runs.pev.checks.covers import Covers
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import CheckInput
from runs.pev.checks.quotes_occur import QuotesOccur
from runs.text.boundaries import is_whole
from tests.documents.built import converted

NDA = "The term is thirty (30)\ndays from notice.\nGoverned by the law of Ohio.\n"
ANNEX = "Payment within 14 days of receipt.\n"
GIVEN = {"contracts/nda.md": NDA.encode(), "contracts/annex.md": ANNEX.encode()}
QUOTES = QuotesOccur(kind="quotes_occur", path="report.md")


def material(report: str, path: str = "report.md", given: Mapping[str, bytes] = GIVEN, notes: str = "") -> CheckInput:
    return CheckInput({**given, path: report.encode(), "notes.md": notes.encode()}, given, frozenset(given))


def said(report: str, check: QuotesOccur | Covers = QUOTES, given: Mapping[str, bytes] = GIVEN) -> tuple[bool, str]:
    evidence = run_check(check, material(report, check.path, given))
    return evidence.verified, evidence.sentence


class TestQuotes:
    @pytest.mark.parametrize(
        "report",
        [
            "> The term is thirty (30) days\n— contracts/nda.md, line 1\n",
            "> The term is\n> thirty (30) days\n>\n> from notice.\n\nSource: nda.md\n",
            "nda.md says:\n\n> The term is thirty\n\nand so on.\n",
            "> “The term is thirty” (contracts/nda.md#L1)\n",
            "> The term is thirty\n> — contracts/nda.md\n",
            "- > The term is thirty\n- Document: `contracts/nda.md`\n",
            "### F1\n> The term is thirty\n- Line: 1\n- Document: nda.md\n",
            "## contracts/nda.md\n\nSome words.\n\n> The term is thirty\n",
            "As nda.md has it, “The term is thirty (30) days”.\n",
            'As nda.md has it, "The term is thirty (30) days".\n',
            "Laut nda.md „The term is thirty (30) days“.\n",
            "- [“The term is thirty”](contracts/nda.md#L1)\n",
            "- [“The term is thirty”](<contracts/nda.md#L1> 'title')\n",
            "| nda.md | “The term is thirty” |\n| annex.md | “Payment within 14 days” |\n",
            "> The **term** is […] days from notice\n\nnda.md\n",
            "“The term is thirty” (nda.md)\n\n```\n“in code nothing is looked at”\n> nor here\n```\n",
            "“The term is thirty” (nda.md), `“this is code as well”`\n",
        ],
    )
    def test_passages_with_their_sources_are_found(self, report: str) -> None:
        held, sentence = said(report)
        assert (held, sentence.partition("found in the source named next to it: contracts/")[1] != "") == (True, True)

    @pytest.mark.parametrize(
        ("report", "why"),
        [
            ("> The term is forty\n\nnda.md\n", "line 1: “The term is forty” does not occur in contracts/nda.md"),
            ("\n> The term is thirty\n\nSo.\n", "line 2: “The term is thirty” has no source named next to it"),
            ("> The term is thirty\n\nannex.md\n", "line 1: “The term is thirty” does not occur in contracts/annex.md"),
            ("“The term is thirty” without\n", "line 1: “The term is thirty” has no source named next to it"),
            ("[“The term is thirty”](other.md) nda.md\n", "line 1: “The term is thirty” does not occur in other.md"),
            (
                "> “The term is thirty” and some invented words\n\nnda.md\n",
                "line 1: ‘“The term is thirty” and some invented words’ does not occur in contracts/nda.md",
            ),
            ("> a\n\nnda.md\n", "line 1: “a” is too short to prove anything"),
            ("> The term\nand lazily more\n\nnda.md\n", "line 1: “The term and lazily more” does not occur in"),
        ],
    )
    def test_what_cannot_be_found_is_said_with_its_line(self, report: str, why: str) -> None:
        held, sentence = said(report)
        assert (held, why in sentence) == (False, True), sentence

    def test_a_report_that_quotes_nothing_proves_nothing(self) -> None:
        assert said("# Report\n\nAll is well.\n") == (False, "report.md quotes nothing; quote the sources")

    def test_the_first_ten_are_listed(self) -> None:
        held, sentence = said("\n\n".join(f"“no such words {number:02}” (nda.md)" for number in range(12)))
        assert not held
        assert sentence.startswith("report.md has 12 quoted passages, of which 12 cannot be found: line 1: ")
        assert sentence.endswith("line 19: “no such words 09” does not occur in contracts/nda.md; and 2 more")

    def test_columns_of_a_csv_file(self) -> None:
        check = QuotesOccur(kind="quotes_occur", path="facts.csv", column="text", source_column="document")
        assert said("document,text\ncontracts/nda.md,law of Ohio\nannex.md,14 days\n", check) == (
            True,
            "facts.csv has 2 quoted passages, each found in the source named next to it: "
            "contracts/annex.md, contracts/nda.md",
        )
        assert said("document,text\nannex.md,law of Ohio\nnda.md,\n", check) == (
            False,
            "facts.csv has 2 quoted passages, of which 2 cannot be found: line 2: “law of Ohio” does not occur in "
            "contracts/annex.md; line 3: “” is too short to prove anything",
        )
        assert said("document,quote\n", check) == (
            False,
            "facts.csv has no column “text”; it has document, quote",
        )

    def test_what_the_run_has_made_is_named_as_such(self) -> None:
        evidence = run_check(QUOTES, material("“invented by the run” (notes.md)", notes="invented by the run"))
        assert evidence.verified
        assert evidence.sentence.endswith("named next to it: notes.md; the run itself has made notes.md")

    def test_a_path_means_the_file_as_it_was_given(self) -> None:
        files = {
            **GIVEN,
            "contracts/nda.md": b"Rewritten by the run.",
            "report.md": b"> Rewritten by the run.\nnda.md\n",
        }
        assert not run_check(QUOTES, CheckInput(files, GIVEN)).verified
        files["report.md"] = b"> Rewritten by the run.\n@result/contracts/nda.md\n"
        assert run_check(QUOTES, CheckInput(files, GIVEN)).verified

    @given(st.text("abc ,.\n", min_size=30, max_size=200), st.data())
    def test_every_piece_of_a_source_is_found_there(self, text: str, data: st.DataObject) -> None:
        start = data.draw(st.integers(0, len(text) - 12))
        end = data.draw(st.integers(start + 12, len(text)))
        assume(is_whole(text, start, end))
        quote = text[start:end].strip()
        if sum(map(str.isalnum, quote)) >= 3 and len(quote) >= 12:
            report = f"“{' '.join(quote.split())}” is in source.txt"
            held, sentence = said(report, given={"source.txt": text.encode()})
            assert held == (len(" ".join(quote.split())) >= 12), sentence


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (QUOTES, None),
        (
            QuotesOccur(kind="quotes_occur", path="a.csv", column="quote"),
            "column and source_column go together: give both for a CSV file, and none for any other.",
        ),
    ],
)
def test_problem_with(check: QuotesOccur, problem: str | None) -> None:
    assert problem_with(check) == problem


def report_of_two_pages() -> bytes:
    builder = Builder("pdf", joint="\n\f")
    start = builder.add("page=1", BlockKind.PAGE, "Annual Report\nIt was agree-").start
    builder.mark(MarkKind.RUNNING, start, start + 13)
    start = builder.add("page=2", BlockKind.PAGE, "Annual Report\nd to pay. A secret bonus was paid.").start
    builder.mark(MarkKind.RUNNING, start, start + 13)
    builder.mark(MarkKind.UNSEEN, start + 24, start + 48)
    return converted(builder, "page", 2)


@pytest.mark.parametrize(
    ("quote", "held"),
    [
        ("It was agreed to pay", True),
        ("[page=2] d to pay", True),
        ("A secret bonus was paid", False),
        ("It was agreed to sue", False),
    ],
)
def test_quotes_from_documents_are_looked_up_as_evidence_is(quote: str, held: bool) -> None:
    assert said(f"“{quote}” (report.pdf)", given={"report.pdf": report_of_two_pages()})[0] is held


def test_quotes_from_texts_are_looked_up_as_evidence_is() -> None:
    assert said("“The liability is cap-ped” (a.md)", given={"a.md": "The lia­bility is capped.".encode()})[0] is True
