"""Documents that steps write, over the whole loop: checks and evidence see their text."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs.documents.content import document_of
from runs.documents.model.layout import BlockKind, MarkKind
from runs.enums import Outcome
from runs.models import Attempt, User
from runs.readmodel.run_view import reading_of
from runs.store import trees
from tests.documents.word import commented, deleted, inserted, paragraph, word
from tests.factories import Submit, finish
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, plan, step, step_of
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]


FORMS = pytest.mark.parametrize("form", ["docx", "pdf"])
CITED = "So [“Found by one”](one.md#L1)."


@FORMS
def test_a_stub_is_told_so_and_a_whole_document_passes(
    api: FakeAnthropic, submitted: Submit, alice: User, form: str
) -> None:
    path, size = f"one.{form}", 22 if form == "docx" else 28  # pages have their number too

    def longer_when_told(request: Request, right: Answer) -> Answer:
        if request.tool_results or "has to have 100" not in request.last_text:
            return right
        return UseTools(ToolUse("write_file", {"path": path, "content": "What was found. " * 10}))

    steps = plan(step("one", outputs=(path,)))
    api.script(Team(plan=steps, executor=longer_when_told, verifier=quoting_words("What was found.")))
    run = finish(submitted(min_document_bytes=100, sources_needed=False), alice)
    first, second = Attempt.objects.order_by("number")
    assert first.verdict.feedback == f"- D1 (The document {path} is more than a stub): " + (
        f"{path} has {size} bytes of text; in this run it has to have 100"
    )
    assert (second.status, run.outcome) == ("passed", Outcome.SUCCEEDED)
    run.refresh_from_db()
    assert trees.contents_of(run.head)[path].decode().split()[:3] == ["What", "was", "found."]


def writing(**contents: list[tuple[str, str]]) -> Player:
    """An executor that writes these files, by the key of the step."""

    def play(request: Request, right: Answer) -> Answer:
        files = contents.get(step_of(request)["step_id"])
        if not (files and isinstance(right, UseTools)):
            return right
        return UseTools(*(ToolUse("write_file", {"path": path, "content": text}) for path, text in files))

    return play


def quoting_words(words: str) -> Player:
    """A verifier that quotes these where the first line of a document, which names its page, would be quoted."""
    return lambda _, right: Say(right.text.replace("[page=1]", words)) if isinstance(right, Say) else right


@FORMS
def test_the_citations_of_a_document_are_listed_and_lead_to_their_places(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, form: str
) -> None:
    path, at = f"two.{form}", "Footnote 1" if form == "docx" else "Page 1, footnote 1"
    steps = plan(step("one"), step("two", "one", outputs=(path,)))
    api.script(Team(plan=steps, executor=writing(two=[(path, CITED)]), verifier=quoting_words("Found by one")))
    run = finish(submitted(sources_needed=False), alice)
    run.refresh_from_db()
    found = reading_of(run).citations
    assert (run.outcome, found.sentence) == (Outcome.SUCCEEDED, "1 citation, all found")
    listed = as_markdown(run).partition(f"### Citations in {path}\n\n")[2].splitlines()[0]
    assert listed.startswith(f"- {at}: “Found by one” (One, line 1)")
    report: Any = as_json(run)
    documents = report["citations"]["documents"]
    assert [(one["path"], [cited["quote"] for cited in one["citations"]]) for one in documents] == [
        (None, []),
        ("one.md", []),
        (path, ["Found by one"]),
    ]
    client.force_login(alice)
    for address in (f"/runs/{run.pk}/report/", f"/runs/{run.pk}/files/{path}"):
        page = client.get(address).text
        [link] = [part for part in page.split('href="') if part.startswith(f"/runs/{run.pk}/files/one.md?sha=")][:1]
        shown = client.get(link.partition('"')[0].replace("&amp;", "&").partition("#")[0]).text
        assert '<mark id="hit">Found by one' in shown


@pytest.mark.exhaustive
@FORMS
def test_one_that_a_later_step_breaks_is_an_open_point(
    api: FakeAnthropic, submitted: Submit, alice: User, form: str
) -> None:
    path, at = f"two.{form}", "Footnote 1" if form == "docx" else "Page 1, footnote 1"
    steps = plan(step("one"), step("two", "one", outputs=(path,)), step("three", "two", outputs=("one.md",)))
    api.script(Team(plan=steps, executor=writing(two=[(path, CITED)])))
    run = finish(submitted(sources_needed=False), alice)
    run.refresh_from_db()
    sentence = f"{path}: {at}: “Found by one” does not occur in one.md."
    assert [str(one) for one in reading_of(run).citations.broken] == [sentence]
    assert run.outcome == Outcome.PARTIAL
    assert [one for one in reading_of(run).gaps if sentence in one] != []


@FORMS
def test_one_that_the_same_attempt_breaks_fails_it(
    api: FakeAnthropic, submitted: Submit, alice: User, form: str
) -> None:
    path, at = f"one.{form}", "Footnote 1" if form == "docx" else "Page 1, footnote 1"
    steps = plan(step("one", outputs=("one.md", path)))
    files = [("one.md", "Found by one."), (path, CITED), ("one.md", "Found by somebody.")]
    api.script(Team(plan=steps, executor=writing(one=files)))
    finish(submitted(attempts=1, sources_needed=False), alice)
    assert Attempt.objects.first().verdict.feedback.startswith(  # type: ignore[union-attr]
        f"- K1 (Every citation in {path} leads to what it quotes): "
        f"{path}: {at}: “Found by one” does not occur in one.md."
    )


def test_a_contract_is_commented_at_the_quoted_words(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    contract = word(
        paragraph("Rent is due within ", inserted("ten working"), deleted("thirty"), " days.")
        + paragraph("The tenant insures ", commented("the roof", 0), ".")
        + paragraph("Rent may rise."),
        {"comments": f'<w:comment w:id="0" w:author="Bob">{paragraph("Who else?")}</w:comment>'},
    )
    comments = [("ten working", "Which calendar?"), ("Rent may rise", "By how much?")]
    uses = [
        ToolUse("comment_document", {"path": "lease.docx", "quote": quote, "comment": words})
        for quote, words in comments
    ]

    def commenting(request: Request, right: Answer) -> Answer:
        return UseTools(*uses) if isinstance(right, UseTools) else right

    api.script(Team(plan=plan(step("one", outputs=("reviewed/lease.docx",))), executor=commenting))
    run = finish(submitted(files={"lease.docx": contract}, sources_needed=False), alice)
    run.refresh_from_db()
    given = document_of(trees.contents_of(run.inputs)["lease.docx"])
    made = document_of(trees.contents_of(run.head)["reviewed/lease.docx"])
    assert given is not None
    assert made is not None
    ends = made.text.index("Rent may rise.") + len("Rent may rise.")
    assert made.text[:ends] == given.text[: given.text.index("Rent may rise.") + len("Rent may rise.")]
    assert (made.layout.deletions, [one.text for one in made.layout.deletions]) == (given.layout.deletions, ["thirty"])
    changes = [one for one in given.layout.marks if one.kind is MarkKind.INSERTED]
    assert [one for one in made.layout.marks if one.kind is MarkKind.INSERTED] == changes != []
    marked = [(made.text[one.start : one.end], one.by) for one in made.layout.marks if one.kind is MarkKind.COMMENTED]
    assert marked == [("ten working", "pevsite"), ("the roof", "Bob"), ("Rent may rise", "pevsite")]
    said = [made.text[one.start : one.end] for one in made.layout.blocks if one.kind is BlockKind.COMMENT]
    assert sorted(said) == ["By how much?", "Which calendar?", "Who else?"]
