"""The options of `manage.py run` for the policy: one for each field that a person may set, under the field's name."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from runs.enums import Role
from runs.pev.policy import SETTINGS, Policy


def _help(name: str) -> str:
    """What the setting declares, with the values that it may have."""
    setting = SETTINGS[name]
    if Policy.model_fields[name].annotation is bool:
        return f"on or off: {setting.option}"
    return f"{setting.option}: {', '.join(map(str, setting.choices))}" if setting.choices else setting.option


_ROLE_OPTIONS = {"model": "the {role}'s model", "effort": "how hard the {role}'s model thinks: low, medium, high"}
_ROLES = (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)
POLICY_OPTIONS: Mapping[str, str] = {
    **{name: _help(name) for name in SETTINGS},
    **{f"{role}_{part}": words.format(role=role) for role in _ROLES for part, words in _ROLE_OPTIONS.items()},
}


def option(name: str) -> str:
    """The option of a field, such as `--plan-approval`."""
    return f"--{name.replace('_', '-')}"


def add_policy_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("policy", "What is not given is as this installation sets it (PEV_POLICY).")
    group.add_argument(
        "--preset",
        default="balanced",
        help="what the policy starts from: careful, balanced (as this installation sets it), hands-off",
    )
    for name, text in POLICY_OPTIONS.items():
        group.add_argument(option(name), dest=name, help=text)
    group.add_argument(
        "--no-sources",
        action="store_const",
        const="off",
        dest="sources_needed",
        help="for creative work; criteria of an imported plan that do not say what they are about are about the output",
    )


def given_texts(options: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the options that were given, by the name of the field."""
    return {name: options[name] for name in POLICY_OPTIONS if options[name] is not None}
