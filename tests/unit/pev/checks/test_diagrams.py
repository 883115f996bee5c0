"""Mermaid diagrams: drawn by Mermaid itself, in bounded time, memory and number; what it says of them is told."""

from __future__ import annotations

import pytest

from runs.evidence.results import Evidence
from runs.pev.checks.deciding import run_check
from runs.pev.checks.diagrams import Diagrams
from runs.pev.checks.material import CheckInput
from runs.text.mermaid_diagrams import MAX_CHARACTERS, MAX_DIAGRAMS

pytestmark = pytest.mark.slow

FLOW = "flowchart LR\n  web[Website] --> db[(Database)]\n"
SEQUENCE = "sequenceDiagram\n  Anna->>Ben: Hello\n"


def block(*sources: str, mark: str = "```mermaid") -> str:
    return "# Parts\n\n" + "\n".join(f"{mark}\n{source}{mark[:3]}\n" for source in sources)


def check(text: str, path: str = "a.md", least: int = 1, seconds: float | None = None) -> Evidence:
    return run_check(Diagrams(kind="diagrams", path=path, min=least), CheckInput({path: text.encode()}), seconds)


@pytest.mark.parametrize(
    ("text", "path", "least"),
    [(block(FLOW), "a.md", 1), (block(FLOW, SEQUENCE, mark="~~~ mermaid"), "a.md", 2), (FLOW, "parts.mmd", 1)],
)
def test_what_mermaid_can_draw_holds(text: str, path: str, least: int) -> None:
    found = check(text, path, least)
    assert (found.verified, found.sentence) == (
        True,
        f"{path} has {'1 diagram' if least == 1 else '2 diagrams'} that can be drawn, wanted at least {least}",
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            block(FLOW, "flowchart LR\n  a[Open --> b\n"),
            "has a diagram in line 8 that cannot be drawn: Error: Parse",
        ),
        (block("boxes\n"), "has a diagram in line 3 that cannot be drawn: UnknownDiagramError"),
        (block(""), "has a diagram in line 3 that cannot be drawn: UnknownDiagramError"),
        (block(FLOW, mark="```python"), "has 0 diagrams that can be drawn, wanted at least 1"),
        (FLOW, "has 0 diagrams that can be drawn, wanted at least 1"),
        (block(FLOW + "%" * MAX_CHARACTERS), "characters and may have 20,000"),
        (block(*[FLOW] * (MAX_DIAGRAMS + 1)), "has 21 diagrams, and 20 can be looked at"),
        (block("flowchart LR\n  a --> b\n" + '  click a "javascript:alert(1)"\n', "%%{init: {}}%%\n"), "in line 9"),
    ],
)
def test_what_it_cannot_draw_is_told_with_its_line(text: str, why: str) -> None:
    found = check(text)
    assert not found.verified
    assert why in found.sentence


def test_a_diagram_that_would_take_for_ever_is_given_up() -> None:
    large = "flowchart LR\n" + "".join(f"  n{n} --> n{(7 * n) % 900}\n" for n in range(900))
    found = check(block(large), seconds=0.5)
    assert (found.verified, found.sentence) == (False, "a.md it took longer than 0.5 seconds")
