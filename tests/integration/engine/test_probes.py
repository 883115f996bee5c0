"""What was found out about servers is used by every process that works, also while it works."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from runs.contracts.ports import Reply
from runs.engine import probes
from runs.engine.process import Engine
from runs.engine.sweeper import Sweeper
from runs.llm import probe
from runs.llm.capabilities import Probed, capability, use_probed
from runs.llm.model_servers import ModelServer
from runs.models import Probe

SERVER = ModelServer("http://127.0.0.1:8080")


@pytest.fixture(autouse=True)
def nothing_probed() -> Iterator[None]:
    yield
    use_probed({})


def found_by_another_process() -> None:
    Probe.objects.create(address=SERVER.address, model="qwen3-4b", found=Probed(format=True))
    assert capability("qwen3-4b", SERVER).format is False


@pytest.mark.django_db(transaction=True)
def test_it_is_used_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    found_by_another_process()
    monkeypatch.setattr(probes, "_next_read", time.monotonic() + 60)
    engine = Engine(workers=1)
    engine.start()
    try:
        assert capability("qwen3-4b", SERVER).format is True
    finally:
        engine.stop()


@pytest.mark.django_db
def test_it_is_read_again_after_a_while_and_not_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found_by_another_process()
    sweeper = Sweeper(lambda _: None)
    monkeypatch.setattr(probes, "_next_read", time.monotonic() + 60)
    sweeper.poll()
    assert capability("qwen3-4b", SERVER).format is False
    monkeypatch.setattr(probes, "_next_read", 0.0)
    sweeper.poll()
    assert capability("qwen3-4b", SERVER).format is True


@pytest.mark.django_db
def test_the_newest_finding_replaces_the_one_before() -> None:
    probes.remember(SERVER, "qwen3-4b", Probed(format=True))
    probes.remember(SERVER, "qwen3-4b", Probed(format=False, window=8_192))
    assert [(probe.found.format, probe.found.window) for probe in Probe.objects.all()] == [(False, 8_192)]
    assert capability("qwen3-4b", SERVER).window == 8_192


@pytest.mark.parametrize("text", ["[" * 100_000, '{"colour":' * 100_000, "1" * 10_000, "{"], ids=len)
def test_an_answer_that_cannot_be_read_keeps_no_format(text: str) -> None:
    assert probe._has_format(Reply(({"type": "text", "text": text},), "end_turn", "model")) is False
