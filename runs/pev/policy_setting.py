"""What each setting of a policy declares next to its field. Form, command line and presets are made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class SettingGroup(StrEnum):
    """A part of the form of a new run, by its title, in the order of the page."""

    APPROVAL = "Your approval"
    DECISIONS = "Who decides until when"
    LIMITS = "Limits"
    BEYOND = "Beyond your files"
    SUBAGENTS = "Subagents"
    REVIEW = "Review"
    MODELS = "Models"


class Installed(StrEnum):
    """What an installation may have. Without it, the settings about it are not on the form."""

    COMMANDS = "commands"
    WEB = "web"
    SERVICE_TOOLS = "service_tools"
    SERVERS = "servers"
    AGENTS = "agents"
    AGENT_SDK = "agent_sdk"
    GROUPS = "groups"


class _Unset:
    """No value, where None is one."""


UNSET = _Unset()


@dataclass(frozen=True)
class Setting:
    """What people see of a field of the policy, and what depends on it.

    * `option`: what `manage.py run --help` says. Choices, and “on or off” for a truth value, are added to it.
    * `label`, `help`: of the field on the form. A number without help shows its bounds.
    * `group`: None if it is not a field of the policy on the form.
    * `choices`: each value with its words, in the order of the form.
    * `minutes`: the name under which the form has a number of seconds in minutes.
    * `step`: by how much a browser changes a number at a time.
    * `installed`: what the installation must have.
    * `adds`: what the installation has that is offered behind the `choices`.
    * `careful`, `hands_off`: the value in these presets, or a function from the installation's value to it; without
      one it is the installation's.
    * `decides`: whether the same attempt could come out otherwise. Then results are reused under an equal value only.
    * `as_before`: the value under which approvals and results from before the setting existed still hold; usually its
      default. Every new setting needs one.
    """

    option: str
    label: str = ""
    group: SettingGroup | None = None
    help: str = ""
    choices: Mapping[Any, str] = field(default_factory=dict)
    minutes: str = ""
    step: str = ""
    installed: Installed | None = None
    adds: Installed | None = None
    careful: Any = UNSET
    hands_off: Any = UNSET
    decides: bool = False
    as_before: Any = UNSET


def in_preset(rule: Any, value: Any) -> Any:
    """The value of a preset whose `rule` is `careful` or `hands_off`, where the installation has `value`."""
    if rule is UNSET:
        return value
    return rule(value) if callable(rule) else rule
