"""A running `serve` whose model asks a question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.site import Site, served
from tests.factories.driving import MODELS
from tests.fakes.anthropic_answers import Answer, Request, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step
from tests.installation import Installation

QUESTION = "Which currency is the comparison in?"
ASK = ToolUse("ask_person", {"question": QUESTION, "choices": ["EUR", "CHF"], "why": "The offers name both."})
COMPARISON = "Offer A costs 10 EUR and offer B costs 10 CHF. " * 4
WRITE = ToolUse("write_file", {"path": "compare.md", "content": COMPARISON})


def _executor(request: Request, right: Answer) -> Answer:
    """Asks before it writes."""
    return right if request.tool_results else UseTools(ASK, WRITE)


@contextmanager
def site_that_asks(installation: Installation, folder: Path) -> Iterator[Site]:
    """Plans one step, which asks a question. The plan waits for a person, and so does the question."""
    asking = step("compare") | {"tools": ["ask_person", "write_file"]}
    with FakeAnthropic() as api:
        api.script(Team(plan(asking), executor=_executor))
        environ = {f"PEV_MODEL_{role.upper()}": one.model for role, one in MODELS.items()}
        environ |= {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "test-key-of-nobody", "PEV_API_DECIDES": "on"}
        with served(installation.copy(folder / "data"), delay=0, **environ) as site:
            yield site
        assert api.violations == []
