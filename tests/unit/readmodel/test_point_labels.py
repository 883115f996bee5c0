"""What items of reports begin with: ids and kinds, and none where there is none."""

import pytest

from runs.readmodel.result_points import kind_of, labelled
from tests.hostile.bounds import within


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("F12: names no date", ("F12", "names no date")),
        ("**F12**: names no date", ("F12", "names no date")),
        ("**F12** names no date", ("F12", "names no date")),
        ("**F12: Missing date.** It is blank.", ("F12", "**Missing date.** It is blank.")),
        ("[R-3] names no date", ("R-3", "names no date")),
        ("F12 – names no date", ("F12", "names no date")),
        ("A4.2. names no date", ("A4.2", "names no date")),
        ("F12) names no date", ("F12", "names no date")),
        ("F12 (a b.md, line 3): names no date", ("F12", "(a b.md, line 3): names no date")),
        ("Q3 was good", ("", "Q3 was good")),
        ("Q3 (2024) was good", ("", "Q3 (2024) was good")),
        ("[F1](a.md#L3) names no date", ("", "[F1](a.md#L3) names no date")),
        ("**F1 and F2** name no date", ("", "**F1 and F2** name no date")),
        ("(F1](a.md)", ("", "(F1](a.md)")),
        ("F12:", ("", "F12:")),
        ("12: names no date", ("", "12: names no date")),
        ("Note: F12", ("", "Note: F12")),
        ("", ("", "")),
    ],
)
def test_an_id_is_what_an_item_begins_with(text: str, expected: tuple[str, str]) -> None:
    assert labelled(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Vague term:** in due course", ("Vague term", "in due course")),
        ("**Vague term**: in due course", ("Vague term", "in due course")),
        ("__Vague term__ – in due course", ("Vague term", "in due course")),
        ("**Deposit** is not stated", ("", "**Deposit** is not stated")),
        ("**Vague term:**", ("", "**Vague term:**")),
        ("**" + "x" * 41 + ":** y", ("", "**" + "x" * 41 + ":** y")),
        ("Vague term: in due course", ("", "Vague term: in due course")),
    ],
)
def test_a_kind_is_a_bold_label(text: str, expected: tuple[str, str]) -> None:
    assert kind_of(text) == expected


@pytest.mark.slow
@pytest.mark.parametrize("function", ["labelled", "kind_of"])
def test_hostile_items_are_read_within_limits(function: str) -> None:
    pieces = ("F1 (", "**", "F1, line 1", " ", "F1: **x", "[(`", "(")
    items = [f"{begun}{piece * 50_000}" for piece in pieces for begun in ("", "F1 ", "**")]
    within(0.5, 50, "tests.work.each", f"runs.readmodel.result_points.{function}", [(item,) for item in items])
