"""No export of a run carries a citation that leads nowhere and does not say so (T8)."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.models import Run
from runs.readmodel.run_view import reading_of
from runs.reports import archive, markdown_html
from runs.store import blobs, trees
from tests import factories as made
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

SOURCES = {
    "nda.md": "# NDA\n\nThe notice period is thirty days.\n\nAfter that the agreement ends.\n",
    "my lease.md": "The rent is 4,000 dollars a month.\n",
}
QUOTES = ("thirty days", "The notice period is thirty days.", "4,000 dollars", "forty days", "the agreement ends")
PATHS = ("nda.md", "my lease.md", "my%20lease.md", "<my lease.md>", "none.md", "review/report.md")
SHAPES = ("It says so {}.", "- {}", "| a |\n|---|\n| {} |", "## Of {}", "**all *{}* of it**", "1. one\n   - {}")
PARTS = st.tuples(st.sampled_from(SHAPES), st.sampled_from(QUOTES), st.sampled_from(PATHS), st.integers(0, 9))


def written(path: str, line: int) -> str:
    """The target of a link; angle brackets go round all of it."""
    anchor = f"#L{line}" if line else ""
    return f"{path[:-1]}{anchor}>" if path.startswith("<") else f"{path}{anchor}"


def holds(quote: str, path: str) -> bool:
    """By the plainest means: the words are in the file of this name."""
    return quote in SOURCES.get(path.strip("<>").replace("%20", " "), "")


def delivered(run: Run, text: str) -> Run:
    """The run, had it written this text as its only file and as its answer."""
    head = trees.with_changes(run.inputs, {"review/report.md": blobs.put(text.encode())})
    Run.objects.filter(pk=run.pk).update(head=head, answer=text)
    return Run.objects.get(pk=run.pk)


def report_in_zip(run: Run) -> str:
    with zipfile.ZipFile(io.BytesIO(b"".join(archive.stream(run)))) as files:
        return files.read("report.md").decode()


def broken_in(report: dict[str, Any]) -> dict[str, list[str]]:
    """By document, the answer being none, the quotes that JSON calls broken."""
    documents = report["citations"]["documents"]
    return {
        document["path"] or "": [one["quote"] for one in document["citations"] if one["status"] == "broken"]
        for document in documents
    }


@pytest.fixture
def of_sources() -> Run:
    """A finished run that was given these files; each example gives it another text."""
    files = {path: blobs.put(text.encode()) for path, text in SOURCES.items()}
    run = made.finished_succeeded()
    Run.objects.filter(pk=run.pk).update(inputs=trees.make_tree(dict(sorted(files.items()))))
    return Run.objects.get(pk=run.pk)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(parts=st.lists(PARTS, min_size=1, max_size=5))
def test_whatever_is_cited_is_found_or_marked_in_every_export(
    of_sources: Run, parts: list[tuple[str, str, str, int]]
) -> None:
    text = "\n\n".join(shape.format(f"[“{quote}”]({written(path, at)})") for shape, quote, path, at in parts)
    run = delivered(of_sources, text)
    # what cites the report itself is held against the report, which has the words: they are in the citation
    nowhere = [quote for _, quote, path, _ in parts if path != "review/report.md" and not holds(quote, path)]

    markdown, marks = as_markdown(run), 2 * len(nowhere)  # in the answer, and in the document below it
    broken = broken_in(as_json(run))
    assert broken.keys() == {"", "review/report.md"}
    for found in broken.values():
        assert sorted(one.strip("“”") for one in found) == sorted(nowhere)
    assert markdown.count("broken citation: ") == marks
    assert report_in_zip(run).count("broken citation: ") == marks
    assert re.findall(r"(?<!\\)\]\(<?(?:nda|my|none|review)", markdown) == []
    assert ("all found" in reading_of(run).citations.sentence) == (not nowhere)
    live = re.findall(r'<a [^>]*href="([^"]*)"[^>]*>([^<]*)</a>', markdown_html.render_markdown(markdown))
    assert [one for one in live if "files" in one[0]] == []
