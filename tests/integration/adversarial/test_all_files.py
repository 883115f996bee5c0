"""A step that is to deal with all files, and was shown some: whoever decides is told first."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome
from runs.models import User
from tests.factories import Submit, answer
from tests.fakes.adversaries import executors
from tests.fakes.anthropic_answers import ToolUse
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step
from tests.integration.adversarial.holding import come_to_rest, must_hold, page, play, words

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
FILES = {f"contracts/{number:02}.md": f"Contract {number}.\n".encode() for number in range(12)}


def test_the_first_line_of_the_gate_says_how_many_files_were_shown(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    reads = [ToolUse("read_file", {"path": path}) for path in list(FILES)[:8]]
    team = Team(plan=plan(step("one", complexity="high")), executor=executors.adds(*reads))
    run = play(api, submitted, team, FILES, sources_needed=True, step_approval="high", step_moment="after")
    shown = "8 of 12 files were shown. Not read: contracts/08.md, contracts/09.md, contracts/10.md and contracts/11.md."
    must_hold(run, client, GateKind.STEP, "Do one")
    found = client.get(f"/runs/{run.pk}/").text
    lines = re.search(r'<ul class="gate-lines">\s*<li[^>]*>(.*?)</li>', found, re.DOTALL)
    assert lines
    assert f"Not all was read {shown}" in words(lines[0])
    answer(run, alice)
    come_to_rest(run)
    unread = "contracts/08.md, contracts/09.md, contracts/10.md and contracts/11.md were not read, although the plan"
    must_hold(run, client, Outcome.PARTIAL, unread)


def test_a_file_with_nothing_in_it_is_named_from_the_beginning(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    run = play(api, submitted, Team(), {"a.md": b"One.\n", "empty.md": b""}, plan_approval="always")
    must_hold(run, client, GateKind.PLAN, "Nothing is in empty.md: the file is empty.")
    assert "Nothing is in empty.md: the file is empty." in words(page(client, f"/runs/{run.pk}/history/"))
