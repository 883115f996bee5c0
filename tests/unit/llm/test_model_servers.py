"""Each role has its server, and no server is sent the key of another (S5)."""

import pytest

from runs.enums import Role
from runs.errors import ModelError
from runs.llm.model_servers import ModelServer, configured_window, server_for

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
