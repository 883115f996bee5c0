"""The examples of the OpenAPI document are as the server answers now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import api_examples
from tests.installation import Installation


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_the_recorded_story_goes_on_as_it_did(tmp_path: Path, installation: Installation) -> None:
    recorded = json.loads(api_examples.FILE.read_text("utf-8"))
    now = api_examples.examples(installation.copy(tmp_path / "data"))
    assert set(names_in(now)) == set(names_in(recorded)), "Record it again: python -m tests.api_examples"


def names_in(value: Any, path: str = "") -> Iterator[str]:
    """All fields, by their places. Their values are others each time, such as hashes and times."""
    yield path
    if isinstance(value, dict):
        for key, one in value.items():
            yield from names_in(one, f"{path}/{key}")
    for one in value if isinstance(value, list) else ():
        yield from names_in(one, f"{path}/*")
