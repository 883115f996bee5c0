"""Words that a reader misses or adds, by the agreement of others, and numbers before their paragraphs."""

from collections import Counter

import pytest

from tests.bench.agreement import (
    Difference,
    Numbers,
    compare,
    compare_readers,
    numbers_in,
    numbers_of_headings,
    plain,
    stated_in,
    words_in,
)

ENGINES = {"ours": "a", "second": "b", "third": "c", "wrapper": "c"}


def compared(**texts: str) -> dict[str, tuple[int, list[str], list[str]]]:
    """By reader: words of the reference, those that are missing, and those that are added."""
    found = compare_readers({name: words_in(text) for name, text in texts.items()}, ENGINES)
    return {
        name: (one.reference, sorted(one.missing.elements()), sorted(one.added.elements()))
        for name, one in found.items()
    }


def test_a_word_is_missing_if_two_others_have_it_and_added_if_no_other_has_it() -> None:
    assert compared(ours="rent is due now", second="rent is due Monday", third="rent is due Monday early") == {
        "ours": (4, ["monday"], ["now"]),
        "second": (3, [], []),
        "third": (3, [], ["early"]),
    }


def test_words_count_as_often_as_they_occur() -> None:
    assert compared(ours="due due due", second="due", third="due due") == {
        "ours": (1, [], ["due"]),
        "second": (2, ["due"], []),
        "third": (1, [], []),
    }


def test_readers_with_the_same_engine_are_one_voice() -> None:
    assert compared(ours="rent", third="rent due", wrapper="rent due") == {}
    assert compared(ours="rent", second="rent", third="rent due", wrapper="rent due") == {
        "ours": (1, [], []),
        "second": (1, [], []),
        "third": (1, [], ["due"]),
        "wrapper": (1, [], ["due"]),
    }


def test_a_reader_without_words_has_no_voice_and_misses_all() -> None:
    assert compared(ours="", second="rent due", third="rent") == {"ours": (1, ["rent"], [])}


def test_an_expected_text_is_one_voice() -> None:
    expected = [Counter(["rent", "due"])]
    assert compare(Counter(["rent", "paid"]), expected, least=1) == Difference(2, Counter(["due"]), Counter(["paid"]))
    assert compare(Counter(["rent"]), expected) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rent, DUE (10 %)", "rent due 10"),
        ("the agree-\n  ment", "the agreement"),
        ("well-known", "wellknown"),
        ("soft\u00adhyphen \ufb01ne", "softhyphen fine"),
        ("a - b -c", "a b c"),
        ("snake_case", "snake case"),
        ("契約\n書", "契 約 書"),
        ("", ""),
    ],
)
def test_words_do_not_depend_on_case_hyphens_and_ligatures(text: str, words: str) -> None:
    assert words_in(text) == Counter(words.split())


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("[rent](https://example.org/a_(b)) due", "rent due"),
        ("![plan](data:image/png;base64,AAAA) due", "plan due"),
        ("<!-- Slide 1 --> Müller &amp; Søn", "müller søn"),
        ("```python\nx = 1\n```", "x 1"),
        ("a <b>bold</b> word, 1 < 2 > 0", "a bold word 1 2 0"),
    ],
)
def test_markup_is_no_text(markdown: str, words: str) -> None:
    assert words_in(plain(markdown)) == Counter(words.split())


def test_numbers_stand_before_their_paragraphs() -> None:
    truth = [("1.", "Rent is due."), ("1.1", "Rent is 5."), ("(a)", "In March."), ("(b)", "In May."), ("2.", "Lost.")]
    text = "**1.** Rent is due.\n## 1.1\tRent  is 5.\n  1. In March.\n* In May."
    assert numbers_in(text, truth) == Numbers(right=2, wrong=1, absent=2)
    assert numbers_in("Rent is due. In May.", [("1.", "In May.")]) == Numbers(right=0, wrong=1, absent=0)
    assert numbers_in("", truth) == Numbers(right=0, wrong=0, absent=5)


def test_a_table_of_contents_states_the_numbers_of_headings() -> None:
    contents = "Contents\n1 Rent\t3\n1.1 When it is due\t3\n2. Notice\t14\n2.1 Form\t15\n3 Form\t16\n4 Law\t20"
    stated = stated_in(f"{contents}\nRent\nWhen it is due\nNotice\nForm\nForm\nLaw\n17 December\t2009")
    assert stated == {"Rent": "1", "When it is due": "1.1", "Notice": "2", "Law": "4"}  # two headings are called Form
    text = f"{contents}\n# 1 Rent\n**2.1** When it is due\nNotice\nNotice\tis given"
    assert numbers_of_headings(text, stated) == Numbers(right=1, wrong=1, absent=2)
