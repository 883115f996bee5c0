"""Citations are looked up in the source that they name; what cannot be found is broken, with the reason."""

import hashlib

import pytest

from runs.enums import CitationStatus, Provenance
from runs.evidence.citations.citation import Citation
from runs.evidence.citations.lookup import citations_in, cited_at
from runs.text.normalisation import Markup, folded

NDA = "# NDA\n\nThe notice period is thirty\ndays.\n\nThe fee is EUR 1,200.\n"


PAGE = "The city\n\nIt has 5,450,000 inhabitants.\n"


class Library(dict[str, bytes]):
    def provenance(self, name: str) -> Provenance:
        return Provenance.GIVEN if name.startswith("contracts/") else Provenance.MADE

    def page(self, address: str) -> str:
        return PAGE if address.startswith("https://pages.example/city") else ""

    def digest(self, name: str) -> str | None:
        return "original" if name == "contracts/Büro lease.md" else None


LIBRARY = Library(
    {
        "contracts/nda.md": NDA.encode(),
        "contracts/Büro lease.md": b"The rent is due.\n",
        "contracts/100%25.md": b"The rent is due.\n",
        "contracts/scan.pdf": b"%PDF\0",
        "@result/contracts/nda.md": b"The notice period is forty days.\n",
        "notes.md": b"Made by the run.\n",
    }
)


def only(link: str) -> Citation:
    cited = citations_in(link, LIBRARY)
    assert len(cited.links) == 1
    return cited.links[0]


def test_a_citation_knows_its_place_on_both_sides() -> None:
    text = "Intro.\n\nIt is [“thirty days”](contracts/nda.md#L3).\n"

    one = citations_in(text, LIBRARY).links[0]

    assert (one.status, one.line, text[one.start : one.end]) == (
        CitationStatus.OK,
        3,
        "[“thirty days”](contracts/nda.md#L3)",
    )
    assert (one.source, one.source_line, NDA[one.source_start : one.source_end]) == (
        "contracts/nda.md",
        3,
        "thirty\ndays",
    )
    assert one.sha256 == hashlib.sha256(NDA.encode()).hexdigest()
    assert (one.provenance, one.statement) == (Provenance.GIVEN, "It is “thirty days”.")


@pytest.mark.parametrize(
    "link",
    [
        "[“thirty days”](contracts/nda.md#L3)",
        '["thirty days"](contracts/nda.md#L2-L4)',
        "[thirty days](contracts/nda.md#L3-4)",
        "[**„thirty days“**](./contracts/nda.md#L3)",
        "[“The rent is due”](contracts/Büro lease.md#L1)",
        "[“The rent is due”](<contracts/Büro lease.md#L1>)",
        "[“The rent is due”](contracts/B%C3%BCro%20lease.md#L1)",
        "[“The rent is due”](contracts/100%25.md#L1)",
        "[“The rent is due”](contracts/100%2525.md#L1)",
        "[“period is forty days”](@result/contracts/nda.md#L1)",
        "[Made by the run](notes.md#L1)",
    ],
)
def test_citations_that_hold(link: str) -> None:
    assert only(link).status == CitationStatus.OK


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ("[“thirty days”](contracts/nda.md#L6)", "“thirty days” is in contracts/nda.md, line 3, not in line 6"),
        ("[“thirty days”](contracts/nda.md#L900)", "“thirty days” is in contracts/nda.md, line 3, not in line 900"),
        (
            "[“thirty days”](contracts/nda.md)",
            "“thirty days” is in contracts/nda.md, line 3, which the link did not say",
        ),
    ],
)
def test_a_wrong_line_of_the_right_file_is_corrected(link: str, sentence: str) -> None:
    one = only(link)

    assert (one.status, one.source_line, one.sentence) == (CitationStatus.CORRECTED, 3, sentence)


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ("[“thirty days”](nda.md#L3)", "There is no file “nda.md”"),
        (
            "[“thirty days”](../contracts/nda.md#L3)",
            "There is no file “../contracts/nda.md”; in the top folder there is contracts/nda.md",
        ),
        ("[“thirty days”](@output#L3)", "There is no file “@output”"),
        ("[“forty days”](contracts/nda.md#L3)", "“forty days” does not occur in contracts/nda.md"),
        ("[“days”](contracts/nda.md#L3)", "“days” is one short word; quote the words around it"),
        ("[“1”](contracts/nda.md#L3)", "“1” is too short to prove anything"),
        (
            "[“x y z”](contracts/scan.pdf#page=7)",
            "contracts/scan.pdf cannot be read yet, so nothing can be cited from it",
        ),
        (
            "[“thirty days”](contracts/nda.md#p3)",
            "Its place “p3” belongs to another format; “thirty days” is in contracts/nda.md, line 3",
        ),
        (
            "[“thirty days”](contracts/nda.md#x)",
            "Its place “x” is none that a text file has; “thirty days” is in contracts/nda.md, line 3",
        ),
        ("[the contract](contracts/other.md)", "There is no file “contracts/other.md”"),
    ],
)
def test_broken_citations_say_why(link: str, sentence: str) -> None:
    one = only(link)

    assert (one.status, one.sentence) == (CitationStatus.BROKEN, sentence)


def test_links_elsewhere_are_no_citations_and_a_link_to_a_file_is_a_plain_one() -> None:
    cited = citations_in("[a](https://a.example) [b](#b) [c](mailto:c@d.example) [d](notes.md)", LIBRARY)

    assert [(one.target, one.plain, one.status) for one in cited.links] == [("notes.md", True, CitationStatus.OK)]
    assert cited.citations == ()


def test_the_sha256_of_a_given_file_is_that_of_its_original_bytes() -> None:
    assert only("[The rent is due](contracts/Büro lease.md#L1)").sha256 == "original"


def test_the_first_place_in_the_lines_named_is_taken() -> None:
    library = Library({"a.md": b"one two\nx\none two\n"})

    assert citations_in("[one two](a.md#L3)", library).links[0].source_line == 3


def test_a_figure_that_is_not_in_what_is_cited_is_marked() -> None:
    text = "41 % pay EUR 1,200 in 30 days [“EUR 1,200”](contracts/nda.md#L6) [“thirty days”](contracts/nda.md#L3)."

    assert {one.weak for one in citations_in(text, LIBRARY).links} == {"41 % is not in what is cited"}


@pytest.mark.parametrize(
    "words", ["Nordwind Capital gives", "- For Nordwind Capital it is", "As to Nordwind Capital, it is"]
)
def test_a_name_that_is_in_no_source_cited_is_marked(words: str) -> None:
    text = f"{words} [“thirty days”](contracts/nda.md#L3)."

    assert only(text).weak == "Nordwind Capital is not in any source that is cited"


def test_a_name_is_known_by_one_of_its_words_from_any_source_cited() -> None:
    library = Library({"a.md": b"Anna pays.\n", "letters/wolf.md": b"It was sent.\n"})
    text = "Anna Muster and Berta Wolf agree [“Anna pays”](a.md#L1). So it is [“It was sent”](letters/wolf.md#L1)."

    assert {one.weak for one in citations_in(text, library).links} == {""}


def test_names_are_left_alone_where_it_would_take_too_long_to_collect_them() -> None:
    text = "Nordwind Capital gives [“thirty days”](contracts/nda.md#L3)."

    assert [one.weak for one in citations_in(text, LIBRARY, 300).links] == [""]


def test_a_text_that_is_too_large_says_so() -> None:
    cited = citations_in("[a](b)" * 100_001, LIBRARY)

    assert (cited.links, cited.problem) == ((), "Its citations were not looked up: it has more than 100,000 links.")


def test_citations_of_a_passage_are_those_of_its_statement() -> None:
    text = "One. The period is short [“thirty days”](contracts/nda.md#L3). The fee [“no fee”](contracts/nda.md#L6)."
    at = text.index("period")

    assert [one.quote for one in cited_at(text, at, at + 6, LIBRARY)] == ["thirty days"]
    assert cited_at(text, 0, 3, LIBRARY) == []
    assert cited_at(text, text.index("fee"), len(text), LIBRARY) == []


def test_the_words_of_a_page_that_was_read_are_a_citation() -> None:
    found = only("[“5,450,000 inhabitants”](https://pages.example/city#people)")
    assert (found.status, found.provenance) == (CitationStatus.OK, Provenance.OBSERVED)
    assert found.sentence == "“5,450,000 inhabitants” stands on the page https://pages.example/city#people"


def test_other_words_of_it_are_broken() -> None:
    found = only("[“6,000,000 inhabitants”](https://pages.example/city)")
    assert (found.status, found.sentence) == (
        CitationStatus.BROKEN,
        "“6,000,000 inhabitants” does not occur in https://pages.example/city",
    )


@pytest.mark.parametrize("link", ["[“Words”](https://other.example/)", "[the city](https://pages.example/city)"])
def test_a_page_that_was_not_read_and_a_link_without_a_quote_are_none(link: str) -> None:
    assert citations_in(link, LIBRARY).links == ()


@pytest.mark.parametrize(
    ("text", "is_denied"),
    [
        ("The tenant does not pay the rent each month: [“pays the rent each month”](lease.md#L1).", True),
        ("The tenant never pays rent each month: [“pays the rent each month”](lease.md#L1).", True),
        ("The tenant pays the rent each month: [“pays the rent each month”](lease.md#L1).", False),
        ("No deposit was agreed: [“There is no deposit”](lease.md#L1).", False),
        ("The deposit was agreed: [“There is no deposit that was agreed”](lease.md#L2).", True),
        ("The tenant may not sublet: [“Subletting needs the consent of the owner”](lease.md#L3).", False),
        (
            "The tenant does not pay: [“pays the rent”](lease.md#L1) and [“no deposit that was agreed”](lease.md#L2).",
            False,
        ),
    ],
)
def test_a_statement_that_denies_what_is_cited_is_marked(text: str, is_denied: bool) -> None:
    lease = (
        "The tenant pays the rent each month. There is no deposit.\n"
        "There is no deposit that was agreed with the owner.\n"
        "Subletting needs the consent of the owner.\n"
    )
    marks = {one.weak for one in citations_in(text, Library({"lease.md": lease.encode()})).links}
    assert marks == ({"only one of the statement and what is cited for it is negated"} if is_denied else {""})


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("A fee of\n￥500 for the **first** flat of 80㎡.", "fee of ¥500 for the first flat of 80 m²"),
        ("First.\nThe lia\u00adbility of Müller.", "The liability of Mu\u0308ller"),
        ("First.\nby in-\nference only", "by inference only"),
    ],
)
def test_words_are_cited_however_the_source_spells_them(source: str, quote: str) -> None:
    library = Library({"contracts/a.md": f"{source}\n".encode()})
    one = citations_in(f"It says [“{quote}”](contracts/a.md#L2).", library).links[0]
    assert (one.broken, folded(source[one.source_start : one.source_end], markup=Markup.MARKDOWN)) == (
        False,
        folded(quote),
    )


def test_a_citation_of_words_behind_a_negation_is_of_their_sentence() -> None:
    source = "First of all. We don't agree to it in any way. Last.\n"
    one = citations_in("They [“agree to it”](contracts/a.md#L1).", Library({"contracts/a.md": source.encode()})).links[
        0
    ]
    assert (one.status, source[one.source_start : one.source_end]) == (
        CitationStatus.OK,
        "We don't agree to it in any way.",
    )
    assert one.sentence == (
        "“agree to it” is in contracts/a.md, line 1, where the whole sentence is “We don't agree to it in any way.”"
    )


def test_a_citation_that_cuts_a_number_is_broken() -> None:
    library = Library({"contracts/a.md": b"A change of -5 percent.\n"})
    assert citations_in("It is [“5 percent”](contracts/a.md#L1).", library).links[0].broken
