"""The files of docs/deployment say nothing that the product does not know, and all units are closed alike."""

import re
from configparser import RawConfigParser
from pathlib import Path

import pytest
from django.core.management import load_command_class

from pevsite.environment import FIELDS

FOLDER = Path(__file__).parents[2] / "docs" / "deployment"
FILES = sorted(path for path in FOLDER.iterdir() if path.is_file())
UNITS = sorted(FOLDER.glob("*.service"))
OF_COMPOSE = {"PEV_HOST", "PEV_DATABASE_PASSWORD"}
"""Compose and the proxy put them into addresses; the product never sees them."""


def commands(text: str) -> list[list[str]]:
    """The commands of pevsite that a file starts, each with its arguments."""
    lists = re.findall(r"(?m)^\s*command: \[((?:serve|worker)[^]]*)\]|^CMD \[(.+)\]", text)
    found = [re.findall(r"[^\s,\"]+", one or other) for one, other in lists]
    return found + [line.split() for line in re.findall(r"(?m)^ExecStart=\S+/pevsite (.+)$", text)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_variable_is_a_setting(path: Path) -> None:
    named = set(re.findall(r"\bPEV_[A-Z_]+", path.read_text()))
    assert named - OF_COMPOSE <= set(FIELDS)


def test_every_command_can_be_parsed() -> None:
    started = [(path.name, command) for path in FILES for command in commands(path.read_text())]
    assert {name for name, _ in started} == {"Containerfile", "compose.yaml", *(unit.name for unit in UNITS)}
    for _, [name, *arguments] in started:
        parser = load_command_class("runs", name).create_parser("pevsite", name)
        parser.parse_args([argument.replace("%i", "8000") for argument in arguments])


def test_the_units_differ_in_what_they_start_alone() -> None:
    def service(path: Path) -> dict[str, str]:
        unit = RawConfigParser(strict=False)
        unit.optionxform = str  # type: ignore[assignment,method-assign]  # the names of systemd have capitals
        unit.read(path)
        return {name: value for name, value in unit["Service"].items() if name not in {"ExecStart", "LimitNOFILE"}}

    first, *others = map(service, UNITS)
    assert [other == first for other in others] == [True]


def test_no_comment_can_be_taken_for_a_value() -> None:
    """systemd and compose keep what stands behind an equals sign, comments too."""
    lines = [line for line in (FOLDER / "env.example").read_text().splitlines() if "=" in line and line[0] != "#"]
    assert lines
    assert [line for line in lines if "#" in line] == []
