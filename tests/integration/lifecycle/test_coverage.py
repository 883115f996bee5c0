"""What executors were shown of the given files, and what of that is an open point (T6)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs.enums import Outcome
from runs.lifecycle.coverage import coverage_of, known_unread
from runs.models import Rendition, Run, Step, User
from runs.readmodel.run_view import reading_of
from runs.store import blobs, trees
from tests.factories import Submit, drain, finish, reused
from tests.fakes.anthropic_answers import Answer, Request, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, plan, step, step_of, told
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]

ARCHIVE = b"7z\xbc\xaf\x27\x1c"
FOLDER = {"lease.7z": ARCHIVE, "notes.md": b"one\ntwo\nthree\n", "talk.mp4": b"\0\0\0 ftypisom"}
NOT_READABLE = [
    "lease.7z could not be read: it is an archive of a kind that is not unpacked; give it as .zip or .tar.gz.",
    "talk.mp4 could not be read: it is sound or film, which cannot be read.",
]


def reading(**steps: list[dict[str, Any]]) -> Player:
    """An executor that calls `read_file` with these arguments, by step, before it writes."""

    def executor(request: Request, right: Answer) -> Answer:
        if not isinstance(right, UseTools):
            return right
        uses = (ToolUse("read_file", arguments) for arguments in steps.get(step_of(request)["step_id"], []))
        return UseTools(*uses, *right.tools)

    return executor


def sentences(run: Run) -> list[str]:
    found = coverage_of(run)
    assert found is not None
    return [one.sentence for one in found.files]


def test_what_nobody_could_read_keeps_a_run_from_succeeding(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    """Such a folder ended succeeded, without a gap."""
    api.script(Team(executor=reading(one=[{"path": "notes.md"}])))
    run = finish(submitted(files=FOLDER, sources_needed=True), alice)
    assert (run.outcome, reading_of(run).gaps) == (Outcome.PARTIAL, NOT_READABLE)


@pytest.mark.slow
def test_what_of_a_readable_file_could_not_be_read_is_an_open_point_too(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    api.script(team := Team(executor=reading(one=[{"path": "notes.txt"}])))
    run = submitted(files={"notes.txt": "Müller\n".encode("utf-16")}, sources_needed=True)
    Rendition.objects.update(notes=("Page 3 of 12 is a picture without text.",), extent="12 pages")
    run = Run.objects.get(pk=run.pk)
    said = "A part of notes.txt could not be read: Page 3 of 12 is a picture without text."
    before = said.replace("could not", "cannot")
    assert (reading_of(run).unreadable, known_unread(run)) == ([before], [before])
    run = finish(run, alice)
    assert (run.outcome, reading_of(run).gaps) == (Outcome.PARTIAL, [said])
    [listed] = [part.text for part in told(team.seen["executor"][0]) if part.kind == "files"]
    assert listed == "- notes.txt (16 bytes): 12 pages"
    assert as_json(run)["coverage"] == [
        {
            "path": "notes.txt",
            "extent": "whole",
            "ranges": [[1, 1]],
            "lines": 1,
            "problem": "",
            "notes": ["Page 3 of 12 is a picture without text."],
        }
    ]


def test_what_a_person_excluded_is_no_open_point(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team(executor=reading(one=[{"path": "notes.md"}])))
    run = finish(submitted(files=FOLDER, sources_needed=True, excluded=["*.mp4", "lease.7z"]), alice)
    assert (run.outcome, sentences(run)) == (
        Outcome.SUCCEEDED,
        ["lease.7z left out, as a person said", "notes.md whole", "talk.mp4 left out, as a person said"],
    )


@pytest.mark.slow
def test_what_no_step_was_shown_is_an_open_point_where_the_plan_gives_it(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    files = {"a.md": b"The first of two.\n", "b.md": b"Another.\n", "empty.md": b""}
    api.script(Team(executor=reading(one=[{"path": "a.md"}])))
    run = finish(submitted(files=files, sources_needed=True), alice)
    gaps = ["b.md was not read, although the plan gives it to its steps."]
    assert (run.outcome, reading_of(run).gaps) == (Outcome.PARTIAL, gaps)
    team = Team(plan=plan(step("one") | {"inputs": ["a.md"]}), executor=reading(one=[{"path": "a.md"}]))
    api.script(team)
    assert finish(submitted(files=files, sources_needed=True), alice).outcome == Outcome.SUCCEEDED


def test_a_list_and_a_search_elsewhere_show_nothing_of_a_file(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        looks = (ToolUse("list_files", {}), ToolUse("search_files", {"pattern": "two"}))
        return UseTools(*looks, *right.tools) if isinstance(right, UseTools) else right

    files = {"a.md": b"one\ntwo\n", "b.md": b"three\n"}
    api.script(Team(executor=executor))
    run = finish(submitted(files=files, sources_needed=True), alice)
    assert sentences(run) == ["a.md line 2 of 2", "b.md not shown"]
    assert run.outcome == Outcome.PARTIAL


def test_part_of_a_file_is_said_and_no_open_point_by_itself(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    parts: list[dict[str, Any]] = [{"path": "a.md", "lines": 3}]
    api.script(Team(executor=reading(one=parts, two=[{"path": "a.md", "first_line": 3, "lines": 2}])))
    run = finish(submitted(files={"a.md": b"line\n" * 9}, sources_needed=True), alice)
    found = coverage_of(run)
    assert found is not None
    by_step = {key: [one.sentence for one in found.of_step(pk)] for key, pk in Step.objects.values_list("key", "pk")}
    assert (run.outcome, sentences(run), by_step) == (
        Outcome.SUCCEEDED,
        ["a.md lines 1 to 4 of 9"],
        {"one": ["a.md lines 1 to 3 of 9"], "two": ["a.md lines 3 to 4 of 9"]},
    )


@pytest.mark.usefixtures("team")
def test_files_that_were_read_since_a_tree_was_loaded_are_known(submitted: Submit) -> None:
    tree = trees.make_tree({path: blobs.put(content) for path, content in FOLDER.items()})
    assert trees.problems_of(tree) == {}
    run = submitted(files=FOLDER, sources_needed=True)
    assert (run.inputs, len(reading_of(run).unreadable)) == (tree, 2)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_what_was_shown_at_a_step_stands_with_it(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    parts: list[dict[str, Any]] = [{"path": "a.md", "lines": 3}, {"path": "b.md"}]
    api.script(Team(executor=reading(one=parts)))
    run = finish(submitted(files={"a.md": b"line\n" * 9, "b.md": b"All.\n"}, sources_needed=True), alice)
    assert "Read of your files: a.md lines 1 to 3 of 9; b.md whole." in as_markdown(run).splitlines()
    told = {one["step_id"]: (one["coverage"], one["files_shown"]) for one in as_json(run)["steps"]}
    assert told == {
        "one": (
            [
                {"path": "a.md", "extent": "part", "ranges": [[1, 3]], "lines": 9, "problem": "", "notes": []},
                {"path": "b.md", "extent": "whole", "ranges": [[1, 1]], "lines": 1, "problem": "", "notes": []},
            ],
            2,
        ),
        "two": ([], 0),
    }
    client.force_login(alice)
    report = client.get(f"/runs/{run.pk}/report/").text
    assert "Read of your files: a.md lines 1 to 3 of 9; b.md whole.</p>" in report
    steps = Step.objects.values_list("key", "pk")
    pages = {key: client.get(f"/runs/{run.pk}/steps/{pk}/").text for key, pk in steps}
    assert "<li>a.md lines 1 to 3 of 9</li><li>b.md whole</li>" in pages["one"]
    assert "None of them was shown to the AI at this step." in pages["two"]


@pytest.mark.slow
def test_a_file_that_the_run_has_changed_is_not_the_one_that_was_given(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    written = plan(step("one", outputs=("a.md",)), step("two", "one"))
    api.script(Team(plan=written, executor=reading(two=[{"path": "a.md"}])))
    run = finish(submitted(files={"a.md": b"As given.\n"}, sources_needed=True), alice)
    assert (run.outcome, sentences(run)) == (Outcome.PARTIAL, ["a.md not shown"])


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_reused_result_counts_with_what_it_was_shown_then(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team(executor=reading(one=[{"path": "notes.md"}])))
    for taken_over in ([], ["one", "two"]):
        run = finish(submitted(sources_needed=True), alice)
        assert (reused(run), run.outcome, sentences(run)) == (taken_over, Outcome.SUCCEEDED, ["notes.md whole"])


def test_where_no_sources_are_needed_only_what_cannot_be_read_is_said(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    api.script(Team())
    run = finish(submitted(files=FOLDER, sources_needed=False), alice)
    assert (run.outcome, reading_of(run).gaps) == (Outcome.PARTIAL, NOT_READABLE)


@pytest.mark.slow
def test_a_page_says_once_what_cannot_be_read(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    api.script(Team(executor=reading(one=[{"path": "notes.md"}])))
    run = submitted(files=FOLDER)
    client.force_login(alice)
    pages = [client.get(f"/runs/{run.pk}/").text]
    drain(run)
    pages.append(client.get(f"/runs/{run.pk}/").text)
    finish(run, alice)
    pages.append(client.get(f"/runs/{run.pk}/").text)
    assert [page.count("it is sound or film, which cannot be read.") for page in pages] == [1, 1, 1]
    assert "1 of 3 files were read in full." in pages[-1]


@pytest.mark.slow
def test_what_cannot_be_read_is_told_to_everybody_from_the_beginning(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    files = {"a.md": b"The first of two.\n", "b.md": b"Another.\n", "talk.mp4": FOLDER["talk.mp4"], "x.md": b"Old.\n"}
    team = Team(plan=plan(step("one") | {"inputs": ["a.md"]}), executor=reading(one=[{"path": "a.md"}]))
    api.script(team)
    run = submitted(files=files, sources_needed=True, excluded=["x.md"])
    client.force_login(alice)
    assert "talk.mp4 cannot be read: it is sound or film" in client.get(f"/runs/{run.pk}/").text
    drain(run)
    gate = client.get(f"/runs/{run.pk}/").text
    assert "No step of this plan is given b.md." in gate
    assert "Left out, as a person said: x.md." in gate
    run = finish(run, alice)
    for role in ("planner", "executor"):
        [listed] = [part.text for part in told(team.seen[role][0]) if part.kind == "files"]
        assert listed == (
            "- a.md (18 bytes)\n- b.md (9 bytes)\n- talk.mp4 (12 bytes): cannot be read\n"
            "- x.md (5 bytes): excluded; leave it alone"
        )
    told_by_json = as_json(run)
    assert told_by_json["excluded"] == ["x.md"]
    assert [(one["path"], one["extent"]) for one in told_by_json["coverage"]] == [
        ("a.md", "whole"),
        ("b.md", "nothing"),
        ("talk.mp4", "unreadable"),
        ("x.md", "excluded"),
    ]
    for text in (as_markdown(run), client.get(f"/runs/{run.pk}/report/").text):
        assert "What was read of your files" in text
        assert "1 of 4 files were read in full." in text
        assert "Not read: b.md." in text
