"""What is known, what questions have shown, and what is configured, each where it counts."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from runs.enums import Role
from runs.llm.capabilities import Capability, Probed, capability, use_probed, window_of
from runs.llm.model_servers import ModelServer

LOCAL = ModelServer("http://127.0.0.1:8080")
ELSEWHERE = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"}


@pytest.fixture(autouse=True)
def nothing_probed() -> Iterator[None]:
    yield
    use_probed({})


def test_a_dated_id_is_of_its_family_and_a_longer_name_is_not() -> None:
    assert capability("claude-haiku-5-5-20261001") == capability("claude-haiku-5-5")
    assert capability("claude-haiku-5-50") == capability("unknown") == Capability()
    assert capability("claude-opus-4-6") != capability("claude-haiku-4-5")


def test_what_questions_have_shown_holds_for_that_server_and_that_model() -> None:
    use_probed({(LOCAL.address, "qwen"): Probed(format=True, forced_tool=False, window=32_768)})
    assert capability("qwen", LOCAL) == Capability(format=True, window=32_768)
    assert capability("qwen", ModelServer("http://127.0.0.1:9090")) == Capability()
    assert capability("qwen-2", LOCAL) == Capability()


def test_a_known_name_on_another_server_is_only_assumed() -> None:
    assumed = capability("claude-haiku-5-5", LOCAL)
    assert replace(assumed, documents=True, images=True, service_tools=True) == capability("claude-haiku-5-5")
    use_probed({(LOCAL.address, "claude-haiku-5-5"): Probed(format=False, forced_tool=True, no_tools=None)})
    found = capability("claude-haiku-5-5", LOCAL)
    assert (found.format, found.forced_tool, found.no_tools, found.window) == (False, True, False, 1_000_000)


def test_pages_and_pictures_are_sent_elsewhere_only_where_questions_have_shown_that_they_are_seen() -> None:
    assert (capability("claude-opus-5-5").documents, capability("claude-opus-5-5").images) == (True, True)
    assert (capability("claude-opus-5-5", LOCAL).documents, capability("claude-opus-5-5", LOCAL).images) == (
        False,
        False,
    )
    use_probed({(LOCAL.address, name): Probed(documents=False, images=True) for name in ("claude-opus-5-5", "qwen")})
    for name in ("claude-opus-5-5", "qwen"):
        assert (capability(name, LOCAL).documents, capability(name, LOCAL).images) == (False, True)


def test_on_the_vendors_own_service_only_the_window_is_taken_from_it() -> None:
    use_probed({(ModelServer().address, "claude-opus-5-5"): Probed(streaming=True, window=500_000)})
    found = capability("claude-opus-5-5")
    assert (found.format, found.forced_tool, found.window) == (True, False, 500_000)


def test_no_tool_is_ever_forced_where_that_is_refused() -> None:
    assert [capability(name).forced_tool for name in ("claude-opus-5-5", "claude-sonnet-5-5")] == [False, False]


def test_only_some_models_on_their_own_service_have_its_tools() -> None:
    names = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5", "offline-executor", "qwen")
    assert [capability(name).service_tools for name in names] == [True, True, False, False, False]
    use_probed({(LOCAL.address, "claude-sonnet-5-5"): Probed(tools=True, format=True)})
    assert capability("claude-sonnet-5-5", LOCAL).service_tools is False
    use_probed({})
    assert capability("claude-sonnet-5-5", LOCAL).service_tools is False


def test_the_window_is_configured_or_told_or_known_or_nothing() -> None:
    assert window_of("claude-haiku-4-5", Role.VERIFIER, {}) == 200_000
    assert window_of("qwen", Role.EXECUTOR, ELSEWHERE) is None
    use_probed({(LOCAL.address, "qwen"): Probed(window=32_768)})
    assert window_of("qwen", Role.EXECUTOR, ELSEWHERE) == 32_768
    assert window_of("qwen", Role.EXECUTOR, {**ELSEWHERE, "PEV_CONTEXT_TOKENS": "8192"}) == 8_192
    assert window_of("qwen", Role.VERIFIER, {**ELSEWHERE, "PEV_BASE_URL_VERIFIER": "http://10.0.0.7"}) is None
