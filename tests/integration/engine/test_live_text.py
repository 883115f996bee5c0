"""What models write while a run is carried out: shown to its followers, gone with the commit, never a row more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from runs.engine.perform import perform
from runs.enums import ApprovalPolicy, StepApproval
from runs.models import Run, Step
from runs.store import broadcast
from tests.factories import Submit, drain
from tests.fakes.anthropic_answers import CutStream, Request
from tests.fakes.team import Team, plan, step
from tests.integration.engine.test_statements import statements_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """To which group what was sent, in order."""
    sent: list[tuple[str, dict[str, Any]]] = []

    def send(name: str, message: Any) -> None:
        if message["type"] == "model.writing":
            sent.append((name, json.loads(message["text"])["writing"]))

    monkeypatch.setattr(broadcast, "_send", send)
    return sent


@pytest.fixture
def run(team: Team, submitted: Submit) -> Run:
    team.plan = plan(step("one"))
    return submitted(plan_approval=ApprovalPolicy.NEVER, step_approval=StepApproval.NONE)


@pytest.fixture
def followed(run: Run) -> Iterator[Run]:
    broadcast.follow(run.pk)
    yield run
    broadcast.unfollow(run.pk)


@pytest.mark.slow
def test_each_call_is_shown_with_its_step_and_ends_with_its_commit(
    followed: Run, shown: list[tuple[str, dict[str, Any]]]
) -> None:
    drain(followed)
    step_id = Step.objects.get().pk
    assert {name for name, _ in shown} == {broadcast.group(followed.pk)}
    told = (
        (update["step"], update["attempt"], update["role"], update.get("done", False))
        for _, update in shown
        if update.get("done") or update["text"] == update["tool"] == ""
    )
    calls = [each for each, _ in groupby(told)]  # a model that is slow to begin is shown with nothing more than once
    assert calls == [
        each
        for about in [
            (None, None, "planner"),
            (step_id, 1, "executor"),
            (step_id, 1, "executor"),
            (step_id, 1, "verifier"),
            (None, None, "synthesizer"),
            (None, None, "verifier"),
        ]
        for each in [(*about, False), (*about, True)]
    ]


def test_nobody_is_told_of_a_run_that_nobody_follows(run: Run, shown: list[tuple[str, dict[str, Any]]]) -> None:
    drain(run)
    assert shown == []


def test_a_call_that_broke_off_is_not_shown_any_more(
    team: Team, followed: Run, shown: list[tuple[str, dict[str, Any]]]
) -> None:
    def cut(request: Request, right: Any) -> Any:
        return CutStream("half of")

    team.planner = cut
    drain(followed)
    assert shown[-1][1] == {"step": None, "attempt": None, "name": "", "role": "planner", "done": True}


@pytest.mark.slow
def test_followers_cost_no_statement(team: Team, run: Run, shown: list[tuple[str, dict[str, Any]]]) -> None:
    team.plan = plan(*(step(f"s{n}", *[f"s{n - 1}"][: n - 1]) for n in range(1, 5)))
    perform(run.work.get().pk)
    counts = []
    for key in ("s1", "s2", "s3"):  # the first one is dearer
        if key == "s3":
            broadcast.follow(run.pk)
        counts.append(len(statements_of(run.work.get(attempt__step__key=key))))
    broadcast.unfollow(run.pk)
    assert shown
    assert counts[1] == counts[2]
