"""Citations that are invented, wrong, of another run or not wanted: none leaves the product unmarked (T8)."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import pytest
from django.test import Client

from runs.enums import Outcome
from runs.models import Attempt, Run
from runs.reports import archive
from tests.factories import Submit
from tests.fakes.adversaries import executors
from tests.fakes.adversaries.everyone import synthesizes
from tests.fakes.anthropic_answers import Answer, Request
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step, step_of
from tests.integration.adversarial.holding import must_hold, page, play
from tests.integration.source import without_layout
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

FILES = {"contracts/nda.md": b"# NDA\n\nThe notice period is thirty days.\n"}
SCAN = {"scan.pdf": b"%PDF-1.7\0"}
GOOD = "[“thirty days”](contracts/nda.md#L3)"
OFF = "[“thirty days”](contracts/nda.md#L1)"
INVENTED = "[“forty days”](contracts/nda.md#L3)"
RIGHT = f"The notice period is thirty days {GOOD}. Found by one.\n"


def cites(text: str) -> Team:
    return Team(plan=plan(step("one")), executor=executors.writes(f"The notice period is known: {text}.\n"))


BROKEN = {
    "invented": (INVENTED, "“forty days” does not occur in contracts/nda.md"),
    "absent": ("[“thirty days”](contracts/other.md#L3)", "There is no file “contracts/other.md”"),
    "foreign": (
        "[“thirty days”](/runs/1/files/contracts/nda.md#L3)",
        "There is no file “/runs/1/files/contracts/nda.md”",
    ),
    "unreadable": ("[“thirty days”](scan.pdf#page=7)", "scan.pdf cannot be read yet, so nothing can be cited from it"),
    "format": ("[“thirty days”](contracts/nda.md#p3)", "Its place “p3” belongs to another format"),
    "anchor": ("[“thirty days”](contracts/nda.md#notice)", "Its place “notice” is none that a text file has"),
    "reference": ("[“thirty days”][n]\n\n[n]: contracts/none.md#L3 ", "There is no file “contracts/none.md”"),
}
"""By step: a citation that its document has, and the words that say why it is broken."""


def test_a_document_with_a_broken_citation_fails_before_a_model_is_asked(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        link, _ = BROKEN[key := step_of(request)["step_id"]]
        return executors.writes(f"The notice period is known: {link}.\n", f"{key}.md")(request, right)

    team = Team(plan=plan(*map(step, BROKEN)), executor=executor)
    run = play(api, submitted, team, FILES | SCAN, sources_needed=False, parallel=len(BROKEN))
    reasons = []
    for attempt in Attempt.objects.select_related("step", "verdict"):
        _, reason = BROKEN[attempt.step.key]
        wrong = f"Every citation in {attempt.step.key}.md leads to what it quotes"
        (checked,) = [result for result in attempt.verdict.results if result.text == wrong]
        assert (checked.decided_by, checked.passed, reason in checked.feedback) == ("check", False, True)
        reasons += [reason, wrong]
    assert len(reasons) == 2 * len(BROKEN)
    must_hold(run, client, Outcome.FAILED, *reasons)
    assert "verifier" not in team.seen


def test_a_file_of_another_run_of_the_same_person_cannot_be_cited(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    """The words stand there, in a file of this name: in this run nobody has given it."""
    play(api, submitted, cites(GOOD), FILES)
    run = play(api, submitted, cites(GOOD), {"other.md": b"Nothing is said here.\n"})
    must_hold(run, client, Outcome.FAILED, "There is no file “contracts/nda.md”")


@pytest.mark.exhaustive
def test_a_line_that_is_another_one_or_beyond_the_end_is_corrected_in_a_document(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    lines = (1, 4, 999)
    text = ", ".join(f"[“thirty days”](contracts/nda.md#L{line})" for line in lines)
    run = play(api, submitted, cites(text), FILES)
    must_hold(run, client, Outcome.SUCCEEDED, "3 citations, all found, 3 with a corrected line")
    document = page(client, f"/runs/{run.pk}/files/one.md?view=rendered")
    assert [document.count(f"(line corrected from {line} to 3)") for line in lines] == [1, 1, 1]


def test_a_wrong_line_of_the_right_file_is_corrected_and_marked(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    run = play(
        api,
        submitted,
        Team(plan=plan(step("one")), synthesizer=synthesizes(f"Thirty {OFF}.")),
        FILES,
        sources_needed=False,
    )
    must_hold(run, client, Outcome.SUCCEEDED, "1 citation, all found, 1 with a corrected line")
    markup = page(client, f"/runs/{run.pk}/report/")
    assert "(line corrected from 1 to 3)" in markup
    assert as_markdown(run).count("“thirty days” (Nda, line 3) *(line corrected from 1 to 3)*") == 1


def test_a_citation_opens_the_highlighted_place_in_one_click(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    run = play(
        api, submitted, Team(plan=plan(step("one")), synthesizer=synthesizes(RIGHT)), FILES, sources_needed=False
    )
    must_hold(run, client, Outcome.SUCCEEDED, "1 citation, all found")
    for address in (f"/runs/{run.pk}/", f"/runs/{run.pk}/report/"):
        link = re.search(
            rf'href="(/runs/{run.pk}/files/contracts/nda\.md\?[^"#]*)#hit"[^>]*>“thirty days”</a>',
            page(client, address),
        )
        assert link
        source = page(client, link[1].replace("&amp;", "&"))
        assert '<mark id="hit">thirty days</mark>' in without_layout(source)


def test_an_answer_that_cites_what_is_not_there_is_asked_for_once_more_and_then_marked(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    team = Team(plan=plan(step("one")), synthesizer=synthesizes(f"The period is forty days {INVENTED}."))
    run = play(api, submitted, team, FILES, sources_needed=False)
    reason = "1 citation leads nowhere. The answer: Line 1: “forty days” does not occur in contracts/nda.md."
    must_hold(run, client, Outcome.PARTIAL, reason)
    assert len(team.seen["synthesizer"]) == 2
    for text in (page(client, f"/runs/{run.pk}/"), page(client, f"/runs/{run.pk}/report/"), as_markdown(run)):
        assert "broken citation" in text
    assert [one["status"] for one in documents(run)[0]["citations"]] == ["broken"]


@pytest.mark.exhaustive
def test_links_in_a_passage_of_a_given_file_are_shown_as_words(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    readme = {"README.md": b"Before you start see [setup](docs/setup.md#L3).\n"}
    text = "It says: “see [setup](docs/setup.md#L3)”, in one line.\n"
    team = Team(plan=plan(step("one")), executor=executors.writes(text), synthesizer=synthesizes(text))
    run = play(api, submitted, team, FILES | readme, sources_needed=False)
    must_hold(run, client, Outcome.SUCCEEDED, "README.md")
    shown = (page(client, f"/runs/{run.pk}/report/"), page(client, f"/runs/{run.pk}/files/one.md?view=rendered"))
    links = ("setup <em>(a link of README)</em>", "setup <em>(a link of README.md)</em>")  # a report names titles
    assert [link in text for link, text in zip(links, shown, strict=True)] == [True, True]
    assert "“see setup *(a link of README)*”" in as_markdown(run)
    assert "itation" not in as_markdown(run).split("## Request")[0]
    assert [one["status"] for one in documents(run)[0]["citations"]] == ["copied"]


def test_a_finished_text_must_not_cite(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    wanted = plan(step("one"))
    wanted["steps"][0]["expected_outputs"] = [{"path": "one.md", "cited": False}]
    team = Team(plan=wanted, executor=executors.writes(RIGHT))
    run = play(api, submitted, team, FILES, sources_needed=False)
    must_hold(run, client, Outcome.FAILED, "one.md must not carry citations. Line 1 has one: contracts/nda.md.")


@pytest.mark.exhaustive
def test_a_document_keeps_its_bytes_and_its_page_shows_it_with_links(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    text = f"Thirty {OFF}.\n\nIt costs 400 euros.\n"
    run = play(
        api, submitted, Team(plan=plan(step("one")), executor=executors.writes(text)), FILES, sources_needed=False
    )
    must_hold(run, client, Outcome.PARTIAL, "1 citation, all found, 1 with a corrected line", "400 euros (one.md")
    files = zipfile.ZipFile(io.BytesIO(b"".join(archive.stream(run))))
    assert files.read("one.md").decode() == text
    assert "Corrected: one.md: Line 1:" in files.read("report.md").decode()
    markup = page(client, f"/runs/{run.pk}/files/one.md?view=rendered")
    assert "(line corrected from 1 to 3)" in markup
    assert "It costs 400 euros." in markup.split("without a citation")[1]


def documents(run: Run) -> list[dict[str, Any]]:
    found: Any = as_json(run)["citations"]
    return list(found["documents"])


@pytest.mark.exhaustive
def test_pages_look_up_the_first_of_very_many_citations_and_say_so(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    team = Team(plan=plan(step("one")), synthesizer=synthesizes(f"Thirty {GOOD}.\n\n" * 2_001))
    run = play(api, submitted, team, FILES, sources_needed=False)
    reason = "2,000 citations, all found, The answer not looked through here to the end"
    must_hold(run, client, Outcome.SUCCEEDED, reason)
    assert reason in as_markdown(run)
    markup = page(client, f"/runs/{run.pk}/report/")
    assert (markup.count(">“thirty days”</a>"), "only its first citations were looked up" in markup) == (2_000, True)
