"""The place that an address points at: characters, a line, or words that are looked for."""

import pytest

from runs.web.files.place import Pointed, find_place, nearest
from runs.web.site.addresses import Place
from tests.work import growth

TEXT = "Title\n\n  The notice period is thirty days.\nThe fee is 500 EUR.\n"
MISSING = "“{}” is not in this text."


def pointed(place: Place) -> tuple[str, str]:
    found = find_place(place, TEXT)
    return TEXT[found.start : found.end], found.problem


@pytest.mark.parametrize(
    ("place", "words", "problem"),
    [
        (Place(0, 5), "Title", ""),
        (Place(line=3), "The notice period is thirty days.", ""),
        (Place(line=2), "", ""),
        (Place(line=99), "", ""),
        (Place(words="notice  period"), "notice period", ""),
        (
            Place(words="notice period of thirty days", line=4),
            "notice period is thirty days",
            f"{MISSING.format('notice period of thirty days')} What comes nearest to it is marked.",
        ),
        (
            Place(words="all is lost", line=4),
            "The fee is 500 EUR.",
            f"{MISSING.format('all is lost')} Line 4, which was named, is marked.",
        ),
        (Place(words="all is lost"), "", MISSING.format("all is lost")),
        (Place(), "", ""),
    ],
)
def test_where_it_is(place: Place, words: str, problem: str) -> None:
    assert pointed(place) == (words, problem)


def test_letters_are_words_where_there_are_no_spaces() -> None:
    text = "บริษัทนี้มีพนักงาน ค่าเช่า 4000 บาท"
    found = nearest("ค่าเช่าเดือนละ4000บาท", text)
    assert found is not None
    assert "ค่าเช่า 4000 บาท" in text[found.start : found.end]


def test_an_empty_last_line_is_none() -> None:
    assert find_place(Place(line=2), "a\n") == Pointed(0, 0)


@pytest.mark.parametrize(
    ("place", "query"),
    [
        (Place(4, 9, 2, "x"), {"start": 4, "end": 9}),
        (Place(line=2, words="x" * 500), {"line": 2, "words": "x" * 400}),
        (Place(5, 4), {}),
    ],
)
def test_how_it_stands_in_an_address(place: Place, query: dict[str, object]) -> None:
    assert (place.query, bool(place)) == (query, bool(query))


@pytest.mark.parametrize("piece", ["a b c ", "a ", "abc", "a abcdefghijklmnop"])
def test_the_work_of_looking_for_words_grows_with_the_text(piece: str) -> None:
    assert growth(lambda size: nearest(" ".join("abcdefghijklmnop" * 10), piece * size), 500) < 5
