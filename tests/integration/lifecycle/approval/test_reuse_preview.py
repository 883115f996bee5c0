"""What a run again would reuse is foretold as it then comes, and told why; nothing is written for it."""

from __future__ import annotations

from typing import Any

import pytest

from runs.lifecycle.approval.fingerprint import contract_of
from runs.lifecycle.approval.reuse import PreviewInputs, preview_reuse
from runs.models import Attempt, Event, Run, Tree, User
from runs.pev.contracts import PlanContract
from runs.store import blobs, trees
from runs.submission.run_templates import plan_worth_keeping
from tests.factories import Submit, finish
from tests.factories.agents import WRITER, agent, change, played_plan
from tests.fakes.team import Team, looking, reads

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture
def first(team: Team, submitted: Submit, alice: User) -> Run:
    team.executor = looking(one=[reads("notes.md")])
    return finish(submitted(), alice)


def plan_of(run: Run) -> PlanContract:
    plan = plan_worth_keeping(run)
    assert plan is not None
    return contract_of(plan)


def told(run: Run, **changes: Any) -> dict[str, str]:
    given = {"owner": run.owner, "request": run.request, "policy": run.policy, "files": trees.files_of(run.inputs)}
    found = preview_reuse(plan_of(run), PreviewInputs(**{**given, **changes}), run)
    return {one.key: one.why or "reused" for one in found}


def test_with_nothing_changed_everything_is_reused_and_nothing_is_written(first: Run) -> None:
    before = [model.objects.count() for model in (Run, Tree, Attempt, Event)]
    assert told(first) == {"one": "reused", "two": "reused"}
    assert [model.objects.count() for model in (Run, Tree, Attempt, Event)] == before


def test_what_is_done_again_is_told_with_the_reason(first: Run, bob: User) -> None:
    other = {**trees.files_of(first.inputs), "sales.csv": blobs.put(b"1")}
    changed = {"notes.md": blobs.put(b"other")}
    assert told(first, files=dict(sorted(other.items())))["one"] == "sales.csv is new"
    assert told(first, files=changed) == {"one": "notes.md changed", "two": "“Do one” runs again before it"}
    assert told(first, request="Do it otherwise")["one"] == "the request changed"
    assert told(first, policy=first.policy.changed(rounds=5))["one"] == "the policy changed: rounds"
    assert told(first, policy=first.policy.changed(attempts=1)) == {"one": "reused", "two": "reused"}
    assert told(first, owner=bob)["one"] == "results of another person are not reused"


def test_a_step_that_is_done_again_on_purpose_takes_those_with_it_that_rest_on_it(first: Run) -> None:
    spec = plan_of(first).steps[1]
    rest = "“Step one” runs again before it" if "one" in spec.dependencies else "reused"
    found = told(first, policy=first.policy.changed(without_reuse=["one"]))
    assert found["one"] == "you asked for it"
    assert found["two"].startswith(rest[:1])
    assert told(first, policy=first.policy.changed(reuse=False)) == dict.fromkeys(found, "results are not reused")


def test_an_agent_that_was_changed_is_the_reason(team: Team, submitted: Submit, alice: User) -> None:
    writer = agent()
    team.plan = played_plan()
    run = finish(submitted(), alice)
    assert told(run) == {"one": "reused", "two": "reused"}
    change(writer, purpose="Writes.")
    assert told(run) == {"one": "reused", "two": "reused"}
    change(writer, instructions="Write in verse.")
    assert told(run) == {"one": f"the agent {WRITER} was changed", "two": "“Do one” runs again before it"}
    writer.delete()
    assert told(run)["one"] == f"the agent {WRITER} no longer exists"
