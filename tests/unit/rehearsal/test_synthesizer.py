"""The final answer: nothing that the results do not contain, and no open point twice."""

from runs.rehearsal import job
from tests.unit.rehearsal.bench import Bench


def test_it_begins_with_the_findings_and_says_where_the_open_points_stand() -> None:
    bench = Bench()
    results = {"inventory": "3 files.\nMore", "findings": "4 points need attention.\n\n- F1\n# Heading"}
    bench.finish(job.template(), results, ("Notices\nfailed.",))
    head, last = bench.answer.split("\n\nOffline rules")
    assert head == (
        "4 points need attention. What is left open stands before this answer.\n\n"
        "- F1\n#### Heading\n\n## What the other steps found\n\n**List the documents.** 3 files.\n\n"
        "## Files\n\nNone were written."
    )
    assert last.startswith(", no AI: no AI was involved in this answer.")
    assert "what the request asks beyond this review was not looked for" in last


def test_without_findings_it_says_so_and_does_not_pass() -> None:
    bench = Bench()
    judgement = bench.finish(job.template(), {}, ("Everything failed.",))
    assert bench.answer.startswith("The findings were not delivered. What is left open stands before this answer.")
    assert not judgement.passed


def test_what_a_step_found_leads_to_its_file() -> None:
    bench = Bench()
    bench.tree["review/inventory.md"] = b"# Inventory\n"
    bench.finish(job.template(), {"findings": "No points.", "inventory": "3 files."})
    assert "**List the documents.** 3 files. See [review/inventory.md](review/inventory.md).\n" in bench.answer
