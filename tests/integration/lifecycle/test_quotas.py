"""Quotas: what is left, shown before a submission, and refused beyond it, for people and for groups."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from pevsite.setting_values import quotas as parsed
from runs.enums import Verb
from runs.errors import InvalidInput
from runs.lifecycle import sharing
from runs.lifecycle.deletion import delete
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.quotas import left_for, quotas_left
from runs.models import ModelCall, Run
from runs.submission.intake import Upload
from runs.submission.policy_presets import default_policy
from runs.submission.samples import submission_of
from runs.submission.submit import Submission, submit
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def test_without_quotas_nothing_is_limited() -> None:
    assert quotas_left(made.alice()) == []
    assert left_for(made.alice()).runs is None


def test_runs_at_once_are_limited_and_those_that_ended_do_not_count(settings: Any) -> None:
    settings.QUOTAS = parsed("everyone runs=2")
    made.finished_succeeded()
    made.submitted()
    assert left_for(made.alice()).runs == 1
    made.submitted()
    with pytest.raises(InvalidInput, match="There is no room for another run in your quota"):
        made.submitted()
    assert Run.objects.filter(owner=made.alice()).count() == 3
    made.submitted(owner=made.bob(), approvers=[made.alice()])  # bob has a quota of his own


def test_files_beyond_the_storage_are_refused_until_a_run_is_deleted(settings: Any) -> None:
    run = made.finished_succeeded()
    size = Run.objects.get(pk=run.pk).head.total_size
    settings.QUOTAS = parsed(f"everyone gigabytes={Decimal(size + 10) / 10**9:f}")
    assert left_for(made.alice()).bytes == 10
    with pytest.raises(InvalidInput, match=r"are left in your quota\. Delete runs"):
        made.submitted()
    delete(run.pk, made.alice())
    made.submitted()


def test_money_counts_what_is_spent_reserved_and_what_deleted_runs_have_cost(settings: Any) -> None:
    run = made.finished_succeeded()
    ModelCall.objects.filter(run=run).update(cost_usd=0)
    first = ModelCall.objects.filter(run=run).order_by("pk").values_list("pk", flat=True)[0]
    ModelCall.objects.filter(pk=first).update(cost_usd=Decimal("2.00"))
    settings.QUOTAS = parsed("everyone usd=10")
    assert left_for(made.alice()).usd == Decimal(8)
    delete(run.pk, made.alice())
    assert left_for(made.alice()).usd == Decimal(8)
    with pytest.raises(InvalidInput, match=r"Your quota limits what a month may cost, so the run needs a budget\. "):
        made.submitted()
    with pytest.raises(InvalidInput, match=r"more than is left in your quota\. Give it \$8\.00 at most"):
        made.submitted(budget=Decimal("8.01"))
    made.submitted(budget=Decimal(6))
    assert left_for(made.alice()).usd == Decimal(2)


def test_a_month_is_that_of_the_installation_not_of_the_person(settings: Any) -> None:
    run = made.finished_succeeded()
    settings.QUOTAS = parsed("everyone usd=10")
    first = ModelCall.objects.filter(run=run).order_by("pk").values_list("pk", flat=True)[0]
    ModelCall.objects.filter(run=run).exclude(pk=first).update(cost_usd=0)
    usual = timezone.get_default_timezone()
    begin = timezone.localtime(timezone=usual).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    ModelCall.objects.filter(pk=first).update(cost_usd=2, created_at=begin)
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        with timezone.override(zone):
            assert left_for(made.alice()).usd == Decimal(8)


def test_offline_rules_cost_nothing_and_need_no_budget(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.QUOTAS = parsed("everyone usd=0")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert default_policy().by_rules
    submit(made.alice(), submission_of(made.alice(), "contracts", uuid.uuid4()))
    assert Run.objects.count() == 1


def test_a_budget_is_not_raised_beyond_what_is_left(settings: Any) -> None:
    run = made.budget_gate()
    gate = made.open_gate(run)
    budget = Run.objects.get(pk=run.pk).policy.budget
    assert budget is not None
    settings.QUOTAS = parsed(f"everyone usd={budget + 1}")
    left = left_for(made.alice()).usd
    assert left is not None
    too_much = Decision(Verb.APPROVE, gate.digest, budget=budget + left + Decimal("0.01"))
    with pytest.raises(InvalidInput, match="are left in your quota: the budget can be"):
        decide(gate.pk, made.alice(), too_much)
    decide(gate.pk, made.alice(), Decision(Verb.APPROVE, gate.digest, budget=budget + left))


def test_the_members_of_a_group_share_its_quota_and_a_line_of_ones_own_replaces_that_for_everyone(
    settings: Any,
) -> None:
    settings.QUOTAS = parsed("everyone runs=0; person alice runs=9; person bob runs=9; group Legal team runs=1")
    legal = Group.objects.create(name="Legal team")
    for member in (made.alice(), made.bob()):
        member.groups.add(legal)
    made.submitted()
    with pytest.raises(InvalidInput, match="no room for another run in the quota of the group Legal team"):
        made.submitted(owner=made.bob(), approvers=[made.alice()])
    with pytest.raises(InvalidInput, match="no room for another run in your quota"):
        made.submitted(owner=made.charlie())


def test_what_is_left_stands_on_the_form(alice_page: str) -> None:
    assert "Left of your quota: 3 more runs at the same time; 1.50 GB for files; $20.00 this month" in alice_page


@pytest.fixture
def alice_page(client: Client, settings: Any) -> str:
    settings.QUOTAS = parsed("everyone runs=3 gigabytes=1.5 usd=20")
    client.force_login(made.alice())
    return " ".join(client.get("/runs/new/").text.split())


@pytest.mark.django_db(transaction=True)
def test_of_eight_submissions_at_once_as_many_succeed_as_there_is_room_for(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.QUOTAS = parsed("everyone runs=3")
    begin = sharing.begin

    def begin_slowly(*given: Any) -> None:
        time.sleep(0.2)  # between the check and the commit, so that without a lock all would find room
        begin(*given)

    monkeypatch.setattr(sharing, "begin", begin_slowly)
    alice = made.alice()
    policy = made.policy()
    together = Barrier(8, timeout=60)

    def submit_one(number: int) -> bool:
        file = Upload(f"{number}.txt", ContentFile(b"%d" % number))  # equal files would make them wait for each other
        try:
            together.wait()
            submit(alice, Submission("Read the file.", [file], policy, uuid.uuid4()))
        except InvalidInput:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(submit_one, range(8))) == [False] * 5 + [True] * 3


@pytest.mark.parametrize(
    "text", ["runs=3", "everyone runs", "everyone runs=x", "person runs=1", "everyone runs=-1", "group a b"]
)
def test_what_cannot_be_read_is_refused_or_sets_nothing(text: str) -> None:
    if text == "group a b":
        assert parsed(text).groups["a b"].runs is None
        return
    with pytest.raises(ValueError, match="cannot be read"):
        parsed(text)
