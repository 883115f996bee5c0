"""The report as a page, as Markdown and in a zip."""

import html
import io
import re
import stat
import zipfile
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client
from markdown_it import MarkdownIt

from runs.enums import Role
from runs.models import ModelCall, Run, User
from runs.pev.policy import RoleModel
from runs.reports.archive import entry_name
from runs.reports.formats import FORMATS
from runs.store import blobs, trees
from tests import factories

REPORTS = [f"report.{form.suffix}" for form in FORMATS.values() if not form.is_slow]
HOSTILE = "</p><script>alert(1)</script>\n# SUCCEEDED\n```\nunclosed"


def body(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


@pytest.mark.slow
def test_a_partial_report_begins_with_the_number_of_its_gaps(alice_client: Client) -> None:
    run = factories.finished_partial()
    text = alice_client.get(f"/runs/{run.pk}/report/").text
    assert "PARTIAL:" in text
    assert "was accepted with open points" in text
    markdown = body(alice_client.get(f"/runs/{run.pk}/report.md?part=all")).decode()
    assert markdown.startswith("# PARTIAL: Review these three contracts\n")
    people = "- 1 step was accepted with open points by alice."
    notice = (
        f"**This is not all that was asked for.**\n\nThere are 2 open points.\n\n{people}\n\nThe three contracts leave"
    )
    assert markdown.index(notice) < markdown.index("## Open points\n\n- Step “Review")
    strategy = run.plans.get().header.rollback_strategy
    assert f"**If you do not use the results**\n\n{strategy}" in markdown
    assert f"<p><strong>If you do not use the results</strong></p><p>{strategy}</p>" in text
    assert "confident · not usable yet; the verdict asked for another attempt\n" in markdown
    assert "confident · not usable yet; the verdict asked for another attempt<" in text


def test_a_succeeded_report_has_no_gaps_and_its_quotes_lead_to_the_place(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    text = alice_client.get(f"/runs/{run.pk}/report/").text
    assert "What is missing" not in text
    assert "#hit" in text


def test_what_a_step_cost_leads_to_its_page(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    step = run.plans.get().steps.get(key="inventory")
    text = alice_client.get(f"/runs/{run.pk}/report/").text
    assert f'<td><a href="/runs/{run.pk}/steps/{step.pk}/">List the contracts and their parties</a></td>' in text


@pytest.mark.slow
def test_every_quote_link_marks_its_quote(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    text = html.unescape(alice_client.get(f"/runs/{run.pk}/report/").text)
    places = re.findall(r'href="([^"]+)#hit"', text)
    assert places
    for place in places:
        assert '<mark id="hit">' in alice_client.get(place).text


def test_the_report_names_who_approved_what_and_how(alice_client: Client) -> None:
    run = factories.finished_partial()
    text = alice_client.get(f"/runs/{run.pk}/report/").text
    assert "<strong>alice</strong> approved version 1 of the plan" in text
    assert "<strong>alice</strong> accepted “Review the clauses” with open points" in text
    assert "“Good enough for now.”" in text


def test_a_run_that_is_not_finished_says_so(alice_client: Client) -> None:
    run = factories.planning()
    text = alice_client.get(f"/runs/{run.pk}/report/").text
    assert "The run is not finished." in text
    assert body(alice_client.get(f"/runs/{run.pk}/report.md?part=all")).decode().startswith("# NOT FINISHED: ")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_offline_work_is_told_apart_from_ai(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    assert "No AI was involved" not in alice_client.get(f"/runs/{run.pk}/report/").text
    ModelCall.objects.filter(run=run).update(model="offline-executor")
    assert "No AI was involved" in alice_client.get(f"/runs/{run.pk}/report/").text
    assert "No AI was involved" in body(alice_client.get(f"/runs/{run.pk}/report.md?part=all")).decode()


def _told(client: Client, address: str) -> str:
    answer = client.get(address)
    return (body(answer) if answer.streaming else answer.content).decode()


@pytest.mark.slow
def test_what_offline_rules_judged_is_nowhere_called_ai_review(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    step = run.plans.get().steps.get(key="review")
    tails = ("report/", "report.md", "report.json", f"steps/{step.pk}/", "", "plan/")
    addresses = [f"/runs/{run.pk}/{tail}" for tail in tails]
    assert [one for one in addresses if "AI review" not in _told(alice_client, one)] == []
    models = {role: RoleModel(model=f"offline-{role}") for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)}
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(models=models))
    ModelCall.objects.filter(run=run).update(model="offline-executor")
    for one in addresses:
        text = _told(alice_client, one)
        found = [word for word in ("AI review", "% confident", "odel calls") if word in text]
        assert (one, "offline rules" in text, found) == (one, True, [])


@pytest.mark.slow
def test_unpriced_calls_are_never_free(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    first = ModelCall.objects.filter(run=run).first()
    assert first
    ModelCall.objects.filter(pk=first.pk).update(cost_usd=None)
    assert "1 call unpriced" in alice_client.get(f"/runs/{run.pk}/report/").text
    ModelCall.objects.filter(run=run).update(cost_usd=None)
    report = body(alice_client.get(f"/runs/{run.pk}/report.md?part=all")).decode()
    assert "## Cost\n\nunpriced; 10 model calls" in report


@pytest.mark.slow
def test_estimate_and_actual_stand_side_by_side(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    text = alice_client.get(f"/runs/{run.pk}/report/").text
    assert "The estimate is based on typical figures for steps of this risk." in text
    assert "$0.036 to $0.322" in text
    rows = body(alice_client.get(f"/runs/{run.pk}/report.md?part=all")).decode().splitlines()
    inventory = (
        "| List the contracts and their parties | $0.036 to $0.322 | $0.048 | within | 21,000 to 136,800 | 24,600 |"
    )
    assert inventory in rows
    assert "| Planning | not estimated | $0.084 | done before the estimate was made |  | 11,400 |" in rows
    assert "| Whole run |  | $0.343 |  |  | 142,800 |" in rows


@pytest.mark.slow
def test_the_figures_of_a_run_are_in_its_report(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    text = alice_client.get(f"/runs/{run.pk}/report/").text
    assert "<dt>Passed at once</dt><dd>67 % (2 of 3)</dd>" in text
    assert "; worked " in text
    assert "<dt>Finished</dt><dd>not yet; worked " in alice_client.get(f"/runs/{factories.planning().pk}/report/").text
    rows = body(alice_client.get(f"/runs/{run.pk}/report.md?part=all")).decode().splitlines()
    assert "- **Passed at once**: 67 % (2 of 3)" in rows
    assert "- **Executor 70 to 80 % confident**: 0 % (0 of 1) passed" in rows
    assert "- **Planning**: 2.7 s in 1 model call" in rows


def test_cache_writes_are_told_apart_by_how_long_they_live(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    ModelCall.objects.filter(run=run, role="planner").update(cache_write_5m_tokens=31, cache_write_1h_tokens=42)
    row = "| planner | claude-opus-5-5 | 1 | 9,000 | 2,400 | 0 | 31 | 42 | $0.084 |"
    assert row in body(alice_client.get(f"/runs/{run.pk}/report.md?part=all")).decode().splitlines()


@pytest.mark.slow
def test_hostile_text_breaks_neither_page_nor_markdown(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    Run.objects.filter(pk=run.pk).update(title=HOSTILE, request=HOSTILE, answer=HOSTILE)
    assert "<script>alert" not in alice_client.get(f"/runs/{run.pk}/report/").text
    markdown = body(alice_client.get(f"/runs/{run.pk}/report.md?part=all")).decode()
    assert "<script" not in markdown
    assert "\n# SUCCEEDED" not in markdown
    assert [row for row in markdown.splitlines() if row.startswith("## ")] == [
        "## Answer",
        "## Contracts",
        "## Findings",
        "## Kestrel systems",
        "## Success criteria",
        "## Documents reviewed",
        "## Outcome",
        "## Request",
        "## Decisions",
        "## Cost",
        "## Evidence for the success criteria",
        "## What was read of your files",
        "## Citations",
        "## Results",
        "## Plan and steps",
        "## Cost against the estimate",
        "## Model calls",
        "## Figures",
        "## Sources",
    ]


@pytest.mark.slow
def test_nothing_in_the_markdown_is_fetched_or_moves_a_terminal(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    hostile = "![x](http://evil.example/)\x1b[2J\u202e"
    Run.objects.filter(pk=run.pk).update(title=hostile, request=hostile, answer=hostile)
    text = body(alice_client.get(f"/runs/{run.pk}/report.md?part=all")).decode()
    assert "> !\\[x\\](http://evil.example/)\\\\u001b\\[2J\\\\u202e" in text
    assert "&#33;[x](<http://evil.example/>)\\\\u001b\\[2J\\\\u202e" in text
    assert not {"\x1b", "\u202e"} & set(text)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert not [child for token in tokens for child in token.children or [] if child.type == "image"]


def test_the_zip_holds_what_was_made_and_the_report(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    answer = alice_client.get(f"/runs/{run.pk}/files.zip")
    assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}.zip"'
    archive = zipfile.ZipFile(io.BytesIO(body(answer)))
    before = trees.files_of(run.inputs)
    made = {path: info for path, info in trees.files_of(run.head).items() if before.get(path) != info}
    assert sorted(archive.namelist()) == sorted([*made, "journal.jsonl", *REPORTS])
    assert {"report.html", "report.json", "report.md"} <= set(REPORTS)
    assert {stat.S_IFMT(entry.external_attr >> 16) for entry in archive.infolist()} == {stat.S_IFREG}
    for path, info in made.items():
        assert archive.read(path) == blobs.read(info.sha256)


def test_the_zip_says_which_tables_a_spreadsheet_would_compute_and_changes_none(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    tables = {
        "a.csv": b"name,sum\nx,=1+1\ny,@SUM(A1)\n",
        "b.TSV": b"a\t+x\n",
        "long.csv": b"x" * 200_000 + b"\n=1\n",
        "plain.csv": b"a,-1\n",
        "a.md": b"=1\n",
        "READ-ME-FIRST.txt": b"of the run",
    }
    stored = {path: blobs.put(data) for path, data in tables.items()}
    Run.objects.filter(pk=run.pk).update(head=trees.make_tree(stored))
    archive = zipfile.ZipFile(io.BytesIO(body(alice_client.get(f"/runs/{run.pk}/files.zip"))))
    assert {path: archive.read(path) for path in tables} == tables
    assert archive.read("READ-ME-FIRST-2.txt").decode().splitlines()[1:] == [
        "a.csv: 2 cells",
        "b.TSV: 1 cell",
        "long.csv: perhaps some cells (not all of it was looked at)",
    ]


def test_what_is_packed_already_is_not_packed_again_in_a_zip(alice_client: Client) -> None:
    run = factories.stopped()
    made = {path: blobs.put(b"x" * 1_000) for path in ("a.PNG", "b.md")}
    Run.objects.filter(pk=run.pk).update(head=trees.make_tree(made))
    archive = zipfile.ZipFile(io.BytesIO(body(alice_client.get(f"/runs/{run.pk}/files.zip"))))
    kinds = {path: archive.getinfo(path).compress_type for path in made}
    assert kinds == {"a.PNG": zipfile.ZIP_STORED, "b.md": zipfile.ZIP_DEFLATED}
    assert [archive.read(path) for path in made] == [b"x" * 1_000] * 2


def test_a_zip_of_paths_from_before_they_were_refused_unpacks_nowhere_else(alice_client: Client) -> None:
    run = factories.stopped()
    tree = trees.make_tree({path: blobs.put(b"x") for path in (".git/config", "a:b", "report.md")})
    Run.objects.filter(pk=run.pk).update(head=tree)
    archive = zipfile.ZipFile(io.BytesIO(body(alice_client.get(f"/runs/{run.pk}/files.zip"))))
    assert archive.namelist() == [
        *(entry_name(".git/config"), entry_name("a:b"), "report.md"),
        *(name.replace("report.md", "report-2.md") for name in REPORTS),
        "journal.jsonl",
    ]
    assert not {".git", ":"} & {part for name in archive.namelist() for part in name.split("/")}


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_served_zip_is_streamed(db: None) -> None:
    run = factories.finished_succeeded()
    owner = run.owner

    async def fetch() -> bytes:
        client = AsyncClient()
        await client.aforce_login(owner)
        answer: Any = await client.get(f"/runs/{run.pk}/files.zip")
        assert answer.is_async
        return b"".join([piece async for piece in answer.streaming_content])

    archive = zipfile.ZipFile(io.BytesIO(async_to_sync(fetch)()))
    assert archive.testzip() is None
    assert factories.REVIEW in archive.namelist()


@pytest.mark.parametrize("address", ["report/", "report.md", "files.zip"])
def test_bob_may_read_and_charlie_gets_404(client: Client, bob: User, charlie: User, address: str) -> None:
    run = factories.planning()
    for person, status in ((bob, 200), (charlie, 404)):
        client.force_login(person)
        assert client.get(f"/runs/{run.pk}/{address}").status_code == status
