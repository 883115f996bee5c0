"""Patterns from outside cost no more than agreed, in time and in memory, and mean what they mean elsewhere."""

import pytest
import regex

from runs.errors import InvalidInput
from runs.text.patterns import MAX_COMPILED, Budget, TooSlow, compiled, found, places
from tests.unit.pev import slow


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "missing ): ("),
        ("(" * 900, "missing ): ((((("),
        ("a{1001}", "its counted repeats come to more than 1,000; use + or * instead"),
        ("a{2000000000}", "its counted repeats come to more than 1,000; use + or * instead"),
        ("(?:(?:a{100}){100}){100}", "its counted repeats come to more than 1,000; use + or * instead"),
        (r"(?:\w{1,100}\W){5}", "it is too large with its counted repeats written out; use + or * instead"),
        ("(?ix: a )", "the flag x is not supported; write the pattern without it"),
        (r"\\(?x) a", "the flag x is not supported; write the pattern without it"),
        ("a(?=b)", "look-ahead (?=…) is not supported; write the pattern without it"),
        ("a(?!b)", "look-ahead (?!…) is not supported; write the pattern without it"),
        ("(?<=a)b", "look-behind (?<=…) is not supported; write the pattern without it"),
        ("(?<!a)b", "look-behind (?<!…) is not supported; write the pattern without it"),
        (r"(a)\1", r"a back-reference \1 is not supported; write out what it stands for"),
        ("(?P<n>a)(?P=n)", "a back-reference (?P=…) is not supported; write the pattern without it"),
        ("(?>a+)b", "an atomic group (?>…) is not supported; write the pattern without it"),
        (r"\C", r"\C is not supported; write the pattern without it"),
        (r"\bÖl", r"\b and \B know the letters a to z only and take no notice of “Ö”"),
        (r"\b(?:Ja|Nö)\b", r"\b and \B know the letters a to z only and take no notice of “ö”"),
        (r"\p{Alphabetic}", r"invalid character class range: \p{Alphabetic}"),
        ("\ud800", "it has half of a surrogate pair; write the character itself"),
        ("a" * 1_001, "it has 1001 characters and may have 1000"),
    ],
)
def test_what_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        compiled(pattern)
    assert str(refusal.value)[: len(why)] == why
    assert len(str(refusal.value)) <= 200


TEXT = "Größe: 12,5 cm\n\nСлово два_три ٣٤ 合同\u3000—[x] a{,2} aa\t\x1f\u2028e\u0301nd\n"


@pytest.mark.parametrize(
    "pattern",
    [
        r"\w+",
        r"\W+",
        r"\d+",
        r"\D+",
        r"\s+",
        r"\S+",
        r"[\w]+",
        r"[\W]+",
        r"[^\W\d_]+",
        r"[^\S\n]+",
        r"[\D]",
        r"[]x[]",
        r"[^]x]",
        r"a{,2}",
        r"a\{,2}",
        r"\u00f6|\U00005408",
        r"\n\Z",
        r"\h",
        r"[\h]",
        r"^",
        r"$",
        r"",
        r"(?i)GRÖSSE|СЛОВО",
        r"(?P<name>e)|(?<other>x)",
        r"\bcm\b",
        r"cm[\s\S]*?合",
    ],
)
def test_ordinary_patterns_mean_what_they_mean_in_python(pattern: str) -> None:
    starts = list(places(compiled(pattern, multiline=True), TEXT, Budget(10), limit=1_000))
    assert starts == [match.start() for match in regex.finditer(pattern, TEXT, regex.MULTILINE)]


def test_a_named_class_does_not_end_the_class_it_is_in() -> None:
    assert list(places(compiled(r"[[:digit:]\d_]+x"), "1_x [:]x", Budget(10), limit=9)) == [0]


def test_of_each_line_the_first_place_is_enough() -> None:
    assert list(places(compiled("b"), "bb äb\n\nbb\nb", Budget(10), limit=9, each_line_once=True)) == [0, 7, 10]
    assert list(places(compiled(""), "a\n\n", Budget(10), limit=9, each_line_once=True)) == [0, 2]


def test_no_more_places_than_asked_for() -> None:
    assert list(places(compiled("b"), "bbbb", Budget(10), limit=2)) == [0, 1]


def test_a_search_that_may_take_long_has_a_process_of_its_own_and_the_same_result() -> None:
    text = "größe 3. März\n" * 20_000
    starts = list(places(compiled(r"\w{2,20}"), text, Budget(60), limit=5, each_line_once=True))
    assert starts == [0, 14, 28, 42, 56]


def test_searches_share_one_budget() -> None:
    budget = Budget(0.2)
    for _ in range(2):
        with pytest.raises(TooSlow, match=r"^it took longer than 0\.2 seconds$"):
            found(compiled(slow.PATTERN), slow.TEXT, budget)
    with pytest.raises(TooSlow):
        budget.left()


def test_few_compiled_patterns_are_kept() -> None:
    compiled.cache_clear()
    for number in range(3 * MAX_COMPILED):
        compiled(f"a{number}")
    assert compiled.cache_info().currsize == MAX_COMPILED
