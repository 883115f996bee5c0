"""Items that a result deals with."""

from collections.abc import Mapping

import pytest

from runs.pev.checks.covers import Covers
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import CheckInput
from runs.pev.checks.quotes_occur import QuotesOccur

NDA = "The term is thirty (30)\ndays from notice.\nGoverned by the law of Ohio.\n"
ANNEX = "Payment within 14 days of receipt.\n"
GIVEN = {"contracts/nda.md": NDA.encode(), "contracts/annex.md": ANNEX.encode()}
QUOTES = QuotesOccur(kind="quotes_occur", path="report.md")


def material(report: str, path: str = "report.md", given: Mapping[str, bytes] = GIVEN, notes: str = "") -> CheckInput:
    return CheckInput({**given, path: report.encode(), "notes.md": notes.encode()}, given, frozenset(given))


def said(report: str, check: QuotesOccur | Covers = QUOTES, given: Mapping[str, bytes] = GIVEN) -> tuple[bool, str]:
    evidence = run_check(check, material(report, check.path, given))
    return evidence.verified, evidence.sentence


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

    @pytest.mark.parametrize(
        ("item", "report", "held"),
        [
            ("2777", "索赔2777元", True),
            ("2777元", "索赔2777元", True),
            ("277", "索赔2777元", False),
            ("5", "附件-5", True),
            ("5%", "同比增长 −5%", False),
            ("5000", "매출은5000원입니다", True),
            ("5000원", "매출은5000원", True),
            ("500", "매출은5000원입니다", False),
            *((item, f"매출 {item}만원", False) for item in ("500", "매출 5", "1,200")),
            ("500만원", "매출 500만원", True),
            *(("โอน 5", f"โอน 5{scale}", False) for scale in ("ล้าน", " ล้าน", "พันล้าน")),
            ("โอน 5", "โอน 5 ครั้ง", True),
            *(("5", f"共5{rest}", False) for rest in ("万元", "多万元", "千元", "億円")),
            *(("5", f"共5{rest}", True) for rest in ("元", "千克", "人", "多人")),
            *((item, "共1億2000万円", False) for item in ("1億", "2000万", "2000万円", "1")),
            ("1億2000万円", "共1億2000万円", True),
            ("5万", "共5万亿元", False),
            ("김철수", "김철수정", False),
            ("500บาท", "ราคา500บาท", True),
            ("500", "ราคา5000บาท", False),
            ("สัญญา", "ตามสัญญานี้", True),
            ("สัญญา", "ตามหนังสือนี้", False),
        ],
    )
    def test_figures_and_words_next_to_letters_without_spaces(self, item: str, report: str, held: bool) -> None:
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


@pytest.mark.parametrize(
    ("check", "problem"),
    [
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
    ],
)
def test_problem_with(check: Covers, problem: str | None) -> None:
    assert problem_with(check) == problem
