"""Who answers, by the environment alone, and that no key is kept or shown (S5)."""

import pytest

from runs.enums import Provider, Role
from runs.llm.provider import service

KEY = "sk-ant-very-secret"


def test_without_a_key_and_a_base_url_the_offline_rules_answer_and_say_so() -> None:
    found = service({})
    assert found.provider is Provider.OFFLINE
    assert found.sentence.startswith("Offline rules, no AI")
    assert set(found.models.values()) == {"offline-planner", "offline-executor", "offline-verifier"}


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_with_a_key_claude_answers_and_the_key_is_not_kept(name: str) -> None:
    found = service({name: KEY})
    assert found.provider is Provider.CLAUDE
    assert found.sentence == "Claude answers: claude-opus-5-5, claude-sonnet-5-5, claude-haiku-5-5"
    assert KEY not in repr(found)


def test_an_empty_key_is_no_key() -> None:
    assert service({"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": ""}).provider is Provider.OFFLINE


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080", "http://localhost:11434/", "https://llm.example.org/anthropic"]
)
def test_with_a_base_url_another_server_answers_key_or_not(url: str) -> None:
    assert service({"ANTHROPIC_BASE_URL": url}).provider is Provider.COMPATIBLE
    assert service({"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}).provider is Provider.COMPATIBLE


def test_the_host_and_port_of_another_server_are_shown() -> None:
    found = service({"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"})
    assert found.sentence == "Another server answers, with the Messages API: 127.0.0.1:8080"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.anthropic.com",
        "https://api.anthropic.com:443/",
        "https://API.Anthropic.com",
        "https://anthropic.com",
    ],
)
def test_the_vendors_own_address_is_claude(url: str) -> None:
    assert service({"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}).provider is Provider.CLAUDE


@pytest.mark.parametrize(
    "url", ["https://notanthropic.com", "https://anthropic.com.example.org", "https://x@evilanthropic.com"]
)
def test_a_name_that_only_ends_like_the_vendors_is_another_server(url: str) -> None:
    assert service({"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}).provider is Provider.COMPATIBLE


def test_a_password_in_the_base_url_is_not_shown() -> None:
    found = service({"ANTHROPIC_BASE_URL": f"https://alice:{KEY}@llm.example.org:8443/v1?key={KEY}"})
    assert found.sentence == "Another server answers, with the Messages API: llm.example.org:8443"
    assert KEY not in repr(found)


def test_models_can_be_named_per_role() -> None:
    found = service({"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080", "PEV_MODEL_VERIFIER": "qwen3-4b"})
    assert found.models[Role.VERIFIER] == "qwen3-4b"
    assert found.models[Role.PLANNER] == "claude-opus-5-5"
    assert (
        service({"ANTHROPIC_API_KEY": KEY, "PEV_MODEL_PLANNER": "claude-opus-4-6"}).models[Role.PLANNER]
        == "claude-opus-4-6"
    )


def test_executor_and_verifier_are_never_twins_by_default() -> None:
    for environ in ({}, {"ANTHROPIC_API_KEY": KEY}, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}):
        models = service(environ).models
        assert models[Role.EXECUTOR] != models[Role.VERIFIER]


def test_a_role_with_a_server_of_its_own_is_answered_and_the_others_too() -> None:
    found = service({"ANTHROPIC_API_KEY": KEY, "PEV_BASE_URL_VERIFIER": f"http://u:{KEY}@10.0.0.7:8080"})
    assert found.provider is Provider.COMPATIBLE
    assert found.sentence == (
        "Several servers answer, with the Messages API: "
        "planner api.anthropic.com, executor api.anthropic.com, verifier 10.0.0.7:8080"
    )


def test_three_servers_of_their_own_need_no_general_one() -> None:
    environ = {f"PEV_BASE_URL_{role}": "http://10.0.0.7:8080" for role in ("PLANNER", "EXECUTOR", "VERIFIER")}
    found = service(environ)
    assert found.provider is Provider.COMPATIBLE
    assert found.sentence == "Another server answers, with the Messages API: 10.0.0.7:8080"


@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        (
            {"PEV_BASE_URL_VERIFIER": "http://10.0.0.7:8080"},
            "No model would answer as planner and executor: "
            "This run needs a model, and there is no ANTHROPIC_API_KEY in the environment of the server.",
        ),
        (
            {"ANTHROPIC_API_KEY": KEY, "PEV_API_KEY_ENV_VERIFIER": "SECOND"},
            "No model would answer as verifier: "
            "PEV_API_KEY_ENV_VERIFIER has to name a variable that is set and holds the key. Set both and start again.",
        ),
    ],
)
def test_while_one_role_has_nobody_to_answer_the_rules_do_and_say_why(environ: dict[str, str], reason: str) -> None:
    found = service(environ)
    assert (found.provider, set(found.models.values())) == (
        Provider.OFFLINE,
        {"offline-planner", "offline-executor", "offline-verifier"},
    )
    assert f"documents. {reason} To connect a model, set a key" in found.sentence


@pytest.mark.parametrize("url", ["http://[::1", "localhost:8080", "http://127.0.0.1:port"])
def test_an_address_that_is_none_breaks_no_page(url: str) -> None:
    assert service({"ANTHROPIC_BASE_URL": url}).provider is Provider.COMPATIBLE
