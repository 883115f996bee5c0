"""A data folder of version 1.0: after its tables are migrated, the run in it reads as it did.

`tests/fixtures/version_1_0/make.py` made the folder. A later migration that loses something of a run fails here.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from pytest_django import DjangoDbBlocker, Settings

from runs.models import Run, Step, User
from tests import databases
from tests.fixtures.version_1_0.make import HERE, facts_of
from tests.installation import migrate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(databases.GIVEN), reason="the folder has its rows in SQLite"),
]


@pytest.fixture
def upgraded_run(
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[Run]:
    """The run of the folder, which this process uses in place of the tests' own database and blobs."""
    with zipfile.ZipFile(HERE / "data.zip") as archive:
        archive.extractall(tmp_path)
    migrate(tmp_path)
    blobs = settings.STORAGES["blobs"] | {"OPTIONS": {"location": tmp_path / "blobs"}}
    settings.STORAGES = settings.STORAGES | {"blobs": blobs}
    with django_db_blocker.unblock():
        connection.close()
        with monkeypatch.context() as patched:
            patched.setitem(connection.settings_dict, "NAME", str(tmp_path / "pevsite.sqlite3"))
            yield Run.objects.get()
            connection.close()


def test_a_finished_run_of_1_0_reads_as_it_did(upgraded_run: Run, client: Client) -> None:
    client.force_login(User.objects.get(username="admin"))
    run = f"/runs/{upgraded_run.pk}"
    step = Step.objects.latest("position")
    tabs = ["/", "/plan/", "/steps/", f"/steps/{step.pk}/", "/files/", "/history/", "/cost/", "/report/", "/again/"]
    report = client.get(f"{run}/report.json")
    expected = json.loads((HERE / "expected.json").read_text("utf-8"))
    assert facts_of(json.loads(report.getvalue())) == expected
    pages = {path: client.get(path).status_code for path in ("/", *(f"{run}{tab}" for tab in tabs))}
    assert pages == dict.fromkeys(pages, 200)
    for path, _, size in expected["files"]:
        downloaded = client.get(f"{run}/files/{path}?download")
        assert (path, len(downloaded.getvalue())) == (path, size)
