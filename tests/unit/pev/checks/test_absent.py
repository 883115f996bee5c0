"""Terms that occur nowhere in given files."""

import pytest

from runs.pev.checks.absent import Absent
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import CheckInput
from runs.text.truncate import in_quotes

NDA = "The term is thirty (30)\ndays from notice.\nGoverned by the law of Ohio.\n"
ANNEX = "Payment within 14 days of receipt.\n"
GIVEN = {"contracts/nda.md": NDA.encode(), "contracts/annex.md": ANNEX.encode()}


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
        assert (found.verified, found.sentence) == (False, f"There is {in_quotes(term)} in a.md, line 2")

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
        (
            Absent(kind="absent", path="*a" * 9, terms=["cap"]),
            "There may be 50 patterns with wildcards, and 8 wildcards in each; name folders.",
        ),
        (Absent(kind="absent", path="contracts/", terms=["cap", "§1"]), "The term “§1” is too short to be looked for."),
    ],
)
def test_problem_with(check: Absent, problem: str | None) -> None:
    assert problem_with(check) == problem
