"""Agents: what of them decides how a step is done, whom they play, and what keeps a step from one."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from pydantic import ValidationError

from runs.enums import Role
from runs.pev.agents import MAX_INSTRUCTIONS, AgentDefinition, AgentRoster, named_in, permitted, policy_for_agent
from runs.pev.contracts import PlannedAction, PlanStep
from runs.pev.policy import Policy, RoleModel
from runs.pev.tools.registry import WRITING, tools_of
from tests.unit.pev.scripted import plan, step

POLICY = Policy(
    models={
        Role.PLANNER: RoleModel(model="planner"),
        Role.EXECUTOR: RoleModel(model="executor", effort="low"),
        Role.VERIFIER: RoleModel(model="verifier"),
    }
)


def agent(**changes: Any) -> AgentDefinition:
    return AgentDefinition.model_validate({"purpose": "Writes.", "instructions": "Write well.", **changes})


def problems(one: PlanStep, crew: AgentRoster) -> list[str]:
    return [problem.sentence for problem in crew.problems_with(one, tools_of(one), WRITING)]


def test_a_plan_without_agents_has_the_digest_that_it_always_had() -> None:
    dumped = plan(step("one")).model_dump_json()
    assert hashlib.sha256(dumped.encode()).hexdigest() == (
        "a9dffcc7490fc7faf270394289706787ccf0697832c59fe007c12d898689d262"  # as before there were any
    )
    assert '"agent"' not in dumped
    assert step("one", agent=None) == step("one")
    assert step("one", agent="writer").model_dump()["agent"] == "writer"


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"purpose": "Other words."}, True),
        ({"instructions": "Write better."}, False),
        ({"model": "other"}, False),
        ({"effort": "high"}, False),
        ({"tools": ("read_file",)}, False),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_its_digest_is_over_what_decides_how_a_step_is_done(changes: dict[str, Any], same: bool) -> None:
    assert (agent(**changes).digest == agent().digest) == same


@pytest.mark.parametrize(
    "changes",
    [{"instructions": "  "}, {"instructions": "x" * (MAX_INSTRUCTIONS + 1)}, {"effort": "most"}, {"purpose": ""}],
    ids=["nothing", "too much", "effort", "purpose"],
)
def test_what_is_no_agent(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        agent(**changes)


def test_it_plays_the_executor_and_nobody_else() -> None:
    own = policy_for_agent(POLICY, agent(model="own", effort="high"))
    assert own.model_for(Role.EXECUTOR) == RoleModel(model="own", effort="high")
    others = (Role.PLANNER, Role.VERIFIER, Role.SYNTHESIZER)
    assert [own.model_for(role) for role in others] == [POLICY.model_for(role) for role in others]
    assert policy_for_agent(POLICY, agent(effort="high")).model_for(Role.EXECUTOR) == RoleModel(
        model="executor", effort="high"
    )
    assert policy_for_agent(POLICY, agent()) is POLICY
    assert policy_for_agent(POLICY, None) is POLICY


def test_what_a_step_may_use_is_what_both_allow() -> None:
    usable = frozenset({"read_file", "write_file"})
    assert permitted(usable, None) == usable
    assert permitted(usable, agent()) == usable
    assert permitted(usable, agent(tools=("write_file", "fetch_page"))) == {"write_file"}


def test_those_that_steps_name() -> None:
    steps = [step("one", agent="writer"), step("two"), step("three", agent="judge"), step("four", agent="writer")]
    assert named_in(steps) == ["judge", "writer"]


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({}, []),
        ({"agent": "writer"}, []),
        (
            {"agent": "nobody"},
            ["Step “one” names the agent “nobody”, which this installation does not have. There are: reader, writer."],
        ),
        (
            {"agent": "reader"},
            ["Step “one” has an output, and its agent “reader” may use no tool that writes files."],
        ),
        (
            {"agent": "reader", "tools": ["read_file", "fetch_page"], "expected_outputs": []},
            ["Step “one” asks for the tool “fetch_page”, which its agent “reader” may not use. It may use: read_file."],
        ),
        (
            {"agent": "reader", "tools": ["fetch_page"], "expected_outputs": []},
            [
                "Step “one” asks for the tool “fetch_page”, which its agent “reader” may not use. It may use: "
                "read_file.",
                "Step “one” names no tool that its agent “reader” may use. It may use: read_file.",
            ],
        ),
        ({"agent": "reader", "expected_outputs": []}, []),
    ],
)
def test_what_keeps_a_step_from_its_agent(changes: dict[str, Any], sentences: list[str]) -> None:
    crew = AgentRoster({"writer": agent(), "reader": agent(tools=("read_file",))})
    used = [PlannedAction(tool="read_file", purpose="read")]
    assert problems(step("one", actions=used, **changes), crew) == sentences


def test_where_there_are_none_no_step_has_one() -> None:
    assert problems(step("one", agent="writer"), AgentRoster()) == [
        "Step “one” names the agent “writer”, which this installation does not have. It has none."
    ]


def test_those_that_a_run_cannot_have_are_not_offered() -> None:
    crew = AgentRoster({"writer": agent(), "judge": agent(tools=("read_file",))}, {"writer": "it is too dear."})
    assert crew.listing == "judge: Writes. (may use: read_file)"
    assert problems(step("one", agent="writer"), crew) == [
        "Step “one” names the agent “writer”, which this run cannot have: it is too dear."
    ]
