"""Every piece of evidence leads to the very place that it names, or nowhere."""

import pytest

from runs.evidence.results import Evidence
from runs.models import Attempt, Plan, Run, Step
from runs.web.site.addresses import Place, address_of, evidence_address, file_address

STEP = Step(pk=7, plan=Plan(run=Run(pk=3)))
ATTEMPT = Attempt(pk=5, step=STEP, number=2)


def evidence(source: str, *, verified: bool = True, sha256: str = "", start: int = 0, end: int = 0) -> Evidence:
    return Evidence(
        kind="quote", source=source, verified=verified, sentence="", quote="x", sha256=sha256, start=start, end=end
    )


def test_steps_and_attempts() -> None:
    assert address_of(STEP) == "/runs/3/steps/7/"
    assert address_of(ATTEMPT) == "/runs/3/steps/7/#attempt-2"


def test_a_file_at_a_version_and_a_place() -> None:
    assert file_address(3, "a b/ü.md") == "/runs/3/files/a%20b/%C3%BC.md"
    assert file_address(3, "a.md", "f00") == "/runs/3/files/a.md?sha=f00"
    assert file_address(3, "a.md", "f00", Place(4, 9)) == "/runs/3/files/a.md?sha=f00&start=4&end=9#hit"


@pytest.mark.parametrize(
    ("proof", "attempt", "address"),
    [
        (evidence("@output", start=4, end=9), ATTEMPT, "/runs/3/texts/attempt-5-output/?start=4&end=9#hit"),
        (evidence("@tool-4"), ATTEMPT, "/runs/3/texts/attempt-5-tool-4/"),
        (evidence("@person-1"), ATTEMPT, "/runs/3/texts/request-1/"),
        (evidence("@diff"), ATTEMPT, "/runs/3/texts/attempt-5-diff/?words=x#hit"),
        (evidence("@output"), None, "/runs/3/texts/answer/"),
        (evidence("@diff"), None, ""),
        (evidence("@result/a.md", sha256="f00"), ATTEMPT, "/runs/3/files/a.md?sha=f00"),
        (evidence("@tool-4", verified=False), ATTEMPT, ""),
        (evidence("a.md"), ATTEMPT, ""),
        (evidence("a.md", sha256="f00", start=4, end=9), None, "/runs/3/files/a.md?sha=f00&start=4&end=9#hit"),
        (evidence("a.md", sha256="f00", verified=False), ATTEMPT, "/runs/3/files/a.md?sha=f00&words=x#hit"),
        (evidence("@tool-4", verified=False, sha256="f00"), ATTEMPT, "/runs/3/texts/attempt-5-tool-4/?words=x#hit"),
        (evidence("a.md", sha256="f00").model_copy(update={"line": 7}), None, "/runs/3/files/a.md?sha=f00&line=7#hit"),
    ],
)
def test_evidence_leads_to_its_place(proof: Evidence, attempt: Attempt | None, address: str) -> None:
    assert evidence_address(3, proof, attempt) == address
