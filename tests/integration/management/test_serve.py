"""What `serve` says about where it listens, and how many files it may have open."""

import resource

import pytest
from pytest_django import Settings

from runs.management.commands.serve import MAX_FILES, raise_file_limit, warning
from runs.text.domains import is_loopback


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.1", False),
        ("pev.example", False),
        ("localhost.pev.example", False),
    ],
)
def test_only_this_machine_reaches_a_loopback_address(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_without_tls_the_warning_says_what_can_happen_and_what_to_do(settings: Settings) -> None:
    settings.TLS = False
    said = warning("0.0.0.0", 8000)
    assert "! NOT ENCRYPTED: the site listens on 0.0.0.0:8000 without TLS\n" in said
    assert "Put a TLS proxy in front and set PEV_TLS=on (docs/operating.md), or use --host 127.0.0.1." in said
    assert said.count("!" * 80) == 2


def test_with_tls_it_says_who_may_reach_it(settings: Settings) -> None:
    settings.TLS = True
    assert "! LET ONLY THE PROXY REACH 0.0.0.0:8000\n" in warning("0.0.0.0", 8000)


def test_the_file_limit_is_raised_to_what_the_process_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    infinite = resource.RLIM_INFINITY
    limits = [(1_024, 4_096), (1_024, infinite), (4_096, 4_096), (infinite, infinite), (1_024, 1_000_000)]
    reached = []
    for given in limits:
        monkeypatch.setattr(resource, "getrlimit", lambda _, given=given: given)
        reached.append(raise_file_limit())
    assert reached == [4_096, MAX_FILES, 4_096, MAX_FILES, MAX_FILES]
    assert raised == [(4_096, 4_096), (MAX_FILES, infinite), (MAX_FILES, 1_000_000)]
