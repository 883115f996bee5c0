"""Citations of Word and PDF documents: their notes are read again as they were made, and judged like links."""

from collections.abc import Mapping

import pytest

from runs.contracts.base import RESULT, QuotedEvidence
from runs.documents.content import Converted
from runs.documents.model.layout import BlockKind
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder, BuiltDocument
from runs.enums import About, CitationStatus, Provenance
from runs.evidence.citations.citation import Cited
from runs.evidence.citations.citing import Delivered, problems_of
from runs.evidence.citations.lookup import noted_in
from runs.evidence.results import Evidence
from runs.evidence.sources import GivenFiles, Sources
from runs.pev.checks.citations import Citations
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import CheckInput
from runs.pev.contracts import Criterion
from runs.pev.verification.grounding import EvidenceResolver, supports
from tests.documents.word import commented, note, paragraph, word
from tests.unit.pev.tools.test_write_files import READERS, SOURCES, Desk, read, write

FORMS = pytest.mark.parametrize("form", ["docx", "pdf"])
REVIEW = (
    "# Review\n\nRent is due in [“ten days”](lease.docx#p3), as [“First page”](report.pdf#page=1) says.\n\n"
    "It is [“due monthly”](a.md#L1) again.\n"
)
LONG = "The tenant pays rent, and rates, and for light-bulbs, windows/doors and all that is broken. " * 4


def sources(given: Mapping[str, bytes] = SOURCES, files: Mapping[str, bytes] | None = None) -> Sources:
    files = files or {}
    return Sources({**given, **files}, GivenFiles(given), made=list(files))


def document(made: BuiltDocument) -> Document:
    return Document(made.text, made.rendered.layout)


def converted(made: BuiltDocument) -> bytes:
    return Converted(made.text.encode(), "0" * 64, lambda: document(made))


def cited(path: str, content: str, library: Sources | None = None) -> Cited:
    return noted_in(document(read(path, content)), library or sources())


@FORMS
def test_each_note_is_found_where_its_words_are_quoted(form: str) -> None:
    found = cited(f"review.{form}", REVIEW).citations
    page = "" if form == "docx" else "page 1, "
    assert [(one.at, one.status, one.source, one.where, one.statement) for one in found] == [
        (
            f"{page}footnote 1",
            CitationStatus.OK,
            "lease.docx",
            "clause 4.2(b)",
            "Rent is due in “ten days”, as “First page” says.",
        ),
        (
            f"{page}footnote 2",
            CitationStatus.OK,
            "report.pdf",
            "page 1 (“i”)",
            "Rent is due in “ten days”, as “First page” says.",
        ),
        (f"{page}footnote 3", CitationStatus.OK, "a.md", "line 1", "It is “due monthly” again."),
    ]


@FORMS
def test_a_source_that_says_something_else_by_now_breaks_its_note(form: str) -> None:
    changed = sources({**SOURCES, "a.md": b"It is due yearly.\n"})
    found = cited(f"review.{form}", REVIEW, changed)
    page = "" if form == "docx" else "page 1, "
    assert [(one.at, one.sentence) for one in found.broken] == [
        (f"{page}footnote 3", "“due monthly” does not occur in a.md")
    ]


def test_a_source_that_is_gone_breaks_its_note() -> None:
    found = cited("review.docx", REVIEW, sources({name: SOURCES[name] for name in ("lease.docx", "report.pdf")}))
    assert [one.sentence for one in found.broken] == ["There is no file “a.md”"]


@FORMS
def test_words_that_stand_elsewhere_by_now_are_corrected(form: str) -> None:
    moved = sources({**SOURCES, "a.md": b"\n\nIt is due monthly.\n"})
    assert [one.correction for one in cited(f"review.{form}", REVIEW, moved).citations] == [
        "",
        "",
        "line corrected from 1 to 3",
    ]


@FORMS
def test_figures_that_are_not_in_what_is_cited_are_marked(form: str) -> None:
    [one] = cited(f"a.{form}", "Rent is due after 40 days, that is [“ten days”](lease.docx#p3).").citations
    assert one.weak == "40 days is not in what is cited"


@pytest.mark.parametrize(
    "name",
    [
        "contracts of the year before/leases and schedules of mill lane/signed-and-sealed/final version.md",
        "/".join(["contracts-of-the-year-before", "leases_and_schedules", "signed-and-sealed"] * 2)
        + "/final-version.md",
    ],
)
@FORMS
def test_long_quotes_and_names_are_read_over_the_ends_of_lines(form: str, name: str) -> None:
    desk = Desk({name: f"{LONG}\n".encode()})
    assert not write(f"a.{form}", f"So: [“{LONG.strip()}”](<{name}#L1>).", desk).is_error
    [one] = noted_in(document(READERS[form](desk.content[f"a.{form}"])), sources({name: desk.content[name]})).citations
    assert (one.status, one.source, one.quote) == (CitationStatus.OK, name, LONG.strip())


@pytest.mark.parametrize(
    "words", ["賃料は毎月末日までに支払うものとする。" * 8, "Die Miete ist fällig – und zwar sofort. " * 9]
)
@FORMS
def test_other_scripts_are_read_over_the_ends_of_lines(form: str, words: str) -> None:
    desk = Desk({"a.md": f"{words}\n".encode()})
    assert not write(f"a.{form}", f"So: [“{words.strip()}”](a.md#L1).", desk).is_error
    found = noted_in(document(READERS[form](desk.content[f"a.{form}"])), sources({"a.md": desk.content["a.md"]}))
    assert [one.status for one in found.citations] == [CitationStatus.OK]


@FORMS
def test_what_the_run_has_left_of_a_given_file_may_be_meant(form: str) -> None:
    library = sources({**SOURCES, "a.md": b"It is due yearly.\n"}, {"a.md": SOURCES["a.md"]})
    one = cited(f"review.{form}", REVIEW, library).citations[-1]
    assert (one.status, one.source, one.provenance) == (CitationStatus.OK, f"{RESULT}a.md", Provenance.MADE)


@pytest.mark.slow
@FORMS
def test_hundreds_of_notes_are_all_found(form: str) -> None:
    content = "\n\n".join(f"In year {n} it is [“due monthly”](a.md#L1), and so on." for n in range(1, 301))
    found = cited(f"a.{form}", content).citations
    assert [one.at.rpartition(" ")[2] for one in found] == [str(n) for n in range(1, 301)]
    assert {one.status for one in found} == {CitationStatus.OK}


@pytest.mark.parametrize(
    ("source", "quote", "is_broken"),
    [
        ("It is due. © 2024", "the tenant pays a fine of ninety nine thousand", True),
        ("The of\ufb01ce pays. © 2024", "the tenant pays a fine", True),
        ("The of\ufb01ce pays.", "The office pays", False),
        ("The of\ufb01ce of fire pays.", "The office of fire pays", False),
        ("The of\ufb01ce pays.", "The office rests and pays", True),
        ("Sign \U0001f469 here.", "Sign [woman] here", False),
        ("Sign \U0001f469 here.", "Sign [woman] there", True),
    ],
)
def test_words_that_a_page_gives_back_in_other_letters_are_compared_without_them(
    source: str, quote: str, is_broken: bool
) -> None:
    builder = Builder("pdf", joint="\n\f")
    builder.add("page=1", BlockKind.PAGE, f"It is so.\n1a.md, line 1: “{quote}”")
    found = noted_in(document(builder.build("page", 1)), sources({"a.md": f"{source}\n".encode()}))
    assert [one.quote for one in found.broken] == ([quote] if is_broken else [])


def test_notes_of_a_copy_are_those_of_the_given_file() -> None:
    given = word(
        paragraph("The lease ends.", note("footnote", 1)),
        {"footnotes": f'<w:footnote w:id="1">{paragraph("Smith, Leases, page 4: “It ends”")}</w:footnote>'},
    )
    copy = READERS["docx"](given)
    files = {"reviewed/b.docx": converted(copy)}
    assert [one.sentence for one in noted_in(document(copy), sources({}, files)).broken] == [
        "There is no file “Smith, Leases”"
    ]
    assert noted_in(document(copy), sources({"b.docx": converted(copy)}, files)).links == ()


def test_other_notes_are_no_citations() -> None:
    made = word(
        paragraph("The lease ends.", note("footnote", 1)),
        {"footnotes": f'<w:footnote w:id="1">{paragraph("He said, at length: “It ends”")}</w:footnote>'},
    )
    assert noted_in(document(READERS["docx"](made)), sources()).links == ()


@FORMS
def test_a_document_without_notes_has_no_citations(form: str) -> None:
    assert cited(f"a.{form}", "# One\n\nIn 2024 he said: “yes”.").links == ()


@FORMS
def test_the_citations_of_a_passage_are_those_of_its_sentence(form: str) -> None:
    made = document(read(f"a.{form}", REVIEW))
    at = made.text.index("again")
    assert [one.source for one in noted_in(made, sources()).carrying(at, at + 5)] == ["a.md"]


@FORMS
def test_they_are_judged_with_those_of_texts(form: str) -> None:
    made = read(f"review.{form}", REVIEW)
    files = {f"review.{form}": converted(made)}
    changed = {**SOURCES, "a.md": b"It is due yearly.\n"}
    page = "" if form == "docx" else "page 1, f"
    sentence = f"{page or 'F'}ootnote 3: “due monthly” does not occur in a.md.".replace("page 1", "Page 1")
    path = f"review.{form}"
    assert problems_of([path], files, changed, sources(changed, files)) == {path: [sentence]}
    assert Delivered([path], files, GivenFiles(changed), ()).broken("") == [f"{path}: {sentence}"]
    assert Delivered([path], files, GivenFiles(SOURCES), ()).broken("") == []
    superfluous = problems_of([path], files, SOURCES, sources(SOURCES, files), finished=[path])[path]
    assert [one.rpartition(" has one: ")[2] for one in superfluous] == [
        "lease.docx.",
        "report.pdf.",
        "a.md.",
    ]


@pytest.mark.parametrize("name", ["1_a.md", "11_a.md", "2024/2.md", "7, 8 and 9.md", "a, page 2.md", "a (“b”) c.md"])
@FORMS
def test_names_with_numbers_and_signs_are_told_from_what_stands_around_them(form: str, name: str) -> None:
    files = dict.fromkeys([name, "1_a.md", "11_a.md"], b"It is due monthly.\n")
    desk = Desk(files)
    content = "\n\n".join(f"So {n}: [“due monthly”](<{name}#L1>)." for n in range(12))
    assert not write(f"a.{form}", content, desk).is_error
    found = noted_in(document(READERS[form](desk.content[f"a.{form}"])), sources(files)).citations
    assert [(one.source, one.at.rpartition(" ")[2]) for one in found] == [(name, str(n)) for n in range(1, 13)]


@FORMS
def test_a_quote_of_the_result_rests_on_what_its_sentence_cites(form: str) -> None:
    path = f"review.{form}"
    library = sources(SOURCES, {path: converted(read(path, f"{REVIEW}\nNobody pays in advance.\n"))})
    examiner = EvidenceResolver(library, [path])
    rests = [
        examiner.examined(QuotedEvidence(source=path, quote=quote, statement=None)).cites
        for quote in ("due monthly” again", "due monthly”3 again", "Nobody pays in advance")
    ]
    assert [one for one in rests if one] == ["a.md, line 1"]


def test_a_comment_in_a_copy_proves_nothing_of_the_original() -> None:
    body = paragraph("Rent is ", commented("due monthly", 0), ".", note("footnote", 1))
    notes = f'<w:footnote w:id="1">{paragraph("a.md, line 1: “due monthly”")}</w:footnote>'
    said = "F1 · Rent is due monthly, “due monthly” and never later."
    comments = f'<w:comment w:id="0" w:author="pevsite">{paragraph(said)}</w:comment>'
    copy = converted(READERS["docx"](word(body, {"footnotes": notes, "comments": comments})))
    given = {**SOURCES, "b.docx": converted(READERS["docx"](word(body, {"footnotes": notes})))}
    examiner = EvidenceResolver(
        Sources({"reviewed/b.docx": copy}, GivenFiles(given), made=["reviewed/b.docx"]), ["reviewed/b.docx"]
    )

    def examined(source: str) -> Evidence:
        return examiner.examined(QuotedEvidence(source=source, quote="“due monthly” and never later", statement=None))

    found = examined("reviewed/b.docx")
    assert (found.verified, found.provenance, found.cites) == (True, Provenance.MADE, "")
    assert found.weak == "a comment is no text of the document itself"
    assert supports(Criterion(text="Rent is due monthly", about=About.OUTPUT), [found])
    assert not supports(Criterion(text="Rent is due monthly", about=About.SOURCES), [found])
    assert not examined("b.docx").verified


@FORMS
def test_what_a_document_cites_is_looked_up_once_for_all_quotes_from_it(form: str) -> None:
    path, read_of = f"review.{form}", list[str]()

    class Watched(Sources):
        def __getitem__(self, name: str) -> bytes:
            read_of.append(name)
            return super().__getitem__(name)

    files = {path: converted(read(path, REVIEW))}
    examiner = EvidenceResolver(Watched({**SOURCES, **files}, GivenFiles(SOURCES), made=[path]), [path])
    quotes = ("Rent is due in “ten days”", "It is “due monthly”")
    cites = [examiner.examined(QuotedEvidence(source=path, quote=quote, statement=None)).cites for quote in quotes]
    assert cites == ["lease.docx, clause 4.2(b)", "a.md, line 1"]
    assert read_of.count("a.md") == 1


def test_a_note_whose_name_looks_like_another_site_is_no_citation() -> None:
    builder = Builder("docx")
    builder.add("fn1", BlockKind.FOOTNOTE, "//example.org/a.md, line 1: “due monthly”")
    assert noted_in(document(builder.build("page", 1)), sources()).links == ()


@FORMS
def test_the_check_of_citations_counts_them(form: str) -> None:
    path = f"review.{form}"
    check = Citations(kind="citations", path=path, min=3)
    made = {path: converted(read(path, REVIEW))}
    assert problem_with(check) is None
    held = run_check(check, CheckInput({**SOURCES, **made}, SOURCES))
    assert (held.verified, held.sentence) == (True, f"{path} has 3 citations, wanted at least 3, all found")
    changed = {**SOURCES, "a.md": b"It is due yearly.\n"}
    broken = run_check(check, CheckInput({**changed, **made}, changed))
    assert (broken.verified, "1 broken" in broken.sentence) == (False, True)


@pytest.mark.parametrize("words", ["ﬁnal ofﬁce ﬂoor terms", "ค่าเช่าครบกำหนดทุกเดือน", "It is due 😀 monthly"])
def test_words_that_a_page_gives_back_otherwise_do_not_break_their_citation(words: str) -> None:
    desk = Desk({"a.md": f"{words}\n".encode()})
    assert not write("a.pdf", f"So: [“{words}”](a.md#L1).", desk).is_error
    made = document(READERS["pdf"](desk.content["a.pdf"]))
    assert noted_in(made, sources({"a.md": desk.content["a.md"]})).broken == ()
    plain = noted_in(made, sources({"a.md": b"It is due monthly.\n"}))
    assert len(plain.broken) == 1


@pytest.mark.parametrize(
    "words", ["ผู้เช่าต้องชำระค่าเช่าภายในวันที่ห้าของทุกเดือนโดยไม่มีข้อยกเว้น", "किराया हर महीने देय है", "ค่าเช่าครบกำหนดทุกเดือน"]
)
def test_words_of_scripts_without_letters_that_a_page_keeps_are_compared_by_those_it_has(words: str) -> None:
    others = "ห้ามนำสัตว์เลี้ยงเข้ามาในอาคารนี้ बिजली का बिल मालिक चुकाएगा।"
    desk = Desk({"a.md": f"{others} {words} {others}\n".encode()})
    assert not write("a.pdf", f"So: [“{words}”](a.md#L1).", desk).is_error
    made = document(READERS["pdf"](desk.content["a.pdf"]))
    assert noted_in(made, sources({"a.md": desk.content["a.md"]})).broken == ()
    assert len(noted_in(made, sources({"a.md": f"{others}\n".encode()})).broken) == 1
