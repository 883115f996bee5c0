"""A quote counts only where it stands: spans, refusals and time."""

import hashlib
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runs.contracts.base import QuotedEvidence
from runs.documents.content import Converted
from runs.documents.model.layout import BlockKind
from runs.documents.reading.building import Builder
from runs.evidence.passages import find
from runs.evidence.quotes import _has_line, proves_nothing, resolve
from runs.evidence.results import Evidence
from runs.text.boundaries import is_whole
from runs.text.negations import is_negated
from runs.text.normalisation import MIN_KEY, folded
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
        sentence="“notice period is three months.” is in a.md, line 3",
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


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("He is in-\ncompetent to sign it.", "competent to sign it"),
        ("He is in-\r\n  competent to sign it.", "competent to sign it"),
        ("The change is –5 percent a year.", "5 percent a year"),
        ("The change is - 5 percent a year.", "5 percent a year"),
        ("It is (5) percent in 2025.", "5) percent in 2025"),
        ("a non‑binding offer", "binding offer"),
        ("第二百四十円を払う", "四十円を払う"),
        ("a sum of 12\u2007345 francs", "345 francs"),
        ("a sum of 51⁄2 percent", "2 percent"),
    ],
)
def test_a_quote_that_cuts_a_number_or_a_word_is_refused(text: str, quote: str) -> None:
    found = resolve(QuotedEvidence(source="a.md", quote=quote), {"a.md": text.encode()})
    assert (found.verified, found.sentence) == (
        False,
        f"“{quote}” is in a.md only as a part of longer words or numbers; quote these whole",
    )


@pytest.mark.parametrize(
    ("text", "quote"),
    [("- 5 days of notice\n- 6 days of leave\n", "5 days of notice"), ("> 30 days\n> of notice\n", "30 days")],
)
def test_the_mark_of_an_item_is_no_sign(text: str, quote: str) -> None:
    assert resolve(QuotedEvidence(source="a.md", quote=quote), {"a.md": text.encode()}).verified


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
    within(0.5, 50, "runs.evidence.quotes.resolve", QuotedEvidence(source="a", quote=quote), {"a": text.encode()})


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


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("the deposit falls due by ⽉末", "the deposit falls due by 月末"),
        ("本契約は\uf90a額を定める", "本契約は金額を定める"),
        ("ﺍﻟﻤﺴﺘﺄﺟﺮ ﻳﺪﻓﻊ", "المستأجر يدفع"),
        ("العـــقد مُلزِم", "العقد ملزم"),
        ("a dose of 5 µg daily", "a dose of 5 μg daily"),
        ("a load of 5 \u2126 each", "a load of 5 Ω each"),
        ("lines of 5 \u212b width", "lines of 5 Å width"),
        ("⚠\ufe0f Danger of death", "⚠ Danger of death"),
        ("the 葛\U000e0100城 contract", "the 葛城 contract"),
        ("ｶﾞｽ料金を払う", "ガス料金を払う"),
        ("月〜金曜日の間", "月～金曜日の間"),
        ("a fee of ￥500 net", "a fee of ¥500 net"),
        ("under chapter Ⅳ of it", "under chapter IV of it"),
        ("a flat of 80㎡ in all", "a flat of 80 m² in all"),
        ("a flat of 80㎡ in all", "a flat of 80 m2 in all"),
        ("het huurcontract blĳft", "het huurcontract blijft"),
        ("the leaſe is void", "the lease is void"),
        ("بعد ٣٠ يوما", "بعد 30 يوما"),
        ("The **force** majeure & `co`", "The force majeure & co"),
        ("The [force](a.md#L1) _majeure_ &amp; co", "The force majeure & co"),
        ("> The force\n> majeure\n", "The force majeure"),
        ("1\\. The 5\\_000 rents", "1. The 5_000 rents"),
        ("in-\nference of the facts", "inference of the facts"),
        ("ﾡ and ﾤ are letters", "ㄱ and ㄴ are letters"),
        ("ต้องชำระค่าน้ำประปา", "ต้องชำระค่าน้ําประปา"),
        ("the [force][1] majeure[^2] of it", "the force majeure of it"),
        ("№ 5 of 3㎏ at 20℃", "No 5 of 3kg at 20°C"),
        ("the 𝐟𝐨𝐫𝐜𝐞 majeure", "the force majeure"),
    ],
)
def test_honest_quotes_stand_there_as_the_source_spells_them(text: str, quote: str) -> None:
    before, after = "Before. ", " (after)"
    found = resolve(QuotedEvidence(source="a.md", quote=quote), {"a.md": f"{before}{text}{after}".encode()})
    assert found.verified
    assert f"{before}{text}{after}"[found.start : found.end] == found.quote


@pytest.mark.parametrize(
    ("name", "text", "quote", "stands"),
    [
        ("a.html", "<p>The <b>force</b> majeure &amp; co</p>", "The force majeure & co", True),
        ("a.html", "<p>It is <del>not</del> due at all</p>", "It is due at all", False),
        ("a.html", "<p>It is 10<sup>2</sup> metres</p>", "It is 102 metres", False),
        ("a.txt", "The **force** majeure", "The force majeure", False),
        ("a.md", "It is ~~not~~ due at all", "It is due at all", False),
        ("a.md", "It is 5**10 metres", "It is 510 metres", False),
        ("a.md", "It is 10² metres wide", "It is 102 metres wide", False),
        ("a.md", "some H₂O in the mix", "some H2O in the mix", False),
    ],
)
def test_marks_are_none_of_the_words_where_a_source_has_such(name: str, text: str, quote: str, stands: bool) -> None:
    assert resolve(QuotedEvidence(source=name, quote=quote), {name: text.encode()}).verified is stands


def test_a_quote_behind_a_negation_is_its_whole_sentence() -> None:
    text = "First of all. We don't agree to it in any way. Last of all."
    found = resolve(QuotedEvidence(source="a.md", quote="agree to it"), {"a.md": text.encode()})
    assert (found.verified, found.quote) == (True, "We don't agree to it in any way.")
    assert found.sentence == "“We don't agree to it in any way.” is in a.md, line 1"
    assert text[found.start : found.end] == found.quote


WORDS = "The rent of 500 CHF is due; Müller’s fee – 12,5 % – 1 000 non-binding office 契約 “ten” (30) Ⅳ 5½ -7 –3 <4 not"
PIECES = st.lists(st.sampled_from([*WORDS.split(" "), "must\u00adnot"]), min_size=3, max_size=14)
RESPELLED = {
    "fi": "\ufb01",
    "ü": "u\u0308",
    "’": "'",
    "“": '"',
    "”": '"',
    "–": "\u2212",
    " ": "\u00a0\n",
    "5": "\uff15",
    "3": "\u0663",
    "契": "契\U000e0100",
    "e": "e\u200b",
    "Ⅳ": "IV",
}


@given(PIECES, st.data())
def test_a_quote_cut_between_words_is_found_in_every_spelling_and_keeps_what_changes_it(
    words: list[str], data: st.DataObject
) -> None:
    text = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 2))
    last = data.draw(st.integers(first + 2, len(words)))
    start, end = len(" ".join(words[:first])) + (first > 0), len(" ".join(words[:last]))
    quote = text[start:end]
    respelled = data.draw(st.lists(st.sampled_from(sorted(RESPELLED)), unique=True))
    mangled = "".join(RESPELLED[char] if char in respelled else char for char in quote)
    if "fi" in respelled:
        mangled = mangled.replace("ffi", "f\ufb01")
    assume(not proves_nothing(mangled, text))
    source = f"Before. {text} (after)"
    found = resolve(QuotedEvidence(source="a.txt", quote=mangled), {"a.txt": source.encode()})
    key = folded(f"x{mangled}x")[1:-1]  # as it is between letters
    if not found.verified:
        at = source.index(quote)
        again = len(key) < MIN_KEY and folded(source).find(key) != folded(source).rfind(key)
        assert again or not is_whole(source, at, at + len(quote))
        return
    shown = source[found.start : found.end]
    assert key in folded(shown)
    assert is_whole(source, found.start, found.end)
    assert not is_negated(source, found.start, found.end) or "not" in shown.replace("\u00ad", " ").split()


@pytest.mark.parametrize(
    ("quote", "guessed", "doubtful"),
    [
        ("müşteri öder", True, True),
        ("rent is 500 ¤", True, True),
        ("pays the rent", True, False),
        ("müşteri öder", False, False),
    ],
)
def test_letters_of_a_text_whose_encoding_was_guessed_are_doubtful(quote: str, guessed: bool, doubtful: bool) -> None:
    text = "müşteri öder; the tenant pays the rent; the rent is 500 ¤".encode()
    found = resolve(QuotedEvidence(source="a.txt", quote=quote), {"a.txt": Converted(text, "0", guessed=guessed)})
    said = "the encoding of this file was guessed, so letters of the quote may be others"
    assert (found.verified, found.weak) == (True, said if doubtful else "")
