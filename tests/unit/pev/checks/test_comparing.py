"""The checks that compare with sources: quotes, items and absent terms, held and not held, and what each says of it."""

from collections.abc import Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runs.documents.formats.building import Builder
from runs.documents.model.layout import BlockKind, MarkKind
from runs.enums import Provenance
from runs.evidence.sources import Given, Sources, ToolText
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import CheckInput
from runs.pev.contracts import Absent, Citations, Covers, QuotesOccur
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


class TestCitations:
    CHECK = Citations(kind="citations", path="report.md", min=2)

    @pytest.mark.parametrize(
        ("report", "held", "sentence", "outside"),
        [
            (
                "[“thirty (30)”](contracts/nda.md#L1) and [“14 days”](contracts/annex.md#L1)",
                True,
                "report.md has 2 citations, wanted at least 2, all found",
                True,
            ),
            (
                "[“thirty (30)”](contracts/nda.md#L1)",
                False,
                "report.md has 1 citation, wanted at least 2, all found",
                True,
            ),
            (
                "[“thirty (30)”](contracts/nda.md#L1)\n\n[“15 days”](contracts/annex.md#L1)",
                False,
                "report.md has 2 citations, wanted at least 2; 1 broken. "
                "Line 3: “15 days” does not occur in contracts/annex.md.",
                False,
            ),
            (
                "[“of its own”](notes.md#L1) [“of its own”](notes.md#L1)",
                True,
                "report.md has 2 citations, wanted at least 2, all found",
                False,
            ),
        ],
        ids=["all hold", "too few", "one is broken", "of what the run wrote"],
    )
    def test_every_citation_has_to_hold(self, report: str, held: bool, sentence: str, outside: bool) -> None:
        evidence = run_check(self.CHECK, material(report, notes="Words of its own.\n"))
        assert (evidence.verified, evidence.sentence) == (held, sentence)
        assert (evidence.provenance is Provenance.GIVEN) == outside

    def test_pages_that_were_read_are_looked_up_as_well(self) -> None:
        address = "https://a.example/x"
        page = ToolText(f"{address}, found\nIt has 5,450 inhabitants.\n", sent=address, is_outside=True)
        files = {"report.md": f"[“It has 5,450”]({address}) [“5,450 inhabitants”]({address})".encode()}
        read = CheckInput(files, library=Sources(files, Given({}), tools=[page]))
        evidence = run_check(self.CHECK, read)
        assert (evidence.verified, evidence.provenance) == (True, Provenance.OBSERVED)
        assert evidence.rests_on == "checked against what tools showed"
        assert not run_check(self.CHECK, CheckInput(files)).verified

    def test_other_files_have_no_citations(self) -> None:
        problem = problem_with(Citations(kind="citations", path="data.csv"))
        assert problem == "“data.csv” is no Markdown, Word or PDF file; only those have citations."


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
        assert (held, sentence.partition("found in the source named beside it: contracts/")[1] != "") == (True, True)

    @pytest.mark.parametrize(
        ("report", "why"),
        [
            ("> The term is forty\n\nnda.md\n", "line 1: “The term is forty” does not occur in contracts/nda.md"),
            ("\n> The term is thirty\n\nSo.\n", "line 2: “The term is thirty” has no source named beside it"),
            ("> The term is thirty\n\nannex.md\n", "line 1: “The term is thirty” does not occur in contracts/annex.md"),
            ("“The term is thirty” without\n", "line 1: “The term is thirty” has no source named beside it"),
            ("[“The term is thirty”](other.md) nda.md\n", "line 1: “The term is thirty” does not occur in other.md"),
            (
                "> “The term is thirty” and some invented words\n\nnda.md\n",
                "line 1: “““The term is thirty” and some invented words” does not occur in contracts/nda.md",
            ),
            ("> a\n\nnda.md\n", "line 1: “a” is too short to prove anything"),
            ("> The term\nand lazily more\n\nnda.md\n", "line 1: “The term and lazily more” does not occur in"),
        ],
    )
    def test_what_cannot_be_found_is_said_with_its_line(self, report: str, why: str) -> None:
        held, sentence = said(report)
        assert (held, why.replace("“““", "““") in sentence) == (False, True), sentence

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
            "facts.csv has 2 quoted passages, each found in the source named beside it: "
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
        assert evidence.sentence.endswith("named beside it: notes.md; the run itself has made notes.md")

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
            report = f"“{' '.join(quote.split())}” stands in source.txt"
            held, sentence = said(report, given={"source.txt": text.encode()})
            assert held == (len(" ".join(quote.split())) >= 12), sentence


class TestCoverage:
    LIST = b"# People\n\n- Jane Doe\n* [ ] M\xc3\xbcller GmbH\n3. clause 4.2\n---\n"

    def covers(self, **options: object) -> Covers:
        return Covers.model_validate({"kind": "covers", "path": "report.md", **options})

    def test_items_are_looked_for_as_whole_words(self) -> None:
        check = self.covers(items=["Jane  Doe", "MÜLLER", "4.2", "Ann", "(b)"])
        assert said("jane\ndoe and Müller-Lüdenscheidt, 4.2.1, Annex (B)\n", check) == (
            False,
            "report.md has 3 of 5 dealt with; missing: “4.2”, “Ann”",
        )

    @pytest.mark.parametrize(
        ("report", "item"),
        [
            ("die Ku\u0308ndigung folgt", "Kündigung"),
            ("the tenant’s deposit", "tenant's deposit"),
            ("force\u00a0majeure", "force majeure"),
            ("by in-\nference only", "inference"),
            ("The **force** majeure", "force majeure"),
            ("Meier &amp; [Söhne](a.md)", "Meier & Söhne"),
            ("die ５０㎡ große", "50m2"),
        ],
    )
    def test_items_are_named_however_they_are_spelled(self, report: str, item: str) -> None:
        assert said(f"As to {report}.", self.covers(items=[item])) == (True, "report.md has 1 of 1 dealt with")

    @pytest.mark.parametrize(
        ("item", "report", "held"),
        [
            *(
                ("500", report, False)
                for report in ("-500", "−500 EUR", "a loss of –500", "-$500", "$-500", "-EUR 500", "EUR -500", "<500")
            ),
            *(("500", report, False) for report in ("≥ 500", "500-", "($500)", "±500", "`-500`", "- 600, -500")),
            *((item, f"-{item}", False) for item in ("$500", "EUR 500", "5 days", "500 EUR", "0.5", "1,000")),
            ("-500", "500", False),
            ("-500", "10-500", False),
            ("<500", "500", False),
            ("-500", "a loss of −500", True),
            ("<500", "< 500, <500", True),
            *(("500", report, True) for report in ("10-500", "400–500", "500-600", "- 500\n- 600", "(500)", "| 500 |")),
            *(("500", report, True) for report in ("about 500", "A-500", "-500 and 500", "**500**", "500 - 600")),
            *((item, item, True) for item in ("INV-500", "500-A", "2026-01-05", "10-20", "clause 5", "-$500")),
        ],
    )
    def test_numbers_keep_their_sign(self, item: str, report: str, held: bool) -> None:
        assert said(report, self.covers(items=[item]))[0] is held

    def test_columns_are_named_by_the_same_text(self) -> None:
        check = self.covers(source="in.csv", column="Größe", in_column="Größe")
        given = {"in.csv": "id;Gro\u0308ße\n1;Ann\n".encode()}
        assert said("Grö\u00adße,what\nann,x\n", check, given=given)[0] is True

    def test_the_items_of_a_list(self) -> None:
        check = self.covers(source="people.md")
        given = {"people.md": self.LIST}
        assert said("Jane Doe, Müller GmbH; clause 4.2.", check, given=given) == (
            True,
            "report.md has 3 of 3 dealt with",
        )
        assert said("Jane Doe.", check, given=given)[1] == (
            "report.md has 1 of 3 dealt with; missing: “Müller GmbH”, “clause 4.2”"
        )

    def test_the_values_of_a_column_by_a_column(self) -> None:
        check = self.covers(source="in.csv", column="name", in_column="who")
        given = {"in.csv": b"id;name\n1;Ann\n2;Bob\n3;Bob\n"}
        assert said("who,what\nann,x\n,bob\n", check, given=given) == (
            False,
            "report.md has 1 of 2 dealt with by its column “who”; missing: “Bob”",
        )

    def test_given_files(self) -> None:
        check = self.covers(files="contracts/")
        assert said("See nda.md and [x](contracts/annex.md#L4).", check) == (True, "report.md has 2 of 2 dealt with")
        assert said("See other-nda.md, contracts/annex.md.bak", check) == (
            False,
            "report.md has 0 of 2 dealt with; missing: contracts/annex.md, contracts/nda.md",
        )
        assert said("nda.md", self.covers(files="*.pdf"))[1] == (
            "report.md is not compared: no given file matches *.pdf"
        )

    def test_a_list_without_items_proves_nothing(self) -> None:
        assert said("x", self.covers(source="empty.md"), given={"empty.md": b"# Nothing\n"})[1] == (
            "report.md is not compared: empty.md lists nothing"
        )
        assert said("x", self.covers(source="people.md"))[1] == "report.md people.md does not exist"


class TestAbsence:
    def absent(self, *terms: str, path: str = "contracts/", read_whole: bool = True) -> tuple[bool, str, str, int]:
        check = Absent(kind="absent", path=path, terms=list(terms))
        evidence = run_check(check, CheckInput(GIVEN, GIVEN, frozenset(GIVEN if read_whole else ())))
        return evidence.verified, evidence.source, evidence.sentence, evidence.line

    def test_terms_that_occur_nowhere(self) -> None:
        assert self.absent("Liability  Cap", "ceiling") == (
            True,
            "contracts/annex.md",
            "“Liability Cap”, “ceiling” occur nowhere in contracts/annex.md, contracts/nda.md (2 files, read whole)",
            0,
        )

    def test_capitals_spaces_and_parts_of_words_do_not_hide_a_term(self) -> None:
        assert self.absent("(30) DAYS", "overn") == (
            False,
            "contracts/nda.md",
            "There is “(30) DAYS” in contracts/nda.md, line 1, “overn” in contracts/nda.md, line 3",
            1,
        )

    @pytest.mark.parametrize(
        ("text", "term"),
        [
            ("It ends on the tenant’s death.", "tenant's death"),
            ("He is a “good leaver” then.", '"good leaver"'),
            ("本契約は不可抗\u2f12による", "不可抗力"),
            ("不可抗\n力による", "不可抗力"),
            ("ﺍﻟﻘﻮﺓ ﺍﻟﻘﺎﻫﺮﺓ", "القوة القاهرة"),
            ("an inde\u034fmnity", "indemnity"),
            ("an inde\u200fmnity", "indemnity"),
            ("⚠\ufe0f Danger", "⚠ Danger"),
            ("The **force** majeure", "force majeure"),
            ("The [force](a.md) majeure", "force majeure"),
            ("a [link](https://evil.example/x)", "evil.example"),
            ("force&nbsp;majeure", "force majeure"),
            ("an in-\ndemnity", "indemnity"),
            ("limitation\u00a0of\nliability", "limitation of liability"),
            ("die KU\u0308NDIGUNG", "kündigung"),
            ("eine STRASSE", "Straße"),
        ],
    )
    def test_no_spelling_hides_a_term(self, text: str, term: str) -> None:
        given = {"a.md": f"First.\n{text}\n".encode()}
        found = run_check(Absent(kind="absent", path="a.md", terms=[term]), CheckInput(given, given, {"a.md"}))
        assert (found.verified, found.sentence) == (False, f"There is “{term}” in a.md, line 2")

    @pytest.mark.parametrize(
        ("text", "term", "doubt"),
        [
            ("an I N D E M N I T Y here", "indemnity", "letters that are spaced out, or words that are not"),
            (
                "a limitationofliability here",
                "limitation of liability",
                "letters that are spaced out, or words that are",
            ),
            ("the реnalty is", "penalty", "letters of another script that look alike"),
            ("the ΡΕΝΑLTY is", "penalty", "letters of another script that look alike"),
            ("the ɪɴᴅᴇᴍɴɪᴛʏ is", "indemnity", "letters of another script that look alike"),
            ("the Ꮲenalty is", "penalty", "letters of another script that look alike"),
            ("the Ⓟⓔⓝⓐⓛⓣⓨ is", "penalty", "other accents"),
            ("the νalue is", "value", "letters of another script that look alike"),
            ("the penalty is", "реnalty", "letters of another script that look alike"),
            ("bir İNDİRİM var", "indirim", "other accents, or dots of the letter i"),
            ("bir ındırım var", "indirim", "other accents, or dots of the letter i"),
            ("die Kündigung von Müller", "Mueller", "another spelling"),
            ("Zahlung an Mueller", "Müller", "another spelling"),
            ("et koeb af", "køb", "another spelling"),
            ("a CO₂ tax", "CO2", "another spelling"),
            ("10² metres", "102 metres", "another spelling"),
            ("the N.D.A. says", "NDA", "another spelling"),
            ("eine G.m.b.H. ist", "GmbH", "another spelling"),
            ("of US law", "U.S.", "another spelling"),
            ("a sum of 1 000 euros", "1000 euros", "another spelling"),
            ("a sum of 1.000.000 euros", "1,000,000", "another spelling"),
            ("an interest of 12,5 %", "12.5 %", "another spelling"),
            ("the tenant’s duty", "tenants", "another spelling"),
            ("a force_majeure_clause here", "force majeure", "another spelling"),
            ("die Kündigung ist", "Kundigung", "other accents, or dots of the letter i"),
        ],
    )
    def test_what_may_be_a_term_is_no_proof_of_its_absence(self, text: str, term: str, doubt: str) -> None:
        given = {"a.md": f"First.\n{text}\n".encode()}
        found = run_check(Absent(kind="absent", path="a.md", terms=[term]), CheckInput(given, given, {"a.md"}))
        assert not found.verified
        assert found.sentence.startswith(
            f"It is not certain that they are absent; there may be “{term}” in a.md, line 2 as “"
        )
        assert f"with {doubt}" in found.sentence

    @pytest.mark.parametrize(
        ("text", "term"),
        [
            ("red car tires", "art"),
            ("in dem Nist", "indemni"),
            ("a resident", "Präsident"),
            ("10-20 metres", "1020 metres"),
            ("1,5 euros", "15 euros"),
            ("10,000 euros", "1000 euros"),
            ("the blue value", "vale"),
            ("пример текста", "example"),
        ],
    )
    def test_what_is_something_else_is_absent(self, text: str, term: str) -> None:
        given = {"a.md": text.encode()}
        assert run_check(Absent(kind="absent", path="a.md", terms=[term]), CheckInput(given, given, {"a.md"})).verified

    def test_invisible_characters_do_not_hide_a_term(self) -> None:
        given = {"a.md": "No lia\u00adbility\u200b cap.".encode()}
        check = Absent(kind="absent", path="a.md", terms=["liability cap"])
        assert not run_check(check, CheckInput(given, given, {"a.md"})).verified

    def test_nothing_is_absent_from_what_was_not_read(self) -> None:
        assert self.absent("ceiling", path="contracts/nda.md", read_whole=False) == (
            False,
            "contracts/nda.md",
            "Nothing is known to be absent from what was not read whole: contracts/nda.md",
            0,
        )

    def test_a_folder_is_one_with_and_without_its_slash(self) -> None:
        assert self.absent("ceiling", path="contracts") == self.absent("ceiling", path="contracts/")

    def test_a_pattern_that_matches_no_file_fails(self) -> None:
        assert self.absent("ceiling", path="*.pdf")[:3] == (False, "*.pdf", "*.pdf matches none of the given files")


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (QUOTES, None),
        (
            QuotesOccur(kind="quotes_occur", path="a.csv", column="quote"),
            "column and source_column go together: give both for a CSV file, and none for any other.",
        ),
        (
            Covers(kind="covers", path="a.md"),
            "It names no items: give items, a source or files.",
        ),
        (Covers(kind="covers", path="a.md", source="@result/a.md"), "It compares @result/a.md with itself."),
        (
            Covers(kind="covers", path="a.csv", source="a.csv", column="id"),
            "It compares a.csv with itself; @result/a.csv in `path` is what the run makes of it.",
        ),
        (Covers(kind="covers", path="@result/a.csv", source="a.csv", column="id", in_column="id"), None),
        (
            Covers(kind="covers", path="a.md", items=["x"], column="name"),
            "column is one of the file source, which is not given; the column of the result is in_column.",
        ),
        (
            Covers(kind="covers", path="a.md", items=["x", "—"]),
            "The item “—” has no letter or digit to look for.",
        ),
        (
            Covers(kind="covers", path="a.md", files="@result/x/"),
            "files means the given files; leave @result/ out.",
        ),
        (
            Covers(kind="covers", path="a.md", files="/x"),
            "“/x” cannot be used as a path: it is absolute; leave out the leading slash.",
        ),
        (Covers(kind="covers", path="a.md", files="contracts/*.md", source="list.csv", column="name"), None),
        (
            Absent(kind="absent", path="*a" * 9, terms=["cap"]),
            "There may be 50 patterns with wildcards, and 8 wildcards in each; name folders.",
        ),
        (Absent(kind="absent", path="contracts/", terms=["cap", "§1"]), "The term “§1” is too short to be looked for."),
    ],
)
def test_problem_with(check: QuotesOccur | Covers | Absent, problem: str | None) -> None:
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
