"""Documents wait for their reader, are read once, and what hostile ones make of it is a sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from runs import isolation
from runs.documents.content import document_of, text_of
from runs.documents.model.layout import BlockKind
from runs.documents.packed_parts import packed
from runs.documents.reading.building import Builder
from runs.engine import document_work
from runs.engine.perform import perform
from runs.engine.prompt_inputs import previews_of
from runs.enums import EventKind, GateStatus, RunStatus, WorkKind, WorkStatus
from runs.errors import InvalidInput
from runs.isolation import Crashed, Interrupted, NoTurn, TimedOut
from runs.lifecycle.coverage import known_unread, unreadable
from runs.models import Rendition, WorkItem
from runs.store import blobs, input_examination, renditions, trees
from runs.store.renditions import WAITING, readings
from runs.submission.run_templates import shipped_plan
from tests.documents.word import paragraph, word
from tests.factories import Submit
from tests.unit.pev.scripted import plan, step

pytestmark = pytest.mark.django_db
PICTURE = b"\x89PNG\r\n\x1a\n"


def answer(*notes: str) -> bytes:
    builder = Builder("image")
    builder.add("page=1", BlockKind.PAGE, "The rent is 1,200.")
    for note in notes:
        builder.note(note)
    return builder.build("page", 1).packed()


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What isolated processes were asked, in order; they answer with the text of a picture."""
    calls: list[Any] = []

    def run(function: str, data: Callable[[], bytes], *_: Any) -> bytes:
        calls.append((function, data()))
        return answer()

    monkeypatch.setattr(isolation, "run", run)
    return calls


def replying(monkeypatch: pytest.MonkeyPatch, reply: bytes | Exception) -> None:
    def run(*_: Any) -> bytes:
        if isinstance(reply, Exception):
            raise reply
        return reply

    monkeypatch.setattr(isolation, "run", run)


def waiting(content: bytes = PICTURE) -> str:
    info = blobs.put(content)
    input_examination.examine({"scan.png": info})
    return info.sha256


def read(source: str) -> Rendition:
    row = renditions.take(source)
    assert row
    renditions.make(row)
    renditions.keep(row)
    return Rendition.objects.filter(source=source).latest("pk")


def test_a_document_waits_until_it_is_read(asked: list[Any]) -> None:
    source = waiting()
    tree = trees.make_tree({"scan.png": blobs.put(PICTURE)})
    assert (trees.problems_of(tree), asked) == ({"scan.png": WAITING}, [])
    assert (renditions.still_waiting([source]), renditions.untaken()) == ([source], [source])
    read(source)
    assert (renditions.still_waiting([source]), trees.problems_of(tree)) == ([], {})
    assert asked == [("runs.documents.formats.image.image_reader.read", PICTURE)]
    content = trees.contents_of(tree)["scan.png"]
    found = document_of(content)
    assert (text_of(content), found and found.place_name(0, 3).words) == ("The rent is 1,200.", "page 1")
    assert readings([source]).extents == {source: "1 page"}


def test_what_one_process_has_taken_no_other_reads() -> None:
    source = waiting()
    assert renditions.take(source)
    assert (renditions.take(source), renditions.untaken()) == (None, [])
    Rendition.objects.update(taken_until=timezone.now() - timedelta(seconds=1))  # that process is gone
    assert renditions.untaken() == [source]
    assert renditions.take(source)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_a_long_reading_keeps_what_it_has_taken(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.LEASE_SECONDS = 1
    source = waiting()
    free: list[list[str]] = []

    def slow(*_: Any) -> bytes:
        time.sleep(1.5)
        free.append(renditions.untaken())
        return answer()

    monkeypatch.setattr(isolation, "run", slow)
    document_work._read(source)
    assert (free, renditions.still_waiting([source])) == ([[]], [])


def test_what_could_not_be_read_of_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    replying(monkeypatch, answer("Page 3 of 12 is a picture without text."))
    assert read(waiting()).notes == ("Page 3 of 12 is a picture without text.",)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (InvalidInput("needs a password; save it without one"), "needs a password; save it without one"),
        (
            TimedOut("it took longer than 60 seconds"),
            "is more than its reader can do: it took longer than 60 seconds; save it again, or split it",
        ),
        (
            ValueError("broken"),
            "was answered by its reader with what cannot be used; save it again, or as text",
        ),
        (
            RuntimeError("a fault of ours"),
            "could not be read, because pevsite itself failed; give it again, or ask the administrator of this site",
        ),
        (
            Crashed("its process was ended by signal 6"),
            "is more than its reader can do, which broke on it; save it again, or as another format",
        ),
        (
            InvalidInput(""),
            "was answered by its reader with what cannot be used; save it again, or as text",
        ),
    ],
)
def test_what_goes_wrong_is_a_sentence(reply: Exception, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replying(monkeypatch, reply)
    row = read(waiting())
    assert (row.problem, row.text, row.layout, row.taken_until) == (problem, "", "", None)


@pytest.mark.parametrize("reply", [NoTurn("it waited for its turn"), Interrupted("its process was ended")])
def test_what_says_nothing_of_the_document_is_tried_again(reply: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    source = waiting()
    replying(monkeypatch, reply)
    assert [read(source).problem for _ in range(renditions.MAX_TRIES - 1)] == [""] * (renditions.MAX_TRIES - 1)
    assert read(source).problem == f"could not be read: {reply}; give it again"
    replying(monkeypatch, answer())
    waiting()
    assert renditions.still_waiting([source]) == [source]
    row = renditions.take(source)
    assert row
    renditions.make(row)
    renditions.keep(row)
    assert list(readings([source]).texts) == [source]


def test_what_was_given_up_twice_is_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    replying(monkeypatch, RuntimeError("a fault of ours"))
    for _ in range(2):
        source = waiting()
        assert read(source).problem.startswith("could not be read")
    assert Rendition.objects.filter(source=source).count() == 1


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        packed((b"{}", b"text")),
        packed((b"{}", b"text", b"more")),
        packed((answer()[8:], b"text")),
        packed((b'{"layout":{"format":"pdf","blocks":[["page=1","page",0,99,"","",0]]}}', b"short")),
        packed((b'{"layout":{"format":"pdf","blocks":[["page=1","page",0,1,"","",0]]}}', b"\xff")),
    ],
)
def test_an_answer_that_is_no_document_is_not_believed(reply: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    replying(monkeypatch, reply)
    assert read(waiting()).problem.startswith("was answered by its reader with what cannot be used")


def test_a_content_that_the_store_has_lost_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    source = waiting()
    monkeypatch.setattr(blobs, "read", lambda _: open("/nowhere/at/all"))  # noqa: SIM115, PTH123  it fails
    row = renditions.take(source)
    assert row
    renditions.make(row)
    assert row.problem == "is gone from the store of files; give it again"


def test_documents_of_a_run_are_read_before_it_is_planned(submitted: Submit, asked: list[Any]) -> None:
    run = submitted(files={"a.md": b"Text.", "scan.png": PICTURE})
    work = WorkItem.objects.get()
    assert (work.kind, asked) == (WorkKind.READ, [])
    perform(work.pk)
    assert [item.kind for item in WorkItem.objects.order_by("pk")] == [WorkKind.READ, WorkKind.PLAN]
    assert (len(asked), trees.problems_of(run.inputs)) == (1, {})
    kinds = list(run.events.order_by("seq").values_list("kind", flat=True))
    assert kinds == [EventKind.SUBMITTED, EventKind.READING, EventKind.DOCUMENTS_READ, EventKind.PLANNING]


def test_what_waits_is_not_said_to_be_unreadable(submitted: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    replying(monkeypatch, InvalidInput("needs a password; save it without one"))
    run = submitted(files={"scan.png": PICTURE})
    assert (unreadable(run), known_unread(run)) == ([], [])
    perform(WorkItem.objects.get().pk)
    assert unreadable(run) == ["scan.png cannot be read: it needs a password; save it without one."]
    assert run.events.get(kind=EventKind.DOCUMENTS_READ).data == {"not_read": unreadable(run)}


def test_a_run_without_documents_is_planned_at_once(submitted: Submit) -> None:
    submitted(files={"a.md": b"Text."})
    assert WorkItem.objects.get().kind == WorkKind.PLAN


def test_a_plan_that_came_with_the_task_waits_and_is_estimated_again(
    submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = Builder("image")
    builder.add("page=1", BlockKind.PAGE, "word " * 80_000)
    replying(monkeypatch, builder.build("page", 1).packed())
    run = submitted(files={"scan.png": PICTURE}, plan=plan(step("one")))
    before = run.plans.get().estimate
    assert (WorkItem.objects.get().kind, run.gates.count()) == (WorkKind.READ, 0)
    perform(WorkItem.objects.get().pk)
    after = run.plans.get().estimate
    assert before
    assert after
    assert after.high > 2 * before.high
    assert run.gates.get().status == GateStatus.OPEN


def test_a_document_that_turns_out_to_be_unreadable_gets_no_copy_with_comments(
    submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan that came with the task counted on it, before anyone could know."""
    replying(monkeypatch, InvalidInput("is damaged; save it again"))
    run = submitted(
        files={"a.md": b"Text.", "b.docx": word(paragraph("Rent."))},
        plan=shipped_plan("document-review"),
        sources_needed=True,
    )
    assert [step.key for step in run.plans.get().steps.order_by("position")][3] == "word-copies"
    perform(WorkItem.objects.get().pk)
    assert list(run.plans.order_by("version").values_list("version", "status")) == [(1, "superseded"), (2, "proposed")]
    changed = run.plans.get(version=2)
    assert changed.reason == "Without copies of Word documents that cannot be read."
    assert not changed.steps.filter(key="word-copies").exists()
    (gate,) = run.gates.all()
    assert (gate.status, gate.plan) == (GateStatus.OPEN, changed)


def test_a_planner_is_shown_the_first_page(submitted: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder("image", joint="\n\f")
    builder.add("page=1", BlockKind.PAGE, "Lease of 4 May.")
    builder.add("page=2", BlockKind.PAGE, "The rent is 1,200.")
    replying(monkeypatch, builder.build("page", 2).packed())
    run = submitted(files={"scan.png": PICTURE})
    perform(WorkItem.objects.get().pk)
    assert previews_of(run.inputs) == {"scan.png": "Lease of 4 May.\n"}


def test_what_another_process_is_reading_is_waited_for(submitted: Submit) -> None:
    run = submitted(files={"scan.png": PICTURE})
    work = WorkItem.objects.get()
    row = renditions.take(trees.files_of(run.inputs)["scan.png"].sha256)
    perform(work.pk)
    work.refresh_from_db()
    assert (work.status, work.due_at > timezone.now()) == (WorkStatus.READY, True)
    assert row
    renditions.make(row)
    renditions.keep(row)
    WorkItem.objects.update(due_at=timezone.now())
    perform(work.pk)
    run.refresh_from_db()
    assert (run.status, WorkItem.objects.last().kind) == (RunStatus.PLANNING, WorkKind.PLAN)  # type: ignore[union-attr]


def test_a_long_reading_says_how_far_it_is(submitted: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    run = submitted(files={f"{name}.png": PICTURE + name.encode() for name in "abc"})
    monkeypatch.setattr(document_work, "REPORT_INTERVAL", 0.0)
    perform(WorkItem.objects.get().pk)
    said = run.events.filter(kind=EventKind.READING).order_by("seq").values_list("data", flat=True)
    assert list(said) == [{"done": done, "documents": 3} for done in (0, 1, 2)]


def test_the_sweeper_has_read_what_waits_in_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    source = waiting()
    enqueued: list[int] = []
    monkeypatch.setattr(type(document_work.read_waiting), "enqueue", lambda *_: enqueued.append(1))
    document_work.refresh()
    document_work.read_waiting.call(True)
    document_work.refresh()
    assert (enqueued, renditions.still_waiting([source])) == ([1], [])


def test_documents_do_not_wait_for_scans(monkeypatch: pytest.MonkeyPatch, asked: list[Any]) -> None:
    scan, mail = waiting(), waiting(b"From: a@x.test\nMessage-ID: <1@x.test>\n\nHello")
    enqueued: list[bool] = []
    monkeypatch.setattr(type(document_work.read_waiting), "enqueue", lambda _, minutes: enqueued.append(minutes))
    first, second = document_work._readers[True]
    with first:
        document_work.refresh()
    with first, second:
        document_work.refresh()
        document_work.read_waiting.call(True)
        document_work.read_waiting.call(False)
    assert (enqueued, renditions.untaken()) == ([False, True, False], [scan])
    assert [function for function, _ in asked] == ["runs.documents.formats.eml.eml_reader.read"]
    with document_work._readers[False][0]:
        document_work.read_waiting.call(False)
        document_work.read_waiting.call(True)
    assert renditions.still_waiting([scan, mail]) == []
