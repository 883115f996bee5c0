"""`manage.py check_models`: tiny questions tell servers apart, and every failure ends in a sentence."""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command

from runs.engine import probes
from runs.enums import Role
from runs.llm.capabilities import Capability, Probed, capability, use_probed, window_of
from runs.llm.model_servers import ModelServer, server_for
from runs.models import Probe
from tests.fakes.anthropic_answers import Answer, EndEarly, Fail, Garbage, Ping, Say, Slow, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_servers import ANTHROPIC, FORCING, LLAMA_CPP, OLLAMA, VLLM, Dialect, obedient, served

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
KEY = "sk-or-0123456789-secret"


@pytest.fixture(autouse=True)
def local(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every role is played by a local model."""
    for role in ("PLANNER", "EXECUTOR", "VERIFIER"):
        monkeypatch.setenv(f"PEV_MODEL_{role}", "qwen3-4b")
    yield
    use_probed({})


def speak(api: FakeAnthropic, dialect: Dialect) -> None:
    api.dialect = dialect
    api.script(served(dialect, obedient))


def check(*options: str) -> str:
    printed = io.StringIO()
    call_command("check_models", *options, stdout=printed)
    return printed.getvalue()


def refused(*options: str) -> tuple[str, str]:
    """What was printed, and the sentence at the end."""
    printed = io.StringIO()
    with pytest.raises(CommandError) as error:
        call_command("check_models", *options, stdout=printed)
    assert error.value.returncode == 1
    return printed.getvalue(), str(error.value)


def probed(obeys: bool, *, keeps: bool | None = None, sees: bool = False) -> Probed:
    kept = obeys if keeps is None else keeps
    whole = None if obeys else True
    return Probed(forced_tool=obeys, no_tools=obeys, format=kept, images=sees, documents=sees, whole_form=whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialect", "found", "use"),
    [
        (LLAMA_CPP, probed(False), "by the prompt alone, as JSON"),
        (OLLAMA, probed(False), "by the prompt alone, as JSON"),
        (VLLM, probed(True), "in their format"),
        (FORCING, probed(True, keeps=False, sees=True), "as calls of a tool, which are demanded"),
    ],
    ids=["llama.cpp", "Ollama", "vLLM", "forces tools only"],
)
def test_what_a_server_honours_is_found_out_said_and_remembered(
    api: FakeAnthropic, dialect: Dialect, found: Probed, use: str
) -> None:
    speak(api, dialect)
    printed = check()
    assert f"So answers are asked for {use}; all are checked" in printed
    assert printed.endswith("\nEvery role can be used.\n")
    [row] = Probe.objects.all()
    expected = found.model_copy(update={"streaming": True, "tools": True, "usage": True})
    assert (row.address, row.model, row.found) == (ModelServer(api.url).address, "qwen3-4b", expected)
    assert capability("qwen3-4b", ModelServer(api.url)) == Capability(
        format=found.format is True,
        forced_tool=found.forced_tool is True,
        no_tools=found.no_tools is True,
        documents=found.documents is True,
        images=found.images is True,
    )
    count = 7 if found.forced_tool else 8
    assert len(api.requests) == count, "one model on one server is asked once, whoever it plays"


def test_it_says_everything_in_words(api: FakeAnthropic) -> None:
    speak(api, replace(LLAMA_CPP, usage=False))
    lines = check().split("\n\n")[1].splitlines()
    host = ModelServer(api.url).host
    assert lines[0] == f"Planner: “qwen3-4b” on {host}"
    assert lines[1].startswith("  Answers: yes, in ")
    assert lines[2:] == [
        "  Streaming: yes",
        "  Tools: called when it was told to",
        "  A tool that is demanded: not called",
        "  Tools that are forbidden: called all the same",
        "  Format of the answer: not kept",
        "  Form of the answer without that: kept",
        "  Pictures: not seen",
        "  Pages of PDF files: not read",
        "  Tokens used: not reported, so that no budget can be kept",
        "  Context: unknown. Set PEV_CONTEXT_TOKENS or PEV_CONTEXT_TOKENS_PLANNER to its tokens",
        "  So answers are asked for by the prompt alone, as JSON in a short form; all are checked",
    ]


def test_the_context_is_what_is_configured_or_what_the_server_says(
    api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak(api, replace(OLLAMA, window=32_768))
    monkeypatch.setenv("PEV_CONTEXT_TOKENS_VERIFIER", "8192")
    printed = check()
    assert printed.count("Context: 32,768 tokens, as the server says") == 2
    assert printed.count("Context: 8,192 tokens, as configured") == 1
    assert [window_of("qwen3-4b", role) for role in (Role.EXECUTOR, Role.VERIFIER)] == [32_768, 8_192]


@pytest.mark.slow
@pytest.mark.parametrize("said", [0, -1, 12, 10**12, True])
def test_a_context_that_cannot_be_is_unknown(api: FakeAnthropic, said: int) -> None:
    speak(api, replace(OLLAMA, window=said))
    assert "Context: unknown." in check()
    assert Probe.objects.get().found.window is None


def test_an_executor_needs_tools_and_the_others_do_not(api: FakeAnthropic) -> None:
    speak(api, replace(OLLAMA, tools=False))
    printed, sentence = refused()
    assert "Tools: not called when it was told to" in printed
    assert printed.count("Cannot be used: an executor reads and writes files by tools, and it called none.") == 1
    assert sentence == "Not every role can be used: executor."
    assert Probe.objects.get().found.no_tools is None, "where none is called, none can be seen to be forbidden"


def test_a_model_that_calls_a_tool_only_when_it_is_told_twice_can(api: FakeAnthropic) -> None:
    refusals = iter([True])

    def hesitant(request: object) -> Answer:
        answer = obedient(request)  # type: ignore[arg-type]
        return Say("Shall I?") if isinstance(answer, UseTools) and next(refusals, False) else answer

    api.script(served(OLLAMA, hesitant))
    check()
    assert Probe.objects.get().found.tools is True


def test_of_a_known_model_only_an_answer_is_wanted(api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Anthropic's own service, which the fake plays under its own address."""
    monkeypatch.setattr(ModelServer, "is_anthropic", True)
    for role in ("PLANNER", "EXECUTOR", "VERIFIER"):
        monkeypatch.delenv(f"PEV_MODEL_{role}")
    speak(api, ANTHROPIC)
    printed = check()
    assert len(api.requests) == 3
    assert printed.count("Everything else: as the model's documentation says") == 3
    assert printed.count("So answers are asked for in their format; all are checked") == 3
    assert "Context: 200,000 tokens, as the server says" in printed


def test_a_gateway_is_not_believed_by_the_names_of_its_models(
    api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fake answers 400, and remembers it, if a tool is forced on one that refuses it."""
    monkeypatch.setenv("PEV_MODEL_PLANNER", "claude-opus-5-5")
    speak(api, replace(OLLAMA, window=64_000))
    check()
    found = capability("claude-opus-5-5", ModelServer(api.url))
    assert (found.format, found.forced_tool, found.no_tools, found.window) == (False, False, False, 64_000)


def test_of_the_offline_rules_nothing_is_asked(api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> None:
    speak(api, OLLAMA)
    for role in ("PLANNER", "EXECUTOR", "VERIFIER"):
        monkeypatch.setenv(f"PEV_MODEL_{role}", f"offline-{role.lower()}")
    printed = check()
    assert printed.count("  The offline rules answer: there is nothing to ask.") == 3
    assert (api.requests, printed.endswith("\nEvery role can be used.\n")) == ([], True)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            Fail(401, "authentication_error", "bad key"),
            "The model's service (HOST) refused the API key (401). Check ANTHROPIC_API_KEY.",
        ),
        (Fail(404, "not_found_error", "no model"), "The model's service (HOST) does not know this model (404)."),
        (Fail(529, "overloaded_error", "busy"), "The model's service is overloaded (529)."),
        (Garbage(b"<html>It works!</html>"), "The service answered, but not with a message."),
        (Garbage(), "The service sent something that is not its API."),
        (EndEarly("hel"), "The answer ended before it was complete."),
    ],
)
def test_why_nobody_answers_is_said_and_nothing_is_remembered(
    api: FakeAnthropic, answer: Answer, sentence: str
) -> None:
    api.script(lambda _: answer)
    printed, end = refused()
    said = sentence.replace("HOST", urlsplit(api.url).netloc)
    assert printed.count(f"  Cannot be used: {said}\n") == 3
    assert end == "Not every role can be used: planner, executor, verifier."
    assert not Probe.objects.exists()
    assert len(api.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize("answer", [Slow(30, Say("hello")), Ping(30, Say("hello"))], ids=["silent", "only pings"])
def test_a_server_that_hangs_is_given_up(api: FakeAnthropic, answer: Answer) -> None:
    api.script(lambda _: answer)
    printed, _ = refused("--seconds", "0.5")
    assert "Cannot be used: There was no answer in time." in printed


def test_what_could_not_be_found_out_is_told_as_unknown_and_not_used(api: FakeAnthropic) -> None:
    def busy(request: object) -> Answer:
        has_tools = bool(getattr(request, "tools", ()))
        return Fail(500, "api_error", "tools param requires --jinja flag") if has_tools else Say("hello")

    api.script(busy)
    printed, sentence = refused()
    reason = "The model's service answered 500: tools param requires --jinja flag"
    assert f"Tools: unknown ({reason})" in printed
    assert f"Cannot be used: {reason}" in printed
    assert sentence == "Not every role can be used: executor."
    assert Probe.objects.get().found.tools is None


@pytest.mark.slow
def test_a_verifier_of_another_provider_is_asked_there_with_its_own_key(
    api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak(api, OLLAMA)
    with FakeAnthropic() as other:
        speak(other, VLLM)
        monkeypatch.setenv("PEV_BASE_URL_VERIFIER", f"{other.url}/")
        monkeypatch.setenv("PEV_API_KEY_ENV_VERIFIER", "OPENROUTER")
        monkeypatch.setenv("OPENROUTER", KEY)
        monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"X-Gateway: {KEY}\nAuthorization: Bearer test-key-of-nobody")
        printed = check()
        assert {request.headers.get("x-gateway") for request in other.requests} == {None}
        assert {request.headers.get("x-gateway") for request in api.requests} == {KEY}
        assert {request.headers["authorization"] for request in other.requests} == {f"Bearer {KEY}"}
        assert {request.headers["authorization"] for request in api.requests} == {"Bearer test-key-of-nobody"}
        assert sorted(Probe.objects.values_list("address", flat=True)) == sorted([api.url, other.url])
        verifier = server_for(Role.VERIFIER, os.environ)
    assert (capability("qwen3-4b", verifier).format, capability("qwen3-4b", ModelServer(api.url)).format) == (
        True,
        False,
    )
    assert f"verifier {ModelServer(other.url).host}." in printed
    assert KEY not in printed


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"ANTHROPIC_BASE_URL": "", "ANTHROPIC_API_KEY": ""},
            "This run needs a model, and there is no ANTHROPIC_API_KEY in the environment of the server.",
        ),
        (
            {"ANTHROPIC_BASE_URL": "localhost:8080"},
            "ANTHROPIC_BASE_URL is not an address: it must begin with http:// or https://, and name a host.",
        ),
        (
            {"ANTHROPIC_BASE_URL": "http://ex\u202eample"},
            "ANTHROPIC_BASE_URL is not an address: it must begin with http:// or https://, and name a host.",
        ),
        (
            {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": f"{KEY}\n"},
            "ANTHROPIC_API_KEY has a space or a line break in it. Set it again and start again.",
        ),
    ],
)
def test_settings_that_cannot_work_are_named(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sentence: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert refused()[0].count(f"Cannot be used: {sentence}\n") == 3


def test_a_port_where_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://{host}")
    assert f"The model's service cannot be reached: {host}: nothing listens there." in refused()[0]


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "1e9"])
def test_a_time_that_is_none_is_wrong_use(db: None, seconds: str) -> None:
    with pytest.raises(CommandError, match="--seconds has to be more than 0 and at most 3,600") as error:
        call_command("check_models", f"--seconds={seconds}")
    assert error.value.returncode == 2


def test_until_they_were_asked_the_models_are_named_where_the_server_starts(
    api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEV_MODEL_PLANNER", "offline-planner")
    host = ModelServer(api.url).host
    named = f"No one has asked yet what is supported: “qwen3-4b” on {host}. Do: manage.py check_models"
    assert probes.hint(os.environ) == named
    speak(api, OLLAMA)
    check()
    assert probes.hint(os.environ) == ""
    for name in ("ANTHROPIC_BASE_URL", "PEV_MODEL_PLANNER", "PEV_MODEL_EXECUTOR", "PEV_MODEL_VERIFIER"):
        monkeypatch.delenv(name)
    assert probes.hint(os.environ) == "", "Anthropic's own models are documented"
