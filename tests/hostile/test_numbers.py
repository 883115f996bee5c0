"""Numbers in forms and addresses, each of them everywhere: a sentence or a 404 at once, and never a fault."""

from __future__ import annotations

import time

import pytest
from django import forms
from django.http import QueryDict
from django.test import Client

from runs.web.forms.new_run import NewRunForm
from runs.web.forms.people import ApproverForm
from tests import factories
from tests.hostile.fuzzing.surface import Address, addresses
from tests.hostile.fuzzing.values import NUMBERS

MAX_SECONDS = 0.5
HUGE = ("9" * 19, str(2**63), "9" * 40, "9" * 4_301)
EVERY = [*NUMBERS, *HUGE, "1E+999999", "0.5e-999999", "1" * 120, "99999999999999999999999999.99"]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _connected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")  # any task can be submitted; no worker runs


def refused(form: forms.Form) -> set[str]:
    """The fields that did not take what was sent, which must not take long."""
    began = time.thread_time()
    form.full_clean()
    assert time.thread_time() - began < MAX_SECONDS
    return set(form.errors)


@pytest.mark.slow
def test_every_field_of_a_new_run_takes_or_refuses_each_number() -> None:
    alice = factories.alice()
    fields = NewRunForm(owner=alice).fields
    numeric = {
        "attempts",
        "replans",
        "parallel",
        "rounds",
        "revisions",
        "questions",
        "attempt_minutes",
        "limit_minutes",
    }
    numeric |= {"max_steps", "min_document_bytes"}
    numeric |= {"budget", "min_confidence", "min_verifier_confidence", "approvers"}
    assert {name for name, field in fields.items() if isinstance(field, forms.IntegerField)} <= numeric
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
        assert "person" in refused(ApproverForm({"verb": "add", "person": number}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "address",
    [one for one in addresses() if not one.is_admin and any(kind == "int" for _, kind in one.parameters)],
    ids=lambda one: one.route,
)
def test_huge_numbers_in_an_address_are_not_there(address: Address) -> None:
    run = factories.awaiting_plan()
    client = Client()
    client.force_login(run.owner)
    real = {"run_id": str(run.pk)}
    for number in HUGE:
        for known in ({}, real):
            arguments = {name: known.get(name, number if kind == "int" else "x") for name, kind in address.parameters}
            if arguments.get("run_id") == str(run.pk) and len(address.parameters) == 1:
                continue
            for ask in (client.get, client.post):
                assert ask(address.path(arguments)).status_code in {403, 404, 405}


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/", "/metrics/", "/runs/{}/", "/runs/{}/files/contracts/Service agreement.md"])
def test_numbers_in_a_query_are_bounded_or_passed_over(path: str) -> None:
    run = factories.awaiting_plan()
    client = Client()
    client.force_login(run.owner)
    for number in ("1e999990", *HUGE):
        names = ("page", "start", "end", "events", "days", "all")
        assert client.get(path.format(run.pk), dict.fromkeys(names, number)).status_code == 200
