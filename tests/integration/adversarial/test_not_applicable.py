"""Steps that say that they do not apply: settled where the server found nothing either, and otherwise judged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome, Provenance, StepStatus
from runs.models import Attempt, Run, Step, User
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.fakes.adversaries.executors import write
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, labels_of, plan, report, step, step_of, told, verdict
from tests.integration.adversarial.holding import must_hold, must_tell, page, play, words
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
FLOWS = ToolUse("glob", {"pattern": "*.n8n.json"})
NONE = "There is no n8n workflow in this project."
PLAN = plan(step("one"), step("flows"), step("two", "flows"))
FILES = {"readme.md": b"The project.\n", "src/app.py": b"print('hello')\n"}


def giving_up(*uses: ToolUse, findings: str = NONE) -> Player:
    """Says of `flows` that it does not apply, after these calls."""

    def play(request: Request, right: Answer) -> Answer:
        if step_of(request)["step_id"] != "flows":
            return right
        if uses and not request.tool_results:
            return UseTools(*uses)
        return Say(json.dumps(report(findings, status="not_applicable")))

    return play


def proving(source: str, quote: str) -> Player:
    def play(request: Request, right: Answer) -> Answer:
        labels = labels_of(request)
        return Say(json.dumps(verdict(labels, source, quote))) if labels == ["N1"] else right

    return play


FOUND_NOTHING = proving("@tool-1", "No path of 2 files matches “*.n8n.json”.")


def statuses(run: Run) -> dict[str, str]:
    return dict(Step.objects.filter(plan__run=run).values_list("key", "status"))


def test_it_is_settled_and_others_go_on(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    team = Team(plan=PLAN, executor=giving_up(FLOWS), verifier=FOUND_NOTHING)
    run = play(api, submitted, team, FILES)
    must_hold(run, client, Outcome.SUCCEEDED, NONE)
    assert statuses(run) == {"one": "passed", "flows": "not_applicable", "two": "passed"}
    (result,) = Attempt.objects.get(step__plan__run=run, step__key="flows").verdict.results
    assert (result.label, [one.provenance for one in result.evidence]) == (
        "N1",
        [Provenance.OBSERVED, Provenance.GIVEN],
    )
    told = list(run.events.filter(kind="step_not_applicable").values_list("data", flat=True))
    assert [data["step"] for data in told] == ["flows"]
    page = client.get(f"/runs/{run.pk}/steps/{Step.objects.get(plan__run=run, key='flows').pk}/").text
    assert ("Differs from what was planned" in page, ">does not apply</span>" in page) == (False, True)
    report: Any = as_json(run)
    [said] = report["does_not_apply"]
    assert said.startswith("Do flows. ")
    assert report["answer"].startswith(f"Does not apply:\n\n- {said}\n\n---\n\n")
    for address in ("", "steps/", "history/", "report/"):
        assert "does not apply" in client.get(f"/runs/{run.pk}/{address}").text.lower(), address


@pytest.mark.parametrize(
    ("uses", "files", "verifier", "reason"),
    [
        pytest.param([FLOWS], FILES, proving("@output", NONE), "what this run wrote itself", id="own words"),
        pytest.param(
            [FLOWS],
            FILES,
            proving("@tool-1", "*.n8n.json"),
            "is what the executor itself put into",
            id="what it looked for",
        ),
        pytest.param(
            [ToolUse("search_files", {"pattern": "n8n", "prefix": "notes/"})],
            FILES | {"flows/a.n8n.json": b'{"n8n": 1}\n'},
            proving("@tool-1", "No path of 3 files matches “*.n8n.json”."),
            "@tool-1",
            id="another result",
        ),
        pytest.param(
            [FLOWS, write("flows.md", "nothing\n")], FILES, FOUND_NOTHING, "yet it wrote flows.md", id="it wrote"
        ),
    ],
)
def test_it_is_no_way_out(
    api: FakeAnthropic,
    submitted: Submit,
    client: Client,
    uses: list[ToolUse],
    files: dict[str, bytes],
    verifier: Player,
    reason: str,
) -> None:
    team = Team(plan=PLAN, executor=giving_up(*uses), verifier=verifier)
    run = play(api, submitted, team, files)
    must_hold(run, client, Outcome.FAILED, reason)
    assert statuses(run)["flows"] == StepStatus.FAILED


def test_what_was_written_over_before_was_there(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """Nothing is found in what the run has left of a file, and in the file as it was given there is something."""

    def hiding(request: Request, right: Answer) -> Answer:
        if step_of(request)["step_id"] == "one" and not request.tool_results:
            return UseTools(*right.tools, write("readme.md", "Gone.\n")) if isinstance(right, UseTools) else right
        return giving_up(ToolUse("search_files", {"pattern": "n8n"}))(request, right)

    first = step("one", outputs=("one.md", "readme.md"))
    quote = "No line matches “n8n” in the text files among these 2."
    team = Team(plan=plan(first, step("flows", "one")), executor=hiding, verifier=proving("@tool-1", quote))
    run = play(api, submitted, team, {"readme.md": b"The n8n workflow sends mails.\n"})
    must_hold(run, client, Outcome.FAILED, "what this run wrote itself")


def test_a_run_in_which_nothing_applies_has_no_result(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    team = Team(plan=plan(step("flows")), executor=giving_up(FLOWS), verifier=FOUND_NOTHING)
    run = play(api, submitted, team, FILES)
    must_hold(run, client, Outcome.FAILED, NONE)
    assert statuses(run) == {"flows": "not_applicable"}


@pytest.mark.exhaustive
def test_a_person_sees_it_where_results_wait(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    steps = [step("one"), step("flows", complexity="high")]
    api.script(Team(plan=plan(*steps), executor=giving_up(FLOWS), verifier=FOUND_NOTHING))
    run = submitted(files=FILES)
    drain(run)
    answer(run, alice)
    drain(run)
    assert open_gate(run).kind == GateKind.STEP
    client.force_login(alice)
    shown = client.get(f"/runs/{run.pk}/").text
    assert "does not apply" in shown
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert statuses(run)["flows"] == StepStatus.NOT_APPLICABLE


@pytest.mark.exhaustive
def test_it_stays_so_in_another_version(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    fails = iter([False, False])

    def failing(request: Request, right: Answer) -> Answer:
        labels = labels_of(request)
        if labels == ["N1"]:
            return FOUND_NOTHING(request, right)
        passed = labels == ["C2"] and next(fails, True)
        return Say(json.dumps(verdict(labels, "", "", passed=False, action="replan"))) if not passed else right

    team: Any = Team(plan=plan(step("flows"), step("two", "flows")), executor=giving_up(FLOWS), verifier=failing)
    run = play(api, submitted, team, FILES, attempts=1, replans=1)
    versions = Step.objects.filter(plan__run=run, key="flows").order_by("plan__version")
    assert [one.status for one in versions] == ["not_applicable"] * len(versions)
    assert len(versions) == 2
    assert versions[1].reused_from is not None


NODES = b'{"nodes": [{"type": "n8n-nodes-base.cron"}]}\n'
WORDS = {
    "n8n": ("Detect n8n workflows", "Detect n8n workflows if present, and describe each."),
    "GDPR": ("Check data protection", "Check the GDPR clause if there is one."),
    "DSGVO": ("Datenschutz prüfen", "Prüfe die DSGVO-Klausel, falls eine vorhanden ist."),
    "renewal": ("List renewals", "List the renewals, if there are any."),
}


@pytest.mark.parametrize(
    ("about", "files", "where"),
    [
        ("n8n", {"automation/flow.json": NODES}, "“n8n” may be found: automation/flow.json, line 1"),
        ("n8n", {"automation/N8N export.json": b"{}\n"}, "“n8n” may be found: automation/N8N export.json"),
        ("n8n", {"README.md": b"# Tool\n\nWe do not use n8n.\n"}, "“n8n” may be found: README.md, line 3"),
        ("GDPR", {"a.md": b"1. Parties\n2. Processing under the gdpr.\n"}, "“GDPR” may be found: a.md, line 2"),
        ("DSGVO", {"a.md": "§ 7 Datenschutz nach der DSGVO\n".encode()}, "“DSGVO” may be found: a.md, line 1"),
        (
            "renewal",
            {"a.md": b"Renewal: no.\n", "b.md": b"Renewal: yes.\n"},
            "“renewals” may be found: a.md, line 1, b.md, l",
        ),
        (
            "renewal",
            {"a.md": b"Renewal is silent.\n", "b.md": b"x\n", "c.md": b"y\n"},
            "“renewals” may be found: a.md, l",
        ),
    ],
)
@pytest.mark.parametrize("asks", [True, False], ids=["asks", "asks nobody"])
def test_what_code_finds_of_the_words_of_the_step_is_no_silent_pass(
    api: FakeAnthropic,
    submitted: Submit,
    alice: User,
    client: Client,
    about: str,
    files: dict[str, bytes],
    where: str,
    asks: bool,
) -> None:
    """T10: whatever the executor has searched for. The verifier is shown it; a person decides, or it is open."""
    name, description = WORDS[about]
    looking = step("flows") | {"name": name, "description": description}
    looking["acceptance_criteria"] = looking["acceptance_criteria"][:1]
    found = f"No path of {len(files) + 1} files matches “*.n8n”."
    team = Team(
        plan=plan(step("one"), looking),
        executor=giving_up(ToolUse("glob", {"pattern": "*.n8n"})),
        verifier=proving("@tool-1", found),
    )
    policy = {} if asks else {"step_approval": "none"}
    run = play(api, submitted, team, {**files, "other.md": b"Nothing here.\n"}, **policy)
    shown = next(request for request in team.seen["verifier"] if labels_of(request) == ["N1"])
    assert any(part.kind == "hits" and next(iter(files)) in part.text for part in told(shown))
    if asks:
        must_hold(run, client, GateKind.STEP, "some of its evidence may have nothing to do with what it should support")
        assert where in words(page(client, f"/runs/{run.pk}/"))
    else:
        must_hold(run, client, Outcome.PARTIAL, where)
        must_tell(run, client, where)


@pytest.mark.exhaustive
@pytest.mark.parametrize("about", WORDS)
def test_where_code_finds_nothing_either_it_is_said_what_was_searched_for(
    api: FakeAnthropic, submitted: Submit, client: Client, about: str
) -> None:
    name, description = WORDS[about]
    looking = step("flows") | {"name": name, "description": description}
    looking["acceptance_criteria"] = looking["acceptance_criteria"][:1]
    team = Team(plan=plan(step("one"), looking), executor=giving_up(FLOWS), verifier=FOUND_NOTHING)
    run = play(api, submitted, team, FILES)
    searched = f"{about}s” was searched for" if about == "renewal" else f"“{about}” was searched for"
    must_hold(run, client, Outcome.SUCCEEDED, f"{searched} in the names and texts of the 2 given files")
    for address in ("", "report/"):
        assert searched in words(page(client, f"/runs/{run.pk}/{address}")), address
    assert searched in as_markdown(run)


def test_a_step_whose_words_say_nothing_waits_for_a_person(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    looking = step("flows") | {"name": "Look", "description": "Look at things."}
    looking["acceptance_criteria"] = looking["acceptance_criteria"][:1]
    team = Team(plan=plan(step("one"), looking), executor=giving_up(FLOWS), verifier=FOUND_NOTHING)
    run = play(api, submitted, team, FILES)
    must_hold(run, client, GateKind.STEP, "nothing was searched for")
