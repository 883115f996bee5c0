"""What must hold of every run that an adversary had a hand in, and the playing of such a run."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from django.test import Client

from runs.enums import GateKind, GateStatus, Outcome, RunStatus, WorkStatus
from runs.models import Attempt, Run, Step
from tests.factories import Submit, drain, hurry
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team
from tests.integration.adversarial.rawsources import folded
from tests.integration.adversarial.recomputed import RANK, attempt_passes, best_outcome, false_evidence
from tests.reporting import as_json, as_markdown

STRICT = {"plan_approval": "never", "attempts": 1, "replans": 0, "exhausted": "fail"}
"""The policy unless a case says otherwise: nobody is asked, and what does not pass at once fails."""


def play(
    api: FakeAnthropic,
    submitted: Submit,
    team: Team,
    files: dict[str, bytes] | None = None,
    **policy: Any,
) -> Run:
    """A run of that team, driven until it rests: over, or waiting for a person."""
    api.script(team)
    run = submitted(files=files, **{**STRICT, **policy})
    come_to_rest(run)
    return run


def come_to_rest(run: Run) -> None:
    """Work that was postponed is done at once, as if the time had passed."""
    for _ in range(12):
        drain(run)
        if not run.work.filter(status=WorkStatus.READY).exists():
            return
        hurry(run)
    raise AssertionError("the run does not come to rest")


def must_hold(run: Run, client: Client, ends: Outcome | GateKind, *reasons: str) -> None:
    """The four invariants: a recorded state, no better than its ledger, true evidence only, reasons to be read."""
    assert reasons
    run.refresh_from_db()
    assert how_it_rests(run) == ends
    if run.outcome:
        assert RANK[run.outcome] <= RANK[best_outcome(run)]
    assert false_evidence(run) == []
    for attempt in Attempt.objects.filter(step__plan__run=run, verdict__passed=True):
        assert attempt_passes(attempt), "a verdict that passes has its proof"
    client.force_login(run.owner)
    machine = [folded(text) for text in strings_in(as_json(run))]
    wanted = [folded(reason) for reason in reasons]
    for reason in wanted:
        assert any(reason in text for text in machine), f"a machine can read: {reason}"
    unread = {reason.replace("@tool-", "result of tool call ") for reason in wanted}
    for text in pages_of(run, client):
        unread = {reason for reason in unread if reason not in text}
        if not unread:
            break
    assert not unread, f"a person can read: {sorted(unread)}"


def must_tell(run: Run, client: Client, *reasons: str) -> None:
    """Whoever looks at the run first reads this: on its page, in its JSON and in its Markdown report."""
    client.force_login(run.owner)
    machine = " ".join(strings_in(as_json(run)))
    for text in (words(page(client, f"/runs/{run.pk}/")), folded(machine), without_marks(as_markdown(run))):
        assert [reason for reason in reasons if folded(reason) not in text] == []


def how_it_rests(run: Run) -> Outcome | GateKind:
    """The outcome of a run that is over, or the kind of question it waits with. Anything else is an error."""
    gates = list(run.gates.filter(status=GateStatus.OPEN))
    work = {(item.status, item.pk) for item in run.work.exclude(status__in=[WorkStatus.DONE, WorkStatus.CANCELLED])}
    assert work == {(WorkStatus.SUSPENDED, gate.work_id) for gate in gates if gate.kind == GateKind.ERROR}
    if run.status == RunStatus.FINISHED:
        assert not gates
        assert run.finished_at
        return Outcome(run.outcome or "")
    assert len(gates) == 1
    assert gates[0].question.strip()
    assert "pevsite itself failed" not in gates[0].question
    return GateKind(gates[0].kind)


def pages_of(run: Run, client: Client) -> Iterator[str]:
    """The page of the run, its plan and its history, and the pages of its steps."""
    yield words(page(client, f"/runs/{run.pk}/"))
    yield words(page(client, f"/runs/{run.pk}/plan/"))
    yield words(page(client, f"/runs/{run.pk}/history/"))
    for pk in Step.objects.filter(plan__run=run).values_list("pk", flat=True):
        yield words(page(client, f"/runs/{run.pk}/steps/{pk}/"))


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.text


def words(markup: str) -> str:
    return folded(html.unescape(re.sub(r"<[^>]*>", "", markup)))


def without_marks(text: str) -> str:
    """Markdown without what escapes, quotes or sets off: the words are looked for."""
    return folded(re.sub(r"^\s*>|[\\`*]|&[a-z]+;|&#\d+;", "", text, flags=re.MULTILINE))


def strings_in(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from strings_in(each)
        case list():
            for each in value:
                yield from strings_in(each)
