"""Three megabytes of findings in every form: small files that say what they leave out, and JSON with all."""

import io
import zipfile
from typing import Any

import pytest
from docx import Document

from runs.models import Attempt, Run
from runs.reports import archive
from runs.reports.formats import html
from tests.factories.long import long_run
from tests.reporting import as_json, as_markdown, exported, written

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

POINT = "- The lease has no commencement date, <b>and</b> clause 7 names no amount.\n"
FINDINGS = POINT * (199_000 // len(POINT))
SENTENCE = "more characters, which stand in the JSON report."


@pytest.mark.exhaustive
def test_three_megabytes_of_findings_in_every_form() -> None:
    run = long_run(6, 4, FINDINGS)
    Run.objects.filter(pk=run.pk).update(answer=FINDINGS * 2)
    run = Run.objects.get(pk=run.pk)
    texts = [attempt.output.findings for attempt in Attempt.objects.of_run(run) if attempt.output]
    assert sum(map(len, texts)) > 3_000_000

    report = exported(run)
    page, text = html.as_html(report), as_markdown(run)
    assert page.count(SENTENCE) == text.count(SENTENCE) > 0
    assert (len(page) < 600_000, len(text) < 600_000) == (True, True)
    word = written(report, "docx")
    document: Any = Document(io.BytesIO(word))
    assert SENTENCE in "\n".join(paragraph.text for paragraph in document.paragraphs)
    pdf = written(report, "pdf")
    assert (pdf[:5], len(pdf) < 5_000_000, len(word) < 200_000) == (b"%PDF-", True, True)

    data: Any = as_json(run)
    told = [attempt["findings"] for step in data["steps"] for attempt in step["attempts"]]
    assert (sorted(told) == sorted(texts), data["judged_answer"].count(POINT.strip())) == (
        True,
        2 * FINDINGS.count(POINT),
    )
    whole = zipfile.ZipFile(io.BytesIO(b"".join(archive.stream(run))))
    assert whole.testzip() is None
    assert len(whole.read("report.json")) > 3_000_000
