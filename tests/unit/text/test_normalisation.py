"""Quotes as documents and people spell them: what is the same, and what makes another statement."""

import tracemalloc
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.contracts.base import QuotedEvidence
from runs.evidence.quotes import resolve
from runs.text.normalisation import (
    ACCENTS,
    ALIKE,
    MAX_CHARACTERS,
    SPACED,
    SPELLED,
    Folded,
    Markup,
    Sought,
    Strength,
    find_same_text,
    folded,
    one_spaced,
    place_among,
    spelled,
)
from tests.hostile.bounds import within
from tests.work import growth


def same(one: str, other: str) -> bool:
    return folded(one) == folded(other)


def could_be_same(one: str, other: str) -> bool:
    return any(folded(one, strength) == folded(other, strength) for strength in (Strength.COULD_BE, Strength.LOOKS))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cafe\u0301", "café"),
        ("\u1112\u1161\u11ab", "한"),
        ("two  words\n", "twowords"),
        ("liabi\u00adlity", "liability"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("\u200eleft\u202c", "left"),
        ("o\ufb03ce", "office"),
        ("ＡＢＣ１", "ABC1"),
        ("“due”", '"due"'),
        ("it’s", "it's"),
        ("10\u201320 %", "10-20 %"),
        ("\u22125 %", "-5 %"),
        ("wait…", "wait..."),
        ("termi-\nnation", "termination"),
        ("termi\ufffenation", "termination"),
        ("1\u202f000 EUR", "1 000 EUR"),
        ("re-sign", "resign"),
    ],
)
def test_what_only_looks_different_is_the_same(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10²", "102"),
        ("-5 %", "5 %"),
        ("10-20", "1020"),
        ("1 000", "1000"),
        ("May", "may"),
        ("resume", "résumé"),
        ("a.b", "ab"),
        ("not due", "now due"),
        ("5-a", "5a"),
    ],
)
def test_what_says_something_else_is_not(one: str, other: str) -> None:
    assert not same(one, other)


ODD = "ab1 2-\n\u00ad\u0301éﬁ“\u1112\u1161\u200b²m㎡İıßνа\u2f12\u0640ﻣ‑'*_[](&"
TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters(codec="utf-8")), max_size=30)


@given(TEXTS, st.sampled_from(Strength), st.sampled_from([Markup.PLAIN, Markup.MARKDOWN, Markup.HTML]))
def test_each_character_comes_from_its_place(text: str, strength: Strength, markup: Markup) -> None:
    view = Folded(text, strength, markup)
    assert view.text == folded(text, strength, markup)
    places = [next(view.spans(view.text[at], at)) for at in range(len(view.text))]
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(view.key_at(start) <= at for at, (start, _) in enumerate(places))


@given(st.one_of(TEXTS, st.text("aB15 0.,'_-·•´½\r\n", max_size=14)), st.sampled_from(Strength))
def test_folding_again_changes_nothing(text: str, strength: Strength) -> None:
    once = folded(text, strength)
    assert folded(once, strength) == once
    assert folded(spelled(text, strength), strength) == once
    assert folded(unicodedata.normalize("NFC", text), strength) == once


RESPELLED = {
    "a": "a\u00ad",
    "b": "ｂ",
    "1": "١",
    "2": "２",
    " ": "\u00a0\n",
    "-": "–",
    "é": "e\u0301",
    "ﬁ": "fi",
    "“": '"',
    "\u2f12": "力",
    "ﻣ": "م",
    "㎡": "m2",
    "İ": "I\u0307",
    "ß": "ß\u200b",
    "‑": "-",
}


@given(TEXTS, st.lists(st.sampled_from(sorted(RESPELLED)), unique=True))
def test_what_is_the_same_could_be_the_same(text: str, respelled: list[str]) -> None:
    other = "".join(RESPELLED[char] if char in respelled else char for char in text)
    assert could_be_same(text, folded(text))
    assert could_be_same(text, spelled(text))
    if same(text, other) or spelled(text) == spelled(other):
        assert could_be_same(text, other)


@given(
    st.text(st.sampled_from("abcdefgé ,“ﬁ"), max_size=30),
    st.text(st.sampled_from("klmnopqé ,“ﬁ"), min_size=12, max_size=30),
    st.text(st.sampled_from("rstuvwxé ,“ﬁ"), max_size=30),
)
def test_the_place_has_the_words(before: str, quote: str, after: str) -> None:
    text = f"{before} {quote.replace(' ', '\n\u200b ')} {after}"
    place = find_same_text(quote, text)
    if folded(quote):
        assert place is not None
        assert same(text[slice(*place)], quote)


def test_the_place_takes_in_marks_and_leaves_out_what_is_beside() -> None:
    text = "x\u200b The cafe\u0301\u200b. y"
    place = find_same_text("Thecafé", text)
    assert place is not None
    assert text[slice(*place)] == "The cafe\u0301"


def test_a_short_quote_has_to_be_the_only_one() -> None:
    assert find_same_text("it's due", "“It is.” – it’s due.") == (11, 19)
    assert find_same_text("it's due", "it’s due, it’s due") is None
    assert find_same_text("it's –due-", "so “it’s −due–” today") == (4, 14)
    assert find_same_text("it's due by then", "it’s due by then, it’s due by then") == (0, 16)


def test_words_that_lie_far_apart_are_no_passage() -> None:
    assert find_same_text("The fee is due today", f"The fee is{chr(0x200B) * 200}due today") is not None
    assert find_same_text("The fee is due today", f"The fee is{chr(0x200B) * 900}due today") is None


@pytest.mark.parametrize("text", ["The fox; clause 4.2, 1 000 EUR.\n", "\u0301", "a-", "ﬁ“ –1 2"])
def test_the_work_on_a_text_grows_with_its_length(text: str) -> None:
    assert growth(lambda size: find_same_text("does not occur in it", text * size), 500) < 5


@pytest.mark.slow
def test_long_texts_are_looked_through_within_limits() -> None:
    texts = ["The fox; clause 4.2, 1 000 EUR.\n" * 2_000, "\u0301" * 40_000, "a-" * 20_000, "ﬁ“ –1 2" * 6_000]
    looked = [("does not occur in it", text) for text in texts]
    assert within(1, 50, "tests.work.each", "runs.text.normalisation.find_same_text", looked) == [None] * 4


def test_a_text_that_is_too_long_is_not_looked_through() -> None:
    assert find_same_text("It is here at the end.", f"{' ' * MAX_CHARACTERS}It is here at the end.") is None


@pytest.mark.parametrize("at", [0, 3_990, 4_000, 7_995, 8_000, 60_000])
@pytest.mark.parametrize("filler", ["x", "日", "\u0301"])
def test_a_text_is_looked_through_chunk_by_chunk(at: int, filler: str) -> None:
    before = f"{filler * 999} " * 61
    text = f"{before[:at]} “It is due”\n{f'{"y" * 999} ' * 100}"
    assert find_same_text('"Itis due"', text) == (at + 1, at + 12)
    assert find_same_text('"Itis due"', f"{text}“It is due”") is None


def test_a_long_text_takes_little_memory() -> None:
    tracemalloc.start()
    find_same_text("does not occur in it", "a-" * 5_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_evidence_shows_what_the_source_says() -> None:
    text = "§ 4 The Sup-\nplier’s lia\u00adbility is capped at 1 000 €."
    found = resolve(
        QuotedEvidence(source="a.md", quote="The Supplier's liability is capped at 1 000 €."), {"a.md": text.encode()}
    )
    assert (found.verified, found.quote, found.line) == (True, text[4:], 1)
    assert text[found.start : found.end] == found.quote
    wrong = resolve(QuotedEvidence(source="a.md", quote="liability is capped at 1000 €"), {"a.md": text.encode()})
    assert not wrong.verified


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("İNDİRİM", "indirim"),
        ("STRASSE", "Straße"),
        ("Kündigung", "Kundigung"),
        ("Łódź", "Lodz"),
        ("pаypаl", "paypal"),
        ("ΡΑΥΡΑL", "paypal"),
        ("I N D E M N I T Y", "indemnity"),
        ("Ⓟenalty", "penalty"),
        ("⒫enalty", "penalty"),
        ("🅟🅔🅝alty", "penalty"),
        ("PENALTΥ", "penalty"),
        ("PEΝALTY", "penalty"),
        ("Ηarm", "harm"),
        ("ηarm", "narm"),
        ("νalue", "value"),
        ("ΝΗΥ", "νηυ"),
        ("Ύard", "yard"),
        ("ЅСОРЕ", "scope"),
        ("مدرسة", "مدرسه"),
    ],
)
def test_what_could_be_the_same(one: str, other: str) -> None:
    assert could_be_same(one, other)
    assert not could_be_same(one, f"{other}x")


@pytest.mark.parametrize(("one", "other"), [("10²", "102"), ("-5", "5"), ("か", "が"), ("½", "1/2"), ("H₂O", "H2O")])
def test_what_could_not_be_the_same(one: str, other: str) -> None:
    assert not could_be_same(one, other)


def test_a_dash_at_the_end_of_a_quote_may_be_between_words_of_the_source() -> None:
    text = "The rent – five hundred francs – is due."
    assert find_same_text("– five hundred\u200b francs –", text) == (11, 30)
    assert find_same_text("-binding\u200b offer", "a non-binding offer") is None


def test_so_many_places_that_are_like_a_term_are_no_proof_of_its_absence() -> None:
    found = Sought("xa b" * 20_000).first("ab")
    assert found is not None
    assert found.doubt == "so much like it that not all of it was looked at"
    assert Sought("xa b" * 1_000).first("ab") is None


@pytest.mark.parametrize(
    ("term", "text", "doubt"),
    [
        ("audit right", "All audit\u200brights end.", SPACED),
        ("audit right", "All audit\u2060rights end.", SPACED),
        ("audit right", "All audit\ufeffrights end.", SPACED),
        ("force majeure", "Das Force\u200bMajeureRisiko", SPACED),
        ("GmbH", "Weber G. m. b. H., Bern", SPELLED),
        ("GmbH", "Weber G.m.b.H., Bern", SPELLED),
        ("penalty", "A p.e.n.a.l.t.y is due", SPELLED),
        ("penalty", "A pen_alty is due", SPELLED),
        ("force majeure", "a force _majeure is", ""),
        ("1,000", "a fee of 1. 000", SPELLED),
        ("tenants", "the tenant\n’s", SPELLED),
        ("Kündigung", "KUENDIGUNG", SPELLED),
        ("1,000", "a fee of 1'000", SPELLED),
        ("indemnity", "I\u2009N\u2009D\u2009E\u2009M\u2009N\u2009I\u2009T\u2009Y", SPACED),
        ("database", "the data base", SPACED),
        ("penalty", "A PENALTΥ is due", ALIKE),
        ("penalty", "A PEΝALTY is due", ALIKE),
        ("penalty", "A ᴘᴇɴᴀʟᴛʏ is due", ALIKE),
        ("penalty", "A ⒫⒠⒩⒜⒧⒯⒴ is due", ACCENTS),
        ("penalty", "A pēnalty is due", ACCENTS),
        ("penalty", "A p&#101;nalty, a pen<b>al</b>ty is due", ""),
        ("penalty", "A penal-\nty is due", ""),
        ("ガス", "ｶﾞｽ", ""),
    ],
)
def test_an_absence_is_not_proved_where_something_may_be_the_term(term: str, text: str, doubt: str) -> None:
    found = Sought(text).first(term)
    assert found is not None
    assert found.doubt == doubt


def test_words_that_are_joined_to_others_are_not_the_term() -> None:
    assert Sought("All auditrights end.").first("audit right") is None
    assert Sought("the U.S. Senate").first("senates") is None


@pytest.mark.parametrize("name", ["Größe", "Gro\u0308ße", "Grö\u00adße"])
def test_names_are_found_among_others_by_the_same_text(name: str) -> None:
    assert place_among(name, ["größe", "Größe", "Gro\u0308ße"]) == (2 if name == "Gro\u0308ße" else 1)
    assert place_among(name, ["größe", "Grosse"]) == -1


@pytest.mark.parametrize("source", ["50m²の部屋", "面積50m²で", "50 m² of floor", "5km²内"])
def test_a_square_is_the_same_in_front_of_other_scripts(source: str) -> None:
    quote = source.replace("km²", "㎢").replace("m²", "㎡")
    assert find_same_text(quote, source) == (0, len(source))


@given(st.text("ab \n\t\u3000\x1f", max_size=40), st.integers(1, 9))
def test_white_space_is_one_spaced_in_pieces_as_in_the_whole(text: str, piece: int) -> None:
    assert one_spaced(text, piece) == " ".join(text.split())
