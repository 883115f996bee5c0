"""A quote counts only where it stands: spans, refusals and time."""

import hashlib
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runs.documents.readers.building import Builder
from runs.pev.contracts import QuotedEvidence
from runs.pev.documents.layout import BlockKind
from runs.pev.evidence.finding import find
from runs.pev.evidence.quotes import _has_line, resolve
from runs.pev.evidence.results import Evidence
from tests.documents.built import converted
from tests.hostile.bounds import within

SOURCES = {
    "a.md": b"# One\n\nThe notice period is\r\n   three   months.\nEnd.\n",
    "b.md": "\ufeffZwölf Monate\nund mehr".encode(),
    "logo.png": b"\x89PNG\0",
    "@output": b"I found three months.",
}
WHITE = st.text(" \t\n\r\u00a0\u2003\x1f", min_size=1, max_size=4)


def answer(source: str, quote: str) -> Evidence:
    return resolve(QuotedEvidence(source=source, quote=quote), SOURCES)


def test_a_quote_that_stands_there_is_verified_with_its_place() -> None:
    text = SOURCES["a.md"].decode()
    start = text.index("notice")
    assert answer("a.md", "notice period is three months.") == Evidence(
        kind="quote",
        source="a.md",
        verified=True,
        sentence="“notice period is three months.” stands in a.md, line 3",
        quote="notice period is three months.",
        sha256=hashlib.sha256(SOURCES["a.md"]).hexdigest(),
        start=start,
        end=text.index("End") - 1,
        line=3,
    )


def test_offsets_do_not_count_the_byte_order_mark() -> None:
    found = answer("b.md", "Zwölf Monate und")
    assert (found.verified, found.start, found.end, found.line) == (True, 0, 16, 1)


@pytest.mark.parametrize(
    ("source", "quote", "sentence"),
    [
        ("c.md", "three", "There is no source “c.md”; there are a.md, b.md, logo.png, @output"),
        ("logo.png", "PNG", "logo.png is not a text file; nothing can be quoted from it"),
        ("a.md", "E n", "“E n” is too short to prove anything"),
        ("@output", "\u3164\u3164\u3164\u3164", "“\u3164\u3164\u3164\u3164” is too short to prove anything"),
        ("a.md", "four months", "“four months” does not occur in a.md"),
        ("a.md", "the notice", "“the notice” does not occur in a.md"),
        ("a.md", "three months,", "“three months,” does not occur in a.md"),
        (
            "a.md",
            "und\tmehr",
            "“und mehr” does not occur in a.md; it does occur in b.md, line 2, but that is not the source named",
        ),
    ],
)
def test_anything_else_is_not_verified_and_says_why(source: str, quote: str, sentence: str) -> None:
    found = answer(source, quote)
    assert (found.verified, found.start, found.end, found.line) == (False, 0, 0, 0)
    assert found.sentence == sentence


@pytest.mark.parametrize("quote", ["5 days notice", "capped at EUR 500", "able for loss of profit"])
def test_a_part_of_a_longer_word_or_number_is_no_quote(quote: str) -> None:
    text = "Not liable for loss of profit; capped at EUR 500,000. Both may end it on 15 days notice.\n"
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, text.strip())
    for data in (text.encode(), converted(builder)):
        found = resolve(QuotedEvidence(source="lease", quote=quote), {"lease": data})
        assert (found.verified, found.sentence) == (
            False,
            f"“{quote}” is in lease only as a part of longer words or numbers; quote these whole",
        )
    assert resolve(QuotedEvidence(source="a", quote=quote), {"a": f"{text}{quote}".encode()}).start == len(text)


def test_at_most_five_sources_are_named() -> None:
    sources = {f"{number}.md": b"x" for number in range(7)}
    found = resolve(QuotedEvidence(source="x", quote="abc"), sources)
    assert found.sentence == "There is no source “x”; there are 0.md, 1.md, 2.md, 3.md, 4.md and 2 more"
    assert resolve(QuotedEvidence(source="x", quote="abc"), {}).sentence.endswith("there are no sources at all")


def test_only_the_named_source_is_read_when_the_quote_is_in_it() -> None:
    read: list[str] = []

    class Lazy(Mapping[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            read.append(key)
            return SOURCES[key]

        def __contains__(self, key: object) -> bool:
            return key in SOURCES

        def __iter__(self) -> Iterator[str]:
            return iter(SOURCES)

        def __len__(self) -> int:
            return len(SOURCES)

    assert resolve(QuotedEvidence(source="a.md", quote="three months"), Lazy()).verified
    assert read == ["a.md"]


@given(st.lists(st.text(), min_size=1, max_size=8), st.data())
def test_a_quote_cut_out_and_mangled_resolves_to_the_right_span(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(piece + data.draw(WHITE) for piece in pieces)
    start = data.draw(st.integers(0, len(text)))
    cut = text[start : data.draw(st.integers(start, len(text)))]
    words = cut.split()
    assume(words)
    mangled = "".join(word + data.draw(WHITE) for word in words)
    span = find(mangled, text)
    assert span is not None
    assert text[span.start : span.end].split() == words
    assert span.start <= text.index(words[0], start)
    assert span.line == text[: span.start].count("\n") + 1
    assert not text[span.start].isspace()
    assert not text[span.end - 1].isspace()


@given(st.text("ab \n", max_size=12), st.text("ab \n", max_size=5))
def test_finding_agrees_with_the_plain_definition(text: str, quote: str) -> None:
    wanted = " ".join(quote.split())
    spans = [
        (start, end)
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
        if not text[start].isspace() and not text[end - 1].isspace() and " ".join(text[start:end].split()) == wanted
    ]
    span = find(quote, text)
    assert (span and (span.start, span.end)) == (spans[0] if wanted and spans else None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("a " * 250_000, "a " * 999 + "b"),
        ("a" + " " * 500_000 + "c", "a b"),
        ("ab" * 250_000, "ab" * 900 + "c"),
        ("\n" * 500_000, "abc"),
        ("word " * 100_000 + "the end", "the  end"),
    ],
    ids=["many words", "much space", "no space", "only newlines", "at the end"],
)
def test_long_texts_are_looked_through_within_limits(text: str, quote: str) -> None:
    within(0.5, 50, "runs.pev.evidence.quotes.resolve", QuotedEvidence(source="a", quote=quote), {"a": text.encode()})


@pytest.mark.parametrize(
    ("quote", "text", "counts"),
    [
        ("the", "the end of other things", False),
        ("prove", "It is not proven.", False),
        ("(Kestrel)", "The party is (Kestrel) GmbH.", False),
        ("Yes", "# Signed\n\n  Yes\n", True),
        ("412", "The total is 412 EUR.", True),
        ("Felixstowe", "The port is Felixstowe.", True),
        ("is well", "All is well.", True),
        ("三か月", "契約期間は三か月です。", True),
    ],
)
def test_one_short_word_points_at_no_place(quote: str, text: str, counts: bool) -> None:
    found = resolve(QuotedEvidence(source="a.md", quote=quote), {"a.md": text.encode()})
    assert found.verified is counts
    if not counts:
        assert found.sentence == f"“{quote}” is one short word; quote the words around it"


@given(st.text("ab \n\r\t\u2028", max_size=40), st.integers(1, 9))
def test_lines_are_looked_at_in_pieces_as_in_the_whole(text: str, piece: int) -> None:
    assert _has_line("ab", text, piece) == ("ab" in {line.strip() for line in text.splitlines()})
