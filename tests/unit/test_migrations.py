"""During a rolling upgrade the older version works on the newer tables: migrations add, or the changelog says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

RELEASE_1_0 = 1
"""The number of the migration that makes the tables of 1.0: every later one has to be additive."""
_ADDING = (migrations.CreateModel, migrations.AddIndex, migrations.RemoveIndex, migrations.RemoveConstraint)
_FREE = {"blank", "choices", "help_text", "verbose_name", "validators", "default", "error_messages", "db_default"}
"""Arguments of a field that change no column, or that no writer notices."""
_READ = {
    "0009_audit_trail": "makes triggers on its own tables",
    "0015_gate_high_risk": "fills its own column",
}
"""Migrations whose Python was read by a person, and why it is additive."""
_WIDER = {("django.db.models.PositiveSmallIntegerField", "django.db.models.PositiveIntegerField")}
"""Pairs of fields: the first holds no value that the second does not hold."""


type Checks = Mapping[str, models.BaseConstraint]


def is_additive(operation: Operation, before: ProjectState, checks: Checks = MappingProxyType({})) -> bool:
    """Whether code that does not know of this goes on reading and writing the tables. `checks`: the constraints before
    the migration, by name.
    """
    match operation:
        case migrations.AddField(field=field):
            return bool(field.null or field.has_db_default() or field.many_to_many)  # `default` is Django's alone
        case migrations.AlterField(model_name=model, name=name, field=field):
            return _is_wider(before.models["runs", model.lower()].fields[name], field)
        case migrations.AlterModelOptions():
            return True
        case migrations.AddConstraint(constraint=models.CheckConstraint() as constraint):
            return _allows_more(checks.get(constraint.name), constraint)
        case _:
            return isinstance(operation, _ADDING)


def _is_wider(old: models.Field, new: models.Field) -> bool:  # type: ignore[type-arg]
    (_, was, _, had), (_, is_, _, has) = old.deconstruct(), new.deconstruct()
    changed = {name for name in had.keys() | has.keys() if had.get(name) != has.get(name)} - _FREE
    if "max_length" in changed and (has.get("max_length") or 10**9) >= (had.get("max_length") or 10**9):
        changed.remove("max_length")
    if "null" in changed and has.get("null"):
        changed.remove("null")
    return (was == is_ or (was, is_) in _WIDER) and not changed


def _allows_more(old: models.BaseConstraint | None, new: models.CheckConstraint) -> bool:
    """Whether a check replaces one that allowed fewer values of the same column, such as fewer kinds of gates, or fewer
    alternatives.
    """
    conditions = [one.condition for one in (old, new) if isinstance(one, models.CheckConstraint)]
    parts = [one for one in conditions if isinstance(one, models.Q)]
    match [tuple(one.children) for one in parts]:
        case [((str() as was, had),), ((str() as column, has),)]:
            return was == column and column.endswith("__in") and set(had) < set(has)
        case [old_parts, new_parts] if [one.connector for one in parts] == [models.Q.OR, models.Q.OR]:
            return all(part in new_parts for part in old_parts)
        case _:
            return False


def constraints_in(state: ProjectState) -> Checks:
    return {one.name: one for model in state.models.values() for one in model.options.get("constraints", [])}


def later_migrations() -> Iterator[tuple[str, migrations.Migration, ProjectState]]:
    """Each migration since 1.0, with the state of the tables before it."""
    loader = MigrationLoader(None)
    for (app, name), migration in sorted(loader.disk_migrations.items()):
        if app == "runs" and int(name[:4]) > RELEASE_1_0:
            yield name, migration, loader.project_state(("runs", name), at_end=False)


def test_migrations_are_additive_or_say_in_the_changelog_that_they_are_not() -> None:
    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
    refused = []
    for name, migration, state in later_migrations():
        declared = getattr(import_module(f"runs.migrations.{name}"), "NOT_ADDITIVE", "")
        checks = constraints_in(state)
        made = {
            operation.name_lower for operation in migration.operations if isinstance(operation, migrations.CreateModel)
        }
        for operation in migration.operations:
            unknown = isinstance(operation, migrations.AddConstraint) and operation.model_name_lower in made
            read = isinstance(operation, migrations.RunPython) and name in _READ
            additive = unknown or read or is_additive(operation, state, checks)
            if not additive and not (declared and declared in changelog):
                refused.append(f"{name}: {operation.describe()}")
            operation.state_forwards("runs", state)
    assert refused == [], "docs/operating.md, “Upgrades”, says what to do"


RUN = ProjectState()
_TITLE = ("title", models.CharField(max_length=20))
_SIZE = ("size", models.PositiveSmallIntegerField())
migrations.CreateModel("Run", [("id", models.BigAutoField(primary_key=True)), _TITLE, _SIZE]).state_forwards(
    "runs", RUN
)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (migrations.CreateModel("Other", []), True),
        (migrations.AddField("run", "a", models.TextField(null=True)), True),
        (migrations.AddField("run", "a", models.TextField(db_default="")), True),
        (migrations.AddField("run", "a", models.TextField(default="")), False),  # old code inserts without it: refused
        (migrations.AlterField("run", "title", models.CharField(max_length=30, blank=True)), True),
        (migrations.AlterField("run", "title", models.CharField(max_length=20, null=True)), True),
        (migrations.AlterField("run", "title", models.CharField(max_length=10)), False),
        (migrations.AlterField("run", "title", models.CharField(max_length=20, unique=True)), False),
        (migrations.AlterField("run", "title", models.IntegerField()), False),
        (migrations.AlterField("run", "size", models.PositiveIntegerField()), True),
        (migrations.AlterField("run", "size", models.SmallIntegerField()), False),
        (migrations.RemoveField("run", "title"), False),
        (migrations.RenameField("run", "title", "name"), False),
        (migrations.RenameModel("run", "task"), False),
        (migrations.DeleteModel("run"), False),
        (migrations.RunPython(migrations.RunPython.noop), False),
        (migrations.AddConstraint("run", models.UniqueConstraint(fields=["title"], name="one")), False),
    ],
)
def test_what_counts_as_additive(operation: Operation, expected: bool) -> None:
    assert is_additive(operation, RUN) == expected


@pytest.mark.parametrize(
    ("values", "expected"), [(["plan", "step", "answer"], True), (["plan"], False), (["plan", "other"], False)]
)
def test_a_check_that_allows_more_values_is_additive(values: list[str], expected: bool) -> None:
    def check(values: list[str]) -> models.CheckConstraint:
        return models.CheckConstraint(condition=models.Q(kind__in=values), name="kind_known")

    added = migrations.AddConstraint("run", check(values))
    assert is_additive(added, RUN, {"kind_known": check(["plan", "step"])}) is expected
    assert not is_additive(added, RUN)
