"""A person who is signed in at the fake server by variables, and has no stored account."""

from pathlib import Path

import pytest

from tests.unit.client.fake_api import TOKEN, URL, FakeApi


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture(autouse=True)
def _account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("PEVSITE_URL", URL)
    monkeypatch.setenv("PEVSITE_TOKEN", TOKEN)
