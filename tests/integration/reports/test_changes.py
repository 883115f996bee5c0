"""What a version of the plan changed, as the report tells it."""

import pytest

from runs.documents.printing.blocks import Items, plain
from runs.enums import GateKind, Verb
from runs.models import Plan, Run
from runs.readmodel.run_view import reading_of
from runs.reports.protocol import MAX_CHANGES, changes_account
from tests import factories
from tests.reporting import as_markdown

pytestmark = pytest.mark.django_db


def second(run: Run) -> Plan:
    return Plan.objects.get(run=run, version=2)


def test_an_edit_is_told_with_its_author_and_what_asks_for_less() -> None:
    run = factories.awaiting_plan()
    factories.decide(run, GateKind.PLAN, Verb.REJECT, "Leave the notices to me.")
    step = factories.review_step()
    fewer = step.model_copy(update={"acceptance_criteria": step.acceptance_criteria[:1]})
    factories.propose(run, factories.plan(factories.inventory_step(), fewer, factories.notices_step()), "edited")
    Plan.objects.filter(pk=second(run).pk).update(author=factories.alice())
    text = as_markdown(Run.objects.get(pk=run.pk))
    told = text.split("Compared with version 1")[1].split("## ")[0]
    assert told.startswith(
        ", edited by alice: 1 step changed, after request R1.\n\n- Step 2 **Review the clauses**: changed"
    )
    lines = [
        f"Criterion {number} removed, asks for less: “{one.text}”"
        for number, one in enumerate(step.acceptance_criteria[1:], 2)
    ]
    assert [line for line in lines if line in told] == lines


def test_a_long_account_is_cut() -> None:
    first, other = ([factories.plan_step(f"{key}{n}", f"{key} {n}") for n in range(30)] for key in ("a", "b"))
    run = factories.awaiting_plan(factories.plan(*first), max_steps=100)
    factories.decide(run, GateKind.PLAN, Verb.REJECT, "Others.")
    factories.propose(run, factories.plan(*other), "others")
    _, items = changes_account(reading_of(Run.objects.get(pk=run.pk)).plans[1])
    assert isinstance(items, Items)
    assert len(items.rows) == MAX_CHANGES + 1
    assert plain(items.rows[-1][0].spans) == "and 20 more, which are in the JSON report"  # type: ignore[union-attr]


def test_the_first_version_has_changed_nothing() -> None:
    assert changes_account(reading_of(factories.awaiting_plan()).plans[0]) == ()
