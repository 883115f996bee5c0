"""The policy that a new run starts from: the models of the service that answers, and the settings' defaults."""

import os
from collections.abc import Callable, Mapping
from typing import Literal

from django.conf import settings
from pydantic import ValidationError

from runs.enums import Role
from runs.errors import InvalidInput
from runs.llm.model_servers import Service, service
from runs.pev.policy import SETTINGS, Policy, RoleModel

_EFFORT: dict[Role, Literal["low", "medium", "high"]] = {
    Role.PLANNER: "high",
    Role.EXECUTOR: "medium",
    Role.VERIFIER: "low",
}
_OF_ROLES = {f"{role}_{part}": (role, part) for role in _EFFORT for part in RoleModel.model_fields}
SETTABLE = (*SETTINGS, *_OF_ROLES)
_MAY_BE_NONE = frozenset(name for name in SETTINGS if Policy.model_fields[name].default is None)


def current_service() -> Service:
    """Who answers new runs, by the environment of this process."""
    return service(os.environ)


def default_policy() -> Policy:
    """What the form, the command line and templates start from. Raises InvalidInput for a wrong `PEV_POLICY`."""
    models = current_service().models
    policy = Policy(models={role: RoleModel(model=models[role], effort=_EFFORT[role]) for role in models})
    policy = policy.model_copy(update={"same_model_verifier": policy.same_model})
    return with_texts(policy, settings.POLICY, lambda name: f"“{name}” in PEV_POLICY")


def is_set_up() -> bool:
    """Whether this installation has a policy of its own."""
    return bool(settings.POLICY)


def with_texts(policy: Policy, texts: Mapping[str, str], called: Callable[[str], str]) -> Policy:
    """The policy with values as someone wrote them, by field; of a role as `planner_model` and `planner_effort`.

    Raises InvalidInput for what cannot be used; `called` says what a person knows a field as.
    """
    unknown = next((name for name in texts if name not in SETTABLE), None)
    if unknown is not None:
        raise InvalidInput(f"{called(unknown[:40])} is no field of a policy. There are: {', '.join(SETTABLE)}.")
    models = {role: player.model_dump() for role, player in policy.models.items()}
    values: dict[str, object] = {}
    for name, text in texts.items():
        if name in _OF_ROLES:
            role, part = _OF_ROLES[name]
            models[role][part] = text.strip()
        else:
            values[name] = None if name in _MAY_BE_NONE and text.strip().lower() == "none" else text.strip()
    try:
        return policy.changed(models=models, **values)
    except ValidationError as error:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"]]
        name = "_".join(place[1:3]) if place[:1] == ["models"] else "".join(place[:1])
        message = f"{called(name)} cannot be used: {first['msg']}. Correct it, or leave it out."
        raise InvalidInput(message) from error
