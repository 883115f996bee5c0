"""How citations are shown: what was not looked up carries no link."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from runs.enums import Provenance
from runs.pev.citations.lookup import Citation, citations_in
from runs.reports.citing import REST, linked
from runs.reports.html import render_markdown


class Library(dict[str, bytes]):
    def provenance(self, name: str) -> Provenance:
        return Provenance.GIVEN

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


@settings(max_examples=40)
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
