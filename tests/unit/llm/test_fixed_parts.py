"""How much of a question does not depend on the task. It is paid for in every call, and small models read it slowly."""

from __future__ import annotations

import json

import pytest

from runs.contracts.base import Contract, schema_for
from runs.contracts.ports import Ask, ToolSpec
from runs.enums import Role
from runs.llm.capabilities import Capability
from runs.llm.request import parameters
from runs.pev import prompts
from runs.pev.contracts import PlanContract, SimplePlan, SimpleReport, SimpleVerdict, StepOutput, VerifierAnswer
from runs.pev.conversation.asking import user
from runs.pev.conversation.examples import form_of
from runs.pev.tools.registry import TOOL_NAMES, specs
from runs.pev.tools.service_tools import SERVICE_TOOLS

HONOURS = Capability(format=True, forced_tool=True)


def question(role: Role, contract: type[Contract], *tools: ToolSpec) -> Ask:
    return Ask(
        role=role,
        model="a model",
        system=f"{prompts.instructions(role)}\n{form_of(contract)}",
        messages=(user("The task."),),
        schema=schema_for(contract),
        tools=tools,
    )


PLANNER = question(Role.PLANNER, PlanContract)
OWN_TOOLS = specs(TOOL_NAMES - SERVICE_TOOLS, commands={"tests": "pytest"})
EXECUTOR = question(Role.EXECUTOR, StepOutput, *OWN_TOOLS)
VERIFIER = question(Role.VERIFIER, VerifierAnswer)


OF_A_TOOL = 745
"""On average: `table` takes 2,000."""
LIMITS = {
    "planner": (PLANNER, 24_000),
    "executor with all tools": (EXECUTOR, 5_250 + OF_A_TOOL * len(OWN_TOOLS)),
    "verifier": (VERIFIER, 8_000),
}


@pytest.mark.parametrize(("ask", "limit"), LIMITS.values(), ids=LIMITS)
def test_what_every_question_has_stays_short(ask: Ask, limit: int) -> None:
    sent = parameters(ask, HONOURS)
    del sent["messages"]
    assert len(json.dumps(sent, ensure_ascii=False)) <= limit


TOKEN = 3
"""Characters, at the least: real tokenizers take four to six of English prose and three of JSON."""


@pytest.mark.parametrize("role", prompts.SIMPLE_ROLES)
def test_small_models_read_at_most_1500_tokens_before_the_task(role: Role) -> None:
    assert len(prompts.simple(role)) / TOKEN <= 1_500


@pytest.mark.parametrize(
    ("role", "contract"),
    [(Role.PLANNER, SimplePlan), (Role.EXECUTOR, SimpleReport), (Role.VERIFIER, SimpleVerdict)],
)
def test_the_example_of_a_short_form_is_valid(role: Role, contract: type[Contract]) -> None:
    example = prompts.simple(role).strip().rpartition("\n")[2]
    assert contract.model_validate_json(example)


@pytest.mark.parametrize("ask", [PLANNER, EXECUTOR, VERIFIER], ids=lambda ask: ask.role)
def test_the_schema_is_sent_once(ask: Ask) -> None:
    capabilities = (HONOURS, Capability(forced_tool=True), Capability())
    sent = [json.dumps(parameters(ask, one)) for one in capabilities]
    assert [("Its schema:" in one, '"output_config"' in one, "ends your work" in one) for one in sent] == [
        (False, True, False),
        (False, False, True),
        (True, False, False),
    ]
