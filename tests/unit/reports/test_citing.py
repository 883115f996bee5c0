"""How citations are shown: what was not looked up carries no link."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.documents.model.layout import BlockKind
from runs.documents.reading.building import Builder
from runs.enums import Provenance
from runs.evidence.citations.citation import Citation
from runs.evidence.citations.lookup import citations_in
from runs.readmodel.shown_citations import CitingDocument, RunCitations
from runs.reports.markdown_html import render_markdown
from runs.reports.places import InReport, PathTitles
from runs.reports.texts import REST, linked
from tests.documents.built import converted


class Library(dict[str, bytes]):
    def provenance(self, name: str) -> Provenance:
        return Provenance.GIVEN

    def page(self, address: str) -> str:
        return ""

    def digest(self, name: str) -> str | None:
        return None


LIBRARY = Library({"nda.md": b"The notice period is thirty days.\n"})
LONG = (
    "Thirty [“thirty days”](nda.md#L1).\n\n[n]: /files/nda.md\n\nAnd [“thirty days”](nda.md#L1), [n] \\[a](/files/x).\n"
)


def address(one: Citation) -> str:
    return f"/files/{one.source}"


def test_the_rest_of_a_long_text_has_no_links_and_says_why() -> None:
    cited = citations_in(LONG, LIBRARY, most=1)

    text = linked(LONG, cited, address)
    assert text.startswith(f"*{REST}*\n\nThirty [“thirty days”](</files/nda.md>).")
    assert render_markdown(text, "/files/").count("<a ") == 1


def test_a_text_that_was_looked_up_to_its_end_is_shown_whole() -> None:
    text = LONG.partition("\n")[0]

    shown = linked(text, citations_in(text, LIBRARY, most=1), address)
    assert shown == "Thirty [“thirty days”](</files/nda.md>)."


WORDS = ("thirty days", "notice period", "forty days", "The notice period is thirty days.")
SHAPES = ("{}", "- {}\n", "|a|\n|-|\n|{}|\n", "# {}\n", "> {}\n", "**a *{}* b**", "`{}`", "\\{}", "!{}", "[x {} y](z)")


@given(
    st.lists(
        st.tuples(st.sampled_from(SHAPES), st.sampled_from(WORDS), st.sampled_from(("nda.md", "none.md"))), max_size=6
    )
)
def test_a_live_link_leads_to_a_file_that_has_its_words(parts: list[tuple[str, str, str]]) -> None:
    text = "\n\n".join(shape.format(f"[“{words}”]({path}#L1)") for shape, words, path in parts)
    cited = citations_in(text, LIBRARY)

    live = re.findall(r'<a href="([^"]*)"[^>]*>(.*?)</a>', render_markdown(linked(text, cited, address), "/files/"))

    source = LIBRARY["nda.md"].decode()
    assert [pair for pair in live if pair[0] != "/files/nda.md" or pair[1].strip("“”") not in source] == []


def lease() -> Library:
    builder = Builder("docx")
    builder.add("p23", BlockKind.PARAGRAPH, "The rent is due in ten days.", label="(b)", clause="4.2(b)")
    builder.add("p24", BlockKind.PARAGRAPH, "Signed.")
    return Library({"lease.docx": converted(builder)})


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("lease.docx#p23", ""),
        ("lease.docx#p24", "*(place corrected from p24 to clause 4.2(b))*"),
        ("lease.docx", "*(clause 4.2(b) added)*"),
    ],
)
def test_a_corrected_place_of_a_document_is_named_as_people_do(target: str, shown: str) -> None:
    text = f"[“due in ten days”]({target})"
    cited = citations_in(text, lease())
    assert linked(text, cited, address).partition(">)")[2].strip().replace("\\", "") == shown


def test_each_citation_says_what_is_doubtful_about_its_own_words() -> None:
    text = "Signed [“(9) The rent is due”](lease.docx#p23), as [“Signed.”](lease.docx#p24) says."
    shown = linked(text, citations_in(text, lease()), address).replace("\\", "")
    assert shown == (
        "Signed [“(9) The rent is due”](</files/lease.docx>) *(it is in clause 4.2(b), not in clause (9))*, "
        "as [“Signed.”](</files/lease.docx>) says."
    )


def test_an_export_lists_the_place_of_a_document_as_people_name_it() -> None:
    (one,) = citations_in("[“due in ten days”](lease.docx#p23)", lease()).links
    places = InReport(PathTitles((), {}), {}, hashes=True)
    places.citation(replace(one, source_start=0, source_end=0))
    assert [source.place for source in places.listed] == ["lease.docx, clause 4.2(b)"]


def test_the_sentence_on_citations_of_documents_speaks_of_places() -> None:
    cited = citations_in("[“due in ten days”](lease.docx)", lease())
    assert RunCitations((CitingDocument("", cited),)).sentence == "1 citation, all found, 1 with a corrected place"
