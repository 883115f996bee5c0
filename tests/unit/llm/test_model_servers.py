"""Each role has its server, no server gets the key of another (S5), and the environment alone decides the service."""

import pytest

from runs.enums import Provider, Role
from runs.errors import ModelError
from runs.llm.model_servers import ModelServer, configured_window, server_for, service

KEY = "sk-ant-very-secret"
OTHER = "or-0123456789-secret"
GENERAL = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080", "ANTHROPIC_API_KEY": KEY}


def test_without_settings_of_its_own_a_role_is_answered_by_the_general_server() -> None:
    assert {server_for(role, GENERAL) for role in Role} == {ModelServer("http://127.0.0.1:8080")}
    assert server_for(Role.PLANNER, GENERAL).key(GENERAL) == KEY
    assert server_for(Role.PLANNER, {}) == ModelServer()


def test_a_verifier_of_another_provider_gets_its_own_key_and_the_others_theirs() -> None:
    environ = {
        **GENERAL,
        "PEV_BASE_URL_VERIFIER": "https://llm.example.org/api",
        "PEV_API_KEY_ENV_VERIFIER": "OPENROUTER_KEY",
        "OPENROUTER_KEY": OTHER,
    }
    verifier = server_for(Role.VERIFIER, environ)
    assert (verifier.address, verifier.key(environ)) == ("https://llm.example.org/api", OTHER)
    for role in (Role.PLANNER, Role.EXECUTOR, Role.SYNTHESIZER):
        assert server_for(role, environ).key(environ) == KEY


def test_another_server_is_never_sent_the_general_key() -> None:
    environ = {**GENERAL, "ANTHROPIC_AUTH_TOKEN": KEY, "PEV_BASE_URL_EXECUTOR": "http://10.0.0.7:11434"}
    assert server_for(Role.EXECUTOR, environ).key(environ) == "none"
    assert server_for(Role.SYNTHESIZER, environ) == server_for(Role.EXECUTOR, environ)
    assert server_for(Role.PLANNER, environ).key(environ) == KEY


def test_the_general_address_said_once_more_is_the_general_server() -> None:
    environ = {**GENERAL, "PEV_BASE_URL_PLANNER": GENERAL["ANTHROPIC_BASE_URL"]}
    assert server_for(Role.PLANNER, environ).key(environ) == KEY


def test_a_role_may_have_only_a_key_of_its_own() -> None:
    environ = {"ANTHROPIC_API_KEY": KEY, "PEV_API_KEY_ENV_PLANNER": "SECOND", "SECOND": OTHER}
    assert server_for(Role.PLANNER, environ).is_anthropic
    assert server_for(Role.PLANNER, environ).key(environ) == OTHER


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({}, "This run needs a model, and there is no ANTHROPIC_API_KEY in the environment of the server."),
        (
            {"PEV_API_KEY_ENV_PLANNER": "SECOND", "ANTHROPIC_API_KEY": KEY},
            "PEV_API_KEY_ENV_PLANNER has to name a variable that is set and holds the key. Set both and start again.",
        ),
        (
            {"PEV_API_KEY_ENV_PLANNER": OTHER},
            "PEV_API_KEY_ENV_PLANNER has to name a variable that is set and holds the key. Set both and start again.",
        ),
        (
            {"PEV_API_KEY_ENV_PLANNER": "SECOND", "SECOND": f"{KEY}\n"},
            "SECOND has a space or a line break in it. Set it again and start again.",
        ),
        (
            {"PEV_BASE_URL_PLANNER": "https://api.anthropic.com", "ANTHROPIC_API_KEY": KEY},
            "PEV_BASE_URL_PLANNER leads to Anthropic: name the variable with its key in PEV_API_KEY_ENV_PLANNER.",
        ),
    ],
)
def test_a_key_that_cannot_be_sent_is_told_with_what_to_set(environ: dict[str, str], sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        server_for(Role.PLANNER, environ).key(environ)
    assert (str(caught.value), caught.value.kind, caught.value.retriable) == (sentence, "no_key", False)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("", "https://api.anthropic.com"),
        ("http://LocalHost:11434/", "http://localhost:11434"),
        (f"https://alice:{KEY}@llm.example.org:8443/v1/?key={KEY}", "https://llm.example.org:8443/v1"),
        ("localhost:8080", ""),
        ("http://", ""),
        ("http://[::1", ""),
        ("http://127.0.0.1:none", ""),
        ("file:///etc/passwd", ""),
    ],
)
def test_an_address_has_one_spelling_and_no_secret(url: str, address: str) -> None:
    assert ModelServer(url).address == address


def test_the_context_of_a_role_counts_before_that_of_all() -> None:
    environ = {"PEV_CONTEXT_TOKENS": "8192", "PEV_CONTEXT_TOKENS_VERIFIER": "4096"}
    found = [configured_window(role, environ) for role in (Role.PLANNER, Role.SYNTHESIZER, Role.VERIFIER)]
    assert found == [8192, 8192, 4096]
    assert configured_window(Role.PLANNER, {}) is None
    assert configured_window(Role.PLANNER, {"PEV_CONTEXT_TOKENS": "-1"}) is None
    assert configured_window(Role.PLANNER, {"PEV_CONTEXT_TOKENS": "0"}) is None


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
    assert found.advice.startswith(f"{reason} To connect a model, set a key")
    assert found.for_operators == f"{found.sentence}. {found.advice}"


@pytest.mark.parametrize("url", ["http://[::1", "localhost:8080", "http://127.0.0.1:port"])
def test_an_address_that_is_none_breaks_no_page(url: str) -> None:
    assert service({"ANTHROPIC_BASE_URL": url}).provider is Provider.COMPATIBLE
