"""Faults that are planted in a copy of a real result."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from runs.contracts.ports import FileInfo
from runs.documents.content import digest_of
from runs.enums import About, FaultKind
from runs.evidence.sources import GivenFiles
from runs.pev.checks.command import CommandSucceeds
from runs.pev.contracts import Criterion
from runs.pev.verification.case import VerificationInput
from runs.planted_faults.canaries import PlantedResult, plant

LEASE = (
    b"Lease of a shop by Anna Weber\n"
    b"The rent is 1,250 EUR a month, the deposit 3,600 EUR.\n"
    b"Other rules fill several pages.\n"
)
RENT = (
    "Anna Weber takes 1,250 EUR: [\u201cThe rent is 1,250 EUR a month\u201d](lease.md#L2).\n\n"
    "With a deposit of 3,600 EUR and 1,250 EUR.\n"
)
SEEDS = range(60)


def case(files: Mapping[str, str], output: str = "", **changes: Any) -> VerificationInput:
    given = {"lease.md": LEASE}
    contents = given | {path: text.encode() for path, text in files.items()}
    infos = {path: FileInfo(digest_of(data), len(data)) for path, data in given.items()}
    values: dict[str, Any] = {
        "subject": "Rent: write it",
        "request": "What is the rent?",
        "criteria": [Criterion(text="It names the rent.", about=About.SOURCES)],
        "expected_outputs": list(files),
        "files": contents,
        "inputs": GivenFiles(given, infos),
        "shown": list(files),
        "output": output,
        "tools": (),
        "model": "v-1",
        "effort": "low",
    }
    return VerificationInput(**(values | changes))


def planted(given: VerificationInput, kind: FaultKind) -> list[PlantedResult]:
    """All that the seeds plant of this kind."""
    found = [plant(given, Random(seed)) for seed in SEEDS]
    return [one for one in found if one is not None and one.kind is kind]


def text_in(result: PlantedResult, path: str = "rent.md") -> str:
    return result.case.files[path].decode()


def test_each_kind_is_planted_and_the_same_seed_plants_the_same() -> None:
    given = case({"rent.md": RENT})
    found = [plant(given, Random(seed)) for seed in SEEDS]
    assert {one.kind for one in found if one} == {
        FaultKind.WRONG_FIGURE,
        FaultKind.INVENTED_NAME,
        FaultKind.IRRELEVANT_QUOTE,
    }
    again = [plant(given, Random(seed)) for seed in SEEDS]
    shown = [
        [(one.kind, one.was, one.planted, one.place, text_in(one)) for one in some if one] for some in (found, again)
    ]
    assert shown[0] == shown[1]
    assert given.files["rent.md"].decode() == RENT


def test_a_wrong_figure_stands_everywhere_but_in_quotes() -> None:
    rent = [one for one in planted(case({"rent.md": RENT}, "1,250 EUR"), FaultKind.WRONG_FIGURE) if one.was == "1,250"]
    assert {"3,600", "invented"} == {one.planted if one.planted == "3,600" else "invented" for one in rent}
    for one in rent:
        expected = RENT.replace("takes 1,250", f"takes {one.planted}").replace("and 1,250", f"and {one.planted}")
        assert text_in(one) == expected
        assert one.case.output == f"{one.planted} EUR"
        assert (one.place, one.planted != "1,250") == ("rent.md, line 1", True)
        assert [figure.text for figure in one.case.untraced if figure.kind != "name"] == (
            [] if one.planted == "3,600" else [f"{one.planted} EUR"] * 3
        )


def test_an_invented_name_replaces_one_of_the_sources() -> None:
    for one in planted(case({"rent.md": RENT}), FaultKind.INVENTED_NAME):
        assert one.was == "Anna Weber"
        assert text_in(one) == RENT.replace("Anna Weber", one.planted)
        assert one.planted.encode() not in LEASE


def test_an_irrelevant_quote_is_another_line_that_shares_nothing() -> None:
    found = planted(case({"rent.md": RENT}), FaultKind.IRRELEVANT_QUOTE)
    assert {one.planted for one in found} == {"[\u201cOther rules fill several pages.\u201d](lease.md#L3)"}
    assert {one.was for one in found} == {"[\u201cThe rent is 1,250 EUR a month\u201d](lease.md#L2)"}
    assert all(one.planted in text_in(one) and one.was not in text_in(one) for one in found)


@pytest.mark.parametrize(
    "given",
    [
        case({"rent.md": "All is well.\n"}, "Nothing to say."),
        case({"rent.md": "It is step 12 of 99, and 4711 is in no source.\n"}),
        case({"rent.docx": RENT}),
        case({"rent.md": RENT, "table.xlsx": "x"}),
        case(
            {"rent.md": RENT},
            criteria=[
                Criterion(
                    text="The tests pass",
                    about=About.OUTPUT,
                    check=CommandSucceeds(kind="command", command="tests"),
                )
            ],
        ),
    ],
    ids=["nothing", "unsourced", "document", "document too", "command"],
)
def test_where_nothing_can_be_planted_there_is_no_copy(given: VerificationInput) -> None:
    assert [plant(given, Random(seed)) for seed in range(5)] == [None] * 5


def test_a_result_without_files_is_planted_in_its_findings() -> None:
    one = plant(case({}, "The rent is 1,250 EUR."), Random(1))
    assert one is not None
    assert (one.place, one.case.output) == ("the result, line 1", f"The rent is {one.planted} EUR.")
