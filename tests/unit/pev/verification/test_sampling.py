"""How much of “every file” a verifier's evidence is from."""

import pytest

from runs.enums import About
from runs.pev.contracts import Criterion
from runs.pev.evidence.sources import Given, ToolText
from runs.pev.ports import FileInfo, Shown
from runs.pev.verification.case import Case
from runs.pev.verifier import judge
from tests.unit.pev.scripted import Scripted
from tests.unit.pev.test_verifier import case, given_, verdict

FILES = {f"contracts/{name}.md": f"The contract of {name} ends in May.".encode() for name in ("ann", "bob", "cid")}
INFOS = {path: FileInfo(path[10] * 64, len(data)) for path, data in FILES.items()}
READ = "contracts/bob.md, lines 1-1 of 1\nThe contract of bob ends in May.\ncontracts/cid.md"
SHOWN = (Shown("contracts/bob.md", "b" * 64, 33, 65, 1, 1, 1), Shown("contracts/cid.md", "c" * 64, 66, 82))
TOOL = ToolText(READ, SHOWN)


def about(text: str) -> Case:
    criterion = Criterion(text=text, about=About.SOURCES)
    return case(criterion, files=FILES, inputs=Given(FILES, INFOS), tools=(TOOL,), meant=list(FILES))


def sample(text: str, *sources: tuple[str, str]) -> tuple[int, int, str]:
    quotes = [{"source": source, "quote": quote} for source, quote in sources]
    result = judge(Scripted(verdict(given_("C1", *quotes))), about(text)).results[0]
    return result.looked_at, result.out_of, result.sample


ANN = ("contracts/ann.md", "The contract of ann ends")
BOB = ("@tool-1", "The contract of bob ends")


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("Every contract has its end", (2, 3, "2 of 3 looked at")),
        ("each of the files was read", (2, 3, "2 of 3 looked at")),
        ("Für alle drei Verträge ist das Ende genannt", (2, 3, "2 of 3 looked at")),
        ("jedes der Dokumente ist gelesen", (2, 3, "2 of 3 looked at")),
        ("All contracts, ann.md and cid.md, are named", (1, 2, "1 of 2 looked at")),
        ("All terms of the contracts are right", (0, 0, "")),
        ("Every finding names its document", (0, 0, "")),
        ("The contract ends in May", (0, 0, "")),
    ],
)
def test_only_what_plainly_speaks_of_each_file_is_counted(text: str, counted: tuple[int, int, str]) -> None:
    assert sample(text, ANN, BOB) == counted


def test_a_name_in_a_list_is_not_a_look_into_the_file() -> None:
    assert sample("Every contract is named", ("@tool-1", "contracts/cid.md")) == (0, 3, "0 of 3 looked at")


def test_a_quote_that_stands_nowhere_is_no_look_either() -> None:
    assert sample("Every contract is named", ANN, ("contracts/cid.md", "The contract of cid ends in June"))[:2] == (
        1,
        3,
    )


def test_nothing_is_counted_where_only_the_look_of_the_result_is_judged() -> None:
    criterion = Criterion(text="Every contract is listed", about=About.OUTPUT)
    listed = case(criterion, files=FILES, inputs=Given(FILES, INFOS), meant=list(FILES), output="ann, bob and cid")
    answer = verdict(given_("C1", {"source": "@output", "quote": "ann, bob and cid"}))
    result = judge(Scripted(answer), listed).results[0]
    assert (result.met, result.sample) == (True, "")
