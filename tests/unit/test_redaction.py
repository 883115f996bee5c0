"""Secrets of the environment are found in every spelling, and nothing else is touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.redaction import REPLACEMENT, redacted
from tests.fakes.echoes import ECHOES, KEY, leaks


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.mark.parametrize("way", ECHOES)
def test_no_piece_of_the_key_is_left_in_any_spelling(way: str) -> None:
    text = f"Bad key, 12 € ({ECHOES[way](KEY)}), ask: grüße.\n"
    assert leaks(text) != []
    left = redacted(text)
    assert leaks(left) == []
    assert REPLACEMENT in left
    assert (left.startswith("Bad key, 12 € ("), left.endswith(", ask: grüße.\n")) == (True, True)


@pytest.mark.parametrize("length", [20, 25, 40, 61])
def test_a_long_beginning_or_end_is_as_good_as_the_key(length: int) -> None:
    assert redacted(f"a {KEY[:length]} b {KEY[-length:]} c") == f"a {REPLACEMENT} b {REPLACEMENT} c"


def test_the_public_beginning_of_keys_may_be_spoken_of() -> None:
    text = "Keys begin with sk-ant-api03-, and `sk-ant-api03-...` is no key."
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("PEV_SECRET_KEY", "correct horse battery staple", "correct horse battery staple"),
        ("ANTHROPIC_AUTH_TOKEN", "abc-def-0123", "abc-def-0123"),
        ("GITHUB_TOKEN", "ghp_0123456789abcdefXYZ", "ghp_0123456789abcdefXYZ"),
        ("MY_DB_PASSWORD", "hunter2hunter2", "hunter2hunter2"),
        ("aws_secret_access_key", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"),
        ("DATABASE_URL", "postgres://pev:p%40ssw0rd-long@db/pev", "p@ssw0rd-long"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=legal,authorization=Bearer%20collector-key-01", "collector-key-01"),
        ("ANTHROPIC_CUSTOM_HEADERS", "X-Gateway: gw-0123456789abc\nX-Team: legal", "gw-0123456789abc"),
        ("HTTPS_PROXY", "http://me:proxy-pass-77@proxy:3128", "proxy-pass-77"),
    ],
)
def test_other_secrets_of_the_environment_are_taken_out_too(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, secret: str
) -> None:
    monkeypatch.setenv(name, value)
    assert redacted(f"It said: {secret}!") == f"It said: {REPLACEMENT}!"


@pytest.mark.parametrize(
    ("value", "is_secret"),
    [("abcd123", False), ("abcd1234", True), ("fifteen-letters", False), ("sixteen-letters-o", True)],
)
def test_only_values_that_are_too_short_to_guess_in_a_text_are_left(
    monkeypatch: pytest.MonkeyPatch, value: str, is_secret: bool
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", value)
    assert redacted(f"It said: {value}!") == f"It said: {REPLACEMENT if is_secret else value}!"


def test_a_key_that_a_setting_names_is_a_secret_whatever_it_is_called_and_the_name_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PEV_API_KEY_ENV_VERIFIER", "OPENROUTER_CREDIT_2")
    monkeypatch.setenv("OPENROUTER_CREDIT_2", "or-0123456789abcdef")
    text = "Set OPENROUTER_CREDIT_2, not or-0123456789abcdef!"
    assert redacted(text) == f"Set OPENROUTER_CREDIT_2, not {REPLACEMENT}!"


def test_a_key_that_stands_where_its_name_should_is_a_secret_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEV_API_KEY_ENV_VERIFIER", "gsk_0123456789abcdef")
    assert redacted("It was gsk_0123456789abcdef.") == f"It was {REPLACEMENT}."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("ANTHROPIC_API_KEY", "not-needed"), ("X_KEY", "ollama"), ("X_KEY", ""), ("PATH", "/a1b2c3d4e5")),
        *(("SSH_KEY_PATH", "/home/alice/contracts7"), ("APP_CREDENTIALS", "/home/alice/contracts7/key.json")),
    ],
)
def test_words_that_stand_where_a_key_could_are_no_secrets(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert redacted(f"It is {value}.") == f"It is {value}."


@given(st.text(), st.text())
def test_everything_else_stays_as_it_is(before: str, after: str) -> None:
    assert redacted(before + after) == before + after
    left = redacted(f"{before}|{KEY}|{after}")
    assert (left.startswith(before), left.endswith(after)) == (True, True)
    assert REPLACEMENT in left
