"""Faults that are planted in a copy of a real result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from runs.text.numbers import numbers_in, value_keys
from tests.work import growth

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
    return [one for one in found if isinstance(one, PlantedResult) and one.kind is kind]


def text_in(result: PlantedResult, path: str = "rent.md") -> str:
    return result.case.files[path].decode()


def test_each_kind_is_planted_and_the_same_seed_plants_the_same() -> None:
    given = case({"rent.md": RENT})
    found = [plant(given, Random(seed)) for seed in SEEDS]
    assert {one.kind for one in found if isinstance(one, PlantedResult)} == {
        FaultKind.WRONG_FIGURE,
        FaultKind.INVENTED_NAME,
        FaultKind.IRRELEVANT_QUOTE,
    }
    again = [plant(given, Random(seed)) for seed in SEEDS]
    shown = [
        [(one.kind, one.was, one.planted, one.place, text_in(one)) for one in some if isinstance(one, PlantedResult)]
        for some in (found, again)
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


def test_a_wrong_figure_is_planted_in_lines_without_spaces_too() -> None:
    letter = "王伟民因延迟交货索赔2777元。\n合同期限为12个月。\n".encode()
    infos = {"来函.md": FileInfo(digest_of(letter), len(letter))}
    report = "来函索赔2777元，期限12个月，见第12页，即2,777元。\n"
    given = case({"rent.md": report}, inputs=GivenFiles({"来函.md": letter}, infos))
    found = [one for one in planted(given, FaultKind.WRONG_FIGURE) if one.was == "2777"]
    assert found
    for one in found:
        figure = one.planted
        assert text_in(one) == report.replace("2777", figure).replace("2,777", f"{figure[0]},{figure[1:]}")
        assert [figure.text for figure in one.case.untraced] == [f"{figure}元", f"{figure[0]},{figure[1:]}元"]


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


NOTHING = (
    "The result has nothing in which a fault can be planted: no figure and no name of the sources, and no citation of "
    "a given file."
)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (case({"rent.md": "All is well.\n"}, "Nothing to say."), NOTHING),
        (case({"rent.md": "It is step 12 of 99, and 4711 is in no source.\n"}), NOTHING),
        (case({"rent.docx": RENT}), "“rent.docx” is not plain text, and faults are planted in nothing else."),
        (
            case({"rent.md": RENT, "table.xlsx": "x"}),
            "“table.xlsx” is not plain text, and faults are planted in nothing else.",
        ),
        (
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
            "A check of the result runs a command, and no command is run on a copy.",
        ),
        (case({"rent.md": RENT}, "1,250 " * 40_000), "The result has more than 200,000 characters."),
        (
            case({"rent.md": RENT}, request="words " * 400_000),
            "The sources of the result have more than 2,000,000 characters.",
        ),
    ],
    ids=["nothing", "unsourced", "document", "document too", "command", "long", "long sources"],
)
def test_where_nothing_can_be_planted_it_says_why(given: VerificationInput, why: str) -> None:
    assert [plant(given, Random(seed)) for seed in range(5)] == [why] * 5


def figures_of(text: str) -> set[str]:
    return {key for number in numbers_in(text) for key in value_keys(number)}


def sourced(source: str, files: Mapping[str, str], output: str = "") -> VerificationInput:
    """A result that rests on the words of the task, where every figure is one of the sources."""
    return case(files, output, request=source)


def test_a_planted_figure_is_never_the_right_one_in_another_notation() -> None:
    given = sourced("It is 1,200 EUR.", {"rent.md": "It is 1,200 EUR, that is 1,200.00 EUR and 1200 EUR.\n"})
    found = planted(given, FaultKind.WRONG_FIGURE)
    assert len(found) > 5
    for one in found:
        first, *others = [set(value_keys(number)) for number in numbers_in(text_in(one))]
        assert not first & figures_of("1,200")
        assert all(first & other for other in others), "the copy does not contradict itself"


def test_only_figures_of_the_sources_are_replaced() -> None:
    text = (
        "It takes 12 weeks, signed 2024-12-05, see annex-12.md, 1250/12.md, plans/lease-1250.md and 12.md, and costs "
        "1,250 EUR.\n\n12. See step 12 on page 12: 12-week notice.\n"
    )
    given = sourced("It takes 12 weeks, and costs 1,250 EUR.", {"rent.md": text})
    found = planted(given, FaultKind.WRONG_FIGURE)
    assert {one.was for one in found} == {"12", "1,250"}
    for one in found:
        expected = text.replace(f"{one.was} weeks", f"{one.planted} weeks").replace("12-week", f"{one.planted}-week")
        if one.was == "1,250":
            expected = text.replace("1,250 EUR", f"{one.planted} EUR")
        assert text_in(one) == expected


def test_a_planted_name_leaves_paths_alone() -> None:
    text = "Anna Weber signed, see Anna Weber.docx and notes/Anna Weber/lease.md.\n"
    found = planted(sourced("Anna Weber", {"rent.md": text}), FaultKind.INVENTED_NAME)
    assert len(found) > 5
    for one in found:
        assert text_in(one) == text.replace("Anna Weber signed", f"{one.planted} signed")


def lines_case(size: int) -> VerificationInput:
    """A result of so many lines, each about a line of its own of one source."""
    lines = [f"Unit {number} costs {number % 900 + 10},{number % 7}50 EUR" for number in range(size)]
    source = "\n".join([*lines, *["Other rules fill several pages."] * size]).encode()
    text = "".join(
        f"Anna Weber pays {line.split()[3]} EUR: [“{line}”](units.md#L{at}).\n" for at, line in enumerate(lines, 1)
    )
    given = {"units.md": source}
    infos = {"units.md": FileInfo(digest_of(source), len(source))}
    files = {"rent.md": text.encode(), **given}
    return replace(case({"rent.md": text}, request="Anna Weber"), files=files, inputs=GivenFiles(given, infos))


@pytest.mark.parametrize("kind", [FaultKind.WRONG_FIGURE, FaultKind.INVENTED_NAME, FaultKind.IRRELEVANT_QUOTE])
def test_planting_takes_four_times_the_work_for_four_times_the_result(kind: FaultKind) -> None:
    seed = next(seed for seed in SEEDS if (one := plant(lines_case(20), Random(seed))) and _is_of(one, kind))
    assert growth(lambda size: plant(lines_case(size), Random(seed)), 25) < 6


def _is_of(one: PlantedResult | str, kind: FaultKind) -> bool:
    return isinstance(one, PlantedResult) and one.kind is kind


def test_a_result_without_files_is_planted_in_its_findings() -> None:
    one = plant(case({}, "The rent is 1,250 EUR."), Random(1))
    assert isinstance(one, PlantedResult)
    assert (one.place, one.case.output) == ("the result, line 1", f"The rent is {one.planted} EUR.")
