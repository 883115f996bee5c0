"""Every kind of check, held and not held, with its figures; and hostile patterns, schemas and files."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.documents.content import Converted
from runs.documents.formats.building import Builder
from runs.documents.model.document import Document
from runs.documents.model.layout import BlockKind
from runs.enums import Provenance
from runs.evidence.results import Evidence
from runs.pev.checks.deciding import count_words, problem_with, run_check
from runs.pev.checks.material import CheckInput
from runs.pev.contracts import (
    ChecksFiles,
    Contains,
    CsvColumns,
    FileExists,
    JsonValid,
    Matches,
    MinBytes,
    NoPlaceholders,
    WordCount,
)
from tests.unit.pev import slow


def outcome(check: ChecksFiles, content: str | bytes) -> tuple[bool, str]:
    data = content if isinstance(content, bytes) else content.encode()
    evidence = run_check(check, CheckInput({check.path: data}))
    assert evidence.sha256 == hashlib.sha256(data).hexdigest()
    return evidence.verified, evidence.sentence


def test_of_a_document_the_file_is_named_and_not_its_text() -> None:
    read = Converted(b"The rent is due.\n", "a" * 64)
    evidence = run_check(Contains(kind="contains", path="lease.docx", text="rent"), CheckInput({"lease.docx": read}))
    assert (evidence.verified, evidence.sha256) == (True, "a" * 64)


EXISTS = FileExists(kind="file_exists", path="a.md")
NO_PLACEHOLDERS = NoPlaceholders(kind="no_placeholders", path="a.md")
CSV = CsvColumns(kind="csv_columns", path="a.csv", columns=["name", "amount"])


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


def test_file_exists_and_min_bytes() -> None:
    assert outcome(EXISTS, b"\0") == (True, "a.md exists (1 byte)")
    check = MinBytes(kind="min_bytes", path="a.md", min=1_000)
    assert outcome(check, "x" * 999) == (False, "a.md has 999 bytes, wanted at least 1,000")
    assert outcome(check, "x" * 1_000) == (True, "a.md has 1,000 bytes, wanted at least 1,000")


@pytest.mark.parametrize("check", [matches("x"), words(), NO_PLACEHOLDERS])
def test_what_is_not_text_does_not_hold(check: ChecksFiles) -> None:
    assert outcome(check, b"x\0") == (False, "a.md is not a text file")


def test_contains_counts_capitals() -> None:
    check = Contains(kind="contains", path="a.md", text="Net amount")
    assert outcome(check, "net amount") == (False, "a.md does not contain “Net amount”")


class TestMatches:
    def test_says_how_many_and_where(self) -> None:
        text = "x\n\n\n# a\n\n# b\r\n# c\n"
        assert outcome(matches("^# .$", 2), text) == (True, "a.md matches 3 of at least 2: lines 4, 6, 7")
        assert outcome(matches("^# .$", 4), text) == (False, "a.md matches 3 of at least 4: lines 4, 6, 7")
        assert outcome(matches("^z"), text) == (False, "a.md matches 0 of at least 1")
        assert outcome(matches("x"), "xx") == (True, "a.md matches 2 of at least 1: line 1")

    def test_of_a_document_its_comments_alone_may_be_searched(self) -> None:
        def found(body: str, comment: str) -> tuple[bool, str]:
            builder = Builder("docx")
            builder.add("p1", BlockKind.PARAGRAPH, body)
            builder.add("cm0.p1", BlockKind.COMMENT, comment)
            made = builder.made()
            copy = Converted(made.text.encode(), "a" * 64, lambda: Document(made.text, made.rendered.layout))
            check = Matches(kind="matches", path="a.docx", pattern=r"^F\d+ · ", comments=True)
            evidence = run_check(check, CheckInput({"a.docx": copy}))
            return evidence.verified, evidence.sentence

        assert found("F1 · Delivery\nF2 · Rent", "Why?") == (False, "a.docx matches 0 of at least 1 in its comments")
        assert found("One\nTwo", "F1 · Why?") == (True, "a.docx matches 1 of at least 1 in its comments: line 3")
        text = Matches(kind="matches", path="a.md", pattern="F1", comments=True)
        assert outcome(text, "F1 · x") == (False, "a.md matches 0 of at least 1 in its comments")

    def test_lists_ten_lines(self) -> None:
        ten = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"
        assert outcome(matches("x"), "x\n" * 10)[1] == f"a.md matches 10 of at least 1: lines {ten}"
        assert outcome(matches("x"), "x\n" * 11)[1] == f"a.md matches 11 of at least 1: lines {ten}, …"

    def test_counts_no_further_than_it_has_to(self) -> None:
        assert outcome(matches("x"), "x" * 5_000)[1] == "a.md matches 1,000 of at least 1: line 1"
        assert outcome(matches("x", 4_000), "x" * 5_000)[0]
        assert not outcome(matches("x", 6_000), "x" * 5_000)[0]

    def test_matches_of_no_width_end(self) -> None:
        assert outcome(matches("^", 3), "a\nb\nc") == (True, "a.md matches 3 of at least 3: lines 1, 2, 3")
        assert outcome(matches("b*", 4), "äbä") == (True, "a.md matches 4 of at least 4: line 1")

    def test_a_pattern_that_takes_too_long_does_not_hold(self) -> None:
        evidence = run_check(matches(slow.PATTERN), CheckInput({"a.md": slow.TEXT.encode()}), seconds=0.2)
        assert not evidence.verified
        assert evidence.sentence == f"a.md was not searched for “{slow.PATTERN}”: it took longer than 0.2 seconds"

    @pytest.mark.parametrize(
        "pattern",
        [
            "(",
            "[",
            "*",
            "\\",
            "(?P<a",
            "(?<n>a)(?<m",
            "a{2000000000}",
            "((((a{1000}){1000}){1000}){1000})",
            "(?:a{9}?){9999999}",
            "(?x)(?:a{999}) #\n{9999}",
            "(?x: a )",
            "a{99999999999999999999}",
            "(" * 500,
            r"^.{0,2000}$",
            r"(?=a)",
            r"^x(?<=\S)",
            r"(a)\1",
            r"\bÄnderung",
        ],
    )
    def test_a_pattern_that_cannot_be_used_does_not_hold(self, pattern: str) -> None:
        held, sentence = outcome(matches(pattern), "a" * 100)
        assert not held
        assert sentence.startswith("a.md was not searched for “")
        assert "cannot be used" in (problem_with(matches(pattern)) or "")

    @pytest.mark.parametrize(
        "pattern",
        [
            r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$",
            r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            r"\(?x{2}\)?",
            r"^.{1,1000}$",
            r"\bgrößer\b",
            r"\b\d{1,2}\. \w{3,20} \d{4}\b",
            r"(?m)^#{1,3} ",
            r"\p{Lu}+",
        ],
    )
    def test_ordinary_patterns_are_fine(self, pattern: str) -> None:
        assert problem_with(matches(pattern)) is None


class TestWordCount:
    def test_says_what_was_wanted(self) -> None:
        assert outcome(words(150, 300), "w " * 212) == (True, "a.md has 212 words, wanted 150 to 300")
        assert outcome(words(150, 300), "w " * 301) == (False, "a.md has 301 words, wanted 150 to 300")
        assert outcome(words(2), "one") == (False, "a.md has 1 word, wanted at least 2")

    @pytest.mark.parametrize(
        ("text", "count"),
        [
            ("", 0),
            ("# A heading\n\n- one\n- two | three", 5),
            ("well-known can't e.g. 3.5 %", 4),
            ("契約は三か月", 6),
            ("GmbH契約", 3),
            ("Zwölf Monate — straße", 3),
        ],
    )
    def test_counts_what_people_call_words(self, text: str, count: int) -> None:
        assert count_words(text) == count

    def test_is_linear(self) -> None:
        assert count_words("-" * 500_000) == 0


def test_json_valid() -> None:
    check = JsonValid(kind="json_valid", path="a.json")
    assert outcome(check, b'\xef\xbb\xbf{"a": 1}') == (True, "a.json is valid JSON")
    expected = "a.json is not valid JSON: Expecting value, line 2, column 6"
    assert outcome(check, '{\n"a": }') == (False, expected)
    assert outcome(check, "[NaN]") == (False, "a.json is not valid JSON: NaN is not JSON")
    assert not outcome(check, "9" * 5_000)[0]
    assert outcome(check, "[" * 200_000) == (False, "a.json is not valid JSON: it is nested too deeply")


class TestSameText:
    @pytest.mark.parametrize(
        ("path", "content", "text", "held"),
        [
            ("a.md", "the tenant’s **last** rent", "the tenant's last rent", True),
            ("a.md", "a limi-\ntation of lia\u00adbility", "limitation of liability", True),
            ("a.html", "<p>Meier &amp; <i>Co</i></p>", "Meier & Co", True),
            ("a.txt", "Meier &amp; Co", "Meier & Co", False),
            ("a.md", "red car tires", "art", False),
            ("a.md", "The Rent", "the rent", False),
            ("a.md", "10² metres", "102 metres", False),
        ],
    )
    def test_a_text_is_contained_however_it_is_spelled(self, path: str, content: str, text: str, held: bool) -> None:
        check = Contains(kind="contains", path=path, text=text)
        assert run_check(check, CheckInput({path: content.encode()})).verified is held


class TestCsvColumns:
    @pytest.mark.parametrize(
        "text",
        [
            "name,amount\n1,2",
            "amount;name;x\n",
            "name\tamount\r\n",
            "\ufeffname , amount\n",
            '\n\n"name","amount"\n',
            '"name";"amount";"with, comma"\n',
        ],
    )
    def test_holds(self, text: str) -> None:
        assert outcome(CSV, text)[0]

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("name,b,c\n", "a.csv lacks the column “amount”; it has name, b, c"),
            ("Name;Amount\n", "a.csv lacks the columns “name”, “amount”; it has Name, Amount"),
            ("", "a.csv has no header row"),
            ("\n ; \n", "a.csv lacks the columns “name”, “amount”; it has ;"),
            ("name,\ufeffamount", "a.csv lacks the column “amount”; it has name, \ufeffamount"),
            ("x" * 200_000, "a.csv has no header row"),
        ],
    )
    def test_says_what_is_lacking(self, text: str, sentence: str) -> None:
        assert outcome(CSV, text) == (False, sentence)


class TestNoPlaceholders:
    @pytest.mark.parametrize(
        "text",
        [
            "TODO",
            "(TODO: check)",
            "To be said: TBD.",
            "FIXME later",
            "XXX",
            "Lorem  ipsum dolor",
            "[Insert name here]",
            "[insert]",
            "<placeholder>",
            "<PLACEHOLDER>",
            "Dear {{ name }},",
            "Coming soon!",
            "coming\nsoon",
            "TODO\n",
        ],
    )
    def test_finds(self, text: str) -> None:
        assert not outcome(NO_PLACEHOLDERS, f"Before.\n{text} after")[0]

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "Lo hicimos todo.",
            "Todo está listo",
            "a todo list",
            "METODO",
            "TODOS",
            "my_TODO_list",
            "XXXL",
            "XXX-XX-1234",
            "fixme",
            "an inserted [inserted] clause",
            "{ {a} }",
            "{}",
            "a placeholder",
            "[1]",
            "soon coming",
            "tbd",
            "lorem",
            "<placeholders>",
        ],
    )
    def test_raises_no_false_alarm(self, text: str) -> None:
        assert outcome(NO_PLACEHOLDERS, text) == (True, "a.md has no placeholders")

    def test_says_where(self) -> None:
        evidence = run_check(NO_PLACEHOLDERS, CheckInput({"a.md": b"a\nb\n- TODO\n"}))
        assert evidence.sentence == "a.md still has a placeholder: “TODO”, line 3"
        assert (evidence.line, evidence.start, evidence.end) == (3, 6, 10)


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (EXISTS, None),
        (CSV, None),
        (words(3, 3), None),
        (words(4, 3), "min (4) is more than max (3); no text can have so many words."),
        (matches("x*"), "The pattern “x*” matches an empty file too, so it proves nothing."),
        (
            CsvColumns(kind="csv_columns", path="a", columns=["a", "b", "a"]),
            "The column “a” is named twice.",
        ),
        (
            FileExists(kind="file_exists", path="/a"),
            "“/a” cannot be used as a path: it is absolute; leave out the leading slash.",
        ),
    ],
)
def test_problem_with(check: ChecksFiles, problem: str | None) -> None:
    assert problem_with(check) == problem


@given(st.text("ab(){}[]*+?|\\^$.,:=!<>019ixPR#&'\n ", min_size=1, max_size=15))
def test_no_pattern_makes_a_check_raise(pattern: str) -> None:
    problem_with(matches(pattern))
    assert isinstance(run_check(matches(pattern), CheckInput({"a.md": b"aab\nba 01"})), Evidence)
