"""The graph of a run's steps: a drawing of links, in which a live update only sets an attribute."""

import json
import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from django.test import Client

from runs.models import Run, Step
from runs.web.live.news import news
from tests import factories

pytestmark = pytest.mark.django_db
NODE = re.compile(r'<a class="node" href="(.*?)" data-step="(\d+)" data-status="(\w+)">')


def graph_of(client: Client, run_id: int) -> str:
    page = client.get(f"/runs/{run_id}/").text
    found = re.search(r'<div class="graph" data-graph>.*?</div>', page, re.DOTALL)
    assert found
    return found[0]


def test_each_step_is_a_link_with_its_state_in_both_drawings(alice_client: Client) -> None:
    run = factories.failed_attempt()
    graph = graph_of(alice_client, run.pk)
    steps = Step.objects.filter(plan__run=run).order_by("position")
    expected = [(f"/runs/{run.pk}/steps/{step.pk}/", str(step.pk), step.status) for step in steps]
    assert [one[2] for one in expected] == ["passed", "running", "pending"]
    for drawing in re.findall(r"<svg.*?</svg>", graph, re.DOTALL):
        assert NODE.findall(drawing) == expected
    assert re.findall(r'data-shape="(\w+)"', graph) == ["wide", "narrow"]


@pytest.mark.parametrize("make", [factories.question_gate, factories.budget_gate])
def test_a_step_whose_work_waits_for_an_answer_is_marked_in_every_view(
    make: Callable[[], Run], alice_client: Client
) -> None:
    run = make()
    asking = Step.objects.get(plan__run=run, status="running")
    shown = rf'data-step="{asking.pk}"\s+data-status="(\w+)"'
    pages = ("", "?view=timeline", "?view=table", "steps/", f"steps/{asking.pk}/")
    marks = {page: {*re.findall(shown, alice_client.get(f"/runs/{run.pk}/{page}").text)} for page in pages}
    assert marks == {page: {"waiting"} for page in pages}
    told = json.loads(news(run, "overview", 0, {}).text)
    assert told["steps"][str(asking.pk)] == "waiting"


def test_lines_name_the_steps_that_they_link(alice_client: Client) -> None:
    run = factories.failed_attempt()
    ids = list(Step.objects.filter(plan__run=run).order_by("position").values_list("pk", flat=True))
    lines = re.findall(r'<path data-from="(\d+)" data-to="(\d+)"', graph_of(alice_client, run.pk))
    assert lines == [(str(one), str(other)) for one, other in pairwise(ids)] * 2


def test_what_a_step_comes_after_is_said_in_words_up_to_a_bound(alice_client: Client) -> None:
    steps = [factories.plan_step(f"s{n}", f"Part {n}") for n in range(1, 8)]
    last = factories.plan_step("last", "Sum", dependencies=[step.step_id for step in steps])
    graph = graph_of(alice_client, factories.executing(factories.plan(*steps, last)).pk)
    assert graph.count(", after Part 1, Part 2, Part 3, Part 4, Part 5 and 2 more<") == 2


def test_no_style_no_script_and_names_are_escaped(alice_client: Client) -> None:
    plan = factories.plan(factories.plan_step("x", "<script>alert(1)</script>"))
    graph = graph_of(alice_client, factories.executing(plan).pk)
    assert "style=" not in graph
    assert "<script" not in graph


@pytest.mark.slow
def test_forty_steps_take_some_kilobytes(alice_client: Client) -> None:
    graph = graph_of(alice_client, factories.many_steps(40).pk)
    assert len(NODE.findall(graph)) == 80
    assert len(graph) < 75_000
