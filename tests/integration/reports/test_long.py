"""Three megabytes of findings in every form: small files that say what they leave out, and JSON with all."""

import io
import zipfile
from typing import Any

import pytest
from docx import Document

from runs.models import Attempt, Run
from runs.reports import archive, hypertext
from runs.reports.machine import as_json
from runs.reports.markdown import as_markdown
from runs.reports.outline import exported
from runs.reports.printed import printed
from tests.factories.long import long_run

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

POINT = "- The lease has no commencement date, <b>and</b> clause 7 names no amount.\n"
FINDINGS = POINT * (199_000 // len(POINT))
SENTENCE = "which stand in the JSON report."


@pytest.mark.exhaustive
def test_three_megabytes_of_findings_in_every_form() -> None:
    run = long_run(6, 4, FINDINGS)
    Run.objects.filter(pk=run.pk).update(answer=FINDINGS * 2)
    run = Run.objects.get(pk=run.pk)
    written = [attempt.output.findings for attempt in Attempt.objects.of_run(run) if attempt.output]
    assert sum(map(len, written)) > 3_000_000

    report = exported(run)
    page, text = hypertext.as_html(report), as_markdown(run)
    assert (page.count(SENTENCE), text.count(SENTENCE)) == (1, 1)
    assert (len(page) < 600_000, len(text) < 600_000) == (True, True)
    word = printed(report, "docx")
    document: Any = Document(io.BytesIO(word))
    assert SENTENCE in "\n".join(paragraph.text for paragraph in document.paragraphs)
    pdf = printed(report, "pdf")
    assert (pdf[:5], len(pdf) < 5_000_000, len(word) < 200_000) == (b"%PDF-", True, True)

    data: Any = as_json(run)
    told = [attempt["findings"] for step in data["steps"] for attempt in step["attempts"]]
    assert (sorted(told) == sorted(written), data["judged_answer"].count(POINT.strip())) == (
        True,
        2 * FINDINGS.count(POINT),
    )
    whole = zipfile.ZipFile(io.BytesIO(b"".join(archive.stream(run))))
    assert whole.testzip() is None
    assert len(whole.read("report.json")) > 3_000_000
