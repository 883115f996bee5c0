"""Every module that declares a kind of check is found, and declares all that others ask for."""

from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

import runs.pev.checks
from runs.contracts.base import schema_for
from runs.pev.checks.base import Check, labels_of
from runs.pev.checks.registry import KINDS, AnyCheck
from runs.pev.contracts import PlanContract
from runs.web.plan_editor.plan_forms import CHECK_FORMS, CriterionForm

HELPERS = {"__init__", "base", "deciding", "material", "passages", "registry", "tables"}


def test_each_module_is_a_kind_of_its_name() -> None:
    modules = {path.stem for path in Path(runs.pev.checks.__path__[0]).glob("*.py")}
    assert modules - HELPERS == set(KINDS)
    assert [kind.__module__ for kind in KINDS.values()] == [f"runs.pev.checks.{name}" for name in KINDS]


def test_kinds_have_places_of_their_own() -> None:
    assert len({kind.order for kind in KINDS.values()}) == len(KINDS)
    offered = [name for name, _ in CriterionForm.base_fields["kind"].choices]  # type: ignore[attr-defined]
    assert offered[1:] == list(KINDS) == list(CHECK_FORMS)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kind_declares_all_that_others_ask_for(kind: type[Check]) -> None:
    assert kind.title
    assert kind.order
    assert kind.seconds
    form = CHECK_FORMS[kind.name()]
    assert set(labels_of(kind)) == set(form.base_fields)
    assert set(kind.model_fields) - set(labels_of(kind)) == {"kind", *form.lists}
    for name, formset in form.lists.items():
        (row,) = get_args(kind.model_fields[name].annotation)
        assert set(labels_of(row)) == set(row.model_fields) == set(formset.form.base_fields)
    assert set(kind.stricter) <= set(kind.model_fields)
    assert not kind.__abstractmethods__


def test_planners_are_told_of_every_kind() -> None:
    definitions = schema_for(PlanContract)["$defs"]
    assert isinstance(definitions, dict)
    assert {kind.__name__ for kind in KINDS.values()} <= set(definitions)


def test_a_kind_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValidationError, match="union_tag_invalid"):
        TypeAdapter(AnyCheck).validate_python({"kind": "none", "path": "a.md"})
