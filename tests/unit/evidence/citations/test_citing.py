"""The rule of the house on citations: an attempt and an answer with broken ones are told exactly which."""

from typing import Any

import pytest

from runs.contracts.ports import FileInfo
from runs.enums import CitationStatus
from runs.evidence.citations.citing import Delivered
from runs.evidence.citations.lookup import citations_in
from runs.evidence.sources import GivenFiles, Sources
from runs.pev.synthesizer import AnswerBrief, synthesize
from runs.pev.verification import prechecks
from runs.pev.verification.case import VerificationInput
from runs.pev.verifier import judge
from tests.unit.pev.scripted import NeverAsked, Scripted, gave

GIVEN = {"nda.md": b"The notice period is thirty days.\n", "guide.md": b"See [the first part](part-one.md#first).\n"}
GOOD = "It is thirty days [“thirty days”](nda.md#L1).\n"
BAD = "It is forty days [“forty days”](nda.md#L1).\n"
IN_LINE_1 = "Line 1: “forty days” does not occur in nda.md."


def inputs() -> GivenFiles:
    return GivenFiles(GIVEN, {path: FileInfo(f"sha of {path}", len(data)) for path, data in GIVEN.items()})


def case(files: dict[str, str], *, finished: tuple[str, ...] = (), **changes: Any) -> VerificationInput:
    values: dict[str, Any] = {
        "subject": "Review",
        "request": "Review it.",
        "criteria": (),
        "expected_outputs": (),
        "files": GIVEN | {path: text.encode() for path, text in files.items()},
        "shown": list(files),
        "inputs": inputs(),
        "output": "",
        "tools": (),
        "model": "scripted",
        "effort": "low",
        "finished": finished,
    }
    return VerificationInput(**values | changes)


def found(subject: VerificationInput) -> list[tuple[str, str, str]]:
    results = prechecks.decided_by_code(subject, {})
    return [(result.label, result.text, result.feedback) for result in results]


def test_a_document_whose_citations_hold_breaks_no_rule() -> None:
    assert found(case({"a.md": GOOD, "b.txt": BAD})) == []


def test_broken_citations_of_a_document_fail_it_with_the_exact_list() -> None:
    text = "Every citation in a.md leads to what it quotes"

    assert found(case({"a.md": f"# A\n\n{GOOD}{BAD}"})) == [
        ("K1", text, "a.md: Line 4: “forty days” does not occur in nda.md.")
    ]


def test_no_model_is_asked_about_a_document_with_broken_citations() -> None:
    judgement = judge(NeverAsked(), case({"a.md": BAD}))

    assert (judgement.passed, [result.label for result in judgement.results]) == (False, ["K1"])


def test_the_list_is_cut_after_twenty() -> None:
    feedback = found(case({"a.md": BAD * 23}))[0][2]

    assert (feedback.count("does not occur"), "And 3 more." in feedback) == (20, True)


def test_a_finished_text_must_not_carry_citations() -> None:
    letter = f"Dear Sir,\n\n{GOOD}"

    assert found(case({"letter.md": letter}, finished=("letter.md",))) == [
        (
            "K1",
            "letter.md is a finished text without citations",
            "letter.md must not carry citations. Line 3 has one: nda.md.",
        )
    ]


def test_a_finished_text_may_have_links_of_its_own() -> None:
    assert (
        found(case({"page.md": "See [the first part](other.md#first) and [here](x.md)."}, finished=("page.md",))) == []
    )


def test_links_that_a_given_file_had_already_are_not_the_run_s() -> None:
    changed = GIVEN["guide.md"].decode() + BAD

    assert found(case({"guide.md": changed}, shown=["@result/guide.md"])) == [
        (
            "K1",
            "Every citation in guide.md leads to what it quotes",
            "guide.md: Line 2: “forty days” does not occur in nda.md.",
        )
    ]


COPIED = "> See [the first part](part-one.md#first)."


@pytest.mark.parametrize("finished", [(), ("a.md",)], ids=["a report", "a finished text"])
def test_a_link_that_is_quoted_from_a_given_file_is_no_citation_of_the_run(finished: tuple[str, ...]) -> None:
    assert found(case({"a.md": COPIED}, finished=finished)) == []


def test_the_same_link_with_words_of_the_run_s_own_is_looked_up() -> None:
    link = "See [the last part](part-one.md#first)."

    assert found(case({"a.md": COPIED + link})) == [
        (
            "K1",
            "Every citation in a.md leads to what it quotes",
            "a.md: Line 1: There is no file “part-one.md”.",
        )
    ]


def test_a_citation_that_holds_is_the_run_s_own_though_it_stands_in_a_given_file_too() -> None:
    given = {"nda.md": GIVEN["nda.md"], "earlier.md": GOOD.encode()}

    cited = citations_in(GOOD, Sources({}, GivenFiles(given)))

    assert [one.status for one in cited.citations] == [CitationStatus.OK]


def test_at_the_end_of_a_run_broken_citations_fail_no_criterion() -> None:
    assert found(case({"a.md": BAD}, whole=True)) == []


@pytest.mark.parametrize(
    ("answers", "asked", "given_back"),
    [
        ([GOOD], 1, GOOD),
        ([BAD, GOOD], 2, GOOD),
        ([BAD, BAD + BAD], 2, BAD),
    ],
    ids=["right at once", "put right", "worse the second time"],
)
def test_the_answer_is_asked_for_once_more_with_the_list(answers: list[str], asked: int, given_back: str) -> None:
    model = Scripted(*(gave({"answer": answer}) for answer in answers))
    brief = AnswerBrief("Review it.", "Review", {}, ["a.md"], [], "scripted", "low")

    answer = synthesize(model, brief, Delivered((), {}, inputs(), ()).broken_in)

    assert (answer.strip(), len(model.asked)) == (given_back.strip(), asked)
    assert (IN_LINE_1 in model.told) == (asked == 2)


def test_what_is_delivered_names_each_broken_citation_with_its_file() -> None:
    files = {**GIVEN, "a.md": BAD.encode(), "letter.md": GOOD.encode()}
    delivered = Delivered(["a.md", "letter.md"], files, inputs(), {"letter.md"})

    assert delivered.broken(BAD) == [
        f"a.md: {IN_LINE_1}",
        "letter.md: Line 1 has one: nda.md.",
        f"The answer: {IN_LINE_1}",
    ]
