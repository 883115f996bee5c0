"""What a planner is told when it plans again: every version's failures, people's words, and what was found."""

from __future__ import annotations

import json

import pytest

from runs.enums import Verb
from runs.models import User
from tests.factories import Submit, answer, drain
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, plan, step, told, verdict

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


def test_a_planner_is_told_everything_in_order(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def verifier(request: Request, right: Answer) -> Answer:
        if "two says what was found" not in json.dumps(request.messages):
            return right
        number = len(team.seen["planner"])
        failed = verdict(labels_of(request), "", "", passed=False, action="replan")
        return Say(json.dumps(failed | {"feedback_for_executor": f"Not like in plan {number}."}))

    team = Team(plan=plan(step("one"), step("two", "one")), verifier=verifier)
    api.script(team)
    run = submitted(replans=2)
    drain(run)
    answer(run, alice, Verb.REJECT, "Two steps, please.")
    for _ in range(3):
        drain(run)
        answer(run, alice)
    drain(run)
    last = told(team.seen["planner"][3])
    heard = [(part.kind, part.name, part.text.splitlines()[0]) for part in last if part.kind in {"person", "lesson"}]
    assert heard == [
        ("person", "alice rejected version 1", "Two steps, please."),
        ("lesson", "Version 2, step two, attempt 1", "Not like in plan 2."),
        ("lesson", "Version 3, step two, attempt 1", "Not like in plan 3."),
    ]
    assert [(part.name, part.text) for part in last if part.kind == "result"] == [("one", "Found by one.")]
    reasons = list(run.plans.order_by("version").values_list("reason", flat=True))
    assert reasons[1] == "alice rejected version 1."
    assert reasons[2].startswith("Version 2, step two, attempt 1: Not like in plan 2.")
    assert reasons[3].startswith("Version 3, step two, attempt 1: Not like in plan 3.")
