"""Any value as facts: short ones as words, long ones as excerpts, and nothing is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runs.acts.facts import MAX_DEPTH, MAX_FACTS, Fact, FactReader, as_json, flattened, label_of, strings_in

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=300),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(min_size=1, max_size=12), inner, max_size=8),
    max_leaves=40,
)


def fact(value: Any, schema: object = None) -> Fact:
    return FactReader().fact("Value", value, schema)


def every(one: Fact) -> Iterator[Fact]:
    yield one
    for part in one.parts:
        yield from every(part)


def texts(one: Fact) -> list[str]:
    """All that is shown of a fact and its parts; JSON as the texts in it."""
    return [text for part in every(one) for text in (part.words, part.excerpt.text if part.excerpt else "") if text]


@pytest.mark.parametrize(
    ("value", "words", "note"),
    [
        ("Hello", "Hello", ""),
        ("5", "5", ""),
        (5, "5", ""),
        (12.5, "12.5", ""),
        (True, "Yes", ""),
        (False, "No", ""),
        (None, "", "nothing"),
        ("", "", "left empty"),
        ("   ", "", "only 3 spaces or line breaks"),
        ([], "", "empty list"),
        ({}, "", "nothing"),
    ],
)
def test_a_short_value_is_words(value: object, words: str, note: str) -> None:
    assert (fact(value).words, fact(value).note) == (words, note)


@pytest.mark.parametrize("text", ["a\nb", "x" * 161])
def test_lines_and_long_texts_are_excerpts_with_their_length(text: str) -> None:
    one = fact(text)
    assert (one.words, one.excerpt and one.excerpt.text, one.is_json) == ("", text, False)
    assert one.note.startswith(f"{len(text)} characters")


def test_lists_are_lists_and_objects_are_labelled_facts() -> None:
    one = fact([{"file_name": "a.pdf", "isInline": True}, "b.pdf"])
    assert (one.is_list, one.note, len(one.parts)) == (True, "2", 2)
    assert [(part.label, part.words) for part in one.parts[0].parts] == [("File name", "a.pdf"), ("Is inline", "Yes")]
    assert (one.parts[1].label, one.parts[1].words) == ("", "b.pdf")


@pytest.mark.parametrize(
    ("name", "schema", "label"),
    [
        ("due_date", None, ("Due date", "")),
        ("dueDate", {"type": "string"}, ("Due date", "")),
        ("due", {"title": "Deadline"}, ("Deadline", "due")),
        ("due_date", {"title": "Due Date"}, ("Due date", "")),
        ("due", {"title": 5}, ("Due", "")),
        ("due", {"title": " "}, ("Due", "")),
        ("___", None, ("___", "")),
        ("bcc", {"title": "Cc"}, ("Cc", "bcc")),
    ],
)
def test_a_label_is_the_title_of_the_schema_or_the_name(name: str, schema: object, label: tuple[str, str]) -> None:
    assert label_of(name, schema) == label


def test_a_label_is_cut_and_the_name_is_then_shown_whole() -> None:
    label, name = label_of("x" * 500, None)
    assert (len(label), name) == (60, "x" * 500)


def test_what_lies_deeper_is_json() -> None:
    value: Any = "the end"
    for _ in range(500):
        value = {"a": [value]}
    (last,) = [one for one in every(fact(value)) if one.excerpt]
    assert last.is_json
    assert last.excerpt
    assert last.excerpt.text.count("[") == 500 - MAX_DEPTH / 2
    assert '"the end"' in last.excerpt.text


def test_a_page_stays_bounded_and_the_rest_is_json() -> None:
    reader = FactReader()
    facts = [reader.fact("", [str(number) for number in range(100)]) for _ in range(10)]
    assert sum(len(list(every(one))) for one in facts) <= MAX_FACTS + 10
    assert [one.is_json for one in facts] == 3 * [False] + 7 * [True]
    assert facts[-1].excerpt
    assert '"99"' in facts[-1].excerpt.text


@given(VALUES)
@example({"a": ["1", "2", "3", {"b": "4"}], "c": {"d": "5", "e": "6", "f": "7", "g": "x\ny"}, "h": "8", "i": "9"})
def test_nothing_is_left_out(value: Any) -> None:
    shown = texts(fact(value))
    json_shown = [one.excerpt.text for one in every(fact(value)) if one.is_json and one.excerpt]
    names = [text for one in every(fact(value)) for text in (one.name, one.label)]
    for text in members(value):
        in_json = any(as_json(text)[1:-1] in one for one in json_shown)
        assert in_json or not text.strip() or text in shown
    for key in keys(value):
        in_json = any(as_json(key) in one for one in json_shown)
        assert in_json or label_of(key, None)[0] in names


def members(value: Any) -> Iterator[str]:
    """The texts of a value, without names."""
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from members(one)
        case dict():
            for one in value.values():
                yield from members(one)


def keys(value: Any) -> Iterator[str]:
    match value:
        case list():
            for one in value:
                yield from keys(one)
        case dict():
            yield from value
            for one in value.values():
                yield from keys(one)


def test_all_texts_of_a_value_are_looked_at() -> None:
    assert sorted(strings_in({"a": ["b", {"c": "d"}], "e": 5})) == ["a", "b", "c", "d", "e"]


def test_a_terminal_shows_both_ends_of_what_is_long() -> None:
    lines = list(fact({"body": "line\n" * 5_000, "to": [f"{number}@x" for number in range(40)]}).lines())
    assert len(lines) < 32
    assert lines[:3] == ["Value:", "    Body (25,000 characters in 5,001 lines):", "        line"]
    assert lines[-2:] == ["        - 11@x", "        … 28 more, which the page of the run shows …"]


@given(VALUES)
def test_flattening_loses_no_text_and_leaves_no_object_in_an_object(value: Any) -> None:
    one = fact(value)
    flat = list(flattened([one]))
    assert Counter(text for part in flat for text in texts(part)) == Counter(texts(one))
    assert [part for part in flat if part.parts and not (part.is_list or part.is_line)] == []


def test_members_of_objects_have_the_labels_of_both() -> None:
    plan = {"first_day": "x" * 90, "limits": {"times": 12, "per_day": [1, 2], "URL": "y" * 90}}
    labels = [part.label for part in flattened([FactReader().fact("Schedule", plan)])]
    assert labels == [
        "Schedule: first day",
        "Schedule: limits, times",
        "Schedule: limits, per day",
        "Schedule: limits, URL",
    ]


@pytest.mark.parametrize(
    ("words", "is_address"),
    [("bob@example.com", True), ("https://a.example/b?c", True), ("Bob at example.com", False), ("a@b c", False)],
)
def test_addresses_are_told_from_words(words: str, is_address: bool) -> None:
    assert fact(words).is_address == is_address
