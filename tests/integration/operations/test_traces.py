"""Traces: one tree for each run, whichever processes worked on it, and nothing in it that people or files say."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from pevsite.environment import read_environment
from runs.engine import claim
from runs.enums import GateKind, Verb, WorkKind
from runs.events.kinds import Finished
from runs.lifecycle.gate_decisions import cancel
from runs.lifecycle.gates import error_gate
from runs.models import Attempt, ModelCall, Run, Step, ToolCall, User
from runs.operations.traces import span_export
from runs.store import event_log
from runs.web.operations.setup_findings import findings
from tests import factories as made
from tests.factories import Submit, drain, finish, hurry
from tests.fakes.anthropic_answers import Answer, Fail, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.collector import Collector, collecting
from tests.fakes.team import Team, labels_of, plan, step, verdict
from tests.installation import ROOT, Installation, environ
from tests.integration.lifecycle.small import started

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.allow_hosts(["127.0.0.1"])]

AGENT = {"invoke_workflow pevsite", "step", "invoke_agent executor"}


@pytest.fixture
def exported(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What would have been sent; all but the sender is the product's own."""
    exporter = InMemorySpanExporter()
    settings.TRACES, settings.TRACE_CONTENT = True, False
    monkeypatch.setattr("runs.operations.traces.span_export.OTLPSpanExporter", lambda **_: exporter)
    span_export.provider.cache_clear()
    yield exporter
    span_export.provider().shutdown()
    span_export.provider.cache_clear()


def spans(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    span_export.provider().force_flush()
    return list(exporter.get_finished_spans())


def performed(api: FakeAnthropic, submitted: Submit, alice: User) -> Run:
    """A run whose first attempt did not pass."""

    def once_strict(request: Request, right: Answer) -> Answer:
        if len(team.seen["verifier"]) == 1:
            return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="retry")))
        return right

    team = Team(plan=plan(step("one"), step("two", "one")), verifier=once_strict)
    api.script(team)
    return finish(submitted(), alice)


def test_a_collector_that_does_not_answer_keeps_no_process_alive(
    exported: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(span_export, "FLUSH_WITHIN", 0.01)
    monkeypatch.setattr(span_export.provider(), "force_flush", answers.wait)
    span_export.flush()
    sending = [thread.daemon for thread in threading.enumerate() if thread.name == "traces"]
    answers.set()
    assert sending == [True]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def named(found: list[ReadableSpan], name: str) -> list[ReadableSpan]:
    return [span for span in found if span.name == name or span.name.startswith(f"{name} ")]


@pytest.mark.slow
def test_a_run_is_one_tree_of_steps_attempts_and_calls(
    exported: InMemorySpanExporter, api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    run = performed(api, submitted, alice)
    found = spans(exported)
    assert len({span.context.trace_id for span in found if span.context}) == 1
    by_id = {span.context.span_id: span for span in found if span.context}
    assert len(by_id) == len(found)
    counted = Counter(span.name if span.name in AGENT else span.name.partition(" ")[0] for span in found)
    assert counted == {
        "invoke_workflow pevsite": 1,
        "step": Step.objects.count(),
        "invoke_agent executor": Attempt.objects.count(),
        "chat": ModelCall.objects.count(),
        "execute_tool": ToolCall.objects.count(),
    }
    above = Counter(
        (span.name.partition(" ")[0], by_id[span.parent.span_id].name.partition(" ")[0] if span.parent else "")
        for span in found
    )
    calls_of_the_run = ModelCall.objects.filter(attempt=None).count()
    assert above == {
        ("invoke_workflow", ""): 1,
        ("step", "invoke_workflow"): 2,
        ("invoke_agent", "step"): 3,
        ("chat", "invoke_agent"): ModelCall.objects.count() - calls_of_the_run,
        ("chat", "invoke_workflow"): calls_of_the_run,
        ("execute_tool", "invoke_agent"): ToolCall.objects.count(),
    }
    for span in found:
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.start_time <= span.end_time
        assert attributes(span)["pevsite.run.id"] == run.pk


@pytest.mark.slow
@pytest.mark.exhaustive
def test_spans_say_how_attempts_steps_and_the_run_ended(
    exported: InMemorySpanExporter, api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    performed(api, submitted, alice)
    found = spans(exported)
    (whole,) = named(found, "invoke_workflow")
    assert attributes(whole)["pevsite.run.outcome"] == "succeeded"
    attempts = [attributes(span) for span in named(found, "invoke_agent")]
    told = [
        (each["pevsite.step.number"], each["pevsite.attempt.number"], each["pevsite.attempt.status"])
        for each in attempts
    ]
    assert told == [(1, 1, "failed"), (1, 2, "passed"), (2, 1, "passed")]
    assert [span.status.status_code for span in named(found, "invoke_agent")] == [
        StatusCode.ERROR,
        StatusCode.UNSET,
        StatusCode.UNSET,
    ]
    steps = [attributes(span) for span in named(found, "step")]
    assert [(each["pevsite.step.status"], each["pevsite.step.failures"]) for each in steps] == [
        ("passed", 1),
        ("passed", 0),
    ]


@pytest.mark.slow
def test_calls_have_the_tokens_that_the_journal_has(
    exported: InMemorySpanExporter, api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    performed(api, submitted, alice)
    chats = named(spans(exported), "chat")
    totals = api.usage_totals()
    assert sum(attributes(span)["gen_ai.usage.output_tokens"] for span in chats) == totals.output_tokens
    assert sum(attributes(span)["gen_ai.usage.input_tokens"] for span in chats) == (
        totals.input_tokens + totals.cache_read_input_tokens + totals.cache_creation_input_tokens
    )
    assert {attributes(span)["gen_ai.provider.name"] for span in chats} == {"anthropic"}
    assert {attributes(span)["gen_ai.agent.name"] for span in chats} == {
        "planner",
        "executor",
        "verifier",
        "synthesizer",
    }
    assert {span.kind for span in chats} == {SpanKind.CLIENT}


SAYS = ("Do the work", "notes", "Found by", "one", "The result is done", "was found")
"""What the person, the files and the models of such a run have written."""


@pytest.mark.slow
@pytest.mark.parametrize("content", [False, True])
def test_what_was_written_is_sent_only_where_it_is_asked_for(
    exported: InMemorySpanExporter, api: FakeAnthropic, submitted: Submit, alice: User, settings: Any, *, content: bool
) -> None:
    settings.TRACE_CONTENT = content
    performed(api, submitted, alice)
    everything = "\n".join(f"{span.name} {value}" for span in spans(exported) for value in attributes(span).values())
    assert [words for words in SAYS if words in everything] == (list(SAYS) if content else [])
    if content:
        (first, *_) = [attributes(span) for span in named(spans(exported), "execute_tool")]
        assert json.loads(first["gen_ai.tool.call.arguments"])["path"] == "one.md"
        chats = [attributes(span)["gen_ai.output.messages"] for span in named(spans(exported), "chat")]
        kinds = {part["type"] for chat in chats for part in json.loads(chat)[0]["parts"]}
        assert kinds == {"text", "tool_call"}


def test_a_call_that_failed_says_what_kind_of_failure_it_was_and_no_more(
    exported: InMemorySpanExporter, api: FakeAnthropic, submitted: Submit
) -> None:

    def once_overloaded(request: Request, right: Answer) -> Answer:
        return Fail(529, "overloaded_error", "Overloaded, says the fake.") if len(team.seen["planner"]) == 1 else right

    team = Team(planner=once_overloaded)
    api.script(team)
    run = submitted()
    drain(run)
    hurry(run)
    drain(run)
    failed, answered = named(spans(exported), "chat")
    assert attributes(failed)["error.type"] == "overloaded_error"
    assert (failed.status.status_code, failed.status.description) == (StatusCode.ERROR, None)
    assert (answered.status.status_code, "error.type" in attributes(answered)) == (StatusCode.UNSET, False)


@pytest.mark.slow
def test_a_tool_that_a_model_made_up_is_not_named(
    exported: InMemorySpanExporter, api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    def curious(request: Request, right: Answer) -> Answer:
        if len(team.seen["executor"]) == 1:
            return UseTools(ToolUse("ask_the_widow_smith", {"path": "will.md"}))
        return right

    team = Team(plan=plan(step("one")), executor=curious)
    api.script(team)
    finish(submitted(), alice)
    found = spans(exported)
    assert [span.name for span in found if span.name.startswith("execute_tool")] == [
        "execute_tool unknown",
        "execute_tool write_file",
    ]
    assert not any("smith" in f"{span.name} {attributes(span)}" for span in found)


@pytest.mark.slow
def test_what_is_not_committed_is_not_sent(
    exported: InMemorySpanExporter, api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    run = performed(api, submitted, alice)
    before = len(spans(exported))
    with transaction.atomic():
        event_log.record(run.pk, Finished(outcome="succeeded", gaps=()))
        transaction.set_rollback(True)
    assert len(spans(exported)) == before


def test_what_ends_without_an_event_of_its_own_is_sent_once(exported: InMemorySpanExporter) -> None:
    run = started("a")
    lease = claim.claim(made.open_work(run, WorkKind.ATTEMPT, "a").pk)
    assert lease is not None
    with made.committing(lease) as mine:
        error_gate.ask(mine, "The tool is forbidden.", reset=False)
    made.decide(run, GateKind.ERROR, Verb.REJECT, "Do it in another way.")
    made.propose(run, made.plan(made.plan_step("other", "Other")))
    cancel(run.pk, made.alice())
    sent = [span for span in spans(exported) if not span.name.startswith("chat")]
    assert [span.name for span in sent] == ["invoke_agent executor", "step", "invoke_workflow pevsite"]
    assert [attributes(span).get("pevsite.attempt.status") for span in sent] == ["cancelled", None, None]


@pytest.mark.slow
@pytest.mark.parametrize(("share", "sent"), [("0", False), ("1", True)])
def test_a_run_is_sampled_as_a_whole(
    exported: InMemorySpanExporter,
    api: FakeAnthropic,
    submitted: Submit,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    share: str,
    *,
    sent: bool,
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", share)
    performed(api, submitted, alice)
    assert bool(spans(exported)) is sent


@pytest.mark.slow
@pytest.mark.exhaustive
def test_without_a_collector_nothing_is_made(
    exported: InMemorySpanExporter, api: FakeAnthropic, submitted: Submit, alice: User, settings: Any
) -> None:
    settings.TRACES = False
    performed(api, submitted, alice)
    assert spans(exported) == []


@pytest.mark.parametrize(
    ("traces", "content", "said"),
    [
        (False, False, []),
        (True, False, ["They are sent to OTEL_EXPORTER_OTLP_ENDPOINT, without any content."]),
        (
            True,
            True,
            ["They are sent to OTEL_EXPORTER_OTLP_ENDPOINT, with what people, files and models have written."],
        ),
    ],
)
def test_an_administrator_sees_what_is_sent(settings: Any, said: list[str], *, traces: bool, content: bool) -> None:
    settings.TRACES, settings.TRACE_CONTENT = traces, content
    assert [one.text for one in findings() if one.about == "Traces"] == said


@pytest.mark.parametrize(
    ("name", "value", "traces"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "", False),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318", True),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4318/v1/traces", True),
    ],
)
def test_an_endpoint_switches_them_on(monkeypatch: pytest.MonkeyPatch, name: str, value: str, *, traces: bool) -> None:
    monkeypatch.setenv(name, value)
    assert read_environment().traces is traces
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert read_environment().traces is False


def test_without_the_library_the_start_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
    monkeypatch.setattr("pevsite.setting_values.find_spec", lambda _: None)
    with pytest.raises(ImproperlyConfigured, match="uv sync --extra monitoring"):
        read_environment()


def run_of_a_process(data: Path, endpoint: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "run", "--sample", "contracts", "--approve-all", "--json", *arguments],
        cwd=ROOT,
        env=environ(data)
        | {"ANTHROPIC_API_KEY": "", "PEV_REHEARSAL_DELAY": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
        | variables,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def whole(collector: Collector) -> None:
    """Every span but the run's own hangs on one that has come."""
    ids = {span["spanId"] for span in collector.spans}
    assert [span["name"] for span in collector.spans if span.get("parentSpanId") not in ids] == [
        "invoke_workflow pevsite"
    ]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_process_has_sent_everything_when_it_ends(tmp_path: Path, installation: Installation) -> None:
    data = installation.copy(tmp_path / "data")
    with collecting() as collector:
        done = run_of_a_process(data, collector.url, OTEL_SERVICE_NAME="pevsite-legal")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert collector.paths == {"/v1/traces"}
    assert {resource["service.name"] for resource in collector.resources} == {"pevsite-legal"}
    attempts = sum(len(step["attempts"]) for step in told["steps"])
    assert sum(span["name"] == "invoke_agent executor" for span in collector.spans) == attempts
    assert {span["attributes"].get("gen_ai.provider.name") for span in collector.spans} == {None, "pevsite"}
    whole(collector)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_collector_that_is_away_is_no_reason_to_fail(tmp_path: Path, installation: Installation) -> None:
    done = run_of_a_process(installation.copy(tmp_path / "data"), "http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "succeeded"
