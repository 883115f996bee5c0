"""The job that looks something up and calculates with it, from the template that ships: by us, or by the service."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from runs.enums import Provenance
from runs.errors import InvalidInput
from runs.models import Step, ToolCall, User
from runs.submission.policy_presets import default_policy
from runs.submission.run_templates import chosen
from runs.submission.submit import Submission, submit
from tests.fakes.anthropic_answers import ToolUse
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_serving import found, results, said, use
from tests.integration.engine.test_fetching import Web, web
from tests.integration.test_example_jobs import job
from tests.integration.test_honest_runs import Proof, Work, must_succeed, rests_on

__all__ = ["web"]
pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2"])]
SINGAPORE = "<!doctype html><h1>Facts</h1><p>The city has 5,450,000 inhabitants on 720.2 square kilometres.</p>"


def proofs_of(passage: str, shown: str) -> dict[str, Proof]:
    return {
        "": ("@tool-1", passage, None),
        "The result in lookup/answer.md is what calculate comes to with figures that were looked up": (
            "@tool-2",
            shown,
            None,
        ),
        "The final answer states the figure with its unit, the calculation and the sources": ("@output", shown, None),
    }


@pytest.mark.slow
def test_a_density_is_looked_up_and_calculated(
    api: FakeAnthropic, alice: User, client: Client, settings: Any, web: Web
) -> None:
    settings.WEB = "*"
    address = web.put("/facts", SINGAPORE, "text/html")
    passage = "The city has 5,450,000 inhabitants on 720.2 square kilometres."
    facts = f"# Facts\n\n- Inhabitants: 5,450,000, and area: 720.2 km²: “{passage}” ({address})\n"
    shown = "5,450,000 / 720.2 = 7,567.3"
    found = (
        f"## Sources\n\n{address}\n\n## Calculation\n\n{shown} inhabitants per km²\n\n"
        "## Answer\n\nThe density is 7,567.3 per km².\n"
    )
    fetch = ToolUse("fetch_page", {"address": address})
    compute = ToolUse("calculate", {"expression": "5450000 / 720.2", "decimals": 1})
    work = {
        "look-up": Work((), {"lookup/facts.md": facts}, "Two figures.", [fetch]),
        "calculate": Work(["lookup/facts.md"], {"lookup/answer.md": found}, "7,567.3 per km².", [fetch, compute]),
    }
    proofs = proofs_of(passage, shown)
    answer = f"7,567.3 inhabitants per km²: {shown} (pages.example)."
    run = job(api, alice, "look-up", {}, work, proofs, answer, web="pages.example", min_document_bytes=50)
    must_succeed(run, client, "lookup/answer.md")
    assert Provenance.OBSERVED in rests_on(run)


@pytest.mark.slow
def test_a_density_is_looked_up_by_the_service_of_the_model(
    api: FakeAnthropic, alice: User, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same template, for a run whose policy has the service search."""
    monkeypatch.setenv("http_proxy", api.url)  # the fake stands in for Anthropic's own service
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://api.anthropic.com")
    settings.WEB = "*"
    settings.SERVICE_TOOLS = frozenset({"web_search"})
    address = "https://statistics.example/facts"
    passage = "The city has 5,450,000 inhabitants on 720.2 square kilometres."
    searched = (
        use("srvtoolu_1", "web_search", query="inhabitants and area of the city"),
        results("srvtoolu_1", found(address, "Facts", "May 2026")),
        said("It has been counted.", (address, passage)),
    )
    facts = f"# Facts\n\n- Inhabitants: 5,450,000, and area: 720.2 km²: “{passage}” ({address})\n"
    shown = "5,450,000 / 720.2 = 7,567.3"
    answered = (
        f"## Sources\n\n{address}\n\n## Calculation\n\n{shown} inhabitants per km²\n\n"
        "## Answer\n\nThe density is 7,567.3 per km².\n"
    )
    compute = ToolUse("calculate", {"expression": "5450000 / 720.2", "decimals": 1})
    work = {
        "look-up": Work((), {"lookup/facts.md": facts}, "Two figures.", served=searched),
        "calculate": Work(
            ["lookup/facts.md"], {"lookup/answer.md": answered}, "7,567.3 per km².", [compute], served=searched
        ),
    }
    proofs = proofs_of(passage, shown)
    answer = f"7,567.3 inhabitants per km²: {shown} (statistics.example)."
    policy = {"web": "statistics.example", "service_tools": ("web_search",), "min_document_bytes": 50}
    run = job(api, alice, "look-up", {}, work, proofs, answer, **policy)
    must_succeed(run, client, "lookup/answer.md")
    assert Provenance.OBSERVED in rests_on(run)
    names = {call.name for call in ToolCall.objects.filter(run=run)}
    assert names == {"calculate", "read_file", "web_search", "write_file"}
    assert all("web_search" in step.spec.tools for step in Step.objects.filter(plan__run=run))


def test_without_the_web_it_says_what_it_needs(api: FakeAnthropic, alice: User) -> None:
    with pytest.raises(InvalidInput) as refused:
        job(api, alice, "look-up", {}, {}, {}, "")
    assert (
        "names the tool “fetch_page”, which this run does not have: it needs sites that its policy names and the "
        "installation allows (PEV_WEB). Or web_search: it needs a model on Anthropic's own service, PEV_SERVICE_TOOLS"
    ) in str(refused.value)


@pytest.mark.usefixtures("no_model")
def test_without_a_model_it_says_which_tools_serve(alice: User) -> None:
    plan = chosen(alice, "look-up").plan
    with pytest.raises(InvalidInput) as refused:
        submit(alice, Submission("Look it up", [], default_policy(), uuid.uuid4(), plan=plan, no_files=True))
    sentence = "This plan needs a model that looks things up on the web, with fetch_page or web_search; without a model"
    assert str(refused.value).startswith(sentence)
