"""Numbers in forms and addresses, each of them everywhere: a sentence or a 404 at once, and never a fault."""

from __future__ import annotations

import pytest
from django import forms
from django.http import QueryDict
from django.test import Client

from runs.web.new_run.new_run_form import NewRunForm
from runs.web.run.sharing_page import ShareForm
from tests import factories
from tests.hostile.bounds import limited
from tests.hostile.fuzzing.surface import addresses
from tests.hostile.fuzzing.values import NUMBERS

MAX_SECONDS = 0.5
MORE_THAN_A_COLUMN_HOLDS = str(2**63)
MORE_DIGITS_THAN_PYTHON_READS = "9" * 4_301
HUGE = ("9" * 19, MORE_THAN_A_COLUMN_HOLDS, "9" * 40, MORE_DIGITS_THAN_PYTHON_READS)
EVERY = [*NUMBERS, *HUGE, "1E+999999", "0.5e-999999", "1" * 120, "99999999999999999999999999.99"]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _connected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")  # any task can be submitted; no worker runs


def refused(form: forms.Form) -> set[str]:
    """The fields that did not take what was sent, which must not take long."""
    with limited(MAX_SECONDS):
        form.full_clean()
    return set(form.errors)


@pytest.mark.slow
def test_every_field_of_a_new_run_takes_or_refuses_each_number() -> None:
    alice = factories.alice()
    fields = NewRunForm(owner=alice).fields
    numeric = {name for name, field in fields.items() if isinstance(field, forms.IntegerField)} | {"approvers"}
    assert numeric >= {"attempts", "limit_minutes", "budget", "min_confidence"}
    for number in EVERY:
        sent = QueryDict(mutable=True)
        for name in fields:
            sent[name] = number
        found = refused(NewRunForm(sent, owner=alice))
        if number in HUGE or "e99" in number:
            assert numeric <= found


def test_a_person_with_each_number_is_there_or_not() -> None:
    factories.alice()
    for number in HUGE:
        assert "who" in refused(ShareForm({"verb": "share", "who": f"user-{number}"}))


@pytest.mark.slow
@pytest.mark.exhaustive
def test_huge_numbers_in_an_address_are_not_there() -> None:
    run = factories.awaiting_plan()
    client = Client()
    client.force_login(run.owner)
    real = str(run.pk)
    asked, there = 0, []
    for address in addresses():
        kinds = dict(address.parameters)
        if address.is_admin or "int" not in kinds.values():
            continue
        for number in (MORE_THAN_A_COLUMN_HOLDS, MORE_DIGITS_THAN_PYTHON_READS):
            hostile = {name: number if kind == "int" else "x" for name, kind in kinds.items()}
            for arguments in [hostile, hostile | {"run_id": real}] if {"run_id"} < {*kinds} else [hostile]:
                for ask in (client.get, client.post):
                    asked += 1
                    status = ask(address.path(arguments)).status_code
                    if status not in {403, 404, 405}:
                        there.append(f"{status} {address.path(arguments)}")
    assert there == []
    assert asked > 100


@pytest.mark.slow
def test_numbers_in_a_query_are_bounded_or_passed_over() -> None:
    run = factories.awaiting_plan()
    client = Client()
    client.force_login(run.owner)
    names = ("page", "start", "end", "events", "days", "all")
    paths = ("/", "/metrics/", f"/runs/{run.pk}/", f"/runs/{run.pk}/files/contracts/Service agreement.md")
    asked = {
        (path, number[:10]): client.get(path, dict.fromkeys(names, number)).status_code
        for path in paths
        for number in ("1e999990", MORE_THAN_A_COLUMN_HOLDS, MORE_DIGITS_THAN_PYTHON_READS)
    }
    assert {query: status for query, status in asked.items() if status != 200} == {}
