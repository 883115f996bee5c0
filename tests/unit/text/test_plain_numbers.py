"""Numbers from people and models: none is computed with before it is known to be small."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from runs.pev import contracts, policy
from runs.pev.checks.registry import KINDS
from runs.pev.tools import find_files, read_file, write_files
from runs.text.numbers import amount, key
from tests.hostile.fuzzing.values import NUMBERS

UNFIT = ["1e999990", "-1e999990", "1e3", "1E3", "nan", "inf", "9" * 13, "0." + "0" * 13, "1_0", "٣", "0x1", "1,5", ""]


@pytest.mark.parametrize(
    ("text", "number"), [("5", "5"), (" 2.50 ", "2.50"), (".5", "0.5"), ("5.", "5"), ("-1", "-1"), ("9" * 12, "9" * 12)]
)
def test_an_amount_is_written_in_digits(text: str, number: str) -> None:
    assert amount(text) == Decimal(number)


@pytest.mark.parametrize("text", UNFIT)
def test_other_texts_are_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="digits"):
        amount(text)


def test_what_broke_sites_is_small_or_refused() -> None:
    for text in NUMBERS:
        try:
            assert abs(amount(text)) < 10**12
        except ValueError:
            continue


def test_the_number_of_a_row_fits_into_every_database() -> None:
    assert (key("0"), key(17), key("9" * 18)) == (0, 17, 10**18 - 1)
    for text in ("9" * 19, str(2**63), "9" * 5_000, "-1", "+1", " 1", "1.0", "٣", ""):
        with pytest.raises(ValueError, match="no row"):
            key(text)


FROM_OUTSIDE = (contracts, policy, find_files, read_file, write_files)


def _contracts() -> Iterator[type[BaseModel]]:
    yield from KINDS.values()
    for module in FROM_OUTSIDE:
        for made in vars(module).values():
            if isinstance(made, type) and issubclass(made, BaseModel) and made.__module__ == module.__name__:
                yield made


def _numbers() -> Iterator[tuple[str, list[Any]]]:
    """Every field for a number in what models, plans and forms send, with its bounds."""
    for made in _contracts():
        for name, field in made.model_fields.items():
            parts = [field.annotation, *get_args(field.annotation)]
            bare = [part for part in parts if {part, *get_args(part)[:1]} & {int, float, Decimal}]
            if bare:
                inner = [given for part in bare for given in getattr(part, "__metadata__", ())]
                given = [*field.metadata, *(item for each in inner for item in getattr(each, "metadata", ()))]
                yield f"{made.__name__}.{name}", given


def test_every_number_from_outside_has_a_lower_and_an_upper_bound() -> None:
    fields = dict(_numbers())
    assert {"MinBytes.min", "WordCount.max", "StepOutput.confidence", "Policy.budget", "ReadFile.lines"} <= set(fields)
    unbounded = [
        name
        for name, given in fields.items()
        if not any(hasattr(one, "ge") or hasattr(one, "gt") for one in given)
        or not any(hasattr(one, "le") or hasattr(one, "lt") for one in given)
    ]
    assert unbounded == ["ReadFile.first_line"]  # only compared; its schema is part of what earlier runs have asked
