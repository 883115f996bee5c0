"""Diagrams on pages: pictures from an address of their own, for who may see the run, with the source beside them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from html import escape

import pytest
from django.core.files.storage import storages
from django.test import Client

from runs.models import Attempt, Run
from runs.store import diagram_pictures
from runs.store.diagram_pictures import MAX_DRAWN, name_of
from tests import factories
from tests.integration.web.test_files import run_with

pytestmark = pytest.mark.django_db
FLOW = "flowchart LR\n  web[Website] --> db[(Database)]"
BROKEN = "flowchart LR\n  a[Open --> b"
HOSTILE = 'flowchart LR\n  a["<script>alert(1)</script>"] --> b\n  click a "javascript:alert(1)"'
NO_SOURCE_IN_PAGE = "<script>alert"


@pytest.fixture(autouse=True)
def nothing_drawn() -> None:
    shutil.rmtree(storages["pages"].path(""), ignore_errors=True)


def block(*sources: str) -> str:
    return "# Parts\n\n" + "\n".join(f"```mermaid\n{source}\n```\n" for source in sources)


def pictures_of(page: str) -> Sequence[str]:
    return [one.replace("&amp;", "&") for one in re.findall(r'<img [^>]*?src="([^"]*diagram=[^"]*)"', page)]


@pytest.mark.slow
def test_a_block_of_markdown_is_a_picture_with_its_source_in_a_fold(alice_client: Client) -> None:
    run = run_with({"parts.md": block(FLOW).encode()})
    page = alice_client.get(f"/runs/{run.pk}/files/parts.md").text
    [address] = pictures_of(page)
    assert '<img class="unsized" ' in page
    assert f'<pre class="code"><code>{escape(FLOW)}</code></pre></details></figure>' in page
    assert "<svg" not in page.split("<main")[1].split("</main")[0]
    answer = alice_client.get(address)
    png = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert (answer["Content-Type"], answer["X-Content-Type-Options"], png[:8]) == (
        "image/png",
        "nosniff",
        b"\x89PNG\r\n\x1a\n",
    )
    assert answer["Content-Security-Policy"] == "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"
    size = diagram_pictures.drawn_before(FLOW)
    assert size is not None
    again = alice_client.get(f"/runs/{run.pk}/files/parts.md").text
    assert f'width="{size.width}" height="{size.height}" alt="Flowchart" loading="lazy">' in again


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_mermaid_file_is_shown_as_its_diagram_or_as_text(alice_client: Client) -> None:
    run = run_with({"parts.mmd": FLOW.encode()})
    page = alice_client.get(f"/runs/{run.pk}/files/parts.mmd").text
    assert alice_client.get(pictures_of(page)[0]).status_code == 200
    assert 'aria-current="true">Diagram</a>' in page
    as_text = alice_client.get(f"/runs/{run.pk}/files/parts.mmd?view=text").text
    assert (pictures_of(as_text), "web[Website]" in as_text) == ([], True)


@pytest.mark.slow
def test_what_cannot_be_drawn_is_a_sentence_and_its_source(alice_client: Client) -> None:
    run = run_with({"parts.md": block(FLOW, BROKEN).encode()})
    page = alice_client.get(f"/runs/{run.pk}/files/parts.md").text
    assert [alice_client.get(one).status_code for one in pictures_of(page)] == [200, 404]
    again = alice_client.get(f"/runs/{run.pk}/files/parts.md").text
    assert '<p class="alert warn">This diagram is not drawn: Error: Parse error on line ' in again
    assert (
        f'<details class="fold" open><summary>Source of the diagram</summary><pre class="code"><code>{escape(BROKEN)}'
        in again
    )


@pytest.mark.slow
def test_what_is_hostile_stays_words(alice_client: Client) -> None:
    run = run_with({"parts.md": block(HOSTILE).encode()})
    page = alice_client.get(f"/runs/{run.pk}/files/parts.md").text
    [address] = pictures_of(page)
    assert (NO_SOURCE_IN_PAGE in page, 'href="javascript' in page) == (False, False)
    assert alice_client.get(address).status_code == 200


def test_of_a_text_no_more_than_a_few_are_drawn(alice_client: Client) -> None:
    run = run_with({"parts.md": block(*[f"{FLOW}{number}" for number in range(MAX_DRAWN + 1)]).encode()})
    page = alice_client.get(f"/runs/{run.pk}/files/parts.md").text
    assert len(pictures_of(page)) == MAX_DRAWN
    assert "This diagram is not drawn: only the first 20 diagrams of a text are drawn." in page
    last = f"/runs/{run.pk}/files/parts.md?diagram={name_of(FLOW + str(MAX_DRAWN))}"
    assert alice_client.get(last).status_code == 404


@pytest.mark.slow
def test_only_who_may_see_the_run_gets_its_pictures_and_only_of_it(
    alice_client: Client, charlie_client: Client
) -> None:
    run, other = run_with({"a.md": block(FLOW).encode()}), run_with({"a.md": b"# Nothing"})
    name = name_of(FLOW)
    asked = [f"/runs/{one.pk}/files/a.md?diagram={name}" for one in (run, other)]
    assert [alice_client.get(one).status_code for one in asked] == [200, 404]
    assert [charlie_client.get(one).status_code for one in asked] == [404, 404]
    assert alice_client.get(f"/runs/{run.pk}/files/a.md?diagram=../../x").status_code == 404


@pytest.mark.slow
@pytest.mark.exhaustive
def test_the_answer_and_findings_have_theirs(alice_client: Client, charlie_client: Client) -> None:
    run = factories.finished_succeeded()
    run.answer = f"{run.answer}\n\n{block(FLOW)}"
    run.save()
    [address] = pictures_of(alice_client.get(f"/runs/{run.pk}/").text)
    assert address == f"/runs/{run.pk}/texts/answer/?diagram={name_of(FLOW)}"
    assert (alice_client.get(address).status_code, charlie_client.get(address).status_code) == (200, 404)
    attempt = Attempt.objects.of_run(run).filter(output__isnull=False).first()
    assert attempt is not None
    assert attempt.output is not None
    attempt.output = attempt.output.model_copy(update={"findings": block(FLOW)})
    attempt.save()
    page = alice_client.get(f"/runs/{run.pk}/steps/{attempt.step_id}/").text
    assert f"/runs/{run.pk}/texts/attempt-{attempt.pk}-output/?diagram={name_of(FLOW)}" in pictures_of(page)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_the_page_of_the_report_shows_those_of_the_answer(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    Run.objects.filter(pk=run.pk).update(answer=f"Done.\n\n```mermaid\n{FLOW}\n```")
    page = alice_client.get(f"/runs/{run.pk}/report/").text
    [address] = re.findall(r'src="(/runs/\d+/texts/answer/\?diagram=[0-9a-f]{64})"', page)
    assert alice_client.get(address).status_code == 200
