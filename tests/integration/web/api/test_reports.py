"""Reports over the API: every format, with a line in the audit trail for each, and 503 while one takes long."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from dataclasses import replace

import pytest

from runs.enums import AuditKind
from runs.models import AuditEntry, Run
from runs.readmodel.run_view import reading_of
from runs.reports.formats import BY_SUFFIX
from runs.reports.json_report import as_json
from runs.web.api import report_operations
from tests import factories as made
from tests.integration.web.api.asking import program_of
from tests.integration.web.api.test_files import body

pytestmark = pytest.mark.django_db


def test_a_report_is_downloaded_in_formats_and_parts_as_from_its_page() -> None:
    run = made.finished_succeeded()
    alice = program_of(made.alice())
    report = alice.get(f"/runs/{run.pk}/report.json")
    assert json.loads(body(report)) == as_json(reading_of(Run.objects.get(pk=run.pk)))
    assert report["Content-Disposition"] == f'attachment; filename="run-{run.pk}-report.json"'
    markdown = alice.get(f"/runs/{run.pk}/report.md?part=protocol")
    assert (markdown.status_code, markdown["Content-Type"]) == (200, BY_SUFFIX["md"].media_type)
    assert markdown["Content-Disposition"] == f'attachment; filename="run-{run.pk}-protocol.md"'
    everything = zipfile.ZipFile(io.BytesIO(body(alice.get(f"/runs/{run.pk}/files.zip"))))
    assert "report.md" in {name.rpartition("/")[2] for name in everything.namelist()}
    lines = AuditEntry.objects.filter(kind=AuditKind.REPORT_EXPORTED).order_by("number")
    assert [(line.by, line.run_number, line.subject) for line in lines] == [
        ("alice", run.pk, "report.json"),
        ("alice", run.pk, "protocol.md"),
        ("alice", run.pk, "report with all files"),
    ]
    assert alice.get(f"/runs/{run.pk}/report.exe").status_code == 422
    assert alice.get(f"/runs/{run.pk}/report.md?part=some").status_code == 422


def test_a_format_that_takes_long_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    late = replace(BY_SUFFIX["pdf"], write=lambda source: b"%PDF-late" if go.wait(60) else b"")
    monkeypatch.setitem(BY_SUFFIX, "pdf", late)
    monkeypatch.setattr(report_operations, "WAIT_SECONDS", 0)
    run = made.finished_succeeded()
    alice = program_of(made.alice())
    early = alice.get(f"/runs/{run.pk}/report.pdf")
    assert (early.status_code, early["Retry-After"]) == (503, "5")
    assert not AuditEntry.objects.filter(kind=AuditKind.REPORT_EXPORTED).exists()
    go.set()
    monkeypatch.setattr(report_operations, "WAIT_SECONDS", 60)
    answer = alice.get(f"/runs/{run.pk}/report.pdf")
    assert (answer.status_code, body(answer), answer["Content-Type"]) == (200, b"%PDF-late", "application/pdf")
    assert AuditEntry.objects.get(kind=AuditKind.REPORT_EXPORTED).subject == "report.pdf"
