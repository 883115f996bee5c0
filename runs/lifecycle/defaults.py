"""The policy that a new run starts from: the models of the service that answers, and the settings' defaults."""

import os
from typing import Literal

from runs.enums import Role
from runs.llm.provider import Service, service
from runs.pev.policy import Policy, RoleModel

_EFFORT: dict[Role, Literal["low", "medium", "high"]] = {
    Role.PLANNER: "high",
    Role.EXECUTOR: "medium",
    Role.VERIFIER: "low",
}


def current_service() -> Service:
    """Who answers new runs, by the environment of this process."""
    return service(os.environ)


def default_policy() -> Policy:
    models = current_service().models
    policy = Policy(models={role: RoleModel(model=models[role], effort=_EFFORT[role]) for role in models})
    return policy.model_copy(update={"same_model_verifier": policy.same_model})
